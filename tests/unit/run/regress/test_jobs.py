"""Jobs: what a simulator process is asked, and what its answer, or none, means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.judge.detail import Note
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.text import why_not_passed
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.run import jobs
from nvdla_tb.run.answers import left_in
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.jobs import Job, Setup, keep_page, run_job
from nvdla_tb.run.simulate import SimResult
from nvdla_tb.stimulus.exchange import REQUEST, Request
from nvdla_tb.stimulus.result import Result
from nvdla_tb.stimulus.scenario import Scenario
from tests.unit.run.regress.tasks import DUT, answer, explained, wrong

BUILT = Built(BuildSpec(HwConfig.load("nv_small")), Path("/builds/model"), None, 0.0, True)


def job(**options: Any) -> Job:
    return Job("made", 1, "rerun", lambda: Scenario("made", "nv_small", (), 1), **options)


def played(
    folder: Path, monkeypatch: pytest.MonkeyPatch, left: Result | None, check: Check | None = None, **options: Any
) -> Result:
    """Play a job with a simulation that leaves an answer, and ends as a check says."""

    def run_entry(built: Built, test: str, request: Request, work_dir: Path, **_: Any) -> SimResult:
        assert request.result is not None
        if left is not None:
            left.save(Path(request.result))
        log = work_dir / "sim.log"
        log.write_text("".join(f"line {number}\n" for number in range(20)), encoding="utf-8")
        return SimResult(check, "" if check is None else "it ended", 1.0, log)

    monkeypatch.setattr(jobs, "run_entry", run_entry)
    return run_job(job(**options), Setup(BUILT, DUT, 1.0), folder / "work")


@pytest.mark.parametrize(
    ("refusable", "ending", "why"), [(True, Ending.REFUSED, ["no Y"]), (False, Ending.BENCH_ERROR, ["refused: no Y"])]
)
def test_a_refusal_while_playing_is_a_failure_unless_the_job_may_be_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusable: bool, ending: Ending, why: list[str]
) -> None:
    result = played(tmp_path, monkeypatch, answer(Verdict(refused="no Y")), refusable=refusable)
    assert result.ending is ending
    assert why_not_passed(result.verdict) == why


def test_a_job_that_is_refused_beforehand_is_not_played(tmp_path: Path) -> None:
    result = run_job(job(refused="no Y"), Setup(BUILT, DUT, 1.0), tmp_path / "work")
    assert result == answer(Verdict(refused="no Y"), performance=None)
    assert not (tmp_path / "work").exists()


def test_a_result_has_what_the_simulation_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    verdict = Verdict(judged_bytes=8, cycles=900, findings=[wrong()])
    left = answer(verdict, explained=explained("dst-base"))
    result = played(tmp_path, monkeypatch, left, Check.TEST)
    assert result == replace(left, seconds=1.0, folder=str(tmp_path / "work"))
    assert result.ending is Ending.MISMATCH


def test_findings_that_could_not_be_explained_say_so_and_stay_what_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    result = played(tmp_path, monkeypatch, answer(Verdict(findings=[wrong()])), Check.TEST)
    assert result.ending is Ending.MISMATCH
    assert result.verdict.findings == [
        wrong(),
        Finding(Check.EXPLANATION, Note("the testbench could not explain this: it ended")),
    ]


@pytest.mark.parametrize(
    ("check", "expected"),
    [
        (Check.CRASH, Check.CRASH),
        (Check.TIMEOUT, Check.TIMEOUT),
        (Check.TEST, Check.BENCH),
        (None, Check.BENCH),
    ],
)
def test_a_simulation_without_a_verdict_is_told_by_its_end_and_the_last_lines_of_its_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: Check | None, expected: Check
) -> None:
    result = played(tmp_path, monkeypatch, None, check)
    last = "\n".join(f"line {number}" for number in range(8, 20))
    message = "" if check is None else "it ended"
    assert result.verdict.findings == [Finding(expected, Note(f"{message}\n{last}"))]
    assert (result.performance, result.folder) == (None, str(tmp_path / "work"))
    page = (tmp_path / "work" / "failure.html").read_text(encoding="utf-8")
    assert "line 19" in page
    assert "the embedded DUT, NV_nvdla, nv_small, verilator; " in page
    assert "nvdla-tb explain" not in page, "there is nothing to explain"


def test_a_file_that_cannot_be_read_leaves_a_page(tmp_path: Path) -> None:
    result = run_job(job(broken="x.cfg:1: no"), Setup(BUILT, DUT, 1.0), tmp_path / "work")
    assert result.folder == str(tmp_path / "work")
    assert "x.cfg:1: no" in (tmp_path / "work" / "failure.html").read_text(encoding="utf-8")


def test_the_page_that_the_simulator_has_written_stays(tmp_path: Path) -> None:
    (tmp_path / "failure.html").write_text("with causes", encoding="utf-8")
    keep_page(job().result(DUT, Verdict(findings=[wrong()])), tmp_path)
    assert (tmp_path / "failure.html").read_text(encoding="utf-8") == "with causes"


@pytest.mark.parametrize("check", [Check.CRASH, Check.TIMEOUT])
def test_a_simulator_that_ends_badly_after_a_good_verdict_has_not_passed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, check: Check
) -> None:
    result = played(tmp_path, monkeypatch, answer(Verdict(judged_bytes=8)), check)
    assert result.verdict.findings == [Finding(check, Note("it ended"))]
    assert result.verdict.judged_bytes == 8


def test_a_job_is_not_played_in_a_folder_that_holds_something(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played(tmp_path, monkeypatch, answer(Verdict(judged_bytes=8)))
    with pytest.raises(InputError, match=r"/work must be empty$"):
        played(tmp_path, monkeypatch, None, Check.CRASH)


def test_a_simulator_is_asked_with_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plain = job().request(replace(DUT, config="mine.toml"), Path("work"))
    work = tmp_path / "work"
    assert plain == Request(
        "mine.toml",
        scenario=f"{work}/scenario",
        result=f"{work}/result.json",
        log=f"{work}/sim.log",
        begun=answer(Verdict.not_played(), performance=None, dut=replace(DUT, config="mine.toml")),
        about=plain.about,
    )
    assert plain.about.startswith("the embedded DUT, NV_nvdla, mine, verilator; ")
    full = job(altered=Path("x.npz"), stages=Path("s.toml"), waves_from="layer:2", waves_option=None)
    asked = full.request(DUT, work)
    assert (asked.altered, asked.stages) == (str(tmp_path / "x.npz"), str(tmp_path / "s.toml"))
    assert (asked.waves_from, asked.so_far.rerun_waves) == ("layer:2", None)
    assert Request.decode(asked.encode()) == asked
    assert "\n" not in asked.encode()


def test_the_request_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = job().request(DUT, Path("/work"))
    monkeypatch.setenv(REQUEST, asked.encode())
    assert Request.from_env() == asked
    monkeypatch.delenv(REQUEST)
    message = r"^NVDLA_REQUEST must hold the launcher's request, or a configuration must be given$"
    with pytest.raises(InputError, match=message):
        Request.from_env()


def test_an_answer_that_is_none_is_refused(tmp_path: Path) -> None:
    assert left_in(tmp_path) is None
    whole = answer(Verdict(findings=[wrong()]), explained=explained("dst-base"))
    whole.save(tmp_path / "result.json")
    assert left_in(tmp_path) == whole
    (tmp_path / "result.json").write_text('{"test": "made"}', encoding="utf-8")
    with pytest.raises(InputError, match=r"^.*result\.json: a result: seed is missing$"):
        left_in(tmp_path)
