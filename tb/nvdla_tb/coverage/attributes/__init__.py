"""Attributes of a decoded layer by name, one for each coverage point.

A value is a number or a word; None where the layer has no such thing, which hits no bin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nvdla_tb.coverage.attributes.cdp import cdp_attributes
from nvdla_tb.coverage.attributes.conv import conv_attributes
from nvdla_tb.coverage.attributes.pdp import pdp_attributes
from nvdla_tb.coverage.attributes.sdp import sdp_attributes
from nvdla_tb.coverage.attributes.values import GAPS, Attributes, Value
from nvdla_tb.nvdla.engines import engine_of
from nvdla_tb.nvdla.layers import Layer, PooledLayer

__all__ = ["UNITS", "Attributes", "Value", "layer_attributes"]

_ATTRIBUTES: dict[str, Callable[[Any], Attributes]] = {
    "CONV": conv_attributes,
    "SDP": sdp_attributes,
    "CDP": cdp_attributes,
    "PDP": pdp_attributes,
}
"""By engine, from one of its layers to what its coverage model sees."""

NOT_COVERED = ("RUBIK", "BDMA")
"""Engines without a coverage model."""

UNITS = (*_ATTRIBUTES, "SYSTEM", "INTERRUPTS")
"""Units with a coverage model of their own; ``SYSTEM`` looks at how layers follow each other on all of them, and
``INTERRUPTS`` at events that may come while others are cleared."""


def layer_attributes(layer: Layer) -> list[tuple[str, Attributes]]:
    """Return the units whose models a layer counts for, the one that ends it last, and what each of them sees."""
    name = engine_of(layer).name
    if name in NOT_COVERED:
        return []
    before = _handed_on(layer) if isinstance(layer, PooledLayer) else []
    return [*before, (name, _ATTRIBUTES[name](layer))]


def _handed_on(layer: PooledLayer) -> list[tuple[str, Attributes]]:
    """Return the attributes of the units before PDP, whose result is not in memory and has neither gaps nor address."""
    nowhere: Attributes = {"output": "PDP", **dict.fromkeys(f"dst.{name}" for name in GAPS)}
    return [(unit, {**attributes, **nowhere}) for unit, attributes in layer_attributes(layer.producer)]
