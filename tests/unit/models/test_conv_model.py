"""The integer convolution model against a literal oracle, at hand-computed boundaries, and its refusals."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.conv import ConvParams, accumulate, run, truncate
from nvdla_models.precision import Precision
from tests.unit.models import oracles_conv
from tests.unit.models.support import refused

INTEGERS = (Precision.INT8, Precision.INT16)


def params(**changes: Any) -> ConvParams:
    """Return a plain convolution of INT8, but for ``changes``."""
    values: dict[str, Any] = {
        "stride_x": 1,
        "stride_y": 1,
        "dilation_x": 1,
        "dilation_y": 1,
        "pad_left": 0,
        "pad_right": 0,
        "pad_top": 0,
        "pad_bottom": 0,
        "pad_value": 0,
        "truncate": 0,
        "precision": Precision.INT8,
    }
    return ConvParams(**(values | changes))


def random_axis(rng: np.random.Generator) -> tuple[int, int, int, int, int, int]:
    """Draw size, kernel, stride, dilation and paddings of one axis that end exactly."""
    while True:
        kernel, stride = int(rng.integers(1, 5)), int(rng.choice([1, 1, 2, 3, 5, 8]))
        dilation = int(rng.choice([1, 1, 2, 3]))
        dilated = (kernel - 1) * dilation + 1
        before, after = (int(n) for n in rng.integers(0, dilated, size=2))
        size = int(rng.integers(1, 5) - 1) * stride + dilated - before - after
        if size >= 1:
            return size, kernel, stride, dilation, before, after


def random_axes(rng: np.random.Generator) -> tuple[tuple[int, int], tuple[int, int], dict[str, int]]:
    """Draw (H, W) of a cube, (R, S) of kernels, and strides, dilations and paddings."""
    height, kernel_height, stride_y, dilation_y, top, bottom = random_axis(rng)
    width, kernel_width, stride_x, dilation_x, left, right = random_axis(rng)
    changes = {"stride_x": stride_x, "stride_y": stride_y, "dilation_x": dilation_x, "dilation_y": dilation_y}
    changes |= {"pad_left": left, "pad_right": right, "pad_top": top, "pad_bottom": bottom}
    return (height, width), (kernel_height, kernel_width), changes


def random_values(rng: np.random.Generator, precision: Precision, shape: tuple[int, ...]) -> NDArray[Any]:
    """Draw the whole range, or the ends of it alone."""
    low, high = precision.limits
    if rng.random() < 0.3:
        return rng.choice([low, high], shape).astype(precision.dtype)
    return rng.integers(low, high + 1, shape).astype(precision.dtype)


@pytest.mark.parametrize("precision", INTEGERS)
def test_random_layers_agree_with_literal_loops(precision: Precision) -> None:
    rng = np.random.default_rng(int(precision.bits))
    compared = 0
    for _ in range(500):
        sides, kernel_sides, changes = random_axes(rng)
        channels, kernels = (int(n) for n in rng.integers(1, 5, size=2))
        layer = params(
            pad_value=int(random_values(rng, precision, ())),
            truncate=int(rng.integers(0, 32)) if rng.random() < 0.5 else int(rng.integers(0, 8)),
            precision=precision,
            **changes,
        )
        cube = random_values(rng, precision, (channels, *sides))
        weights = random_values(rng, precision, (kernels, channels, *kernel_sides))
        result = accumulate(layer, cube, weights)
        k = int(rng.integers(kernels))
        rows = [
            [
                oracles_conv.element(layer, cube.tolist(), weights[k].tolist(), y, x)
                for x in range(layer.output_width(sides[1], kernel_sides[1]))
            ]
            for y in range(layer.output_height(sides[0], kernel_sides[0]))
        ]
        output = np.array([[value for value, _ in row] for row in rows], np.int32)
        saturated = np.array([[flag for _, flag in row] for row in rows])
        np.testing.assert_array_equal(result.output[k], output, strict=True)
        np.testing.assert_array_equal(result.saturated[k], saturated, strict=True)
        assert result.output.shape == (kernels, *output.shape)
        compared += output.size
    assert compared > 1500


@pytest.mark.parametrize("precision", INTEGERS)
@pytest.mark.parametrize("bits", [31, 32, 33, 34, 47])
def test_truncation_agrees_with_the_barrel_shifter_near_every_power_of_two(precision: Precision, bits: int) -> None:
    if bits >= oracles_conv.WIDTHS[precision]:
        bits = oracles_conv.WIDTHS[precision] - 1
    for shift in range(32):
        steps = {1 << n for n in (0, max(shift - 1, 0), shift, max(shift - 17, 0), bits)}
        near = [sign * (a + b) + d for sign in (-1, 1) for a in steps for b in (0, *steps) for d in (-1, 0, 1)]
        sums = [oracles_conv.clip(value, bits + 1) for value in near]
        output, flags = truncate(np.array(sums, np.int64), shift)
        expected = [oracles_conv.truncate(value, shift) for value in sums]
        assert output.tolist() == [value for value, _ in expected]
        assert flags.tolist() == [flag for _, flag in expected]


@pytest.mark.parametrize(
    ("total", "shift", "expected"),
    [
        (3, 1, 2),
        (-3, 1, -2),
        (1, 2, 0),
        (-1, 2, 0),
        (-2, 2, -1),
        (-65535, 17, -1),  # 0.49999 away from zero, but the last bit is cut off before rounding
        (65535, 17, 0),
        (-65536, 17, -1),
        ((1 << 31) - 1, 0, (1 << 31) - 1),
    ],
)
def test_truncation_rounds_half_away_from_zero_with_16_bits_below_the_result(
    total: int, shift: int, expected: int
) -> None:
    output, flags = truncate(np.array([total]), shift)
    assert (output.dtype, output.tolist(), flags.tolist()) == (np.int32, [expected], [False])


@pytest.mark.parametrize(
    ("total", "shift", "expected", "flag"),
    [
        (1 << 31, 0, (1 << 31) - 1, True),
        (-(1 << 31) - 1, 0, -(1 << 31), True),
        (-(1 << 31), 0, -(1 << 31), False),
        ((1 << 32) - 1, 1, (1 << 31) - 1, True),  # only rounding makes it too large
        (-(1 << 32) - 1, 1, -(1 << 31), True),
        (-(1 << 33) - 1, 2, -(1 << 31), True),  # rounding would have made it fit
    ],
)
def test_results_that_do_not_fit_32_bits_saturate_and_are_flagged(
    total: int, shift: int, expected: int, flag: bool
) -> None:
    output, flags = truncate(np.array([total]), shift)
    assert (output.tolist(), flags.tolist()) == ([expected], [flag])


def test_the_largest_int8_kernel_is_exact_beyond_the_24_bits_of_a_float() -> None:
    cube = np.full((8192, 4, 8), -128, np.int8)
    weights = np.full((2, 8192, 4, 8), -128, np.int8)
    weights[0, 0, 0, 0] = -127
    result = accumulate(params(truncate=1), cube, weights)
    assert result.output.tolist() == [[[(1 << 31) - 64]], [[(1 << 31) - 1]]]
    assert result.saturated.tolist() == [[[False]], [[True]]]
    assert run(params(truncate=2), cube, weights).tolist() == [[[(1 << 30) - 32]], [[1 << 30]]]


def test_the_largest_int16_kernel_reaches_the_48_bits_of_the_accumulator() -> None:
    cube = np.full((8192, 4, 4), -32768, np.int16)
    weights = np.full((2, 8192, 4, 4), -32768, np.int16)
    weights[0] = 32767
    layer = params(truncate=17, precision=Precision.INT16)
    assert run(layer, cube, weights).tolist() == [[[-(1 << 30) + (1 << 15)]], [[1 << 30]]]


def test_int16_sums_keep_every_bit() -> None:
    rng = np.random.default_rng(7)
    cube = rng.integers(-32768, 32768, (700, 3, 3)).astype(np.int16)
    weights = rng.integers(-32768, 32768, (3, 700, 3, 3)).astype(np.int16)
    exact = [sum(int(a) * int(b) for a, b in zip(cube.ravel(), kernel.ravel(), strict=True)) for kernel in weights]
    result = run(params(truncate=12, precision=Precision.INT16), cube, weights)
    assert result.ravel().tolist() == [oracles_conv.truncate(total, 12)[0] for total in exact]


def test_a_window_of_more_than_1024_pixels_is_exact() -> None:
    cube = np.full((1, 32, 40), -128, np.int8)
    weights = np.full((1, 1, 32, 40), -128, np.int8)
    weights[0, 0, 0, 0] = -127
    assert run(params(), cube, weights).tolist() == [[[1280 * 16384 - 128]]]


def test_blocks_of_lines_and_kernels_fit_together() -> None:
    rng = np.random.default_rng(3)
    cube = rng.integers(-128, 128, (5, 70, 90)).astype(np.int8)
    weights = rng.integers(-128, 128, (1100, 5, 3, 3)).astype(np.int8)
    layer = params(stride_y=2, pad_bottom=1, pad_value=-5)
    result = run(layer, cube, weights)
    padded = np.pad(cube.astype(np.int64), ((0, 0), (0, 1), (0, 0)), constant_values=-5)
    assert result.shape == (1100, 35, 88)
    for k, y, x in rng.integers(0, result.shape, (300, 3)).tolist():
        window = padded[:, 2 * y : 2 * y + 3, x : x + 3]
        assert result[k, y, x] == (window * weights[k]).sum()


@pytest.mark.slow
def test_memory_stays_far_below_the_columns_of_the_whole_layer() -> None:
    cube = np.ones((64, 128, 128), np.int8)
    weights = np.ones((16, 64, 9, 9), np.int8)
    layer = params(pad_left=4, pad_right=4, pad_top=4, pad_bottom=4)
    whole = 64 * 81 * 128 * 128 * 4
    tracemalloc.start()
    try:
        result = run(layer, cube, weights)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result[0, 64, 64] == 64 * 81
    assert peak < 64 << 20 < whole // 4


@pytest.mark.parametrize(
    ("name", "value", "low", "high"),
    [
        ("stride_x", 0, 1, 8),
        ("stride_y", 9, 1, 8),
        ("dilation_x", 33, 1, 32),
        ("dilation_y", 0, 1, 32),
        ("pad_left", 32, 0, 31),
        ("pad_right", 64, 0, 63),
        ("pad_top", -1, 0, 31),
        ("pad_bottom", 64, 0, 63),
        ("pad_value", 128, -128, 127),
        ("truncate", 32, 0, 31),
    ],
)
def test_a_value_that_does_not_fit_its_register_is_refused(name: str, value: int, low: int, high: int) -> None:
    with refused(f"{name} must be an integer from {low} to {high}, not {value}"):
        params(**{name: value})


def test_what_is_left_over_behind_the_last_window_is_not_read() -> None:
    cube = np.arange(9, dtype=np.int8).reshape(1, 1, 9)
    weights = np.ones((1, 1, 1, 3), np.int8)
    assert run(params(stride_x=4), cube, weights).tolist() == [[[3, 15]]]
    assert run(params(stride_x=4, pad_left=1, pad_value=100), cube, weights).tolist() == [[[101, 12]]]


CUBE, WEIGHTS = np.zeros((2, 5, 6), np.int8), np.zeros((3, 2, 2, 3), np.int8)
REFUSALS: dict[str, tuple[dict[str, Any], NDArray[Any], NDArray[Any], str]] = {
    "padding": ({"pad_left": 3}, CUBE, WEIGHTS, "pad_left must be less than the dilated kernel's width of 3, not 3"),
    "dilated padding": (
        {"pad_bottom": 5, "dilation_y": 4},
        CUBE,
        WEIGHTS,
        "pad_bottom must be less than the dilated kernel's height of 5, not 5",
    ),
    "too small": (
        {"dilation_x": 4},
        CUBE,
        WEIGHTS,
        "width with padding must be at least the dilated kernel's 9, not 6",
    ),
    "cube type": ({}, CUBE.astype(np.int16), WEIGHTS, "cube must be int8, not int16"),
    "weight type": ({}, CUBE, WEIGHTS.astype(np.int16), "weights must be int8, not int16"),
    "cube axes": ({}, CUBE[0], WEIGHTS, "cube must have the axes (C, H, W), not 2 axes"),
    "weight axes": ({}, CUBE, WEIGHTS[0], "weights must have the axes (K, C, R, S), not 3 axes"),
    "no pixel": ({}, CUBE[:, :0], WEIGHTS, "cube must not be empty, not of shape (2, 0, 6)"),
    "no kernel": ({}, CUBE, WEIGHTS[:0], "weights must not be empty, not of shape (0, 2, 2, 3)"),
    "channels": ({}, CUBE, WEIGHTS[:, :1], "weights must have the 2 channels of the cube, not 1"),
    "kernel": (
        {},
        np.zeros((257, 32, 32), np.int8),
        np.zeros((1, 257, 32, 32), np.int8),
        "bytes of one kernel must be at most 262144, not 263168",
    ),
}


@pytest.mark.parametrize(("changes", "cube", "weights", "message"), REFUSALS.values(), ids=REFUSALS)
def test_run_refuses(changes: dict[str, Any], cube: NDArray[Any], weights: NDArray[Any], message: str) -> None:
    with refused(message):
        run(params(**changes), cube, weights)
