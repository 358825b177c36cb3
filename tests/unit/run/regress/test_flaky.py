"""Flaky tests: right and wrong with the same seed on the same content."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.regress.flaky import flaky
from nvdla_tb.run.regress.store import BY_HAND, Store
from tests.unit.conftest import Run, tb
from tests.unit.run.regress.tasks import DUT, ended, task

__all__ = ["tb"]


Ended = tuple[int, Ending, str, tuple[str, ...]]
"""Seed, ending, content and arguments of a test."""


def played(root: Path, endings: Sequence[Ended]) -> tuple[int, dict[str, list[Ending]]]:
    """Store a run for each seed, ending, content and arguments; return how many are repeated, and the flaky by key."""
    with Store(root / "results.sqlite") as store:
        for seed, ending, evidence, plusargs in endings:
            one = replace(task(seed), dut=replace(DUT, evidence=evidence), plusargs=plusargs)
            store.add(store.start("random", [one]), ended(one, ending))
        found = flaky(store)
    return found.tests, {test.key: list(test.runs) for test in found.flaky}


@pytest.mark.parametrize(
    ("second", "count", "is_flaky"),
    [
        ((1, Ending.MISMATCH, "same", ()), 1, True),
        ((1, Ending.HANG, "same", ()), 1, True),
        ((1, Ending.PASSED, "same", ()), 1, False),
        ((2, Ending.MISMATCH, "same", ()), 0, False),
        ((1, Ending.MISMATCH, "other", ()), 0, False),
        ((1, Ending.MISMATCH, "same", ("+bug=x",)), 0, False),
        ((1, Ending.LOST, "same", ()), 0, False),
    ],
    ids=["mismatch", "hang", "passed_again", "other_seed", "other_content", "other_arguments", "lost"],
)
def test_a_test_is_flaky_that_ended_in_two_ways_with_the_same_seed_and_content(
    tmp_path: Path, second: Ended, count: int, is_flaky: bool
) -> None:
    found = played(tmp_path, [(1, Ending.PASSED, "same", ()), second])
    assert found == (count, {task(1).key: [Ending.PASSED, second[1]]} if is_flaky else {})


def test_what_nobody_knows_the_content_of_is_not_compared(tmp_path: Path) -> None:
    assert played(tmp_path, [(1, Ending.PASSED, "", ()), (1, Ending.MISMATCH, "", ())]) == (0, {})


def test_the_command_names_runs_and_the_way_to_play_it_again(tb: Run, tmp_path: Path) -> None:
    played(tmp_path, [(1, Ending.PASSED, "same", ()), (1, Ending.MISMATCH, "same", ()), (1, Ending.PASSED, "same", ())])
    ran = tb(f"flaky --results {tmp_path}")
    assert (ran.code, ran.out.splitlines()) == (
        1,
        [
            task(1).key,
            "  passed: run 1, 3",
            "  mismatch: run 2",
            f"  rerun: {task(1).rerun}",
            "1 flaky of 1 test that was played twice or more with the same seed, content and arguments",
        ],
    )


def test_tests_with_different_arguments_are_said_to_be_apart(tb: Run, tmp_path: Path) -> None:
    state = ("+verilator+rand+reset+2",)
    played(tmp_path, [(1, Ending.PASSED, "same", ()), (1, Ending.MISMATCH, "same", state), (2, Ending.PASSED, "x", ())])
    ran = tb(f"flaky --results {tmp_path}")
    assert (ran.code, ran.out.splitlines()) == (
        0,
        [
            "0 flaky of 0 tests that were played twice or more with the same seed, content and arguments",
            "1 test was played with different arguments, which says nothing: a level chooses the initial state by some",
        ],
    )


def test_what_run_and_regress_have_played_is_compared(tmp_path: Path) -> None:
    one = replace(task(1), kind="plan", dut=replace(DUT, evidence="same"))
    with Store(tmp_path / "results.sqlite") as store:
        for title, ending, rerun in ((BY_HAND, Ending.PASSED, "run"), ("plan", Ending.MISMATCH, "run --plan")):
            again = replace(one, rerun=rerun)
            store.add(store.start(title, [again]), ended(again, ending))
        assert [test.runs for test in flaky(store).flaky] == [{Ending.PASSED: [1], Ending.MISMATCH: [2]}]
