"""The result of BDMA."""

from __future__ import annotations

from tb.judge.predictor.expectation import Expectation, ReadMemory
from tb.judge.tracker import StartedLayer
from tb.nvdla.layers import BdmaLayer


def predict_bdma(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return the expectation of a copy: the lines of its source where those of its destination lie."""
    layer = started.layer
    assert isinstance(layer, BdmaLayer)
    src, dst = layer.src, layer.dst
    lines = src.layout.unpack(read(src.ram, src.address, src.layout.nbytes))
    return Expectation(started, dst.ram, dst.address, dst.layout, dst.layout.pack(lines), dst.layout.written_mask())
