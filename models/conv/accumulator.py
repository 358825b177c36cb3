"""CACC in FP16: partial sums of 39 significant bits, delivered as FP32; both round half away from zero.

Values are float64, which holds every partial sum exactly.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models.fp16 import FP32, BitsArray

Float64Array = NDArray[np.float64]

PARTIAL_BITS = 39
"""Significant bits of a partial sum: 48 bits hold 8 of exponent and 40 of a signed mantissa."""

_FINAL_BITS = FP32.mantissa_bits + 1


def add(partial: Float64Array, products: Float64Array) -> Float64Array:
    """Return partial sums with one more sum of products, rounded.

    Args:
        partial: of 39 significant bits.
        products: of at most 53 significant bits, same shape.

    Source: measured on the public nv_full RTL.
    """
    total = partial + products
    # What float64 had to drop decides where the rest seems to lie exactly half way (Knuth's two-sum).
    second = total - partial
    dropped = (partial - (total - second)) + (products - second)
    return _rounded(total, dropped, PARTIAL_BITS)


def deliver(partial: Float64Array) -> BitsArray:
    """Return partial sums as the FP32 patterns that SDP gets.

    Source: measured on the public nv_full RTL.
    """
    return FP32.encode(_rounded(partial, np.zeros_like(partial), _FINAL_BITS))


def _rounded(values: Float64Array, dropped: Float64Array, bits: int) -> Float64Array:
    """Round to significant bits, half away from zero, ``dropped`` being the rest of each value."""
    _, exponent = np.frexp(values)
    steps = np.abs(np.ldexp(values, bits - exponent))
    whole = np.floor(steps)
    rest = steps - whole
    up = (rest > 0.5) | ((rest == 0.5) & (dropped * np.sign(values) >= 0))
    rounded: Float64Array = np.copysign(np.ldexp(whole + up, exponent - bits), values)
    return rounded
