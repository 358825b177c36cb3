"""The published thresholds to the letter, which reject a part of what the hardware computes."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from models.fp16 import FP16
from models.tolerance import Module, Tolerance, clip_reference, exponent
from models.tolerance_conv import WINOGRAD_PRODUCTS, Window, window_sum
from models.tolerance_pool import ABSOLUTE, RELATIVE

Bits = npt.NDArray[np.uint16]
Float64Array = npt.NDArray[np.float64]

# Sums of less than 2**56 products leave the largest of them in its group.
_GROUP_BITS = 56


def max_exponent(data: Bits, weight: Bits, window: Window) -> npt.NDArray[np.int64]:
    """Return ``(exp(data) & ~3) + (exp(weight) & ~3)``, the largest of each window, zeros and padding included.

    Source: precision document, "FP16 error threshold".
    """
    zero = float(_powers(np.zeros(1, dtype=np.uint16))[0])
    sums = window_sum(_powers(data), _powers(weight), window, zero)
    return 4 * ((np.frexp(sums)[1].astype(np.int64) - 1) // _GROUP_BITS) - 32


def convolution(
    module: Module, data: Bits, weight: Bits, window: Window, expected: Float64Array, scale: float | Float64Array = 1.0
) -> Tolerance:
    """Return the allowance of a convolution; Winograd's is for a plain convolution as reference.

    Source: precision document, "FP16 error threshold", CC DC and CC Winograd.
    """
    _, channels, rows, columns = weight.shape
    products = channels * (WINOGRAD_PRODUCTS if module is Module.WINOGRAD else rows * columns)
    step = exponent(FP16.encode(clip_reference(np.nan_to_num(expected, posinf=np.inf, neginf=-np.inf)))) - 10
    alignment = np.ldexp(1.0, max_exponent(data, weight, window) - 20) * products * 2 * scale
    return Tolerance(module, "published", alignment + np.ldexp(1.0, step))


def pooling(module: Module, max_value: Float64Array) -> Tolerance:
    """Return the allowance of PDP or CDP: absolute and relative error must both hold.

    Source: precision document, "FP16 error threshold", PDP and CDP.
    """
    return Tolerance(module, "published", np.minimum(ABSOLUTE, RELATIVE * max_value))


def _powers(bits: Bits) -> Float64Array:
    # exp & ~3 runs from -16 to 16: groups 0 to 8.
    return np.ldexp(1.0, _GROUP_BITS * (((exponent(bits) & ~3) + 16) >> 2))
