"""Waits for the interrupt line, which nobody serves meanwhile."""

from __future__ import annotations

from cocotb.handle import SimHandleBase
from cocotb.triggers import First, RisingEdge, Timer

from nvdla_tb.sim.clocking import HIGH, PERIOD_STEPS, cycle, wait_cycles


class InterruptLine:
    """The level of ``dla_intr``, for programs and drivers that serve it themselves.

    ::

        line = InterruptLine(dut, line_cycles=16)
        await line.until_high()

    Attributes:
        is_awaited: whether somebody waits for it.
    """

    def __init__(self, dut: SimHandleBase, line_cycles: int) -> None:
        """Bind the line, which follows the registers after so many cycles at most."""
        self._clock, self._line = dut.dla_core_clk, dut.dla_intr
        self._line_cycles = line_cycles
        self._written: int | None = None
        self.is_awaited = False

    def status_written(self) -> None:
        """Note that its registers were written just now: until the line follows them, its level means nothing."""
        self._written = cycle()

    async def until_high(self, most_cycles: int | None = None) -> bool:
        """Return whether the line is high at an edge of the clock before so many cycles are over."""
        deadline = None if most_cycles is None else cycle() + most_cycles
        if self._written is not None:
            lag = self._written + self._line_cycles - cycle()
            if lag > 0:
                await wait_cycles(self._clock, lag)
        self.is_awaited = True
        while True:
            if self._line.value != HIGH:
                left = None if deadline is None else deadline - cycle()
                if left is not None and left <= 0:
                    break
                rising = RisingEdge(self._line)
                await (rising if left is None else First(rising, Timer(left * PERIOD_STEPS, unit="step")))
            await RisingEdge(self._clock)
            if self._line.value == HIGH:
                break
        self.is_awaited = False
        return bool(self._line.value == HIGH)
