"""SDP: from memory or from the convolution core, through the model."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from models import sdp
from tb.layers import ConvLayer, SdpLayer
from tb.predictor.conv import convolve_counted
from tb.predictor.cubes import read_patterns
from tb.predictor.expectation import ReadMemory
from tb.predictor.operands import read_operands


def process(layer: SdpLayer | ConvLayer, read: ReadMemory) -> tuple[sdp.SdpResult, dict[str, int]]:
    """Return what SDP makes of its input and counts, padding channels included, and what is counted before it.

    Args:
        layer: A layer from memory, or a convolution with SDP on the fly.
        read: How to read memory as the layer will find it.
    """
    if isinstance(layer, ConvLayer):
        cube, counts = convolve_counted(layer, read)
        return _process(layer, layer.sdp, cube, read), counts
    return _process(layer, layer.params, read_patterns(layer.src, read), read), {}


def _process(layer: SdpLayer | ConvLayer, params: sdp.SdpParams, cube: NDArray[Any], read: ReadMemory) -> sdp.SdpResult:
    sources = ((layer.x1, params.x1), (layer.x2, params.x2), (layer.y, params.y))
    return sdp.compute(
        params, cube, *(read_operands(source, stage, params.is_float, read) for source, stage in sources)
    )
