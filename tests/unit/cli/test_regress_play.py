"""The end of a regression: what its failures have in common, where no cause is known."""

from __future__ import annotations

import argparse
import os
import re
import shlex
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest

from nvdla_tb.cli import console, regress_play
from nvdla_tb.cli.main import parser
from nvdla_tb.cli.regress_play import Player, conclude
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.paths import PLANS
from nvdla_tb.report import page
from nvdla_tb.run.looks import Looks
from nvdla_tb.run.regress.held import held
from nvdla_tb.run.regress.store import Run as Stored
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.result import Result
from tests.unit.conftest import Run
from tests.unit.report.test_network_page import facts
from tests.unit.run.regress.tasks import DUT, explained, task, wrong

PLAN = PLANS / "nv_small.toml"
ARGS = argparse.Namespace(cycles_against=None, slower=5.0, code_exclusions=())
PASSED = Verdict(judged_bytes=8, cycles=100)
TASKS = [Task("sdp_x1_bias_per_channel", seed, "plan", str(PLAN), DUT, "rerun") for seed in range(3)]
UNKNOWN = explained()


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
        assert conclude(store, run, ARGS) == 1
    assert "lead: all 4 failing layers of SDP have x1.prelu = yes" in capsys.readouterr().out


def concluded(
    root: Path, played: Sequence[Task], args: argparse.Namespace = ARGS, **given: Any
) -> tuple[int, dict[str, str], list[str]]:
    """Return the exit code of a run of which some tasks passed, what JUnit counts but 0, and what failed there."""
    with Store(root / "results.sqlite") as store:
        run = store.start("L1", TASKS, **given)
        store.add(run, *(task.result(PASSED) for task in played))
        code = conclude(store, run, args)
    suite = ElementTree.parse(run.folder / page.JUNIT).getroot()
    counts = {name: value for name, value in suite.items() if name != "name" and value != "0"}
    return code, counts, [str(error.text) for error in suite.iter("error")]


def test_a_run_that_was_played_to_its_end_has_nothing_wrong(tmp_path: Path) -> None:
    assert concluded(tmp_path, TASKS) == (0, {"tests": "3"}, [])


def test_a_quiet_run_ends_with_its_counts_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    concluded(tmp_path / "loud", TASKS)
    loud = capsys.readouterr().out
    assert "\nholes: " in loud
    assert "\nreports: " in loud
    concluded(tmp_path / "quiet", TASKS, argparse.Namespace(**vars(ARGS), quiet=True))
    assert capsys.readouterr().out.splitlines() == loud.splitlines()[-2:]


def test_what_a_killed_driver_has_left_in_the_middle_of_writing_goes_when_the_run_is_complete(tmp_path: Path) -> None:
    (tmp_path / "0001").mkdir()
    for name in (page.PAGE, page.JUNIT, "failures.txt"):
        (tmp_path / "0001" / f".{name}.4711").write_text("half", encoding="utf-8")
    assert concluded(tmp_path, TASKS)[0] == 0
    assert list((tmp_path / "0001").glob(".*.4711")) == []


def test_tests_that_were_not_played_are_errors_and_keep_a_feature_from_being_green(tmp_path: Path) -> None:
    code, counts, errors = concluded(tmp_path, TASKS[:1])
    assert (code, counts, len(errors)) == (1, {"tests": "3", "errors": "2"}, 2)
    html = (tmp_path / "0001" / page.PAGE).read_text(encoding="utf-8")
    assert "1 passed, 0 failed, 0 refused, 2 not played" in html
    assert html.count('<span class="bad">not played</span>') == 2
    features = html.partition("<h2>Test plan</h2>")[2].partition("</table>")[0]
    assert '<span class="good">1 passed' not in features
    assert (
        "Lacks: a HOLE is a feature without a test, a test that passed, a coverage point or a bin that was hit." in html
    )


def test_the_page_of_a_random_run_begins_with_its_tasks_and_folds_the_test_plan(tmp_path: Path) -> None:
    drawn = [task(seed) for seed in range(3)]
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("random", drawn)
        store.add(run, *(one.result(PASSED) for one in drawn))
        assert conclude(store, run, ARGS) == 0
    html = (run.folder / page.PAGE).read_text(encoding="utf-8")
    assert re.findall("<h2>(.*?)</h2>", html)[:4] == ["Failures by cause and check", "Tasks", "Slowest", "Trend"]
    plan = html.partition("<summary>Test plan, whose tests a random run does not play (")[2].partition("</details>")[0]
    holes = [line for line in plan.split("<br>") if line.endswith("HOLE: nothing passed, nothing covered")]
    assert len(holes) > 30, "every feature is there, and none is green"
    assert "passed;" not in plan
    assert "<p>Worst margin: the largest share of a published FP16 threshold that a result used; - where" in html
    assert "HOLE" not in html.replace(plan, "")


@pytest.mark.parametrize("title", ["L0", "L1"])
def test_page_and_junit_say_whether_it_was_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], title: str
) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start(title, TASKS)
        store.add(run, *(one.result(PASSED) for one in TASKS))
        conclude(store, run, ARGS)
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("not the gate" if title == "L0" else "level L1, the gate: passed")
    for name in (page.PAGE, page.JUNIT):
        assert said in (run.folder / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"complete": False}, "the random scenarios of L1 were never chosen: start it anew"),
        ({"goal": 90.0}, "coverage must be 90 % of the reachable bins, not 0.0 %"),
    ],
)
def test_what_a_run_lacks_besides_tests_is_an_error_of_the_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], given: dict[str, Any], problem: str
) -> None:
    assert concluded(tmp_path, TASKS, **given) == (1, {"tests": "4", "errors": "1"}, [problem])
    out = capsys.readouterr().out
    assert f"{problem}\n" in out
    assert "level L1, the gate: not passed" in out
    assert problem in (tmp_path / "0001" / page.PAGE).read_text(encoding="utf-8")


def test_a_comparison_with_a_run_of_other_tasks_loses_no_summary(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        store.start("other", [task(7)])
    args = argparse.Namespace(**{**vars(ARGS), "cycles_against": "1", "results": tmp_path})
    problem = "--cycles-against: run 1 has no scenario or layer of this run"
    assert concluded(tmp_path, TASKS, args) == (1, {"tests": "4", "errors": "1"}, [problem])
    assert "3 passed, 0 failed, 0 refused\n" in capsys.readouterr().out


def test_cycles_of_a_run_that_there_is_not_are_refused_before_anything_is_played(tb: Run, tmp_path: Path) -> None:
    ran = tb(f"regress plan --only sdp_x1_* --results {tmp_path} --cycles-against 7")
    assert (ran.out, ran.refusal) == ("", "no run 7: the store holds no runs")
    with Store(tmp_path / "results.sqlite") as store:
        assert store.runs() == []


def interrupted(monkeypatch: pytest.MonkeyPatch, store: Store, run: Stored, play: Sequence[Task]) -> None:
    """Play some tasks of a run before the user interrupts it."""

    def drive(*_: object, **__: object) -> Iterator[Result]:
        for one in play:
            result = one.result(PASSED)
            store.add(run, result)
            yield result
        raise KeyboardInterrupt

    monkeypatch.setattr(regress_play, "drive", drive)
    monkeypatch.setattr(regress_play, "workers_of", lambda *_: nullcontext())
    args = parser().parse_args(f"regress resume --jobs 1 --results {run.folder.parent}".split())
    with pytest.raises(KeyboardInterrupt):
        Player(args, store, run, None).play()


@pytest.mark.parametrize(
    ("play", "complete", "last"),
    [
        (1, True, ["1 passed, 0 failed, 0 refused, 2 not played", "resume: nvdla-tb regress resume 1 --results {}"]),
        (3, True, ["3 passed, 0 failed, 0 refused", "reports: nvdla-tb regress show 1 --results {}"]),
        (
            2,
            False,
            [
                "2 passed, 0 failed, 0 refused, 1 not played",
                "the random scenarios of L1 were never chosen: start it anew",
                "resume: nvdla-tb regress resume 1 --results {}",
            ],
        ),
    ],
)
def test_an_interrupted_run_says_how_far_it_is_and_how_it_goes_on(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    play: int,
    complete: bool,
    last: list[str],
) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("L1", TASKS, complete=complete)
        interrupted(monkeypatch, store, run, TASKS[:play])
    first, *others = (line.format(shlex.quote(str(tmp_path))) for line in last)
    assert capsys.readouterr().out.splitlines()[-len(last) :] == [f"run 1, interrupted: {first}", *others]


def test_a_resumed_run_counts_the_failures_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("L1", TASKS)
        store.add(run, TASKS[0].result(Verdict(judged_bytes=8, findings=[wrong()])))
        monkeypatch.setattr(console, "_FIRST_SECONDS", 0.0)
        interrupted(monkeypatch, store, run, TASKS[1:2])
    assert "[2/3] 1 failed, " in capsys.readouterr().out


def test_failures_of_before_are_looked_into_when_a_run_is_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    looked: list[Result] = []
    monkeypatch.setattr(regress_play, "Looks", lambda results, _: looked.extend(results) or Looks(()))
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("L1", TASKS)
        store.add(run, *(one.result(Verdict(judged_bytes=8, findings=[wrong()])) for one in TASKS))
        monkeypatch.setattr(regress_play, "workers_of", lambda *_: nullcontext())
        monkeypatch.setattr(regress_play, "drive", lambda *_, **__: iter(()))
        args = parser().parse_args(f"regress resume --jobs 1 --results {run.folder.parent}".split())
        assert Player(args, store, run, None).play() == 1
    assert [result.key for result in looked] == [one.key for one in TASKS]
    assert "\n0 passed, 3 failed (3 mismatch), 0 refused\n" in capsys.readouterr().out


def test_a_run_is_played_by_one_process(tb: Run, tmp_path: Path) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        run = store.start("a run", TASKS)
        store.add(run, TASKS[0].result(Verdict.of(Check.LOST, "gone")))
        with held(run):
            refused = tb(f"regress resume 1 --results {tmp_path}").refusal
            shown = tb(f"regress show 1 --results {tmp_path}").out
        assert [result.ending for result in store.results(run)] == [Ending.LOST], "nothing was forgotten"
    by = f"run 1 is being played by process {os.getpid()} on {os.uname().nodename}"
    assert refused == f"{by}: wait for its end, or end that process"
    assert f"\n{by}: what is not played is still to come\n" in shown
    assert "resume:" not in shown
    assert "\nresume: nvdla-tb regress resume 1 " in tb(f"regress show 1 --results {tmp_path}").out
