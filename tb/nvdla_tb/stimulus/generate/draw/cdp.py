"""CDP layers at random, with tables of all kinds."""

from __future__ import annotations

import numpy as np

from nvdla_models.cdp import LOCAL_SIZES, widths
from nvdla_models.config import HwConfig
from nvdla_models.lut import LE_ENTRIES, LO_ENTRIES, LutUnit
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.numbers import Cube, Description, draw_converter, draw_gaps, one_of, source_of
from nvdla_tb.stimulus.generate.draw.tables import ENTRIES, draw_lut, draw_priorities, draw_sum_table

_MOST_ELEMENTS = 2500


def draw_cdp(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw a CDP layer."""
    src, keys = source_of(rng, config, before, _MOST_ELEMENTS)
    precision = src.precision
    dst = Cube(src.shape, draw_gaps(rng, src.shape), precision)
    sums, multiply = bool(rng.random() < 0.8), bool(rng.random() < 0.6)
    layer: Description = {"engine": "CDP", **keys, "dst_gaps": list(dst.gaps), "multiply": multiply}
    if sums:
        layer["local_size"] = one_of(rng, LOCAL_SIZES)
    if precision is Precision.FP16:
        lut = draw_lut(rng, LutUnit.CDP, precision, 0)
        return {**layer, "nan_to_zero": bool(rng.random() < 0.3), "lut": lut}, dst
    bits = widths(precision)
    wild = bool(rng.random() < 0.15)
    if rng.random() < 0.5:
        layer["input_converter"] = draw_converter(
            rng, bits.input_offset, 31, precision.bits - 1, wild=wild, result_bits=precision.bits
        )
    entries = ENTRIES[int(rng.integers(len(ENTRIES)))]
    factor = max(map(abs, entries)).bit_length() + (precision.bits - 1 if multiply else 0)
    layer["output_converter"] = draw_converter(
        rng, bits.output_offset, 63, factor, wild=wild, result_bits=precision.bits
    )
    layer["lut"] = {
        "entries": list(entries),
        **draw_priorities(rng),
        "le": draw_sum_table(rng, precision, LE_ENTRIES, sums=sums),
        "lo": draw_sum_table(rng, precision, LO_ENTRIES, sums=sums),
    }
    return layer, dst
