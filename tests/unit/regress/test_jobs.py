"""Jobs: what a refusal means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from models.config import HwConfig
from tb.judge.verdict import Outcome, Verdict
from tb.launch.build import BuildSpec, Built
from tb.launch.simulate import Outcome as SimOutcome
from tb.launch.simulate import SimResult
from tb.regress import jobs
from tb.regress.jobs import Job, JobResult, run_job
from tb.scenario import Scenario

BUILT = Built(
    BuildSpec(HwConfig.load("nv_small")), Path("/builds/model"), Path("/builds/model/build.log"), None, 0.0, True
)


@pytest.mark.parametrize(
    ("refusable", "outcome", "complaint"), [(True, Outcome.REFUSED, "no Y"), (False, Outcome.FAILED, "refused: no Y")]
)
def test_a_refusal_while_playing_is_a_failure_unless_the_job_may_be_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusable: bool, outcome: Outcome, complaint: str
) -> None:
    def run_entry(*_: Any, **__: Any) -> tuple[SimResult, dict[str, Any]]:
        ended = SimResult(SimOutcome.PASSED, "", 0, 1.0, tmp_path / "sim.log", tmp_path / "results.xml", None)
        return ended, Verdict(refused="no Y").to_dict()

    monkeypatch.setattr(jobs, "run_entry", run_entry)
    job = Job("made", 1, "rerun", lambda: Scenario("made", "nv_small", (), 1), refusable=refusable)
    result: JobResult = run_job(job, BUILT, "nv_small", tmp_path / "work", 1.0, waves=False)
    assert (result.outcome, result.complaints) == (outcome, (complaint,))
