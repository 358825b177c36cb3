"""The mathematics of an FP16 convolution in float64, with the allowance that the hardware's rounding needs.

Infinity counts as 65536, and 65504 in Winograd. A NaN makes every output NaN whose window it lies in; so
does a NaN weight, whatever it meets. Winograd multiplies operands that the hardware has rounded to FP16.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.conv.params import ConvParams, check_arrays
from nvdla_models.conv.windows import Scratch, columns, line_runs, pad, tile_runs
from nvdla_models.fp16 import FP16, flush_nan
from nvdla_models.tolerance import Float64Array, Tolerance
from nvdla_models.tolerance.conv import Window, direct, winograd
from nvdla_models.winograd_transform import TILE, transform_fp16, untransform

_FLOAT64 = np.dtype(np.float64)
_INFINITY = 65536.0


def operands(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the padded cube and the weights as CMAC sees them: NaN flushed if asked for.

    Args:
        params: an FP16 layer.
        cube: (C, H, W) patterns.
        weights: (K, C, R, S) patterns.
    """
    if params.nan_to_zero:
        cube, weights = flush_nan(cube), flush_nan(weights)
    return pad(params, cube, params.pad_value), weights


def run_float64(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any]) -> Float64Array:
    """Compute the mathematics of an FP16 convolution, which thresholds refer to.

    Args:
        params: the layer.
        cube: (C, H, W) uint16 patterns.
        weights: (K, C, R, S) uint16 patterns; (K, C, 4, 4) transformed ones for Winograd.

    Returns:
        float64 (K, H_out, W_out), not clipped; NaN where the hardware has one.

    Raises:
        InputError: as ``run_exact``.

    Source: precision document, "FP16 error threshold"; formats document, "FP16 Supporting"; measured on the
        public nv_full RTL.
    """
    check_arrays(params, cube, weights, is_float=True)
    shape = params.output_shape(cube.shape, weights.shape)
    padded, weights = operands(params, cube, weights)
    return _winograd(padded, weights, shape) if params.winograd else _direct(params, padded, weights, shape)


def threshold(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], expected: Float64Array) -> Tolerance:
    """Return the allowed difference of FP16 outputs from a reference, by the measured reading of the published rule.

    Args:
        params: the layer.
        cube: as that of ``run_float64``.
        weights: likewise.
        expected: (K, H_out, W_out), what it has returned.

    Raises:
        InputError: as ``run_exact``, or for a reference of another shape.

    Source: precision document, "FP16 error threshold".
    """
    check_arrays(params, cube, weights, is_float=True)
    padded, weights = operands(params, cube, weights)
    if not params.winograd:
        window = Window(params.stride_x, params.stride_y, params.dilation_x, params.dilation_y)
        return direct(padded, weights, window, expected)
    height, width = expected.shape[1:]
    data = [transform_fp16(cut) for _, cut in tile_runs(padded, (height, width), len(padded) * TILE * TILE * 8)]
    return winograd(np.concatenate(data, axis=1), weights, expected)


def _values(bits: NDArray[np.uint16]) -> Float64Array:
    """Return FP16 patterns as float64; infinity counts as 65536.

    Source: formats document, "INF converted values"; measured on the public nv_full RTL.
    """
    values = bits.view(np.float16).astype(np.float64)
    return np.clip(values, -_INFINITY, _INFINITY, out=values)


def _direct(
    params: ConvParams, padded: NDArray[Any], weights: NDArray[Any], shape: tuple[int, int, int]
) -> Float64Array:
    kernels, height, width = shape
    sides = weights.shape[2:]
    data, factors = _values(padded), _values(weights)
    data_nan, factor_nan = FP16.is_nan(padded), FP16.is_nan(weights)
    poisoned: NDArray[np.bool_] | None = None
    if data_nan.any():
        data = np.where(data_nan, 0.0, data)
        poisoned = np.any(data_nan, axis=0, keepdims=True)
    if factor_nan.any():
        factors = np.where(factor_nan, 0.0, factors)
    matrix = factors.reshape(kernels, -1)
    result = np.empty(shape)
    scratch, products, marks = Scratch(_FLOAT64), Scratch(_FLOAT64), Scratch(np.dtype(np.bool_))
    for rows in line_runs(height, (height, width), max(matrix.shape) * _FLOAT64.itemsize):
        window = columns(params, data, (sides[0], sides[1]), rows, width, scratch)
        if window.shape[1] == height * width:
            # All lines in one run: the sums need no copy.
            np.matmul(matrix, window, out=result.reshape(kernels, -1))
        else:
            sums = np.matmul(matrix, window, out=products.array((kernels, window.shape[1])))
            result[:, rows] = sums.reshape(kernels, -1, width)
        if poisoned is not None:
            bad = columns(params, poisoned, (sides[0], sides[1]), rows, width, marks).any(axis=0)
            result[:, rows][:, bad.reshape(-1, width)] = np.nan
    if factor_nan.any():
        result[factor_nan.any(axis=(1, 2, 3))] = np.nan
    return result


def _winograd(padded: NDArray[Any], weights: NDArray[Any], shape: tuple[int, int, int]) -> Float64Array:
    kernels, height, width = shape
    channels = len(padded)
    # Weights were transformed by software: their infinity is what the multipliers take it for.
    matrices = _values(weights).transpose(2, 3, 0, 1).reshape(TILE * TILE, kernels, channels)
    result = np.empty(shape)
    for rows, cut in tile_runs(padded, (height, width), max(channels, kernels) * _FLOAT64.itemsize * TILE * TILE):
        data = FP16.decode(transform_fp16(cut))
        count, across = data.shape[1:3]
        flat = data.transpose(3, 4, 0, 1, 2).reshape(TILE * TILE, channels, count * across)
        products = (matrices @ flat).reshape(TILE, TILE, kernels, count, across).transpose(2, 3, 4, 0, 1)
        poisoned = np.isnan(products).any(axis=(3, 4))
        lines = untransform(np.nan_to_num(products))
        lines[poisoned.repeat(2, axis=1).repeat(2, axis=2)] = np.nan
        result[:, rows] = lines
    return result
