from __future__ import annotations

import numpy as np
import pytest

from dlhdl_models import int8
from dlhdl_models.window import Window
from tests.unit.models.support import refused

IMAGE = np.array([[[1, 2, 3], [4, 5, 6], [7, 8, 9]]], dtype=np.int8)


def of(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int8)


def bias(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def test_a_convolution_of_two_by_two_ones_sums_its_window() -> None:
    got = int8.convolution(IMAGE, np.ones((1, 1, 2, 2), dtype=np.int8), bias(0), Window(2, 2), 0)
    np.testing.assert_array_equal(got, np.array([[[12, 16], [24, 28]]], dtype=np.int8), strict=True)


def test_a_convolution_does_not_turn_its_kernel() -> None:
    kernel = np.array([[[[1, 0], [0, -1]]]], dtype=np.int8)
    got = int8.convolution(IMAGE, kernel, bias(10), Window(2, 2), 0)
    np.testing.assert_array_equal(got, np.full((1, 2, 2), 10 - 4, dtype=np.int8), strict=True)


def test_padding_is_zero_on_the_sides_that_have_it() -> None:
    kernel = np.ones((1, 1, 1, 2), dtype=np.int8)
    got = int8.convolution(IMAGE[:, :1], kernel, bias(0), Window(2, 1, stride_x=2, left=1), 0)
    np.testing.assert_array_equal(got, np.array([[[1, 5]]], dtype=np.int8), strict=True)
    got = int8.convolution(IMAGE[:, :1], kernel, bias(0), Window(2, 1, right=1), 0)
    np.testing.assert_array_equal(got, np.array([[[3, 5, 3]]], dtype=np.int8), strict=True)


def test_strides_skip_rows_and_pixels_on_their_own() -> None:
    kernel = np.ones((1, 1, 1, 1), dtype=np.int8)
    got = int8.convolution(IMAGE, kernel, bias(0), Window(1, 1, stride_x=2), 0)
    np.testing.assert_array_equal(got[0], IMAGE[0, :, ::2], strict=True)
    got = int8.convolution(IMAGE, kernel, bias(0), Window(1, 1, stride_y=2), 0)
    np.testing.assert_array_equal(got[0], IMAGE[0, ::2], strict=True)


def test_a_convolution_is_that_of_a_literal_loop() -> None:
    rng = np.random.default_rng(1)
    source = rng.integers(-128, 128, (3, 5, 6), dtype=np.int8)
    weights = rng.integers(-128, 128, (4, 3, 3, 2), dtype=np.int8)
    biases = rng.integers(-1000, 1000, 4, dtype=np.int32)
    window = Window(2, 3, 2, 1, 1, 2, 0, 1)
    got = int8.convolution(source, weights, biases, window, 7)
    for k, y, x in np.ndindex(got.shape):
        total = int(biases[k])
        for z, r, s in np.ndindex(weights.shape[1:]):
            row, pixel = y - 2 + r, 2 * x - 1 + s
            if 0 <= row < 5 and 0 <= pixel < 6:
                total += int(source[z, row, pixel]) * int(weights[k, z, r, s])
        assert got[k, y, x] == max(-128, min(127, (total + 64) >> 7))
    assert got.shape == (4, 6, 3)


@pytest.mark.parametrize(
    ("value", "shift", "expected"),
    [
        (3, 1, 2),
        (-3, 1, -1),
        (1, 1, 1),
        (-1, 1, 0),
        (5, 2, 1),
        (6, 2, 2),
        (300, 0, 127),
        (-300, 0, -128),
        (3, -2, 12),
        (100, -1, 127),
        (-1, -31, -128),
        (-(1 << 31), -31, -128),
        ((1 << 31) - 1, 47, 0),
        (-(1 << 31), 100, 0),
        (1, -100, 127),
        ((1 << 31) - 1, 24, 127),
        (1 << 30, 24, 64),
    ],
)
def test_requantisation_rounds_halves_up_and_limits(value: int, shift: int, expected: int) -> None:
    assert int8.requantise(np.array([value], dtype=np.int64), shift).tolist() == [expected]


def test_a_sum_wraps_in_32_bits() -> None:
    got = int8.fully_connected(of(1), np.array([[1]], dtype=np.int8), bias(2**31 - 1), 24)
    assert got.tolist() == [-128]


def test_a_fully_connected_layer_sums_over_all_values_of_an_image() -> None:
    weights = np.zeros((2, 1, 3, 3), dtype=np.int8)
    weights[0, 0, 0, 0], weights[0, 0, 2, 2], weights[1, 0, 1, 0] = 2, 3, -4
    got = int8.fully_connected(IMAGE, weights, bias(1, 0), 0)
    np.testing.assert_array_equal(got, of(30, -16), strict=True)
    np.testing.assert_array_equal(int8.fully_connected(IMAGE, weights, bias(1, 0), 1), of(15, -8), strict=True)


def test_a_maximum_of_negative_numbers_does_not_see_padding() -> None:
    got = int8.maximum_pooling(-IMAGE, Window(2, 2, 2, 2, 1, 1))
    np.testing.assert_array_equal(got, np.array([[[-1, -2], [-4, -5]]], dtype=np.int8), strict=True)


def test_a_window_in_padding_alone_is_refused() -> None:
    message = "each window of a maximum must have a position in the image, but one lies in padding alone"
    with refused(message):
        int8.maximum_pooling(IMAGE, Window(2, 2, left=2))


@pytest.mark.parametrize(
    ("values", "exponents", "expected"),
    [
        ((1, 2, 2, 2), (0, 0), 2),  # 7/4
        ((1, 2, 2, 1), (0, 0), 2),  # 6/4, a half goes up
        ((-1, -2, -2, -1), (0, 0), -1),
        ((1, 0, 0, 0), (0, 0), 0),
        ((1, 0, 0, 0), (0, -2), 1),
        ((1, 0, 0, 0), (0, -3), 2),
        ((100, 100, 100, 100), (0, 3), 13),  # 12.5
        ((100, 100, 100, 100), (1, 0), 127),
        ((-100, -100, -100, -100), (1, 0), -128),
    ],
)
def test_an_average_rounds_halves_up(values: tuple[int, ...], exponents: tuple[int, int], expected: int) -> None:
    got = int8.average_pooling(of(*values).reshape(1, 2, 2), Window(2, 2), *exponents)
    assert got.tolist() == [[[expected]]]


def test_an_average_counts_padding_as_zero() -> None:
    got = int8.average_pooling(of(8).reshape(1, 1, 1), Window(2, 2, left=1, top=1), 0, 0)
    assert got.tolist() == [[[2]]]


@pytest.mark.parametrize(
    ("first", "second", "exponents", "exponent", "expected"),
    [
        (100, 100, (0, 0), 0, 127),
        (100, 100, (0, 0), 1, 100),
        (1, 1, (0, 1), 0, 3),
        (1, 1, (0, 1), 1, 2),  # 1.5
        (-1, -1, (0, 1), 1, -1),
        (1, 0, (16, 0), 16, 1),
        (1, 1, (-3, -3), -4, 4),
    ],
)
def test_an_addition_aligns_its_sources(
    first: int, second: int, exponents: tuple[int, int], exponent: int, expected: int
) -> None:
    assert int8.addition(of(first), of(second), exponents, exponent).tolist() == [expected]


def test_exponents_too_far_from_each_other_are_refused() -> None:
    message = "difference of exponents must be an integer from -16 to 16, not 17"
    with refused(message):
        int8.addition(of(1), of(1), (17, 0), 0)
    message = "source_exponent less exponent must be an integer from -16 to 16, not -17"
    with refused(message):
        int8.average_pooling(IMAGE, Window(1, 1), -17, 0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: int8.convolution(IMAGE, np.ones((1, 2, 1, 1), dtype=np.int8), bias(0), Window(1, 1), 0),
            "weights must be (K, Z, R, S) = (1, 1, 1, 1), not (1, 2, 1, 1)",
        ),
        (
            lambda: int8.convolution(IMAGE, np.ones((1, 1, 1, 1), dtype=np.int8), bias(0, 0), Window(1, 1), 0),
            "bias must be (K,) = (1,), not (2,)",
        ),
        (
            lambda: int8.convolution(IMAGE[0], np.ones((1, 1, 1, 1), dtype=np.int8), bias(0), Window(1, 1), 0),
            "source must be (Z, Y, X), not (3, 3)",
        ),
        (
            lambda: int8.fully_connected(of(1, 2), np.ones((1, 3), dtype=np.int8), bias(0), 0),
            "weights must be (K, *(2,)), not (1, 3)",
        ),
        (
            lambda: int8.fully_connected(of(1), np.ones((1, 1), dtype=np.int8), of(0), 0),
            "bias must be int32, not int8",
        ),
        (lambda: int8.addition(of(1), of(1, 2), (0, 0), 0), "second must have the shape (1,) of the first, not (2,)"),
        (lambda: int8.maximum_pooling(IMAGE, Window(4, 1)), "width must be an integer from 1 to 3, not 4"),
        (lambda: Window(0, 1), "width must be an integer from 1 to 255, not 0"),
        (lambda: Window(1, 1, bottom=256), "bottom must be an integer from 0 to 255, not 256"),
    ],
)
def test_operands_that_do_not_go_together_are_refused(call, message: str) -> None:
    with refused(message):
        call()
