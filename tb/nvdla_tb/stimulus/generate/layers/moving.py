"""Layers of RUBIK and BDMA from entries of plans."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nvdla_models.layout import BDMA_UNIT_BYTES, LinesLayout, PlanarLayout
from nvdla_tb.nvdla.layers import BdmaLayer, Layer, LinesSurface, PlanarSurface, RubikLayer, RubikMode, Surface
from nvdla_tb.stimulus.generate.layers.entries import BdmaEntry, RubikEntry
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, destination, precision_of, shape_of, source


def build_rubik(shop: Workshop, name: str, entry: RubikEntry, earlier: Sequence[Layer]) -> RubikLayer:
    """Return the layer of RUBIK that an entry asks for; planes lie without gaps."""
    stride_x, stride_y = entry.stride
    src: Surface | PlanarSurface
    dst: Surface | PlanarSurface
    if entry.mode is RubikMode.MERGE:
        entry.leave_out("of a layer that merges", "chain", "src_gaps", "numbers")
        shape, precision = shape_of(entry), precision_of(entry)
        src = _planes(shop, f"{name}_src", PlanarLayout.packed(shop.config, precision, shape))
        shop.memory.write(src.address, shop.rng.integers(0, 256, src.layout.nbytes, dtype=np.uint8))
    else:
        src = source(shop, name, entry, earlier)
        shape, precision = src.layout.shape, src.layout.precision
    if entry.mode is RubikMode.SPLIT:
        entry.leave_out("of a layer that splits", "dst_gaps", "dst_skip")
        dst = _planes(shop, f"{name}_dst", PlanarLayout.packed(shop.config, precision, shape))
    else:
        channels, height, width = shape
        out = (channels // (stride_x * stride_y), height * stride_y, width * stride_x)
        dst = destination(shop, name, entry, out, precision)
    return RubikLayer(entry.mode, src, dst, stride_y, stride_x)


def build_bdma(shop: Workshop, name: str, entry: BdmaEntry, earlier: Sequence[Layer]) -> BdmaLayer:
    """Return the copy that an entry asks for."""
    surfaces, lines, units = entry.lines
    ends = []
    for end, (line_gap, surface_gap) in (("src", entry.src_gaps), ("dst", entry.dst_gaps)):
        stride = (units + line_gap) * BDMA_UNIT_BYTES
        shape = (surfaces, lines, units * BDMA_UNIT_BYTES)
        layout = LinesLayout(shop.config, shape, stride, lines * stride + surface_gap * BDMA_UNIT_BYTES)
        address = shop.allocate(layout.nbytes, f"{name}_{end}", BDMA_UNIT_BYTES)
        ends.append(LinesSurface(layout, address))
    src, dst = ends
    shop.memory.write(src.address, shop.rng.integers(0, 256, src.layout.nbytes, dtype=np.uint8))
    return BdmaLayer(src, dst)


def _planes(shop: Workshop, name: str, layout: PlanarLayout) -> PlanarSurface:
    address = shop.allocate(layout.nbytes, name, layout.alignment.start_address_bytes)
    return PlanarSurface(layout, address)
