"""Copies of BDMA in registers."""

from __future__ import annotations

from models.config import HwConfig
from models.layout import BDMA_UNIT_BYTES, LinesLayout
from tb.nvdla.layers import BdmaLayer, LinesSurface
from tb.nvdla.program.common import RAM, check_ram, flatten_surface
from tb.nvdla.program.table import MINUS_ONE, Flat, Multiple, Table, blame_attributes, row

_UNITS_OF_32 = Multiple(BDMA_UNIT_BYTES)

TABLE: Table = (
    row("src.ram", "BDMA.CFG_CMD.src_ram_type", codec=RAM),
    row("dst.ram", "BDMA.CFG_CMD.dst_ram_type", codec=RAM),
    row("src.address", "BDMA.CFG_SRC_ADDR_LOW.v32", "BDMA.CFG_SRC_ADDR_HIGH.v8", codec=_UNITS_OF_32),
    row("dst.address", "BDMA.CFG_DST_ADDR_LOW.v32", "BDMA.CFG_DST_ADDR_HIGH.v8", codec=_UNITS_OF_32),
    row("line_units", "BDMA.CFG_LINE.size", codec=MINUS_ONE),
    row("lines", "BDMA.CFG_LINE_REPEAT.number", codec=MINUS_ONE),
    row("surfaces", "BDMA.CFG_SURF_REPEAT.number", codec=MINUS_ONE),
    row("src.line_stride_bytes", "BDMA.CFG_SRC_LINE.stride", codec=_UNITS_OF_32),
    row("dst.line_stride_bytes", "BDMA.CFG_DST_LINE.stride", codec=_UNITS_OF_32),
    row("src.surface_stride_bytes", "BDMA.CFG_SRC_SURF.stride", codec=_UNITS_OF_32),
    row("dst.surface_stride_bytes", "BDMA.CFG_DST_SURF.stride", codec=_UNITS_OF_32),
)


def flatten(layer: BdmaLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``."""
    surfaces, lines, line = layer.src.layout.shape
    flat: Flat = {"surfaces": surfaces, "lines": lines, "line_units": line // BDMA_UNIT_BYTES}
    for end, surface in (("src", layer.src), ("dst", layer.dst)):
        flat |= flatten_surface(end, surface)
    return flat


def build(config: HwConfig, flat: Flat) -> BdmaLayer:
    """Return the copy that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    shape = (flat["surfaces"], flat["lines"], flat["line_units"] * BDMA_UNIT_BYTES)
    ends = []
    for end in ("src", "dst"):
        check_ram(config, TABLE, flat, end)
        strides = flat[f"{end}.line_stride_bytes"], flat[f"{end}.surface_stride_bytes"]
        with blame_attributes(TABLE, "" if shape[0] > 1 << 13 or shape[1] > 1 << 13 else end):
            layout = LinesLayout(config, shape, *strides)
        with blame_attributes(TABLE, end):
            ends.append(LinesSurface(layout, flat[f"{end}.address"], flat[f"{end}.ram"]))
    return BdmaLayer(*ends)
