"""Tests in Python play on the model that scenarios use; what needs more than it has is refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sim.test_pytest_plugin import fill, ran

HEAD = """import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge

from nvdla_tb import Bench, CsbBus, Ram, Sdp
"""

NEEDS_PINS = {
    "a_pin": "bench.dut.csb2nvdla_valid.value = 0",
    "a_bus": 'CsbBus.from_prefix(bench.dut, "csb2nvdla")',
    "a_channel": "bench.slaves[Ram.MC].r.set_pause_generator([1, 0] * 50)",
    "a_callback": "bench.monitors[Ram.MC].add_callback(print)",
}

TEST = """

@cocotb.test()
{mark}async def {name}(dut):
    bench = await Bench.start(dut)
    {does}
    assert await bench.csb.read("GLB.S_NVDLA_HW_VERSION") != 0
"""

CLOCKS = {
    "a_clock": 'Clock(dut.dla_core_clk, 3, "ns").start()',
    "a_clock_in_python": 'Clock(dut.dla_csb_clk, 7, "ns", impl="py").start()',
    "a_clock_pin": "dut.dla_core_clk.value = not bench.clock.value",
}

OWN_CLOCK = """

@cocotb.test()
async def a_clock_without_a_bench(dut):
    Clock(dut.dla_core_clk, 3, "ns").start()
    for _ in range(9):
        await RisingEdge(dut.dla_core_clk)
"""

TWO_BENCHES = """

async def placed(dut):
    bench = await Bench.start(dut)
    src = bench.place(bench.rng.integers(-128, 128, (8, 2, 2), dtype="int8"))
    return bench, src, bench.reserve((8, 2, 2))


@cocotb.test()
async def what_the_second_finds_is_not_lost(dut):
    first, src, dst = await placed(dut)
    await first.run(Sdp(src, dst, relu=True))
    bench, src, dst = await placed(dut)
    bench.alter(Ram.MC, src.address, bench.memory.read_array(src.address, 1) ^ 64)
    await bench.run(Sdp(src, dst))
    first.finish()


@cocotb.test()
@cocotb.parametrize(use=["memory", "csb", "reset"])
async def the_first_is_used_after_the_second_has_begun(dut, use):
    first, src, dst = await placed(dut)
    await first.run(Sdp(src, dst))
    await placed(dut)
    if use == "memory":
        first.read_back(dst)
    elif use == "csb":
        await first.csb.read("GLB.S_NVDLA_HW_VERSION")
    else:
        await first.reset()


@cocotb.test()
async def both_are_judged(dut):
    for _ in range(2):
        bench, src, dst = await placed(dut)
        await bench.run(Sdp(src, dst, relu=True))
        assert bench.read_back(dst).min() >= 0
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("native_tests")
    marks = {"": "", "marked_": "@pytest.mark.nvdla_pins\n"}
    tests = [
        TEST.format(mark=mark, name=f"{prefix}{name}", does=does)
        for prefix, mark in marks.items()
        for name, does in NEEDS_PINS.items()
    ]
    clocks = [TEST.format(mark="", name=name, does=does) for name, does in CLOCKS.items()]
    modules = {"pins": "".join(tests), "clocks": "".join((*clocks, OWN_CLOCK)), "two": TWO_BENCHES}
    files = {f"test_{name}.py": f"{HEAD}{text}" for name, text in modules.items()}
    fill(found, {"pytest.ini": "[pytest]\naddopts = --strict-markers --nvdla\n", **files})
    return found


def test_what_needs_pins_is_told_how_to_get_them(folder: Path) -> None:
    said = ran(folder, "test_pins.py", "-k", "not marked")
    told = (
        "the native back end compiles the agents into the model, and their pins with them: mark the test nvdla_pins to "
        "play it with agents in Python"
    )
    assert f"{len(NEEDS_PINS)} failed" in said, said
    lines = [line for line in said.splitlines() if line.startswith("test error: ")]
    assert [told in line for line in lines] == [True] * len(NEEDS_PINS), said


def test_a_test_that_drives_a_clock_is_refused(folder: Path) -> None:
    said = ran(folder, "test_clocks.py")
    assert f"{len(CLOCKS) + 1} failed" in said, said
    for name in (*CLOCKS, "a_clock_without_a_bench"):
        told = (
            f"test error: test_clocks.{name} drives a clock, as the native back end does itself: mark the test "
            "nvdla_pins to play it with agents in Python"
        )
        assert told in said.splitlines(), said


def test_a_marked_test_gets_pins_and_agents_in_python(folder: Path) -> None:
    said = ran(folder, "test_pins.py", "-k", "marked")
    assert f"{len(NEEDS_PINS)} passed" in said, said


def test_a_second_bench_of_a_test_has_the_harness_for_itself(folder: Path) -> None:
    said = ran(folder, "test_two.py")
    assert "4 failed, 1 passed" in said, said
    refused = "test error: InputError: a bench must not be used after the test has started another, which took its "
    lines = [line for line in said.splitlines() if line.startswith(f"{refused}memory and CSB (test_two.py:")]
    assert len(lines) == 3, said
    assert "test_two.py::what_the_second_finds_is_not_lost - mismatch: wrong value" in said, said
    # With CI in the environment, pytest's summary repeats all of it.
    failures = said.partition("short test summary info")[0]
    assert failures.count("note: the test altered bytes that the DUT reads and the model does not: 1 at 0x") == 1, said
