"""``compare``: a later run that is worse in anything is no success."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_tb.judge.verdict import Ending
from nvdla_tb.run.regress.store import Store
from tests.unit.conftest import Run
from tests.unit.run.regress.tasks import DUT, ended, task


def stored(root: Path, *runs: Mapping[int, Ending | None]) -> None:
    """Store runs: by seed, how a task ended, None for one that was not played."""
    with Store(root / "results.sqlite") as store:
        for endings in runs:
            run = store.start("random", [task(seed) for seed in endings])
            store.add(run, *(ended(task(seed), ending) for seed, ending in endings.items() if ending))


def key(seed: int) -> str:
    return task(seed).key


def test_each_kind_of_difference_is_named(tb: Run, tmp_path: Path) -> None:
    right, wrong, hung = Ending.PASSED, Ending.MISMATCH, Ending.HANG
    before = {1: right, 2: wrong, 3: wrong, 4: right, 5: right, 6: right}
    stored(tmp_path, before, {1: right, 2: right, 3: hung, 4: wrong, 5: None, 7: right})
    ran = tb(f"compare 1 2 --results {tmp_path}")
    assert (ran.code, ran.out.splitlines()[2:]) == (
        1,
        [
            *("newly failing: 2", f"  {key(4)}: mismatch", f"  {key(5)}: not played"),
            *("newly passing: 1", f"  {key(2)}: was mismatch"),
            *("failing in both: 1", f"  {key(3)}: hang"),
            *("no longer in the run: 1", f"  {key(6)}: was passed"),
            *("new in the run: 1", f"  {key(7)}: passed"),
        ],
    )


def test_a_run_that_is_not_worse_is_a_success_and_one_of_other_tests_is_none(tb: Run, tmp_path: Path) -> None:
    stored(tmp_path, {1: Ending.MISMATCH, 2: Ending.PASSED}, {1: Ending.PASSED, 2: Ending.PASSED}, {9: Ending.PASSED})
    assert tb(f"compare 1 2 --results {tmp_path}").code == 0
    ran = tb(f"compare 2 3 --results {tmp_path}")
    assert (ran.code, ran.out.splitlines()[-1]) == (1, "runs 2 and 3 have no test in common")
    assert tb(f"compare 2 9 --results {tmp_path}").refusal == "no run 9: the newest is 3"


@pytest.mark.parametrize(
    ("contents", "said"),
    [
        (("a" * 32, "a" * 32), [", content aaaaaaaaaaaa", ", content aaaaaaaaaaaa", "the same content"]),
        (
            ("a" * 32, "b" * 32),
            [
                ", content aaaaaaaaaaaa",
                ", content bbbbbbbbbbbb",
                "different content: RTL, configuration, ports, simulator, arguments or testbench",
            ],
        ),
        (("", "b" * 32), ["", ", content bbbbbbbbbbbb"]),
    ],
)
def test_it_says_whether_the_runs_are_of_the_same_content(
    tb: Run, tmp_path: Path, contents: tuple[str, str], said: list[str]
) -> None:
    with Store(tmp_path / "results.sqlite") as store:
        for content in contents:
            one = replace(task(1), dut=replace(DUT, evidence=content))
            store.add(store.start("random", [one]), ended(one, Ending.PASSED))
    ran = tb(f"compare 1 2 --results {tmp_path}")
    first, second, *same = said
    lines = [f"run {n} (random{of}): 1 passed, 0 failed, 0 refused" for n, of in ((1, first), (2, second))]
    assert (ran.code, ran.out.splitlines()) == (0, lines + same)
