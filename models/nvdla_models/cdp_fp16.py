"""The FP16 pipeline of CDP: squares and sums in FP32, tables and product in FP17.

Neither converter does anything here.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from nvdla_models import float_ops
from nvdla_models.fp16 import FP16, FP17, FP32, BitsArray, flush_nan, narrow, widen


def enter(columns: npt.NDArray[np.uint16], channels: int, flush: bool) -> BitsArray:
    """Return FP16 patterns as FP17: infinity is the largest number, padding channels are +0.

    Args:
        columns: (C, positions) uint16.
        channels: how many channels are real.
        flush: whether NaN becomes +0.

    Returns:
        (C, positions) FP17 patterns.

    Source: formats document, "INF converted values"; measured on the public nv_full RTL.
    """
    data = widen(flush_nan(columns) if flush else columns, FP17)
    data[channels:] = 0
    return data


def looked_up(local_size: int | None, data: BitsArray) -> BitsArray:
    """Return the inputs of the tables, as FP32 patterns.

    Args:
        local_size: channels whose squares are summed, or None for the data themselves.
        data: (C, positions) FP17 patterns.
    """
    wide = widen(data, FP32, FP17)
    return wide if local_size is None else _window_sums(local_size, wide)


def leave(data: BitsArray, factor: BitsArray, multiply: bool) -> BitsArray:
    """Return the output as FP16 patterns; a NaN of the element itself wins over one of its neighbours.

    Args:
        data: (C, positions) FP17 patterns.
        factor: what the tables returned, likewise.
        multiply: whether the element is multiplied by it.

    Source: measured on the public nv_full RTL.
    """
    result = float_ops.multiply(data, factor, FP17) if multiply else factor
    return narrow(result, FP17, FP16)


def _window_sums(local_size: int, data: BitsArray) -> BitsArray:
    """Sum squares: the nearest pair, the element itself, then pair after pair, each sum rounded to FP32.

    Source: measured on the public nv_full RTL.
    """
    half = local_size // 2
    squares: BitsArray = np.pad(float_ops.multiply(data, data, FP32), ((half, half), (0, 0))).astype(FP32.dtype)

    def beside(distance: int) -> BitsArray:
        part: BitsArray = squares[half + distance : half + distance + len(data)]
        return part

    sums = float_ops.add(float_ops.add(beside(-1), beside(1), FP32), beside(0), FP32)
    for distance in range(2, half + 1):
        sums = float_ops.add(sums, float_ops.add(beside(-distance), beside(distance), FP32), FP32)
    return sums
