"""Cycles of a clock and the level of a reset, as agents see them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import FallingEdge, RisingEdge, ValueChange
from cocotb.types import Logic


class Cycles(ABC):
    """Counts the cycles of a clock."""

    @abstractmethod
    def now(self) -> int:
        """Return how many have passed."""

    @abstractmethod
    async def wait(self, count: int) -> None:
        """From right after one rising edge, wait for the one ``count`` later."""


class CountedCycles(Cycles):
    """Counts the rising edges of a clock whose period nobody has told, and which may change or stop.

    ::

        cycles = CountedCycles.of(dut.dla_core_clk)
    """

    _of_clocks: ClassVar[dict[SimHandleBase, CountedCycles]] = {}

    def __init__(self, clock: SimHandleBase) -> None:
        """Begin to count."""
        self._edge = RisingEdge(clock)
        self._count = 0
        self._counting = cocotb.start_soon(self._run())

    @classmethod
    def of(cls, clock: SimHandleBase) -> CountedCycles:
        """Return the count of a clock, one for all agents of a test."""
        known = cls._of_clocks.get(clock)
        # Nothing that a test has started outlives it.
        if known is None or known._counting.done():
            known = cls._of_clocks[clock] = cls(clock)
        return known

    def now(self) -> int:
        """Return how many rising edges have passed."""
        return self._count

    async def wait(self, count: int) -> None:
        """Wait for so many rising edges."""
        for _ in range(count):
            await self._edge

    async def _run(self) -> None:
        while True:
            await self._edge
            self._count += 1


class Reset:
    """A reset that is active low or high; it is over only while its level is known.

    Attributes:
        signal: The pin.
        released: Its level when the reset is over.
        ends: Trigger of its end.
    """

    def __init__(self, signal: SimHandleBase, *, active_level: bool) -> None:
        """Bind the reset."""
        self.signal, self.released = signal, Logic(not active_level)
        self.ends = FallingEdge(signal) if active_level else RisingEdge(signal)

    @property
    def is_over(self) -> bool:
        """Whether the device is out of reset."""
        return bool(self.signal.value == self.released)

    def call(self, flush: Callable[[], None]) -> None:
        """Have a function called whenever the reset begins."""
        cocotb.start_soon(self._call(flush))

    async def _call(self, flush: Callable[[], None]) -> None:
        changed = ValueChange(self.signal)
        while True:
            await changed
            if not self.is_over:
                flush()
