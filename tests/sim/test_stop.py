"""A scenario can end soon after its first wrong byte, on both back ends."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.config import HwConfig
from nvdla_tb.judge.finding import Finding
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec
from nvdla_tb.run.jobs import Job, run_job, with_settings
from nvdla_tb.stimulus.result import Result
from tests.sim.conftest import job_of, planned, setup_of
from tests.unit.nvdla.samples import mismatch

CONFIG = HwConfig.load("nv_small")
LONG = planned("sdp_streaming", plan="bench")


def play(backend: str, job: Job, root: Path) -> Result:
    return run_job(job, setup_of(build(BuildSpec(CONFIG, backend=backend))), root)


@pytest.mark.parametrize("backend", ["native", "coroutine"])
def test_the_first_wrong_byte_ends_the_scenario_and_is_the_one_reported(backend: str, tmp_path: Path) -> None:
    job = job_of(LONG, "+bug=sdp_dst_line_stride")
    watched = with_settings(job, "rerun --stop-at-first", stop_at_first=True)
    whole, stopped = (play(backend, one, tmp_path / name) for name, one in (("a", job), ("b", watched)))
    assert whole.ending is stopped.ending is Ending.MISMATCH
    assert stopped.rerun == "rerun --stop-at-first"
    assert stopped.verdict.cycles < whole.verdict.cycles / 2
    assert first_of(stopped) == first_of(whole)
    assert whole.explained is not None
    assert stopped.explained is not None
    assert stopped.explained.units[0] == whole.explained.units[0]
    assert not any("never written" in line for line in stopped.explained.layer_lines)


def test_a_scenario_without_a_wrong_byte_is_not_stopped(tmp_path: Path) -> None:
    job = job_of(LONG)
    stopping = with_settings(job, stop_at_first=True)
    plain, watched = (play("native", one, tmp_path / name) for name, one in (("a", job), ("b", stopping)))
    assert watched.ending is Ending.PASSED
    assert watched.verdict == plain.verdict


def first_of(result: Result) -> Finding:
    """Return the first finding about bytes, but for how many were wrong."""
    first = result.verdict.wrong_bytes[0]
    return replace(first, detail=replace(mismatch(first), nbytes=0, elements=0))
