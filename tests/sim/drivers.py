"""cocotb tests, started by test_drivers.py: drivers in C from tests in Python."""

from __future__ import annotations

import os

import cocotb
import numpy as np
import pytest
from cocotb.handle import SimHandleBase

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.sim.bench import Bench
from nvdla_tb.stimulus.settings import BenchSettings

CONFIG = HwConfig.load("nv_small")
EXAMPLE, HOSTILE = os.environ.get("NVDLA_EXAMPLE", ""), os.environ.get("NVDLA_HOSTILE", "")


@cocotb.test()
async def a_driver_is_judged(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(serve_interrupts=False))
    await bench.drive(EXAMPLE)
    bench.check()
    assert (bench.verdict.layers, bench.verdict.judged_bytes) == (4, 2560)


@cocotb.test()
async def two_drivers_play_one_after_the_other(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(serve_interrupts=False))
    await bench.drive(HOSTILE, "reads_a_register_only")
    await bench.drive(EXAMPLE)
    assert bench.finish().layers == 4


@cocotb.test()
async def a_bench_that_serves_interrupts_takes_none_from_a_driver(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    message = r"^a driver serves interrupts itself: serve_interrupts of the settings must be False$"
    with pytest.raises(InputError, match=message):
        await bench.drive(EXAMPLE)
    assert bench.place(np.zeros((8, 1, 1), dtype=np.int8)).ram.value == "MC"
    # A test that accesses nothing has tested nothing.
    await bench.csb.read("SDP.S_STATUS")


@cocotb.test()
async def a_driver_that_crashes(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG, BenchSettings(serve_interrupts=False))
    await bench.drive(HOSTILE, "reads_a_null_pointer")
