"""What a layer will write: from the layer and the memory it reads to the bytes it must leave behind."""

from __future__ import annotations

from collections.abc import Callable

from tb.judge.predictor.bdma import predict_bdma
from tb.judge.predictor.cdp import predict_cdp
from tb.judge.predictor.conv import predict_conv
from tb.judge.predictor.conv_operands import BufferContents
from tb.judge.predictor.expectation import Expectation, ReadMemory
from tb.judge.predictor.pdp import predict_pdp
from tb.judge.predictor.pooled import predict_pooled
from tb.judge.predictor.rubik import predict_rubik
from tb.judge.predictor.sdp import predict_sdp
from tb.judge.tracker import StartedLayer
from tb.nvdla.layers import BdmaLayer, CdpLayer, ConvLayer, Layer, PdpLayer, PooledLayer, RubikLayer, SdpLayer

__all__ = ["BufferContents", "Expectation", "ReadMemory", "predict"]

_PREDICTORS: dict[type[Layer], Callable[[StartedLayer, ReadMemory], Expectation]] = {
    SdpLayer: predict_sdp,
    PdpLayer: predict_pdp,
    CdpLayer: predict_cdp,
    RubikLayer: predict_rubik,
    BdmaLayer: predict_bdma,
}


def predict(started: StartedLayer, read: ReadMemory, buffer: BufferContents | None = None) -> Expectation:
    """Return what a layer must write.

    Padding channels are predicted like any other: hardware computes and writes them. All but CDP take the
    bytes that lie in memory behind the last channel; SDP on the fly takes zeros, but operands that lie in
    memory at their places.

    Args:
        started: The layer.
        read: How to read memory as the layer will find it.
        buffer: What lies in the convolution buffer; it follows the layer. An empty one when it is left out.
    """
    layer = started.layer
    first = layer.producer if isinstance(layer, PooledLayer) else layer
    operands = None
    if isinstance(first, ConvLayer):
        contents = BufferContents() if buffer is None else buffer
        operands = contents.take(first, started.fetch, read)
    if isinstance(layer, PooledLayer):
        return predict_pooled(started, operands, read)
    if operands is not None:
        return predict_conv(started, operands, read)
    return _PREDICTORS[type(layer)](started, read)
