"""The result of RUBIK."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.layout import FeatureLayout, PlanarLayout, contract, merge, split
from tb.judge.predictor.expectation import Expectation, ReadMemory
from tb.judge.tracker import StartedLayer
from tb.nvdla.layers import RubikLayer


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
