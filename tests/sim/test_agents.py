"""Agents stand alone: with cocotb's own runner and makefiles, on tops that the bench has not wrapped."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from nvdla_tb.paths import HDL
from nvdla_tb.run.compile.filelist import parse
from nvdla_tb.run.compile.toolchain import tool_environment
from tests.repository import ROOT, UNOPTIMISED
from tests.sim.conftest import coroutines_of, needs_icarus, problem

PAGE = ROOT / "docs" / "agents.md"
FILE = re.compile(r"^`([\w.]+)`[^\n]*\n\n```\w+\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SIMULATORS = [pytest.param("icarus", marks=needs_icarus), "verilator"]
OWN = "tests.sim.agents"


def environment() -> dict[str, str]:
    """Return the environment of a user who has this interpreter's programs and Verilator on his path."""
    kept = {name: value for name, value in tool_environment().items() if not name.startswith(("PYTEST", "NVDLA"))}
    # The package of Verilator was configured without the first two.
    kept["MAKEFLAGS"] = f"CFG_CXXFLAGS_PCH_I=-include PYTHON3=python3 {UNOPTIMISED}"
    return {**kept, "PATH": os.pathsep.join((str(Path(sys.executable).parent), kept["PATH"]))}


def write_filelist(folder: Path, *more: Path) -> None:
    """Write the embedded nv_small as somebody else's filelist has it, and more sources."""
    files = parse(HDL / "nv_small.f")
    lines = [*(f"+incdir+{path}" for path in files.include_dirs), *map(str, files.sources), *map(str, more)]
    (folder / "rtl.f").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


@pytest.fixture(scope="module", params=SIMULATORS)
def example(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Write the files of the page, and return their folder and a simulator."""
    folder = tmp_path_factory.mktemp("example")
    for name, text in FILE.findall(PAGE.read_text(encoding="utf-8")):
        (folder / name).write_text(text, encoding="utf-8")
    write_filelist(folder)
    return folder, request.param


def ran(folder: Path, *command: str, simulator: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a folder, and return what it said."""
    asked = {**environment(), "SIM": simulator, "PYTHONPATH": str(ROOT)}
    return subprocess.run(command, cwd=folder, env=asked, capture_output=True, text=True, check=False, timeout=900)


def test_the_page_has_a_test_of_40_lines() -> None:
    files = dict(FILE.findall(PAGE.read_text(encoding="utf-8")))
    assert set(files) == {"test_relu.py", "run.py", "Makefile"}
    body = files["test_relu.py"].partition("@cocotb.test()\n")[2]
    assert 20 < len(body.splitlines()) <= 40


def test_the_example_of_the_page_passes_with_cocotbs_runner_and_fails_on_a_wrong_device(
    example: tuple[Path, str],
) -> None:
    folder, simulator = example
    passed = ran(folder, "python", "run.py", simulator=simulator)
    assert passed.returncode == 0, passed.stdout + passed.stderr
    assert "TESTS=1 PASS=1 FAIL=0 SKIP=0" in passed.stdout
    failed = ran(folder, "python", "run.py", "+bug=sdp_dst_line_stride", simulator=simulator)
    assert failed.returncode == 1
    assert "wrong value: 61 elements; layer 0 (SDP, group 0)" in failed.stdout


@needs_icarus
def test_the_example_of_the_page_passes_with_cocotbs_makefiles(example: tuple[Path, str]) -> None:
    folder, simulator = example
    if simulator != "icarus":
        pytest.skip("the runner has compiled it with Verilator")
    made = ran(folder, "make", simulator=simulator)
    assert made.returncode == 0, made.stdout + made.stderr
    assert "TESTS=1 PASS=1 FAIL=0 SKIP=0" in made.stdout


@pytest.fixture(scope="module")
def own(simulator: str, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, str], str]:
    """Play all cocotb tests on a top of somebody else, and return by test why it did not pass, and the log."""
    folder = tmp_path_factory.mktemp("own")
    script = dict(FILE.findall(PAGE.read_text(encoding="utf-8")))["run.py"]
    (folder / "run.py").write_text(script.replace("NV_nvdla", "soc").replace("test_relu", OWN), encoding="utf-8")
    write_filelist(folder, Path(__file__).with_name("agents.v"))
    said = ran(folder, "python", "run.py", simulator=simulator)
    results = folder / "results.xml"
    assert results.is_file(), said.stdout + said.stderr
    cases = ElementTree.parse(results).iter("testcase")
    return {str(case.get("name")): problem(case) for case in cases}, said.stdout


@pytest.mark.parametrize("test", [test for test in coroutines_of(OWN) if not test.startswith("fails_")])
def test_agents_are_bound_to_pins_clock_and_reset_of_another_top(own: tuple[dict[str, str], str], test: str) -> None:
    problems, log = own
    found = {name: why for name, why in problems.items() if name.partition("/")[0] == test}
    assert found
    assert found == dict.fromkeys(found, ""), log


FAILS = {
    "fails_as_nothing_was_compared": "the test must not pass: nothing was compared",
    "fails_as_its_last_act_enables_a_layer": "the test must not pass: missing write: 320 elements; layer 1",
    "fails_at_a_read_of_bytes_that_nobody_has_written": "AssertionError: MC: read of 8 bytes at 0x80000100 with id 1",
}
"""By test, what the log says of it."""


@pytest.mark.parametrize("test", FAILS)
def test_agents_fail_a_test_that_asks_for_no_verdict(own: tuple[dict[str, str], str], test: str) -> None:
    problems, log = own
    assert problems[test]
    assert FAILS[test] in log
