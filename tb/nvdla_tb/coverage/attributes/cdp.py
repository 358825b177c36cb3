"""Attributes of CDP and of its lookup tables."""

from __future__ import annotations

from nvdla_models.lut import HybridLut, LutTable
from nvdla_tb.coverage.attributes.values import Attributes, converter_attributes, gap_attributes, size_attributes, yes
from nvdla_tb.nvdla.layers import CdpLayer


def cdp_attributes(layer: CdpLayer) -> Attributes:
    """Return the attributes of a CDP layer."""
    params = layer.params
    channels = layer.src.layout.shape[0]
    size = params.local_size
    return {
        **size_attributes(layer.src.layout),
        **gap_attributes("src", layer.src),
        **gap_attributes("dst", layer.dst),
        "precision": params.precision.name,
        "nan_to_zero": yes(params.nan_to_zero),
        "looks_up": "element" if size is None else "sum",
        "local_size": size,
        "reach": None if size is None else "all channels" if size // 2 >= channels - 1 else "some channels",
        "multiplies": yes(params.multiply),
        **converter_attributes("input", params.input_converter),
        **converter_attributes("output", params.output_converter),
        **_lut(params.lut),
    }


def _lut(lut: HybridLut) -> Attributes:
    return {
        "lut.underflow": lut.underflow_priority.name,
        "lut.overflow": lut.overflow_priority.name,
        "lut.hybrid": lut.hybrid_priority.name,
        "le.function": "exponent" if lut.le.exponent else "linear",
        "le.index_offset": lut.le.index_offset if lut.le.exponent else None,
        "le.index_select": None if lut.le.exponent else lut.le.index_select,
        "lo.index_select": lut.lo.index_select,
        **_table("le", lut.le),
        **_table("lo", lut.lo),
    }


def _table(name: str, table: LutTable) -> Attributes:
    """Return the attributes of both tables: their ranges, the slopes beyond their ends, the signs of their entries."""
    entries = table.entries.astype(int)
    return {
        f"{name}.start": table.start,
        f"{name}.ends": "behind start" if table.end > table.start else "at or before start",
        f"{name}.underflow.scale": table.underflow.scale,
        f"{name}.underflow.shift": table.underflow.shift,
        f"{name}.overflow.scale": table.overflow.scale,
        f"{name}.overflow.shift": table.overflow.shift,
        f"{name}.entries": "alike" if entries.min() == entries.max() else _sign(int(entries.min()), int(entries.max())),
    }


def _sign(low: int, high: int) -> str:
    return "positive" if low >= 0 else "negative" if high < 0 else "both signs"
