"""Tasks: what is stored of a task plays the same scenario on the same device again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tb.regress.task import Task
from tests.unit.regress.tasks import DUT, task


@pytest.mark.parametrize("backend", ["native", "coroutine"])
def test_the_back_end_of_a_task_is_stored_and_built(backend: str) -> None:
    stored = replace(task(3), dut=replace(DUT, backend=backend)).to_dict()
    restored = Task.from_dict(stored)
    assert restored.dut.backend == backend
    assert restored.dut.build_spec(waves=False).backend == backend


def test_a_task_stored_without_a_back_end_is_played_by_coroutines() -> None:
    stored = task(3).to_dict()
    del stored["dut"]["backend"]
    assert Task.from_dict(stored).dut.backend == "coroutine"
