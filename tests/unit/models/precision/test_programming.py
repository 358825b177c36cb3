"""Derived programming values: the document's equations, and that they really work end to end."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models import lut_integer
from models.arithmetic import limits, saturate, shift_left_saturating, shift_right_rounded
from models.converter import ConverterEncoding
from models.errors import InputError
from models.fp16 import FP16, FP32
from models.lut import HybridLut, LutTable, LutUnit, Slope
from models.precision import Precision
from models.programming import (
    Affine,
    ElementWise,
    as_converter,
    bias_shift,
    cdp_input_converter,
    cdp_output_converter,
    element_wise_alignment,
    offset_compensation,
    operand_shift,
    padding_value,
    pooling_padding,
    round_half_away,
)
from models.programming_lut import (
    INDEX_OFFSET_RANGE,
    INDEX_SELECT_RANGE,
    exponent_end,
    exponent_fields,
    index_select,
    linear_end,
    linear_input,
    slope,
)
from models.tolerance_conv import Window, window_sum
from tests.unit.models.precision.conftest import Measured
from tests.unit.models.precision.test_lut_measured import programmed

fractions = st.fractions(-1000, 1000, max_denominator=64)
scales = fractions.filter(lambda value: value != 0)


def test_the_bias_shift_satisfies_the_published_equation() -> None:
    # 8 * 16 / 2**3 = 16 = SF_bs * 2**bs_trunc.
    assert bias_shift(8, 16, 1, cc_out_trunc=3) == 4
    assert bias_shift(8, 16, 1, cc_out_trunc=3, pra_trunc=2) == 2
    assert bias_shift(0.5, 0.75, Fraction(3, 32), cc_out_trunc=0) == 2


def test_a_shifted_bias_is_addable_to_the_truncated_sum() -> None:
    in_scale, weight_scale, bias_scale, trunc = 64, 32, 4, 4
    real_sum, real_bias = 3.0, 2.5
    accumulated = shift_right_rounded(np.array([int(real_sum * in_scale * weight_scale)]), trunc)
    bias = np.array([int(real_bias * bias_scale)])
    shift = bias_shift(in_scale, weight_scale, bias_scale, trunc)
    total = accumulated + shift_left_saturating(bias, shift, 32)
    assert total.item() == (real_sum + real_bias) * in_scale * weight_scale / 2**trunc


def test_the_mean_shift_gives_the_operand_the_scale_of_the_data() -> None:
    assert operand_shift(Fraction(1, 4), Fraction(1, 64)) == 4


@pytest.mark.parametrize(("data", "operand", "ratio"), [(3, 2, "3/2"), (1, 2, "1/2"), (2**64, 1, str(2**64))])
def test_scales_that_no_left_shift_connects_are_refused(data: int, operand: int, ratio: str) -> None:
    with pytest.raises(
        InputError, match=rf"^data scale / operand scale must be 2\*\*0 to 2\*\*63 for a left shift, not {ratio}$"
    ):
        operand_shift(data, operand)


@pytest.mark.parametrize(
    ("offset", "scale", "precision", "value"),
    [
        (0, 7, Precision.INT8, 0),
        (3, 7, Precision.INT8, -21),
        (-2.5, 3, Precision.INT8, 8),  # 7.5, half away from zero
        (2.5, 3, Precision.INT16, -8),
        (-100, 100, Precision.INT16, 10000),
        (0, 5, Precision.FP16, 0),
    ],
)
def test_the_padding_value_is_minus_offset_times_scale(
    offset: float, scale: float, precision: Precision, value: int
) -> None:
    assert padding_value(Affine.of(offset, scale), precision) == value
    assert pooling_padding(Affine.of(offset, scale), precision) == tuple(n * value for n in range(1, 8))


def test_padding_that_does_not_fit_and_offsets_of_fp16_are_refused() -> None:
    with pytest.raises(InputError, match=r"^padding value must be from -128 to 127 for INT8, not -129$"):
        padding_value(Affine.of(129, 1), Precision.INT8)
    with pytest.raises(InputError, match=r"^offset must be 0 for FP16, not 1/2$"):
        padding_value(Affine.of(0.5, 1), Precision.FP16)


def test_valued_padding_and_compensation_restore_the_convolution_of_real_numbers() -> None:
    rng = np.random.default_rng(9)
    encoding = Affine.of(-5, 2)
    real = rng.integers(-20, 20, (4, 6, 5))
    weight = rng.integers(-7, 7, (3, 4, 3, 3))
    window = Window(pad_left=1, pad_right=1, pad_top=1, pad_bottom=1)
    encoded = (real - int(encoding.offset)) * int(encoding.scale)
    padding = padding_value(encoding, Precision.INT8)
    assert padding == 10
    sums = window_sum(encoded.astype(float), weight.astype(float), window, float(padding))
    add = offset_compensation(encoding, weight, cc_out_trunc=0)
    restored = sums + add[:, np.newaxis, np.newaxis]
    wanted = int(encoding.scale) * window_sum(real.astype(float), weight.astype(float), window)
    np.testing.assert_array_equal(restored, wanted)
    zero_padded = window_sum(encoded.astype(float), weight.astype(float), window) + add[:, np.newaxis, np.newaxis]
    assert (zero_padded != wanted).any()


def test_compensation_is_per_channel_and_rounded_after_the_truncations() -> None:
    weight = np.array([1, 2, -3], dtype=np.int8).reshape(3, 1, 1, 1)
    assert offset_compensation(Affine.of(1.5, 1), weight, 0).tolist() == [2, 3, -5]
    assert offset_compensation(Affine.of(6, 2), weight, cc_out_trunc=2, pra_trunc=1).tolist() == [2, 3, -5]


def test_weights_that_are_not_integers_or_have_other_axes_are_refused() -> None:
    for weight in (np.zeros((1, 1, 1), np.int8), np.zeros((1, 1, 1, 1), np.float16)):
        with pytest.raises(
            InputError,
            match=r"^weight must be integers with the axes \(K, C, R, S\), "
            rf"not {weight.dtype} with {weight.ndim} axes$",
        ):
            offset_compensation(Affine.of(1, 1), weight, 0)


@pytest.mark.slow
@given(fractions, scales, fractions, scales, fractions)
def test_two_encodings_in_a_row_are_the_printed_product(
    offset: Fraction, scale: Fraction, second_offset: Fraction, second_scale: Fraction, x: Fraction
) -> None:
    first, second = Affine(offset, scale), Affine(second_offset, second_scale)
    both = first.then(second)
    assert both.encode(x) == second.encode(first.encode(x)) == ((x - offset) * scale - second_offset) * second_scale
    assert first.to(both) == second


@given(fractions, scales, fractions, scales)
def test_element_wise_alignment_meets_the_printed_conditions(
    offset: Fraction, scale: Fraction, operand_offset: Fraction, operand_scale: Fraction
) -> None:
    data, operand = Affine(offset, scale), Affine(operand_offset, operand_scale)
    largest = operand.then(element_wise_alignment(ElementWise.MAX, data, operand))
    assert (largest.offset, largest.scale) == (data.offset, data.scale)
    assert operand.then(element_wise_alignment(ElementWise.SUM, data, operand)).scale == data.scale
    assert operand.then(element_wise_alignment(ElementWise.PROD, data, operand)).offset == 0


@pytest.mark.slow
@given(fractions, scales, st.integers(-8, 8), fractions)
def test_the_cdp_input_converter_makes_x_times_a_power_of_two(
    offset: Fraction, scale: Fraction, point: int, x: Fraction
) -> None:
    encoding = Affine(offset, scale)
    converter = cdp_input_converter(encoding, point)
    assert (converter.offset, converter.scale) == (-offset * scale, Fraction(2) ** point / scale)
    assert converter.encode(encoding.encode(x)) == x * Fraction(2) ** point


@pytest.mark.slow
@given(fractions, scales, scales, st.integers(-8, 8), fractions)
def test_the_cdp_output_converter_makes_the_wanted_encoding(
    offset: Fraction, scale: Fraction, lut_scale: Fraction, point: int, y: Fraction
) -> None:
    converter = cdp_output_converter(Affine(offset, scale), lut_scale, point)
    assert offset == converter.offset / (lut_scale * Fraction(2) ** point)
    assert scale == lut_scale * converter.scale * Fraction(2) ** point
    assert converter.encode(y * lut_scale * Fraction(2) ** point) == (y - offset) * scale


@pytest.mark.parametrize("encoding", list(ConverterEncoding))
@pytest.mark.parametrize("scale", [1, 0.1, Fraction(1, 3), -2.75, 32767, Fraction(1, 1000)])
def test_a_real_scale_becomes_the_nearest_converter(encoding: ConverterEncoding, scale: float) -> None:
    converter, real = as_converter(Affine.of(12.4, scale), encoding)
    assert converter.offset == 12
    assert real.scale == Fraction(converter.scale, 2**converter.shift)
    step = Fraction(1, 2 ** (converter.shift + 1))
    assert abs(real.scale - Fraction(scale)) <= step
    doubled = round_half_away(Fraction(scale) * 2 ** (converter.shift + 1))
    assert converter.shift == encoding.shift_range[1] or not -32768 <= doubled <= 32767


@pytest.mark.parametrize("scale", [32768, Fraction(1, 2**80)])
def test_a_scale_that_no_shift_reaches_is_refused(scale: Fraction) -> None:
    with pytest.raises(InputError, match=rf"^scale must be representable as -32768 to 32767 >> shift, not {scale}$"):
        as_converter(Affine.of(0, scale), ConverterEncoding.SDP_OUTPUT)


def test_a_scale_of_zero_is_no_encoding() -> None:
    with pytest.raises(InputError, match=r"^scale must not be 0$"):
        Affine.of(1, 0)


def test_the_linear_input_of_the_printed_example_is_256_over_200_and_not_its_reciprocal() -> None:
    encoding = linear_input(100, 300, 257)
    assert (encoding.offset, encoding.scale) == (100, Fraction(256, 200))
    assert [encoding.encode(x) for x in (100, 200, 300)] == [0, 128, 256]
    printed = Affine.of(100, Fraction(200, 256))
    assert printed.encode(300) == Fraction(625, 4)  # 156.25: entries 157 to 256 would never be used


def test_a_table_filled_as_printed_returns_its_function_with_the_corrected_scale() -> None:
    entries = np.array([round(10 * (100 + i * 200 / 256)) for i in range(257)], dtype=np.int16)
    select = 6
    encoding = linear_input(100, 300, 257, select)
    end = linear_end(0, select, 257, LutUnit.SDP, Precision.INT16)
    lut = HybridLut(
        LutTable(np.zeros(65, np.int16), 2**30, 2**30 + 64), LutTable(entries, 0, int(end), index_select=select)
    )
    for x in (101, 150, 163.7, 299):
        value = lut_integer.lookup(lut, np.array([round(encoding.encode(x))]), LutUnit.SDP).values.item()
        assert value == pytest.approx(10 * x, abs=1)


@pytest.mark.parametrize(
    ("minimum", "maximum", "scale", "entries", "select"),
    [(0, 64, 4, 65, 2), (-8, 8, 1, 257, -4), (0, 1, 2**20, 257, 12)],
)
def test_index_select_is_the_logarithm_of_the_step(
    minimum: int, maximum: int, scale: int, entries: int, select: int
) -> None:
    assert index_select(minimum, maximum, scale, entries) == select


def test_every_measured_table_has_the_derived_end(measured: Measured) -> None:
    compared = 0
    for layer in [*measured("sdp_lut_*"), *measured("cdp_*")]:
        unit = LutUnit.SDP if layer.name.startswith("sdp") else LutUnit.CDP
        precision = Precision(layer.meta.get("proc_precision", layer.meta.get("precision")))
        lut = programmed(layer, unit.name)
        for table in (lut.le, lut.lo):
            edges = [table.start, table.end]
            if precision is Precision.FP16:
                edges = [float(v) for v in FP32.decode(np.array(edges, dtype=np.uint32))]
            if table.exponent:
                wanted = exponent_end(edges[0], table.index_offset, unit, precision)
            else:
                wanted = linear_end(edges[0], table.index_select, len(table.entries), unit, precision)
            assert FP32.encode(np.array([float(wanted)])) == FP32.encode(np.array([float(edges[1])])), layer.name
            compared += 1
    assert compared == 52


@pytest.mark.parametrize(("unit", "largest"), [(LutUnit.SDP, 2**31 - 1), (LutUnit.CDP, 2**37 - 1)])
def test_an_exponent_end_beyond_the_register_becomes_the_largest_number(unit: LutUnit, largest: int) -> None:
    assert exponent_end(0, 0, unit, Precision.INT16) == largest
    assert exponent_end(5, -60, unit, Precision.INT16) == 21
    assert exponent_end(0, 127, unit, Precision.FP16) == Fraction(FP32.max_value)


def test_exponent_fields_are_the_printed_symbols() -> None:
    # M = 3, O_in = 2: offset 3 + exp_start, start 8 * (linear_start - 2).
    assert exponent_fields(Affine.of(2, 8), 5, -32) == (-29, 24)


@pytest.mark.parametrize(
    ("unit", "precision", "entries", "low", "high"),
    [
        (LutUnit.SDP, Precision.INT8, 65, -6, 25),
        (LutUnit.SDP, Precision.INT8, 257, -8, 23),
        (LutUnit.SDP, Precision.INT16, 65, -6, 25),
        (LutUnit.SDP, Precision.INT16, 257, -8, 23),
        (LutUnit.SDP, Precision.FP16, 65, -128, 121),
        (LutUnit.SDP, Precision.FP16, 257, -128, 119),
        (LutUnit.CDP, Precision.INT8, 65, -6, 15),
        (LutUnit.CDP, Precision.INT8, 257, -8, 13),
        (LutUnit.CDP, Precision.INT16, 65, -6, 31),
        (LutUnit.CDP, Precision.INT16, 257, -8, 29),
        (LutUnit.CDP, Precision.FP16, 65, -128, 121),
        (LutUnit.CDP, Precision.FP16, 257, -128, 119),
    ],
)
def test_index_select_is_held_to_the_published_range(
    unit: LutUnit, precision: Precision, entries: int, low: int, high: int
) -> None:
    assert INDEX_SELECT_RANGE[unit, precision, entries] == (low, high)
    bits = 6 if entries == 65 else 8
    for select in (low, high):
        assert linear_end(0, select, entries, unit, precision) == Fraction(2) ** (select + bits)
    for select in (low - 1, high + 1):
        with pytest.raises(
            InputError,
            match=rf"^index select must be from {low} to {high} for {unit.name} {precision.name}, not {select}$",
        ):
            linear_end(0, select, entries, unit, precision)


@pytest.mark.parametrize(
    ("unit", "precision", "low", "high"),
    [
        (LutUnit.SDP, Precision.INT8, -64, 31),
        (LutUnit.SDP, Precision.INT16, -64, 31),
        (LutUnit.SDP, Precision.FP16, -126, 127),
        (LutUnit.CDP, Precision.INT8, -64, 20),
        (LutUnit.CDP, Precision.INT16, -64, 36),
        (LutUnit.CDP, Precision.FP16, -126, 127),
    ],
)
def test_index_offset_is_held_to_the_published_range(unit: LutUnit, precision: Precision, low: int, high: int) -> None:
    assert INDEX_OFFSET_RANGE[unit, precision] == (low, high)
    for offset in (low - 1, high + 1):
        with pytest.raises(
            InputError,
            match=rf"^index offset must be from {low} to {high} for {unit.name} {precision.name}, not {offset}$",
        ):
            exponent_end(0, offset, unit, precision)


def test_an_fp16_start_so_large_that_its_end_equals_it_is_refused() -> None:
    with pytest.raises(
        InputError,
        match=r"^start must be below 1073741824 in magnitude, not 1073741824: FP32 cannot tell the ends apart$",
    ):
        linear_end(2**30, 0, 65, LutUnit.SDP, Precision.FP16)
    assert linear_end(2**30 - 1, 0, 65, LutUnit.SDP, Precision.FP16) == 2**30 + 63


@pytest.mark.parametrize(
    ("gradient", "entry_scale", "point", "expected"),
    [
        (0.5, 16, 3, Slope(1 << 14, 14)),
        (-3, 1, 0, Slope(-24576, 13)),
        (2**20, 1, 0, Slope(1 << 14, -6)),
        (0, 1, 0, Slope(0, 15)),
    ],
)
def test_an_integer_slope_uses_the_largest_shift_that_fits(
    gradient: float, entry_scale: int, point: int, expected: Slope
) -> None:
    result = slope(gradient, entry_scale, point, Precision.INT16)
    assert result == expected
    # 2^M * SCALE / 2^SHIFT / SF = k.
    assert Fraction(2) ** point * result.scale / Fraction(2) ** result.shift / entry_scale == Fraction(gradient)


def test_an_fp16_slope_is_an_fp16_pattern_without_shift() -> None:
    assert slope(0.25, 2, 1, Precision.FP16) == Slope(int(FP16.encode(np.array([0.25]))[0]), 0)


def test_a_slope_continues_the_real_function_beyond_the_table() -> None:
    # f(x) = 3 x over [0, 64], input x * 2**4, entries f * 8.
    entries = (np.arange(65) * 24).astype(np.int16)
    lut = HybridLut(
        LutTable(entries, 0, 1024, index_select=4, overflow=slope(3, 8, 4, Precision.INT16)),
        LutTable(np.zeros(257, np.int16), 0, 256),
    )
    x = np.array([64, 70, 100])
    values = lut_integer.lookup(lut, x * 16, LutUnit.SDP).values
    np.testing.assert_array_equal(values, saturate(3 * x * 8, 32))


def refusals() -> list[tuple[str, Callable[[], object]]]:
    return [
        ("entries must be 65 or 257, not 64", lambda: index_select(0, 1, 1, 64)),
        ("distance of two entries must be a power of two, not 3/64", lambda: index_select(0, 3, 1, 65)),
        ("maximum must be above the minimum 3, not 3", lambda: linear_input(3, 3, 65)),
        (
            "scale of an exponent table's input must be a power of two, not 3",
            lambda: exponent_fields(Affine.of(0, 3), 0, 0),
        ),
        ("slope must be at most 65504 in magnitude, not 65505", lambda: slope(65505, 1, 0, Precision.FP16)),
        (
            f"slope must be representable in 16 bits shifted by at most 16, not {2**32}",
            lambda: slope(2**32, 1, 0, Precision.INT16),
        ),
        ("cc_out_trunc must be an integer from 0 to 31, not 32", lambda: bias_shift(1, 1, 1, 32)),
        ("pra_trunc must be an integer from 0 to 3, not 4", lambda: bias_shift(1, 1, 1, 0, 4)),
    ]


@pytest.mark.parametrize(("message", "act"), refusals())
def test_impossible_programming_is_refused_with_its_rule(message: str, act: Callable[[], object]) -> None:
    with pytest.raises(InputError, match=r"^.*$") as caught:
        act()
    assert str(caught.value) == message


def test_the_widths_of_the_lut_input_are_those_of_the_pipelines() -> None:
    assert [limits(unit.input_bits)[1] for unit in LutUnit] == [2**31 - 1, 2**37 - 1]
