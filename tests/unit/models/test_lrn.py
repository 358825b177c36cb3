"""Local response normalisation: what CDP's tables make of it, beside the formula."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.cdp import CdpParams, run
from nvdla_models.errors import InputError
from nvdla_models.lrn import normalisation
from nvdla_models.lut import LutChoice
from nvdla_models.precision import Precision

Array = NDArray[Any]

SHAPE = (13, 8, 8)

MOST_STEPS = 1.0
"""Of the result: half a step of rounding, and as much for the tables."""


def computed(cube: Array, size: int, alpha: float, beta: float, bias: float) -> Array:
    """Return the formula of each element, one after the other."""
    result = np.empty(cube.shape)
    for c, h, w in np.ndindex(*cube.shape):
        around = cube[max(c - size // 2, 0) : c + size // 2 + 1, h, w]
        result[c, h, w] = cube[c, h, w] / (bias + alpha / size * (around**2).sum()) ** beta
    return result


def scaled(
    cube: Array, size: int, alpha: float, beta: float, bias: float, src: float, precision: Precision = Precision.INT8
) -> tuple[CdpParams, Array, float]:
    """Return the layer that normalises integers of this scale, the real result, and the scale of the layer's."""
    expected = computed(cube * src, size, alpha, beta, bias)
    out = float(np.abs(expected).max()) / precision.limits[1]
    keys = {"alpha": alpha, "beta": beta, "bias": bias, "src_scale": src, "dst_scale": out}
    return normalisation(precision, SHAPE[0], size, **keys), expected, out


@pytest.mark.parametrize("size", [3, 5, 7, 9])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize(("beta", "bias"), [(0.75, 1.0), (0.5, 2.0), (1.0, 0.1)])
def test_the_tables_err_by_less_than_a_step(size: int, alpha: float, beta: float, bias: float) -> None:
    draw = np.random.default_rng(size)
    magnitudes = np.exp(draw.uniform(0, np.log(127.5), SHAPE))
    cube = np.rint(magnitudes * draw.choice([-1, 1], SHAPE)).astype(np.int8)
    params, expected, out = scaled(cube, size, alpha, beta, bias, 0.05)
    got = run(params, cube, SHAPE[0])
    assert np.abs(got * out - expected).max() < MOST_STEPS * out


def test_the_finer_table_wins_where_both_hit() -> None:
    cube = np.random.default_rng(9).integers(-20, 21, SHAPE, dtype=np.int8)
    params, expected, out = scaled(cube, 9, 1.0, 0.75, 1.0, 0.05)
    other = LutChoice(1 - params.lut.hybrid_priority)
    coarse = replace(params, lut=replace(params.lut, hybrid_priority=other))
    fine_steps, coarse_steps = (np.abs(run(p, cube, SHAPE[0]) * out - expected).max() / out for p in (params, coarse))
    assert fine_steps < MOST_STEPS < coarse_steps


@pytest.mark.parametrize("alpha", [1e-4, 1.0])
def test_int16_is_far_finer_than_int8(alpha: float) -> None:
    cube = np.random.default_rng(2).integers(-32767, 32768, SHAPE, dtype=np.int16)
    params, expected, out = scaled(cube, 5, alpha, 0.75, 1.0, 2.0 / (1 << 15), Precision.INT16)
    got = run(params, cube, SHAPE[0])
    assert np.abs(got * out - expected).max() < np.abs(expected).max() / 4000


@pytest.mark.parametrize("size", [3, 9])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize(("beta", "bias"), [(0.75, 1.0), (0.5, 2.0), (1.0, 0.1)])
@pytest.mark.parametrize(("part", "most"), [(0.9, 0.004), (300.0, 0.13)], ids=["fine table", "coarse table"])
def test_fp16_errs_by_a_part_of_the_result(
    size: int, alpha: float, beta: float, bias: float, part: float, most: float
) -> None:
    """Sums are spread evenly over magnitudes, up to 0.9 or 300 times the end of the fine table."""
    largest = min(np.sqrt(part * 16 * bias / alpha), 1000) if alpha else 1000
    draw = np.random.default_rng(size)
    cube = (draw.choice([-1, 1], SHAPE) * largest * 2.0 ** -draw.uniform(0, 6, SHAPE[1:])).astype(np.float16)
    expected = computed(cube.astype(np.float64), size, alpha, beta, bias)
    params = normalisation(Precision.FP16, SHAPE[0], size, alpha=alpha, beta=beta, bias=bias)
    got = run(params, cube.view(np.uint16), SHAPE[0]).view(np.float16).astype(np.float64)
    assert np.abs(got / expected - 1).max() < most


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"size": 4}, "size must be 3, 5, 7 or 9, which CDP has, not 4"),
        ({"bias": 0.0}, "bias must be above 0, not 0.0"),
        ({"alpha": -1.0}, "alpha must be at least 0, not -1.0"),
        ({"src_scale": 0.5}, "src_scale and dst_scale must be 1 for FP16, not 0.5 and 1.0"),
    ],
)
def test_what_cdp_does_not_have_is_refused(keys: dict[str, Any], message: str) -> None:
    known = {"size": 5, "alpha": 1.0, "beta": 0.75, "bias": 1.0}
    with pytest.raises(InputError) as caught:
        normalisation(Precision.FP16, 8, **(known | keys))
    assert str(caught.value) == message
