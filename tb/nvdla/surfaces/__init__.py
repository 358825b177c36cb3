"""Where the data of layers lie: cubes, images, weights, operands, and a layer's share of the convolution buffer."""

from tb.nvdla.surfaces.convolution import CbufUse, Compression, ImageSurface, WeightSurface
from tb.nvdla.surfaces.cube import LinesSurface, OperandSurface, PlanarSurface, Surface

__all__ = [
    "CbufUse",
    "Compression",
    "ImageSurface",
    "LinesSurface",
    "OperandSurface",
    "PlanarSurface",
    "Surface",
    "WeightSurface",
]
