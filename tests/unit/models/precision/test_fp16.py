"""FP16, FP17 and FP32: boundaries by hand, a literal oracle, numpy's own float16 and float32."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvdla_models.fp16 import (
    FP16,
    FP17,
    FP32,
    FloatFormat,
    count_infinity,
    count_nan,
    flush_nan,
    fp16_to_int16,
    integer_to_fp16,
    narrow,
    widen,
)
from tests.unit.models.precision import oracle
from tests.unit.models.support import refused

FORMATS = [FP16, FP17, FP32]
ALL_FP16: npt.NDArray[np.uint16] = np.arange(1 << 16, dtype=np.uint32).astype(np.uint16)


def one(value: float, fmt: FloatFormat, gradual: bool | None = None) -> int:
    return int(fmt.encode(np.array([value]), gradual)[0])


@pytest.mark.parametrize(
    ("fmt", "largest", "smallest_normal", "epsilon", "infinity", "minus_zero"),
    [
        (FP16, 65504.0, 2.0**-14, 2.0**-10, 0x7C00, 0x8000),
        (FP17, 4292870144.0, 2.0**-30, 2.0**-10, 0xFC00, 0x10000),
        (FP32, 3.4028234663852886e38, 2.0**-126, 2.0**-23, 0x7F800000, 0x80000000),
    ],
)
def test_limits_of_each_format_are_the_published_ones(
    fmt: FloatFormat, largest: float, smallest_normal: float, epsilon: float, infinity: int, minus_zero: int
) -> None:
    assert (fmt.max_value, fmt.epsilon) == (largest, epsilon)
    assert (fmt.infinity_bits, fmt.sign_bit) == (infinity, minus_zero)
    assert one(largest, fmt) == infinity - 1
    assert one(smallest_normal, fmt) == 1 << fmt.mantissa_bits


@pytest.mark.parametrize(
    ("value", "pattern"),
    [
        (0.0, 0x0000),
        (-0.0, 0x8000),
        (1.0, 0x3C00),
        (1.0 + 2**-11, 0x3C00),  # tie, to even
        (1.0 + 3 * 2**-11, 0x3C02),  # tie, to even
        (1.0 + 2**-11 + 2**-30, 0x3C01),
        (65504.0, 0x7BFF),
        (65519.0, 0x7BFF),
        (65520.0, 0x7BFF),  # IEEE 754 would give infinity
        (1e30, 0x7BFF),
        (-1e30, 0xFBFF),
        (math.inf, 0x7BFF),
        (-math.inf, 0xFBFF),
        (2.0**-14, 0x0400),
        (2.0**-14 - 2**-25, 0x0400),  # tie between the largest denormal and the smallest normal
        (2.0**-14 - 2**-24, 0x03FF),
        (2.0**-24, 0x0001),
        (2.0**-25, 0x0000),  # tie, to even
        (-(2.0**-25), 0x8000),
        (2.0**-25 + 2.0**-40, 0x0001),
        (3 * 2.0**-25, 0x0002),  # tie, to even
    ],
)
def test_fp16_rounding_boundaries(value: float, pattern: int) -> None:
    assert one(value, FP16) == pattern


@pytest.mark.parametrize(
    ("fmt", "value", "pattern"),
    [
        (FP17, 2.0**-30 - 2**-42, 0x400),  # a tie at eleven bits: it carries into the normal range
        (FP17, 2.0**-30 - 2**-42 - 2**-60, 0),
        (FP17, -(2.0**-31), 0x10000),
        (FP17, 4294967296.0, 0xFBFF),
        (FP17, -math.inf, 0x1FBFF),
        (FP32, 2.0**-126 - 2**-151, 0x00800000),
        (FP32, 2.0**-127, 0),
        (FP32, -(2.0**-149), 0x80000000),
        (FP32, 3.5e38, 0x7F7FFFFF),
        (FP32, -math.inf, 0xFF7FFFFF),
    ],
)
def test_internal_formats_have_no_denormals_and_no_infinity(fmt: FloatFormat, value: float, pattern: int) -> None:
    assert one(value, fmt) == pattern


def test_gradual_rounding_carries_into_the_normal_range_from_half_a_denormal_below() -> None:
    half_step = 2.0**-41
    assert one(2.0**-30 - half_step, FP17, gradual=True) == 0x400
    assert one(2.0**-30 - half_step, FP17, gradual=False) == 0
    assert one(2.0**-30 - half_step - 2**-60, FP17, gradual=True) == 0


def test_encode_refuses_nan() -> None:
    with refused("values to round to FP16 must not be NaN: carry NaN as a bit pattern"):
        FP16.encode(np.array([1.0, math.nan]))


def test_a_pattern_of_the_wrong_dtype_is_refused() -> None:
    with refused("FP16 patterns must have dtype uint16, not int16"):
        FP16.is_nan(np.array([1], dtype=np.int16))  # type: ignore[arg-type]
    with refused("FP17 patterns must have dtype uint32, not uint16"):
        FP17.decode(np.array([1], dtype=np.uint16))


def test_every_fp16_pattern_decodes_to_what_numpy_reads() -> None:
    np.testing.assert_array_equal(FP16.decode(ALL_FP16), ALL_FP16.view(np.float16).astype(np.float64))
    assert int(FP16.is_nan(ALL_FP16).sum()) == 2046
    assert ALL_FP16[FP16.is_infinite(ALL_FP16)].tolist() == [0x7C00, 0xFC00]


@pytest.mark.parametrize("fmt", FORMATS)
def test_encode_inverts_decode(fmt: FloatFormat) -> None:
    rng = np.random.default_rng(3)
    patterns = rng.integers(0, 2 * fmt.sign_bit, 20_000).astype(fmt.dtype)
    field = (patterns & (fmt.sign_bit - 1)) >> fmt.mantissa_bits
    kept = (field < (1 << fmt.exponent_bits) - 1) & ((field > 0) | fmt.denormals)
    np.testing.assert_array_equal(fmt.encode(fmt.decode(patterns[kept])), patterns[kept], strict=True)


def test_an_internal_pattern_with_exponent_field_zero_counts_as_normal() -> None:
    value = FP32.decode(np.array([0x00000123, 0x80000001, 0, 0x80000000], dtype=np.uint32))
    assert value.tolist() == [2.0**-127 * (1 + 0x123 / 2**23), -(2.0**-127) * (1 + 2**-23), 0.0, 0.0]
    assert np.signbit(value).tolist() == [False, True, False, True]


@pytest.mark.parametrize("fmt", FORMATS)
@given(value=st.floats(allow_nan=False, width=64), gradual=st.sampled_from([None, True, False]))
def test_encode_agrees_with_the_literal_rounding(fmt: FloatFormat, value: float, gradual: bool | None) -> None:
    if fmt.denormals:
        gradual = None
    if math.isinf(value):
        expected = (fmt.sign_bit if value < 0 else 0) + fmt.infinity_bits - 1
    else:
        expected = oracle.encode(Fraction(value), fmt, math.copysign(1.0, value) < 0, gradual)
    assert one(value, fmt, gradual) == expected


@given(st.floats(-65519.0, 65519.0))
def test_fp16_rounding_agrees_with_numpy_below_the_clip(value: float) -> None:
    assert one(value, FP16) == int(np.float16(value).view(np.uint16))


@given(st.floats(min_value=2.0**-126, max_value=3e38))
def test_fp32_rounding_agrees_with_numpy_in_the_normal_range(value: float) -> None:
    assert one(value, FP32) == int(np.float32(value).view(np.uint32))


@pytest.mark.parametrize("target", [FP17, FP32])
def test_widening_every_fp16_pattern_and_narrowing_it_again_changes_only_infinity(target: FloatFormat) -> None:
    back = narrow(widen(ALL_FP16, target), target)
    expected = np.where(FP16.is_infinite(ALL_FP16), ALL_FP16 - 1, ALL_FP16).astype(np.uint16)
    np.testing.assert_array_equal(back, expected, strict=True)


@pytest.mark.parametrize(
    ("pattern", "target", "expected"),
    [
        (0x7C01, FP32, 0x7F800001),
        (0xFE2A, FP32, 0xFF80022A),
        (0x7C01, FP17, 0xFC01),
        (0xFFFF, FP17, 0x1FFFF),
        (0x7C00, FP32, 0x7F7FFFFF),
        (0xFC00, FP17, 0x1FBFF),
        (0x0001, FP32, 0x33800000),
        (0x8000, FP17, 0x10000),
    ],
)
def test_nan_payload_and_sign_travel_in_the_low_bits(pattern: int, target: FloatFormat, expected: int) -> None:
    assert int(widen(np.array([pattern], dtype=np.uint16), target)[0]) == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        (0x7FC00123, 0x7D23),
        (0xFF800001, 0xFC01),
        (0x477FF000, 0x7BFF),  # 65520
        (0x7F7FFFFF, 0x7BFF),
        (0x33000000, 0x0000),  # 2**-25, a tie
        (0x33000001, 0x0001),
        (0x3F801000, 0x3C00),  # 1 + 2**-11, a tie
    ],
)
def test_fp32_is_narrowed_to_fp16_with_one_rounding(pattern: int, expected: int) -> None:
    assert int(narrow(np.array([pattern], dtype=np.uint32), FP32)[0]) == expected


@pytest.mark.parametrize(
    ("value", "pattern"),
    [(2.0**-30 - 2**-41, 0x400), (2.0**-30 - 2**-41 - 2**-54, 0), (2.0**-31, 0), (2.0**-30, 0x400)],
)
def test_narrowing_to_fp17_rounds_gradually_below_its_smallest_normal_number(value: float, pattern: int) -> None:
    assert int(narrow(FP32.encode(np.array([value])), FP32, FP17)[0]) == pattern


@given(st.integers(0, 2**32 - 1))
def test_narrowing_to_fp17_agrees_with_the_literal_rounding(pattern: int) -> None:
    if pattern % FP32.sign_bit >= FP32.infinity_bits:
        return
    expected = oracle.encode(oracle.decode(pattern, FP32), FP17, pattern >= FP32.sign_bit, gradual=True)
    assert int(narrow(np.array([pattern], dtype=np.uint32), FP32, FP17)[0]) == expected


def test_flushing_turns_nan_of_either_sign_into_plus_zero_and_nothing_else() -> None:
    result = flush_nan(np.array([0x7C01, 0xFFFF, 0x7C00, 0xFC00, 0x8000, 1], dtype=np.uint16))
    assert result.tolist() == [0, 0, 0x7C00, 0xFC00, 0x8000, 1]


@pytest.mark.parametrize(
    ("value", "pattern"),
    [(0, 0), (2048, 0x6800), (2049, 0x6800), (2051, 0x6802), (65504, 0x7BFF), (65535, 0x7BFF), (-65536, 0xFBFF)],
)
def test_integers_round_to_the_nearest_even_fp16_and_clip(value: int, pattern: int) -> None:
    assert int(integer_to_fp16(np.array([value]))[0]) == pattern


def test_an_integer_beyond_float64_is_refused() -> None:
    with refused("values must be at most 2**53 in magnitude, not 9007199254740993"):
        integer_to_fp16(np.array([-(2**53) - 1]))


@pytest.mark.parametrize(
    ("pattern", "value"),
    [
        (0x3800, 1),  # 0.5
        (0xB800, -1),
        (0x37FF, 0),
        (0x3E00, 2),  # 1.5
        (0x4100, 3),  # 2.5
        (0xC100, -3),
        (0x77FF, 32752),
        (0x7800, 32767),  # 32768
        (0xF800, -32768),
        (0x7C00, 32767),
        (0xFC00, -32768),
        (0x7C01, -32768),
        (0xFFFF, -32768),
        (0x0001, 0),
    ],
)
def test_fp16_becomes_int16_half_away_from_zero_saturated_and_nan_the_smallest(pattern: int, value: int) -> None:
    assert int(fp16_to_int16(np.array([pattern], dtype=np.uint16))[0]) == value


def test_nan_and_infinity_of_both_signs_are_counted() -> None:
    bits = np.array([0x7C00, 0xFC00, 0x7C01, 0xFFFF, 0xFE00, 0x7BFF, 0], dtype=np.uint16)
    assert (count_nan(bits), count_infinity(bits)) == (3, 2)
