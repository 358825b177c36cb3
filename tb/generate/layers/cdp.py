"""CDP layers from descriptions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from models.cdp import CdpParams
from models.converter import ConverterEncoding
from models.lut import LE_ENTRIES, LO_ENTRIES, HybridLut, LutChoice, LutTable, LutUnit, Slope
from models.precision import Precision
from models.programming_lut import exponent_end, linear_end
from tb.generate.describe import PlanError, Table
from tb.generate.layers.workshop import Workshop, take_converter, take_destination, take_source
from tb.layers import CdpLayer, Layer


def build_cdp(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> CdpLayer:
    """Return the CDP layer that a description asks for."""
    src = take_source(shop, name, table, earlier)
    lut = table.table("lut")
    if lut is None:
        raise PlanError(f"{table.where} lacks the key lut")
    params = CdpParams(
        local_size=table.take("local_size", int),
        multiply=table.take("multiply", bool, True),
        input_converter=take_converter(table, "input_converter", ConverterEncoding.CDP_INPUT),
        output_converter=take_converter(table, "output_converter", ConverterEncoding.CDP_OUTPUT),
        lut=_lut(shop, lut, LutUnit.CDP),
        precision=Precision.INT8,
    )
    return CdpLayer(src, take_destination(shop, name, table, src.layout.shape), params)


def _lut(shop: Workshop, table: Table, unit: LutUnit) -> HybridLut:
    """Return both tables, with random entries of the range that the description gives."""
    low, high = table.integers("entries", 2, (-(1 << 15), (1 << 15) - 1))
    tables = []
    for name, count in (("le", LE_ENTRIES), ("lo", LO_ENTRIES)):
        part = table.table(name)
        if part is None:
            raise PlanError(f"{table.where} lacks the key {name}")
        entries = shop.rng.integers(low, high, count, dtype=np.int16, endpoint=True)
        tables.append(_lut_table(part, entries, unit))
    priorities = [
        table.choice(case, LutChoice, LutChoice.LE) or LutChoice.LE for case in ("underflow", "overflow", "hybrid")
    ]
    table.done()
    le, lo = tables
    return HybridLut(le, lo, *priorities)


def _lut_table(table: Table, entries: NDArray[np.int16], unit: LutUnit) -> LutTable:
    """Return one table that ends where the programming guide wants it, unless the description says where."""
    start = table.take("start", int, required=True)
    offset = table.take("exponent", int)
    select = table.take("select", int, 0)
    if offset is not None:
        natural = exponent_end(start, offset, unit, Precision.INT8)
    else:
        natural = linear_end(start, select, len(entries), unit, Precision.INT8)
    end = table.take("end", int, int(natural))
    slopes = [Slope(*table.integers(side, 2, (0, 0))) for side in ("underflow", "overflow")]
    table.done()
    return LutTable(entries, start, end, select, offset is not None, offset or 0, *slopes)
