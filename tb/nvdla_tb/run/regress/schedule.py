"""A regression on a Dask cluster: the longest tasks first, records stored as they arrive, what is missing resumed.

And looking at many tasks on its workers, for the few that reach what is still missing.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count, islice
from pathlib import Path

from dask.distributed import Client, Future, KilledWorker, wait

from nvdla_models.errors import InputError
from nvdla_tb.coverage.collect import Candidate, choose, reached
from nvdla_tb.coverage.model import model_of
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.run import folders
from nvdla_tb.run.errors import (
    SCHEDULER_LOST,
    STARTED_BY,
    ClusterError,
    NoSchedulerError,
    NoWorkersError,
    VersionError,
)
from nvdla_tb.run.regress.cluster import PROJECT, in_words, talking, versions
from nvdla_tb.run.regress.store import Run, Store
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
"""Tasks handed to the scheduler ahead of each worker: enough to keep it busy, few enough for any memory."""

_SECONDS_AHEAD = 1.0
"""How much work a worker has ahead: short tasks go out in larger lots, each of which costs some milliseconds."""

_TOGETHER_SECONDS = 1.0
"""How long a result may wait for others: to take several at once costs hardly more than to take one."""

_CHECK_SECONDS = 2.0
"""How often a driver looks how many workers there are."""

_FETCH_SECONDS = 10.0
"""How long results may take to arrive; those of a worker that has died never do."""

PATIENCE_SECONDS = 120.0
"""How long a cluster may be without any worker."""

Execute = Callable[[Task], Result]


def longest_first(tasks: Sequence[Task], seconds: Mapping[str, float]) -> list[Task]:
    """Return tasks ordered by the time they took before, by key; unknown ones come first, as they may be long."""
    return sorted(tasks, key=lambda task: -seconds.get(task.key, float("inf")))


def run_tasks(
    client: Client,
    tasks: Sequence[Task],
    execute: Execute,
    *,
    until: float | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
) -> Iterator[list[Result]]:
    """Play tasks on the workers of a cluster, and yield their records as they arrive, those of one moment together.

    A worker that dies costs the tasks that it had another try. Dask gives up those that have lost several workers, the
    innocent ones that were with the cause each time among them; they are played again one by one when all others have
    ended, and what then loses several workers is recorded as lost.

    Args:
        client: The cluster; workers may come and go.
        tasks: What to play, in the order of starting.
        execute: Function that a worker calls with a task.
        until: ``time.monotonic`` after which no further task is started, or None.
        patience_seconds: How long the cluster may be without any worker.

    Raises:
        NoSchedulerError: when the connection to the scheduler is lost.
        NoWorkersError: when it was without any worker for longer.
        ClusterError: when a worker could not even begin, or could not leave its record.
    """
    waiting = iter(tasks)
    workers = _Workers(client, patience_seconds)
    names = (f"task-{uuid.uuid4().hex}-{number:09}" for number in count())
    running: dict[Future, Task] = {}
    suspects: list[Task] = []
    alone = False
    while True:
        lot: list[Task] = []
        if until is None or time.monotonic() < until:
            lot = list(islice(waiting, max(0, workers.room - len(running))))
            if not (lot or running) and suspects:
                alone, lot = True, [suspects.pop()]
        if lot:
            with talking():
                futures = client.map(execute, lot, key=list(islice(names, len(lot))), pure=False)
            running.update(zip(futures, lot, strict=True))
        if not running or (not workers.are_there and until is not None and time.monotonic() >= until):
            # Jobs that a batch system never starts hold tasks that the scheduler has, and nobody plays.
            break
        results, failed = _fetched(client, _ended(running))
        for future in failed:
            if isinstance(future.exception(), KilledWorker):
                if alone:
                    results[future] = _lost(running[future])
                else:
                    suspects.append(running.pop(future))
        workers.look(len(results))
        for future in results:
            # Dask plays what is still held again when the worker that had it dies, and exceptions of ``wait`` hold it.
            future.release()
            del running[future]
        if results:
            yield list(results.values())
        for future in failed:
            if future in running:
                raise _failure(future, running[future])
    if suspects:
        yield [_lost(task) for task in suspects]


def on_each_worker(client: Client, function: Callable[[], object]) -> None:
    """Call a function once on each worker, after its current task; a worker that dies meanwhile is left out.

    Raises:
        Exception: whatever the function has raised.
    """
    with talking():
        calls = {client.submit(function, workers=[address], pure=False): address for address in client.nthreads()}
    while calls:
        for future in _ended(calls):
            del calls[future]
            with talking():
                future.result()
        with talking():
            alive = client.nthreads()
        calls = {future: address for future, address in calls.items() if address in alive}


class _Workers:
    """How many tasks the workers of a cluster should have ahead, by how many there are and how fast they were."""

    def __init__(self, client: Client, patience_seconds: float) -> None:
        self._client, self._patience = client, patience_seconds
        self._started = self._seen = self._looked = time.monotonic()
        self._ended = 0
        self._threads = self._count()

    @property
    def are_there(self) -> bool:
        """Whether there was a worker when this was last looked at."""
        return self._threads > 0

    @property
    def room(self) -> int:
        """How many tasks may be with the scheduler."""
        threads = max(1, self._threads)
        rate = self._ended / (time.monotonic() - self._started) / threads if self._ended else 0.0
        ahead: int = min(max(int(rate * _SECONDS_AHEAD), _FEWEST_AHEAD), _MOST_AHEAD)
        return threads * ahead

    def look(self, ended: int) -> None:
        """Take note that so many tasks have ended, and now and then of the workers."""
        self._ended += ended
        now = time.monotonic()
        if ended and now - self._looked < _CHECK_SECONDS:
            return
        self._looked, self._threads = now, self._count()
        if self._threads or ended:
            self._seen = now
        elif now - self._seen > self._patience:
            raise NoWorkersError(f"the cluster had no worker for {self._patience:g} seconds")

    def _count(self) -> int:
        with talking():
            return sum(self._client.nthreads().values())


def _ended(running: Collection[Future]) -> list[Future]:
    """Return futures that ended, or none after a while without any; the earlier half if they end soon enough."""
    first = list(islice(running, (len(running) + 1) // 2))
    with talking(), suppress(TimeoutError):
        wait(first, timeout=_TOGETHER_SECONDS)
    ended = [future for future in running if future.done()]
    if any(future.status == "cancelled" for future in ended):
        raise NoSchedulerError(SCHEDULER_LOST)
    return ended


def _fetched(client: Client, ended: Collection[Future]) -> tuple[dict[Future, Result], list[Future]]:
    """Return the results of tasks that ended, and what failed without one.

    Those that another worker plays again, as theirs has died, are in neither.
    """
    failed = [future for future in ended if future.status == "error"]
    sound = [future for future in ended if future.status == "finished"]
    gather = partial(client.gather, sound, errors="skip", asynchronous=True)
    with talking():
        try:
            fetched = client.sync(gather, callback_timeout=_FETCH_SECONDS) if sound else []
        except TimeoutError:
            fetched = []
    return dict(zip(sound, fetched, strict=True)) if len(fetched) == len(sound) else {}, failed


def _lost(task: Task) -> Result:
    return task.result(Verdict.of(Check.LOST, "each worker that had it has died"))


def _failure(future: Future, task: Task) -> ClusterError:
    """Return why a task has no ending, which is not the task's fault."""
    error = future.exception()
    if isinstance(error, ImportError | AttributeError):
        return VersionError(f"a worker cannot load the project ({in_words(error)}); {STARTED_BY}")
    if isinstance(error, ClusterError):
        return error
    return ClusterError(f"a worker could not play {task.key}: {in_words(error)}")


_TASKS_AT_A_TIME = 40


def search(
    client: Client, model: Path, tasks: Sequence[Task], wanted: Iterable[str], most: int | None = None
) -> list[Task]:
    """Return the tasks that together reach the bins that are wanted, the most useful first, so many at most.

    ``model`` is the folder of the coverage model.
    """
    names = sorted(wanted)
    looked = _look(client, model, tasks, names)
    candidates = [Candidate(number, hits) for number, hits in enumerate(looked)]
    return [tasks[candidate.seed] for candidate in choose(candidates, names, most)]


def reach(client: Client, model: Path, tasks: Sequence[Task], names: Iterable[str]) -> set[str]:
    """Return which of some bins tasks would reach together."""
    return set().union(*_look(client, model, tasks, sorted(names)))


def look(tasks: Sequence[Task], model: Path, names: Sequence[str]) -> list[list[int]]:
    """Return for each task, on a worker, the numbers of the named bins that it would reach; none when refused."""
    numbers = {name: number for number, name in enumerate(names)}
    found: list[list[int]] = []
    for task in tasks:
        job = task.job()
        if job.test is not None or job.refused is not None:
            found.append([])
            continue
        hits = reached(model_of(model, task.dut.config), job.nvdla_scenario())
        found.append(sorted(numbers[name] for name in hits if name in numbers))
    return found


def _look(client: Client, model: Path, tasks: Sequence[Task], names: Sequence[str]) -> list[frozenset[str]]:
    parts = [tasks[start : start + _TASKS_AT_A_TIME] for start in range(0, len(tasks), _TASKS_AT_A_TIME)]
    with talking():
        futures = [client.submit(look, part, model=model, names=names, pure=False) for part in parts]
        numbers = [found for future in futures for found in future.result()]
    return [frozenset(names[number] for number in found) for found in numbers]


def drive(
    store: Store,
    run: Run,
    client: Client,
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
    for records in run_tasks(client, ordered, playing, until=until, patience_seconds=patience_seconds):
        yield from _keep(store, run, records)
    on_each_worker(client, end_processes)
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
