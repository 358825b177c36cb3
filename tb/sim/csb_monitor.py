"""CSB and the interrupt line, watched: accesses, changes of the line, and the rules of answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import First, RisingEdge, ValueChange
from cocotb_bus.monitors import BusMonitor

from tb.judge.csb_rules import RESTING_EDGES, CsbRules
from tb.judge.detail import AnyDetail, CsbViolation, UnknownPin
from tb.judge.judge import Access
from tb.nvdla.registers import RegisterMap
from tb.sim.clocking import HIGH, csb_clock_is_low, cycle, known
from tb.sim.csb import CsbDriver


class CsbMonitor(BusMonitor):  # type: ignore[misc]  # cocotb-bus has no types
    """Watches CSB and publishes a ``Access`` per write accepted and per read answered.

    ``violate`` receives what breaks a rule of the port, ``line`` each change of the interrupt line. Sleeps while
    nothing is requested, answered or owed.
    """

    _signals: ClassVar[dict[str, str]] = CsbDriver._signals

    def __init__(
        self,
        entity: SimHandleBase,
        clock: SimHandleBase,
        registers: RegisterMap,
        violate: Callable[[AnyDetail], None],
        line: Callable[[bool, int], None],
    ) -> None:
        """Bind the monitor; see ``CsbDriver``."""
        self.registers = registers
        self.accesses = 0
        self._reads: list[int] = []
        self._violate, self._line = violate, line
        self._rules = CsbRules(lambda rule: violate(CsbViolation(rule)))
        self._level = False
        super().__init__(entity, None, clock, case_insensitive=False)
        cocotb.start_soon(self._see_reset())
        cocotb.start_soon(self._see_line())
        cocotb.start_soon(self._see_clock_of_line())

    def flush(self) -> None:
        """Forget requests whose answer a reset has swallowed, and the level of the line."""
        self._reads.clear()
        self._rules.flush()
        self._level = False

    async def _monitor_recv(self) -> None:
        bus, edge = self.bus, RisingEdge(self.clock)
        reset_n = self.entity.dla_reset_rstn
        wake = [RisingEdge(signal) for signal in (bus.valid, bus.answer_valid, bus.write_complete)]
        while True:
            moving = any(signal.value == HIGH for signal in (bus.valid, bus.answer_valid, bus.write_complete))
            if not moving and not self._rules.waits:
                await First(*wake)
            await edge
            if reset_n.value != HIGH:
                continue
            answered = bus.answer_valid.value == HIGH
            self._rules.answers(read=answered, write=bus.write_complete.value == HIGH)
            if answered and self._reads:
                self._publish(self._reads.pop(0), self._word(), is_write=False)
            if bus.valid.value != HIGH or bus.ready.value != HIGH:
                continue
            address = int(bus.addr.value) << 2
            is_write = bus.write.value == HIGH
            self._rules.accept(is_write=is_write, posted=bus.nposted.value != HIGH)
            if is_write:
                self._publish(address, int(bus.wdat.value), is_write=True)
            else:
                self._reads.append(address)

    async def _see_reset(self) -> None:
        """Judge what is high while the DUT is held in reset."""
        bus, edge, reset_n, line = self.bus, RisingEdge(self.clock), self.entity.dla_reset_rstn, self.entity.dla_intr
        while True:
            edges = 0
            while reset_n.value != HIGH:
                await edge
                edges += 1
                if edges > RESTING_EDGES:
                    self._rules.in_reset(
                        read=bus.answer_valid.value == HIGH,
                        write=bus.write_complete.value == HIGH,
                        line=line.value == HIGH,
                    )
            await ValueChange(reset_n)

    async def _see_line(self) -> None:
        """Publish the level of the interrupt line at edges, when it differs from that before."""
        line, edge, reset_n = self.entity.dla_intr, RisingEdge(self.clock), self.entity.dla_reset_rstn
        while True:
            level = line.value == HIGH
            if level == self._level or reset_n.value != HIGH:
                await First(ValueChange(line), RisingEdge(reset_n))
                await edge
                continue
            self._level = level
            self._line(level, cycle())

    async def _see_clock_of_line(self) -> None:
        """Judge when the interrupt line changes."""
        line, reset_n = self.entity.dla_intr, self.entity.dla_reset_rstn
        while True:
            await ValueChange(line)
            if reset_n.value == HIGH:
                self._rules.line(clock_is_low=csb_clock_is_low())

    def _word(self) -> int:
        """Return the data of an answer; X and Z are a violation and read as 0."""
        value = self.bus.answer_data.value
        if not value.is_resolvable:
            self._violate(UnknownPin(None, "nvdla2csb_data", str(value)))
        return known(value)

    def _publish(self, address: int, value: int, *, is_write: bool) -> None:
        self.accesses += 1
        self._recv(Access(self.registers.at(address), address, value, is_write, cycle()))
