"""Where the data of layers lie: cubes, images, weights, operands, and a layer's share of the convolution buffer."""

from typing import TYPE_CHECKING

from models.late import late_names

if TYPE_CHECKING:
    from tb.surfaces.convolution import CbufUse, Compression, ImageSurface, WeightSurface
    from tb.surfaces.cube import OperandSurface, Surface
    from tb.surfaces.moved import LinesSurface, PlanarSurface
else:
    __getattr__ = late_names(
        __name__,
        {
            "tb.surfaces.convolution": "CbufUse Compression ImageSurface WeightSurface",
            "tb.surfaces.cube": "OperandSurface Surface",
            "tb.surfaces.moved": "LinesSurface PlanarSurface",
        },
    )

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
