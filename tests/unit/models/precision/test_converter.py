"""Converter and shifter: hand vectors, a literal oracle, every refusal."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvdla_models.arithmetic import shift_left_saturating
from nvdla_models.converter import (
    Converter,
    ConverterEncoding,
    saturated_fp16,
)
from nvdla_models.fp16 import FP16
from nvdla_models.precision import Precision
from tests.unit.models.precision import oracle
from tests.unit.models.support import refused

OUT = ConverterEncoding.SDP_OUTPUT
LIMITS = {Precision.INT8: (-128, 127), Precision.INT16: (-32768, 32767)}


def one(offset: int, scale: int, shift: int, value: int, target: Precision) -> int:
    result = Converter(offset, scale, shift, OUT).convert(np.array([value]), target)
    assert result.dtype == (np.uint16 if target is Precision.FP16 else target.dtype)
    return int(result[0])


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


# Bits of offset, scale and shift in the register map.
WIDTHS = {
    ConverterEncoding.CDMA_INPUT: (16, 16, 6),
    ConverterEncoding.SDP_OPERAND: (32, 16, 6),
    ConverterEncoding.SDP_OUTPUT: (32, 16, 6),
    ConverterEncoding.CDP_INPUT: (16, 16, 5),
    ConverterEncoding.CDP_OUTPUT: (32, 16, 6),
}


@pytest.mark.parametrize("encoding", list(ConverterEncoding))
def test_each_encoding_accepts_its_limits_and_refuses_one_more(encoding: ConverterEncoding) -> None:
    offset_bits, scale_bits, shift_bits = WIDTHS[encoding]
    low, high = -(2 ** (offset_bits - 1)), 2 ** (offset_bits - 1) - 1
    least, most = -(2 ** (scale_bits - 1)), 2 ** (scale_bits - 1) - 1
    last = 2**shift_bits - 1
    Converter(low, least, 0, encoding)
    Converter(high, most, last, encoding)
    with refused(f"offset must be an integer from {low} to {high}, not {high + 1}"):
        Converter(high + 1, 1, 0, encoding)
    with refused(f"scale must be an integer from {least} to {most}, not {most + 1}"):
        Converter(0, most + 1, 0, encoding)
    with refused(f"shift must be an integer from 0 to {last}, not {last + 1}"):
        Converter(0, 1, last + 1, encoding)


@pytest.mark.parametrize("target", list(Precision))
def test_a_converter_with_fp16_input_is_refused(target: Precision) -> None:
    with refused("values must be integers, not float16: FP16 has no converter"):
        Converter(0, 1, 0, OUT).convert(np.ones(1, np.float16), target)


def test_data_beyond_40_bits_are_refused() -> None:
    with refused("values must be from -549755813888 to 549755813887, not 549755813888"):
        Converter(0, 1, 0, OUT).convert(np.array([2**39]), Precision.INT8)


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


@given(st.integers(-(2**15), 2**15 - 1), st.integers(0, 63))
def test_the_shifter_multiplies_by_a_power_of_two_and_saturates(value: int, shift: int) -> None:
    expected = min(max(value * 2**shift, -(2**31)), 2**31 - 1)
    assert shift_left_saturating(np.array([value]), shift, 32).tolist() == [expected]


def test_fp16_of_magnitude_65504_counts_and_neither_infinity_nor_nan_does() -> None:
    assert saturated_fp16(np.array([0x7BFF, 0xFBFF, 0x7C00, 0xFC00, 0x7BFE, 0x7C01, 0xFFFF], dtype=np.uint16)) == 2
