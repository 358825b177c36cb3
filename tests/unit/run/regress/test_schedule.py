"""Scheduling: every task ends exactly once, whatever dies meanwhile."""

from __future__ import annotations

import gc
import math
import os
import signal
import time
from collections.abc import Iterator
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from dask import config
from dask.distributed import Client, wait

from nvdla_models.errors import InputError
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.errors import NoSchedulerError, NoWorkersError
from nvdla_tb.run.regress import schedule
from nvdla_tb.run.regress.cluster import cluster
from nvdla_tb.run.regress.schedule import drive, longest_first, on_each_worker, run_tasks
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.regress.worker import Limits
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Result
from tests.unit.run.regress.processes import LOOPBACK, processes
from tests.unit.run.regress.tasks import ended, played, pretend, stored, task

pytestmark = pytest.mark.slow

TASKS = [task(seed) for seed in range(60)]


def at_once(task: Task) -> Result:
    return ended(task, Ending.PASSED)


def deadly(task: Task) -> Result:
    if task.seed == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return at_once(task)


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    # Dask gives a task up with the second worker that it loses, not the fourth.
    with config.set({"distributed.scheduler.allowed-failures": 1}), cluster(None, 2, LOOPBACK) as connected:
        yield connected


def test_the_longest_tasks_start_first_and_unknown_ones_before_them() -> None:
    short, long, new = (task(seed) for seed in range(3))
    assert longest_first([short, long, new], {short.key: 1.0, long.key: 60.0}) == [new, long, short]


def test_every_task_ends_once(client: Client) -> None:
    many = [task(seed) for seed in range(100)]
    keys = [result.key for result in chain(*run_tasks(client, many, at_once))]
    assert sorted(keys) == sorted(entry.key for entry in many)


def kept_by(dask_scheduler: Any) -> int:
    return sum(state.state == "memory" for state in dask_scheduler.tasks.values())


def after_a_moment(task: Task) -> Result:
    time.sleep(0.7)
    return at_once(task)


def test_a_result_that_has_arrived_is_kept_nowhere_or_the_death_of_its_worker_would_play_it_again(
    client: Client,
) -> None:
    gc.collect()
    gc.disable()
    try:
        held = []
        for results in run_tasks(client, TASKS[:12], after_a_moment):
            time.sleep(0.2)
            held.append(client.run_on_scheduler(kept_by) - len(results))
    finally:
        gc.enable()
    # What ended meanwhile is taken next.
    assert max(held) <= 4


def test_jobs_that_never_start_are_not_waited_for_after_the_time_budget() -> None:
    with cluster(None, 0, LOOPBACK) as empty:
        until = time.monotonic() + 1
        assert list(run_tasks(empty, TASKS, at_once, until=until, patience_seconds=math.inf)) == []
    assert time.monotonic() - until < 60


def test_nothing_starts_behind_the_time_budget(client: Client) -> None:
    assert list(run_tasks(client, TASKS, at_once, until=time.monotonic() - 1)) == []


def test_a_task_that_kills_its_workers_is_lost_and_the_others_end(client: Client) -> None:
    results = chain(*run_tasks(client, [task(seed) for seed in range(4)], deadly, patience_seconds=900))
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


def test_a_task_that_was_given_up_among_others_is_tried_again_alone(client: Client, tmp_path: Path) -> None:
    innocent = partial(deadly_until_tried_often, tmp_path)
    (result,) = chain(*run_tasks(client, [task(0)], innocent, patience_seconds=900))
    assert result.ending is Ending.PASSED


def test_a_cluster_without_workers_is_not_waited_for_for_ever() -> None:
    with (
        cluster(None, 0, LOOPBACK) as empty,
        pytest.raises(NoWorkersError, match=r"^the cluster had no worker for 0\.1 seconds$"),
    ):
        list(run_tasks(empty, TASKS, at_once, patience_seconds=0.1))


def test_results_of_a_worker_that_does_not_answer_are_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schedule, "_FETCH_SECONDS", 0.5)
    with processes() as started:
        address = started.scheduler(tmp_path / "scheduler.json")
        stopped = started.worker(address, tmp_path / "worker")
        with cluster(address, 1, LOOPBACK) as connected:
            done = {connected.submit(at_once, entry, pure=False): entry for entry in TASKS[:3]}
            wait(list(done), timeout=60)
            stopped.send_signal(signal.SIGSTOP)
            assert schedule._fetched(connected, done) == ({}, [])
            stopped.send_signal(signal.SIGCONT)
            until = time.monotonic() + 60
            while not (results := schedule._fetched(connected, done)[0]):
                assert time.monotonic() < until
    assert [entry.key for entry in results.values()] == [entry.key for entry in TASKS[:3]]


def test_a_scheduler_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with processes() as started:
        address = started.scheduler(tmp_path / "scheduler.json")
        started.worker(address, tmp_path / "worker")
        with cluster(address, 1, LOOPBACK) as connected:
            playing = run_tasks(connected, TASKS, at_once)
            next(playing)
            started.kill()
            with pytest.raises(NoSchedulerError, match=r"^the connection to the scheduler is lost$"):
                list(playing)


def leave_a_file(folder: Path) -> None:
    (folder / f"{os.getpid()}.{time.monotonic_ns()}").touch()


def test_each_worker_is_called_once(client: Client, tmp_path: Path) -> None:
    on_each_worker(client, partial(leave_a_file, tmp_path))
    called = [path.name.split(".")[0] for path in tmp_path.iterdir()]
    assert sorted(called) == sorted(str(pid) for pid in client.run(os.getpid).values())


def test_a_worker_that_dies_when_it_is_called_is_not_waited_for(client: Client) -> None:
    before = set(client.run(os.getpid).values())
    on_each_worker(client, partial(deadly, task(1)))
    client.wait_for_workers(2)
    assert not before & set(client.run(os.getpid).values())


def test_a_worker_that_takes_long_to_start_again_is_not_given_up() -> None:
    with config.set({"distributed.deploy.lost-worker-timeout": "1ms"}), cluster(None, 1, LOOPBACK) as connected:
        on_each_worker(connected, partial(deadly, task(1)))
        assert [result.key for result in chain(*run_tasks(connected, TASKS[:3], at_once))] == [
            entry.key for entry in TASKS[:3]
        ]


def test_what_a_worker_raises_when_it_is_called_is_raised(client: Client) -> None:
    with pytest.raises(FileNotFoundError, match=r"No such file or directory: '/nowhere"):
        on_each_worker(client, partial(leave_a_file, Path("/nowhere")))


def test_a_local_cluster_listens_on_loopback(client: Client) -> None:
    assert client.scheduler_info()["address"].startswith(f"tls://{LOOPBACK}:")


def test_a_scheduler_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(InputError, match=r"^scheduler must be the address of a running Dask scheduler, not nonsense$"):
        cluster("nonsense", 2, LOOPBACK).__enter__()


def test_what_is_stored_or_left_as_a_record_that_no_driver_heard_of_is_not_played_again(
    tmp_path: Path, client: Client
) -> None:
    with Store(tmp_path / "store.sqlite") as store:
        run = store.start("random", TASKS[:4])
        store.add(run, played(TASKS[0]))
        limits = Limits(run.folder, tmp_path, 0.0)
        left = pretend(TASKS[1], limits)
        results = list(drive(store, run, client, limits, play=pretend))
        assert results[0] == left
        begun = sorted(path.name.rpartition(".")[0] for path in (run.folder / "started").iterdir())
        assert begun == sorted(entry.key for entry in TASKS[1:4])
        assert store.results(run) == [stored(entry) for entry in TASKS[:4]]
