"""Layers that end in PDP on the fly, in registers: those of the layer that SDP ends, and PDP without its RDMA."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.layers import PooledLayer, on_the_fly
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program import pdp
from nvdla_tb.nvdla.program.common import AXES
from nvdla_tb.nvdla.program.table import Fixed, Flat, Refused, Row, Table, View, blame

_POOL = "pool."
_OUTPUT = "SDP.D_FEATURE_MODE_CFG.output_dst"
_MODE = "PDP.D_OPERATION_MODE_CFG"
_OF_MEMORY = ("src.", "parts", "split", "nan_to_zero")


def _handed_on(table: Table) -> Table:
    """Return the rows of a layer that SDP ends, with its output to PDP; where it would lie means nothing."""
    rows: list[Row | Fixed | View] = []
    for entry in table:
        if isinstance(entry, Fixed) and entry.field == _OUTPUT:
            rows.append(Fixed(_OUTPUT, 1, "PDP takes its input from SDP"))
        elif isinstance(entry, Row) and entry.attribute.startswith("dst."):
            rows.append(replace(entry, significant=False))
        else:
            rows.append(entry)
    return tuple(rows)


def _renamed(condition: str) -> str:
    """Return a condition on the attributes of PDP."""
    terms = condition.split(" & ") if condition else []
    return " & ".join(f"!{_POOL}{term[1:]}" if term.startswith("!") else f"{_POOL}{term}" for term in terms)


def _pool_rows() -> Table:
    """Return PDP's rows apart from its source in memory; the attributes begin with ``pool.``."""
    rows: list[Row | Fixed | View] = [
        Fixed(f"{_MODE}.flying_mode", 0, "SDP hands its output to PDP"),
        Fixed(f"{_MODE}.split_num", 0, "on the fly no width is split"),
    ]
    for entry in pdp.TABLE:
        if isinstance(entry, Fixed):
            continue
        fields = entry.fields if isinstance(entry, Row) else (entry.field,)
        if not fields[0].startswith("PDP.") or entry.attribute.startswith(_OF_MEMORY):
            continue
        renamed = replace(entry, attribute=f"{_POOL}{entry.attribute}")
        rows.append(replace(renamed, when=_renamed(renamed.when)) if isinstance(renamed, Row) else renamed)
    return tuple(rows)


_POOL_TABLE = _pool_rows()


def table(producer: Table) -> Table:
    """Return the table of layers whose producer has a table."""
    return (*_handed_on(producer), *_POOL_TABLE)


def flatten(producer: Callable[[Any], Flat], layer: PooledLayer) -> Flat:
    """Return a layer's attributes by the names of the table, those of its producer as ``producer`` returns them."""
    pool = pdp.flatten_pooling(layer.producer.dst.layout.shape, layer.dst, layer.params)
    return producer(layer.producer) | {f"{_POOL}{name}": value for name, value in pool.items()}


def build(producer: Callable[[HwConfig, Flat], Any], config: HwConfig, flat: Flat) -> PooledLayer:
    """Return the layer that decoded attributes describe, those of its producer as ``producer`` builds it.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    pool = {name.removeprefix(_POOL): value for name, value in flat.items() if name.startswith(_POOL)}
    layer = producer(config, _without_memory(config, flat))
    layout = layer.dst.layout
    for axis, size in zip(AXES, layout.shape, strict=True):
        if pool[f"in.{axis}"] != size:
            field = f"PDP.D_DATA_CUBE_IN_{axis.upper()}.cube_in_{axis}"
            raise Refused(f"{field}: must be the {size} that SDP hands on, not {pool[f'in.{axis}']}")
    layer = replace(layer, dst=on_the_fly(config, layout.precision, layout.shape))
    params, dst = pdp.build_pooling(config, pool)
    with blame(_OUTPUT):
        return PooledLayer(layer, dst, params)


def _without_memory(config: HwConfig, flat: Flat) -> Flat:
    """Return attributes with those of a destination that is not in memory."""
    line = flat["shape.width"] * config.memory_atomic_bytes
    strides = {"dst.line_stride_bytes": line, "dst.surface_stride_bytes": flat["shape.height"] * line}
    return flat | strides | {"dst.address": 0, "dst.ram": Ram.MC}
