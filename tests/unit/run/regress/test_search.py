"""Steering on a pool: few of many seeds are chosen, the same ones every time, and they reach what they promise."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from nvdla_tb.coverage.model import model_of
from nvdla_tb.paths import PLANS
from nvdla_tb.run.regress.local import local_pool
from nvdla_tb.run.regress.pool import Pool
from nvdla_tb.run.regress.schedule import reach, search
from nvdla_tb.run.task import BENCH, Task
from tests.unit.run.regress.tasks import DUT

pytestmark = pytest.mark.slow

TASKS = [Task("random", seed, "random", "SDP,PDP", DUT, "rerun") for seed in range(50)]
WANTED = {f"PDP.kernel_width={width}" for width in range(1, 9)} | {"SDP.stages=x1+x2", "SDP.stages=y"}


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with local_pool(1) as processes:
        yield processes


def test_few_tasks_reach_what_all_of_them_reach(pool: Pool) -> None:
    chosen = search(pool, TASKS, WANTED)
    assert 2 <= len(chosen) < 12
    assert reach(pool, chosen, WANTED) == reach(pool, TASKS, WANTED) == WANTED - {"SDP.stages=y"}
    assert search(pool, TASKS, WANTED) == chosen
    assert search(pool, TASKS, WANTED, most=2) == chosen[:2]


def test_what_nothing_reaches_chooses_nothing(pool: Pool) -> None:
    assert search(pool, TASKS[:5], ["SDP.stages=y"]) == []


def test_programs_of_registers_and_interrupts_are_looked_at_like_all_others(pool: Pool) -> None:
    plan = PLANS / "nv_small_registers.toml"
    unmapped, interrupts = (
        Task(name, 1, "plan", str(plan), DUT, "rerun") for name in ("registers_unmapped", "interrupts_of_layers")
    )
    wanted = list(model_of("nv_small").reachable())
    assert reach(pool, [unmapped], wanted) == set()
    assert reach(pool, [interrupts], wanted) != set()


def test_tests_in_python_reach_nothing_that_is_decoded(pool: Pool) -> None:
    test = Task("interfaces.x", 1, BENCH, "nvdla_tb.gate_tests.interfaces", DUT, "rerun")
    names = list(model_of("nv_small").reachable())
    assert reach(pool, [test], names) == set()
