"""The LUT of the FP16 pipeline: FP32 input, FP17 interpolation."""

from __future__ import annotations

import numpy as np

from nvdla_models import float_ops
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP17, FP32, BitsArray, narrow, widen
from nvdla_models.lut import HybridLut, IntArray, LutChoice, LutResult, LutTable, LutUnit, Place, Slope


def lookup(lut: HybridLut, x: BitsArray, unit: LutUnit) -> LutResult:
    """Look every input up in both tables and take the output of the one that counts.

    Args:
        lut: tables of uint16 FP16 patterns; start and end are FP32 patterns.
        x: FP32 patterns, any shape.
        unit: SDP weighs both entries, CDP adds a part of their difference.

    Returns:
        FP17 patterns and the place in each table; a NaN input gives the same NaN.

    Raises:
        InputError: when the tables hold integers, or a start or end is not a 32-bit pattern.

    Source: LUT programming; precision document, "LUT"; every step measured on the public nv_full RTL.
    """
    if lut.le.entries.dtype != np.uint16:
        raise InputError(f"entries must be uint16 FP16 patterns for the FP16 pipeline, not {lut.le.entries.dtype}")
    for name, table in (("le", lut.le), ("lo", lut.lo)):
        for edge, value in (("start", table.start), ("end", table.end)):
            if not 0 <= value < 1 << 32:
                raise InputError(f"{name} {edge} must be a 32-bit FP32 pattern, not {value}")
    le_place, le_values = _one_table(lut.le, x, unit)
    lo_place, lo_values = _one_table(lut.lo, x, unit)
    values = np.where(lut.choose(le_place, lo_place) == LutChoice.LO, lo_values, le_values)
    return LutResult(values.astype(FP17.dtype), le_place, lo_place)


def position(table: LutTable, x: BitsArray, fraction_bits: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the place of each input in one table, its index and its fraction.

    The distance to the start is rounded to FP32 first. NaN, zero and negative distances underflow.

    Args:
        table: linear or exponent.
        x: FP32 patterns, any shape.
        fraction_bits: fraction bits of the unit.

    Returns:
        Place, index (clipped to the last interval), fraction (0 to 2**fraction_bits - 1).

    Source: LUT programming, "Exponential mode" and "Linear mode"; measured on the public nv_full RTL.
    """
    distance = FP32.decode(float_ops.subtract(x, _constant(table.start), FP32))
    below = ~(distance > 0)
    positive = np.where(below, 1.0, distance)
    if table.exponent:
        log2 = np.frexp(positive)[1] - 1
        index = log2.astype(np.int64) - table.index_offset
        below |= index < 0
        part = np.ldexp(positive, -log2) - 1.0
    else:
        # An FP32 distance times a power of two is exact; beyond the table only its size matters.
        scaled = np.minimum(np.ldexp(positive, -table.index_select), float(1 << 24))
        index = np.floor(scaled).astype(np.int64)
        part = scaled - np.floor(scaled)
    fraction = np.floor(np.ldexp(part, fraction_bits)).astype(np.int64)
    place = np.where(below, Place.UNDERFLOW, np.where(index >= table.last, Place.OVERFLOW, Place.HIT))
    return place.astype(np.int64), np.clip(index, 0, table.last - 1), fraction


def _one_table(table: LutTable, x: BitsArray, unit: LutUnit) -> tuple[IntArray, BitsArray]:
    place, index, fraction = position(table, x, unit.fraction_bits)
    entries = widen(table.entries, FP17)
    part = np.ldexp(fraction.astype(np.float64), -unit.fraction_bits)
    if unit is LutUnit.SDP:
        weighted = float_ops.multiply(FP17.encode(1.0 - part), entries[index], FP17)
        hit = float_ops.add(weighted, float_ops.multiply(FP17.encode(part), entries[index + 1], FP17), FP17)
    else:
        exact = widen(table.entries, FP32)
        step = narrow(float_ops.subtract(exact[index + 1], exact[index], FP32), FP32, FP17)
        hit = float_ops.add(entries[index], float_ops.multiply(step, FP17.encode(part), FP17), FP17)
        # Of the difference the earlier entry is subtracted: its NaN comes out with the other sign.
        negated = FP17.is_nan(entries[index]) & ~FP17.is_nan(entries[index + 1])
        hit = np.where(negated, entries[index] ^ FP17.sign_bit, hit).astype(FP17.dtype)
    origin = _constant(table.start)
    if table.exponent:
        origin = float_ops.add(origin, FP32.encode(np.array([np.ldexp(1.0, table.index_offset)])), FP32)
    below = _continue(entries[:1], x, origin, table.underflow)
    above = _continue(entries[-1:], x, _constant(table.end), table.overflow)
    values = np.where(place == Place.HIT, hit, np.where(place == Place.UNDERFLOW, below, above))
    return place, values.astype(FP17.dtype)


def _continue(entry: BitsArray, x: BitsArray, origin: BitsArray, slope: Slope) -> BitsArray:
    """Return ``entry + FP17(x - origin) * slope``, rounded to FP17 after each step."""
    distance = narrow(float_ops.subtract(x, origin, FP32), FP32, FP17)
    scale = widen(np.array([slope.scale & 0xFFFF], dtype=np.uint16), FP17)
    return float_ops.add(entry, float_ops.multiply(distance, scale, FP17), FP17)


def _constant(pattern: int) -> BitsArray:
    return np.array([pattern], dtype=FP32.dtype)
