"""Counts of NaN and infinity, as the statistics counters give them.

Source: precision document, "Converter statistics"; unit description, "Result statistics".
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from models.fp16 import FP16


def count_nan(bits: npt.NDArray[np.uint16]) -> int:
    """Count NaN in FP16 patterns, before any flush.

    Source: formats document, "NaN"; measured on the public nv_full RTL (a flush does not change it).
    """
    return int(np.count_nonzero(FP16.is_nan(bits)))


def count_infinity(bits: npt.NDArray[np.uint16]) -> int:
    """Count plus and minus infinity in FP16 patterns.

    Source: unit description, "Result statistics".
    """
    return int(np.count_nonzero(FP16.is_infinite(bits)))
