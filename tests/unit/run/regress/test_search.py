"""Steering on a cluster: few of many seeds are chosen, the same ones every time, and they reach what they promise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from dask.distributed import Client

from nvdla_models.config import HwConfig
from nvdla_tb.coverage.model import load_model
from nvdla_tb.paths import PLANS
from nvdla_tb.run.regress.cluster import cluster
from nvdla_tb.run.regress.schedule import reach, search
from nvdla_tb.run.task import BENCH, Task
from tests.unit.run.regress.tasks import DUT

pytestmark = pytest.mark.slow

MODEL = PLANS / "coverage"
TASKS = [Task("random", seed, "random", "SDP,PDP", DUT, "rerun") for seed in range(50)]
WANTED = {f"PDP.kernel_width={width}" for width in range(1, 9)} | {"SDP.stages=x1+x2", "SDP.stages=y"}


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with cluster(None, 1, "127.0.0.1") as connected:
        yield connected


def test_few_tasks_reach_what_all_of_them_reach(client: Client) -> None:
    chosen = search(client, MODEL, TASKS, WANTED)
    assert 2 <= len(chosen) < 12
    assert reach(client, MODEL, chosen, WANTED) == reach(client, MODEL, TASKS, WANTED) == WANTED - {"SDP.stages=y"}
    assert search(client, MODEL, TASKS, WANTED) == chosen
    assert search(client, MODEL, TASKS, WANTED, most=2) == chosen[:2]


def test_what_nothing_reaches_chooses_nothing(client: Client) -> None:
    assert search(client, MODEL, TASKS[:5], ["SDP.stages=y"]) == []


def test_programs_of_registers_and_interrupts_are_looked_at_like_all_others(client: Client) -> None:
    plan = PLANS / "nv_small_registers.toml"
    unmapped, interrupts = (
        Task(name, 1, "plan", str(plan), DUT, "rerun") for name in ("registers_unmapped", "interrupts_of_layers")
    )
    wanted = list(load_model(MODEL, HwConfig.load("nv_small")).reachable())
    assert reach(client, MODEL, [unmapped], wanted) == set()
    assert reach(client, MODEL, [interrupts], wanted) != set()


def test_tests_in_python_reach_nothing_that_is_decoded(client: Client) -> None:
    test = Task("interfaces.x", 1, BENCH, "nvdla_tb.gate_tests.interfaces", DUT, "rerun")
    names = list(load_model(MODEL, HwConfig.load("nv_small")).reachable())
    assert reach(client, MODEL, [test], names) == set()
