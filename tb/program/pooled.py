"""Layers that end in PDP on the fly, in registers: those of the layer that SDP ends, and PDP without its RDMA."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from models.config import HwConfig
from tb.layers import ConvLayer, PooledLayer, SdpLayer, on_the_fly
from tb.memory import Ram
from tb.program import conv, conv_table, pdp, sdp
from tb.program.table import Fixed, Flat, Refused, Row, Table, View, blame
from tb.registers import RegisterMap

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

SDP_UNITS = ("SDP_RDMA", "PDP", "SDP")
SDP_TABLE: Table = (*_handed_on(sdp.TABLE), *_POOL_TABLE)

CONV_UNITS = ("PDP", *conv_table.UNITS)
CONV_TABLE: Table = (*_handed_on(conv_table.TABLE), *_POOL_TABLE)

CONV_UNITS_WITH_OPERANDS = ("SDP_RDMA", *CONV_UNITS)
CONV_TABLE_WITH_OPERANDS: Table = (*_handed_on(conv_table.TABLE_WITH_OPERANDS), *_POOL_TABLE)


def takes_from_sdp(words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of PDP say that its input comes from SDP."""
    field = registers.register("PDP", "D_OPERATION_MODE_CFG").field("flying_mode")
    return field.extract(words["D_OPERATION_MODE_CFG"]) == 0


def hands_on(words: Mapping[str, int], registers: RegisterMap) -> bool:
    """Return whether the words of SDP say that its output goes to PDP."""
    field = registers.register("SDP", "D_FEATURE_MODE_CFG").field("output_dst")
    return field.extract(words["D_FEATURE_MODE_CFG"]) == 1


def flatten(layer: PooledLayer) -> Flat:
    """Return a layer's attributes by the names of the tables."""
    producer = layer.producer
    flat = conv.flatten(producer) if isinstance(producer, ConvLayer) else sdp.flatten(producer)
    pool = pdp.flatten_pooling(producer.dst.layout.shape, layer.dst, layer.params)
    return flat | {f"{_POOL}{name}": value for name, value in pool.items()}


def build_sdp(config: HwConfig, flat: Flat) -> PooledLayer:
    """Return the layer that decoded attributes of SDP from memory and of PDP describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    return _build(config, flat, sdp.build(config, _without_memory(config, flat)))


def build_conv(config: HwConfig, flat: Flat) -> PooledLayer:
    """Return the layer that decoded attributes of a convolution and of PDP describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    return _build(config, flat, conv.build(config, _without_memory(config, flat)))


def _without_memory(config: HwConfig, flat: Flat) -> Flat:
    """Return attributes with those of a destination that is not in memory."""
    line = flat["shape.width"] * config.memory_atomic_bytes
    return flat | {
        "dst.address": 0,
        "dst.line_stride_bytes": line,
        "dst.surface_stride_bytes": flat["shape.height"] * line,
        "dst.ram": Ram.MC,
    }


def _build(config: HwConfig, flat: Flat, producer: SdpLayer | ConvLayer) -> PooledLayer:
    pool = {name.removeprefix(_POOL): value for name, value in flat.items() if name.startswith(_POOL)}
    layout = producer.dst.layout
    for axis, size in zip(pdp.AXES, layout.shape, strict=True):
        if pool[f"in.{axis}"] != size:
            field = f"PDP.D_DATA_CUBE_IN_{axis.upper()}.cube_in_{axis}"
            raise Refused(f"{field}: must be the {size} that SDP hands on, not {pool[f'in.{axis}']}")
    producer = replace(producer, dst=on_the_fly(config, layout.precision, layout.shape))
    params, dst = pdp.build_pooling(config, pool)
    with blame((_OUTPUT,)):
        return PooledLayer(producer, dst, params)
