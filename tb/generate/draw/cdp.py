"""CDP layers at random, with tables of all kinds."""

from __future__ import annotations

import numpy as np

from models.cdp import LOCAL_SIZES, widths
from models.config import HwConfig
from models.lut import LE_ENTRIES, LO_ENTRIES, LutUnit
from models.precision import Precision
from models.programming_lut import INDEX_OFFSET_RANGE, INDEX_SELECT_RANGE
from tb.generate.draw.numbers import Cube, Description, draw_converter, draw_gaps, draw_wide, source_of

_MOST_ELEMENTS = 2500
_ALL = (-(1 << 15), (1 << 15) - 1)
_ENTRIES = (_ALL, _ALL, (-200, 200), (-200, 200), (-1, 1), ((1 << 15) - 2, (1 << 15) - 1))
_CHOICES = ("le", "lo")


def draw_cdp(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw a CDP layer."""
    src, keys = source_of(rng, config, before, _MOST_ELEMENTS)
    dst = Cube(src.shape, draw_gaps(rng, src.shape))
    bits = widths(Precision.INT8)
    sums, multiply = bool(rng.random() < 0.8), bool(rng.random() < 0.6)
    layer: Description = {"engine": "CDP", **keys, "dst_gaps": list(dst.gaps), "multiply": multiply}
    if sums:
        layer["local_size"] = int(rng.choice(LOCAL_SIZES))
    wild = bool(rng.random() < 0.15)
    if rng.random() < 0.5:
        layer["input_converter"] = draw_converter(rng, bits.input_offset, 31, 7, wild=wild)
    entries = _ENTRIES[int(rng.integers(len(_ENTRIES)))]
    factor = max(map(abs, entries)).bit_length() + (7 if multiply else 0)
    layer["output_converter"] = draw_converter(rng, bits.output_offset, 63, factor, wild=wild)
    layer["lut"] = {
        "entries": list(entries),
        **{case: str(rng.choice(_CHOICES)) for case in ("underflow", "overflow", "hybrid")},
        "le": _table(rng, LE_ENTRIES, sums=sums),
        "lo": _table(rng, LO_ENTRIES, sums=sums),
    }
    return layer, dst


def _table(rng: np.random.Generator, count: int, *, sums: bool) -> Description:
    """Draw one table: mostly where the inputs lie, which are squares that were summed, or elements."""
    start_bits = widths(Precision.INT8).start
    usual = [0, -1, 1, int(rng.integers(-300, 301))] + ([int(rng.integers(0, 60_000))] if sums else [])
    table: Description = {
        "start": draw_wide(rng, start_bits) if rng.random() < 0.2 else int(rng.choice(usual)),
        **{side: [draw_wide(rng, 16), int(rng.integers(-16, 16))] for side in ("underflow", "overflow")},
    }
    if count == LE_ENTRIES and rng.random() < 0.5:
        table["exponent"] = _within(rng, INDEX_OFFSET_RANGE[LutUnit.CDP, Precision.INT8], (-3, 20))
    else:
        usual_select = (2, 13) if sums else (-3, 4)
        table["select"] = _within(rng, INDEX_SELECT_RANGE[LutUnit.CDP, Precision.INT8, count], usual_select)
    if rng.random() < 0.15:
        table["end"] = draw_wide(rng, LutUnit.CDP.input_bits)
    return table


def _within(rng: np.random.Generator, limits: tuple[int, int], usual: tuple[int, int]) -> int:
    """Draw from the limits, more often from their usual part."""
    low, high = limits if rng.random() < 0.4 else (max(limits[0], usual[0]), min(limits[1], usual[1]))
    return int(rng.integers(low, high + 1))
