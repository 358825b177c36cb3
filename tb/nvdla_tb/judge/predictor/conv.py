"""Sums that the convolution core hands to SDP, and their allowance by the published thresholds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import conv, sdp
from nvdla_models.conv import AtomOrder
from nvdla_models.fp16 import FP16, FP32, count_infinity, count_nan
from nvdla_models.layout import ImageWeightLayout
from nvdla_models.precision import Precision
from nvdla_models.tolerance import Float64Array
from nvdla_tb.judge.predictor.conv_operands import Operands
from nvdla_tb.judge.predictor.counters import counted
from nvdla_tb.judge.predictor.expectation import Expectation, ReadMemory, expect, last_place
from nvdla_tb.judge.predictor.sdp import process, read_operands
from nvdla_tb.judge.tolerated import Tolerated
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import ConvLayer

_SATURATION = "CACC.D_OUT_SATURATION"
_INPUT_COUNTS = (
    "CDMA.D_NAN_INPUT_DATA_NUM",
    "CDMA.D_NAN_INPUT_WEIGHT_NUM",
    "CDMA.D_INF_INPUT_DATA_NUM",
    "CDMA.D_INF_INPUT_WEIGHT_NUM",
)


def predict_conv(started: StartedLayer, read: ReadMemory, operands: Operands | None) -> Expectation:
    """Return the expectation of a convolution with SDP on the fly; ``operands`` are its own."""
    layer = started.layer
    assert isinstance(layer, ConvLayer)
    assert operands is not None
    cube, before = convolve(layer, operands)
    processed = process(layer, layer.sdp, cube, read)
    counts = counted(started, processed, before)
    return expect(started, layer.dst, processed.cube, tolerated(layer, operands, read), counts)


def convolve(layer: ConvLayer, operands: Operands) -> tuple[NDArray[Any], dict[str, int]]:
    """Return the sums that the convolution core hands to SDP, with zeros in the padding channels, and its counts.

    Returns:
        int32, or uint32 FP32 patterns of FP16, (padded channels, H, W); counts by ``UNIT.REGISTER``.
    """
    cube, weights = operands.cube, operands.weights
    if not layer.params.is_float:
        sums = conv.accumulate(layer.params, cube, weights)
        counts = dict.fromkeys(_INPUT_COUNTS, 0) | {_SATURATION: int(np.count_nonzero(sums.saturated))}
        return _padded(layer, sums.output), counts
    counts = {}
    if operands.counted is not None:
        found = (count(array) for count in (count_nan, count_infinity) for array in operands.counted)
        counts = dict(zip(_INPUT_COUNTS, found, strict=True))
    stored = layer.weights.layout
    order = AtomOrder(stored.config.mac_atomic_c_size)
    if isinstance(stored, ImageWeightLayout):
        order = replace(order, image=True, line_group=stored.line_group)
    return _padded(layer, conv.run_exact(layer.params, cube, weights, order)), counts


def tolerated(layer: ConvLayer, operands: Operands, read: ReadMemory) -> Tolerated | None:
    """Return the float64 reference of an FP16 layer with its allowances, or None where results are exact.

    The allowance of the convolution is carried through SDP by what SDP makes of the reference with and
    without it, so that whatever is programmed there scales it, also where SDP makes INT16 of it. Padding channels have
    none.

    Source: precision document, "FP16 error threshold".
    """
    if not layer.params.is_float or layer.sdp.compares:
        return None
    cube, weights = operands.cube, operands.weights
    reference = conv.run_float64(layer.params, cube, weights)
    rule = conv.threshold(layer.params, cube, weights, reference)
    assert rule.allowance is not None
    reference, allowance = _padded(layer, reference), _padded(layer, rule.allowance)
    stages = (layer.sdp.x1, layer.sdp.x2, layer.sdp.y)
    becomes_integer = layer.dst.layout.precision is Precision.INT16
    if becomes_integer or layer.sdp.nan_to_zero or any(stage is not None for stage in stages):
        reference, allowance = _through_sdp(layer, read, reference, allowance)
    allowance[layer.dst.layout.shape[0] :] = 0.0
    return Tolerated(reference, replace(rule, allowance=allowance))


def _through_sdp(
    layer: ConvLayer, read: ReadMemory, reference: Float64Array, allowance: Float64Array
) -> tuple[Float64Array, Float64Array]:
    alignment = allowance - last_place(reference)
    alignment[layer.dst.layout.shape[0] :] = 0.0
    operands = list(read_operands(layer, layer.sdp, read))
    is_integer = layer.dst.layout.precision is Precision.INT16

    def processed(values: Float64Array) -> Float64Array:
        nan = np.isnan(values)
        numbers = FP32.encode(np.where(nan, 0.0, values))
        patterns = np.where(nan, FP32.infinity_bits | 1, numbers).astype(FP32.dtype)
        out = sdp.run(layer.sdp, patterns, *operands)
        return out.astype(np.float64) if is_integer else FP16.decode(out)

    result = processed(reference)
    ends = [np.abs(processed(reference + side * alignment) - result) for side in (-1.0, 1.0)]
    # INT16 is made of FP16, of which a unit of the last place is up to 16 integers.
    unit = np.clip(last_place(result), 1.0, 16.0) if is_integer else last_place(result)
    return result, np.nan_to_num(np.maximum(*ends)) + unit


def _padded(layer: ConvLayer, result: NDArray[Any]) -> NDArray[Any]:
    padding = layer.dst.layout.padded_channels - result.shape[0]
    return np.pad(result, ((0, padding), (0, 0), (0, 0)))
