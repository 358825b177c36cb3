"""The passive monitors of CSB and of the interrupt line."""

from __future__ import annotations

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.simtime import get_sim_time
from cocotb.triggers import FallingEdge, First, RisingEdge, ValueChange

from nvdla_models.config import HwConfig
from nvdla_tb.judge.csb_rules import RESTING_EDGES, CsbRules
from nvdla_tb.judge.detail import CsbViolation, UnknownPin
from nvdla_tb.judge.judge import Access
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.sim.buses import CsbBus
from nvdla_tb.sim.clocking import HIGH, known
from nvdla_tb.sim.cycles import Cycles
from nvdla_tb.sim.monitor import Monitor


class CsbMonitor(Monitor[Access]):
    """Watches CSB: an ``Access`` for each write that is accepted and each read that is answered.

    ::

        monitor = CsbMonitor(CsbBus.from_prefix(dut, "csb2nvdla"), dut.dla_csb_clk, dut.dla_reset_rstn, config)
        monitor.add_callback(print)

    It judges the rules of the port as well, and sleeps while nothing is requested, answered or owed.
    """

    def __init__(
        self,
        bus: CsbBus,
        clock: SimHandleBase,
        reset: SimHandleBase,
        config: HwConfig,
        *,
        reset_active_level: bool = False,
        cycles: Cycles | None = None,
    ) -> None:
        """Bind the monitor.

        Args:
            bus: Its pins.
            clock: Their clock.
            reset: The reset of the device.
            config: The configuration, whose registers accesses hit.
            reset_active_level: The level of the reset while it is on.
            cycles: What counts cycles; the edges of the clock when it is left out.
        """
        super().__init__(clock, reset, reset_active_level=reset_active_level, cycles=cycles)
        self.bus, self.registers = bus, RegisterMap.of(config)
        self._accepted_at: float | None = None
        self._reads: list[int] = []
        self._rules = CsbRules(lambda rule: self._violate(CsbViolation(rule)))
        self.reset.call(self.flush)
        cocotb.start_soon(self._run())
        cocotb.start_soon(self._see_reset())
        self._must_be_known(bus.ready, bus.answer_valid, bus.write_complete)

    def flush(self) -> None:
        """Forget requests whose answer a reset has swallowed."""
        self._reads.clear()
        self._rules.flush()

    async def _run(self) -> None:
        bus, edge = self.bus, RisingEdge(self.clock)
        reset, released = self.reset.signal, self.reset.released
        wake = [RisingEdge(signal) for signal in (bus.valid, bus.answer_valid, bus.write_complete)]
        while True:
            moving = any(signal.value == HIGH for signal in (bus.valid, bus.answer_valid, bus.write_complete))
            if not moving and not self._rules.waits:
                await First(*wake)
            await edge
            if reset.value != released:
                continue
            answered = bus.answer_valid.value == HIGH
            self._rules.answers(read=answered, write=bus.write_complete.value == HIGH)
            if answered and self._reads:
                self._see(self._reads.pop(0), self._word(), is_write=False)
            if bus.valid.value == HIGH and bus.ready.value == HIGH:
                self._accept()

    def end(self) -> None:
        """See the request that is taken at the edge at which a test ends: nothing wakes the monitor for it any more."""
        bus = self.bus
        taken = bus.valid.value == HIGH and bus.ready.value == HIGH and self.reset.is_over
        if taken and get_sim_time("step") != self._accepted_at:
            self._accept()

    def _accept(self) -> None:
        bus = self.bus
        self._accepted_at = get_sim_time("step")
        address = int(bus.addr.value) << 2
        is_write = bus.write.value == HIGH
        self._rules.accept(is_write=is_write, posted=bus.nposted.value != HIGH)
        if is_write:
            self._see(address, int(bus.wdat.value), is_write=True)
        else:
            self._reads.append(address)

    async def _see_reset(self) -> None:
        """Judge what is high while the device is held in reset."""
        bus, edge, changed = self.bus, RisingEdge(self.clock), ValueChange(self.reset.signal)
        while True:
            edges = 0
            while not self.reset.is_over:
                await edge
                edges += 1
                if edges > RESTING_EDGES:
                    self._rules.in_reset(
                        read=bus.answer_valid.value == HIGH, write=bus.write_complete.value == HIGH, line=False
                    )
            await changed

    def _word(self) -> int:
        """Return the data of an answer; X and Z are a violation and read as 0."""
        value = self.bus.answer_data.value
        if not value.is_resolvable:
            self._violate(UnknownPin(None, self.bus.answer_data._name, str(value)))
        return known(value)

    def _see(self, address: int, value: int, *, is_write: bool) -> None:
        access = Access(self.registers.at(address), address, value, is_write, self.cycles.now())
        self._events.see_access(access)
        self._publish(access)


class InterruptMonitor(Monitor[bool]):
    """Watches the interrupt line: its new level at each edge of the clock at which it differs from that before.

    ::

        monitor = InterruptMonitor(dut.dla_intr, dut.dla_csb_clk, dut.dla_reset_rstn)
        monitor.add_callback(print)
    """

    def __init__(
        self,
        line: SimHandleBase,
        clock: SimHandleBase,
        reset: SimHandleBase,
        *,
        reset_active_level: bool = False,
        cycles: Cycles | None = None,
    ) -> None:
        """Bind the monitor.

        Args:
            line: The pin, active high.
            clock: The clock of CSB, with whose edges it changes.
            reset: The reset of the device.
            reset_active_level: The level of the reset while it is on.
            cycles: What counts cycles; the edges of the clock when it is left out.
        """
        super().__init__(clock, reset, reset_active_level=reset_active_level, cycles=cycles)
        self.line = line
        self._level = False
        self._rules = CsbRules(lambda rule: self._violate(CsbViolation(rule)))
        self.reset.call(self.flush)
        cocotb.start_soon(self._see_reset())
        cocotb.start_soon(self._run())
        cocotb.start_soon(self._see_clock())
        self._must_be_known(line)

    def flush(self) -> None:
        """Forget the level of the line, as a reset of the device does."""
        self._level = False

    async def _run(self) -> None:
        line, edge = self.line, RisingEdge(self.clock)
        while True:
            level = line.value == HIGH
            if level == self._level or not self.reset.is_over:
                await First(ValueChange(line), self.reset.ends)
                await edge
                continue
            self._level = level
            self._events.see_line(level, self.cycles.now())
            self._publish(level)

    async def _see_reset(self) -> None:
        """Judge the line while the device is held in reset."""
        edge, changed = RisingEdge(self.clock), ValueChange(self.reset.signal)
        while True:
            edges = 0
            while not self.reset.is_over:
                await edge
                edges += 1
                if edges > RESTING_EDGES:
                    self._rules.in_reset(read=False, write=False, line=self.line.value == HIGH)
            await changed

    async def _see_clock(self) -> None:
        """Judge when the line changes: a delay in the RTL may last until the clock falls, that moment included."""
        clock, changed = self.clock, ValueChange(self.line)
        while True:
            await changed
            if not self.reset.is_over or clock.value == HIGH:
                continue
            before = get_sim_time("step")
            await RisingEdge(clock)
            left = get_sim_time("step") - before
            await FallingEdge(clock)
            fell = get_sim_time("step")
            await RisingEdge(clock)
            self._rules.line(clock_is_low=left < get_sim_time("step") - fell)
