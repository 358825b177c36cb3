"""FP16 for a network: X1 adds the bias and multiplies, X2 adds, bounds or multiplies; no number has a scale."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.precision import Precision
from models.sdp import AluOp, SdpParams, output_converter
from tb.stimulus.network.compiler.fuse import Compute
from tb.stimulus.network.compiler.graph import Floats, PRelu, Relu
from tb.stimulus.network.compiler.quantise import Arithmetic, Operands, folded, stage

_MOST = float(np.finfo(np.float16).max)


def halves(step: Compute) -> Arithmetic:
    """Return a step in FP16; numbers beyond its range become the largest."""
    conv, activation = step.conv, step.activation
    relu = isinstance(activation, Relu)
    bias = None if conv is None or not conv.bias.any() else _patterns(conv.bias)
    scale = None if (step.scale == 1).all() else _patterns(step.scale)
    operand, operation = None, None
    if step.other is not None:
        operation = AluOp.SUM
    elif isinstance(activation, Relu) and activation.most is not None:
        operand, operation = _patterns(np.full(1, activation.most)), AluOp.MIN
    elif step.shift.any():
        operand, operation = _patterns(step.shift), AluOp.SUM
    slope = _patterns(activation.slope) if isinstance(activation, PRelu) else None
    second = operation is not None or slope is not None
    x1 = stage(None if bias is None else AluOp.SUM, mul=scale is not None, relu=relu and not second)
    x2 = stage(operation, mul=slope is not None, prelu=slope is not None, relu=relu and second)
    params = SdpParams(x1, x2, output_converter(0, 1, 0), Precision.FP16, Precision.FP16)
    weights = None if conv is None else _clipped(conv.weights)
    return Arithmetic(weights, params, Operands(folded(bias), folded(scale)), Operands(folded(operand), folded(slope)))


def _clipped(real: Floats) -> NDArray[np.float16]:
    return np.clip(real, -_MOST, _MOST).astype("<f2")


def _patterns(real: Floats) -> NDArray[np.uint16]:
    """Return numbers as the patterns that registers hold."""
    return _clipped(real).view("<u2")
