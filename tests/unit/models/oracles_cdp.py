"""One position through the CDP in plain Python integers, written apart from the model as its oracle."""

from __future__ import annotations

from nvdla_models.cdp import CdpParams
from nvdla_models.converter import Converter
from nvdla_models.lut import LutUnit
from nvdla_models.precision import Precision
from tests.unit.models.oracles_lut import ABOVE, BELOW, INSIDE, lookup, place
from tests.unit.models.oracles_sdp import clipped, half_away

# Bits of an element in memory and behind the input converter.
BITS = {Precision.INT8: (8, 9), Precision.INT16: (16, 17)}


def convert(converter: Converter, value: int, bits: int) -> int:
    """Pass a number through a converter into a register of ``bits`` bits."""
    scaled = half_away((value - converter.offset) * converter.scale, converter.shift)
    return clipped(scaled, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


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
        factor = lookup(params.lut, x, LutUnit.CDP)
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
