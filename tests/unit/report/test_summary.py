"""A run says how it ended, what it has proven, what not, and which command is the gate; that command exists."""

from __future__ import annotations

import shlex

import pytest

from nvdla_tb.cli.main import parser
from nvdla_tb.cli.regress_tasks import feature_plan
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.report import summary

DUT = "--config nv_small --sim verilator --rtl my.f"
GATE = "nvdla-tb regress plan --level L1"


def test_a_plan_that_passes_is_not_the_gate() -> None:
    proven, open_, last = summary.after_plan("nv_small.toml", 64, None, DUT, 64)
    assert proven == "proven: every byte that the 64 scenarios of nv_small.toml write is right, with one seed"
    assert open_.startswith("not proven: ")
    assert last == f"the gate is: {GATE} {DUT}"


def test_what_fails_proves_nothing_and_a_choice_is_called_so() -> None:
    failed = summary.after_plan("p.toml", 2, ["a*"], DUT, 0)
    assert failed == [f"the gate is: {GATE} {DUT}"]
    chosen, *_ = summary.after_plan("p.toml", 2, ["a*"], DUT, 2)
    assert chosen == "proven: every byte that 2 chosen scenarios of p.toml write is right, with one seed"
    for only, which in ((["a*"], "1 chosen scenario"), (None, "the scenario")):
        one, *_ = summary.after_plan("p.toml", 1, only, DUT, 1)
        assert one == f"proven: every byte that {which} of p.toml writes is right, with one seed"


def test_scenarios_that_were_refused_prove_nothing() -> None:
    some, *_ = summary.after_plan("p.toml", 5, None, DUT, 3)
    assert some == "proven: every byte that 3 of the 5 scenarios of p.toml write is right, with one seed"
    one, *_ = summary.after_plan("p.toml", 4, ["a*"], DUT, 1)
    assert one == "proven: every byte that 1 of 4 chosen scenarios of p.toml writes is right, with one seed"


def test_the_gate_is_a_command_and_a_level_that_exist() -> None:
    args = parser().parse_args(shlex.split(summary.gate_command(DUT))[1:])
    assert feature_plan(args).level(args.level).name == summary.GATE


@pytest.mark.parametrize(
    ("title", "passed", "said"),
    [
        ("L1", True, "level L1, the gate: passed; its holes are what it does not reach"),
        ("L2", False, "level L2, the gate and more: not passed; its holes are what it does not reach"),
        *((title, True, f"not the gate, which is level L1 or more: {GATE}") for title in ("L0", "chosen tests of L1")),
    ],
)
def test_a_regression_says_whether_it_was_the_gate(title: str, passed: bool, said: str) -> None:
    assert summary.after_regression(title, passed=passed) == said


def test_a_run_that_lacks_tasks_has_not_passed() -> None:
    assert summary.exit_code({Ending.PASSED: 3, Ending.REFUSED: 1}) == 0
    assert summary.exit_code({Ending.PASSED: 3, Ending.NOT_PLAYED: 1}) == 1
    assert summary.exit_code({Ending.REFUSED: 3}) == 1
    assert summary.exit_code({}) == 1
    assert summary.exit_code({Ending.PASSED: 3, Ending.LOST: 1}) == 1
    assert summary.exit_code({Ending.PASSED: 3}, ["slower: a"]) == 1
    assert summary.counts_line({Ending.PASSED: 3}) == "3 passed, 0 failed, 0 refused"
    some = {Ending.PASSED: 3, Ending.HANG: 1, Ending.NOT_PLAYED: 2}
    assert summary.counts_line(some) == "3 passed, 1 failed (1 hang), 0 refused, 2 not played"


def test_a_run_in_which_no_test_says_that_it_has_failed_has_a_problem_when_none_has_passed() -> None:
    assert summary.problems_of({}) == summary.problems_of({Ending.REFUSED: 2}) == [summary.NOTHING]
    for ending in (Ending.PASSED, Ending.HANG, Ending.NOT_PLAYED):
        assert summary.problems_of({ending: 1}) == []


def test_equal_golden_results_are_right_and_counted_apart() -> None:
    assert summary.exit_code({Ending.GOLDEN: 1}) == 0
    assert summary.colour({Ending.PASSED: 3, Ending.GOLDEN: 1}, 0) == "yellow"
    assert summary.colour({Ending.PASSED: 3}, 0) == "green"
    assert summary.colour({Ending.PASSED: 3}, 1) == "red"
    assert summary.counts_line({Ending.GOLDEN: 1}) == "0 passed, 0 failed, 0 refused, 1 golden equal, not predicted"
