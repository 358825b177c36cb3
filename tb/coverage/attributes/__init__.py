"""What coverage points look at: one attribute each, by name, of a decoded layer.

A value is a number or a word; None where the layer has no such thing, which hits no bin.
"""

from __future__ import annotations

from tb.coverage.attributes.cdp import cdp_attributes
from tb.coverage.attributes.conv import conv_attributes
from tb.coverage.attributes.pdp import pdp_attributes
from tb.coverage.attributes.sdp import sdp_attributes
from tb.coverage.attributes.values import Attributes, Value
from tb.layers import CdpLayer, ConvLayer, Layer, PdpLayer, SdpLayer

__all__ = ["UNITS", "Attributes", "Value", "layer_attributes"]

UNITS = ("CONV", "SDP", "CDP", "PDP", "SYSTEM")
"""Units with a coverage model of their own; ``SYSTEM`` looks at how layers follow each other on all of them."""


def layer_attributes(layer: Layer) -> tuple[str, Attributes] | None:
    """Return the unit whose model a layer counts for, and the layer's attributes; None for other layers."""
    match layer:
        case ConvLayer():
            return "CONV", conv_attributes(layer)
        case SdpLayer():
            return "SDP", sdp_attributes(layer)
        case PdpLayer():
            return "PDP", pdp_attributes(layer)
        case CdpLayer():
            return "CDP", cdp_attributes(layer)
        case _:
            return None
