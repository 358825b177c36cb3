"""cocotb tests that end in every way a simulation can end; the launch tests run them one by one."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import cocotb
from cocotb.triggers import Timer

from nvdla_tb.sim import pulse


async def _echo(dut: Any, value: int) -> int:
    dut.dla_csb_clk.value = 0
    dut.csb2nvdla_wdat.value = value
    await Timer(1, "ns")
    dut.dla_csb_clk.value = 1
    await dut.nvdla2csb_data.value_change
    return int(dut.nvdla2csb_data.value)


@cocotb.test()
async def a_word_comes_back_plus_three(dut: Any) -> None:
    assert await _echo(dut, 0x1000) == 0x1003


@cocotb.test()
async def a_word_comes_back_plus_four(dut: Any) -> None:
    assert await _echo(dut, 0x1000) == 0x1004, "the library cell was not replaced"


@cocotb.test()
async def every_handle_is_a_port(dut: Any) -> None:
    # A model with blocks that was never evaluated crashes when it ends.
    await Timer(1, "ns")
    names = {handle._name for handle in dut}
    assert names == set(os.environ["EXPECTED_HANDLES"].split()), names


@cocotb.test()
async def internals_are_visible(dut: Any) -> None:
    await _echo(dut, 0x1000)
    assert int(dut.dut.incremented.value) == 0x1001


@cocotb.test()
async def the_assertion_fails(dut: Any) -> None:
    assert await _echo(dut, 0x1000) == 0, "a wrong word came back"


@cocotb.test()
async def python_hangs(dut: Any) -> None:
    time.sleep(600)


@cocotb.test()
async def the_simulator_is_killed(dut: Any) -> None:
    os.kill(os.getpid(), signal.SIGSEGV)


@cocotb.test()
async def the_simulator_exits(dut: Any) -> None:
    os._exit(7)


@cocotb.test()
async def a_child_is_left_behind(dut: Any) -> None:
    with subprocess.Popen(["sleep", "600"]) as child:
        Path("child.pid").write_text(str(child.pid), encoding="utf-8")
        child.returncode = 0
    await Timer(1, unit="ns")


@cocotb.test()
async def plusargs_and_environment_arrive(dut: Any) -> None:
    assert cocotb.plusargs["depth"] == "4"
    assert os.environ["GREETING"] == "hello"
    await Timer(1, unit="ns")


@cocotb.test()
async def waves_begin_after_20_ns(dut: Any) -> None:
    await Timer(20, unit="ns")
    dut.wave_start.value = 1
    await Timer(20, unit="ns")
    dut.bench_mc.c.value = 5
    await Timer(20, unit="ns")
    assert dut.bench_mc.c.value == 5


@cocotb.test()
async def the_time_is_shown(dut: Any) -> None:
    pulse.begin(0, 1000)
    await _echo(dut, 0x1000)
    await Timer(1, "us")
    shown = pulse._pulse()
    assert shown is not None
    assert shown.pid == os.getpid()
    assert (shown.cycle or 0) > 0
