"""Scheduling with Dask: tasks to workers, the longest first, records back as they arrive."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dask.distributed import Client, Future, LocalCluster, as_completed

from tb.regress.record import Ending, Record
from tb.regress.task import Task

LOOPBACK = "127.0.0.1"
_IN_FLIGHT_PER_WORKER = 4
"""Tasks handed to the scheduler ahead of each worker: enough to keep it busy, few enough for any memory."""

Execute = Callable[[dict[str, Any]], dict[str, Any]]


@contextmanager
def cluster(scheduler: str | None, workers: int, host: str = LOOPBACK) -> Iterator[Client]:
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
            n_workers=workers, threads_per_worker=1, host=host, dashboard_address=None, memory_limit=0, silence_logs=40
        ) as local,
        Client(local) as client,
    ):
        yield client


def longest_first(tasks: Sequence[Task], seconds: Mapping[str, float]) -> list[Task]:
    """Return tasks ordered by the time their tests took before; unknown ones come first, as they may be long."""
    return sorted(tasks, key=lambda task: -seconds.get(task.test, float("inf")))


def run_tasks(
    client: Client, tasks: Sequence[Task], execute: Execute, *, until: float | None = None
) -> Iterator[Record]:
    """Play tasks on the workers of a cluster, and yield their records as they arrive.

    A worker that dies costs a task another try; Dask takes a task that loses several for the cause, and it is
    recorded as lost.

    Args:
        client: The cluster; workers may come and go.
        tasks: What to play, in the order of starting.
        execute: What a worker calls with a task as plain data; it returns a record as plain data.
        until: ``time.monotonic`` after which no further task is started, or None.
    """
    waiting = iter(tasks)
    running: dict[Future, Task] = {}
    ended = as_completed()

    def start() -> None:
        room = max(1, sum(client.nthreads().values())) * _IN_FLIGHT_PER_WORKER - len(running)
        for _ in range(room):
            if until is not None and time.monotonic() >= until:
                return
            task = next(waiting, None)
            if task is None:
                return
            future = client.submit(execute, task.to_dict(), pure=False)
            running[future] = task
            ended.add(future)

    start()
    while running:
        future = next(ended)
        task = running.pop(future)
        yield _record(future, task)
        future.release()
        start()


def _record(future: Future, task: Task) -> Record:
    error = future.exception()
    if error is None:
        return Record.from_dict(future.result())
    return Record(task.key, Ending.LOST, (f"{type(error).__name__}: {error}",))
