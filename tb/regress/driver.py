"""A regression from start to end: records go to the store as they arrive, and what is missing can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from dask.distributed import Client

from models.reading import read_json
from tb.regress.record import Record
from tb.regress.schedule import PATIENCE_SECONDS, longest_first, on_each_worker, run_tasks
from tb.regress.store import Run, Store
from tb.regress.worker import RECORD_DIR, Limits, end_processes, execute, record_path


def drive(
    store: Store,
    run: Run,
    client: Client,
    limits: Limits,
    *,
    until: float | None = None,
    patience_seconds: float = PATIENCE_SECONDS,
    play: Callable[..., dict[str, Any]] = execute,
) -> Iterator[Record]:
    """Play what a run lacks, and yield each record once it is in the store.

    Records that workers left while no driver listened come first; their tasks are not played again.

    Args:
        store: Where the run and its history are.
        run: The run; new, or one that was interrupted.
        client: The cluster.
        limits: Where and how its tasks are played.
        until: ``time.monotonic`` after which no further task is started, or None.
        patience_seconds: How long the cluster may be without any worker.
        play: What a worker calls with a task as plain data and ``limits``.
    """
    lacking = {task.key for task in store.missing(run)}
    left = _keep(store, run, list(_left_behind(run)))
    yield from (record for record in left if record.key in lacking)
    missing = store.missing(run)
    ordered = longest_first(missing, store.durations(missing))
    playing = partial(play, limits=limits)
    for records in run_tasks(client, ordered, playing, until=until, patience_seconds=patience_seconds):
        yield from _keep(store, run, records)
    on_each_worker(client, end_processes)


def _left_behind(run: Run) -> Iterator[Record]:
    for path in sorted((run.folder / RECORD_DIR).glob("*.json")):
        yield Record.from_dict(read_json(path))


def _keep(store: Store, run: Run, records: Sequence[Record]) -> Sequence[Record]:
    store.add(run, *records)
    for record in records:
        record_path(run.folder, record.key).unlink(missing_ok=True)
    return records
