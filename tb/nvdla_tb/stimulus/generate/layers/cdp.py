"""CDP layers from descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from nvdla_models.cdp import CdpParams
from nvdla_models.converter import ConverterEncoding
from nvdla_models.lut import HybridLut, LutUnit
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import CdpLayer, Layer
from nvdla_tb.stimulus.generate.describe import PlanError, Table
from nvdla_tb.stimulus.generate.layers.tables import take_lut
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, take_converter, take_destination, take_source

_PLAIN_LUT = {"entries": [-200, 200], "le": {"start": 0, "exponent": 2}, "lo": {"start": 0, "select": 8}}
"""The tables of a layer that says nothing of them."""


def build_cdp(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> CdpLayer:
    """Return the CDP layer that a description asks for."""
    src = take_source(shop, name, table, earlier)
    precision = src.layout.precision
    params = CdpParams(
        local_size=table.take("local_size", int),
        multiply=table.take("multiply", bool, True),
        input_converter=take_converter(table, "input_converter", ConverterEncoding.CDP_INPUT),
        output_converter=take_converter(table, "output_converter", ConverterEncoding.CDP_OUTPUT),
        lut=_take_tables(shop, table, precision, earlier),
        precision=precision,
        nan_to_zero=table.take("nan_to_zero", bool, False),
    )
    return CdpLayer(src, take_destination(shop, name, table, src.layout.shape, precision), params)


def _take_tables(shop: Workshop, table: Table, precision: Precision, earlier: Sequence[Layer]) -> HybridLut:
    """Return the tables that a description asks for, or with ``same_lut`` those of the CDP layer before it."""
    if not table.take("same_lut", bool, False):
        lut = Table(f"{table.where}.lut", table.take("lut", dict, _PLAIN_LUT))
        return take_lut(shop, lut, LutUnit.CDP, precision)
    before = next((layer for layer in reversed(earlier) if isinstance(layer, CdpLayer)), None)
    if before is None or before.params.precision is not precision:
        raise PlanError(f"{table.where}.same_lut must not be set without a CDP layer of {precision.name} before it")
    return before.params.lut
