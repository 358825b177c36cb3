"""Scheduling with Dask: tasks to workers, the longest first, records back as they arrive."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dask.distributed import Client, Future, LocalCluster, wait

from tb.regress.record import Ending, Record
from tb.regress.task import Task

_IN_FLIGHT_PER_WORKER = 4
"""Tasks handed to the scheduler ahead of each worker: enough to keep it busy, few enough for any memory."""

_CHECK_SECONDS = 2.0
"""How often a driver without news looks whether there are workers."""

Execute = Callable[[dict[str, Any]], dict[str, Any]]


class NoWorkersError(ValueError):
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
        ValueError: when no scheduler answers.
    """
    if scheduler is not None:
        try:
            client = Client(scheduler, timeout="20s")
        except (OSError, TimeoutError, ValueError) as error:
            raise ValueError(f"scheduler must be the address of a running Dask scheduler, not {scheduler}") from error
        with client:
            yield client
        return
    with (
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            host=host,
            dashboard_address=None,
            memory_limit=0,
            silence_logs=logging.CRITICAL,
        ) as local,
        Client(local) as client,
    ):
        yield client


def longest_first(tasks: Sequence[Task], seconds: Mapping[str, float]) -> list[Task]:
    """Return tasks ordered by the time their tests took before; unknown ones come first, as they may be long."""
    return sorted(tasks, key=lambda task: -seconds.get(task.test, float("inf")))


def run_tasks(
    client: Client,
    tasks: Sequence[Task],
    execute: Execute,
    *,
    until: float | None = None,
    patience_seconds: float = 120.0,
) -> Iterator[Record]:
    """Play tasks on the workers of a cluster, and yield their records as they arrive.

    A worker that dies costs a task another try; Dask takes a task that loses several for the cause, and it is
    recorded as lost.

    Args:
        client: The cluster; workers may come and go.
        tasks: What to play, in the order of starting.
        execute: What a worker calls with a task as plain data; it returns a record as plain data.
        until: ``time.monotonic`` after which no further task is started, or None.
        patience_seconds: How long the cluster may be without any worker.

    Raises:
        NoWorkersError: when it was without for longer.
    """
    waiting = iter(tasks)
    running: dict[Future, Task] = {}

    def start() -> None:
        room = max(1, sum(client.nthreads().values())) * _IN_FLIGHT_PER_WORKER - len(running)
        for _ in range(room):
            if until is not None and time.monotonic() >= until:
                return
            task = next(waiting, None)
            if task is None:
                return
            running[client.submit(execute, task.to_dict(), pure=False)] = task

    start()
    seen = time.monotonic()
    while running:
        for future in _ended(running):
            yield _record(future, running.pop(future))
            future.release()
        if client.nthreads():
            seen = time.monotonic()
        elif time.monotonic() - seen > patience_seconds:
            raise NoWorkersError(f"the cluster had no worker for {patience_seconds:g} seconds")
        start()


def _ended(running: Mapping[Future, Task]) -> list[Future]:
    """Return futures that ended, or none after a while without any."""
    try:
        wait(list(running), timeout=_CHECK_SECONDS, return_when="FIRST_COMPLETED")
    except TimeoutError:
        return []
    return [future for future in running if future.done()]


def _record(future: Future, task: Task) -> Record:
    error = future.exception()
    if error is None:
        return Record.from_dict(future.result())
    return Record(task.key, Ending.LOST, (f"{type(error).__name__}: {error}",))
