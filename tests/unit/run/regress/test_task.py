"""Tasks: what is stored of a task plays the same scenario on the same device again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.errors import InputError
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.run.dut import build_spec
from nvdla_tb.run.task import BENCH, Task
from tests.unit.run.regress.tasks import DUT, task


def test_a_task_stored_without_a_back_end_is_played_by_coroutines() -> None:
    stored = json.loads(task(3).encode())
    del stored["dut"]["backend"]
    assert Task.decode(json.dumps(stored)).dut.backend == "coroutine"


def test_a_task_survives_json() -> None:
    dut = replace(DUT, rtl="/my.f", top="mine", port_map="/ports.toml", debug=True, coverage="both", backend="native")
    whole = replace(task(3), exact=True, dut=dut)
    assert Task.decode(whole.encode()) == whole
    assert build_spec(whole.dut, waves=False).backend == "native"


def test_a_result_of_a_task_is_its_own() -> None:
    verdict = Verdict.of(Check.LOST, "gone")
    result = replace(task(3), kind=BENCH, test="checkers.x").result(verdict, 1.5, Path("runs/x"))
    assert (result.test, result.seed, result.dut, result.rerun) == ("checkers.x", 3, DUT, task(3).rerun)
    assert (result.key, result.ending) == ("checkers.x.3.nv_small.verilator", Ending.LOST)
    assert (result.seconds, result.folder) == (1.5, "runs/x")
    assert task(3).result(verdict).folder is None


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"rerun": None}, r"a task: rerun must be a text, not None"),
        ({"dut": {"config": "nv_small"}}, r"a task: dut\.simulator is missing"),
        ({"kind": "other"}, "a task: kind must be one of plan, random, trace, bench, not other"),
    ],
)
def test_text_that_is_no_task_is_refused(changes: dict[str, object], why: str) -> None:
    data = json.loads(task(3).encode())
    with pytest.raises(InputError, match=rf"^{why}$"):
        Task.decode(json.dumps({**data, **changes}))
