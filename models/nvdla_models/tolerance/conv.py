"""Allowances of the convolution core in FP16: the largest exponent in each output's sliding window.

The largest of many sums of two exponents is found with an ordinary matrix product: each exponent
group g becomes the number 2**(56 * g), so the product of two numbers adds their groups, and as long as
a window holds fewer than 2**56 products the exponent of the float64 sum, divided by 56, is the
largest group. At most 16 groups are added, so 2**(56 * 17) stays below the float64 limit of 2**1024.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nvdla_models.arithmetic import check_range
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16
from nvdla_models.tolerance import Float64Array, Fp16Bits, Module, Tolerance, clip_reference, exponent

_GROUP_BITS = 56
_NO_PRODUCT = -1000
WINOGRAD_PRODUCTS = 18


@dataclass(frozen=True)
class Window:
    """Where the sliding window of a convolution lies; all in elements.

    Raises:
        InputError: when a stride or dilation is below 1 or a padding negative.
    """

    stride_x: int = 1
    stride_y: int = 1
    dilation_x: int = 1
    dilation_y: int = 1
    pad_left: int = 0
    pad_right: int = 0
    pad_top: int = 0
    pad_bottom: int = 0

    def __post_init__(self) -> None:
        for name in ("stride_x", "stride_y", "dilation_x", "dilation_y"):
            check_range(name, getattr(self, name), 1, 32)
        for name in ("pad_left", "pad_right", "pad_top", "pad_bottom"):
            check_range(name, getattr(self, name), 0, 63)


def window_sum(data: Float64Array, weight: Float64Array, window: Window) -> Float64Array:
    """Sum ``data * weight`` over each window: the convolution itself, in float64.

    Args:
        data: (C, H, W).
        weight: (K, C, R, S).
        window: stride, dilation, padding.

    Returns:
        (K, H', W').

    Raises:
        InputError: when the channels differ or the window is larger than the padded cube.
    """
    channels, _, _ = data.shape
    kernels, weight_channels, rows, columns = weight.shape
    if channels != weight_channels:
        raise InputError(f"weight must have the {channels} channels of data, not {weight_channels}")
    padding = ((0, 0), (window.pad_top, window.pad_bottom), (window.pad_left, window.pad_right))
    padded = np.pad(data, padding)
    span_y, span_x = (rows - 1) * window.dilation_y + 1, (columns - 1) * window.dilation_x + 1
    if padded.shape[1] < span_y or padded.shape[2] < span_x:
        raise InputError(f"data with padding must be at least {span_y} x {span_x}, not {padded.shape[1:]}")
    height = (padded.shape[1] - span_y) // window.stride_y + 1
    width = (padded.shape[2] - span_x) // window.stride_x + 1
    total = np.zeros((kernels, height * width))
    for row in range(rows):
        top = row * window.dilation_y
        for column in range(columns):
            left = column * window.dilation_x
            part = padded[
                :,
                top : top + (height - 1) * window.stride_y + 1 : window.stride_y,
                left : left + (width - 1) * window.stride_x + 1 : window.stride_x,
            ]
            total += weight[:, :, row, column] @ part.reshape(channels, -1)
    return total.reshape(kernels, height, width)


def max_exponent(data: Fp16Bits, weight: Fp16Bits, window: Window) -> npt.NDArray[np.int64]:
    """Return ``max_exp`` of each output's window.

    It is ``4 * (e_data >> 2) + 4 * (e_weight >> 2) - 30`` of the biased exponents, which is how the hardware
    aligns products; zeros and padding take no part, and a window without any product gives -1000. The document
    has ``(exp(data) & ~3) + (exp(weight) & ~3)`` with ``exp`` reduced by 15 before the mask, which rejects
    correct outputs.

    Args:
        data: (C, H, W).
        weight: (K, C, R, S).
        window: stride, dilation, padding.

    Returns:
        (K, H', W').

    Source: precision document, "FP16 error threshold"; the alignment measured on the public nv_full RTL.
    """
    return _largest(window_sum(_powers(data), _powers(weight), window))


def direct(
    data: Fp16Bits,
    weight: Fp16Bits,
    window: Window,
    expected: Float64Array,
    scale: float | Float64Array = 1.0,
) -> Tolerance:
    """Return the allowance of a direct or image convolution.

    Args:
        data: (C, H, W) FP16 patterns.
        weight: (K, C, R, S) FP16 patterns.
        window: stride, dilation, padding.
        expected: (K, H', W') float64 reference; its rounded exponent is ``exp(a)``, so that a wrong output
            cannot enlarge its own allowance.
        scale: factor that the SDP applies to the convolution's result, or its magnitude per element.

    Source: precision document, "FP16 error threshold", CC DC.
    """
    _, channels, rows, columns = weight.shape
    largest = max_exponent(data, weight, window)
    rule = "2^(max_exp-20) * R*S*C * 2 * scale + 2^(exp(a)-10)"
    return Tolerance(Module.DC, rule, _allowance(largest, rows * columns * channels, scale, expected))


def winograd(data: Fp16Bits, weight: Fp16Bits, expected: Float64Array, scale: float | Float64Array = 1.0) -> Tolerance:
    """Return the allowance of a Winograd convolution.

    It holds against a reference that multiplies the transformed operands, which are what the hardware
    rounds to FP16; ``max_exp`` is over the 4 x 4 x C products of the output's tile.

    Args:
        data: (C, H'/2, W'/2, 4, 4) transformed input tiles, FP16 patterns.
        weight: (K, C, 4, 4) transformed weights, FP16 patterns.
        expected: (K, H', W') float64 reference made of these tiles.
        scale: factor that the SDP applies to the convolution's result.

    Source: precision document, "FP16 error threshold", CC Winograd; the rounding of the transforms
        measured on the public nv_full RTL.
    """
    tile_data, tile_weight = _powers(data), _powers(weight)
    kernels, channels = weight.shape[:2]
    sums = np.zeros((kernels, *data.shape[1:3]))
    for row in range(4):
        for column in range(4):
            sums += np.tensordot(tile_weight[:, :, row, column], tile_data[:, :, :, row, column], axes=1)
    largest = _largest(sums).repeat(2, axis=1).repeat(2, axis=2)
    rule = "2^(max_exp-20) * 18*C * 2 * scale + 2^(exp(a)-10)"
    return Tolerance(Module.WINOGRAD, rule, _allowance(largest, WINOGRAD_PRODUCTS * channels, scale, expected))


def _powers(bits: Fp16Bits) -> Float64Array:
    """Return 2**(56 * group) per element, 0 for what takes no part."""
    group = (exponent(bits) + 15) >> 2
    power = np.ldexp(1.0, (_GROUP_BITS * group).astype(np.int32))
    return np.where(((bits & 0x7FFF) == 0) | FP16.is_nan(bits), 0.0, power)


def _largest(sums: Float64Array) -> npt.NDArray[np.int64]:
    group = (np.frexp(sums)[1].astype(np.int64) - 1) // _GROUP_BITS
    return np.where(sums > 0, 4 * group - 30, _NO_PRODUCT)


def _allowance(
    largest: npt.NDArray[np.int64], products: int, scale: float | Float64Array, expected: Float64Array
) -> Float64Array:
    if expected.shape != largest.shape:
        raise InputError(f"expected must have the shape {largest.shape} of the output, not {expected.shape}")
    # NaN has no allowance of its own: it is compared by rule.
    rounded = FP16.encode(clip_reference(np.where(np.isnan(expected), 0.0, expected)))
    alignment = np.ldexp(1.0, (largest - 20).astype(np.int32)) * products * 2 * scale
    return alignment + np.ldexp(1.0, (exponent(rounded) - 10).astype(np.int32))
