"""What a layer will write: from the layer and the memory it reads to the bytes it must leave behind."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.precision import Precision
from models.tolerance import Module, bit_identical
from tb.counters import Counts
from tb.layers import BdmaLayer, CdpLayer, ConvLayer, PdpLayer, PooledLayer, RubikLayer, SdpLayer
from tb.predictor.conv import tolerated as allowed
from tb.predictor.counters import counted, counted_by_cdp
from tb.predictor.cubes import pack_patterns, read_patterns
from tb.predictor.expectation import Expectation, ReadMemory, Tolerated
from tb.predictor.pool import normalise, pool, pool_tolerated
from tb.predictor.rubik import move
from tb.predictor.sdp import process
from tb.tracker import StartedLayer

__all__ = ["Expectation", "ReadMemory", "predict"]


def predict(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return what a layer must write.

    Padding channels are predicted like any other: hardware computes and writes them. All but CDP take the
    bytes that lie in memory behind the last channel; SDP on the fly takes zeros, but operands that lie in
    memory at their places.

    Args:
        started: The layer.
        read: How to read memory as the layer will find it.
    """
    layer = started.layer
    if isinstance(layer, RubikLayer):
        moved, touched = move(layer, read)
        return Expectation(started, layer.dst.ram, layer.dst.address, layer.dst.layout, moved, touched)
    if isinstance(layer, BdmaLayer):
        lines = layer.src.layout.unpack(read(layer.src.ram, layer.src.address, layer.src.layout.nbytes))
        target = layer.dst.layout
        return Expectation(started, layer.dst.ram, layer.dst.address, target, target.pack(lines), target.written_mask())
    tolerated = None
    counts: Counts = {}
    result: NDArray[Any]
    match layer:
        case SdpLayer():
            processed, before = process(layer, read)
            result, counts = processed.cube, counted(started, processed, before)
            if layer.dst.layout.precision is Precision.FP16:
                tolerated = Tolerated(result, bit_identical(Module.SDP))
        case PdpLayer():
            result, tolerated = pool(layer.params, read_patterns(layer.src, read), layer.dst.layout.config)
        case ConvLayer():
            processed, before = process(layer, read)
            result, counts = processed.cube, counted(started, processed, before)
            tolerated = allowed(layer, read)
        case PooledLayer():
            processed, before = process(layer.producer, read)
            counts = counted(started, processed, before)
            result, tolerated = pool(layer.params, processed.cube, layer.dst.layout.config)
            if tolerated is not None and isinstance(layer.producer, ConvLayer):
                convolved = allowed(layer.producer, read)
                tolerated = pool_tolerated(layer.params, convolved, tolerated, layer.dst.layout.config)
        case CdpLayer():
            result, tolerated = normalise(layer, read_patterns(layer.src, read))
            counts = counted_by_cdp(layer, result)
    dst = layer.dst
    data, written = pack_patterns(dst.layout, result)
    if isinstance(layer, SdpLayer) and layer.params.compares:
        written = np.zeros_like(written)
    return Expectation(started, dst.ram, dst.address, dst.layout, data, written, tolerated, counts)
