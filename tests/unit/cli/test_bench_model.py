"""``bench model``: the table and its exit code follow from what was measured; without PyTorch nothing is judged."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from models.precision import Precision
from tb.cli import bench_model
from tb.cli.bench_model import CASES, SHAPES, Case, Shape, Work
from tests.unit.cli.conftest import Run

SMALL = Shape("small", (8, 6, 6), (4, 8, 3, 3), 1, 1)


def nothing() -> object:
    return None


class Torch(SimpleNamespace):
    """What the command uses of PyTorch."""

    def __init__(self) -> None:
        functional = SimpleNamespace(conv2d=lambda cube, weights, stride, padding: (cube, weights, stride, padding))
        super().__init__(__version__="9.9", nn=SimpleNamespace(functional=functional), from_numpy=np.asarray)


def timed(
    monkeypatch: pytest.MonkeyPatch, target: float | None, torch: Any, times: list[float], float64: bool = False
) -> None:
    """Make the command measure one case that takes ``times`` in turn."""
    operands = np.zeros((8, 6, 6), np.float32), np.zeros((4, 8, 3, 3), np.float32)
    case = Case("one", target, SMALL, lambda: Work(nothing, *operands), float64)
    rounds = iter(times * 100)
    for name in bench_model._THREADS:
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(bench_model, "CASES", (case,))
    monkeypatch.setattr(bench_model, "seconds", lambda run: next(rounds))
    monkeypatch.setattr(bench_model, "load_torch", lambda: torch)


@pytest.mark.parametrize(("seconds", "code", "verdict"), [(1.9, 0, "yes"), (2.0, 0, "yes"), (2.1, 1, "NO")])
def test_less_than_the_target_is_said_and_is_exit_code_1(
    tb: Run, monkeypatch: pytest.MonkeyPatch, seconds: float, code: int, verdict: str
) -> None:
    timed(monkeypatch, 0.5, Torch(), [seconds, 1.0])
    ran = tb("bench model --rounds 5")
    assert ran.code == code
    lines = ran.out.splitlines()
    assert lines[1] == "PyTorch 9.9, conv2d; what is reached is of its speed in float32"
    rate = f"{36 * 4 * 72 / seconds / 1e9:.2f}"
    reached = f"{1 / seconds:.2f}"
    assert lines[3].split() == ["one", f"{seconds * 1e3:.1f}", rate, "1000.0", "-", reached, "0.50", verdict]
    assert lines[4].startswith(f"{1 - code} of 1 targets reached; load ")


def test_without_pytorch_it_says_so_and_judges_nothing(tb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, 0.5, None, [1.0])
    ran = tb("bench model")
    assert ran.code == 0
    lines = ran.out.splitlines()
    assert lines[1].startswith("PyTorch is not installed: nothing is compared and no target is judged")
    assert lines[3].split() == ["one", "1000.0", "0.00", "-", "-", "-", "0.50"]
    assert lines[4].startswith("0 of 0 targets reached; load ")


def test_a_case_without_a_target_is_reported_alone(tb: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    timed(monkeypatch, None, Torch(), [10.0, 1.0])
    ran = tb("bench model")
    assert ran.code == 0
    assert ran.out.splitlines()[3].split() == ["one", "10000.0", "0.00", "1000.0", "-", "0.10", "-"]


def test_work_in_float64_is_judged_by_float32_and_shown_beside_float64(
    tb: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    timed(monkeypatch, 0.5, Torch(), [4.0, 1.0, 3.0], float64=True)
    ran = tb("bench model")
    assert ran.code == 1
    assert ran.out.splitlines()[3].split()[3:] == ["1000.0", "3000.0", "0.25", "0.50", "NO"]


def test_the_best_round_counts_apart_from_the_first() -> None:
    times = iter([0.2, 0.1, 4.0, 5.0, 6.0, 3.0, 8.0, 2.0, 9.0, 5.0, 7.0, 4.0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_model, "seconds", lambda run: next(times))
        operands = np.zeros((8, 6, 6), np.float32), np.zeros((4, 8, 3, 3), np.float32)
        measured = bench_model.measure(Case("one", 0.5, SMALL, lambda: Work(nothing, *operands)), Torch(), 5)
    assert (measured.seconds, measured.reference_seconds) == (4.0, 2.0)


def test_both_precisions_with_a_target_are_measured_on_every_shape() -> None:
    for precision in ("INT8", "FP16"):
        names = {f"{precision} {shape.name}" for shape in SHAPES}
        assert {case.name for case in CASES if case.target == 0.5} >= names
    assert len({case.name for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES[-1:] + CASES[3:4] + CASES[8:9], ids=lambda case: case.name)
def test_a_case_computes_its_whole_layer_on_the_operands_of_the_reference(case: Case) -> None:
    work = case.prepare()
    result = work.run()
    assert isinstance(result, np.ndarray)
    assert result.shape == case.shape.params(Precision.INT8).output_shape(case.shape.cube, case.shape.weights)
    assert (work.cube.shape, work.weights.shape) == (case.shape.cube, case.shape.weights)
    assert result.size * work.weights[0].size == case.shape.products
    assert result.any()
