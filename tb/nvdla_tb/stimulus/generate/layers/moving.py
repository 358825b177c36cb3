"""Layers of RUBIK and BDMA from descriptions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nvdla_models.layout import BDMA_UNIT_BYTES, LinesLayout, PlanarLayout
from nvdla_tb.nvdla.layers import BdmaLayer, Layer, LinesSurface, PlanarSurface, RubikLayer, RubikMode, Surface
from nvdla_tb.stimulus.generate.describe import Table
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, take_destination, take_precision, take_source


def build_rubik(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> RubikLayer:
    """Return the layer of RUBIK that a description asks for; planes lie without gaps."""
    mode = table.choice("mode", RubikMode, required=True)
    assert mode is not None
    stride_x, stride_y = table.integers("stride", 2, (1, 1))
    src: Surface | PlanarSurface
    dst: Surface | PlanarSurface
    if mode is RubikMode.MERGE:
        channels, height, width = table.integers("shape", 3)
        shape, precision = (channels, height, width), take_precision(table)
        src = _planes(shop, f"{name}_src", PlanarLayout.packed(shop.config, precision, shape))
        shop.memory.write(src.address, shop.rng.integers(0, 256, src.layout.nbytes, dtype=np.uint8))
    else:
        src = take_source(shop, name, table, earlier)
        shape, precision = src.layout.shape, src.layout.precision
    if mode is RubikMode.SPLIT:
        dst = _planes(shop, f"{name}_dst", PlanarLayout.packed(shop.config, precision, shape))
    else:
        channels, height, width = shape
        out = (channels // (stride_x * stride_y), height * stride_y, width * stride_x)
        dst = take_destination(shop, name, table, out, precision)
    return RubikLayer(mode, src, dst, stride_y, stride_x)


def build_bdma(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> BdmaLayer:
    """Return the copy that a description asks for: ``lines`` are surfaces, lines and units of a line."""
    surfaces, lines, units = table.integers("lines", 3)
    ends = []
    for end in ("src", "dst"):
        line_gap, surface_gap = table.integers(f"{end}_gaps", 2, (0, 0))
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
