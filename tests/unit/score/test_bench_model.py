"""``bench model``: the table and its exit code follow from what was measured; without PyTorch nothing is judged."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nvdla_models.precision import Precision
from nvdla_score.bench import model
from nvdla_score.bench.model import CASES, SHAPES, Case, Shape, Work
from tests.unit.conftest import Run

SMALL = Shape("small", (8, 6, 6), (4, 8, 3, 3), 1, 1)
WORK = Work(lambda: None, np.zeros(SMALL.cube, np.float32), np.zeros(SMALL.weights, np.float32))


class Torch(SimpleNamespace):
    """What the command uses of PyTorch."""

    def __init__(self) -> None:
        functional = SimpleNamespace(conv2d=lambda cube, weights, stride, padding: (cube, weights, stride, padding))
        super().__init__(__version__="9.9", nn=SimpleNamespace(functional=functional), from_numpy=np.asarray)


@pytest.mark.parametrize(
    ("target", "torch", "times", "code", "shown", "judged"),
    [
        (0.5, Torch(), [1.9, 1.0], 0, ["1000.0", "-", "0.53", "0.50", "yes"], "1 of 1"),
        (0.5, Torch(), [2.0, 1.0], 0, ["1000.0", "-", "0.50", "0.50", "yes"], "1 of 1"),
        (0.5, Torch(), [2.1, 1.0], 1, ["1000.0", "-", "0.48", "0.50", "NO"], "0 of 1"),
        # Work in float64 is judged by float32 and shown beside float64.
        (0.5, Torch(), [4.0, 1.0, 3.0], 1, ["1000.0", "3000.0", "0.25", "0.50", "NO"], "0 of 1"),
        # Without a target or PyTorch nothing is judged.
        (None, Torch(), [10.0, 1.0], 0, ["1000.0", "-", "0.10", "-"], "0 of 0"),
        (0.5, None, [1.0], 0, ["-", "-", "-", "0.50"], "0 of 0"),
    ],
)
def test_less_than_the_target_is_said_and_is_exit_code_1(
    tb: Run,
    monkeypatch: pytest.MonkeyPatch,
    target: float | None,
    torch: Torch | None,
    times: list[float],
    code: int,
    shown: list[str],
    judged: str,
) -> None:
    rounds = iter(times * 100)
    for name in model._THREADS:
        monkeypatch.setenv(name, "1")
    monkeypatch.setattr(model, "CASES", (Case("one", target, SMALL, lambda: WORK, len(times) == 3),))
    monkeypatch.setattr(model, "seconds", lambda run: next(rounds))
    monkeypatch.setattr(model, "load_torch", lambda: torch)
    ran = tb("bench model --rounds 5")
    assert ran.code == code
    _, against, _, line, summary = ran.out.splitlines()
    assert against.startswith(
        "PyTorch is not installed: nothing is compared and no target is judged"
        if torch is None
        else "PyTorch 9.9, conv2d; what is reached is of its speed in float32"
    )
    rate = f"{36 * 4 * 72 / times[0] / 1e9:.2f}"
    assert line.split() == ["one", f"{times[0] * 1e3:.1f}", rate, *shown]
    assert summary.startswith(f"{judged} targets reached; load ")


def test_the_best_round_counts_apart_from_the_first() -> None:
    times = iter([0.2, 0.1, 4.0, 5.0, 6.0, 3.0, 8.0, 2.0, 9.0, 5.0, 7.0, 4.0])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "seconds", lambda run: next(times))
        measured = model.measure(Case("one", 0.5, SMALL, lambda: WORK), Torch(), 5)
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
