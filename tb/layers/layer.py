"""Any hardware layer: what a function says that takes or returns all of them."""

from tb.layers.bdma import BdmaLayer
from tb.layers.cdp import CdpLayer
from tb.layers.conv import ConvLayer
from tb.layers.pdp import PdpLayer
from tb.layers.pooled import PooledLayer
from tb.layers.rubik import RubikLayer
from tb.layers.sdp import SdpLayer

Layer = SdpLayer | PdpLayer | CdpLayer | ConvLayer | PooledLayer | RubikLayer | BdmaLayer
