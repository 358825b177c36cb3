"""One FP16 product as CMAC makes it: two numbers whose sum it is, each shifted and cut off on its own.

A multiplier recodes the weight into digits of two bits, adds the multiples of the data in carry-save form,
and shifts both halves of the result to align them with the largest product. What is cut off the halves
could have carried: the sum is then one unit smaller than the shifted product.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int32]
"""A product has 28 bits, and 31 with the offsets of its rows."""

GROUP_BITS = 4
"""Exponents are compared, and products shifted, in steps of so many bits."""

FARTHEST = 8
"""A product so many steps below the largest is dropped."""

_DIGITS = 8
_DIGIT_OF = np.array([0, 1, 1, 2, -2, -1, -1, 0], dtype=np.int32)
_ROW_OFFSET = 1 << 16
# All eight rows with their offsets: what the halves hold beyond the product.
_OFFSET = sum(_ROW_OFFSET << (2 * digit) for digit in range(_DIGITS))


def split(bits: NDArray[Any]) -> tuple[IntArray, IntArray, NDArray[np.bool_]]:
    """Take FP16 patterns apart.

    Infinity is what its bits say, 1.0 * 2**16; a denormal has the exponent of the smallest normal number.

    Args:
        bits: uint16, any shape.

    Returns:
        Exponent groups, biased exponent / 4 rounded down; mantissas of 14 bits, shifted left by what the
        group leaves out, 0 for a zero and for NaN; signs.

    Source: measured on the public nv_full RTL.
    """
    wide = bits.astype(np.int32)
    exponent, fraction = (wide >> 10) & 0x1F, wide & 0x3FF
    mantissa = np.where(exponent == 0, fraction << 1, (fraction | 0x400) << (exponent & 3))
    mantissa[(exponent == 0x1F) & (fraction != 0)] = 0
    return exponent >> 2, mantissa, (wide >> 15).astype(np.bool_)


def aligned(weight: IntArray, data: IntArray, negative: NDArray[np.bool_], steps: IntArray) -> IntArray:
    """Return products as CMAC adds them.

    Args:
        weight: mantissas of 14 bits.
        data: likewise.
        negative: whether the product is.
        steps: how many steps of 4 bits it lies below the largest, 0 to 7.

    Returns:
        int32 of the same shape, in units of the largest product's last bit.

    Source: arrangement of the multiplier from the public nv_full RTL, the results measured there.
    """
    shift = GROUP_BITS * steps
    product = weight * data
    whole = np.where(negative, -product, product) + _OFFSET
    return (whole >> shift) - (_OFFSET >> shift) - _carry_lost(weight, data, negative, shift)


def _carry_lost(weight: IntArray, data: IntArray, negative: NDArray[np.bool_], shift: IntArray) -> NDArray[np.bool_]:
    """Return whether the bits cut off the two halves add up to a unit."""
    mask = (1 << shift) - 1
    first, second = _halves(weight, data, negative)
    lost: NDArray[np.bool_] = (first & mask) + (second & mask) > mask
    return lost


def _halves(weight: IntArray, data: IntArray, negative: NDArray[np.bool_]) -> list[IntArray]:
    """Return the low 28 bits and more of the two halves of a product."""
    sign = np.where(negative, np.int32(-1), np.int32(1))
    recoded = weight << 1
    rows, complements = [], []
    for digit in range(_DIGITS):
        multiple = _DIGIT_OF[(recoded >> (2 * digit)) & 7] * sign
        below = (multiple < 0).astype(np.int32)
        # A negative multiple is a complement, and the 1 that it lacks stands in the next row.
        rows.append(multiple * data + (_ROW_OFFSET - below))
        complements.append(below)
    halves = []
    for first in (0, _DIGITS // 2):
        terms = [rows[first]]
        for place in range(1, _DIGITS // 2):
            terms.append((rows[first + place] << (2 * place)) | (complements[first + place - 1] << (2 * place - 2)))
        terms.append(complements[first + _DIGITS // 2 - 1] << (_DIGITS - 2))
        halves += [term << (2 * first) for term in _carry_save(terms)]
    return _carry_save(halves)


def _carry_save(terms: list[IntArray]) -> list[IntArray]:
    """Add up to two numbers, three at a time."""
    while len(terms) > 2:
        added = []
        for first in range(0, len(terms) - 2, 3):
            a, b, c = terms[first : first + 3]
            different = a ^ b
            added += [different ^ c, ((a & b) | (different & c)) << 1]
        terms = added + terms[len(terms) - len(terms) % 3 :]
    return terms
