"""A regression from start to end: records go to the store as they arrive, and what is missing can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from dask.distributed import Client

from models.errors import InputError
from tb.run import folders
from tb.run.regress.schedule import PATIENCE_SECONDS, longest_first, on_each_worker, run_tasks
from tb.run.regress.store import Run, Store
from tb.run.regress.version import PROJECT, versions
from tb.run.regress.worker import RECORD_DIR, Limits, end_processes, execute, record_path, remove_partial_records
from tb.run.result import Result


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
    """Play what a run lacks, and yield each result once it is in the store.

    Records that workers left while no driver listened come first; their tasks are not played again. Nothing of the
    run is played any more when the last record has come, also not for an earlier driver.

    Args:
        store: Where the run and its history are.
        run: The run; new, or one that was interrupted.
        client: The cluster.
        limits: Where and how its tasks are played.
        until: ``time.monotonic`` after which no further task is started, or None.
        patience_seconds: How long the cluster may be without any worker.
        play: Function that a worker calls with a task and ``limits``.

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
