"""A run of steering: its verdict, what a failure and an interrupt leave, and when it ends."""

from __future__ import annotations

import argparse
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_steer import command, steering
from nvdla_steer.candidates import Candidates
from nvdla_steer.corpus import LEAST_PLAN, PLAN, Corpus
from nvdla_steer.points import Points
from nvdla_steer.steering import GROWTH_FILE, Steering
from nvdla_tb.cli.dut import STORE
from nvdla_tb.cli.parsing import Parser
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.run.regress.held import being_played
from nvdla_tb.run.regress.store import Store
from nvdla_tb.run.regress.worker import Limits, counts_path
from nvdla_tb.run.task import Task
from nvdla_tb.stimulus.generate.plan import load_plan
from nvdla_tb.stimulus.result import Dut, Result

CONFIG = HwConfig.load("nv_small")
DUT = Dut("nv_small", "verilator", backend="native", coverage="line")
POINTS = Points(np.ones(50, dtype=np.uint8))

Play = Callable[[int, Task], Verdict]


def passed(cycles: int = 1000) -> Verdict:
    return Verdict(judged_bytes=8, written_bytes=8, layers=1, cycles=cycles)


def steered(folder: Path, monkeypatch: pytest.MonkeyPatch, play: Play, options: str = "--jobs 1 --cycles 5000") -> int:
    """Play with simulations that are made up: each reaches one point more than the one before it."""
    parser = Parser()
    command.add_arguments(parser)
    args = parser.parse_args([*options.split(), "--results", str(folder), "--corpus", str(folder / "corpus")])
    args.command_line = "nvdla-tb steer"
    played: list[Task] = []

    def execute(task: Task, limits: Limits) -> Result:
        played.append(task)
        verdict = play(len(played), task)
        assert limits.counts is not None
        if verdict.ending is Ending.PASSED:
            counts = np.zeros(50, dtype=np.uint32)
            counts[: len(played)] = 1
            counts.tofile(counts_path(limits.counts, task.key))
        return task.result(verdict, 0.1)

    monkeypatch.setattr(steering, "execute", execute)
    monkeypatch.setattr(steering, "stop", lambda: None)
    monkeypatch.setattr(steering, "look_again", lambda task, known, *_: known[task.key])
    corpus = Corpus(folder / "corpus", "nv_small", "model", 50)
    with Store(folder / STORE) as store:
        return Steering(args, store, DUT, POINTS, corpus, Candidates(CONFIG, corpus, 0)).play()


def endings(folder: Path) -> list[Ending]:
    with Store(folder / STORE) as store:
        return list(store.endings(store.run()).values())


def test_what_passed_is_green_and_the_corpus_holds_what_reached_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert steered(tmp_path, monkeypatch, lambda *_: passed()) == 0
    assert endings(tmp_path) == [Ending.PASSED] * 5
    assert len(load_plan(tmp_path / "corpus" / PLAN)) == 5
    assert len(load_plan(tmp_path / "corpus" / LEAST_PLAN)) == 1
    growth = (tmp_path / "0001" / GROWTH_FILE).read_text("utf-8").splitlines()
    assert growth[0] == "scenarios,cycles,points,kept"
    assert growth[1:] == [f"{n},{1000 * n},{n},{n}" for n in range(1, 6)]
    told = capsys.readouterr().out
    assert "reached: 5 of 50 line points" in told
    assert "5 passed, 0 failed, 0 refused" in told
    assert not list((tmp_path / "0001").rglob("*.counts"))


def test_nobody_resumes_a_run_that_is_being_steered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by: list[str | None] = []

    def play(*_: object) -> Verdict:
        with Store(tmp_path / STORE) as store:
            by.append(being_played(store.run()))
        return passed()

    steered(tmp_path, monkeypatch, play)
    assert [one is not None for one in by] == [True] * 5


def test_each_task_is_a_plan_that_can_be_played_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steered(tmp_path, monkeypatch, lambda *_: passed())
    with Store(tmp_path / STORE) as store:
        for task in store.tasks(store.run()):
            (entry,) = load_plan(Path(task.source))
            assert (entry.name, task.seed) == (task.test, 1)
            assert task.job().make().name == task.test
            assert f"--plan {task.source} --only {task.test} --seed 1" in task.rerun


def test_a_failure_is_red_and_no_part_of_the_corpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(number: int, _: Task) -> Verdict:
        return Verdict.of(Check.HANG, "nothing moves") if number == 3 else passed()

    assert steered(tmp_path, monkeypatch, play) == 1
    assert endings(tmp_path).count(Ending.HANG) == 1
    with Store(tmp_path / STORE) as store:
        (failed,) = [result for result in store.results(store.run()) if result.ending is Ending.HANG]
    names = {entry.name for entry in load_plan(tmp_path / "corpus" / PLAN)}
    assert failed.test not in names
    assert names
    told = capsys.readouterr().out
    assert "nothing moves" in told
    assert failed.rerun in told


def test_an_interrupt_leaves_corpus_and_report_and_is_never_green(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def play(number: int, _: Task) -> Verdict:
        if number == 4:
            raise KeyboardInterrupt
        return passed()

    with pytest.raises(KeyboardInterrupt):
        steered(tmp_path, monkeypatch, play)
    assert endings(tmp_path) == [Ending.PASSED] * 3 + [Ending.NOT_PLAYED]
    assert len(load_plan(tmp_path / "corpus" / PLAN)) == 3
    assert len(Corpus(tmp_path / "corpus", "nv_small", "model", 50).entries) == 3
    assert "3 passed, 0 failed, 0 refused, 1 not played" in capsys.readouterr().out
    report = ElementTree.parse(tmp_path / "0001" / "junit.xml")
    assert [len(case) > 0 for case in report.iter("testcase")] == [False, False, False, True]


def test_a_lost_simulation_is_not_played_and_not_green(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(number: int, _: Task) -> Verdict:
        return Verdict.of(Check.LOST, "killed") if number == 2 else passed()

    assert steered(tmp_path, monkeypatch, play) == 1
    assert endings(tmp_path).count(Ending.NOT_PLAYED) == 1


def test_without_time_one_scenario_is_played(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert steered(tmp_path, monkeypatch, lambda *_: passed(), "--jobs 2 --hours 0") == 0
    assert endings(tmp_path) == [Ending.PASSED]


def test_a_run_goes_on_with_the_corpus_of_the_one_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steered(tmp_path, monkeypatch, lambda *_: passed())
    before = [entry.name for entry in load_plan(tmp_path / "corpus" / PLAN)]
    steered(tmp_path, monkeypatch, lambda *_: passed(100_000), "--jobs 1 --cycles 700000")
    after = [entry.name for entry in load_plan(tmp_path / "corpus" / PLAN)]
    assert after[:5] == before
    assert len(after) == 7


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--config dlhdl", "--config must be one of NVDLA, whose plans nvdla-tb steer writes, not dlhdl"),
        ("--backend coroutine", "--backend must be native: code is counted for each scenario in the model itself"),
        ("--sim icarus", "--backend must be native: code is counted for each scenario in the model itself"),
    ],
)
def test_what_cannot_be_steered_is_refused_before_anything_is_built(options: str, message: str) -> None:
    parser: Any = Parser()
    command.add_arguments(parser)
    args: argparse.Namespace = parser.parse_args(options.split())
    with pytest.raises(command.InputError) as error:
        command.main(args)
    assert str(error.value) == message
