"""ONNX operators that quantise: what a file makes of constants, and the ranges that it gives to computed values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_networks.compiler.graph import Floats, floats
from nvdla_networks.compiler.node import NARROW, Constant, Found, OnnxNode, Quantised, Ranged

_DTYPES = ("int8", "uint8", "int16", "uint16")


def quantize(node: OnnxNode) -> list[Found]:
    """Return a computed value as integers, or the integers of a constant."""
    node.demand("block_size", 0)
    if not node.has(2):
        # Without a zero point this attribute alone would say which integers there are.
        node.demand("output_dtype", 0)
    zero_point = node.quantised(2).values if node.has(2) else np.zeros(1, dtype=np.uint8)
    if zero_point.dtype.name not in _DTYPES:
        raise node.refuse(f"zero point must be one of {', '.join(_DTYPES)}, not {zero_point.dtype}")
    limits = np.iinfo(zero_point.dtype)
    if node.is_constant(0):
        values = node.constant(0)
        scale, offset = (_along(node, each, values) for each in (_scale(node), floats(zero_point)))
        integers = np.clip(np.rint(values / scale) + offset, limits.min, limits.max)
        return [Constant(integers.astype(zero_point.dtype))]
    step = _scale(node).ravel()
    if step.size != 1 or zero_point.size != 1:
        raise node.refuse("scale and zero point of a computed value must be one number each, not one for each channel")
    zero = int(zero_point.ravel()[0])
    return [Quantised(node.value(0), float(step[0]), zero, int(limits.min), int(limits.max))]


def dequantize(node: OnnxNode) -> list[Found]:
    """Return the value that was quantised between the bounds of its integers, or a constant as real numbers."""
    node.demand("block_size", 0)
    zero_point = node.quantised(2).values if node.has(2) else np.zeros(1, dtype=np.uint8)
    quantised = node.integers_of(0)
    if quantised is not None:
        if [*_scale(node).ravel()] != [quantised.scale] or [*zero_point.ravel()] != [quantised.zero_point]:
            raise node.refuse("scale and zero point must be those of the QuantizeLinear before it")
        return [Ranged(quantised.value, quantised.range)]
    values: NDArray[Any] = node.quantised(0).values
    if values.dtype.kind not in "iu" and values.dtype.name not in NARROW:
        raise node.refuse(f"constant must hold integers, not {values.dtype}")
    scale, offset = (_along(node, each, values) for each in (_scale(node), floats(zero_point)))
    return [Constant((floats(values) - offset) * scale, scale)]


def _scale(node: OnnxNode) -> Floats:
    scale = node.constant(1)
    if not (scale > 0).all():
        raise node.refuse("scale must be positive")
    return scale


def _along(node: OnnxNode, numbers: Floats, values: NDArray[Any]) -> Floats:
    """Return one number, or one for each place of an axis, so that it meets an array."""
    axis = node.integer("axis", 1)
    if numbers.size == 1:
        return numbers.reshape(())
    axis += values.ndim if axis < 0 else 0
    if numbers.ndim == 1 and 0 <= axis < values.ndim and numbers.size == values.shape[axis]:
        return numbers.reshape([-1 if at == axis else 1 for at in range(values.ndim)])
    raise node.refuse(f"scale must be one number, or one for each of axis {axis}, not {numbers.shape}")
