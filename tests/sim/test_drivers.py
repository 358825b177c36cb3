"""Drivers in C: the example is judged on both back ends, seeded faults are named, hostile drivers hang nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.cli.drive import INCLUDE
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.jobs import Job, PythonTest, run_job
from nvdla_tb.stimulus.exchange import ENTRY, Driver
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings
from tests.repository import ROOT
from tests.sim.conftest import ICARUS, NATIVE, setup_of

EXAMPLE = ROOT / "examples" / "driver"
HANG_CYCLES = 2000
LONGER_THAN_A_FLUSH = 20_000
"""The convolution buffer of the device is flushed after a reset, and a driver polls for that meanwhile."""
SILENT_SECONDS = 3.0


@pytest.fixture(scope="module", params=[NATIVE, ICARUS])
def built(request: pytest.FixtureRequest) -> Built:
    simulator, backend = request.param
    return build(BuildSpec(HwConfig.load("nv_small"), simulator, backend=backend))


@pytest.fixture(scope="module")
def native() -> Built:
    return build(BuildSpec(HwConfig.load("nv_small"), "verilator", backend="native"))


@pytest.fixture(scope="module")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the example with its own Makefile."""
    folder = tmp_path_factory.mktemp("example") / "driver"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.so"))
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    subprocess.run(["make"], cwd=folder, env={**os.environ, "PATH": path}, check=True, capture_output=True)
    return folder / "driver.so"


def faulty(folder: Path, old: str, new: str) -> Path:
    """Build the example with one text in the place of another."""
    text = (EXAMPLE / "driver.c").read_text(encoding="utf-8")
    assert text.count(old) == 1
    source, library = folder / "driver.c", folder / "driver.so"
    source.write_text(text.replace(old, new), encoding="utf-8")
    options = ["-shared", "-fPIC", f"-I{INCLUDE}", f"-I{EXAMPLE}"]
    subprocess.run(["cc", *options, "-o", str(library), str(source)], check=True)
    return library


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    library = tmp_path_factory.mktemp("hostile") / "hostile.so"
    source = Path(__file__).with_name("hostile_drivers.cpp")
    options = ["-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-pthread", f"-I{INCLUDE}"]
    subprocess.run(["c++", *options, "-o", str(library), str(source)], check=True)
    return library


def driven(built: Built, folder: Path, library: Path, entry: str = ENTRY) -> Result:
    """Run a driver in a process of its own, as the command does."""
    hang_cycles = LONGER_THAN_A_FLUSH if entry == ENTRY else HANG_CYCLES
    settings = BenchSettings(serve_interrupts=False, hang_cycles=hang_cycles)
    scenario = Scenario(library.stem, "nv_small", (), 1, settings)
    driver = Driver(str(library), entry, SILENT_SECONDS)
    job = Job(scenario.name, 1, "again", lambda: scenario, driver=driver)
    return run_job(job, setup_of(built), folder)


def said(result: Result) -> list[str]:
    """Return every line that is said about a result."""
    return "\n".join(complaints(result.verdict)).splitlines()


def test_every_byte_of_the_example_is_judged(built: Built, tmp_path: Path, example: Path) -> None:
    result = driven(built, tmp_path / "run", example)
    assert said(result) == []
    verdict = result.verdict
    assert (result.ending, verdict.layers, verdict.judged_bytes) == (Ending.PASSED, 4, 2560)
    assert {layer.group for layer in result.layers} == {0, 1}


def test_a_wrong_stride_is_named(native: Built, tmp_path: Path) -> None:
    stride = "set(SDP, SDP_D_DST_SURFACE_STRIDE, "
    library = faulty(tmp_path, f"{stride}SURFACE);", f"{stride}2 * SURFACE);")
    result = driven(native, tmp_path / "run", library)
    assert result.ending.is_failure
    told = [line for line in said(result) if "outside every allocation" in line and "write of" in line]
    assert any(line.endswith(", as registers of its layer say") for line in told), told


def test_a_stride_that_cannot_be_is_a_fault_of_the_program(native: Built, tmp_path: Path) -> None:
    stride = "set(SDP, SDP_D_DST_LINE_STRIDE, "
    library = faulty(tmp_path, f"{stride}LINE);", f"{stride}2 * LINE);")
    result = driven(native, tmp_path / "run", library)
    rule = "surface_stride_bytes must be at least the 960 bytes of a surface, not 512"
    assert said(result) == [f"refused: SDP.D_DST_SURFACE_STRIDE.dst_surface_stride: {rule}"]
    assert result.ending is Ending.PROTOCOL


def test_an_interrupt_that_is_cleared_before_it_is_read_is_named(native: Built, tmp_path: Path) -> None:
    read = "uint32_t status = bench->reg_read(GLB + S_INTR_STATUS);"
    library = faulty(tmp_path, read, f"bench->reg_write(GLB + S_INTR_STATUS, 0xffffffff); {read}")
    result = driven(native, tmp_path / "run", library)
    assert result.ending is Ending.HANG
    lines = said(result)
    waits = "driver driver.so:nvdla_tb_main waits for an interrupt that does not come"
    accesses = lines[lines.index(waits) + 2 :]
    assert "    write of 0xffffffff to GLB.S_INTR_STATUS (0x100c)" in accesses
    assert "    read of GLB.S_INTR_STATUS (0x100c): 0x0" in accesses


def test_an_address_of_the_other_map_is_named(native: Built, tmp_path: Path) -> None:
    library = faulty(tmp_path, "set(PDP, D_OP_ENABLE, 1);", "set(0x11000, D_OP_ENABLE, 1);")
    result = driven(native, tmp_path / "run", library)
    assert result.ending.is_failure
    assert "register: write of 0x1 to 0x11008 hits no register" in "\n".join(said(result))


FOUND = {
    "computes_for_ever": (
        Ending.HANG,
        "driver hostile.so:computes_for_ever has asked nothing of the bench for 3 seconds",
        "read of GLB.S_NVDLA_HW_VERSION (0x1000): 0x",
    ),
    "polls_for_ever": (
        Ending.HANG,
        "driver hostile.so:polls_for_ever makes accesses, and neither a layer starts nor memory moves",
        "read of SDP.S_STATUS (0x9000): 0x0, ",
    ),
    "writes_for_ever": (
        Ending.HANG,
        "driver hostile.so:writes_for_ever makes accesses, and neither a layer starts nor memory moves",
        "write of 0x3 to SDP.D_CVT_OFFSET (0x90c0), ",
    ),
    "looks_at_the_clock_for_ever": (
        Ending.HANG,
        "driver hostile.so:looks_at_the_clock_for_ever makes accesses, and neither a layer starts nor memory moves",
        "time, ",
    ),
    "waits_for_an_interrupt_that_cannot_come": (
        Ending.HANG,
        "driver hostile.so:waits_for_an_interrupt_that_cannot_come waits for an interrupt that does not come",
        "wait for the interrupt",
    ),
    "waits_in_vain_with_a_limit": (
        Ending.CHECK,
        "driver hostile.so:waits_in_vain_with_a_limit returned 7, not 0",
        "wait for the interrupt, 100 cycles at most: not in time",
    ),
    "reads_a_null_pointer": (
        Ending.CRASH,
        "driver hostile.so:reads_a_null_pointer was running: nvdla_tb.sim.entry.drive: the simulator was ended by "
        "SIGSEGV",
        "read of SDP.S_STATUS (0x9000): 0x0",
    ),
    "aborts": (
        Ending.CRASH,
        "driver hostile.so:aborts was running: nvdla_tb.sim.entry.drive: the simulator was ended by SIGABRT",
        "read of GLB.S_NVDLA_HW_VERSION (0x1000): 0x",
    ),
    "ends_the_process": (
        Ending.CRASH,
        "driver hostile.so:ends_the_process was running: nvdla_tb.sim.entry.drive: the simulator ended with code 0 and "
        "no result file: ",
        "read of GLB.S_NVDLA_HW_VERSION (0x1000): 0x",
    ),
    "throws_out_of_the_driver": (
        Ending.CRASH,
        "driver hostile.so:throws_out_of_the_driver was running: nvdla_tb.sim.entry.drive: the simulator was ended by "
        "SIGABRT",
        "read of GLB.S_NVDLA_HW_VERSION (0x1000): 0x",
    ),
    "does_nothing": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected", ""),
    "reads_a_register_only": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected", ""),
    "calls_from_two_threads": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected", ""),
    "enables_half_a_layer": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected", ""),
    "leaves_a_process_behind": (Ending.EMPTY, "nothing was compared: no layer wrote a byte that was expected", ""),
    "reads_no_word": (
        Ending.PROTOCOL,
        "driver hostile.so:reads_no_word cannot go on: address must be a multiple of 4 below 0x40000, not 0x1002",
        "read of 0x1002",
    ),
    "writes_beyond_its_memory": (
        Ending.PROTOCOL,
        "driver hostile.so:writes_beyond_its_memory cannot go on: memory at 0x80000140 must be allocated, reserved or "
        "loaded (0x0 past the end of driver_0)",
        "write of 80 bytes of memory 0 at 0x80000100",
    ),
    "reads_what_nobody_wrote": (
        Ending.PROTOCOL,
        "driver hostile.so:reads_what_nobody_wrote cannot go on: memory at 0x80000100 must have been written before it "
        "is read (driver_0+0x0)",
        "read of 64 bytes of memory 0 at 0x80000100",
    ),
    "hands_over_null": (
        Ending.PROTOCOL,
        "driver hostile.so:hands_over_null cannot go on: a pointer to bytes must not be NULL",
        "write of 64 bytes of memory 0 at 0x80000100",
    ),
    "uses_a_memory_that_is_not_there": (
        Ending.PROTOCOL,
        "driver hostile.so:uses_a_memory_that_is_not_there cannot go on: memory must be one of 0 (MC), not 1",
        "reservation of 64 bytes of memory 1 at 0x0",
    ),
    "asks_for_too_much": (
        Ending.PROTOCOL,
        "driver hostile.so:asks_for_too_much cannot go on: allocations must have at most 33554432 bytes together, not "
        "18446744073709551615 with driver_0",
        "allocation of 18446744073709551615 bytes of memory 0",
    ),
    "is_not_there": (Ending.PROTOCOL, "driver hostile.so:is_not_there cannot go on: ", "it made no access"),
}
"""By entry: the ending, how the first line begins, and how a later line does that names an access; empty for none."""


@pytest.mark.parametrize("entry", FOUND)
def test_a_hostile_driver_is_found_and_hangs_nothing(native: Built, tmp_path: Path, hostile: Path, entry: str) -> None:
    ending, first, access = FOUND[entry]
    result = driven(native, tmp_path / "run", hostile, entry)
    lines = said(result)
    assert result.ending is ending, lines
    assert lines[0].startswith(first), lines
    assert any(line.strip().startswith(access) for line in lines[1:]) or not access, lines
    assert "86399.5" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("entry", ["polls_for_ever", "waits_for_an_interrupt_that_cannot_come", "writes_for_ever"])
def test_coroutines_find_the_same(tmp_path: Path, hostile: Path, entry: str) -> None:
    built = build(BuildSpec(HwConfig.load("nv_small"), backend="coroutine"))
    ending, first, access = FOUND[entry]
    result = driven(built, tmp_path / "run", hostile, entry)
    lines = said(result)
    assert (result.ending, lines[0]) == (ending, first)
    assert any(line.strip().startswith(access) for line in lines[1:]), lines


def asked_of(
    built: Built, folder: Path, test: str, monkeypatch: pytest.MonkeyPatch, example: Path, hostile: Path
) -> Result:
    """Play a test in Python that runs drivers."""
    monkeypatch.setenv("NVDLA_EXAMPLE", str(example))
    monkeypatch.setenv("NVDLA_HOSTILE", str(hostile))
    job = Job.of_test(f"drivers.{test}", 0, "again", PythonTest("tests.sim.drivers", test))
    return run_job(replace(job), setup_of(built), folder)


@pytest.mark.parametrize("test", ["a_driver_is_judged", "two_drivers_play_one_after_the_other"])
def test_a_test_in_python_runs_drivers(
    native: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: Path, hostile: Path, test: str
) -> None:
    assert said(asked_of(native, tmp_path / "run", test, monkeypatch, example, hostile)) == []


def test_a_bench_that_serves_interrupts_refuses_a_driver(
    native: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: Path, hostile: Path
) -> None:
    test = "a_bench_that_serves_interrupts_takes_none_from_a_driver"
    assert said(asked_of(native, tmp_path / "run", test, monkeypatch, example, hostile)) == []


def test_a_crash_of_a_driver_in_a_test_names_its_last_accesses(
    native: Built, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, example: Path, hostile: Path
) -> None:
    result = asked_of(native, tmp_path / "run", "a_driver_that_crashes", monkeypatch, example, hostile)
    assert result.ending is Ending.CRASH
    assert said(result)[-1] == "    read of SDP.S_STATUS (0x9000): 0x0"
