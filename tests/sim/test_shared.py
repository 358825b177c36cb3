"""Scenarios that share a simulator process end as those that have one each."""

from __future__ import annotations

import re
import zlib
from dataclasses import replace
from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_models.limits import MEMORY_BYTES
from nvdla_tb.judge.detail import BadAccess, Hang
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import CheckCrc, InterruptNotify, MemInit, MemLoad
from nvdla_tb.paths import PLANS
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.jobs import Job, run_jobs
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.settings import BenchSettings
from tests.sim.conftest import job_of, planned, setup_of
from tests.sim.dead_device import SCENARIO, built_device

CONFIG = HwConfig.load("nv_small")
PASS_THROUGH = planned("sdp_pass_through_full_atom", 2)


@pytest.fixture(scope="module")
def built() -> Built:
    return build(BuildSpec(CONFIG, backend="native"))


def named(name: str, scenario: Scenario = PASS_THROUGH) -> Job:
    return Job(name, 1, f"rerun {name}", lambda: scenario)


def play(built: Built, jobs: list[Job], root: Path, *, isolated: bool = False, seconds: float = 120) -> list[Result]:
    """Play jobs one after the other and return their results in that order."""
    results = run_jobs(jobs, setup_of(built, seconds), root, workers=1, isolated=isolated)
    by_name = {job.name: result for job, result in results}
    return [by_name[entry.name] for entry in jobs]


def start_seconds(result: Result) -> float:
    assert result.performance is not None
    return result.performance.start_seconds


def test_verdicts_and_cycles_are_those_of_a_process_each(built: Built, tmp_path: Path) -> None:
    jobs = [job_of(entry.build(CONFIG, 1)) for entry in load_plan(PLANS / "nv_small.toml")[::12]]
    shared = play(built, jobs, tmp_path / "shared")
    alone = play(built, jobs, tmp_path / "alone", isolated=True)
    assert [result.verdict for result in shared] == [result.verdict for result in alone]
    assert any(result.ending is Ending.PASSED for result in shared)
    # Processor time since the process began grows from one scenario to the next only when they share it.
    starts = [start_seconds(result) for result in shared]
    assert starts == sorted(starts)


def test_a_poisoned_read_and_a_hang_stay_with_their_scenario(built: Built, tmp_path: Path) -> None:
    unloaded = replace(PASS_THROUGH, ops=tuple(op for op in PASS_THROUGH.ops if not isinstance(op, MemLoad)))
    never = (*PASS_THROUGH.ops, InterruptNotify("SDP", 1, "never"))
    hung = replace(PASS_THROUGH, ops=never, settings=BenchSettings(hang_cycles=2000))
    jobs = [named("poisoned", unloaded), named("first"), named("hung", hung), named("second")]
    poisoned, first, hang, second = play(built, jobs, tmp_path)
    assert poisoned.ending.is_failure
    accesses = [finding.detail for finding in poisoned.verdict.findings if finding.check is Check.MEMORY]
    assert any(isinstance(access, BadAccess) and access.outside for access in accesses)
    (finding,) = hang.verdict.findings
    assert hang.ending is Ending.HANG
    assert isinstance(finding.detail, Hang)
    assert finding.detail.quiet_cycles == 2000
    assert first.ending is second.ending is Ending.PASSED
    assert first.verdict == second.verdict


def test_what_a_device_still_reads_is_not_the_next_scenarios(built: Built, tmp_path: Path) -> None:
    # CDMA goes on with lines that no window reaches while everybody else is done.
    layer = {"engine": "CONV", "shape": [8, 8, 256], "kernels": 1, "kernel": [1, 1], "stride": [8, 8], "truncate": 8}
    restless = PlanEntry("restless", "", "nv_small", {"layer": [layer]}).build(CONFIG, 1)
    jobs = [named("first", restless), named("second"), named("alone")]
    first, second, alone = play(built, jobs, tmp_path)
    assert first.ending is second.ending is Ending.PASSED, (first.verdict, second.verdict)
    assert second.verdict == alone.verdict


def test_a_bench_that_raises_takes_only_its_scenario_with_it(built: Built, tmp_path: Path) -> None:
    foreign = replace(PASS_THROUGH, config="nv_full")
    before, broken, after = play(built, [named("before"), named("broken", foreign), named("after")], tmp_path)
    assert broken.ending is Ending.BENCH_ERROR
    assert "a scenario for nv_full must not be played on nv_small" in complaints(broken.verdict)[0]
    assert "a scenario for nv_full must not be played" in (tmp_path / "broken.1" / "sim.log").read_text(
        encoding="utf-8"
    )
    assert before.ending is after.ending is Ending.PASSED
    assert before.verdict == after.verdict


def test_a_deadline_ends_the_process_and_is_said(built: Built, tmp_path: Path) -> None:
    takes_seconds = planned("sdp_streaming", plan="bench")
    (late,) = play(built, [named("late", takes_seconds)], tmp_path, seconds=0.05)
    assert late.ending is Ending.TIMEOUT
    said = complaints(late.verdict)[0].splitlines()[0]
    assert re.fullmatch(r"nvdla_tb\.sim\.entry\.serve was killed after 0\.05 seconds(, after cycle \d+)?", said)


def test_a_gibibyte_that_is_filled_and_checked_needs_less_than_one_and_a_half(built: Built, tmp_path: Path) -> None:
    # All fills of a scenario together may have a gibibyte.
    filled = sum(op.nbytes for op in PASS_THROUGH.ops if isinstance(op, MemInit))
    address, nbytes = 0x4000_0000, MEMORY_BYTES - filled
    crc = zlib.crc32(bytes(nbytes & (1 << 20) - 1))
    for _ in range(nbytes >> 20):
        crc = zlib.crc32(bytes(1 << 20), crc)
    ended = next(op.sync_id for op in PASS_THROUGH.ops if isinstance(op, InterruptNotify))
    ops = (MemInit(Ram.MC, address, nbytes, 0), *PASS_THROUGH.ops, CheckCrc(ended, Ram.MC, address, nbytes, crc))
    (result,) = play(built, [named("large", replace(PASS_THROUGH, ops=ops))], tmp_path)
    assert result.ending is Ending.PASSED, result.verdict
    assert result.verdict.crc_passed == 1
    assert result.performance is not None
    assert nbytes < result.performance.peak_memory_bytes < 1.5 * nbytes


def test_every_scenario_has_its_own_log(built: Built, tmp_path: Path) -> None:
    play(built, [named("one"), named("two")], tmp_path)
    assert (tmp_path / "one.1" / "sim.log").is_file()
    assert (tmp_path / "two.1" / "sim.log").is_file()


def test_a_failure_that_only_an_earlier_scenario_causes_names_it(tmp_path: Path) -> None:
    (tmp_path / "rtl").mkdir()
    leaky = built_device(tmp_path / "rtl", "verilator", "native")
    plusargs = ("+answers", "+copies", "+looks", "+leaks")
    jobs = [replace(named(name, SCENARIO), plusargs=plusargs) for name in ("before", "after")]
    first, second = play(leaky, jobs, tmp_path / "run")
    assert first.ending is Ending.PASSED, complaints(first.verdict)
    assert second.ending is Ending.MISMATCH
    assert second.after == first.identity
    (alone,) = play(leaky, jobs[1:], tmp_path / "alone")
    assert alone.ending is Ending.PASSED
    assert sorted(path.name for path in (tmp_path / "run" / "after.1").iterdir() if path.is_dir()) == ["scenario"]
