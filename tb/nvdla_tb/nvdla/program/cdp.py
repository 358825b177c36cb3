"""CDP layers in registers: CDP_RDMA and CDP, with its lookup tables."""

from __future__ import annotations

from nvdla_models.cdp import LOCAL_SIZES, CdpParams, widths
from nvdla_models.config import HwConfig
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import CdpLayer
from nvdla_tb.nvdla.program.common import (
    AXES,
    NEUTRAL,
    PRECISION,
    build_surface,
    check_precision,
    flatten_surface,
    surface_rows,
)
from nvdla_tb.nvdla.program.lut import build_lut, flatten_lut, lut_rows
from nvdla_tb.nvdla.program.table import (
    FLAG,
    INVERTED_FLAG,
    MINUS_ONE,
    SIGNED,
    Flat,
    LowBits,
    Named,
    Row,
    Table,
    View,
    blame_attributes,
    row,
)

_LOCAL_SIZE = Named(tuple((size, bits) for bits, size in enumerate(LOCAL_SIZES)))
_CONVERTERS = (
    ("input_converter", "DATIN", ConverterEncoding.CDP_INPUT),
    ("output_converter", "DATOUT", ConverterEncoding.CDP_OUTPUT),
)


def _converter_rows() -> tuple[Row, ...]:
    """Return the rows of both converters.

    For INT8 the hardware ignores the upper bits of the offsets: golden traces of the public nv_small
    release write 0x80 for -128.
    """
    rows: list[Row] = []
    int8 = widths(Precision.INT8)
    for (name, register, _), bits in zip(_CONVERTERS, (int8.input_offset, int8.output_offset), strict=True):
        low = register.lower()
        offset = f"CDP.D_{register}_OFFSET.{low}_offset"
        rows += [
            row(f"{name}.offset", offset, codec=LowBits(bits, SIGNED), when="int8"),
            row(f"{name}.offset", offset, codec=SIGNED, when="!int8 & !float"),
            row(f"{name}.scale", f"CDP.D_{register}_SCALE.{low}_scale", codec=SIGNED, when="!float"),
            row(f"{name}.shift", f"CDP.D_{register}_SHIFTER.{low}_shifter", when="!float"),
        ]
    return tuple(rows)


TABLE: Table = (
    *(row(f"shape.{axis}", f"CDP_RDMA.D_DATA_CUBE_{axis.upper()}.{axis}", codec=MINUS_ONE) for axis in AXES),
    row("precision", "CDP.D_DATA_FORMAT.input_data_type", codec=PRECISION),
    View("int8", "CDP.D_DATA_FORMAT.input_data_type", lambda bits: bits == 0),
    View("float", "CDP.D_DATA_FORMAT.input_data_type", lambda bits: bits == 2),
    row("precision", "CDP_RDMA.D_DATA_FORMAT.input_data", codec=PRECISION),
    *surface_rows("src", "CDP_RDMA", "SRC", "D_SRC_DMA_CFG.src_ram_type"),
    *surface_rows("dst", "CDP", "DST", "D_DST_DMA_CFG.dst_ram_type"),
    row("sums", "CDP.D_FUNC_BYPASS.sqsum_bypass", codec=INVERTED_FLAG),
    row("local_size", "CDP.D_LRN_CFG.normalz_len", codec=_LOCAL_SIZE, when="sums"),
    row("multiply", "CDP.D_FUNC_BYPASS.mul_bypass", codec=INVERTED_FLAG),
    row("nan_to_zero", "CDP.D_NAN_FLUSH_TO_ZERO.nan_to_zero", codec=FLAG, when="float"),
    *_converter_rows(),
    *lut_rows("CDP"),
)


def flatten(layer: CdpLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``, and the entries of its tables."""
    params = layer.params
    flat: Flat = {
        **{f"shape.{axis}": size for axis, size in zip(AXES, layer.src.layout.shape, strict=True)},
        **flatten_surface("src", layer.src),
        **flatten_surface("dst", layer.dst),
        "precision": params.precision,
        "sums": params.local_size is not None,
        "local_size": params.local_size,
        "multiply": params.multiply,
        "nan_to_zero": params.nan_to_zero,
        **flatten_lut(params.lut),
    }
    for name, _, _ in _CONVERTERS:
        converter: Converter = getattr(params, name)
        flat |= {f"{name}.{part}": getattr(converter, part) for part in NEUTRAL}
    return flat


def build(config: HwConfig, flat: Flat) -> CdpLayer:
    """Return the layer that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    precision = check_precision(config, TABLE, flat, "precision")
    shape = (flat["shape.channel"], flat["shape.height"], flat["shape.width"])
    src = build_surface(config, TABLE, flat, "src", shape, precision)
    dst = build_surface(config, TABLE, flat, "dst", shape, precision)
    converters = {}
    for name, _, encoding in _CONVERTERS:
        parts = {part: flat.get(f"{name}.{part}", neutral) for part, neutral in NEUTRAL.items()}
        converters[name] = Converter(**parts, encoding=encoding)
    with blame_attributes(TABLE, ""):
        params = CdpParams(
            local_size=flat.get("local_size"),
            multiply=flat["multiply"],
            **converters,
            lut=build_lut(flat),
            precision=precision,
            nan_to_zero=flat.get("nan_to_zero", False),
        )
        return CdpLayer(src, dst, params)
