"""Lookup tables from entries of plans."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.fp16 import FP32
from nvdla_models.lut import (
    LE_ENTRIES,
    LO_ENTRIES,
    HybridLut,
    LutChoice,
    LutTable,
    LutUnit,
    Slope,
    exponent_end,
    linear_end,
)
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.layers.data import draw_patterns
from nvdla_tb.stimulus.generate.layers.entries import LutEntry, LutTableEntry
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, span


def hybrid_lut(shop: Workshop, entry: LutEntry, unit: LutUnit, precision: Precision) -> HybridLut:
    """Return both tables, with random entries of the range that is asked for, or FP16 of its kind.

    Args:
        shop: Configuration, memory and randomness.
        entry: What a plan says of the tables.
        unit: SDP or CDP.
        precision: Of the pipeline.
    """
    low, high = span("entries", entry.entries, (-(1 << 15), (1 << 15) - 1))
    tables = []
    for part, count in ((entry.le, LE_ENTRIES), (entry.lo, LO_ENTRIES)):
        entries: NDArray[Any]
        if precision is Precision.FP16:
            entries = draw_patterns(shop.rng, count, entry.numbers)
        else:
            entries = shop.rng.integers(low, high, count, dtype=np.int16, endpoint=True)
        tables.append(_table(part, entries, unit, precision))
    le, lo = tables
    priorities = [LutChoice[case.upper()] for case in (entry.underflow, entry.overflow, entry.hybrid)]
    return HybridLut(le, lo, *priorities)


def _table(entry: LutTableEntry, entries: NDArray[Any], unit: LutUnit, precision: Precision) -> LutTable:
    """Return one table that ends where the programming guide wants it, unless the entry says where."""
    start, offset = entry.start, entry.exponent
    is_float = precision is Precision.FP16
    begin = Fraction(float(FP32.decode(np.array([start], np.uint32))[0])) if is_float else start
    if offset is not None:
        natural = exponent_end(begin, offset, unit, precision)
    else:
        natural = linear_end(begin, entry.select, len(entries), unit, precision)
    last = int(FP32.encode(np.array([float(natural)]))[0]) if is_float else int(natural)
    end = last if entry.end is None else entry.end
    slopes = [Slope(*side) for side in (entry.underflow, entry.overflow)]
    return LutTable(entries, start, end, entry.select, offset is not None, offset or 0, *slopes)
