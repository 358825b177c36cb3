"""The integer path of CSC, CMAC and CACC: exact sums, saturated, truncated and rounded.

Products and sums are exact: CMAC keeps every bit, and CACC accumulates in 34 bits for INT8 and 48 for
INT16, which a kernel of at most 256 KiB cannot leave but in one corner (see ``_ACCUMULATOR_BITS``).

Fast and exact at once: windows become columns block by block, and BLAS multiplies them in floating point.
A float32 holds every integer up to 2**24, so INT8 sums of 1024 products, each at most 2**14, are exact in
whatever order BLAS adds them; the sums of the blocks are added as integers. INT16, and windows of more
than 1024 pixels, do the same in float64, which holds 2**53: no kernel exceeds 2**47.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import HARDWARE, Rules, Site, limits, saturate, shift_right_rounded, wrap
from nvdla_models.conv.params import ConvParams, check_arrays
from nvdla_models.conv.windows import Scratch, columns, line_runs, pad, tile_runs
from nvdla_models.precision import Precision
from nvdla_models.winograd_transform import TILE, transform_integer, untransform

OUTPUT_BITS = 32

# The sum of an INT16 kernel reaches 2**47 only when all its 2**17 weights and elements are -32768.
_ACCUMULATOR_BITS = {Precision.INT8: 34, Precision.INT16: 48}
_EXACT_PRODUCTS = 1024

# CACC keeps so many bits below the truncated result; those further down do not count for rounding.
_ROUNDING_BITS = 16

_KERNELS_AT_ONCE = 1024

# A larger cube is converted a few lines at a time, some of them repeatedly.
_CONVERTED_BYTES = 64 << 20

# Columns of one line that are not worth splitting where any sum is exact.
_LINE_BYTES = 16 << 20

# With so few pixels, turning kernels into floating point takes longer than multiplying them: do it in the cache.
_FEW_PIXELS = 64
_KERNELS_OF_FEW_PIXELS = 64


@dataclass(frozen=True)
class Accumulation:
    """The output of CACC.

    Attributes:
        output: int32 (K, H_out, W_out).
        saturated: bool (K, H_out, W_out), which outputs the hardware flags as saturated.
    """

    output: NDArray[np.int32]
    saturated: NDArray[np.bool_]


def accumulate(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], rules: Rules = HARDWARE) -> Accumulation:
    """Compute what an integer convolution hands to SDP, and which outputs were saturated.

    Args:
        params: the layer.
        cube: (C, H, W) of the precision's dtype.
        weights: (K, C, R, S) of the precision's dtype; (K, C, 4, 4) transformed ones for Winograd.
        rules: rules of rounding and saturation.

    Raises:
        InputError: when types, shapes or sizes do not fit each other or the hardware, or for FP16.

    Source: unit description, "Convolution Pipeline"; measured on the public nv_small and nv_full RTL.
    """
    check_arrays(params, cube, weights, is_float=False)
    of_sums = rules.at(Site.CACC)
    shape = params.output_shape(cube.shape, weights.shape)
    padded = pad(params, cube, params.pad_value)
    result = Accumulation(np.empty(shape, np.int32), np.empty(shape, np.bool_))
    narrow = not params.winograd and math.prod(weights.shape[1:]) << (2 * params.precision.bits - 2) < 1 << 31
    step = _KERNELS_AT_ONCE if shape[1] * shape[2] >= _FEW_PIXELS else _KERNELS_OF_FEW_PIXELS
    for first in range(0, len(weights), step):
        block = slice(first, first + step)
        found = (
            _winograd_sums(params, padded, weights[block], shape[1:], rules)
            if params.winograd
            else _sums(params, padded, weights[block], shape[1:])
        )
        for rows, sums in found:
            if narrow and params.truncate == 0 and rules.accumulator_bits is None and rules.watch is None:
                result.output[block, rows] = sums
                result.saturated[block, rows] = False
                continue
            wide = saturate(sums.astype(np.int64, copy=False), _ACCUMULATOR_BITS[params.precision], of_sums)
            if rules.accumulator_bits is not None:
                wide = wrap(wide, rules.accumulator_bits)
            result.output[block, rows], result.saturated[block, rows] = truncate(wide, params.truncate, of_sums)
    return result


def truncate(
    sums: NDArray[np.int64], shift: int, rules: Rules = HARDWARE
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Shift, round and saturate sums to 32 bits as CACC does.

    CACC keeps 16 bits below the result, so with a shift beyond 16 the bits further down are cut off before
    it rounds half away from zero: a negative sum a little closer to zero than a half still goes away from
    it. An output is flagged as saturated when the result is too large, or when a negative sum is too large
    before it is rounded, even if rounding would have made it fit.

    Args:
        sums: int64 of at most 48 bits, any shape.
        shift: 0 to 31 bits.
        rules: rules of rounding and saturation.

    Returns:
        int32 and bool of the same shape.

    Source: unit description, "Convolution Accumulator"; measured on the public nv_small RTL.
    """
    cut = max(0, shift - _ROUNDING_BITS)
    rounded = shift_right_rounded(sums >> cut, shift - cut, rules)
    low, high = limits(OUTPUT_BITS)
    flags = (rounded > high) | ((sums >> shift) < low)
    return saturate(rounded, OUTPUT_BITS, rules).astype(np.int32), flags


def _sums(
    params: ConvParams, padded: NDArray[Any], weights: NDArray[Any], out_shape: tuple[int, int]
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield runs of output lines with their exact sums, (kernels, lines, W_out), valid until the next run."""
    kernels, channels, kernel_height, kernel_width = weights.shape
    out_height, out_width = out_shape
    taps = kernel_height * kernel_width
    exact = params.precision is Precision.INT8 and taps <= _EXACT_PRODUCTS
    real: np.dtype[Any] = np.dtype(np.float32 if exact else np.float64)
    if padded.size * real.itemsize <= _CONVERTED_BYTES:
        padded = padded.astype(real)
    whole_line = channels * taps * out_width * real.itemsize
    bounded = exact or whole_line > _LINE_BYTES
    step = min(channels, max(1, _EXACT_PRODUCTS // taps)) if bounded else channels
    parts = [slice(first, min(first + step, channels)) for first in range(0, channels, step)]
    matrices = [weights[:, part].reshape(kernels, -1).astype(real) for part in parts]
    window_scratch, product_scratch = Scratch(real), Scratch(real)
    for rows in line_runs(out_height, out_shape, max(step * taps, kernels) * real.itemsize):
        count = rows.stop - rows.start
        total: NDArray[Any] | None = None
        for part, matrix in zip(parts, matrices, strict=True):
            window = columns(params, padded[part], (kernel_height, kernel_width), rows, out_width, window_scratch)
            sums = np.matmul(matrix, window, out=product_scratch.array((kernels, count * out_width)))
            if len(parts) == 1:
                total = sums
            elif total is None:
                total = sums.astype(np.int64)
            else:
                total += sums.astype(np.int64)
        assert total is not None
        yield rows, total.reshape(kernels, count, out_width)


def _winograd_sums(
    params: ConvParams, padded: NDArray[Any], weights: NDArray[Any], out_shape: tuple[int, int], rules: Rules
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Yield runs of output lines with their exact sums, (kernels, lines, W_out).

    Transformed elements and weights have at most 16 bits and kernels 2**13 channels: a float64 is exact.
    """
    kernels, channels = weights.shape[:2]
    matrices = weights.astype(np.float64).transpose(2, 3, 0, 1).reshape(TILE * TILE, kernels, channels)
    for rows, cut in tile_runs(padded, out_shape, max(channels, kernels) * matrices.itemsize * TILE * TILE):
        data = transform_integer(cut, params.pre_truncate, params.precision, rules.at(Site.WINOGRAD))
        data = data.astype(np.float64)
        count, across = data.shape[1:3]
        flat = data.transpose(3, 4, 0, 1, 2).reshape(TILE * TILE, channels, count * across)
        products = (matrices @ flat).astype(np.int64).reshape(TILE, TILE, kernels, count, across)
        yield rows, untransform(products.transpose(2, 3, 4, 0, 1))
