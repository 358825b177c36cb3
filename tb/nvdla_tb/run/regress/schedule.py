"""A regression on a pool of workers: the longest tasks first, records stored as they arrive, what is missing resumed.

And looking at many tasks on its workers, for the few that reach what is still missing.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice

from nvdla_models.errors import InputError
from nvdla_tb.coverage.model import model_of
from nvdla_tb.coverage.reach import choose, reached
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run import folders
from nvdla_tb.run.errors import STARTED_BY, ClusterError, NoWorkersError, VersionError, in_words
from nvdla_tb.run.regress.pool import Call, Pool, WorkerDied, results
from nvdla_tb.run.regress.store import Run, Store
from nvdla_tb.run.regress.versions import PROJECT, versions
from nvdla_tb.run.regress.worker import (
    RECORD_DIR,
    Limits,
    end_processes,
    execute,
    record_path,
    remove_partial_records,
)
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Result

_FEWEST_AHEAD, _MOST_AHEAD = 4, 64
"""Tasks handed to the pool ahead of each worker: enough to keep it busy, few enough for any memory."""

_SECONDS_AHEAD = 1.0
"""How much work a worker has ahead: short tasks go out in larger lots, each of which costs some milliseconds."""

_CHECK_SECONDS = 2.0
"""How often a driver looks how many workers there are."""

PATIENCE_SECONDS = 120.0
"""How long a pool may be without any worker."""

Execute = Callable[[Task], Result]


def longest_first(tasks: Sequence[Task], seconds: Mapping[str, float]) -> list[Task]:
    """Return tasks ordered by the time they took before, by key; unknown ones come first, as they may be long."""
    return sorted(tasks, key=lambda task: -seconds.get(task.key, float("inf")))


def run_tasks(
    pool: Pool,
    tasks: Sequence[Task],
    execute: Execute,
    *,
    until: float | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Iterator[list[Result]]:
    """Play tasks on the workers of a pool, and yield their records as they arrive, those of one moment together.

    A worker that dies costs the tasks that it had another try. Those that the pool gives up, innocent ones perhaps
    among them, are played again one by one when all others have ended, and what is then given up is recorded as lost.

    Args:
        pool: The workers, which may come and go.
        tasks: What to play, in the order of starting.
        execute: Function that a worker calls with a task.
        until: ``time.monotonic`` after which no further task is started, or None.
        patience_seconds: How long the pool may be without any worker.

    Raises:
        NoSchedulerError: when the connection to the scheduler is lost.
        NoWorkersError: when it was without any worker for longer.
        ClusterError: when a worker could not even begin, or could not leave its record.
    """
    waiting = iter(tasks)
    workers = _Workers(pool, patience_seconds)
    running: dict[Call, Task] = {}
    suspects: list[Task] = []
    alone = False
    while True:
        lot: list[Task] = []
        if until is None or time.monotonic() < until:
            lot = list(islice(waiting, max(0, workers.room - len(running))))
            if not (lot or running) and suspects:
                alone, lot = True, [suspects.pop()]
        if lot:
            running.update(zip(pool.call(execute, lot), lot, strict=True))
        if not running or (not workers.are_there and until is not None and time.monotonic() >= until):
            # Jobs that a batch system never starts hold tasks that the scheduler has, and nobody plays.
            break
        returned, failed = pool.ended(running)
        records = list(returned.values())
        for call in returned:
            del running[call]
        for call in [call for call, error in failed.items() if isinstance(error, WorkerDied)]:
            del failed[call]
            task = running.pop(call)
            if alone:
                records.append(_lost(task))
            else:
                suspects.append(task)
        workers.look(len(records))
        if records:
            yield records
        for call, error in failed.items():
            raise _failure(error, running[call])
    if suspects:
        yield [_lost(task) for task in suspects]


class _Workers:
    """How many tasks the workers of a pool should have ahead, by how many there are and how fast they were."""

    def __init__(self, pool: Pool, patience_seconds: float) -> None:
        self._pool, self._patience = pool, patience_seconds
        self._started = self._seen = self._looked = time.monotonic()
        self._ended = 0
        self._count = self._pool.workers

    @property
    def are_there(self) -> bool:
        """Whether there was a worker when this was last looked at."""
        return self._count > 0

    @property
    def room(self) -> int:
        """How many tasks may be with the scheduler."""
        workers = max(1, self._count)
        rate = self._ended / (time.monotonic() - self._started) / workers if self._ended else 0.0
        ahead: int = min(max(int(rate * _SECONDS_AHEAD), _FEWEST_AHEAD), _MOST_AHEAD)
        return workers * ahead

    def look(self, ended: int) -> None:
        """Take note that so many tasks have ended, and now and then of the workers."""
        self._ended += ended
        now = time.monotonic()
        if ended and now - self._looked < _CHECK_SECONDS:
            return
        self._looked, self._count = now, self._pool.workers
        if self._count or ended:
            self._seen = now
        elif now - self._seen > self._patience:
            raise NoWorkersError(f"the cluster had no worker for {self._patience:g} seconds")


def _lost(task: Task) -> Result:
    return task.result(Verdict.of(Check.LOST, "each worker that had it has died"))


def _failure(error: Exception, task: Task) -> ClusterError:
    """Return why a task has no ending, which is not the task's fault."""
    if isinstance(error, ImportError | AttributeError):
        return VersionError(f"a worker cannot load the project ({in_words(error)}); {STARTED_BY}")
    if isinstance(error, ClusterError):
        return error
    return ClusterError(f"a worker could not play {task.key}: {in_words(error)}")


_TASKS_AT_A_TIME = 40


def search(pool: Pool, tasks: Sequence[Task], wanted: Iterable[str], most: int | None = None) -> list[Task]:
    """Return the tasks that together reach the bins that are wanted, the most useful first, so many at most."""
    names = sorted(wanted)
    return [tasks[number] for number in choose(_look(pool, tasks, names), names, most)]


def reach(pool: Pool, tasks: Sequence[Task], names: Iterable[str]) -> set[str]:
    """Return which of some bins tasks would reach together."""
    return set().union(*_look(pool, tasks, sorted(names)))


def look(tasks: Sequence[Task], names: Sequence[str]) -> list[list[int]]:
    """Return for each task, on a worker, the numbers of the named bins that it would reach; none when refused."""
    numbers = {name: number for number, name in enumerate(names)}
    found: list[list[int]] = []
    for task in tasks:
        job = task.job()
        if job.test is not None or job.refused is not None:
            found.append([])
            continue
        hits = reached(model_of(task.dut.config), job.nvdla_scenario())
        found.append(sorted(numbers[name] for name in hits if name in numbers))
    return found


def _look(pool: Pool, tasks: Sequence[Task], names: Sequence[str]) -> list[frozenset[str]]:
    parts = [tasks[start : start + _TASKS_AT_A_TIME] for start in range(0, len(tasks), _TASKS_AT_A_TIME)]
    numbers = [found for part in results(pool, partial(look, names=names), parts) for found in part]
    return [frozenset(names[number] for number in found) for found in numbers]


def drive(
    store: Store,
    run: Run,
    pool: Pool,
    limits: Limits,
    *,
    until: float | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
    play: Callable[..., Result] = execute,
) -> Iterator[Result]:
    """Play what a run, new or interrupted, lacks, and yield each result once it is in the store.

    Records that workers left while no driver listened come first; their tasks are not played again. Nothing of the
    run is played any more when the last record has come, also not for an earlier driver.

    A worker calls ``play`` with a task and ``limits``; see ``run_tasks`` for the rest.

    Raises:
        ClusterError: when the cluster cannot play, or not any more.
        StoreError: when the store cannot take a result, which then lies beside the run.
    """
    yield from _take_up(store, run)
    missing = store.missing(run)
    ordered = longest_first(missing, store.durations(missing))
    playing = partial(play, limits=replace(limits, project=versions()[PROJECT]))
    for records in run_tasks(pool, ordered, playing, until=until, patience_seconds=patience_seconds):
        yield from _keep(store, run, records)
    pool.call_each(end_processes)
    # A worker may have ended what an earlier driver had asked it for.
    yield from _take_up(store, run)
    remove_partial_records(run.folder)


def _take_up(store: Store, run: Run) -> list[Result]:
    """Store the records that lie beside the run, and return those that the store did not have."""
    lacking = {task.key for task in store.missing(run)}
    return [record for record in _keep(store, run, list(_left_behind(run))) if record.key in lacking]


def _left_behind(run: Run) -> Iterator[Result]:
    for path in sorted(folders.place(run.folder, RECORD_DIR).glob("*.json")):
        try:
            yield Result.load(path)
        except InputError:
            # It was damaged after it had been written whole: its task is played again.
            path.unlink()


def _keep(store: Store, run: Run, records: Sequence[Result]) -> Sequence[Result]:
    store.add(run, *records)
    for record in records:
        record_path(run.folder, record.key).unlink(missing_ok=True)
    return records
