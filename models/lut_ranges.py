"""Ranges of the index fields of lookup tables, and the ends of tables that follow from them."""

from __future__ import annotations

from fractions import Fraction

from models.errors import InputError
from models.fp16 import FP32
from models.lut import LE_ENTRIES, LO_ENTRIES, LutUnit
from models.precision import Precision

Number = int | float | Fraction

_INTERVAL_BITS = {LE_ENTRIES: 6, LO_ENTRIES: 8}

INDEX_SELECT_RANGE = {
    (LutUnit.SDP, Precision.INT8, LE_ENTRIES): (-6, 25),
    (LutUnit.SDP, Precision.INT8, LO_ENTRIES): (-8, 23),
    (LutUnit.SDP, Precision.INT16, LE_ENTRIES): (-6, 25),
    (LutUnit.SDP, Precision.INT16, LO_ENTRIES): (-8, 23),
    (LutUnit.SDP, Precision.FP16, LE_ENTRIES): (-128, 121),
    (LutUnit.SDP, Precision.FP16, LO_ENTRIES): (-128, 119),
    (LutUnit.CDP, Precision.INT8, LE_ENTRIES): (-6, 15),
    (LutUnit.CDP, Precision.INT8, LO_ENTRIES): (-8, 13),
    (LutUnit.CDP, Precision.INT16, LE_ENTRIES): (-6, 31),
    (LutUnit.CDP, Precision.INT16, LO_ENTRIES): (-8, 29),
    (LutUnit.CDP, Precision.FP16, LE_ENTRIES): (-128, 121),
    (LutUnit.CDP, Precision.FP16, LO_ENTRIES): (-128, 119),
}
"""Allowed INDEX_SELECT of a linear table.

Source: programming guide, "LUT".
"""

INDEX_OFFSET_RANGE = {
    (LutUnit.SDP, Precision.INT8): (-64, 31),
    (LutUnit.SDP, Precision.INT16): (-64, 31),
    (LutUnit.SDP, Precision.FP16): (-126, 127),
    (LutUnit.CDP, Precision.INT8): (-64, 20),
    (LutUnit.CDP, Precision.INT16): (-64, 36),
    (LutUnit.CDP, Precision.FP16): (-126, 127),
}
"""Allowed LE_INDEX_OFFSET of an exponent table.

Source: programming guide, "LUT".
"""


def linear_end(start: Number, select: int, entries: int, unit: LutUnit, precision: Precision) -> Fraction:
    """Return the end of a linear table: ``start + 2**(select + 6)``, or 8 for 257 entries.

    Args:
        start: encoded value of entry 0.
        select: INDEX_SELECT.
        entries: 65 or 257.
        unit: SDP or CDP.
        precision: precision of the pipeline.

    Raises:
        InputError: when ``select`` is outside the hardware's range, or for FP16 the start is so large that
            the end would equal it.

    Source: programming guide, "LUT".
    """
    bits = _interval_bits(entries)
    low, high = INDEX_SELECT_RANGE[unit, precision, entries]
    if not low <= select <= high:
        raise InputError(f"index select must be from {low} to {high} for {unit.name} {precision.name}, not {select}")
    width = Fraction(2) ** (select + bits)
    if precision is Precision.FP16 and abs(Fraction(start)) >= width * 2**24:
        raise InputError(
            f"start must be below {width * 2**24} in magnitude, not {start}: FP32 cannot tell the ends apart"
        )
    return Fraction(start) + width


def exponent_end(start: Number, offset: int, unit: LutUnit, precision: Precision) -> Fraction:
    """Return the end of an exponent table: ``start + 2**(offset + 64)``, or the largest the registers hold.

    Args:
        start: encoded value below entry 0.
        offset: LE_INDEX_OFFSET.
        unit: SDP or CDP.
        precision: precision of the pipeline.

    Raises:
        InputError: when ``offset`` is outside the hardware's range.

    Source: programming guide, "LUT".
    """
    low, high = INDEX_OFFSET_RANGE[unit, precision]
    if not low <= offset <= high:
        raise InputError(f"index offset must be from {low} to {high} for {unit.name} {precision.name}, not {offset}")
    integer = (1 << (unit.input_bits - 1)) - 1
    largest = Fraction(FP32.max_value if precision is Precision.FP16 else integer)
    return min(Fraction(start) + Fraction(2) ** (offset + LE_ENTRIES - 1), largest)


def _interval_bits(entries: int) -> int:
    if entries not in _INTERVAL_BITS:
        raise InputError(f"entries must be 65 or 257, not {entries}")
    return _INTERVAL_BITS[entries]
