"""Real numbers as integers of 16 bits and a shift, as the operands and converters of the pipelines hold them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

OPERAND_MOST = (1 << 15) - 1
"""The largest integer of 16 bits; the smallest is left out, so that both signs reach as far."""

_MAX_SHIFT = 63


def multipliers(real: NDArray[np.float64]) -> tuple[NDArray[np.int16], int]:
    """Return numbers as integers of 16 bits and a right shift, as exact as the largest of them allows."""
    most = float(np.abs(real).max())
    shift = _MAX_SHIFT
    while shift and most * 2.0**shift > OPERAND_MOST:
        shift -= 1
    return _int16(real * 2.0**shift), shift


def shifted(real: NDArray[np.float64]) -> tuple[NDArray[np.int16], int]:
    """Return numbers as integers of 16 bits and a left shift, as exact as the largest of them allows."""
    most = float(np.abs(real).max())
    shift = 0
    while most / 2.0**shift > OPERAND_MOST:
        shift += 1
    return _int16(real / 2.0**shift), shift


def _int16(real: NDArray[np.float64]) -> NDArray[np.int16]:
    return np.clip(np.rint(real), -OPERAND_MOST, OPERAND_MOST).astype(np.int16)
