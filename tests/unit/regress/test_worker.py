"""Workers: which simulators they keep, and whose code coverage counts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from models.config import HwConfig
from tb.launch.build import BuildSpec, Built
from tb.regress import code_coverage, worker
from tb.regress.jobs import Job, JobResult
from tb.regress.record import Ending, Record
from tb.regress.task import Task
from tb.regress.worker import NO_WAVES_FILE, Limits, end_processes, execute
from tb.verdict import Outcome
from tests.unit.regress.tasks import DUT, task
from tests.unit.regress.test_code_coverage import point, written

LINE = point("line", "sdp", 1)
WRONG = 99
"""The seed whose scenario fails."""


class Simulator:
    """Stands in for a simulator that many scenarios share, and counts one line once for each."""

    all: list[Simulator]

    def __init__(self, work_dir: Path) -> None:
        self.work_dir, self.scenarios, self.closed = work_dir, 0, 0
        self.all.append(self)

    def close(self) -> None:
        if self.scenarios:
            written(self.work_dir / "coverage.dat", {LINE: self.scenarios})
        self.scenarios, self.closed = 0, self.closed + 1


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[int], None]]:
    """Play the task of a seed on a device whose code coverage is counted."""

    def run_job(job: Job, *_: Any, process: Simulator, **__: Any) -> JobResult:
        process.scenarios += 1
        outcome = Outcome.FAILED if job.seed == WRONG else Outcome.PASSED
        return JobResult(job, outcome, (), 0.1, tmp_path / "work", {"outcome": outcome.value})

    dut = replace(DUT, backend="native", coverage="line")
    spec = BuildSpec(HwConfig.load("nv_small"), backend="native", coverage="line")
    built = Built(spec, tmp_path, tmp_path / "build.log", None, 0.0, cached=True)
    monkeypatch.setattr(Simulator, "all", [], raising=False)
    monkeypatch.setattr(worker, "_built", lambda *_: built)
    monkeypatch.setattr(worker, "shared_process", lambda _, __, folder: Simulator(folder))
    monkeypatch.setattr(worker, "run_job", run_job)
    limits = Limits(tmp_path / "run", tmp_path, 1.0)

    def played(seed: int) -> None:
        made: Task = replace(task(seed), dut=dut)
        (worker._worker_folder(limits) / made.key).mkdir(parents=True, exist_ok=True)
        execute(made.to_dict(), limits)

    yield played
    end_processes()


@pytest.mark.parametrize("prior", [None, "another failure of this worker with the same signature has waves"])
@pytest.mark.parametrize("cycles", [300_000, 300_001])
def test_a_failure_has_waves_or_says_why_not(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, prior: str | None, cycles: int
) -> None:
    played: list[str] = []

    def run_job(job: Job, built: str, config: str, folder: Path, *_: Any, **__: Any) -> None:
        played.append(job.rerun)
        folder.mkdir()
        (folder / "waves.fst").touch()

    failed = Record(task(WRONG).key, Ending.MISMATCH, ("wrong value: 1 elements",), {"cycles": cycles}, 1.0)
    monkeypatch.setattr(worker, "_with_waves", {(failed.ending, failed.signature)} if prior else set())
    monkeypatch.setattr(worker, "build", lambda *_: "model")
    monkeypatch.setattr(worker, "run_job", run_job)
    limits = Limits(tmp_path / "a run", tmp_path, 1.0)
    worker._add_waves(task(WRONG), failed, tmp_path, limits)
    replay = f"python -m tb replay '{tmp_path}/a run/{task(WRONG).key}'"
    long = "failures must take at most 300000 cycles to leave waves, not 300001"
    reason = long if cycles == 300_001 else prior
    assert (tmp_path / "waves.fst").is_file() == (reason is None)
    assert played == ([replay] if reason is None else [])
    if reason is not None:
        assert (tmp_path / NO_WAVES_FILE).read_text(encoding="utf-8") == f"{reason}\n{replay} --waves\n"


def counted(tmp_path: Path) -> int:
    return code_coverage.of_run(tmp_path / "run").get(LINE, 0)


def test_what_scenarios_that_share_a_simulator_have_counted_is_kept_when_it_ends(
    play: Callable[[int], None], tmp_path: Path
) -> None:
    for seed in range(3):
        play(seed)
    assert counted(tmp_path) == 0
    end_processes()
    assert counted(tmp_path) == 3
    assert [simulator.closed for simulator in Simulator.all] == [1]


def test_a_simulator_that_counts_ends_after_sixteen_scenarios(play: Callable[[int], None], tmp_path: Path) -> None:
    for seed in range(17):
        play(seed)
    assert counted(tmp_path) == 16
    end_processes()
    assert counted(tmp_path) == 17


def test_what_a_simulator_with_a_failing_scenario_has_counted_counts_for_nothing(
    play: Callable[[int], None], tmp_path: Path
) -> None:
    for seed in (1, 2, WRONG, 3):
        play(seed)
    end_processes()
    assert counted(tmp_path) == 1


def test_threads_of_a_worker_have_a_simulator_each(play: Callable[[int], None], tmp_path: Path) -> None:
    play(1)
    beside = Thread(target=play, args=(2,))
    beside.start()
    beside.join()
    assert len({simulator.work_dir for simulator in Simulator.all}) == 2
    end_processes()
    assert counted(tmp_path) == 2


def test_a_trace_that_cannot_be_read_fails_with_file_and_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "_built", lambda dut, root: None)
    path = tmp_path / "broken.cfg"
    path.write_text("\nnonsense();\n", encoding="utf-8")
    broken = Task("broken", 0, "trace", str(path), DUT, "again")
    limits = Limits(tmp_path / "run", tmp_path / "build", 1.0, isolated=True)
    record = Record.from_dict(execute(broken.to_dict(), limits))
    assert record.ending is Ending.BENCH_ERROR
    (complaint,) = record.complaints
    assert complaint.startswith(f"{path}:2: unknown command nonsense; allowed: ")
