"""Any hardware layer: what a function says that takes or returns all of them.

Its ``unit`` is the one that ends the layer and raises its interrupt.
"""

from tb.nvdla.layers.bdma import BdmaLayer
from tb.nvdla.layers.cdp import CdpLayer
from tb.nvdla.layers.conv import ConvLayer
from tb.nvdla.layers.pdp import PdpLayer
from tb.nvdla.layers.pooled import PooledLayer
from tb.nvdla.layers.rubik import RubikLayer
from tb.nvdla.layers.sdp import SdpLayer

Layer = SdpLayer | PdpLayer | CdpLayer | ConvLayer | PooledLayer | RubikLayer | BdmaLayer
