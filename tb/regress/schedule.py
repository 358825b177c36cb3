"""Scheduling with Dask: tasks to workers, the longest first, records back as they arrive."""

from __future__ import annotations

import logging
import time
import uuid
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from typing import Any

from dask import config
from dask.distributed import Client, Future, LocalCluster, wait

from models.errors import InputError
from tb.regress.record import Ending, Record
from tb.regress.task import Task

_FEWEST_AHEAD, _MOST_AHEAD = 4, 64
"""Tasks handed to the scheduler ahead of each worker: enough to keep it busy, few enough for any memory."""

_SECONDS_AHEAD = 1.0
"""How much work a worker has ahead: short tasks go out in larger lots, each of which costs some milliseconds."""

_CHECK_SECONDS = 2.0
"""How often a driver looks how many workers there are."""

_FETCH_SECONDS = 10.0
"""How long results may take to arrive; those of a worker that has died never do."""

PATIENCE_SECONDS = 120.0
"""How long a cluster may be without any worker."""

_NEVER_GIVEN_UP = {"distributed.deploy.lost-worker-timeout": "1 day"}
"""A local cluster gives up a worker that is down some time after a death; one that is just starting again stays."""

Execute = Callable[[dict[str, Any]], dict[str, Any]]


class NoSchedulerError(InputError):
    """A scheduler that is gone; what was played is in the store, or lies beside the run."""


class NoWorkersError(InputError):
    """A cluster whose workers are all gone; what was played is in the store."""


@contextmanager
def cluster(scheduler: str | None, workers: int, host: str) -> Iterator[Client]:
    """Connect to a running Dask cluster, or start a local one for the time of the block.

    Args:
        scheduler: Address such as ``tcp://host:8786``, or None for a local cluster.
        workers: Processes of a local cluster.
        host: Address that a local cluster listens on.

    Yields:
        The client.

    Raises:
        InputError: when no scheduler answers.
    """
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout="20s")
        except (OSError, TimeoutError, ValueError) as error:
            raise InputError(f"scheduler must be the address of a running Dask scheduler, not {scheduler}") from error
        with client:
            yield client
        return
    with (
        config.set(_NEVER_GIVEN_UP),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=host,
            dashboard_address=f"{host}:0",
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as local,
        Client(local) as client,
    ):
        yield client


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
) -> Iterator[list[Record]]:
    """Play tasks on the workers of a cluster, and yield their records as they arrive, those of one moment together.

    A worker that dies costs a task another try; Dask takes a task that loses several for the cause, and it is
    recorded as lost.

    Args:
        client: The cluster; workers may come and go.
        tasks: What to play, in the order of starting.
        execute: What a worker calls with a task as plain data; it returns a record as plain data.
        until: ``time.monotonic`` after which no further task is started, or None.
        patience_seconds: How long the cluster may be without any worker.

    Raises:
        NoSchedulerError: when the connection to the scheduler is lost.
        NoWorkersError: when it was without any worker for longer.
    """
    waiting = iter(tasks)
    workers = _Workers(client, patience_seconds)
    names = (f"task-{uuid.uuid4().hex}-{number:09}" for number in count())
    running: dict[Future, Task] = {}
    while True:
        if until is None or time.monotonic() < until:
            lot = list(islice(waiting, max(0, workers.room - len(running))))
            if lot:
                plain = [task.to_dict() for task in lot]
                futures = client.map(execute, plain, key=list(islice(names, len(lot))), pure=False)
                running.update(zip(futures, lot, strict=True))
        if not running:
            return
        records = _fetched(client, {future: running[future] for future in _ended(running)})
        workers.look(len(records))
        for future in records:
            del running[future]
        if records:
            yield list(records.values())


def on_each_worker(client: Client, function: Callable[[], object]) -> None:
    """Call a function once on each worker, behind what the worker is at; one that dies meanwhile is left out.

    Raises:
        Exception: whatever the function has raised.
    """
    calls = {client.submit(function, workers=[address], pure=False): address for address in client.nthreads()}
    while calls:
        for future in _ended(calls):
            del calls[future]
            future.result()
        alive = client.nthreads()
        calls = {future: address for future, address in calls.items() if address in alive}


class _Workers:
    """How many tasks the workers of a cluster should have ahead, by how many there are and how fast they were."""

    def __init__(self, client: Client, patience_seconds: float) -> None:
        self._client, self._patience = client, patience_seconds
        self._started = self._seen = self._looked = time.monotonic()
        self._threads: int = sum(client.nthreads().values())
        self._ended = 0

    @property
    def room(self) -> int:
        """How many tasks may be with the scheduler."""
        threads = max(1, self._threads)
        rate = self._ended / (time.monotonic() - self._started) / threads if self._ended else 0.0
        ahead: int = min(max(int(rate * _SECONDS_AHEAD), _FEWEST_AHEAD), _MOST_AHEAD)
        return threads * ahead

    def look(self, ended: int) -> None:
        """Take note that so many tasks have ended, and now and then of the workers.

        Raises:
            NoWorkersError: when there were none for too long.
        """
        self._ended += ended
        now = time.monotonic()
        if ended and now - self._looked < _CHECK_SECONDS:
            return
        self._looked, self._threads = now, sum(self._client.nthreads().values())
        if self._threads or ended:
            self._seen = now
        elif now - self._seen > self._patience:
            raise NoWorkersError(f"the cluster had no worker for {self._patience:g} seconds")


def _ended(running: Collection[Future]) -> list[Future]:
    """Return futures that ended, or none after a while without any.

    Raises:
        NoSchedulerError: when the connection to the scheduler is lost.
    """
    try:
        wait(list(running), timeout=_CHECK_SECONDS, return_when="FIRST_COMPLETED")
    except TimeoutError:
        return []
    except CancelledError as error:
        raise NoSchedulerError("the connection to the scheduler is lost") from error
    return [future for future in running if future.done()]


def _fetched(client: Client, ended: Mapping[Future, Task]) -> dict[Future, Record]:
    """Return the records of tasks that ended, but of those that another worker plays again as theirs has died."""
    lost = {future: task for future, task in ended.items() if future.status == "error"}
    records = {future: _lost(future, task) for future, task in lost.items()}
    sound = [future for future in ended if future.status == "finished"]
    gather = partial(client.gather, sound, errors="skip", asynchronous=True)
    try:
        fetched = client.sync(gather, callback_timeout=_FETCH_SECONDS) if sound else []
    except TimeoutError:
        fetched = []
    if len(fetched) == len(sound):
        records.update(zip(sound, map(Record.from_dict, fetched), strict=True))
    return records


def _lost(future: Future, task: Task) -> Record:
    error = future.exception()
    return Record(task.key, Ending.LOST, (f"{type(error).__name__}: {error}",))
