"""Cocotb tests that compute for seconds in a time step, and when Python ends; test_standstill.py plays them."""

from __future__ import annotations

import builtins
import time
from collections.abc import Callable

import cocotb
from cocotb.handle import SimHandleBase

from nvdla_tb.sim.clocking import start_clocks, wait_cycles


class _Slow:
    """Computes for longer than a time step may take when it is deleted."""

    def __del__(self) -> None:
        _compute(1.8)


def _compute(seconds: float, clock: Callable[[], float] = time.process_time) -> None:
    """Compute; the clock is an argument because modules may be gone when Python ends."""
    until = clock() + seconds
    while clock() < until:
        pass


@cocotb.test()
async def python_computes_between_two_cycles(dut: SimHandleBase) -> None:
    start_clocks(dut)
    _compute(1.8)
    await wait_cycles(dut.dla_core_clk, 2)


@cocotb.test()
async def python_computes_when_it_ends(dut: SimHandleBase) -> None:
    start_clocks(dut)
    await wait_cycles(dut.dla_core_clk, 2)
    # Python deletes what the modules of built-ins hold last, long after it has taken its handlers of signals away.
    builtins.slow = _Slow()  # type: ignore[attr-defined]
