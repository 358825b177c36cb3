"""RUBIK layers in registers: RBK."""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.layout import PlanarLayout, contracted_shape
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import PlanarSurface, RubikLayer, RubikMode, Surface
from nvdla_tb.nvdla.program.common import (
    PRECISION,
    RAM,
    build_surface,
    check_precision,
    check_ram,
    field_of,
    flatten_surface,
    halves,
)
from nvdla_tb.nvdla.program.table import (
    MINUS_ONE,
    Flat,
    Multiple,
    Named,
    Refused,
    Table,
    View,
    blame,
    blame_attributes,
    row,
)

_UNITS_OF_32 = Multiple(32)
_MODE = "RBK.D_MISC_CFG.rubik_mode"
MODE = Named(tuple((mode, bits) for bits, mode in enumerate(RubikMode)))

TABLE: Table = (
    row("mode", _MODE, codec=MODE),
    *(View(mode.value, _MODE, lambda got, bits=bits: got == bits) for mode, bits in MODE.pairs),  # type: ignore[misc]
    row("precision", "RBK.D_MISC_CFG.in_precision", codec=PRECISION),
    row("width", "RBK.D_DATAIN_SIZE_0.datain_width", codec=MINUS_ONE),
    row("height", "RBK.D_DATAIN_SIZE_0.datain_height", codec=MINUS_ONE),
    row("channels", "RBK.D_DATAIN_SIZE_1.datain_channel", codec=MINUS_ONE),
    row("out_channels", "RBK.D_DATAOUT_SIZE_1.dataout_channel", codec=MINUS_ONE),
    row("src.ram", "RBK.D_DAIN_RAM_TYPE.datain_ram_type", codec=RAM),
    row("src.address", *halves("RBK.D_DAIN_ADDR_{}"), codec=_UNITS_OF_32),
    row("src.line_stride_bytes", "RBK.D_DAIN_LINE_STRIDE.dain_line_stride", codec=_UNITS_OF_32),
    row("src.surface_stride_bytes", "RBK.D_DAIN_SURF_STRIDE.dain_surf_stride", codec=_UNITS_OF_32, when="!merge"),
    row("src.planar_stride_bytes", "RBK.D_DAIN_PLANAR_STRIDE.dain_planar_stride", codec=_UNITS_OF_32, when="merge"),
    row("dst.ram", "RBK.D_DAOUT_RAM_TYPE.dataout_ram_type", codec=RAM),
    row("dst.address", *halves("RBK.D_DAOUT_ADDR_{}"), codec=_UNITS_OF_32),
    row("dst.line_stride_bytes", "RBK.D_DAOUT_LINE_STRIDE.daout_line_stride", codec=_UNITS_OF_32),
    row("dst.surface_stride_bytes", "RBK.D_DAOUT_SURF_STRIDE.daout_surf_stride", codec=_UNITS_OF_32, when="!split"),
    row("dst.planar_stride_bytes", "RBK.D_DAOUT_PLANAR_STRIDE.daout_planar_stride", codec=_UNITS_OF_32, when="split"),
    row("stride_x", "RBK.D_DECONV_STRIDE.deconv_x_stride", codec=MINUS_ONE, when="contract"),
    row("stride_y", "RBK.D_DECONV_STRIDE.deconv_y_stride", codec=MINUS_ONE, when="contract"),
    row("column_bytes", "RBK.D_CONTRACT_STRIDE_0.contract_stride_0", codec=_UNITS_OF_32, when="contract"),
    row("rows_bytes", "RBK.D_CONTRACT_STRIDE_1.contract_stride_1", codec=_UNITS_OF_32, when="contract"),
)


def flatten(layer: RubikLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``."""
    channels, height, width = layer.src.layout.shape
    flat: Flat = {
        "mode": layer.mode,
        "precision": layer.src.layout.precision,
        "width": width,
        "height": height,
        "channels": channels,
        "out_channels": layer.dst.layout.shape[0],
        "stride_x": layer.stride_x,
        "stride_y": layer.stride_y,
        **flatten_surface("src", layer.src),
        **flatten_surface("dst", layer.dst),
    }
    return flat | (_contract_strides(layer) if layer.mode is RubikMode.CONTRACT else {})


def _contract_strides(layer: RubikLayer) -> Flat:
    """Return a value that the other registers decide: bytes from the channels of one column to those of the next.

    Source: programming guide, "Contract": D_CONTRACT_STRIDE_0 and 1.
    """
    src, dst = layer.src.layout, layer.dst.layout
    assert not isinstance(src, PlanarLayout)
    surfaces = -(-dst.shape[0] // src.atom_elements)
    return {"column_bytes": surfaces * src.surface_stride_bytes, "rows_bytes": layer.stride_y * dst.line_stride_bytes}


def build(config: HwConfig, flat: Flat) -> RubikLayer:
    """Return the layer that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    precision = check_precision(config, TABLE, flat, "precision")
    mode: RubikMode = flat["mode"]
    strides = (flat.get("stride_y", 1), flat.get("stride_x", 1))
    size = (flat["channels"], flat["height"], flat["width"])
    out = (flat["out_channels"], size[1] * strides[0], size[2] * strides[1])
    src = _build_end(config, flat, "src", size, precision, planar=mode is RubikMode.MERGE)
    dst = _build_end(config, flat, "dst", out, precision, planar=mode is RubikMode.SPLIT)
    if isinstance(src, Surface) and mode is RubikMode.CONTRACT:
        with blame_attributes(TABLE, ""):
            contracted_shape(src.layout, strides)
    with blame(field_of(TABLE, "out_channels")):
        layer = RubikLayer(mode, src, dst, *strides)
    if mode is RubikMode.CONTRACT:
        for name, expected in _contract_strides(layer).items():
            if flat[name] != expected:
                raise Refused(f"{field_of(TABLE, name)} must be the {expected} bytes of the cubes, not {flat[name]}")
    return layer


def _build_end(
    config: HwConfig, flat: Flat, end: str, shape: tuple[int, int, int], precision: Precision, *, planar: bool
) -> Surface | PlanarSurface:
    if not planar:
        return build_surface(config, TABLE, flat, end, shape, precision)
    check_ram(config, TABLE, flat, end)
    with blame_attributes(TABLE, end):
        strides = flat[f"{end}.line_stride_bytes"], flat[f"{end}.planar_stride_bytes"]
        layout = PlanarLayout(config, precision, shape, *strides)
        return PlanarSurface(layout, flat[f"{end}.address"], flat[f"{end}.ram"])
