"""Convolution core: direct convolution of CSC and CMAC, accumulation and truncation of CACC, integer path.

Products and sums are exact: CMAC keeps every bit, and CACC accumulates in 34 bits for INT8 and 48 for
INT16, which a kernel of at most 256 KiB cannot leave but in one corner (see ``_ACCUMULATOR_BITS``).

Fast and exact at once: windows become columns block by block, and BLAS multiplies them in floating point.
A float32 holds every integer up to 2**24, so INT8 sums of 1024 products, each at most 2**14, are exact in
whatever order BLAS adds them; the sums of the blocks are added as integers. INT16, and windows of more
than 1024 pixels, do the same in float64, which holds 2**53: no kernel exceeds 2**47.

The input is the cube that lies in the convolution buffer: after the input converter, without the padding
channels of the last atom. An image is no special case here: pre- and post-extension change only the order
in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.arithmetic import check_range, limits, saturate, shift_right_rounded
from models.precision import Precision

MAX_STRIDE = 8
MAX_DILATION = 32
MAX_KERNEL_BYTES = 1 << 18
MAX_TRUNCATE = 31
MAX_PAD_BEFORE = 31
MAX_PAD_BEHIND = 63
OUTPUT_BITS = 32

# The sum of an INT16 kernel reaches 2**47 only when all its 2**17 weights and elements are -32768.
_ACCUMULATOR_BITS = {Precision.INT8: 34, Precision.INT16: 48}
_EXACT_PRODUCTS = 1024

# CACC keeps so many bits below the truncated result; those further down do not count for rounding.
_ROUNDING_BITS = 16

_KERNELS_AT_ONCE = 1024
_COLUMN_BYTES = 2 << 20


@dataclass(frozen=True)
class ConvParams:
    """One direct convolution.

    Attributes:
        stride_x: 1 to 8 elements.
        stride_y: 1 to 8 elements.
        dilation_x: distance of the taps of a kernel, 1 to 32 elements.
        dilation_y: likewise along H.
        pad_left: elements, fewer than the dilated kernel's width.
        pad_right: elements, fewer than the dilated kernel's width.
        pad_top: elements, fewer than the dilated kernel's height.
        pad_bottom: elements, fewer than the dilated kernel's height.
        pad_value: what stands in the padding, of the precision.
        truncate: right shift of CACC, 0 to 31 bits, rounded half away from zero.
        precision: of cube and weights.

    Raises:
        ValueError: when a value does not fit its register, or for FP16.

    Source: register map of CSC and CACC; programming guide, "Limitation", Convolution.
    """

    stride_x: int
    stride_y: int
    dilation_x: int
    dilation_y: int
    pad_left: int
    pad_right: int
    pad_top: int
    pad_bottom: int
    pad_value: int
    truncate: int
    precision: Precision

    def __post_init__(self) -> None:
        if self.precision not in _ACCUMULATOR_BITS:
            raise ValueError(
                f"precision must be INT8 or INT16, not {self.precision.name}: the convolution model does not support it"
            )
        for name, low, high in (
            ("stride_x", 1, MAX_STRIDE),
            ("stride_y", 1, MAX_STRIDE),
            ("dilation_x", 1, MAX_DILATION),
            ("dilation_y", 1, MAX_DILATION),
            ("pad_left", 0, MAX_PAD_BEFORE),
            ("pad_right", 0, MAX_PAD_BEHIND),
            ("pad_top", 0, MAX_PAD_BEFORE),
            ("pad_bottom", 0, MAX_PAD_BEHIND),
            ("pad_value", *self.precision.limits),
            ("truncate", 0, MAX_TRUNCATE),
        ):
            check_range(name, getattr(self, name), low, high)

    def output_width(self, width: int, kernel_width: int) -> int:
        """Return the output's width for an input of ``width`` elements.

        Raises:
            ValueError: when a padding reaches the dilated kernel's width, or windows and strides do not end
                exactly at the padded cube's end.

        Source: programming guide, "Limitation", Convolution.
        """
        dilated = (kernel_width - 1) * self.dilation_x + 1
        return _output_size("width", width, dilated, self.stride_x, ("pad_left", "pad_right"), self)

    def output_height(self, height: int, kernel_height: int) -> int:
        """Return the output's height for an input of ``height`` elements.

        Raises:
            ValueError: when a padding reaches the dilated kernel's height, or windows and strides do not end
                exactly at the padded cube's end.

        Source: programming guide, "Limitation", Convolution.
        """
        dilated = (kernel_height - 1) * self.dilation_y + 1
        return _output_size("height", height, dilated, self.stride_y, ("pad_top", "pad_bottom"), self)


@dataclass(frozen=True)
class Accumulation:
    """What CACC delivers.

    Attributes:
        output: int32 (K, H_out, W_out).
        saturated: bool (K, H_out, W_out), which outputs the hardware flags as saturated.
    """

    output: NDArray[np.int32]
    saturated: NDArray[np.bool_]


def run(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any]) -> NDArray[np.int32]:
    """Compute what the convolution core hands to SDP.

    Args:
        params: the layer.
        cube: (C, H, W) of the precision's dtype.
        weights: (K, C, R, S) of the precision's dtype.

    Returns:
        int32 (K, H_out, W_out).

    Raises:
        ValueError: when types, shapes or sizes do not fit each other or the hardware.

    Source: unit description, "Convolution Pipeline"; measured on the public nv_small and nv_full RTL.
    """
    return accumulate(params, cube, weights).output


def accumulate(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any]) -> Accumulation:
    """Compute as ``run`` does, and tell which outputs were saturated.

    Raises:
        ValueError: as ``run``.
    """
    _check(params, cube, weights)
    kernels, _, kernel_height, kernel_width = weights.shape
    shape = (
        kernels,
        params.output_height(cube.shape[1], kernel_height),
        params.output_width(cube.shape[2], kernel_width),
    )
    before, behind = (params.pad_top, params.pad_bottom), (params.pad_left, params.pad_right)
    padded = np.pad(cube, ((0, 0), before, behind), constant_values=params.pad_value)
    result = Accumulation(np.empty(shape, np.int32), np.empty(shape, np.bool_))
    for first in range(0, kernels, _KERNELS_AT_ONCE):
        block = slice(first, first + _KERNELS_AT_ONCE)
        for rows, sums in _sums(params, padded, weights[block], shape[1:]):
            output, flags = truncate(saturate(sums, _ACCUMULATOR_BITS[params.precision]), params.truncate)
            result.output[block, rows] = output
            result.saturated[block, rows] = flags
    return result


def truncate(sums: NDArray[np.int64], shift: int) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Shift, round and saturate sums to 32 bits as CACC does.

    CACC keeps 16 bits below the result, so with a shift beyond 16 the bits further down are cut off before
    it rounds half away from zero: a negative sum a little closer to zero than a half still goes away from
    it. An output is flagged as saturated when the result is too large, or when a negative sum is too large
    before it is rounded, even if rounding would have made it fit.

    Args:
        sums: int64 of at most 48 bits, any shape.
        shift: 0 to 31 bits.

    Returns:
        int32 and bool of the same shape.

    Source: unit description, "Convolution Accumulator"; measured on the public nv_small RTL.
    """
    cut = max(0, shift - _ROUNDING_BITS)
    rounded = shift_right_rounded(sums >> cut, shift - cut)
    low, high = limits(OUTPUT_BITS)
    flags = (rounded > high) | ((sums >> shift) < low)
    return saturate(rounded, OUTPUT_BITS).astype(np.int32), flags


def _sums(
    params: ConvParams, padded: NDArray[Any], weights: NDArray[Any], out_shape: tuple[int, ...]
) -> Iterator[tuple[slice, NDArray[np.int64]]]:
    """Yield runs of output lines with their exact sums, (kernels, lines, W_out)."""
    kernels, channels, kernel_height, kernel_width = weights.shape
    out_height, out_width = out_shape
    exact = params.precision is Precision.INT8 and kernel_height * kernel_width <= _EXACT_PRODUCTS
    real: np.dtype[Any] = np.dtype(np.float32 if exact else np.float64)
    step = min(channels, max(1, _EXACT_PRODUCTS // (kernel_height * kernel_width)))
    parts = [slice(first, min(first + step, channels)) for first in range(0, channels, step)]
    matrices = [weights[:, part].reshape(kernels, -1).astype(real) for part in parts]
    line_bytes = max(step * kernel_height * kernel_width, kernels) * out_width * real.itemsize
    lines = max(1, _COLUMN_BYTES // line_bytes)
    for first in range(0, out_height, lines):
        rows = slice(first, min(first + lines, out_height))
        count = rows.stop - rows.start
        total = np.zeros((kernels, count * out_width), np.int64)
        for part, matrix in zip(parts, matrices, strict=True):
            columns = _columns(params, padded[part], (kernel_height, kernel_width), rows, out_width, real)
            total += (matrix @ columns).astype(np.int64)
        yield rows, total.reshape(kernels, count, out_width)


def _columns(
    params: ConvParams,
    padded: NDArray[Any],
    kernel: tuple[int, int],
    rows: slice,
    out_width: int,
    real: np.dtype[Any],
) -> NDArray[Any]:
    """Return the windows of some output lines as columns, (channels * R * S, lines * W_out)."""
    count = rows.stop - rows.start
    top = rows.start * params.stride_y
    height = (count - 1) * params.stride_y + (kernel[0] - 1) * params.dilation_y + 1
    source = padded[:, top : top + height].astype(real)
    columns = np.empty((padded.shape[0], *kernel, count, out_width), real)
    last_row, last_column = (count - 1) * params.stride_y + 1, (out_width - 1) * params.stride_x + 1
    for r in range(kernel[0]):
        y = r * params.dilation_y
        for s in range(kernel[1]):
            x = s * params.dilation_x
            columns[:, r, s] = source[:, y : y + last_row : params.stride_y, x : x + last_column : params.stride_x]
    return columns.reshape(-1, count * out_width)


def _check(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any]) -> None:
    for name, array, axes in (("cube", cube, "(C, H, W)"), ("weights", weights, "(K, C, R, S)")):
        if array.dtype != params.precision.dtype:
            raise ValueError(f"{name} must be {params.precision.dtype}, not {array.dtype}")
        if array.ndim != axes.count(",") + 1:
            raise ValueError(f"{name} must have the axes {axes}, not {array.ndim} axes")
        if 0 in array.shape:
            raise ValueError(f"{name} must not be empty, not of shape {array.shape}")
    if weights.shape[1] != cube.shape[0]:
        raise ValueError(f"weights must have the {cube.shape[0]} channels of the cube, not {weights.shape[1]}")
    nbytes = weights[0].size * params.precision.nbytes
    if nbytes > MAX_KERNEL_BYTES:
        raise ValueError(f"bytes of one kernel must be at most {MAX_KERNEL_BYTES}, not {nbytes}")


def _output_size(axis: str, size: int, dilated: int, stride: int, paddings: tuple[str, str], params: ConvParams) -> int:
    padded = size
    for name in paddings:
        value = getattr(params, name)
        if value >= dilated:
            raise ValueError(f"{name} must be less than the dilated kernel's {axis} of {dilated}, not {value}")
        padded += value
    if padded < dilated:
        raise ValueError(f"{axis} with padding must be at least the dilated kernel's {dilated}, not {padded}")
    if (padded - dilated) % stride:
        raise ValueError(
            f"{axis} with padding minus the dilated kernel's {dilated} must be a multiple of the stride {stride}, "
            f"not {padded - dilated}"
        )
    return (padded - dilated) // stride + 1
