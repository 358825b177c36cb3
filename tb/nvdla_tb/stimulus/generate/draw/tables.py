"""Lookup tables at random, of CDP and of SDP's Y."""

from __future__ import annotations

import numpy as np

from nvdla_models.cdp import widths
from nvdla_models.fp16 import FP16, FP32
from nvdla_models.lut import INDEX_OFFSET_RANGE, INDEX_SELECT_RANGE, LE_ENTRIES, LO_ENTRIES, LutUnit
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.numbers import Description, draw_numbers, draw_wide, one_of

_ALL = (-(1 << 15), (1 << 15) - 1)
ENTRIES = (_ALL, _ALL, (-200, 200), (-200, 200), (-1, 1), ((1 << 15) - 2, (1 << 15) - 1))
_CHOICES = ("le", "lo")
_FLOAT_STARTS = (0.0, -1.0, 1.0, -8.0, 0.001)


def draw_priorities(rng: np.random.Generator) -> Description:
    """Draw which table is taken where both could be."""
    return {case: one_of(rng, _CHOICES) for case in ("underflow", "overflow", "hybrid")}


def draw_lut(rng: np.random.Generator, unit: LutUnit, precision: Precision, bits: int) -> Description:
    """Draw both tables for a pipeline of SDP, or for FP16.

    Args:
        rng: Randomness.
        unit: SDP or CDP.
        precision: Precision of the pipeline.
        bits: Magnitude of most of what is looked up; of no meaning for FP16.
    """
    if precision is Precision.FP16:
        tables = {"numbers": draw_numbers(rng), **draw_priorities(rng)}
        return tables | {name: _float_table(rng, unit, count) for name, count in _TABLES}
    entries = ENTRIES[int(rng.integers(len(ENTRIES)))]
    tables = {"entries": list(entries), **draw_priorities(rng)}
    return tables | {name: _integer_table(rng, unit, precision, count, bits) for name, count in _TABLES}


_TABLES = (("le", LE_ENTRIES), ("lo", LO_ENTRIES))


def _integer_table(rng: np.random.Generator, unit: LutUnit, precision: Precision, count: int, bits: int) -> Description:
    """Draw one table that covers most of what is looked up, or a part of it."""
    start = draw_wide(rng, unit.input_bits) if rng.random() < 0.2 else int(rng.integers(-(1 << bits), 1 << bits))
    table: Description = {"start": start, **_slopes(rng)}
    covered = bits + 1 - (count - 1).bit_length()
    if count == LE_ENTRIES and rng.random() < 0.5:
        table["exponent"] = within(rng, INDEX_OFFSET_RANGE[unit, precision], (bits - 20, bits))
    else:
        table["select"] = within(rng, INDEX_SELECT_RANGE[unit, precision, count], (covered - 2, covered + 3))
    return table | _end(rng, table, unit, count)


def _end(rng: np.random.Generator, table: Description, unit: LutUnit, count: int) -> Description:
    """Draw where a table ends: where it should, as a rule, unless no register holds that."""
    anywhere = {"end": draw_wide(rng, unit.input_bits)} if rng.random() < 0.15 else {}
    natural = table["start"] + 2.0 ** (table.get("select", 0) + (count - 1).bit_length() - 1)
    if natural >= 2 ** (unit.input_bits - 1) and not anywhere:
        return {"end": draw_wide(rng, unit.input_bits)}
    return anywhere


def _float_table(rng: np.random.Generator, unit: LutUnit, count: int) -> Description:
    """Draw one table of FP16: ``start`` is a pattern of FP32, and scales of slopes are patterns of FP16."""
    value = one_of(rng, _FLOAT_STARTS) if rng.random() < 0.7 else float(rng.normal()) * 2.0 ** int(rng.integers(-6, 7))
    table: Description = {"start": int(FP32.encode(np.array([value]))[0])}
    for side in ("underflow", "overflow"):
        table[side] = [int(FP16.encode(np.array([rng.normal()]))[0]), 0]
    if count == LE_ENTRIES and rng.random() < 0.5:
        table["exponent"] = within(rng, INDEX_OFFSET_RANGE[unit, Precision.FP16], (-20, 5), rare=0.1)
    else:
        # Far beyond the start, FP32 could not tell the ends of a table apart.
        limits = INDEX_SELECT_RANGE[unit, Precision.FP16, count]
        table["select"] = within(rng, (-10, limits[1]), (-8, 3), rare=0.1)
    return table


def _slopes(rng: np.random.Generator) -> Description:
    return {side: [draw_wide(rng, 16), int(rng.integers(-16, 16))] for side in ("underflow", "overflow")}


def draw_sum_table(rng: np.random.Generator, precision: Precision, count: int, *, sums: bool) -> Description:
    """Draw one table of CDP for integers: mostly where the inputs lie, which are sums of squares, or elements."""
    more = precision.bits - 8
    usual = [0, -1, 1, int(rng.integers(-300, 301)) << more]
    usual += [int(rng.integers(0, 60_000)) << (2 * more)] if sums else []
    table: Description = {
        "start": draw_wide(rng, widths(precision).start) if rng.random() < 0.2 else one_of(rng, usual),
        **_slopes(rng),
    }
    if count == LE_ENTRIES and rng.random() < 0.5:
        table["exponent"] = within(rng, INDEX_OFFSET_RANGE[LutUnit.CDP, precision], (-3, 20 + 2 * more))
    else:
        low, high = (2 + 2 * more, 13 + 2 * more) if sums else (-3 + more, 4 + more)
        table["select"] = within(rng, INDEX_SELECT_RANGE[LutUnit.CDP, precision, count], (low, high))
    return table | _end(rng, table, LutUnit.CDP, count)


def within(rng: np.random.Generator, limits: tuple[int, int], usual: tuple[int, int], rare: float = 0.4) -> int:
    """Draw a number within the limits, ``rare`` of the times from all of them and else from their usual part."""
    low, high = limits if rng.random() < rare else (max(limits[0], usual[0]), min(limits[1], usual[1]))
    return int(rng.integers(min(low, high), high + 1))
