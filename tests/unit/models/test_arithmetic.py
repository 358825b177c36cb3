"""Shared integer arithmetic at its boundaries, with values worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from nvdla_models.arithmetic import (
    Rounding,
    Rules,
    channel_blocks,
    limits,
    saturate,
    shift_left_saturating,
    shift_right_rounded,
    wrap,
)
from tests.unit.models.support import refused


def test_limits_of_8_bits_are_those_of_int8() -> None:
    assert limits(8) == (-128, 127)


@pytest.mark.parametrize("bits", [1, 64])
def test_limits_refuse_widths_that_int64_cannot_hold(bits: int) -> None:
    with refused(f"bits must be 2 to 63, not {bits}"):
        limits(bits)


@pytest.mark.parametrize(
    ("value", "bits", "expected"),
    [(127, 8, 127), (128, 8, 127), (-128, 8, -128), (-129, 8, -128), (2**31, 32, 2**31 - 1), (-(2**40), 17, -65536)],
)
def test_saturate_stops_at_the_last_number_that_fits(value: int, bits: int, expected: int) -> None:
    assert saturate(np.array([value]), bits).tolist() == [expected]


@pytest.mark.parametrize(
    ("value", "bits", "expected"),
    [(127, 8, 127), (128, 8, -128), (-129, 8, 127), (256, 8, 0), (2**31, 32, -(2**31)), (1024, 11, -1024)],
)
def test_wrap_keeps_the_low_bits_as_a_signed_number(value: int, bits: int, expected: int) -> None:
    assert wrap(np.array([value]), bits).tolist() == [expected]


@pytest.mark.parametrize(
    ("value", "shift", "expected"),
    [
        (1, 1, 1),
        (-1, 1, -1),
        (3, 1, 2),
        (-3, 1, -2),
        (5, 2, 1),
        (6, 2, 2),
        (-5, 2, -1),
        (-6, 2, -2),
        (-7, 2, -2),
        (7, 0, 7),
        (-7, 0, -7),
        (2**47, 48, 1),
        (-(2**47), 48, -1),
        (2**47 - 1, 48, 0),
        (2**47, 49, 0),
        (2**62 - 1, 62, 1),
        (-(2**62) + 1, 62, -1),
        (2**62 - 1, 63, 0),
        (-(2**62) + 1, 63, 0),
    ],
)
def test_shift_right_rounds_half_away_from_zero(value: int, shift: int, expected: int) -> None:
    assert shift_right_rounded(np.array([value]), shift).tolist() == [expected]


def test_shift_right_agrees_with_fractions_on_random_numbers() -> None:
    rng = np.random.default_rng(1)
    for _ in range(2000):
        bits = int(rng.integers(1, 62))
        value = int(rng.integers(-(2**bits), 2**bits))
        shift = int(rng.integers(64))
        magnitude = (abs(Fraction(value, 2**shift)) + Fraction(1, 2)).__floor__()
        expected = magnitude if value >= 0 else -magnitude
        assert shift_right_rounded(np.array([value]), shift).tolist() == [expected], (value, shift)


def test_shift_right_leaves_its_input_unchanged() -> None:
    values = np.array([5, -5])
    shift_right_rounded(values, 1)
    assert values.tolist() == [5, -5]


@pytest.mark.parametrize("value", [2**62, -(2**62), -(2**63)])
def test_shift_right_refuses_numbers_whose_rounding_could_overflow(value: int) -> None:
    with refused("values must be below 2**62 in magnitude to be rounded in 64 bits"):
        shift_right_rounded(np.array([value]), 1)


def test_shift_right_takes_an_empty_array() -> None:
    assert shift_right_rounded(np.array([], dtype=np.int64), 3).size == 0


@pytest.mark.parametrize(
    ("value", "shift", "expected"),
    [
        (1, 0, 1),
        (1, 30, 2**30),
        (1, 31, 2**31 - 1),
        (-1, 31, -(2**31)),
        (-1, 32, -(2**31)),
        (-2, 31, -(2**31)),
        (32767, 16, 32767 * 65536),
        (32767, 17, 2**31 - 1),
        (-32768, 16, -(2**31)),
        (-32768, 17, -(2**31)),
        (1, 63, 2**31 - 1),
        (-1, 63, -(2**31)),
        (-32768, 63, -(2**31)),
        (0, 63, 0),
    ],
)
def test_shift_left_saturates_at_32_bits(value: int, shift: int, expected: int) -> None:
    assert shift_left_saturating(np.array([value], dtype=np.int16), shift, 32).tolist() == [expected]


def test_shift_left_takes_a_scalar_and_returns_int64() -> None:
    result = shift_left_saturating(np.array(-3, dtype=np.int8), 2, 32)
    np.testing.assert_array_equal(result, np.array(-12, dtype=np.int64), strict=True)


@pytest.mark.parametrize("shift", [-1, 64])
def test_shifts_beyond_six_bits_are_refused(shift: int) -> None:
    message = f"shift must be an integer from 0 to 63, not {shift}"
    with refused(message):
        shift_left_saturating(np.array([1]), shift, 32)
    with refused(message):
        shift_right_rounded(np.array([1]), shift)


def test_shift_left_refuses_results_that_could_overflow_int64() -> None:
    with refused("bits must be an integer from 2 to 32, not 33"):
        shift_left_saturating(np.array([1]), 1, 33)


@pytest.mark.parametrize("shape", [(1, 1, 1), (70, 3, 5), (64, 64, 64), (3, 500, 500), (0, 4, 4)])
def test_channel_blocks_cover_every_channel_once(shape: tuple[int, int, int]) -> None:
    channels = np.arange(shape[0])
    covered = [channels[block] for block in channel_blocks(shape)]
    np.testing.assert_array_equal(np.concatenate([channels[:0], *covered]), channels)


@pytest.mark.parametrize(
    ("rounding", "expected"),
    [
        (Rounding.AWAY, [-2, -2, -1, -1, 0, 1, 1, 2, 2]),
        (Rounding.FLOOR, [-2, -2, -1, -1, 0, 0, 1, 1, 2]),
        (Rounding.ZERO, [-2, -1, -1, 0, 0, 0, 1, 1, 2]),
        (Rounding.EVEN, [-2, -2, -1, 0, 0, 0, 1, 2, 2]),
        (Rounding.UP, [-2, -1, -1, 0, 0, 1, 1, 2, 2]),
        (Rounding.NEGATIVE, [-2, -2, -1, -1, 0, 1, 1, 2, 2]),
        (Rounding.POSITIVE, [-2, -2, -1, -1, 0, 0, 1, 1, 2]),
    ],
)
def test_altered_rounding_halves_as_its_name_says(rounding: Rounding, expected: list[int]) -> None:
    values = np.arange(-4, 5, dtype=np.int64)
    assert shift_right_rounded(values, 1, Rules(rounding=rounding)).tolist() == expected


def test_rounding_of_one_sign_alone_leaves_the_other_right() -> None:
    values = np.arange(-8, 9, dtype=np.int64)
    right, cut = shift_right_rounded(values, 2), shift_right_rounded(values, 2, Rules(rounding=Rounding.FLOOR))
    positive = shift_right_rounded(values, 2, Rules(rounding=Rounding.POSITIVE))
    assert positive.tolist() == np.where(values < 0, right, cut).tolist()
    negative = shift_right_rounded(values, 2, Rules(rounding=Rounding.NEGATIVE))
    assert negative.tolist() == np.where(values < 0, cut, right).tolist()


@pytest.mark.parametrize("rounding", list(Rounding))
def test_altered_rounding_holds_for_the_largest_values_and_shifts(rounding: Rounding) -> None:
    values = np.array([-(1 << 62) + 1, -1, 0, 1, (1 << 62) - 1], dtype=np.int64)
    whole = [-1, -1, 0, 0, 0] if rounding in (Rounding.FLOOR, Rounding.NEGATIVE) else [0, 0, 0, 0, 0]
    assert shift_right_rounded(values, 63, Rules(rounding=rounding)).tolist() == whole


def test_without_saturation_numbers_wrap() -> None:
    values = np.array([-129, 127, 128], dtype=np.int64)
    assert saturate(values, 8, Rules(saturates=False)).tolist() == [127, 127, -128]
    assert saturate(values, 8).tolist() == [-128, 127, 127]
