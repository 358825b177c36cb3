"""Hardware layers: what one unit, or one pair of RDMA and unit, is programmed to do, in real sizes."""

from tb.layers.batch import Batch
from tb.layers.bdma import BdmaLayer
from tb.layers.cdp import CdpLayer
from tb.layers.conv import ConvLayer
from tb.layers.layer import Layer
from tb.layers.pdp import LINE_BUFFER_ELEMENTS, PdpLayer, WidthSplit
from tb.layers.pooled import PooledLayer, on_the_fly
from tb.layers.rubik import RubikLayer, RubikMode
from tb.layers.sdp import SdpLayer
from tb.layers.short import Sdp
from tb.layers.stages import StageSource, is_per_channel, processing_precision, strides_are_ignored
from tb.surfaces import LinesSurface, OperandSurface, PlanarSurface, Surface

__all__ = [
    "LINE_BUFFER_ELEMENTS",
    "Batch",
    "BdmaLayer",
    "CdpLayer",
    "ConvLayer",
    "Layer",
    "LinesSurface",
    "OperandSurface",
    "PdpLayer",
    "PlanarSurface",
    "PooledLayer",
    "RubikLayer",
    "RubikMode",
    "Sdp",
    "SdpLayer",
    "StageSource",
    "Surface",
    "WidthSplit",
    "is_per_channel",
    "on_the_fly",
    "processing_precision",
    "strides_are_ignored",
]
