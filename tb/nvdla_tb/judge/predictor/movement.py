"""The results of RUBIK and BDMA."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import FeatureLayout, PlanarLayout, contract, merge, split
from nvdla_tb.judge.predictor.expectation import Expectation, ReadMemory
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import BdmaLayer, RubikLayer


def predict_rubik(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return the expectation of a layer of RUBIK."""
    layer = started.layer
    assert isinstance(layer, RubikLayer)
    dst = layer.dst
    return Expectation(started, dst.ram, dst.address, dst.layout, *move(layer, read))


def move(layer: RubikLayer, read: ReadMemory) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the bytes that a layer leaves, and which of them it writes: whole atoms."""
    src, dst = layer.src.layout, layer.dst.layout
    data = read(layer.src.ram, layer.src.address, src.nbytes)
    written = dst.written_mask()
    if isinstance(src, PlanarLayout):
        assert isinstance(dst, FeatureLayout)
        return merge(src, dst, data), written
    if isinstance(dst, PlanarLayout):
        return split(src, dst, data), written
    return contract(src, dst, (layer.stride_y, layer.stride_x), data), written


def predict_bdma(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return the expectation of a copy: the lines of its source where those of its destination lie."""
    layer = started.layer
    assert isinstance(layer, BdmaLayer)
    src, dst = layer.src, layer.dst
    lines = src.layout.unpack(read(src.ram, src.address, src.layout.nbytes))
    return Expectation(started, dst.ram, dst.address, dst.layout, dst.layout.pack(lines), dst.layout.written_mask())
