"""Hardware layers: what one unit, or one pair of RDMA and unit, is programmed to do, in real sizes."""

from nvdla_tb.nvdla.layers.batch import Batch
from nvdla_tb.nvdla.layers.bdma import BdmaLayer
from nvdla_tb.nvdla.layers.cdp import CdpLayer
from nvdla_tb.nvdla.layers.conv import ConvLayer
from nvdla_tb.nvdla.layers.pdp import LINE_BUFFER_ELEMENTS, PdpLayer, WidthSplit
from nvdla_tb.nvdla.layers.pooled import PooledLayer, on_the_fly
from nvdla_tb.nvdla.layers.rubik import RubikLayer, RubikMode
from nvdla_tb.nvdla.layers.sdp import SdpLayer
from nvdla_tb.nvdla.layers.stages import StageSource, is_per_channel, processing_precision, strides_are_ignored
from nvdla_tb.nvdla.surfaces import LinesSurface, OperandSurface, PlanarSurface, Surface

Layer = SdpLayer | PdpLayer | CdpLayer | ConvLayer | PooledLayer | RubikLayer | BdmaLayer
"""Any of them; its ``unit`` is the one that ends the layer and raises its interrupt."""


def first_of(layer: Layer) -> Layer:
    """Return what begins a layer: the part of a pooled one that SDP ends, else the layer itself."""
    return layer.producer if isinstance(layer, PooledLayer) else layer


def convolution_of(layer: Layer) -> ConvLayer | None:
    """Return the convolution that a layer is or begins with, None for any other."""
    first = first_of(layer)
    return first if isinstance(first, ConvLayer) else None
