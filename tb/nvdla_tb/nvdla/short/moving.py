"""The short forms of RUBIK and BDMA, which move data and compute nothing."""

from __future__ import annotations

from nvdla_models.errors import InputError
from nvdla_models.layout import LinesLayout
from nvdla_tb.nvdla.layers import BdmaLayer, LinesSurface, PlanarSurface, RubikLayer, RubikMode, Surface
from nvdla_tb.nvdla.short.axes import Pair, pair
from nvdla_tb.nvdla.short.given import check_kind


def Rubik(src: Surface | PlanarSurface, dst: Surface | PlanarSurface, *, stride: Pair = 1) -> RubikLayer:  # noqa: N802
    """Return the layer of RUBIK that leads from one cube to the other.

    From a cube to planes it is a split, from planes to a cube a merge, between cubes a contract.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (40, 4, 5), dtype=np.int8))
        await bench.run(Rubik(src, bench.reserve_planes(src.shape)))

    Named like a class because it stands for one.

    Args:
        src: The cube that is read, (C, H, W), or the planes that are merged.
        dst: The cube that is written, or the planes that it is split into: of the same shape, or for contract
            (C / (y * x), H * y, W * x) with the stride (y, x); C is then a multiple of y * x atoms.
        stride: Rows and columns that contract makes of one, 1 to 32.

    Raises:
        InputError: when they do not fit each other, or for a configuration without RUBIK.

    Source: unit description, "RUBIK".
    """
    check_kind("src", src, Surface, PlanarSurface)
    check_kind("dst", dst, Surface, PlanarSurface)
    stride_y, stride_x = pair("stride", stride, 32)
    if isinstance(src, PlanarSurface) and isinstance(dst, PlanarSurface):
        raise InputError("src or dst must be a feature cube, because RUBIK does not lead from planes to planes")
    mode = RubikMode.CONTRACT
    if isinstance(src, PlanarSurface):
        mode = RubikMode.MERGE
    elif isinstance(dst, PlanarSurface):
        mode = RubikMode.SPLIT
    return RubikLayer(mode, src, dst, stride_y, stride_x)


def Bdma(src: Surface | LinesSurface, dst: Surface | LinesSurface) -> BdmaLayer:  # noqa: N802
    """Return the copy of a cube, or of lines of bytes, within a memory or to the other one.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (40, 4, 5), dtype=np.int8))
        await bench.run(Bdma(src, bench.reserve(src.shape, ram=Ram.CVSRAM)))

    Named like a class because it stands for one.

    Args:
        src: The cube (C, H, W), or lines (surfaces, lines, bytes).
        dst: Where it is copied to, of the same shape; strides may be others.

    Raises:
        InputError: when they do not fit each other, or for a configuration without BDMA.

    Source: programming guide, "BDMA programming".
    """
    check_kind("src", src, Surface, LinesSurface)
    check_kind("dst", dst, Surface, LinesSurface)
    return BdmaLayer(_lines(src), _lines(dst))


def _lines(surface: Surface | LinesSurface) -> LinesSurface:
    """Return a cube as the lines of atoms that BDMA copies."""
    if isinstance(surface, LinesSurface):
        return surface
    cube = surface.layout
    shape = (cube.surfaces, cube.shape[1], cube.shape[2] * cube.atom_bytes)
    layout = LinesLayout(cube.config, shape, cube.line_stride_bytes, cube.surface_stride_bytes)
    return LinesSurface(layout, surface.address, surface.ram)
