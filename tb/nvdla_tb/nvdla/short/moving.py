"""The short forms of RUBIK and BDMA, which move data and compute nothing."""

from __future__ import annotations

from nvdla_models.errors import InputError
from nvdla_models.layout import LinesLayout
from nvdla_tb.nvdla.layers import BdmaLayer, LinesSurface, PlanarSurface, RubikLayer, RubikMode, Surface
from nvdla_tb.nvdla.short.axes import Pair, pair
from nvdla_tb.nvdla.short.given import check_kind


def Rubik(src: Surface | PlanarSurface, dst: Surface | PlanarSurface, *, stride: Pair = 1) -> RubikLayer:  # noqa: N802
    """Return a RUBIK layer: a split (``dst`` is planes), a merge (``src`` is planes) or a contract (both are cubes).

    ::

        src = bench.place(bench.rng.integers(-128, 128, (40, 4, 5), dtype=np.int8))
        await bench.run(Rubik(src, bench.reserve_planes(src.shape)))

    Args:
        src: Input cube, (C, H, W), or the planes to merge.
        dst: Output cube, or the planes to split into, of the same shape. For contract with the stride (y, x) the shape
            is (C / (y * x), H * y, W * x), and C is a multiple of y * x atoms.
        stride: Factor by which contract enlarges height and width, 1 to 32: one number, or (along H, along W).

    Raises:
        InputError: when the shapes do not fit each other, or the configuration has no RUBIK.

    Source: unit description, "RUBIK".
    """
    check_kind("src", src, Surface, PlanarSurface)
    check_kind("dst", dst, Surface, PlanarSurface)
    stride_y, stride_x = pair("stride", stride, 32)
    if isinstance(src, PlanarSurface) and isinstance(dst, PlanarSurface):
        raise InputError("src or dst must be a feature cube, because RUBIK does not lead from planes to planes")
    planes = isinstance(src, PlanarSurface) or isinstance(dst, PlanarSurface)
    if planes and (stride_y, stride_x) != (1, 1):
        raise InputError(f"stride must be 1 for planes, as only contract enlarges a cube, not {stride!r}")
    mode = RubikMode.CONTRACT
    if isinstance(src, PlanarSurface):
        mode = RubikMode.MERGE
    elif isinstance(dst, PlanarSurface):
        mode = RubikMode.SPLIT
    return RubikLayer(mode, src, dst, stride_y, stride_x)


def Bdma(src: Surface | LinesSurface, dst: Surface | LinesSurface) -> BdmaLayer:  # noqa: N802
    """Return a BDMA layer, which copies a cube or lines of bytes within a memory or to the other one.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (40, 4, 5), dtype=np.int8))
        await bench.run(Bdma(src, bench.reserve(src.shape, ram=Ram.CVSRAM)))

    Args:
        src: Source cube (C, H, W), or lines (surfaces, lines, bytes).
        dst: Destination, of the same shape; its strides may differ.

    Raises:
        InputError: when the shapes do not fit each other, or the configuration has no BDMA.

    Source: programming guide, "BDMA programming".
    """
    check_kind("src", src, Surface, LinesSurface)
    check_kind("dst", dst, Surface, LinesSurface)
    if isinstance(src, Surface) and isinstance(dst, Surface):
        if dst.shape != src.shape:
            raise InputError(f"dst must have the shape {src.shape} of src, not {dst.shape}")
        if dst.layout.precision is not src.layout.precision:
            raise InputError(f"dst must be of {src.layout.precision.name} as src is, not {dst.layout.precision.name}")
    return BdmaLayer(_lines(src), _lines(dst))


def _lines(surface: Surface | LinesSurface) -> LinesSurface:
    """Return a cube as the lines of atoms that BDMA copies."""
    if isinstance(surface, LinesSurface):
        return surface
    cube = surface.layout
    shape = (cube.surfaces, cube.shape[1], cube.shape[2] * cube.atom_bytes)
    layout = LinesLayout(cube.config, shape, cube.line_stride_bytes, cube.surface_stride_bytes)
    return LinesSurface(layout, surface.address, surface.ram)
