"""Lookup tables from descriptions."""

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
from nvdla_tb.stimulus.generate.describe import PlanError, Table
from nvdla_tb.stimulus.generate.layers.data import draw_patterns
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, take_numbers


def take_lut(shop: Workshop, table: Table, unit: LutUnit, precision: Precision) -> HybridLut:
    """Return both tables, with random entries of the range that the description gives, or FP16 of its kind.

    Args:
        shop: Configuration, memory and randomness.
        table: The description of the tables.
        unit: SDP or CDP.
        precision: Of the pipeline; in FP16 ``start`` and ``end`` are FP32 patterns, scales of slopes FP16 patterns.
    """
    low, high = table.span("entries", (-(1 << 15), (1 << 15) - 1))
    numbers = take_numbers(table, Precision.FP16)
    tables = []
    for name, count in (("le", LE_ENTRIES), ("lo", LO_ENTRIES)):
        part = table.table(name)
        if part is None:
            raise PlanError(f"{table.where} lacks the key {name}")
        entries: NDArray[Any]
        if precision is Precision.FP16:
            entries = draw_patterns(shop.rng, count, numbers)
        else:
            entries = shop.rng.integers(low, high, count, dtype=np.int16, endpoint=True)
        tables.append(_table(part, entries, unit, precision))
    priorities = [table.choice(case, LutChoice) or LutChoice.LE for case in ("underflow", "overflow", "hybrid")]
    table.done()
    le, lo = tables
    return HybridLut(le, lo, *priorities)


def _table(table: Table, entries: NDArray[Any], unit: LutUnit, precision: Precision) -> LutTable:
    """Return one table that ends where the programming guide wants it, unless the description says where."""
    start = table.take("start", int, required=True)
    offset = table.take("exponent", int)
    select = table.take("select", int, 0)
    is_float = precision is Precision.FP16
    begin = Fraction(float(FP32.decode(np.array([start], np.uint32))[0])) if is_float else start
    if offset is not None:
        natural = exponent_end(begin, offset, unit, precision)
    else:
        natural = linear_end(begin, select, len(entries), unit, precision)
    last = int(FP32.encode(np.array([float(natural)]))[0]) if is_float else int(natural)
    end = table.take("end", int, last)
    slopes = [Slope(*table.integers(side, 2, (0, 0))) for side in ("underflow", "overflow")]
    table.done()
    return LutTable(entries, start, end, select, offset is not None, offset or 0, *slopes)
