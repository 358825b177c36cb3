"""Of each group of failures of convolutions one is played again; a cause that lies elsewhere takes its group along."""

from __future__ import annotations

from collections.abc import Mapping
from io import StringIO
from pathlib import Path

import pytest
from msgspec.structs import replace

from models.config import HwConfig
from tb.cli.console import Console
from tb.cli.playing import with_handovers
from tb.judge.finding import Finding
from tb.judge.layer_id import LayerId
from tb.judge.verdict import Verdict
from tb.run.compile.spec import BuildSpec, Built
from tb.run.dut import Dut
from tb.run.inside import is_worth_it
from tb.run.jobs import Job, Setup
from tb.run.result import Result
from tb.stimulus.exchange import Explained
from tb.stimulus.scenario import Scenario
from tests.unit.run.regress.tasks import DUT, hang, wrong

OWN = Dut("nv_small", "verilator", "my.f")


def of(engine: str) -> Finding:
    return replace(wrong(), layer=LayerId(0, engine, 0))


def failed(name: str, cycles: int, cause: str | None = None, engine: str = "CONV", dut: Dut = DUT) -> Result:
    """Return a failure that took so many cycles, of a cause or of an unknown one."""
    why = Explained([], [[] if cause is None else [cause]], [[]], [cause or "none fits"], [False])
    return Result(name, 1, dut, "rerun", Verdict(findings=[of(engine)], cycles=cycles), explained=why)


@pytest.mark.parametrize(
    ("result", "worth"),
    [
        (failed("a", 100), True),
        (failed("a", 100, engine="CONV-PDP"), True),
        (failed("a", 100, cause="dst-base"), True),
        (failed("a", 200_001), False),
        (failed("a", 100, engine="SDP"), False),
        (replace(failed("a", 100), explained=None), False),
        (replace(failed("a", 100), verdict=Verdict(findings=[hang("SDP_0")], cycles=100)), False),
        (failed("a", 100, dut=replace(OWN, config="nv_full")), False),
        (failed("a", 100, dut=OWN), True),
        (failed("a", 100, engine="SDP", dut=OWN), True),
        (failed("a", 100, cause="dst-base", engine="SDP", dut=OWN), False),
    ],
)
def test_short_failures_of_convolutions_and_of_no_known_cause_are_worth_another_look(
    result: Result, worth: bool
) -> None:
    assert is_worth_it(result) == worth


def looked_at(results: list[Result], found: Mapping[str, Explained], folder: Path) -> tuple[list[str], list[Result]]:
    """Return what was played again, and the results after it; what is not found is returned as it was."""
    order = []

    def watch(job: Job, result: Result, setup: Setup, work_dir: Path) -> Result:
        order.append(job.name)
        assert work_dir.parent == folder
        assert setup.dut is DUT
        return replace(result, explained=found[job.name]) if job.name in found else result

    setup = Setup(Built(BuildSpec(HwConfig.load("nv_small")), folder, None, 0.0, True), DUT, 1.0)
    jobs = {
        result.identity: Job(result.test, 1, "rerun", lambda: Scenario("a", "nv_small", (), 1)) for result in results
    }
    played = {identity: (job, setup) for identity, job in jobs.items()}
    after = with_handovers(results, played, folder, Console(stream=StringIO()), watch)
    return order, after


def located(cause: str | None = None, *, sure: bool = True) -> Explained:
    why = failed("a", 1, cause).explained
    assert why is not None
    return replace(why, units=["CACC: because"], stages=["a line"], located=sure)


def test_the_shortest_is_played_again_until_one_says_where(tmp_path: Path) -> None:
    results = [failed("long", 900), failed("short", 100), failed("image", 50), failed("other", 800)]
    found = {"image": located(sure=False), "short": located()}
    order, after = looked_at(results, found, tmp_path)
    assert order == ["image", "short"]
    assert [result.test for result in after] == ["long", "short", "image", "other"]
    assert [bool(result.explained and result.explained.located) for result in after] == [False, True, False, False]
    assert looked_at(results, {}, tmp_path)[0] == ["image", "short", "other", "long"]


def test_a_cause_that_lies_elsewhere_is_looked_for_in_the_whole_group(tmp_path: Path) -> None:
    results = [failed(f"t{n}", n, "bus-lanes") for n in range(1, 7)]
    assert looked_at(results, {"t1": located("bus-lanes")}, tmp_path)[0] == ["t1"]
    order, _ = looked_at(results, {f"t{n}": located() for n in range(1, 7)}, tmp_path)
    assert order == [f"t{n}" for n in range(1, 7)]
