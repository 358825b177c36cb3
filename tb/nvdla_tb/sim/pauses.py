"""Channels that stand still for some cycles: back-pressure."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.task import Task

from nvdla_tb.sim.cycles import Cycles

Pause = Callable[[int], bool]
"""Returns whether a channel stands still in a cycle; cycles never go down."""


class Channel:
    """A channel of an agent, whose handshake can be held back.

    ::

        memory.r.set_pause_generator(itertools.cycle([1, 1, 0]))    # data in every third cycle
        memory.aw.set_pause_generator([1] * 100)                    # no address for 100 cycles
        memory.r.clear_pause_generator()
    """

    def __init__(self, cycles: Cycles, pause: Pause | None = None, ready: SimHandleBase | None = None) -> None:
        """Bind the channel.

        Args:
            cycles: The cycles of its clock.
            pause: When it stands still; never when it is left out.
            ready: The pin that is low while it does; without one, whoever drives it asks ``is_paused``.
        """
        self._cycles, self._ready = cycles, ready
        self._pause: Pause | None = None
        self._driving: Task[None] | None = None
        if pause is not None:
            self._set(pause)

    @property
    def is_paused(self) -> bool:
        """Whether it stands still in this cycle."""
        return self._pause is not None and self._pause(self._cycles.now())

    def set_pause_generator(self, generator: Iterable[object]) -> None:
        """Hold the channel back in each cycle for which a generator yields a true value, from this one on.

        Args:
            generator: One value a cycle; after the last one nothing is held back.
        """
        self._set(_Generated(generator, self._cycles.now()))

    def clear_pause_generator(self) -> None:
        """Hold nothing back any more."""
        self._pause = None

    def _set(self, pause: Pause) -> None:
        self._pause = pause
        if self._ready is not None and (self._driving is None or self._driving.done()):
            self._driving = cocotb.start_soon(self._drive(self._ready))

    async def _drive(self, ready: SimHandleBase) -> None:
        while self._pause is not None:
            await self._cycles.wait(1)
            ready.value = not self.is_paused


class _Generated:
    """The values of a generator by cycle: they are taken when they are asked for, and nothing wakes each cycle."""

    def __init__(self, values: Iterable[object], first: int) -> None:
        self._values, self._taken, self._value = iter(values), first - 1, False

    def __call__(self, cycle: int) -> bool:
        while self._taken < cycle:
            self._taken += 1
            self._value = bool(next(self._values, False))
        return self._value
