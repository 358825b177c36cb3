"""Allowances against literal loops, special values, every refusal."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvdla_models.fp16 import FP16
from nvdla_models.tolerance import Module, Tolerance, bit_identical, exponent
from nvdla_models.tolerance.cdp import cdp, channel_window_maximum
from nvdla_models.tolerance.conv import Window, direct, max_exponent, window_sum, winograd
from nvdla_models.tolerance.pool import (
    cancelling_infinities,
    padding_maximum,
    pdp,
    planar_window_maximum,
)
from tests.unit.models.precision.compared import compare
from tests.unit.models.support import refused

Bits = npt.NDArray[np.uint16]


def fp16(*values: float) -> Bits:
    return np.array(values, dtype=np.float16).view(np.uint16)


def random_bits(rng: np.random.Generator, shape: tuple[int, ...], zeros: float = 0.3) -> Bits:
    """All patterns but NaN, with many zeros of both signs and denormals."""
    bits = rng.integers(0, 0x7C01, shape) | (rng.integers(0, 2, shape) << 15)
    bits = np.where(rng.random(shape) < zeros, bits & 0x8000, bits)
    return np.where(rng.random(shape) < 0.1, bits & 0x83FF, bits).astype(np.uint16)


def literal_max_exponent(data: Bits, weight: Bits, window: Window, k: int, y: int, x: int) -> int:
    """Walk over one window, element by element."""
    largest = -1000
    _, channels, rows, columns = weight.shape
    for c in range(channels):
        for r in range(rows):
            for s in range(columns):
                h = y * window.stride_y + r * window.dilation_y - window.pad_top
                w = x * window.stride_x + s * window.dilation_x - window.pad_left
                inside = 0 <= h < data.shape[1] and 0 <= w < data.shape[2]
                d = int(data[c, h, w]) if inside else 0
                e = int(weight[k, c, r, s])
                d_field, e_field = d >> 10 & 0x1F, e >> 10 & 0x1F
                if d & 0x7FFF and e & 0x7FFF:
                    largest = max(largest, 4 * (d_field >> 2) + 4 * (e_field >> 2) - 30)
    return largest


@given(
    seed=st.integers(0, 2**32),
    shape=st.tuples(st.integers(1, 5), st.integers(5, 7), st.integers(5, 7)),
    kernel=st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 2)),
    window=st.builds(
        Window,
        st.integers(1, 3),
        st.integers(1, 3),
        st.integers(1, 2),
        st.integers(1, 2),
        *[st.integers(0, 2)] * 4,
    ),
)
def test_the_sliding_maximum_exponent_agrees_with_the_literal_loop(
    seed: int, shape: tuple[int, int, int], kernel: tuple[int, int, int], window: Window
) -> None:
    rng = np.random.default_rng(seed)
    kernels, rows, columns = kernel
    data = random_bits(rng, shape)
    weight = random_bits(rng, (kernels, shape[0], rows, min(columns, 2)))
    result = max_exponent(data, weight, window)
    for k, y, x in np.ndindex(*result.shape):
        assert result[k, y, x] == literal_max_exponent(data, weight, window, k, y, x)


def literal_window_sum(data: npt.NDArray[np.float64], weight: npt.NDArray[np.float64], window: Window) -> list[float]:
    sums = []
    kernels, channels, rows, columns = weight.shape
    padding = ((0, 0), (window.pad_top, window.pad_bottom), (window.pad_left, window.pad_right))
    padded = np.pad(data, padding)
    y_last = padded.shape[1] - (rows - 1) * window.dilation_y
    x_last = padded.shape[2] - (columns - 1) * window.dilation_x
    for k in range(kernels):
        for y in range(0, y_last, window.stride_y):
            for x in range(0, x_last, window.stride_x):
                total = 0.0
                for c in range(channels):
                    for r in range(rows):
                        for s in range(columns):
                            at = padded[c, y + r * window.dilation_y, x + s * window.dilation_x]
                            total += at * weight[k, c, r, s]
                sums.append(total)
    return sums


def test_the_window_sum_is_the_convolution() -> None:
    rng = np.random.default_rng(5)
    data, weight = rng.integers(-9, 9, (3, 7, 8)).astype(float), rng.integers(-9, 9, (2, 3, 3, 2)).astype(float)
    for window in (Window(), Window(2, 3, 1, 1, 1, 0, 2, 1), Window(1, 2, 3, 2, 0, 2, 1, 0)):
        assert window_sum(data, weight, window).ravel().tolist() == literal_window_sum(data, weight, window)


@pytest.mark.parametrize(
    ("data", "weight", "largest"),
    [
        (1.0, 1.0, -6),  # biased exponents 15 and 15: 4*3 + 4*3 - 30
        (2.0, 1.0, -2),  # 16 and 15: the hardware's groups of four begin at 16
        (2.0, 2.0, 2),
        (8.0, 8.0, 2),  # 18 and 18: both in the group of 16
        (16.0, 16.0, 2),
        (2.0**-24, 1.0, -18),  # a denormal has field 0
        (65504.0, 65504.0, 26),
        (math.inf, math.inf, 26),
        (0.0, 1.0, -1000),
        (-0.0, 1.0, -1000),
    ],
)
def test_exponents_of_single_products(data: float, weight: float, largest: int) -> None:
    cube, kernel = fp16(data).reshape(1, 1, 1), fp16(weight).reshape(1, 1, 1, 1)
    assert max_exponent(cube, kernel, Window()).item() == largest


def test_a_large_product_hidden_among_many_small_ones_is_found() -> None:
    cube = np.full((4096, 3, 3), 0x0001, dtype=np.uint16)
    kernel = np.full((1, 4096, 3, 3), 0x0001, dtype=np.uint16)
    assert max_exponent(cube, kernel, Window()).item() == -30
    cube[77, 1, 2], kernel[0, 77, 1, 2] = fp16(16.0)[0], fp16(1.0)[0]
    assert max_exponent(cube, kernel, Window()).item() == 4 * (19 >> 2) + 4 * (15 >> 2) - 30


def test_exp_is_the_exponent_field_minus_15() -> None:
    assert exponent(fp16(0.0, 1.0, -2.0, 65504.0, 2.0**-24, math.inf)).tolist() == [-15, 0, 1, 15, -15, 16]


def test_the_dc_allowance_by_hand() -> None:
    cube, kernel = fp16(1.0, 1.0, 1.0, 1.0).reshape(2, 1, 2), fp16(2.0, 2.0, 2.0, 2.0).reshape(1, 2, 1, 2)
    expected = np.array([[[8.0]]])
    # max_exp -2, R*S*C = 4, scale 3: 2**-22 * 4 * 2 * 3 + 2**(3 - 10).
    tolerance = direct(cube, kernel, Window(), expected, scale=3.0)
    assert tolerance.allowance is not None
    assert tolerance.allowance.item() == 2.0**-22 * 24 + 2.0**-7


def test_the_winograd_allowance_by_hand() -> None:
    data, weight = np.zeros((1, 1, 1, 4, 4), np.uint16), np.zeros((1, 1, 4, 4), np.uint16)
    data[0, 0, 0, 3, 2], weight[0, 0, 3, 2] = fp16(1.0)[0], fp16(2.0)[0]
    expected = np.array([[[1.0, 0.0], [4.0, 70000.0]]])
    tolerance = winograd(data, weight, expected)
    assert tolerance.allowance is not None
    base = 2.0**-22 * 36
    assert tolerance.allowance.tolist() == [[[base + 2.0**-10, base + 2.0**-25], [base + 2.0**-8, base + 2.0**5]]]


def test_a_window_without_products_leaves_one_step_of_the_reference() -> None:
    tolerance = direct(np.zeros((1, 1, 1), np.uint16), fp16(1.0).reshape(1, 1, 1, 1), Window(), np.zeros((1, 1, 1)))
    assert tolerance.allowance is not None
    assert tolerance.allowance.item() == pytest.approx(2.0**-25)


@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(1, 4), st.integers(1, 3), st.integers(1, 3))
def test_the_pooling_window_maximum_agrees_with_the_literal_loop(
    seed: int, kernel_height: int, kernel_width: int, stride_y: int, stride_x: int
) -> None:
    rng = np.random.default_rng(seed)
    cube = FP16.decode(random_bits(rng, (2, 6, 7)))
    window = Window(stride_x, stride_y, pad_left=1, pad_top=1)
    result = planar_window_maximum(cube, kernel_height, kernel_width, window)
    for c, y, x in np.ndindex(*result.shape):
        largest = 0.0
        for r in range(kernel_height):
            for s in range(kernel_width):
                h, w = y * stride_y + r - 1, x * stride_x + s - 1
                if 0 <= h < 6 and 0 <= w < 7:
                    largest = max(largest, min(abs(float(cube[c, h, w])), 65504.0))
        assert result[c, y, x] == largest


@pytest.mark.parametrize("size", [1, 3, 5, 7, 9])
def test_the_channel_window_maximum_agrees_with_the_literal_loop(size: int) -> None:
    cube = FP16.decode(random_bits(np.random.default_rng(size), (11, 2, 3)))
    cube[4, 0, 0] = math.nan
    result = channel_window_maximum(cube, size)
    for c, h, w in np.ndindex(*cube.shape):
        values = [cube[k, h, w] for k in range(max(0, c - size // 2), min(11, c + size // 2 + 1))]
        assert result[c, h, w] == max((min(abs(v), 65504.0) for v in values if not math.isnan(v)), default=0.0)


def test_infinity_counts_as_65504_in_a_window_maximum() -> None:
    cube = np.array([[[math.inf, 1.0]], [[-math.inf, 4292870144.0]], [[math.nan, 2.0]]])
    assert planar_window_maximum(cube, 1, 1, Window()).tolist() == [
        [[65504.0, 1.0]],
        [[65504.0, 65504.0]],
        [[0.0, 2.0]],
    ]
    assert channel_window_maximum(cube, 1).tolist() == [[[65504.0, 1.0]], [[65504.0, 65504.0]], [[0.0, 2.0]]]


def test_only_infinities_of_both_signs_in_a_window_cancel() -> None:
    cube = np.array([[[np.inf, 1.0, -np.inf, -np.inf, np.nan]]])
    assert cancelling_infinities(cube, 1, 3, Window()).tolist() == [[[True, False, False]]]
    assert cancelling_infinities(cube, 1, 2, Window(stride_x=2, pad_right=1)).tolist() == [[[False, False, False]]]


def test_an_element_of_the_padding_counts_by_its_part_of_the_table_s_entry() -> None:
    entries = np.array([2.0, -6.0, 3.0, np.inf, 0.0, 0.0, 0.0])
    largest = padding_maximum(entries, np.array([0, 1, 3]), np.array([2, 0, 4]))
    assert largest.tolist() == [[3.0, 3.0, 3.0], [0.0, 2.0, 1.0], [16376.0, 16376.0, 16376.0]]


@pytest.mark.parametrize(("max_value", "allowance"), [(0.01, 1e-4), (0.1, 1e-4), (10.0, 1e-2), (0.0, 1e-4)])
def test_an_absolute_or_a_relative_error_is_allowed(max_value: float, allowance: float) -> None:
    largest = np.array([[[max_value]]])
    for tolerance in (pdp(largest), cdp(largest, np.zeros((1, 1, 1)))):
        assert tolerance.allowance is not None
        assert tolerance.allowance.item() == pytest.approx(allowance)


def test_the_cdp_allowance_follows_outputs_larger_than_the_inputs() -> None:
    tolerance = cdp(np.array([[[1.0, 1.0]]]), np.array([[[1000.0, -1e9]]]))
    assert tolerance.allowance is not None
    assert tolerance.allowance.tolist() == [[[1000 * 2.0**-9, 65504 * 2.0**-9]]]


def plain(allowance: list[float]) -> Tolerance:
    return Tolerance(Module.DC, "rule", np.array(allowance).reshape(1, 1, -1))


def judge(expected: list[float], actual: Bits, allowance: list[float]) -> tuple[int, float]:
    verdict = compare(np.array(expected).reshape(1, 1, -1), actual.reshape(1, 1, -1), plain(allowance))
    return verdict.failed, verdict.worst


@pytest.mark.parametrize(
    ("expected", "actual", "result"),
    [
        (1.0, 1.0, (0, 0.0)),
        (1.0, 1.5, (0, 1.0)),
        (1.0, 1.501, (1, 1.001953125)),
        (0.0, -0.0, (0, 0.0)),
        (math.nan, math.nan, (0, 0.0)),
        (math.nan, 1.0, (1, math.inf)),
        (1.0, math.nan, (1, math.inf)),
        (65504.0, math.inf, (1, math.inf)),
        (math.inf, math.inf, (1, math.inf)),
        (math.inf, 65504.0, (0, 0.0)),
        (-math.inf, -65504.0, (0, 0.0)),
        (-math.inf, 65504.0, (1, math.inf)),
        (70000.0, 65504.0, (0, 0.0)),
        (70000.0, 65472.0, (1, 9056.0)),
        (65504.25, 65504.0, (0, 0.0)),
        (65503.75, 65504.0, (0, 0.5)),
    ],
)
def test_nan_infinity_and_saturation_are_compared_by_rule(
    expected: float, actual: float, result: tuple[int, float]
) -> None:
    assert judge([expected], fp16(actual), [0.5]) == result


def test_nan_of_any_payload_and_sign_agrees_with_nan() -> None:
    assert judge([math.nan] * 3, np.array([0x7C01, 0xFFFF, 0xFE00], dtype=np.uint16), [0.0] * 3) == (0, 0.0)


def test_no_difference_is_accepted_without_an_allowance() -> None:
    assert judge([1.0, 2.0], fp16(1.0, 2.0), [0.0, 0.0]) == (0, 0.0)
    assert judge([1.0, 2.0], np.array([0x3C00, 0x4001], np.uint16), [0.0, 0.0]) == (1, math.inf)


def test_bit_identical_accepts_only_equal_patterns_and_nan_for_nan() -> None:
    expected = np.array([0x3C00, 0x8000, 0x7C01, 0x7C00, 0x7BFF], dtype=np.uint16)
    assert compare(expected, expected, bit_identical(Module.SDP)).passed
    assert compare(expected, expected ^ np.array([0, 0, 2, 0, 0], np.uint16), bit_identical(Module.SDP)).passed
    for place in (0, 1, 3, 4):
        altered = expected.copy()
        altered[place] ^= 0x8000
        verdict = compare(expected, altered, bit_identical(Module.SDP))
        assert (verdict.failed, verdict.first_failed_at) == (1, (place,))


def refusals() -> list[tuple[str, Callable[[], object]]]:
    one, bits = np.zeros((1, 1, 1)), np.zeros((1, 1, 1), np.uint16)
    kernel = np.zeros((1, 1, 1, 1), np.uint16)
    return [
        (
            "weight must have the 2 channels of data, not 1",
            lambda: max_exponent(np.zeros((2, 1, 1), np.uint16), kernel, Window()),
        ),
        (
            "data with padding must be at least 1 x 2, not (1, 1)",
            lambda: max_exponent(bits, np.zeros((1, 1, 1, 2), np.uint16), Window()),
        ),
        (
            "expected must have the shape (1, 1, 1) of the output, not (1, 1, 2)",
            lambda: direct(bits, kernel, Window(), np.zeros((1, 1, 2))),
        ),
        ("expected must have the shape (1, 1, 1) of max_value, not (1, 1, 2)", lambda: cdp(one, np.zeros((1, 1, 2)))),
        ("local_size must be 1, 3, 5, 7 or 9, not 4", lambda: channel_window_maximum(one, 4)),
        ("kernel_width must be an integer from 1 to 8, not 9", lambda: planar_window_maximum(one, 1, 9, Window())),
        ("stride_x must be an integer from 1 to 32, not 0", lambda: Window(stride_x=0)),
        ("pad_top must be an integer from 0 to 63, not -1", lambda: Window(pad_top=-1)),
    ]


@pytest.mark.parametrize(("message", "act"), refusals())
def test_wrong_arguments_are_refused_with_their_rule(message: str, act: Callable[[], object]) -> None:
    with refused(message):
        act()
