"""What coverage points look at: one attribute each, by name, of a decoded layer.

A value is a number or a word; None where the layer has no such thing, which hits no bin.
"""

from __future__ import annotations

from tb.coverage.attributes.cdp import cdp_attributes
from tb.coverage.attributes.conv import conv_attributes
from tb.coverage.attributes.pdp import pdp_attributes
from tb.coverage.attributes.sdp import sdp_attributes
from tb.coverage.attributes.values import GAPS, Attributes, Value
from tb.nvdla.layers import CdpLayer, ConvLayer, Layer, PdpLayer, PooledLayer, SdpLayer

__all__ = ["UNITS", "Attributes", "Value", "layer_attributes"]

UNITS = ("CONV", "SDP", "CDP", "PDP", "SYSTEM")
"""Units with a coverage model of their own; ``SYSTEM`` looks at how layers follow each other on all of them."""


def layer_attributes(layer: Layer) -> list[tuple[str, Attributes]]:
    """Return the units whose models a layer counts for, the one that ends it last, and what each of them sees."""
    match layer:
        case ConvLayer():
            return [("CONV", conv_attributes(layer))]
        case SdpLayer():
            return [("SDP", sdp_attributes(layer))]
        case PdpLayer():
            return [("PDP", pdp_attributes(layer))]
        case PooledLayer():
            return [*_handed_on(layer), ("PDP", pdp_attributes(layer))]
        case CdpLayer():
            return [("CDP", cdp_attributes(layer))]
        case _:
            return []


def _handed_on(layer: PooledLayer) -> list[tuple[str, Attributes]]:
    """Return what the units before PDP show; their result is not in memory, so it has neither gaps nor address."""
    nowhere: Attributes = {"output": "PDP", **dict.fromkeys(f"dst.{name}" for name in GAPS)}
    return [(unit, {**attributes, **nowhere}) for unit, attributes in layer_attributes(layer.producer)]
