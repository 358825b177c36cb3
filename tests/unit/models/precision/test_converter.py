"""Converter, truncation, shifter: hand vectors, a literal oracle, every refusal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.arithmetic import shift_left_saturating
from models.converter import (
    Converter,
    ConverterEncoding,
    overflow_count,
    saturated_fp16,
    truncate,
)
from models.errors import InputError
from models.fp16 import FP16
from models.precision import Precision
from tests.unit.models.precision import oracle

OUT = ConverterEncoding.SDP_OUTPUT
LIMITS = {Precision.INT8: (-128, 127), Precision.INT16: (-32768, 32767)}


def one(offset: int, scale: int, shift: int, value: int, target: Precision) -> int:
    result = Converter(offset, scale, shift, OUT).convert(np.array([value]), target)
    assert result.dtype == (np.uint16 if target is Precision.FP16 else target.dtype)
    return int(result[0])


@pytest.mark.parametrize(
    ("value", "shift", "result"),
    [
        (1, 1, 1),
        (-1, 1, -1),
        (3, 1, 2),
        (-3, 1, -2),
        (5, 2, 1),
        (6, 2, 2),
        (-6, 2, -2),
        (7, 3, 1),
        (3, 3, 0),
        (4, 3, 1),
    ],
)
def test_a_shift_rounds_half_away_from_zero(value: int, shift: int, result: int) -> None:
    assert one(0, 1, shift, value, Precision.INT16) == result


@pytest.mark.parametrize(
    ("value", "target", "result"),
    [
        (127, Precision.INT8, 127),
        (128, Precision.INT8, 127),
        (-128, Precision.INT8, -128),
        (-129, Precision.INT8, -128),
        (32768, Precision.INT16, 32767),
        (-32769, Precision.INT16, -32768),
        (2**31 - 1, Precision.INT16, 32767),
        (-(2**31), Precision.INT8, -128),
        (65504, Precision.FP16, 0x7BFF),
        (65535, Precision.FP16, 0x7BFF),
        (2**31 - 1, Precision.FP16, 0x7BFF),
        (-(2**31), Precision.FP16, 0xFBFF),
        (2049, Precision.FP16, 0x6800),
        (0, Precision.FP16, 0),
    ],
)
def test_the_result_saturates_to_the_output_format(value: int, target: Precision, result: int) -> None:
    assert one(0, 1, 0, value, target) == result


def test_offset_is_subtracted_before_scaling_and_only_the_final_value_is_rounded() -> None:
    # (10 - 3) * 5 >> 1 = 17.5, to 18; rounding x - offset first, as the printed braces have it, is the same
    # for integers, but saturating there is not: (40000 - 0) * 1 >> 1 fits INT16.
    assert one(3, 5, 1, 10, Precision.INT16) == 18
    assert one(0, 1, 1, 40000, Precision.INT16) == 20000


def test_the_extremes_of_every_register_stay_exact() -> None:
    converter = Converter(-(2**31), -(2**15), 0, OUT)
    data = np.array([2**39 - 1, -(2**39)])
    assert converter.scaled(data).tolist() == [(2**39 - 1 + 2**31) * -(2**15), (-(2**39) + 2**31) * -(2**15)]


def test_an_internal_width_saturates_at_that_width() -> None:
    data = np.array([255, 256, -256, -257])
    assert Converter(0, 1, 0, ConverterEncoding.CDP_INPUT).to_width(data, 9).tolist() == [255, 255, -256, -256]
    assert Converter(0, 1, 1, ConverterEncoding.SDP_OPERAND).to_width(data, 32).tolist() == [128, 128, -128, -129]


@pytest.mark.parametrize("encoding", list(ConverterEncoding))
def test_each_encoding_accepts_its_limits_and_refuses_one_more(encoding: ConverterEncoding) -> None:
    _, offset_bits, scale_bits, shift_bits = encoding.value
    low, high = -(2 ** (offset_bits - 1)), 2 ** (offset_bits - 1) - 1
    for offset in (low, high):
        Converter(offset, 1, 2**shift_bits - 1, encoding)
    with pytest.raises(InputError, match=rf"^offset must be an integer from {low} to {high}, not {high + 1}$"):
        Converter(high + 1, 1, 0, encoding)
    with pytest.raises(InputError, match=r"^scale must be an integer from -32768 to 32767, not 32768$"):
        Converter(0, 2 ** (scale_bits - 1), 0, encoding)
    most = 2**shift_bits - 1
    with pytest.raises(InputError, match=rf"^shift must be an integer from 0 to {most}, not {most + 1}$"):
        Converter(0, 1, most + 1, encoding)


def test_the_published_encoding_is_32_16_and_5_bits() -> None:
    assert ConverterEncoding.PUBLISHED.offset_range == (-(2**31), 2**31 - 1)
    assert ConverterEncoding.PUBLISHED.scale_range == (-(2**15), 2**15 - 1)
    assert ConverterEncoding.PUBLISHED.shift_range == (0, 31)
    assert ConverterEncoding.SDP_OUTPUT.shift_range == (0, 63)


def test_the_register_widths_are_those_of_the_register_map() -> None:
    widths = {encoding.name: encoding.value[1:] for encoding in ConverterEncoding}
    assert widths == {
        "PUBLISHED": (32, 16, 5),
        "CDMA_INPUT": (16, 16, 6),
        "SDP_OPERAND": (32, 16, 6),
        "SDP_OUTPUT": (32, 16, 6),
        "CDP_INPUT": (16, 16, 5),
        "CDP_OUTPUT": (32, 16, 6),
    }


def test_float_data_are_refused() -> None:
    with pytest.raises(InputError, match=r"^values must be integers, not float16: FP16 has no converter$"):
        Converter(0, 1, 0, OUT).convert(np.zeros(1, np.float16), Precision.INT8)


def test_data_beyond_40_bits_are_refused() -> None:
    with pytest.raises(InputError, match=r"^values must be from -549755813888 to 549755813887, not 549755813888$"):
        Converter(0, 1, 0, OUT).convert(np.array([2**39]), Precision.INT8)


@pytest.mark.parametrize("target", list(Precision))
def test_a_converter_with_fp16_input_is_refused(target: Precision) -> None:
    with pytest.raises(InputError, match=r"^values must be integers, not float16: FP16 has no converter$"):
        Converter(0, 1, 0, OUT).convert(np.ones(1, np.float16), target)


@pytest.mark.parametrize("source", [Precision.INT8, Precision.INT16])
@pytest.mark.parametrize(("target", "expected"), [("INT8", 7), ("INT16", 7), ("FP16", 0x4700)])
def test_a_converter_with_integer_input_is_accepted(source: Precision, target: str, expected: int) -> None:
    converted = Converter(0, 1, 0, OUT).convert(np.array([7], source.dtype), Precision[target])
    assert converted.tolist() == [expected]


@given(
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**15), 2**15 - 1),
    st.integers(0, 63),
    st.sampled_from(list(Precision)),
)
def test_every_conversion_agrees_with_the_literal_formula(
    value: int, offset: int, scale: int, shift: int, target: Precision
) -> None:
    rounded = oracle.half_away(Fraction((value - offset) * scale, 2**shift))
    if target is Precision.FP16:
        clipped = min(max(rounded, -65536), 65535)
        expected = oracle.encode(Fraction(clipped), FP16)
    else:
        low, high = LIMITS[target]
        expected = min(max(rounded, low), high)
    assert one(offset, scale, shift, value, target) == expected


@pytest.mark.parametrize(
    ("value", "lsb", "bits", "result"),
    [
        (0b1011, 2, 8, 3),
        (0b1001, 2, 8, 2),
        (-0b1010, 2, 8, -3),
        (1 << 40, 4, 32, 2**31 - 1),
        (-(1 << 40), 4, 32, -(2**31)),
    ],
)
def test_truncation_rounds_and_saturates(value: int, lsb: int, bits: int, result: int) -> None:
    assert truncate(np.array([value]), lsb, bits).tolist() == [result]


@given(st.integers(-(2**47), 2**47 - 1), st.integers(0, 63), st.sampled_from([8, 16, 32]))
def test_truncation_agrees_with_the_literal_formula(value: int, lsb: int, bits: int) -> None:
    expected = min(max(oracle.half_away(Fraction(value, 2**lsb)), -(2 ** (bits - 1))), 2 ** (bits - 1) - 1)
    assert truncate(np.array([value]), lsb, bits).tolist() == [expected]


@given(st.integers(-(2**15), 2**15 - 1), st.integers(0, 63))
def test_the_shifter_multiplies_by_a_power_of_two_and_saturates(value: int, shift: int) -> None:
    expected = min(max(value * 2**shift, -(2**31)), 2**31 - 1)
    assert shift_left_saturating(np.array([value]), shift, 32).tolist() == [expected]


@pytest.mark.parametrize("bits", [8, 16, 32])
def test_integer_overflow_is_counted_strictly_outside_the_format(bits: int) -> None:
    low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
    assert overflow_count(np.array([low, high, 0]), bits) == 0
    assert overflow_count(np.array([low - 1, high + 1, 0]), bits) == 2


def test_fp16_overflow_is_counted_from_65504_on_and_not_for_nan() -> None:
    assert saturated_fp16(np.array([0x7BFF, 0xFBFF, 0x7C00, 0x7BFE, 0x7C01, 0xFFFF], dtype=np.uint16)) == 3


def test_the_sdp_counts_17_bit_overflow_for_integers_and_65504_for_fp16() -> None:
    converter = Converter(0, 1, 0, OUT)
    data = np.array([65535, 65536, 65537, -65536, -65537, -65538, 40000, 65504])
    assert converter.saturation_count(data, Precision.INT8) == 2
    assert converter.saturation_count(data, Precision.INT16) == 2
    assert converter.saturation_count(data, Precision.FP16) == 7
