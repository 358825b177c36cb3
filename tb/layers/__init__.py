"""Hardware layers: what one unit, or one pair of RDMA and unit, is programmed to do, in real sizes.

Every layer has a ``kind``, which tells it from others without loading theirs.
"""

from typing import TYPE_CHECKING, Literal

from models.late import late_names

if TYPE_CHECKING:
    from tb.layers.batch import Batch
    from tb.layers.bdma import BdmaLayer
    from tb.layers.cdp import CdpLayer
    from tb.layers.conv import ConvLayer
    from tb.layers.layer import Layer
    from tb.layers.pdp import LINE_BUFFER_ELEMENTS, PdpLayer, WidthSplit
    from tb.layers.pooled import PooledLayer, on_the_fly
    from tb.layers.rubik import RubikLayer, RubikMode
    from tb.layers.sdp import SdpLayer
    from tb.layers.stages import StageSource, is_per_channel, processing_precision, strides_are_ignored
    from tb.surfaces import LinesSurface, OperandSurface, PlanarSurface, Surface
else:
    __getattr__ = late_names(
        __name__,
        {
            "tb.layers.batch": "Batch",
            "tb.layers.bdma": "BdmaLayer",
            "tb.layers.cdp": "CdpLayer",
            "tb.layers.conv": "ConvLayer",
            "tb.layers.layer": "Layer",
            "tb.layers.pdp": "LINE_BUFFER_ELEMENTS PdpLayer WidthSplit",
            "tb.layers.pooled": "PooledLayer on_the_fly",
            "tb.layers.rubik": "RubikLayer RubikMode",
            "tb.layers.sdp": "SdpLayer",
            "tb.layers.stages": "StageSource is_per_channel processing_precision strides_are_ignored",
            "tb.surfaces": "LinesSurface OperandSurface PlanarSurface Surface",
        },
    )

Kind = Literal["SDP", "CONV", "PDP", "POOLED", "CDP", "RUBIK", "BDMA"]

__all__ = [
    "LINE_BUFFER_ELEMENTS",
    "Batch",
    "BdmaLayer",
    "CdpLayer",
    "ConvLayer",
    "Kind",
    "Layer",
    "LinesSurface",
    "OperandSurface",
    "PdpLayer",
    "PlanarSurface",
    "PooledLayer",
    "RubikLayer",
    "RubikMode",
    "SdpLayer",
    "StageSource",
    "Surface",
    "WidthSplit",
    "is_per_channel",
    "on_the_fly",
    "processing_precision",
    "strides_are_ignored",
]
