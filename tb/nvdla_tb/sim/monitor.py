"""What passive agents share: callbacks, the listener that judges, and pins that must be known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import First, ValueChange

from nvdla_tb.judge.detail import AnyDetail, UnknownPin
from nvdla_tb.sim.cycles import CountedCycles, Cycles, Reset
from nvdla_tb.sim.events import Events, Unjudged

Seen = TypeVar("Seen")


class Monitor(Generic[Seen]):
    """Watches pins; see ``CsbMonitor``, ``DbbMonitor`` and ``InterruptMonitor``."""

    def __init__(
        self, clock: SimHandleBase, reset: SimHandleBase, *, reset_active_level: bool, cycles: Cycles | None
    ) -> None:
        """Bind the monitor; ``attach`` tells who judges what it sees.

        Args:
            clock: The clock that its pins are synchronous to.
            reset: The reset of the device.
            reset_active_level: The level of that reset while it is on.
            cycles: What counts cycles; the edges of the clock for None.
        """
        self.clock, self.reset = clock, Reset(reset, active_level=reset_active_level)
        self.cycles = cycles or CountedCycles.of(clock)
        self._events: Events = Unjudged()
        self._callbacks: list[Callable[[Seen], object]] = []

    def attach(self, events: Events, cycles: Cycles) -> None:
        """Tell a listener what is seen from now on, with cycles of one clock for all monitors that it listens to."""
        self._events, self.cycles = events, cycles

    def add_callback(self, callback: Callable[[Seen], object]) -> None:
        """Have a function called with everything that is seen, after the judge."""
        self._callbacks.append(callback)

    def _publish(self, seen: Seen) -> None:
        for callback in self._callbacks:
            callback(seen)

    def _violate(self, detail: AnyDetail) -> None:
        self._events.see_violation(detail, self.cycles.now())

    def _must_be_known(self, *pins: SimHandleBase) -> None:
        """Judge outputs that say when others count: each is reported once it is X or Z out of reset."""
        for pin in pins:
            cocotb.start_soon(self._see_unknown(pin))

    async def _see_unknown(self, pin: SimHandleBase) -> None:
        while True:
            if self.reset.is_over and not pin.value.is_resolvable:
                self._violate(UnknownPin(None, pin._name, str(pin.value)))
                return
            await First(ValueChange(pin), self.reset.ends)
