"""Ends of lookup tables, and tables that are programmed as the documents say."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from models import lut_integer
from models.arithmetic import limits, saturate, shift_left_saturating, shift_right_rounded
from models.errors import InputError
from models.fp16 import FP32
from models.lut import HybridLut, LutTable, LutUnit, Slope
from models.lut_ranges import INDEX_OFFSET_RANGE, INDEX_SELECT_RANGE, exponent_end, linear_end
from models.precision import Precision
from models.tolerance_conv import Window, window_sum
from tests.unit.models.precision.conftest import Measured
from tests.unit.models.precision.test_lut_measured import programmed


def test_a_shifted_bias_is_addable_to_the_truncated_sum() -> None:
    in_scale, weight_scale, bias_scale, trunc = 64, 32, 4, 4
    real_sum, real_bias = 3.0, 2.5
    accumulated = shift_right_rounded(np.array([int(real_sum * in_scale * weight_scale)]), trunc)
    bias = np.array([int(real_bias * bias_scale)])
    shift = 5  # 4 * 2**5 = 64 * 32 / 2**4
    assert bias_scale << shift == in_scale * weight_scale >> trunc
    total = accumulated + shift_left_saturating(bias, shift, 32)
    assert total.item() == (real_sum + real_bias) * in_scale * weight_scale / 2**trunc


def test_valued_padding_and_compensation_restore_the_convolution_of_real_numbers() -> None:
    rng = np.random.default_rng(9)
    offset, scale = -5, 2
    real = rng.integers(-20, 20, (4, 6, 5))
    weight = rng.integers(-7, 7, (3, 4, 3, 3))
    window = Window(pad_left=1, pad_right=1, pad_top=1, pad_bottom=1)
    encoded = (real - offset) * scale
    padding = -offset * scale
    sums = window_sum(encoded.astype(float), weight.astype(float), window, float(padding))
    add = scale * offset * weight.sum(axis=(1, 2, 3))
    restored = sums + add[:, np.newaxis, np.newaxis]
    wanted = scale * window_sum(real.astype(float), weight.astype(float), window)
    np.testing.assert_array_equal(restored, wanted)
    zero_padded = window_sum(encoded.astype(float), weight.astype(float), window) + add[:, np.newaxis, np.newaxis]
    assert (zero_padded != wanted).any()


def test_a_table_filled_as_printed_returns_its_function_with_the_corrected_scale() -> None:
    entries = np.array([round(10 * (100 + i * 200 / 256)) for i in range(257)], dtype=np.int16)
    select = 6
    # The document prints the reciprocal, 200 / 256, with which the input 300 would reach entry 156 only.
    scale = 256 / 200 * 2**select
    end = linear_end(0, select, 257, LutUnit.SDP, Precision.INT16)
    lut = HybridLut(
        LutTable(np.zeros(65, np.int16), 2**30, 2**30 + 64), LutTable(entries, 0, int(end), index_select=select)
    )
    for x in (101, 150, 163.7, 299):
        value = lut_integer.lookup(lut, np.array([round((x - 100) * scale)]), LutUnit.SDP).values.item()
        assert value == pytest.approx(10 * x, abs=1)


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


def test_a_slope_continues_the_real_function_beyond_the_table() -> None:
    # f(x) = 3 x over [0, 64], input x * 2**4, entries f * 8: a slope of 24 / 16 = 24576 / 2**14.
    entries = (np.arange(65) * 24).astype(np.int16)
    lut = HybridLut(
        LutTable(entries, 0, 1024, index_select=4, overflow=Slope(24576, 14)),
        LutTable(np.zeros(257, np.int16), 0, 256),
    )
    x = np.array([64, 70, 100])
    values = lut_integer.lookup(lut, x * 16, LutUnit.SDP).values
    np.testing.assert_array_equal(values, saturate(3 * x * 8, 32))


def test_the_widths_of_the_lut_input_are_those_of_the_pipelines() -> None:
    assert [limits(unit.input_bits)[1] for unit in LutUnit] == [2**31 - 1, 2**37 - 1]
