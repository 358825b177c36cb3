"""CDP layers from descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from nvdla_models.cdp import CdpParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.lut import HybridLut, LutUnit
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import CdpLayer, Layer
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.layers.entries import CdpEntry, LutEntry, LutTableEntry
from nvdla_tb.stimulus.generate.layers.tables import hybrid_lut
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, destination, source

_PLAIN_LUT = LutEntry(le=LutTableEntry(start=0, exponent=2), lo=LutTableEntry(start=0, select=8), entries=(-200, 200))
"""The tables of a layer that says nothing of them."""


def build_cdp(shop: Workshop, name: str, entry: CdpEntry, earlier: Sequence[Layer]) -> CdpLayer:
    """Return the CDP layer that an entry asks for."""
    src = source(shop, name, entry, earlier)
    precision = src.layout.precision
    params = CdpParams(
        local_size=entry.local_size,
        multiply=entry.multiply,
        input_converter=Converter(*entry.input_converter, ConverterEncoding.CDP_INPUT),
        output_converter=Converter(*entry.output_converter, ConverterEncoding.CDP_OUTPUT),
        lut=_tables(shop, entry, precision, earlier),
        precision=precision,
        nan_to_zero=entry.nan_to_zero,
    )
    return CdpLayer(src, destination(shop, name, entry, src.layout.shape, precision), params)


def _tables(shop: Workshop, entry: CdpEntry, precision: Precision, earlier: Sequence[Layer]) -> HybridLut:
    """Return the tables that an entry asks for, or with ``same_lut`` those of the CDP layer before it."""
    if not entry.same_lut:
        return hybrid_lut(shop, entry.lut or _PLAIN_LUT, LutUnit.CDP, precision)
    entry.leave_out("beside same_lut", "lut")
    before = next((layer for layer in reversed(earlier) if isinstance(layer, CdpLayer)), None)
    if before is None or before.params.precision is not precision:
        raise PlanError(f"same_lut must not be set without a CDP layer of {precision.name} before it")
    return before.params.lut
