"""One position through the CDP in plain Python integers and fractions, written apart from the model as its oracle."""

from __future__ import annotations

from fractions import Fraction

from models.cdp import CdpParams
from models.converter import Converter
from models.lut import LutChoice, LutTable, Slope
from models.precision import Precision
from tests.unit.models.oracles_sdp import clipped, half_away

# Bits of an element in memory and behind the input converter.
BITS = {Precision.INT8: (8, 9), Precision.INT16: (16, 17)}

BELOW, INSIDE, ABOVE = "below", "inside", "above"


def convert(converter: Converter, value: int, bits: int) -> int:
    """Pass a number through a converter into a register of ``bits`` bits."""
    scaled = half_away((value - converter.offset) * converter.scale, converter.shift)
    return clipped(scaled, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def place(table: LutTable, x: int) -> tuple[str, Fraction]:
    """Say where a number lies, and at which entry, as a fraction of which 16 bits behind the point count."""
    if x <= table.start:
        return BELOW, Fraction(0)
    distance = x - table.start
    last = len(table.entries) - 1
    if not table.exponent:
        at = Fraction(distance) / Fraction(2) ** table.index_select
    else:
        power = 0
        while 2 ** (power + 1) <= distance:
            power += 1
        if power < table.index_offset:
            return BELOW, Fraction(0)
        at = power - table.index_offset + Fraction(distance, 2**power) - 1
    if at >= last:
        return ABOVE, Fraction(last)
    return INSIDE, Fraction(at * 2**16 // 1, 2**16)


def beyond(entry: int, distance: int, slope: Slope) -> int:
    """Continue a table by a straight line."""
    if slope.shift < 0:
        step = distance * slope.scale * 2**-slope.shift
    else:
        step = half_away(distance * slope.scale, slope.shift)
    return clipped(entry + step, -(2**15), 2**15 - 1)


def output(table: LutTable, x: int) -> int:
    """Look a number up in one table."""
    where, at = place(table, x)
    if where == ABOVE:
        return beyond(int(table.entries[-1]), x - table.end, table.overflow)
    if where == BELOW:
        first = table.start
        if table.exponent and table.index_offset >= 0:
            first = table.start + 2**table.index_offset
        return beyond(int(table.entries[0]), x - first, table.underflow)
    index = int(at)
    here, there = int(table.entries[index]), int(table.entries[index + 1])
    return here + half_away(int((there - here) * (at - index) * 2**16), 16)


def chosen(params: CdpParams, x: int) -> LutTable:
    """Choose the table whose output counts."""
    lut = params.lut
    places = place(lut.le, x)[0], place(lut.lo, x)[0]
    if places[0] == INSIDE != places[1]:
        return lut.le
    if places[1] == INSIDE != places[0]:
        return lut.lo
    priority = {(BELOW, BELOW): lut.underflow_priority, (ABOVE, ABOVE): lut.overflow_priority}
    return lut.lo if priority.get(places, lut.hybrid_priority) is LutChoice.LO else lut.le


def looked_up(params: CdpParams, data: list[int], channel: int) -> int:
    """Return the number that is looked up for one channel."""
    if params.local_size is None:
        return data[channel]
    reach = params.local_size // 2
    total = 0
    for other in range(channel - reach, channel + reach + 1):
        if 0 <= other < len(data):
            total += data[other] ** 2
    return total


def entered(params: CdpParams, column: list[int], channels: int) -> list[int]:
    """Return the channels of one position behind the input converter."""
    bits = BITS[params.precision][1]
    return [convert(params.input_converter, x, bits) if c < channels else 0 for c, x in enumerate(column)]


def position(params: CdpParams, column: list[int], channels: int) -> list[int]:
    """Compute all channels of one position, of which ``channels`` are real."""
    data = entered(params, column, channels)
    result = []
    for channel, element in enumerate(data):
        x = looked_up(params, data, channel)
        factor = output(chosen(params, x), x)
        value = factor * element if params.multiply else factor
        result.append(convert(params.output_converter, value, BITS[params.precision][0]))
    return result


def classes(params: CdpParams, column: list[int], channels: int) -> dict[str, int]:
    """Count the channels of one position by the tables that their numbers lie in; each counts once."""
    counts = {"le_hit": 0, "lo_hit": 0, "underflow": 0, "overflow": 0, "hybrid": 0}
    names = {
        (INSIDE, BELOW): "le_hit",
        (INSIDE, ABOVE): "le_hit",
        (BELOW, INSIDE): "lo_hit",
        (ABOVE, INSIDE): "lo_hit",
        (BELOW, BELOW): "underflow",
        (ABOVE, ABOVE): "overflow",
        (INSIDE, INSIDE): "hybrid",
        (BELOW, ABOVE): "hybrid",
        (ABOVE, BELOW): "hybrid",
    }
    data = entered(params, column, channels)
    for channel in range(len(data)):
        x = looked_up(params, data, channel)
        counts[names[place(params.lut.le, x)[0], place(params.lut.lo, x)[0]]] += 1
    return counts
