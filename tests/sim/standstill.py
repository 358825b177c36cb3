"""A cocotb test that computes for seconds in a time step; test_standstill.py plays it."""

from __future__ import annotations

import time

import cocotb
from cocotb.handle import SimHandleBase

from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import wait_cycles


@cocotb.test()
async def python_computes_between_two_cycles(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut)
    until = time.process_time() + 4.0
    while time.process_time() < until:
        pass
    await wait_cycles(bench.clock, 2)
