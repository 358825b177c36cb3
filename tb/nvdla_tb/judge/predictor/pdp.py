"""PDP: from memory or on the fly, through the model, and what FP16 outputs are measured by."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import pdp
from nvdla_models.config import HwConfig
from nvdla_models.fp16 import FP16, FP17
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.pdp.params import missing_elements
from nvdla_models.tolerance import Float64Array, Module, bit_identical, clip_reference
from nvdla_models.tolerance import pool as pool_tolerance
from nvdla_models.tolerance.conv import Window
from nvdla_tb.judge.predictor.conv import convolve, tolerated
from nvdla_tb.judge.predictor.conv_operands import Operands
from nvdla_tb.judge.predictor.counters import counted
from nvdla_tb.judge.predictor.expectation import Expectation, ReadMemory, expect, last_place, read_patterns
from nvdla_tb.judge.predictor.sdp import process
from nvdla_tb.judge.tolerated import Tolerated
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import ConvLayer, PdpLayer, PooledLayer, SdpLayer

_NAN = 0x7E00


def predict_pdp(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return the expectation of a pooling of a cube in memory."""
    layer = started.layer
    assert isinstance(layer, PdpLayer)
    return expect(started, layer.dst, *pool(layer.params, read_patterns(layer.src, read), layer.dst.layout.config))


def pool(params: PdpParams, cube: NDArray[Any], config: HwConfig) -> tuple[NDArray[Any], Tolerated | None]:
    """Return PDP's result for a cube, and the measure of an FP16 result.

    An average's reference is what the bit-accurate model computes; maximum and minimum are exact.

    Args:
        params: The pooling.
        cube: (C, H, W) with padding channels, FP16 as patterns.
        config: The build.
    """
    result = pdp.run(params, cube, config)
    if not params.is_float:
        return result, None
    if params.method is not PoolMethod.AVERAGE:
        return result, Tolerated(result, bit_identical(Module.PDP))
    window = Window(
        stride_x=params.stride_x,
        stride_y=params.stride_y,
        pad_left=params.pad_left,
        pad_right=params.pad_right,
        pad_top=params.pad_top,
        pad_bottom=params.pad_bottom,
    )
    values, kernel = FP16.decode(cube), (params.kernel_height, params.kernel_width)
    largest = pool_tolerance.planar_window_maximum(values, *kernel, window)
    height, width = cube.shape[1:]
    padding = pool_tolerance.padding_maximum(
        FP17.decode(np.array(params.pad_values, dtype=FP17.dtype)),
        missing_elements(params.kernel_width, params.stride_x, params.pad_left, width, result.shape[2]),
        missing_elements(params.kernel_height, params.stride_y, params.pad_top, height, result.shape[1]),
    )
    rule = pool_tolerance.pdp(np.maximum(largest, padding))
    anything = pool_tolerance.cancelling_infinities(values, *kernel, window)
    assert rule.allowance is not None
    allowance = np.where(anything, 2 * FP16.max_value, rule.allowance)
    return result, Tolerated(FP16.decode(result), replace(rule, allowance=allowance))


def pool_tolerated(params: PdpParams, convolved: Tolerated | None, pooled: Tolerated, config: HwConfig) -> Tolerated:
    """Return the measure of a pooled FP16 convolution.

    Pooling is monotonic in every element: it is pooled what lies at both ends of the convolution's allowance.
    Its own rounding is added, that of the result to FP16 at least.

    Args:
        params: The pooling, without negative reciprocals.
        convolved: Measure of the convolution, before PDP.
        pooled: Measure of the pooling of exact inputs.
        config: The build.
    """
    assert convolved is not None
    assert convolved.tolerance.allowance is not None
    reference, allowance = convolved.reference, convolved.tolerance.allowance

    def processed(values: Float64Array) -> Float64Array:
        numbers = FP16.encode(clip_reference(np.where(np.isnan(values), 0.0, values)))
        return FP16.decode(pdp.run(params, np.where(np.isnan(values), np.uint16(_NAN), numbers), config))

    result = processed(reference)
    ends = [np.abs(processed(reference + side * allowance) - result) for side in (-1.0, 1.0)]
    own = pooled.tolerance.allowance
    if own is None:
        own = last_place(result)
    total = np.nan_to_num(np.maximum(*ends)) + own
    return Tolerated(result, replace(convolved.tolerance, allowance=total))


def predict_pooled(started: StartedLayer, read: ReadMemory, operands: Operands | None) -> Expectation:
    """Return the expectation of a layer that PDP pools on the fly; ``operands`` are those of a convolution."""
    layer = started.layer
    assert isinstance(layer, PooledLayer)
    producer, config = layer.producer, layer.dst.layout.config
    before: dict[str, int] = {}
    if isinstance(producer, SdpLayer):
        cube, params = read_patterns(producer.src, read), producer.params
    else:
        assert operands is not None
        cube, before = convolve(producer, operands)
        params = producer.sdp
    processed = process(producer, params, cube, read)
    result, allowed = pool(layer.params, processed.cube, config)
    if allowed is not None and operands is not None and isinstance(producer, ConvLayer):
        allowed = pool_tolerated(layer.params, tolerated(producer, operands, read), allowed, config)
    return expect(started, layer.dst, result, allowed, counted(started, processed, before))
