"""Winograd convolution against literal tiles, against plain convolution, and its refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nvdla_models.conv import AtomOrder, ConvParams, accumulate, run, run_exact, run_float64
from nvdla_models.fp16 import FP16, FP32
from nvdla_models.layout.winograd import G_MATRIX
from nvdla_models.precision import Precision
from nvdla_models.tolerance import Module
from tests.unit.models import oracles_winograd as oracle
from tests.unit.models.support import refused
from tests.unit.models.test_conv_fp16 import part_of_threshold, patterns
from tests.unit.models.test_conv_model import params, random_values

INTEGERS = (Precision.INT8, Precision.INT16)


def winograd(precision: Precision, **changes: Any) -> ConvParams:
    """Return a convolution that keeps the size of its input."""
    values = {"pad_left": 1, "pad_top": 1, "pad_right": 3, "pad_bottom": 3, "winograd": True}
    return params(precision=precision, **(values | changes))


def sizes(rng: np.random.Generator) -> tuple[tuple[int, int, int], int, dict[str, int]]:
    """Draw (C, H, W), the kernels and the paddings."""
    left, top, right, bottom = (int(n) for n in rng.integers(0, 4, 4))
    height, width = (int(n) for n in rng.choice([12, 16], 2))
    pads = {"pad_left": left, "pad_top": top, "pad_right": right, "pad_bottom": bottom}
    shape = (int(rng.choice([1, 3, 4, 6, 9])), height - top - bottom, width - left - right)
    return shape, int(rng.integers(1, 4)), pads


@pytest.mark.parametrize("precision", INTEGERS)
def test_hundreds_of_random_integer_tiles_agree_with_literal_transforms(precision: Precision) -> None:
    rng = np.random.default_rng(precision.bits)
    for _ in range(400):
        shape, kernels, pads = sizes(rng)
        layer = winograd(
            precision,
            pad_value=int(random_values(rng, precision, ())),
            truncate=int(rng.integers(0, 20)),
            pre_truncate=int(rng.integers(0, 4)),
            **pads,
        )
        cube, weights = random_values(rng, precision, shape), random_values(rng, precision, (kernels, shape[0], 4, 4))
        result = accumulate(layer, cube, weights)
        k, y, x = int(rng.integers(kernels)), *(int(rng.integers(end // 2)) for end in result.output.shape[1:])
        tile = oracle.integer_tile(layer, cube.tolist(), weights[k].tolist(), y, x)
        window = (k, slice(2 * y, 2 * y + 2), slice(2 * x, 2 * x + 2))
        assert result.output[window].tolist() == [[value for value, _ in row] for row in tile]
        assert result.saturated[window].tolist() == [[flag for _, flag in row] for row in tile]


@pytest.mark.slow
def test_a_hundred_random_fp16_tiles_agree_with_literal_transforms() -> None:
    rng = np.random.default_rng(17)
    for _ in range(100):
        shape, kernels, pads = sizes(rng)
        layer = winograd(Precision.FP16, pad_value=int(patterns(rng, (), special=False)), **pads)
        cube, weights = patterns(rng, shape, special=False), patterns(rng, (kernels, shape[0], 4, 4))
        if rng.random() < 0.2:
            cube.flat[rng.integers(cube.size)] = 0xFC00
        result = run_exact(layer, cube, weights, AtomOrder(64))
        k, y, x = int(rng.integers(kernels)), *(int(rng.integers(end // 2)) for end in result.shape[1:])
        tile = oracle.fp16_tile(layer, cube.tolist(), weights[k].tolist(), y, x)
        assert result[k, 2 * y : 2 * y + 2, 2 * x : 2 * x + 2].tolist() == tile


def test_integers_that_transform_exactly_give_the_plain_convolution() -> None:
    rng = np.random.default_rng(4)
    cube = rng.integers(-100, 101, (5, 8, 12)).astype(np.int16)
    kernels = rng.integers(-50, 51, (3, 5, 3, 3)) * 4
    weights = (G_MATRIX @ kernels @ G_MATRIX.T).astype(np.int16)
    plain = params(precision=Precision.INT16, pad_left=1, pad_right=1, pad_top=1, pad_bottom=1)
    np.testing.assert_array_equal(
        run(winograd(Precision.INT16), cube, weights), run(plain, cube, kernels.astype(np.int16)), strict=True
    )


@pytest.mark.slow
def test_every_exact_output_is_inside_the_winograd_threshold() -> None:
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(60):
        shape, kernels, pads = sizes(rng)
        layer = winograd(Precision.FP16, **pads)
        cube, weights = patterns(rng, shape), patterns(rng, (kernels, shape[0], 4, 4), special=False)
        worst = max(worst, part_of_threshold(layer, cube, weights, Module.WINOGRAD))
    assert 0.3 < worst <= 1.0


def test_one_nan_poisons_its_tiles_in_both_references() -> None:
    rng = np.random.default_rng(6)
    cube = patterns(rng, (5, 8, 8), special=False)
    cube[4, 3, 0] = 0x7E01
    weights = patterns(rng, (2, 5, 4, 4), special=False)
    expected = np.zeros((2, 8, 8), np.bool_)
    expected[:, 2:6, 0:2] = True  # tiles of padded lines 2 to 5 and 4 to 7, padded column 1
    layer = winograd(Precision.FP16)
    exact = run_exact(layer, cube, weights, AtomOrder(64))
    np.testing.assert_array_equal(FP32.is_nan(exact), expected)
    np.testing.assert_array_equal(np.isnan(run_float64(layer, cube, weights)), expected)
    flushed = winograd(Precision.FP16, nan_to_zero=True)
    assert not FP32.is_nan(run_exact(flushed, cube, weights, AtomOrder(64))).any()
    assert FP16.is_nan(cube).sum() == 1


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"stride_x": 2}, "stride_x must be 1 for Winograd, not 2"),
        ({"dilation_y": 3}, "dilation_y must be 1 for Winograd, not 3"),
        ({"pre_truncate": 4}, "pre_truncate must be an integer from 0 to 3, not 4"),
    ],
)
def test_what_winograd_cannot_do_is_refused(changes: dict[str, int], message: str) -> None:
    with refused(message):
        winograd(Precision.INT8, **changes)


def test_sizes_that_are_not_made_of_tiles_are_refused() -> None:
    layer = winograd(Precision.INT8)
    cube, weights = np.zeros((1, 8, 9), np.int8), np.zeros((1, 1, 4, 4), np.int8)
    with refused("width with padding must be 4 more than a multiple of 4, and at least 12, not 13"):
        run(layer, cube, weights)
    with refused("height with padding must be 4 more than a multiple of 4, and at least 12, not 8"):
        run(layer, cube[:, :4, :8], weights)
    with refused("weights must be 4 x 4 for Winograd, not 3 x 3"):
        run(layer, cube[:, :, :8], weights[:, :, :3, :3])
