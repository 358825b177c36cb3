"""``bench layout``: the table and its exit code follow from what was measured."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from nvdla_score.bench import layout, model
from nvdla_score.bench.layout import CASES, Case, Measured, Work
from tests.unit.conftest import Run

MIB = 1 << 20


WORK = Work(lambda: None, np.zeros(1, dtype=np.uint8))


@pytest.mark.parametrize(
    ("target", "seconds", "inputs", "code", "shown"),
    [
        (0.25, 3.9, 0, 0, ["0.26", "0.25", "yes"]),
        (0.25, 4.0, 0, 0, ["0.25", "0.25", "yes"]),
        (0.25, 4.1, 0, 1, ["0.24", "0.25", "NO"]),
        (20.0, 2.0, 50_000_000, 0, ["25.00", "20.00", "M/s", "yes"]),  # a tolerance, by window inputs a second
    ],
)
def test_less_than_the_target_is_said_and_is_exit_code_1(
    tb: Run, monkeypatch: pytest.MonkeyPatch, target: float, seconds: float, inputs: int, code: int, shown: list[str]
) -> None:
    times = iter([1.0, seconds] * 100)
    monkeypatch.setattr(layout, "seconds", lambda run: next(times))
    monkeypatch.setattr(layout, "CASES", (Case("one", target, lambda _: replace(WORK, window_inputs=inputs)),))
    ran = tb("bench layout --rounds 5 --mib 1")
    assert ran.code == code
    head, titles, line, summary = ran.out.splitlines()
    assert re.fullmatch(r"1 MiB, processor time, medians of 5 rounds, load \d+\.\d on \d+ CPUs", head)
    assert titles.split() == ["case", "ms", "copy", "ms", "reached", "target"]
    assert line.split() == ["one", f"{seconds * 1000:.1f}", "1000.0", *shown]
    assert summary.startswith(f"{1 - code} of 1 targets reached; load ")


def test_the_median_ignores_the_first_round_and_outliers(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([99.0, 99.0, 1.0, 4.0, 1.0, 4.0, 7.0, 80.0, 1.0, 4.0, 1.0, 4.0])
    monkeypatch.setattr(layout, "seconds", lambda run: next(times))
    measured = layout.measure(Case("one", 0.2, lambda nbytes: WORK), 1, 5)
    assert measured == Measured(measured.case, 4.0, 1.0, 0)
    assert measured.reached == 0.25


@pytest.mark.parametrize(("kind", "cases"), [("layout", CASES), ("model", model.CASES)])
def test_a_measurement_that_means_nothing_and_a_pattern_without_cases_are_refused(
    tb: Run, kind: str, cases: Sequence[Any]
) -> None:
    assert tb(f"bench {kind} --rounds 4").refusal == "--rounds must be at least 5, not 4"
    names = ", ".join(case.name for case in cases)
    assert tb(f"bench {kind} --only none").refusal == f"no case matches none; there are {names}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_case_moves_the_bytes_that_it_is_measured_by(case: Case) -> None:
    work = case.prepare(MIB)
    result = work.run()
    assert 0.95 * MIB <= work.reference.nbytes <= 1.1 * MIB
    assert result is not None
    assert (work.window_inputs > 0) == case.name.startswith("tolerance")


def test_both_directions_of_every_kind_are_measured() -> None:
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)
    for kind, target in (("feature", 0.25), ("weight", 0.2), ("pixel", 0.1), ("compressed", 0.05)):
        chosen = [case for case in CASES if case.name.startswith(kind)]
        assert {case.target for case in chosen} == {target}
        assert len([case for case in chosen if case.name.endswith(", pack")]) * 2 == len(chosen) > 0
    assert {case.target for case in CASES if case.name.startswith("tolerance")} == {20.0}
