"""The LUT of the INT8 and INT16 pipelines.

int64 is exact throughout: an SDP input and its distance to a start have at most 34 bits, times a
16-bit slope 50; an entry times a 35-bit fraction has 51. A CDP distance has at most 40 bits, times
a slope 56.
"""

from __future__ import annotations

import numpy as np

from nvdla_models.arithmetic import (
    HARDWARE,
    Rules,
    Site,
    Step,
    limits,
    saturate,
    shift_left_saturating,
    shift_right_rounded,
)
from nvdla_models.errors import InputError
from nvdla_models.lut import HybridLut, IntArray, LutChoice, LutResult, LutTable, LutUnit, Place, Slope

_RESULT_BITS = {LutUnit.SDP: 32, LutUnit.CDP: 16}


def lookup(lut: HybridLut, x: IntArray, unit: LutUnit, rules: Rules = HARDWARE) -> LutResult:
    """Look every input up in both tables and take the output of the one that counts.

    Args:
        lut: tables of int16 entries.
        x: int64, any shape, within the unit's input width.
        unit: SDP interpolates with a 35-bit fraction, CDP with 16 bits.
        rules: rules of rounding and saturation.

    Returns:
        int64 values, at most 32 bits in SDP and 16 in CDP, and the place in each table.

    Raises:
        InputError: when the tables hold FP16 patterns, or an input or a range does not fit the unit.

    Source: LUT programming; precision document, "LUT"; widths and rounding measured on the public
        nv_full RTL (all 65,536 inputs of SDP).
    """
    low, high = limits(unit.input_bits)
    if lut.le.entries.dtype != np.int16:
        raise InputError(f"entries must be int16 for the integer pipeline, not {lut.le.entries.dtype}")
    for name, value in (("le start", lut.le.start), ("le end", lut.le.end), ("lo start", lut.lo.start)):
        _check_width(name, value, low, high)
    _check_width("lo end", lut.lo.end, low, high)
    if x.size:
        _check_width("x", int(x.min()), low, high)
        _check_width("x", int(x.max()), low, high)
    wide = x.astype(np.int64)
    le_place, le_values = _one_table(lut.le, wide, unit, rules.at(Site.LE))
    lo_place, lo_values = _one_table(lut.lo, wide, unit, rules.at(Site.LO))
    values = np.where(lut.choose(le_place, lo_place) == LutChoice.LO, lo_values, le_values)
    return LutResult(values, le_place, lo_place)


def position(
    table: LutTable, x: IntArray, fraction_bits: int, rules: Rules = HARDWARE
) -> tuple[IntArray, IntArray, IntArray]:
    """Return the place of each input in one table, its index and its fraction.

    An input at the start underflows, one at the end overflows; both then get the end's own entry.

    Args:
        table: linear or exponent.
        x: int64, any shape.
        fraction_bits: fraction bits of the unit.
        rules: rules of saturation.

    Returns:
        Place, index (clipped to the last interval), fraction (0 to 2**fraction_bits - 1).

    Source: LUT programming, "Exponential mode" and "Linear mode"; the strict comparison measured on
        the public nv_full RTL.
    """
    distance = x - table.start
    below = distance <= 0
    positive = np.where(below, 1, distance)
    if table.exponent:
        # A distance has at most 40 bits, so float64 gives its exponent exactly.
        log2 = (np.frexp(positive.astype(np.float64))[1] - 1).astype(np.int64)
        index = log2 - table.index_offset
        below |= index < 0
        fraction = _align(positive - (np.int64(1) << log2), log2, fraction_bits)
    elif table.index_select >= 0:
        select = min(table.index_select, 62)
        index = positive >> select
        fraction = _align(positive & ((1 << select) - 1), np.full_like(positive, select), fraction_bits)
    else:
        index = shift_left_saturating(positive, min(-table.index_select, 63), 32, rules)
        fraction = np.zeros_like(positive)
    if rules.watch is not None:
        rules.watch(rules.site, Step.INDEX, np.where(below, -1, index), table.last)
    place = np.where(below, Place.UNDERFLOW, np.where(index >= table.last, Place.OVERFLOW, Place.HIT))
    return place.astype(np.int64), np.clip(index, 0, table.last - 1), fraction


def _align(remainder: IntArray, bits: IntArray, fraction_bits: int) -> IntArray:
    """Scale a remainder of ``bits`` bits to ``fraction_bits`` bits, cutting off what is below."""
    left = np.maximum(fraction_bits - bits, 0)
    right = np.maximum(bits - fraction_bits, 0)
    return (remainder << left) >> right


def _one_table(table: LutTable, x: IntArray, unit: LutUnit, rules: Rules) -> tuple[IntArray, IntArray]:
    bits = unit.fraction_bits
    place, index, fraction = position(table, x, bits, rules)
    entries = table.entries.astype(np.int64)
    first, second = entries[index], entries[index + 1]
    if not rules.interpolates:
        hit = first
    elif unit is LutUnit.SDP:
        hit = shift_right_rounded(first * ((1 << bits) - fraction) + second * fraction, bits, rules)
    else:
        hit = first + shift_right_rounded((second - first) * fraction, bits, rules)
    origin = table.start
    if table.exponent and table.index_offset >= 0:
        origin += 1 << min(table.index_offset, unit.input_bits)
    below = _continue(entries[0], x - origin, table.underflow, unit, rules)
    above = _continue(entries[-1], x - table.end, table.overflow, unit, rules)
    return place, np.where(place == Place.HIT, hit, np.where(place == Place.UNDERFLOW, below, above))


def _continue(entry: np.int64, distance: IntArray, slope: Slope, unit: LutUnit, rules: Rules) -> IntArray:
    """Return ``entry + (distance * scale >> shift)``, saturated.

    SDP saturates the shifted product to 32 bits too, before the addition; CDP keeps it whole.

    Source: published C model (SDP) and RTL (CDP) of the hardware, because no measured input saturates.
    """
    product = distance * slope.scale
    if slope.shift < 0:
        moved = shift_left_saturating(product, -slope.shift, 32, rules)
    else:
        moved = shift_right_rounded(product, slope.shift, rules)
    if unit is LutUnit.SDP:
        moved = saturate(moved, _RESULT_BITS[unit], rules)
    return saturate(moved + entry, _RESULT_BITS[unit], rules)


def _check_width(name: str, value: int, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InputError(f"{name} must be from {low} to {high}, not {value}")
