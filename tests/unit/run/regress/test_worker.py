"""Workers: which simulators they keep, and whose code coverage counts."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from nvdla_models.config import HwConfig
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.run import space
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.run.folders import MARKER
from nvdla_tb.run.jobs import Job, Setup
from nvdla_tb.run.regress import code_coverage, worker
from nvdla_tb.run.regress.worker import NO_WAVES_FILE, ONE_OF_EACH, Limits, end_processes, execute, record_path
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Result
from tests.unit.run.regress.tasks import DUT, VERDICTS, task, wrong
from tests.unit.run.regress.test_code_coverage import point, written

LINE = point("line", "sdp", 1)
WRONG = 99
"""The seed whose scenario fails."""

KILLED = 98
"""The seed whose simulator is killed from outside."""


class Simulator:
    """Stands in for a simulator that many scenarios share, and counts one line once for each."""

    all: list[Simulator]

    def __init__(self, built: Built, work_dir: Path, plusargs: tuple[str, ...]) -> None:
        self.built, self.work_dir, self.scenarios, self.closed = built, work_dir, 0, 0
        self.plusargs = plusargs
        self.all.append(self)

    def close(self) -> None:
        if self.scenarios:
            written(self.work_dir / "coverage.dat", {LINE: self.scenarios})
        self.scenarios, self.closed = 0, self.closed + 1


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[..., Result]]:
    """Play the task of a seed on a device whose code coverage is counted."""

    def run_job(job: Job, setup: Setup, folder: Path, process: Simulator) -> Result:
        process.scenarios += 1
        endings = {KILLED: Ending.LOST, WRONG: Ending.MISMATCH}
        return job.result(setup.dut, VERDICTS[endings.get(job.seed, Ending.PASSED)], 0.1, tmp_path / "work")

    dut = replace(DUT, backend="native", coverage="line")
    spec = BuildSpec(HwConfig.load("nv_small"), backend="native", coverage="line")
    built = Built(spec, tmp_path, None, 0.0, cached=True)
    monkeypatch.setattr(Simulator, "all", [], raising=False)
    monkeypatch.setattr(worker, "built_for", lambda *_: built)
    monkeypatch.setattr(worker, "SharedProcess", Simulator)
    monkeypatch.setattr(worker, "run_job", run_job)
    limits = Limits(tmp_path / "run", tmp_path, 1.0)

    def played(seed: int, *plusargs: str) -> Result:
        return execute(replace(task(seed), dut=dut, plusargs=plusargs), limits)

    yield played
    end_processes()


@pytest.mark.parametrize(
    ("cycles", "reason"),
    [(300_000, ONE_OF_EACH), (300_001, "failures must take at most 300000 cycles to leave waves, not 300001")],
)
def test_a_failure_says_why_it_has_no_waves_yet(
    play: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, cycles: int, reason: str
) -> None:
    verdict = Verdict(findings=[wrong()], cycles=cycles)
    monkeypatch.setattr(worker, "run_job", lambda job, setup, folder, process: job.result(setup.dut, verdict))
    execute(
        replace(task(WRONG), dut=replace(DUT, backend="native")), Limits(tmp_path / "run", tmp_path, 1.0, waves=True)
    )
    folder = tmp_path / "run" / task(WRONG).key
    said = (folder / NO_WAVES_FILE).read_text(encoding="utf-8")
    assert said == f"{reason}\nnvdla-tb replay {folder} --waves\n"


@pytest.mark.parametrize(
    ("error", "check", "ending", "message"),
    [
        (LaunchError("sdp.v:3: syntax error"), Check.BUILD, Ending.BUILD_ERROR, "sdp.v:3: syntax error"),
        (ZeroDivisionError("oops"), Check.BENCH, Ending.BENCH_ERROR, "ZeroDivisionError: oops\n.* in built.*"),
    ],
)
def test_whatever_a_build_or_the_bench_raises_is_the_ending_of_a_task(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, error: Exception, check: Check, ending: Ending, message: str
) -> None:
    def built(*_: Any) -> Built:
        raise error

    monkeypatch.setattr(worker, "built_for", built)
    result = execute(task(1), Limits(tmp_path, tmp_path, 1.0))
    (finding,) = result.verdict.findings
    assert (finding.check, result.ending) == (check, ending)
    assert re.fullmatch(message, finding.detail.message, re.DOTALL)
    folder = tmp_path / "random.1.nv_small.verilator"
    assert result.folder == str(folder)
    page = (folder / "failure.html").read_text(encoding="utf-8")
    assert str(error) in page
    assert result.rerun in page
    assert Result.load(record_path(tmp_path, task(1).key)) == result


def test_a_task_whose_result_is_there_is_not_played_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(worker, "built_for", lambda *_: pytest.fail("it must not be built"))
    left = task(1).result(VERDICTS[Ending.HANG], 3.0)
    path = record_path(tmp_path, task(1).key)
    path.parent.mkdir()
    path.write_bytes(left.encode())
    assert execute(task(1), Limits(tmp_path, tmp_path, 1.0)) == left


def counted(tmp_path: Path) -> int:
    return code_coverage.of_run(tmp_path / "run").get(LINE, 0)


@pytest.mark.parametrize(
    ("seeds", "so_far", "at_the_end", "closed"),
    [(range(3), 0, 3, 1), (range(17), 16, 17, 2), ((1, 2, WRONG, 3), 0, 1, 2)],
    ids=["few", "more_than_sixteen", "a_failure"],
)
def test_what_a_simulator_has_counted_is_kept_after_sixteen_scenarios_and_at_its_end_but_not_with_a_failure(
    play: Callable[[int], None], tmp_path: Path, seeds: Sequence[int], so_far: int, at_the_end: int, closed: int
) -> None:
    for seed in seeds:
        play(seed)
    assert counted(tmp_path) == so_far
    end_processes()
    assert counted(tmp_path) == at_the_end
    assert [simulator.closed for simulator in Simulator.all] == [closed]


def test_a_worker_changes_over_to_another_model_between_scenarios(
    play: Callable[[int], None], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    play(1)
    quick = Simulator.all[0].built
    optimised = dataclasses.replace(quick, directory=tmp_path / "optimised")
    monkeypatch.setattr(worker, "built_for", lambda *_: optimised)
    play(2)
    play(3)
    assert [(simulator.built, simulator.closed) for simulator in Simulator.all] == [(quick, 1), (optimised, 0)]


def test_threads_of_a_worker_have_a_simulator_each(play: Callable[[int], None], tmp_path: Path) -> None:
    play(1)
    beside = Thread(target=play, args=(2,))
    beside.start()
    beside.join()
    assert len({simulator.work_dir for simulator in Simulator.all}) == 2
    end_processes()
    assert counted(tmp_path) == 2


def test_what_somebody_keeps_where_a_failure_would_lie_stays(play: Callable[[int], None], tmp_path: Path) -> None:
    kept = tmp_path / "run" / task(WRONG).key / "thesis"
    kept.parent.mkdir(parents=True)
    kept.touch()
    play(WRONG)
    (record,) = (tmp_path / "run" / "records").glob("*.json")
    assert "lacks .nvdla-testbench" in record.read_text(encoding="utf-8")
    assert kept.exists()
    assert Simulator.all == [], "nothing was played whose failure could not be kept"


def test_a_trace_that_cannot_be_read_fails_with_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "built_for", lambda dut, plusargs, limits: None)
    path = tmp_path / "broken.cfg"
    path.write_text("\nnonsense();\n", encoding="utf-8")
    broken = Task("broken", 0, "trace", str(path), DUT, "again")
    limits = Limits(tmp_path / "run", tmp_path / "build", 1.0, isolated=True)
    result = execute(broken, limits)
    assert result.ending is Ending.BENCH_ERROR
    (complaint,) = complaints(result.verdict)
    assert complaint.startswith(f"{path}:2: unknown command nonsense; allowed: ")


def test_a_task_whose_simulator_is_killed_is_lost_and_leaves_neither_a_folder_nor_a_record_that_a_later_driver_takes(
    play: Callable[[int], Result], tmp_path: Path
) -> None:
    lost = play(KILLED)
    assert (lost.ending, lost.folder) == (Ending.LOST, None)
    assert not worker.record_path(tmp_path / "run", task(KILLED).key).exists()
    assert not (tmp_path / "run" / task(KILLED).key).exists()


def test_scenarios_share_a_simulator_with_the_same_plusargs_alone(play: Callable[..., None]) -> None:
    for seed, bug in ((1, "+bug=x"), (2, "+bug=x"), (4, "+bug=y")):
        play(seed, bug)
    assert [(one.plusargs, one.scenarios) for one in Simulator.all] == [(("+bug=x",), 2), (("+bug=y",), 1)]


def test_a_failure_on_a_full_device_is_no_ending_of_the_task(
    play: Callable[[int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(space.shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    play(1)
    with pytest.raises(OSError, match="No space left on device"):
        play(WRONG)
    assert sorted(path.name for path in (tmp_path / "run" / "records").iterdir()) == [MARKER, f"{task(1).key}.json"]


def test_a_record_that_was_not_written_to_its_end_is_removed_alone(
    play: Callable[[int], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise SystemExit("killed")

    play(1)
    monkeypatch.setattr(worker.os, "fsync", killed)
    with pytest.raises(SystemExit, match="killed"):
        play(2)
    folder = tmp_path / "run" / "records"
    (folder / ".another").touch()
    assert len(list(folder.iterdir())) == 4
    worker.remove_partial_records(tmp_path / "run")
    assert sorted(path.name for path in folder.iterdir()) == [".another", MARKER, f"{task(1).key}.json"]
