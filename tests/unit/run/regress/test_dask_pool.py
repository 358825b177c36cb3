"""Pools on Dask: what is particular to workers that listen, come and go, and are others' to start."""

from __future__ import annotations

import gc
import math
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
from nvdla_tb.run.errors import NoSchedulerError, NoWorkersError
from nvdla_tb.run.regress import dask_pool
from nvdla_tb.run.regress.cluster import cluster
from nvdla_tb.run.regress.dask_pool import DaskPool
from nvdla_tb.run.regress.schedule import run_tasks
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.result import Result
from tests.unit.run.regress.processes import LOOPBACK, processes
from tests.unit.run.regress.tasks import at_once, deadly, task

pytestmark = pytest.mark.slow

TASKS = [task(seed) for seed in range(60)]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster(None, 2, LOOPBACK) as connected:
        yield connected


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
        for results in run_tasks(DaskPool(client), TASKS[:12], after_a_moment):
            time.sleep(0.2)
            held.append(client.run_on_scheduler(kept_by) - len(results))
    finally:
        gc.enable()
    # What ended meanwhile is taken next.
    assert max(held) <= 4


def test_jobs_that_never_start_are_not_waited_for_after_the_time_budget() -> None:
    with cluster(None, 0, LOOPBACK) as empty:
        until = time.monotonic() + 1
        assert list(run_tasks(DaskPool(empty), TASKS, at_once, until=until, patience_seconds=math.inf)) == []
    assert time.monotonic() - until < 60


def test_a_cluster_without_workers_is_not_waited_for_for_ever() -> None:
    with (
        cluster(None, 0, LOOPBACK) as empty,
        pytest.raises(NoWorkersError, match=r"^the cluster had no worker for 0\.1 seconds$"),
    ):
        list(run_tasks(DaskPool(empty), TASKS, at_once, patience_seconds=0.1))


def test_results_of_a_worker_that_does_not_answer_are_not_waited_for_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dask_pool, "_FETCH_SECONDS", 0.5)
    with processes() as started:
        address = started.scheduler(tmp_path / "scheduler.json")
        stopped = started.worker(address, tmp_path / "worker")
        with cluster(address, 1, LOOPBACK) as connected:
            done = {connected.submit(at_once, entry, pure=False): entry for entry in TASKS[:3]}
            wait(list(done), timeout=60)
            stopped.send_signal(signal.SIGSTOP)
            assert DaskPool(connected).ended(done) == ({}, {})
            stopped.send_signal(signal.SIGCONT)
            until = time.monotonic() + 60
            while not (results := DaskPool(connected).ended(done)[0]):
                assert time.monotonic() < until
    assert [entry.key for entry in results.values()] == [entry.key for entry in TASKS[:3]]


def test_a_scheduler_that_is_gone_is_an_error(tmp_path: Path) -> None:
    with processes() as started:
        address = started.scheduler(tmp_path / "scheduler.json")
        started.worker(address, tmp_path / "worker")
        with cluster(address, 1, LOOPBACK) as connected:
            playing = run_tasks(DaskPool(connected), TASKS, at_once)
            next(playing)
            started.kill()
            with pytest.raises(NoSchedulerError, match=r"^the connection to the scheduler is lost$"):
                list(playing)


def test_a_worker_that_takes_long_to_start_again_is_not_given_up() -> None:
    with config.set({"distributed.deploy.lost-worker-timeout": "1ms"}), cluster(None, 1, LOOPBACK) as connected:
        DaskPool(connected).call_each(partial(deadly, task(1)))
        assert [result.key for result in chain(*run_tasks(DaskPool(connected), TASKS[:3], at_once))] == [
            entry.key for entry in TASKS[:3]
        ]


def test_a_local_cluster_listens_on_loopback(client: Client) -> None:
    assert client.scheduler_info()["address"].startswith(f"tls://{LOOPBACK}:")


def test_a_scheduler_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(InputError, match=r"^scheduler must be the address of a running Dask scheduler, not nonsense$"):
        cluster("nonsense", 2, LOOPBACK).__enter__()
