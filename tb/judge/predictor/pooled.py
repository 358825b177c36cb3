"""PDP on the fly: SDP, from memory or after a convolution, and PDP after it."""

from __future__ import annotations

from tb.judge.predictor.conv import process_convolved, tolerated
from tb.judge.predictor.conv_operands import Operands
from tb.judge.predictor.counters import counted
from tb.judge.predictor.cubes import expect
from tb.judge.predictor.expectation import Expectation, ReadMemory
from tb.judge.predictor.pdp import pool, pool_tolerated
from tb.judge.predictor.sdp import process_memory
from tb.judge.tracker import StartedLayer
from tb.nvdla.layers import PooledLayer, SdpLayer


def predict_pooled(started: StartedLayer, read: ReadMemory, operands: Operands | None) -> Expectation:
    """Return the expectation of a layer that PDP pools on the fly; ``operands`` are those of a convolution."""
    layer = started.layer
    assert isinstance(layer, PooledLayer)
    producer, config = layer.producer, layer.dst.layout.config
    if isinstance(producer, SdpLayer):
        processed = process_memory(producer, read)
        result, allowed = pool(layer.params, processed.cube, config)
        return expect(started, layer.dst, result, allowed, counted(started, processed, {}))

    assert operands is not None
    processed, before = process_convolved(producer, operands, read)
    result, allowed = pool(layer.params, processed.cube, config)
    if allowed is not None:
        allowed = pool_tolerated(layer.params, tolerated(producer, operands, read), allowed, config)
    return expect(started, layer.dst, result, allowed, counted(started, processed, before))
