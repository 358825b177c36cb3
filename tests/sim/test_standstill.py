"""RTL that loops in zero time is a hang that names the simulation time; a long computation in Python is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_tb.judge.detail import StandStill
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run import standstill
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.jobs import Job, PythonTest, Setup, run_job
from nvdla_tb.run.simulate import SharedProcess
from nvdla_tb.stimulus.result import Result
from tests.repository import ROOT
from tests.sim.conftest import ICARUS, NATIVE, played, setup_of
from tests.sim.dead_device import SCENARIO, built_device

PERIOD_PS, LOOPS_AT_CYCLE, LOOPS_AT_PS = 2000, 30, 61_000
"""The reset lasts 20 cycles of 2 ns, whose clock rises in their middle."""


@pytest.fixture(scope="module", params=[NATIVE, pytest.param(("verilator", "coroutine"), id="coroutine"), ICARUS])
def device(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A device that loops when it is told to."""
    return built_device(tmp_path_factory.mktemp("device"), *request.param)


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """A time step may take a second of processor time."""
    monkeypatch.setattr(standstill, "PROCESSOR_SECONDS", 1.0)
    monkeypatch.setattr(standstill, "ANSWER_PROCESSOR_SECONDS", 0.5)


def still_of(device: Built, result: Result) -> StandStill:
    """Require that time stood still in the cycle in which the device loops."""
    assert result.ending is Ending.HANG, result
    (found,) = result.verdict.findings
    assert isinstance(found.detail, StandStill)
    assert found.cycle is not None
    before = LOOPS_AT_CYCLE - found.cycle
    assert 0 <= before < found.detail.cycles == (1 if device.spec.native else 64)
    assert found.detail.time_ps == LOOPS_AT_PS - before * PERIOD_PS
    return found.detail


def playing(device: Built, shared: bool, folder: Path, plusarg: str) -> SharedProcess | None:
    if shared and not device.spec.native:
        pytest.skip("only the native back end shares processes")
    return SharedProcess(device, folder / "process", (plusarg,)) if shared else None


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("shared", [False, True])
def test_a_process_without_delay_is_found_long_before_the_deadline(device: Built, tmp_path: Path, shared: bool) -> None:
    process = playing(device, shared, tmp_path, "+spins")
    result = played(device, tmp_path / "it", SCENARIO, "+spins", process=process)
    still = still_of(device, result)
    assert still.processor_seconds >= 1.5
    (said,) = complaints(result.verdict)
    at = "cycle 30 (61.000 ns)" if device.spec.native else "cycle 1 to 64 (from 3.000 ns on)"
    assert said.splitlines() == [
        f"hang: simulation time stood still at {at}: the simulator computed for {still.processor_seconds:.0f} s",
        "  the RTL loops in zero time: look for a combinational loop, a loop or a task without delay, that begins then",
    ]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("shared", [False, True])
def test_signals_that_never_settle_are_found(device: Built, tmp_path: Path, shared: bool) -> None:
    process = playing(device, shared, tmp_path, "+flips")
    result = played(device, tmp_path / "it", SCENARIO, "+flips", process=process)
    said = still_of(device, result).said
    verilators = "NBA region did not converge after '--converge-limit' of 10000 tries"
    assert said == (verilators if device.spec.simulator == "verilator" else "")


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", ["python_computes_between_two_cycles", "python_computes_when_it_ends"])
def test_a_long_computation_in_python_is_no_standstill(device: Built, tmp_path: Path, name: str) -> None:
    test = PythonTest("tests.sim.standstill", name, (str(ROOT),))
    job = Job.of_test("computes", 1, "", test)
    result = run_job(job, Setup(device, setup_of(device).dut, 300.0), tmp_path / "it")
    assert (result.ending, complaints(result.verdict)) == (Ending.PASSED, [])
