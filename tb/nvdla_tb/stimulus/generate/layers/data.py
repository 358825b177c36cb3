"""Data at random, of the kinds that a description names."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from nvdla_models.fp16 import FP16
from nvdla_models.precision import Precision

Floats = Literal["middle", "wide", "special"]
"""Numbers around 1; finite ones of every exponent; those with NaN, infinities, zeros and denormals among them."""

Integers = Literal["any", "lowest", "highest", "ends", "sparse"]
"""Every integer; the smallest alone; the largest alone; both of these; any, half of them 0, in runs of eight bytes.

Hardware does not multiply by 0: flags of elements and of atoms tell it where zeros are.
"""

FLOATS: tuple[Floats, ...] = get_args(Floats)
INTEGERS: tuple[Integers, ...] = get_args(Integers)

_MIDDLE_EXPONENTS = (-3, 4)
_SPECIAL_SHARE = 0.05
_NORMAL_EXPONENTS = (1, 31)
_ZERO_SHARE, _ZEROS = 0.5, 8


def draw_patterns(rng: np.random.Generator, count: int, numbers: str) -> NDArray[np.uint16]:
    """Return FP16 patterns.

    Args:
        rng: randomness.
        count: how many.
        numbers: one of ``FLOATS``.

    Returns:
        (count,) uint16.
    """
    if numbers == "middle":
        values = rng.normal(size=count) * 2.0 ** rng.integers(*_MIDDLE_EXPONENTS, count)
        return FP16.encode(values).astype(np.uint16)
    patterns = np.empty(count, np.uint16)
    exponents = rng.integers(*_NORMAL_EXPONENTS, count, dtype=np.uint16)
    patterns[:] = (rng.integers(0, 2, count, dtype=np.uint16) << 15) | (exponents << 10)
    patterns |= rng.integers(0, 1 << 10, count, dtype=np.uint16)
    if numbers == "special":
        extremes = rng.choice(np.array([0x0000, 0x03FF, 0x7BFF, 0x7C00, 0x7C01, 0x7FFF], np.uint16), count)
        extremes |= rng.integers(0, 2, count, dtype=np.uint16) << 15
        chosen = rng.random(count) < _SPECIAL_SHARE
        patterns[chosen] = extremes[chosen]
    return patterns


def draw_bytes(
    rng: np.random.Generator, nbytes: int, precision: Precision, numbers: str | None = None
) -> NDArray[np.uint8]:
    """Return the bytes of so many elements at random.

    Args:
        rng: randomness.
        nbytes: how many bytes.
        precision: precision of the elements.
        numbers: one of ``FLOATS`` or ``INTEGERS``, the first of them without it.
    """
    count = nbytes // precision.nbytes
    if precision is Precision.FP16:
        return draw_patterns(rng, count, numbers or FLOATS[0]).astype("<u2").view(np.uint8)
    if numbers in (None, "any"):
        return rng.integers(0, 256, nbytes, dtype=np.uint8)
    if numbers == "sparse":
        data = rng.integers(0, 256, nbytes, dtype=np.uint8)
        zeros = rng.random(-(-nbytes // _ZEROS)) < _ZERO_SHARE
        data[np.repeat(zeros, _ZEROS)[:nbytes]] = 0
        return data
    chosen = {"lowest": precision.limits[:1], "highest": precision.limits[1:], "ends": precision.limits}[numbers]
    return rng.choice(np.array(chosen, precision.dtype), count).view(np.uint8)
