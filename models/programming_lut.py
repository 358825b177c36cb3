"""Values that a programmer derives for the lookup tables: ranges, index fields, slopes, and the converter before."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from models.errors import InputError
from models.fp16 import FP16, FP32
from models.lut import LE_ENTRIES, LO_ENTRIES, LutUnit, Slope
from models.precision import Precision
from models.programming import Affine, Number, log2_exact, round_half_away

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


def index_select(minimum: Number, maximum: Number, scale: Number, entries: int) -> int:
    """Return INDEX_SELECT of a linear table over [minimum, maximum].

    Args:
        minimum: real number of entry 0.
        maximum: real number of the last entry.
        scale: SF of the LUT input.
        entries: 65 or 257.

    Raises:
        InputError: when the distance of two entries is no power of two.

    Source: LUT programming, "Linear mode": (max - min) * SF_in = 2^(C - M), INDEX_SELECT = -M.
    """
    distance = (Fraction(maximum) - Fraction(minimum)) * Fraction(scale)
    step = distance / (1 << _interval_bits(entries))
    select = log2_exact(step)
    if select is None:
        raise InputError(f"distance of two entries must be a power of two, not {step}")
    return select


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


def exponent_fields(encoding: Affine, start: Number, first_exponent: int) -> tuple[int, Fraction]:
    """Return LE_INDEX_OFFSET and LE_START of an exponent table with entries at ``start + 2**(first + i)``.

    Args:
        encoding: encoding of the LUT input; its scale must be a power of two.
        start: ``linear_start``, a real number.
        first_exponent: ``exp_start``.

    Returns:
        ``M + exp_start`` and ``SF_in * (linear_start - O_in)``.

    Raises:
        InputError: when the scale is no power of two.

    Source: LUT programming, "Exponential mode".
    """
    shift = log2_exact(encoding.scale)
    if shift is None:
        raise InputError(f"scale of an exponent table's input must be a power of two, not {encoding.scale}")
    return shift + first_exponent, encoding.encode(start)


def linear_input(minimum: Number, maximum: Number, entries: int, select: int = 0) -> Affine:
    """Return the encoding with which entry i is ``f(minimum + i * (maximum - minimum) / intervals)``.

    For [100, 300] and 257 entries it is O = 100, SF = 256 / 200: the document prints the reciprocal,
    200 / 256, with which the input 300 would reach entry 156 only.

    Args:
        minimum: real number of entry 0.
        maximum: real number of the last entry.
        entries: 65 or 257.
        select: INDEX_SELECT; each step finer keeps one more bit for interpolation.

    Raises:
        InputError: when the range is empty.

    Source: precision document, "Activation (Sigmoid/TanH, etc.)".
    """
    width = Fraction(maximum) - Fraction(minimum)
    if width <= 0:
        raise InputError(f"maximum must be above the minimum {minimum}, not {maximum}")
    intervals = 1 << _interval_bits(entries)
    return Affine(Fraction(minimum), intervals * Fraction(2) ** select / width)


def slope(gradient: Number, entry_scale: Number, binary_point: int, precision: Precision) -> Slope:
    """Return scale and shift of an out-of-range slope.

    Args:
        gradient: k of the real function.
        entry_scale: SF of the entries.
        binary_point: M: the LUT input is ``x * 2**M``.
        precision: FP16 has no shift.

    Returns:
        The nearest slope the registers can hold.

    Raises:
        InputError: when it is too steep.

    Source: LUT programming, "Out-of-range control": 2^M * SCALE / 2^SHIFT / SF = k.
    """
    wanted = Fraction(gradient) * Fraction(entry_scale) / Fraction(2) ** binary_point
    if precision is Precision.FP16:
        if abs(wanted) > int(FP16.max_value):
            raise InputError(f"slope must be at most 65504 in magnitude, not {wanted}")
        return Slope(int(FP16.encode(np.array([float(wanted)]))[0]))
    for shift in range(15, -17, -1):
        scale = round_half_away(wanted * Fraction(2) ** shift)
        if -(1 << 15) <= scale < 1 << 15:
            return Slope(scale, shift)
    raise InputError(f"slope must be representable in 16 bits shifted by at most 16, not {wanted}")


def _interval_bits(entries: int) -> int:
    if entries not in _INTERVAL_BITS:
        raise InputError(f"entries must be 65 or 257, not {entries}")
    return _INTERVAL_BITS[entries]
