"""The Winograd transforms that the hardware does: input tiles before, sums of products after.

Every 4 x 4 input tile, two elements apart, gives a 2 x 2 output tile.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from nvdla_models import float_ops
from nvdla_models.arithmetic import HARDWARE, Rules, check_range, saturate, shift_right_rounded
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16, FP17, narrow, widen
from nvdla_models.precision import Precision

TILE = 4
OUTPUT_TILE = 2

_OUTPUT_MATRIX = np.array([[1, 1, 1, 0], [0, 1, -1, -1]], dtype=np.int64)


def tiles(cube: npt.NDArray[Any], pad_left: int, pad_top: int, height: int, width: int) -> npt.NDArray[Any]:
    """Cut a padded cube into its overlapping tiles.

    Args:
        cube: (C, H, W) of any dtype; the padding and what lies beyond the cube is 0.
        pad_left: elements before the first column.
        pad_top: elements before the first row.
        height: rows of the output, a multiple of 2.
        width: columns of the output, a multiple of 2.

    Returns:
        (C, height / 2, width / 2, 4, 4).

    Raises:
        InputError: when the output is not made of 2 x 2 tiles.
    """
    for name, value in (("height", height), ("width", width)):
        if value < OUTPUT_TILE or value % OUTPUT_TILE:
            raise InputError(f"{name} must be a positive multiple of 2 for Winograd, not {value}")
    rows, columns = height + TILE - OUTPUT_TILE, width + TILE - OUTPUT_TILE
    _, cube_rows, cube_columns = cube.shape
    below, right = max(rows - pad_top - cube_rows, 0), max(columns - pad_left - cube_columns, 0)
    padded = np.pad(cube, ((0, 0), (pad_top, below), (pad_left, right)))[:, :rows, :columns]
    views = np.lib.stride_tricks.sliding_window_view(padded, (TILE, TILE), axis=(1, 2))
    return views[:, ::OUTPUT_TILE, ::OUTPUT_TILE]


def transform_fp16(data: npt.NDArray[np.uint16]) -> npt.NDArray[np.uint16]:
    """Transform FP16 tiles: every addition is rounded to FP17, the result to FP16.

    Args:
        data: (..., 4, 4) FP16 patterns.

    Returns:
        Same shape, FP16 patterns. Infinity becomes the FP17 maximum and so ±65504.

    Source: formats document, "INF converted values"; the roundings measured on the public nv_full RTL.
    """
    wide = widen(data, FP17)

    def plus(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return float_ops.add(left, right, FP17)

    def minus(left: npt.NDArray[Any], right: npt.NDArray[Any]) -> npt.NDArray[Any]:
        # Unlike the subtraction of lookups, this one turns the sign of a NaN.
        return float_ops.add(left, right ^ FP17.dtype.type(FP17.sign_bit), FP17)

    result: npt.NDArray[np.uint16] = narrow(_both_ways(wide, plus, minus), FP17, FP16).astype(np.uint16)
    return result


def transform_integer(
    data: npt.NDArray[Any], truncate: int, precision: Precision, rules: Rules = HARDWARE
) -> npt.NDArray[np.int64]:
    """Transform integer tiles: exact sums, then ``pra_trunc`` to what the multipliers take.

    Args:
        data: (..., 4, 4) integers of the precision.
        truncate: right shift, 0 to 3, rounded half away from zero.
        precision: INT8 or INT16.
        rules: rules of rounding and saturation.

    Returns:
        int64, same shape, saturated to the precision's bits.

    Source: precision document, pra_trunc; measured on the public nv_full RTL, INT8 on its cell alone.
    """
    check_range("truncate", truncate, 0, 3)
    sums = _both_ways(data.astype(np.int64), np.add, np.subtract)
    return saturate(shift_right_rounded(sums, truncate, rules), precision.bits, rules)


def untransform(sums: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Turn sums of products into outputs.

    Args:
        sums: (K, H' / 2, W' / 2, 4, 4), int64 or float64.

    Returns:
        (K, H', W') of the same dtype; exact for integers, and for float64 as far as it is.

    Source: measured on the public nv_full RTL (the additions after the multiplication are exact).
    """
    kernels, tile_rows, tile_columns = sums.shape[:3]
    matrix = _OUTPUT_MATRIX.astype(sums.dtype)
    # A tile row of outputs is matrix @ tile @ matrix.T; the two tile axes then interleave with their tiles.
    outputs: npt.NDArray[Any] = (matrix @ sums @ matrix.T).transpose(0, 1, 3, 2, 4)
    return outputs.reshape(kernels, OUTPUT_TILE * tile_rows, OUTPUT_TILE * tile_columns)


def _both_ways(
    data: npt.NDArray[Any],
    plus: Callable[[npt.NDArray[Any], npt.NDArray[Any]], npt.NDArray[Any]],
    minus: Callable[[npt.NDArray[Any], npt.NDArray[Any]], npt.NDArray[Any]],
) -> npt.NDArray[Any]:
    """Apply the four sums along the rows, then along the columns."""
    for axis in (-2, -1):
        first, second, third, fourth = (np.take(data, index, axis) for index in range(TILE))
        data = np.stack([minus(first, third), plus(second, third), minus(third, second), minus(second, fourth)], axis)
    return data
