"""The end of a regression: what its failures have in common, where no cause is known."""

from __future__ import annotations

import argparse
from pathlib import Path

import msgspec
import pytest

from nvdla_tb.cli.regress_play import conclude
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.paths import PLANS
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.exchange import Explained
from nvdla_tb.stimulus.generate.plan import load_plan
from tests.unit.report.test_network_page import facts
from tests.unit.run.regress.tasks import DUT, wrong

PLAN = PLANS / "nv_small.toml"
UNKNOWN = Explained(["unknown"], [[]], [[]], ["no known cause fits"], [False])


@pytest.mark.slow
def test_failures_without_a_cause_get_leads_from_their_scenarios(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = [entry.name for entry in load_plan(PLAN) if entry.name.startswith("sdp_x")]
    tasks = [Task(name, seed, "plan", str(PLAN), DUT, "rerun") for name in names for seed in range(4)]
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("a run", tasks)
        for task in tasks:
            fails = "prelu" in task.test
            verdict = Verdict(judged_bytes=8, findings=[wrong()] if fails else [])
            layers = [facts(0, wrong_bytes=8 if fails else 0)]
            why = UNKNOWN if fails else None
            store.add(run, msgspec.structs.replace(task.result(verdict), layers=layers, explained=why))
        assert {result.ending for result in store.results(run)} == {Ending.PASSED, Ending.MISMATCH}
        args = argparse.Namespace(cycles_against=None, slower=5.0, code_exclusions=())
        assert conclude(store, run, args) == 1
    assert "lead: all 4 failing layers of SDP have x1.prelu = yes" in capsys.readouterr().out
