"""A scenario can end soon after its first wrong byte, on both back ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.config import HwConfig
from tb.generate.plan import load_plan
from tb.launch.build import BuildSpec, build
from tb.launch.folders import RESULTS
from tb.regress.jobs import Job, JobResult, run_jobs, stopping_at_first
from tb.verdict import Outcome

ROOT = Path(__file__).resolve().parents[2]
CONFIG = HwConfig.load("nv_small")
LONG = next(entry for entry in load_plan(ROOT / "tests" / "plan" / "bench.toml") if entry.name == "sdp_streaming")
BUG = "+bug=sdp_dst_line_stride"


def play(backend: str, job: Job, root: Path) -> JobResult:
    built = build(BuildSpec(CONFIG, "verilator", backend=backend), ROOT / RESULTS)
    (result,) = run_jobs([job], built, "nv_small", root, workers=1, timeout_seconds=300)
    return result


@pytest.mark.parametrize("backend", ["native", "coroutine"])
def test_the_first_wrong_byte_ends_the_scenario_and_is_the_one_reported(backend: str, tmp_path: Path) -> None:
    job = Job("long", 1, "rerun", lambda: LONG.build(CONFIG, 1), plusargs=(BUG,))
    whole, stopped = (play(backend, one, tmp_path / name) for name, one in (("a", job), ("b", stopping_at_first(job))))
    assert whole.outcome is stopped.outcome is Outcome.FAILED
    assert stopped.job.rerun == "rerun --stop-at-first"
    assert stopped.facts["cycles"] < whole.facts["cycles"] / 2
    assert first_of(stopped) == first_of(whole)


def test_a_scenario_without_a_wrong_byte_is_not_stopped(tmp_path: Path) -> None:
    job = Job("long", 1, "rerun", lambda: LONG.build(CONFIG, 1))
    plain, watched = (play("native", one, tmp_path / name) for name, one in (("a", job), ("b", stopping_at_first(job))))
    assert watched.outcome is Outcome.PASSED
    assert watched.facts["cycles"] == plain.facts["cycles"]
    assert watched.facts["judged_bytes"] == plain.facts["judged_bytes"]


def first_of(result: JobResult) -> str:
    """Return where the first complaint about bytes lies: address, values, cycle and id."""
    return result.complaints[0].partition("first at ")[2]
