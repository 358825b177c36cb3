"""Prediction of a layer: from the layer and the memory that it reads to the bytes that it must write."""

from __future__ import annotations

from collections.abc import Callable

from nvdla_tb.judge.predictor.cdp import predict_cdp
from nvdla_tb.judge.predictor.conv import predict_conv
from nvdla_tb.judge.predictor.conv_operands import BufferContents, Operands
from nvdla_tb.judge.predictor.expectation import Expectation, ReadMemory
from nvdla_tb.judge.predictor.movement import predict_bdma, predict_rubik
from nvdla_tb.judge.predictor.pdp import predict_pdp, predict_pooled
from nvdla_tb.judge.predictor.sdp import predict_sdp
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import (
    BdmaLayer,
    CdpLayer,
    ConvLayer,
    Layer,
    PdpLayer,
    PooledLayer,
    RubikLayer,
    SdpLayer,
    convolution_of,
)

__all__ = ["BufferContents", "Expectation", "ReadMemory", "predict"]

FROM_MEMORY: dict[type[Layer], Callable[[StartedLayer, ReadMemory], Expectation]] = {
    SdpLayer: predict_sdp,
    PdpLayer: predict_pdp,
    CdpLayer: predict_cdp,
    RubikLayer: predict_rubik,
    BdmaLayer: predict_bdma,
}
"""Predictors of layers that find all they read in memory."""

BUFFERED: dict[type[Layer], Callable[[StartedLayer, ReadMemory, Operands | None], Expectation]] = {
    ConvLayer: predict_conv,
    PooledLayer: predict_pooled,
}
"""Predictors of layers that may begin with a convolution, whose operands lie in the convolution buffer."""


def predict(started: StartedLayer, read: ReadMemory, buffer: BufferContents | None = None) -> Expectation:
    """Return the expectation of a layer.

    Padding channels are predicted like any other: hardware computes and writes them. All but CDP take the
    bytes that lie in memory after the last channel; SDP on the fly takes zeros, but operands that lie in
    memory at their places. The convolution buffer follows the layer; it is empty when it is left out.
    """
    layer = started.layer
    if type(layer) in FROM_MEMORY:
        return FROM_MEMORY[type(layer)](started, read)
    operands, convolution = None, convolution_of(layer)
    if convolution is not None:
        contents = BufferContents() if buffer is None else buffer
        operands = contents.take(convolution, started.fetch, read)
    return BUFFERED[type(layer)](started, read, operands)
