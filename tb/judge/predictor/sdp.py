"""SDP: from memory or from the convolution core, through the model."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from models import sdp
from models.precision import Precision
from models.tolerance import Module, bit_identical
from tb.judge.predictor.counters import counted
from tb.judge.predictor.cubes import expect, read_patterns
from tb.judge.predictor.expectation import Expectation, ReadMemory
from tb.judge.predictor.operands import read_operands
from tb.judge.tolerance import Tolerated
from tb.judge.tracker import StartedLayer
from tb.nvdla.layers import ConvLayer, SdpLayer


def predict_sdp(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return the expectation of a layer of SDP; one that compares writes nothing."""
    layer = started.layer
    assert isinstance(layer, SdpLayer)
    processed, tolerated = process_memory(layer, read), None
    if layer.dst.layout.precision is Precision.FP16:
        tolerated = Tolerated(processed.cube, bit_identical(Module.SDP))
    counts = counted(started, processed, {})
    return expect(started, layer.dst, processed.cube, tolerated, counts, written=not layer.params.compares)


def process_memory(layer: SdpLayer, read: ReadMemory) -> sdp.SdpResult:
    """Return SDP's result for its input in memory, with its counts, padding channels included.

    Args:
        layer: The layer.
        read: How to read memory as the layer will find it.
    """
    return process(layer, layer.params, read_patterns(layer.src, read), read)


def process(layer: SdpLayer | ConvLayer, params: sdp.SdpParams, cube: NDArray[Any], read: ReadMemory) -> sdp.SdpResult:
    """Return SDP's result for a cube, with its counts.

    Args:
        layer: Where operands come from.
        params: Processing of SDP.
        cube: (padded channels, H, W), from memory or from the convolution core.
        read: How to read memory as the layer will find it.
    """
    sources = ((layer.x1, params.x1), (layer.x2, params.x2), (layer.y, params.y))
    return sdp.compute(
        params, cube, *(read_operands(source, stage, params.is_float, read) for source, stage in sources)
    )
