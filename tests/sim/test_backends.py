"""The compiled agents and the coroutines give the same verdict, cycle by cycle, from the same seed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from models.config import HwConfig
from tb.judge.finding import BadAccess, Check, Hang, PollExpired, WrongRegister
from tb.judge.verdict import Ending, Verdict
from tb.nvdla.program.ops import InterruptNotify, MemLoad, Poll, RegRead
from tb.places import PLANS, ROOT
from tb.run.compile.build import build
from tb.run.compile.spec import BuildSpec, Built
from tb.run.errors import LaunchError
from tb.run.folders import RESULTS
from tb.run.simulate import simulate
from tb.stimulus.exchange import REQUEST, Request
from tb.stimulus.generate.plan import load_plan
from tb.stimulus.scenario import Scenario
from tb.stimulus.settings import BenchSettings, PortSettings
from tb.stimulus.trace import write

CONFIG = HwConfig.load("nv_small")
ENTRIES = {entry.name: entry for entry in load_plan(PLANS / "nv_small.toml")}
STRESS = PortSettings(latency_cycles=9, jitter_cycles=30, ready_stall=0.3, valid_stall=0.3, reorder=True)


@pytest.fixture(scope="module")
def models() -> dict[str, Built]:
    return {
        backend: build(BuildSpec(CONFIG, "verilator", backend=backend), ROOT / RESULTS)
        for backend in ("coroutine", "native")
    }


def played(built: Built, scenario: Scenario, folder: Path) -> tuple[Verdict, dict[str, np.ndarray]]:
    """Play a scenario and return its verdict and its writes."""
    write(scenario, folder / "scenario")
    request = Request("nv_small", scenario=str(folder / "scenario"), result=str(folder / "result.json"))
    result = simulate(
        built,
        test_module="tests.sim.backends",
        testcase="record",
        env={REQUEST: request.encode()},
        work_dir=folder,
        timeout_seconds=300,
    )
    assert result.passed, f"{result.message}\n{result.log_path.read_text(encoding='utf-8')}"
    with np.load(folder / "result.npz") as file:
        return msgspec.json.decode((folder / "result.json").read_bytes(), type=Verdict), dict(file)


def assert_alike(models: dict[str, Built], scenario: Scenario, folder: Path) -> Verdict:
    """Play a scenario on both back ends, require the same of both, and return the verdict."""
    verdict, writes = played(models["coroutine"], scenario, folder / "coroutine")
    other, others = played(models["native"], scenario, folder / "native")
    assert other == verdict
    for name, values in writes.items():
        np.testing.assert_array_equal(others[name], values, err_msg=name)
    return verdict


@pytest.mark.parametrize(
    "settings",
    [
        BenchSettings(),
        BenchSettings(port=PortSettings(latency_cycles=0)),
        BenchSettings(csb_stall=0.4, port=STRESS),
        BenchSettings(port=replace(STRESS, jitter_cycles=0, latency_cycles=40)),
        BenchSettings(port=replace(STRESS, reorder=False, ready_stall=0.7)),
    ],
    ids=["default", "no latency", "stress", "reorder without jitter", "in order with jitter"],
)
@pytest.mark.parametrize("name", ["sdp_back_to_back_in_both_groups", "sdp_and_pdp_at_once"])
def test_every_write_has_the_same_cycle_and_id(
    models: dict[str, Built], tmp_path: Path, name: str, settings: BenchSettings
) -> None:
    scenario = replace(ENTRIES[name].build(CONFIG, 5), settings=settings)
    verdict = assert_alike(models, scenario, tmp_path)
    assert verdict.ending is Ending.PASSED
    assert verdict.judged_bytes > 0


def test_poisoned_reads_and_stray_writes_are_reported_alike(models: dict[str, Built], tmp_path: Path) -> None:
    scenario = ENTRIES["sdp_pass_through_full_atom"].build(CONFIG, 2)
    loads = [op for op in scenario.ops if isinstance(op, MemLoad)]
    ops = tuple(op for op in scenario.ops if op != loads[0])
    verdict = assert_alike(models, replace(scenario, ops=ops), tmp_path)
    assert verdict.ending.is_failure
    assert verdict.memory_faults > 0
    accesses = [finding.detail for finding in verdict.findings if finding.check is Check.MEMORY]
    assert any(isinstance(access, BadAccess) and access.outside for access in accesses)


def test_a_hang_is_reported_alike(models: dict[str, Built], tmp_path: Path) -> None:
    scenario = ENTRIES["sdp_pass_through_full_atom"].build(CONFIG, 2)
    ops = (*scenario.ops, InterruptNotify("SDP", 1, "never"))
    settings = BenchSettings(hang_cycles=2000)
    verdict = assert_alike(models, replace(scenario, ops=ops, settings=settings), tmp_path)
    assert verdict.ending is Ending.HANG
    (finding,) = verdict.findings
    assert isinstance(finding.detail, Hang)
    assert (finding.detail.quiet_cycles, finding.detail.waiting_for) == (2000, ("SDP_1",))
    assert finding.cycle is not None


def test_polls_and_unexpected_values_are_reported_alike(models: dict[str, Built], tmp_path: Path) -> None:
    scenario = ENTRIES["sdp_pass_through_full_atom"].build(CONFIG, 2)
    ops = (
        RegRead("GLB.S_NVDLA_HW_VERSION", expected=0x12),
        *scenario.ops,
        Poll("GLB.S_INTR_STATUS", 1),
    )
    settings = BenchSettings(poll_deadline_cycles=500)
    verdict = assert_alike(models, replace(scenario, ops=ops, settings=settings), tmp_path)
    read, poll = verdict.findings
    assert (read.check, read.detail) == (
        Check.REGISTER,
        WrongRegister("GLB.S_NVDLA_HW_VERSION", 0x12, 0x303031, "major"),
    )
    assert read.cycle is not None
    assert poll.detail == PollExpired("GLB.S_INTR_STATUS", "equal", expected=1, got=0, deadline_cycles=500)
    assert poll.check is Check.REGISTER


def test_the_native_back_end_needs_verilator() -> None:
    with pytest.raises(
        LaunchError, match=r"^backend must be coroutine with icarus, not native: it is built by Verilator$"
    ):
        BuildSpec(CONFIG, "icarus", backend="native")


def test_an_unknown_back_end_is_refused() -> None:
    with pytest.raises(LaunchError, match=r"^backend must be one of native, coroutine, not python$"):
        BuildSpec(CONFIG, backend="python")


def test_counters_are_judged(models: dict[str, Built], tmp_path: Path) -> None:
    (entry,) = (each for each in load_plan(PLANS / "nv_small_corners.toml") if each.name == "corners_conv_counters")
    verdict = assert_alike(models, entry.build(CONFIG, 1), tmp_path)
    assert verdict.failures == []
    assert verdict.counters == 24, "9 of a convolution with SDP, twice, and 6 of SDP alone"
