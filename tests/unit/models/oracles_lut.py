"""One lookup of an integer in exact arithmetic, branch by branch, written apart from the model as its oracle."""

from __future__ import annotations

from fractions import Fraction

from nvdla_models.lut import HybridLut, LutChoice, LutTable, LutUnit, Slope
from tests.unit.models.oracles_sdp import clipped, half_away

# Bits of the result.
WIDTHS = {LutUnit.SDP: 32, LutUnit.CDP: 16}

BELOW, INSIDE, ABOVE = "below", "inside", "above"


def place(table: LutTable, x: int) -> tuple[str, Fraction]:
    """Say where a number lies, and at which entry."""
    if x <= table.start:
        return BELOW, Fraction(0)
    distance = x - table.start
    last = len(table.entries) - 1
    if not table.exponent:
        at = Fraction(distance) / Fraction(2) ** table.index_select
    else:
        power = distance.bit_length() - 1
        if power < table.index_offset:
            return BELOW, Fraction(0)
        at = power - table.index_offset + Fraction(distance, 2**power) - 1
    return (ABOVE, Fraction(last)) if at >= last else (INSIDE, at)


def beyond(entry: int, distance: int, slope: Slope, unit: LutUnit) -> int:
    """Continue a table by a straight line; only SDP saturates the step itself."""
    low, high = -(2 ** (WIDTHS[unit] - 1)), 2 ** (WIDTHS[unit] - 1) - 1
    product = distance * slope.scale
    step = product * 2**-slope.shift if slope.shift < 0 else half_away(product, slope.shift)
    if unit is LutUnit.SDP:
        step = clipped(step, low, high)
    return clipped(entry + step, low, high)


def output(table: LutTable, x: int, unit: LutUnit) -> int:
    """Look a number up in one table."""
    where, at = place(table, x)
    if where == ABOVE:
        return beyond(int(table.entries[-1]), x - table.end, table.overflow, unit)
    if where == BELOW:
        first = table.start
        if table.exponent and table.index_offset >= 0:
            first = table.start + 2**table.index_offset
        return beyond(int(table.entries[0]), x - first, table.underflow, unit)
    index, bits = int(at), unit.fraction_bits
    part = int((at - index) * 2**bits)
    here, there = int(table.entries[index]), int(table.entries[index + 1])
    if unit is LutUnit.SDP:
        return half_away(here * (2**bits - part) + there * part, bits)
    return here + half_away((there - here) * part, bits)


def lookup(lut: HybridLut, x: int, unit: LutUnit) -> int:
    """Look a number up in the table whose output counts."""
    places = place(lut.le, x)[0], place(lut.lo, x)[0]
    if INSIDE in places and places[0] != places[1]:
        return output(lut.le if places[0] == INSIDE else lut.lo, x, unit)
    priority = {(BELOW, BELOW): lut.underflow_priority, (ABOVE, ABOVE): lut.overflow_priority}
    return output(lut.lo if priority.get(places, lut.hybrid_priority) is LutChoice.LO else lut.le, x, unit)
