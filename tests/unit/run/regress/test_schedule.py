"""Scheduling: every task ends exactly once, whatever dies meanwhile."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path

import pytest
from dask import config

from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.errors import ClusterError
from nvdla_tb.run.regress.cluster import cluster
from nvdla_tb.run.regress.dask_pool import DaskPool
from nvdla_tb.run.regress.local import local_pool
from nvdla_tb.run.regress.pool import Pool, results
from nvdla_tb.run.regress.schedule import drive, longest_first, run_tasks
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.regress.worker import Limits
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Result
from tests.unit.run.regress.processes import LOOPBACK
from tests.unit.run.regress.tasks import at_once, deadly, played, pretend, stored, task

pytestmark = pytest.mark.slow

TASKS = [task(seed) for seed in range(60)]
WORKERS = 2


@pytest.fixture(scope="module", params=["here", "dask"])
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    if request.param == "here":
        with local_pool(WORKERS) as processes:
            yield processes
        return
    # Dask gives a task up with the second worker that it loses, not the fourth.
    few = config.set({"distributed.scheduler.allowed-failures": 1})
    with few, cluster(None, WORKERS, LOOPBACK) as connected:
        yield DaskPool(connected)


def test_the_longest_tasks_start_first_and_unknown_ones_before_them() -> None:
    short, long, new = (task(seed) for seed in range(3))
    assert longest_first([short, long, new], {short.key: 1.0, long.key: 60.0}) == [new, long, short]


def test_every_task_ends_once(pool: Pool) -> None:
    many = [task(seed) for seed in range(100)]
    keys = [result.key for result in chain(*run_tasks(pool, many, at_once))]
    assert sorted(keys) == sorted(entry.key for entry in many)


def test_nothing_starts_behind_the_time_budget(pool: Pool) -> None:
    assert list(run_tasks(pool, TASKS, at_once, until=time.monotonic() - 1)) == []


def test_a_task_that_kills_its_workers_is_lost_and_the_others_end(pool: Pool) -> None:
    results = chain(*run_tasks(pool, [task(seed) for seed in range(4)], deadly, patience_seconds=900))
    endings = {result.key: result.ending for result in results}
    assert endings.pop(task(1).key) is Ending.LOST
    assert set(endings.values()) == {Ending.PASSED}
    assert len(endings) == 3


def deadly_until_tried_often(folder: Path, task: Task) -> Result:
    """Kill the first three workers that have it, as if it were always with the cause: Dask gives it up after two."""
    number = len(list(folder.iterdir()))
    (folder / str(number)).touch()
    if number < 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return at_once(task)


def test_a_task_that_was_given_up_among_others_is_tried_again_alone(pool: Pool, tmp_path: Path) -> None:
    innocent = partial(deadly_until_tried_often, tmp_path)
    (result,) = chain(*run_tasks(pool, [task(0)], innocent, patience_seconds=900))
    assert result.ending is Ending.PASSED


def without_room(task: Task, limits: Limits | None = None) -> Result:
    raise OSError(28, "No space left on device")


def test_a_worker_that_cannot_leave_a_record_ends_the_run_and_loses_no_task(pool: Pool, tmp_path: Path) -> None:
    reason = r"^a worker could not play random\.\d\.nv_small\.verilator: OSError: \[Errno 28\] No space left on device$"
    many = [task(seed) for seed in range(3)]
    with Store(tmp_path / "store.sqlite") as store:
        with pytest.raises(ClusterError, match=reason):
            list(run_tasks(pool, many, without_room))
        run = store.start("full", many)
        with pytest.raises(ClusterError, match=reason):
            list(drive(store, run, pool, Limits(run.folder, tmp_path, 1.0), play=without_room))
        assert store.missing(run) == many


def pid_of(_: int) -> int:
    time.sleep(0.2)
    return os.getpid()


def pids(pool: Pool) -> set[int]:
    """Return the ids of all processes of a pool."""
    while len(found := set(results(pool, pid_of, range(WORKERS)))) < WORKERS:
        pass
    return found


def leave_a_file(folder: Path) -> None:
    (folder / f"{os.getpid()}.{time.monotonic_ns()}").touch()


def test_each_worker_is_called_once(pool: Pool, tmp_path: Path) -> None:
    expected = pids(pool)
    pool.call_each(partial(leave_a_file, tmp_path))
    assert sorted(int(path.name.split(".")[0]) for path in tmp_path.iterdir()) == sorted(expected)


def test_a_worker_that_dies_when_it_is_called_is_not_waited_for(pool: Pool) -> None:
    before = pids(pool)
    pool.call_each(partial(deadly, task(1)))
    assert not before & pids(pool)


def test_what_a_worker_raises_when_it_is_called_is_raised(pool: Pool) -> None:
    assert pids(pool)
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '/nowhere"):
        pool.call_each(partial(leave_a_file, Path("/nowhere")))


def test_what_a_call_raises_is_raised(pool: Pool) -> None:
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '/nowhere"):
        results(pool, leave_a_file, [Path("/nowhere")])


def test_what_is_stored_or_left_as_a_record_that_no_driver_heard_of_is_not_played_again(
    tmp_path: Path, pool: Pool
) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", TASKS[:4])
        store.add(run, played(TASKS[0]))
        limits = Limits(run.folder, tmp_path, 0.0)
        left = pretend(TASKS[1], limits)
        results = list(drive(store, run, pool, limits, play=pretend))
        assert results[0] == left
        begun = sorted(path.name.rpartition(".")[0] for path in (run.folder / "started").iterdir())
        assert begun == sorted(entry.key for entry in TASKS[1:4])
        assert store.results(run) == [stored(entry) for entry in TASKS[:4]]
