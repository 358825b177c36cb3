"""CDP layers in registers: CDP_RDMA and CDP, with its lookup tables."""

from __future__ import annotations

import numpy as np

from models.arithmetic import wrap
from models.cdp import LOCAL_SIZES, CdpParams, widths
from models.config import HwConfig
from models.converter import Converter, ConverterEncoding
from tb.layers import CdpLayer
from tb.program.common import PRECISION, build_surface, check_precision, flatten_surface, surface_rows
from tb.program.lut import build_lut, flatten_lut, lut_rows
from tb.program.table import (
    INVERTED_FLAG,
    MINUS_ONE,
    SIGNED,
    Flat,
    Named,
    Row,
    Table,
    blame_attributes,
    row,
)

UNITS = ("CDP_RDMA", "CDP")

_LOCAL_SIZE = Named(tuple((size, bits) for bits, size in enumerate(LOCAL_SIZES)))
_AXES = ("channel", "height", "width")
_CONVERTERS = (
    ("input_converter", "DATIN", ConverterEncoding.CDP_INPUT),
    ("output_converter", "DATOUT", ConverterEncoding.CDP_OUTPUT),
)


def _edge_fields(edge: str) -> tuple[str, ...]:
    """Return the two fields of a table's start or end, such as ``LE_START``."""
    return tuple(f"CDP.S_LUT_{edge}_{part}.lut_{edge.lower()}_{part.lower()}" for part in ("LOW", "HIGH"))


def _converter_rows() -> tuple[Row, ...]:
    rows: list[Row] = []
    for name, register, _ in _CONVERTERS:
        low = register.lower()
        rows += [
            row(f"{name}.offset", f"CDP.D_{register}_OFFSET.{low}_offset", codec=SIGNED),
            row(f"{name}.scale", f"CDP.D_{register}_SCALE.{low}_scale", codec=SIGNED),
            row(f"{name}.shift", f"CDP.D_{register}_SHIFTER.{low}_shifter"),
        ]
    return tuple(rows)


TABLE: Table = (
    *(
        row(f"shape.{axis}", f"CDP_RDMA.D_DATA_CUBE_{axis.upper()}.{axis}", codec=MINUS_ONE)
        for axis in ("channel", "height", "width")
    ),
    row("precision", "CDP.D_DATA_FORMAT.input_data_type", codec=PRECISION),
    row("precision", "CDP_RDMA.D_DATA_FORMAT.input_data", codec=PRECISION),
    *surface_rows("src", "CDP_RDMA", "SRC", "D_SRC_DMA_CFG.src_ram_type"),
    *surface_rows("dst", "CDP", "DST", "D_DST_DMA_CFG.dst_ram_type"),
    row("sums", "CDP.D_FUNC_BYPASS.sqsum_bypass", codec=INVERTED_FLAG),
    row("local_size", "CDP.D_LRN_CFG.normalz_len", codec=_LOCAL_SIZE, when="sums"),
    row("multiply", "CDP.D_FUNC_BYPASS.mul_bypass", codec=INVERTED_FLAG),
    *_converter_rows(),
    *lut_rows("CDP", _edge_fields),
)


def flatten(layer: CdpLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``, and the entries of its tables."""
    params = layer.params
    flat: Flat = {
        **{f"shape.{axis}": size for axis, size in zip(_AXES, layer.src.layout.shape, strict=True)},
        **flatten_surface("src", layer.src),
        **flatten_surface("dst", layer.dst),
        "precision": params.precision,
        "sums": params.local_size is not None,
        "local_size": params.local_size,
        "multiply": params.multiply,
        **flatten_lut(params.lut),
    }
    for name, _, _ in _CONVERTERS:
        converter: Converter = getattr(params, name)
        flat |= {f"{name}.{part}": getattr(converter, part) for part in ("offset", "scale", "shift")}
    return flat


def build(config: HwConfig, flat: Flat) -> CdpLayer:
    """Return the layer that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    precision = check_precision(config, TABLE, flat, "precision")
    channel, height, width = (flat[f"shape.{axis}"] for axis in _AXES)
    src = build_surface(config, TABLE, flat, "src", (channel, height, width), precision)
    dst = build_surface(config, TABLE, flat, "dst", (channel, height, width), precision)
    with blame_attributes(TABLE, ""):
        bits = widths(precision)
        params = CdpParams(
            local_size=flat.get("local_size"),
            multiply=flat["multiply"],
            input_converter=_build_converter(flat, "input_converter", bits.input_offset),
            output_converter=_build_converter(flat, "output_converter", bits.output_offset),
            lut=build_lut(flat),
            precision=precision,
        )
        return CdpLayer(src, dst, params)


def _build_converter(flat: Flat, name: str, offset_bits: int) -> Converter:
    """Return a converter with what the hardware takes of its offset.

    For INT8 it ignores the upper bits: golden traces of the public nv_small release write 0x80 for -128.
    """
    offset = int(wrap(np.array(flat[f"{name}.offset"], dtype=np.int64), offset_bits))
    encoding = next(encoding for known, _, encoding in _CONVERTERS if known == name)
    return Converter(offset, flat[f"{name}.scale"], flat[f"{name}.shift"], encoding)
