"""A cocotb test, started by test_initial_state.py: it reads the data of a table that nobody has written."""

from __future__ import annotations

import os
from pathlib import Path

import cocotb
from cocotb.handle import SimHandleBase

from nvdla_models.config import HwConfig
from nvdla_tb.sim.bench import Bench

CONFIG = HwConfig.load("nv_small")
FOUND = "NVDLA_TEST_FOUND"


@cocotb.test()
async def table_data_are_read(dut: SimHandleBase) -> None:
    bench = await Bench.start(dut, CONFIG)
    word = await bench.csb.read("CDP.S_LUT_ACCESS_DATA")
    Path(os.environ[FOUND]).write_text(str(word), encoding="utf-8")
