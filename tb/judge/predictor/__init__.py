"""What a layer will write: from the layer and the memory it reads to the bytes it must leave behind."""

from __future__ import annotations

from collections.abc import Callable

from tb.judge.predictor.expectation import Expectation, ReadMemory
from tb.judge.tracker import StartedLayer
from tb.layers import Kind
from tb.program.codec import ENGINES
from tb.program.ops import Program, RegWrite

__all__ = ["Expectation", "ReadMemory", "load", "predict"]

Predictor = Callable[[StartedLayer, ReadMemory], Expectation]


def predict(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return what a layer must write.

    Padding channels are predicted like any other: hardware computes and writes them. All but CDP take the
    bytes that lie in memory behind the last channel; SDP on the fly takes zeros, but operands that lie in
    memory at their places.

    Args:
        started: The layer.
        read: How to read memory as the layer will find it.
    """
    return _predictor_of(started.layer.kind)(started, read)


def _predictor_of(kind: Kind) -> Predictor:
    """Return what predicts the layers of a kind; that loads the models that it takes, and no others."""
    match kind:
        case "SDP":
            from tb.judge.predictor.sdp import predict_sdp

            return predict_sdp
        case "CONV":
            from tb.judge.predictor.conv import predict_conv

            return predict_conv
        case "PDP":
            from tb.judge.predictor.pdp import predict_pdp

            return predict_pdp
        case "POOLED":
            from tb.judge.predictor.pooled import predict_pooled

            return predict_pooled
        case "CDP":
            from tb.judge.predictor.cdp import predict_cdp

            return predict_cdp
        case "RUBIK":
            from tb.judge.predictor.rubik import predict_rubik

            return predict_rubik
        case "BDMA":
            from tb.judge.predictor.bdma import predict_bdma

            return predict_bdma


def load(ops: Program) -> None:
    """Load all that the layers of a program take, so that it costs a simulation no time when they start."""
    enabled = {op.register for op in ops if isinstance(op, RegWrite)}
    for engine in ENGINES:
        enables = {f"{unit}.{'CFG_OP' if unit == 'BDMA' else 'D_OP_ENABLE'}" for unit in engine.units}
        if enables <= enabled:
            engine.coding()
            _predictor_of(engine.kind)
