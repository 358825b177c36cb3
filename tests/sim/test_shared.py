"""Scenarios that share a simulator process end as those that have one each."""

from __future__ import annotations

import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from models.config import HwConfig
from tb.generate.plan import PlanEntry, load_plan
from tb.launch.build import BuildSpec, Built, build
from tb.launch.folders import RESULTS
from tb.launch.simulate import Outcome as SimOutcome
from tb.memory import Ram
from tb.program.ops import CheckCrc, InterruptNotify, MemInit, MemLoad
from tb.regress.jobs import Job, JobResult, run_jobs
from tb.scenario import Scenario
from tb.settings import BenchSettings
from tb.verdict import Outcome

ROOT = Path(__file__).resolve().parents[2]
CONFIG = HwConfig.load("nv_small")
ENTRIES = {entry.name: entry for entry in load_plan(ROOT / "tests" / "plan" / "nv_small.toml")}
MEASURED = ("cycles_per_second", "start_seconds", "peak_memory_bytes")
"""What two runs of the same scenario need not agree on."""


@pytest.fixture(scope="module")
def built() -> Built:
    return build(BuildSpec(CONFIG, "verilator", backend="native"), ROOT / RESULTS)


def job(name: str, scenario: Scenario) -> Job:
    return Job(name, 1, f"rerun {name}", lambda: scenario)


def planned(name: str) -> Job:
    return job(name, ENTRIES[name].build(CONFIG, 1))


def play(built: Built, jobs: list[Job], root: Path, *, isolated: bool = False, seconds: float = 120) -> list[JobResult]:
    """Play jobs one after the other and return their results in that order."""
    results = run_jobs(jobs, built, "nv_small", root, workers=1, timeout_seconds=seconds, isolated=isolated)
    by_name = {result.job.name: result for result in results}
    return [by_name[entry.name] for entry in jobs]


def facts(result: JobResult) -> dict[str, Any]:
    return {name: value for name, value in result.facts.items() if name not in MEASURED}


def test_verdicts_and_cycles_are_those_of_a_process_each(built: Built, tmp_path: Path) -> None:
    jobs = [planned(name) for name in list(ENTRIES)[::6]]
    shared = play(built, jobs, tmp_path / "shared")
    alone = play(built, jobs, tmp_path / "alone", isolated=True)
    assert [facts(result) for result in shared] == [facts(result) for result in alone]
    assert [result.outcome for result in shared] == [result.outcome for result in alone]
    assert any(result.outcome is Outcome.PASSED for result in shared)
    # Processor time since the process began grows from one scenario to the next only when they share it.
    starts = [result.facts["start_seconds"] for result in shared]
    assert starts == sorted(starts)


def test_a_poisoned_read_and_a_hang_stay_with_their_scenario(built: Built, tmp_path: Path) -> None:
    scenario = ENTRIES["sdp_pass_through_full_atom"].build(CONFIG, 2)
    unloaded = replace(scenario, ops=tuple(op for op in scenario.ops if not isinstance(op, MemLoad)))
    hung = replace(
        scenario,
        ops=(*scenario.ops, InterruptNotify("SDP", 1, "never")),
        settings=BenchSettings(hang_cycles=2000),
    )
    jobs = [job("poisoned", unloaded), job("first", scenario), job("hung", hung), job("second", scenario)]
    poisoned, first, hang, second = play(built, jobs, tmp_path)
    assert poisoned.outcome is hang.outcome is Outcome.FAILED
    assert any("outside every allocation" in complaint for complaint in poisoned.complaints)
    assert hang.complaints[0].startswith("hang: nothing moved for 2000 cycles")
    assert first.outcome is second.outcome is Outcome.PASSED
    assert facts(first) == facts(second)


def test_what_a_device_still_reads_is_not_the_next_scenarios(built: Built, tmp_path: Path) -> None:
    # CDMA goes on with lines that no window reaches while everybody else is done.
    layer = {"engine": "CONV", "shape": [8, 8, 256], "kernels": 1, "kernel": [1, 1], "stride": [8, 8], "truncate": 8}
    restless = PlanEntry("restless", "", "nv_small", {"layer": [layer]}).build(CONFIG, 1)
    scenario = ENTRIES["sdp_pass_through_full_atom"].build(CONFIG, 2)
    jobs = [job("first", restless), job("second", scenario), job("alone", scenario)]
    first, second, alone = play(built, jobs, tmp_path)
    assert first.outcome is second.outcome is Outcome.PASSED, (first.complaints, second.complaints)
    assert facts(second) == facts(alone)


def test_a_bench_that_raises_takes_only_its_scenario_with_it(built: Built, tmp_path: Path) -> None:
    scenario = ENTRIES["sdp_pass_through_full_atom"].build(CONFIG, 2)
    before, broken, after = play(
        built, [job("before", scenario), job("broken", replace(scenario, config="nv_full")), job("after", scenario)],
        tmp_path,
    )  # fmt: skip
    assert broken.outcome is Outcome.FAILED
    assert broken.simulation is SimOutcome.FAILED
    assert "the trace is written for nv_full, not for nv_small" in broken.complaints[0]
    assert "the trace is written for nv_full" in (tmp_path / "broken.1" / "sim.log").read_text(encoding="utf-8")
    assert before.outcome is after.outcome is Outcome.PASSED
    assert facts(before) == facts(after)


def test_a_deadline_ends_the_process_and_is_said(built: Built, tmp_path: Path) -> None:
    (late,) = play(built, [planned("sdp_pass_through_full_atom")], tmp_path, seconds=0.05)
    assert late.simulation is SimOutcome.TIMED_OUT
    assert late.complaints[0] == "tb.sim.entry.serve was killed after 0.05 seconds"


def test_a_gibibyte_that_is_filled_and_checked_needs_less_than_one_and_a_half(built: Built, tmp_path: Path) -> None:
    scenario = ENTRIES["sdp_pass_through_full_atom"].build(CONFIG, 2)
    address, nbytes = 0x4000_0000, 1 << 30
    crc = 0
    for _ in range(nbytes >> 20):
        crc = zlib.crc32(bytes(1 << 20), crc)
    ended = next(op.sync_id for op in scenario.ops if isinstance(op, InterruptNotify))
    ops = (MemInit(Ram.MC, address, nbytes, 0), *scenario.ops, CheckCrc(ended, Ram.MC, address, nbytes, crc))
    (result,) = play(built, [job("large", replace(scenario, ops=ops))], tmp_path)
    assert result.outcome is Outcome.PASSED, result.complaints
    assert result.facts["crc_passed"] == 1
    assert nbytes < result.facts["peak_memory_bytes"] < 1.5 * nbytes


def test_every_scenario_has_its_own_log(built: Built, tmp_path: Path) -> None:
    scenario = ENTRIES["sdp_pass_through_full_atom"].build(CONFIG, 2)
    play(built, [job("one", scenario), job("two", scenario)], tmp_path)
    assert (tmp_path / "one.1" / "sim.log").is_file()
    assert (tmp_path / "two.1" / "sim.log").is_file()
