"""Jobs that are tests in Python: the verdict of the bench counts, and what the test itself raised."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from nvdla_tb.judge.detail import Call, Note, Raised
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.run import jobs
from nvdla_tb.run.compile.spec import Built
from nvdla_tb.run.jobs import Job, PythonTest, Setup, run_job
from nvdla_tb.run.simulate import SimResult
from nvdla_tb.stimulus.exchange import REQUEST, Request
from nvdla_tb.stimulus.result import Dut, Result

WRONG = Verdict.of(Check.VALUE, "a wrong byte")
RIGHT = Verdict(judged_bytes=8, layers=1)
EXPECTED = Verdict(judged_bytes=8, layers=1, findings=WRONG.findings, expected=[Check.VALUE])


def more(verdict: Verdict, *findings: tuple[Check, str]) -> Verdict:
    """Return a verdict with more findings."""
    added = [Finding(check, Note(message)) for check, message in findings]
    return replace(verdict, findings=[*verdict.findings, *added])


def unexplained(message: str) -> tuple[Check, str]:
    return Check.EXPLANATION, f"the testbench could not explain this: {message}"


@pytest.mark.parametrize(
    ("check", "message", "answer", "verdict"),
    [
        (None, "", None, Verdict(self_checking=True)),
        (None, "", RIGHT, RIGHT),
        (None, "", WRONG, more(WRONG, unexplained(""))),
        (None, "", EXPECTED, EXPECTED),
        (Check.TEST, "it is wrong", EXPECTED, more(EXPECTED, (Check.TEST, "it is wrong"))),
        (Check.TEST, "it is wrong", None, Verdict.of(Check.TEST, "it is wrong")),
        (Check.TEST, "it is wrong", RIGHT, more(RIGHT, (Check.TEST, "it is wrong"))),
        (Check.TEST, "it raised", WRONG, more(WRONG, unexplained("it raised"))),
        (Check.TIMEOUT, "killed", RIGHT, more(RIGHT, (Check.TIMEOUT, "killed"))),
        (Check.TIMEOUT, "killed", WRONG, more(WRONG, unexplained("killed"), (Check.TIMEOUT, "killed"))),
        (Check.TEST, "nothing of its own", Verdict(), Verdict()),
    ],
)
def test_the_verdict_is_that_of_the_bench_with_what_the_test_raised(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    check: Check | None,
    message: str,
    answer: Verdict | None,
    verdict: Verdict,
) -> None:
    asked: dict[str, Any] = {}

    def simulate(built: Built, *, work_dir: Path, **options: Any) -> SimResult:
        asked.update(options)
        if answer is not None:
            Result("mine.x", 0, Dut("nv_small", "icarus"), "again", answer).save(work_dir / "result.json")
        return SimResult(check, message, 2.0, work_dir / "sim.log")

    monkeypatch.setattr(jobs, "simulate", simulate)
    built: Any = None
    dut = Dut("nv_small", "icarus")
    job = Job.of_test("mine.x", 0, "again", PythonTest("tests.mine", "x", ("/mine",)))
    result = run_job(job, Setup(built, dut, 60.0), tmp_path)
    assert replace(result, rerun_waves=None) == Result("mine.x", 0, dut, "again", verdict, 2.0, str(tmp_path))
    assert (asked["test_module"], asked["testcase"]) == ("tests.mine", "x")
    assert asked["env"]["PYTHONPATH"].startswith("/mine:")
    request = Request.decode(asked["env"][REQUEST])
    assert (request.config, request.so_far.identity, request.scenario) == ("nv_small", "mine.x.0", None)
    assert request.result == str(tmp_path / "result.json")


MISSPELT = Finding(Check.RAISED, Raised("AttributeError", "no plase", (Call("/there/mine.py", 7, "x", "plase()"),)))
UNEQUAL = Finding(Check.TEST, Raised("AssertionError", "it is wrong", ()))


@pytest.mark.parametrize(
    ("check", "raised", "answer", "ending", "findings"),
    [
        (Check.TEST, MISSPELT, None, Ending.TEST_ERROR, [MISSPELT]),
        (Check.TEST, UNEQUAL, Verdict(), Ending.CHECK, [UNEQUAL]),
        (Check.TEST, MISSPELT, Verdict(), Ending.TEST_ERROR, [MISSPELT]),
        (Check.TEST, UNEQUAL, RIGHT, Ending.CHECK, [UNEQUAL]),
        # An error that the test expects.
        (None, MISSPELT, RIGHT, Ending.PASSED, []),
        # The module of the test cannot be loaded.
        (Check.CRASH, MISSPELT, None, Ending.TEST_ERROR, [MISSPELT]),
        (Check.TIMEOUT, MISSPELT, RIGHT, Ending.TIMEOUT, [Finding(Check.TIMEOUT, Note("it ended"))]),
    ],
)
def test_what_a_test_raises_is_told_before_that_nothing_was_compared(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    check: Check | None,
    raised: Finding,
    answer: Verdict | None,
    ending: Ending,
    findings: list[Finding],
) -> None:
    def simulate(built: Built, *, work_dir: Path, **options: Any) -> SimResult:
        if answer is not None:
            Result("mine.x", 0, Dut("nv_small", "icarus"), "again", answer).save(work_dir / "result.json")
        (work_dir / "raised.json").write_bytes(msgspec.json.encode(raised))
        return SimResult(check, "it ended", 2.0, work_dir / "sim.log", reported=check is not Check.CRASH)

    monkeypatch.setattr(jobs, "simulate", simulate)
    built: Any = None
    job = Job.of_test("mine.x", 0, "again", PythonTest("mine", "x"))
    verdict = run_job(job, Setup(built, Dut("nv_small", "icarus"), 60.0), tmp_path).verdict
    assert (verdict.ending, verdict.findings) == (ending, findings)


def test_files_below_the_current_folder_are_told_from_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    call = Call(f"{tmp_path}/tests/mine.py", 7, "x", "plase()")
    found = Finding(Check.RAISED, Raised("AttributeError", "no plase", (call,)))

    def simulate(built: Built, *, work_dir: Path, **options: Any) -> SimResult:
        (work_dir / "raised.json").write_bytes(msgspec.json.encode(found))
        return SimResult(Check.TEST, "it ended", 2.0, work_dir / "sim.log")

    monkeypatch.setattr(jobs, "simulate", simulate)
    monkeypatch.chdir(tmp_path)
    built: Any = None
    job = Job.of_test("mine.x", 0, "again", PythonTest("mine", "x"))
    (tmp_path / "it").mkdir()
    verdict = run_job(job, Setup(built, Dut("nv_small", "icarus"), 60.0), tmp_path / "it").verdict
    assert complaints(verdict) == ["AttributeError: no plase\n  tests/mine.py:7 in x\n    plase()"]
