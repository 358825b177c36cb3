"""Failures are played again once the verdict is there, no longer than is allowed; their folders get waves."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run.compile.build import Teller
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.jobs import Job, PythonTest, Setup
from nvdla_tb.run.regress import again
from nvdla_tb.run.regress.again import lacks_waves, look_again
from nvdla_tb.run.regress.worker import NO_WAVES_FILE, ONE_OF_EACH, Limits, note_no_waves
from nvdla_tb.run.task import BENCH, Task
from nvdla_tb.stimulus.result import Result
from tests.unit.nvdla.samples import SMALL
from tests.unit.run.regress.tasks import DUT, explained, hang, task, wrong

LATER = time.time() + 3600.0
Played = list[tuple[Job, Setup]]


def failed(seed: int, cycles: int, folder: Path | None, *, hangs: bool = False, at: int = 0) -> Result:
    """Return a failure that left a folder, without waves as a worker leaves it, or None."""
    findings = [wrong(at), *([hang("SDP_0")] if hangs else [])]
    result = task(seed).result(Verdict(findings=findings, cycles=cycles))
    if folder is None:
        return result
    (folder / result.key).mkdir()
    (folder / result.key / NO_WAVES_FILE).touch()
    return replace(result, folder=str(folder / result.key))


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> Played:
    """What is played again, with which setup, and leaves waves."""
    found: Played = []

    def run_job(job: Job, setup: Setup, folder: Path) -> Result:
        found.append((job, setup))
        (folder / "waves.fst").touch()
        (folder / "waves.gtkw").touch()
        return failed(1, 9, None)

    monkeypatch.setattr(again, "build", lambda *_: "model with waves")
    monkeypatch.setattr(again, "run_job", run_job)
    return found


def looked_at(one: Task, folder: Path, until: float = LATER) -> Result:
    """Leave what a worker leaves of a failure, and play it again."""
    limits = Limits(folder, folder, 60.0, waves=True)
    (folder / one.key).mkdir()
    result = replace(one.result(Verdict(findings=[wrong()], cycles=9)), folder=str(folder / one.key))
    job = Job(one.test, one.seed, "again", task(1).job().make)
    note_no_waves(job, folder / one.key, ONE_OF_EACH)
    return look_again(one, {one.key: result}, limits, until)


def test_it_leaves_waves_in_the_folder_of_the_failure(played: Played, tmp_path: Path) -> None:
    result = looked_at(task(1), tmp_path)
    ((job, setup),) = played
    assert (setup.built, setup.waves, job.kept) == ("model with waves", True, tmp_path / task(1).key)
    assert sorted(path.name for path in (tmp_path / task(1).key).iterdir()) == ["waves.fst", "waves.gtkw"]
    assert result.folder == str(tmp_path / task(1).key)
    assert not lacks_waves(result)


def test_waves_that_end_early_say_so_and_how_to_get_all_of_them(
    played: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def run_job(job: Job, setup: Setup, folder: Path) -> Result:
        (folder / "waves.fst").touch()
        return task(1).result(Verdict.of(Check.TIMEOUT, "killed"))

    monkeypatch.setattr(again, "run_job", run_job)
    assert lacks_waves(looked_at(task(1), tmp_path))
    folder = tmp_path / task(1).key
    assert (folder / "waves.fst").is_file()
    reason, command = (folder / NO_WAVES_FILE).read_text(encoding="utf-8").splitlines()
    assert reason == "the time was over before waves and save files were whole"
    assert command == f"nvdla-tb replay {folder} --waves"


def test_a_test_in_python_is_played_again_with_its_plusargs(played: Played, tmp_path: Path) -> None:
    mine = Task("mine.fails", 0, BENCH, "tests.mine", DUT, "again", plusargs=("+bug=x",))
    looked_at(mine, tmp_path)
    ((job, _),) = played
    assert (job.name, job.test, job.plusargs) == ("mine.fails", PythonTest("tests.mine", "fails"), ("+bug=x",))


def test_a_test_in_python_is_looked_into_as_scenarios_are(
    played: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    mine = Task("mine.fails", 0, BENCH, "tests.mine", DUT, "again")
    wrong_layer = replace(wrong(), layer=LayerId(0, "CONV", 0))
    failure = replace(mine.result(Verdict(findings=[wrong_layer], cycles=9)), explained=explained())
    looked: list[PythonTest | None] = []

    def watched(job: Job, result: Result, *_: object) -> Result:
        looked.append(job.test)
        return replace(result, explained=explained("dst-base"))

    monkeypatch.setattr(again, "watched", watched)
    monkeypatch.setattr(again, "built_for", lambda *_: Built(BuildSpec(SMALL), tmp_path, None, 0.0, cached=True))
    result = look_again(mine, {mine.key: failure}, Limits(tmp_path, tmp_path, 60.0), LATER)
    assert looked == [PythonTest("tests.mine", "fails")]
    assert result.cause == ("dst-base", "no known cause fits")


def test_nothing_is_begun_when_the_time_is_over(played: Played, tmp_path: Path) -> None:
    assert lacks_waves(looked_at(task(1), tmp_path, time.time() - 1.0))
    said = (tmp_path / task(1).key / NO_WAVES_FILE).read_text(encoding="utf-8")
    assert said.startswith("the time for explaining failures was over\n")
    assert played == []


def test_a_build_is_ended_when_the_time_is_over(
    played: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def build(spec: BuildSpec, root: Path, teller: Teller) -> None:
        teller.progress("before")
        time.sleep(0.3)
        teller.progress("behind it")
        pytest.fail("it goes on")

    monkeypatch.setattr(again, "build", build)
    looked_at(task(1), tmp_path, time.time() + 0.2)
    said = (tmp_path / task(1).key / NO_WAVES_FILE).read_text(encoding="utf-8")
    assert said.startswith("the time for explaining failures was over\n")


def test_a_model_with_waves_that_cannot_be_built_is_the_reason(
    played: Played, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def build(*_: object) -> None:
        raise LaunchError("no room")

    monkeypatch.setattr(again, "build", build)
    result = looked_at(task(1), tmp_path)
    said = (tmp_path / task(1).key / NO_WAVES_FILE).read_text(encoding="utf-8")
    assert said.startswith("no room\n")
    assert result.ending.is_failure
