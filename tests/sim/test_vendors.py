"""Commands with ``--sim`` of a vendor, whose licensed tools Icarus stands in for: whole tests are played."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from nvdla_tb.run.compile import toolchain
from tests.sim.conftest import needs_icarus
from tests.stand_in import calls, install
from tests.unit.conftest import Run, tb

__all__ = ["tb"]
pytestmark = pytest.mark.slow
ONLY = "--only sdp_pass_through_one_element"


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The notes of calls of VCS, which is in the PATH."""
    folder = tmp_path / "tools"
    folder.mkdir()
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    toolchain.tool_versions.cache_clear()
    return install(folder, "vcs")


@needs_icarus
def test_a_scenario_is_played_and_a_fault_is_found_with_a_simulator_of_a_vendor(tb: Run, log: Path) -> None:
    passed = tb(f"run --sim vcs {ONLY} --json results.json")
    assert passed.code == 0, passed
    (result,) = json.loads(Path("results.json").read_text(encoding="utf-8"))
    assert "--sim vcs" in result["rerun"]
    assert [call.program for call in calls(log)] == ["vcs"]

    failed = tb(f"run --sim vcs {ONLY} --plusarg +bug=sdp_dst_base")
    assert failed.code == 1
    assert "--sim vcs" in failed.out
    assert [call.program for call in calls(log)] == ["vcs"]


def test_what_a_simulator_of_a_vendor_cannot_do_is_one_line(tb: Run, log: Path) -> None:
    assert tb(f"run --sim vcs --backend native {ONLY}").refusal == (
        "backend must be coroutine with vcs, not native: only Verilator builds it"
    )
    assert tb(f"run --sim vcs --build optimised {ONLY}").refusal == (
        "an optimised model must be built by verilator, not vcs"
    )
    assert tb("regress random --seeds 1 --sim vcs --code-coverage line").refusal == (
        "coverage must be None with vcs, not line: Verilator counts it"
    )
    assert calls(log) == []


@pytest.mark.parametrize("command", ["run", "regress random --seeds 1", "drive driver.so"])
def test_a_command_names_the_program_that_it_does_not_find(command: str, tb: Run, tmp_path: Path) -> None:
    (tmp_path / "driver.so").touch()
    ran = tb(f"{command} --sim xcelium")
    assert ran.code == 2
    assert ran.err.splitlines()[-1].endswith(
        "xrun is not in the PATH; xcelium is Cadence Xcelium, which you install and license"
    )
