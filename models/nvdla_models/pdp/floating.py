"""The FP16 path of PDP: comparisons of patterns, and averages in FP17 with a rounding after every operation.

Along W each element is added to the sum of those left of it; along H the sum of the rows above is added to
each row, so that of several NaN the lowest row's and there the leftmost counts. What is missing is added
after the others, then the sum is multiplied by both reciprocals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from nvdla_models import float_ops
from nvdla_models.fp16 import FP16, FP17, BitsArray, flush_nan, narrow, widen
from nvdla_models.pdp.params import PdpParams, PoolMethod, missing_elements

_Step = Callable[[BitsArray, BitsArray], BitsArray]


def pool(params: PdpParams, cube: NDArray[np.uint16], out_width: int, out_height: int) -> BitsArray:
    """Pool some channels.

    Args:
        params: the layer.
        cube: (C, H, W) FP16 patterns.
        out_width: width of the result.
        out_height: height of the result.

    Returns:
        (C, out_height, out_width) FP16 patterns.

    Source: formats document, "FP16 Supporting"; order, operands and padding from the public nv_full RTL,
        2 x 2 windows measured on it.
    """
    data = flush_nan(cube) if params.nan_to_zero else cube
    if params.method is not PoolMethod.AVERAGE:
        choose = float_ops.maximum if params.method is PoolMethod.MAX else float_ops.minimum

        def step(first: BitsArray, second: BitsArray) -> BitsArray:
            return choose(first, second, FP16)

        rows = _fold(data, params.kernel_width, params.stride_x, params.pad_left, out_width, step)
        return _fold_rows(params, rows, out_height, step)
    return _average(params, widen(data, FP17), out_width, out_height)


def _average(params: PdpParams, data: BitsArray, out_width: int, out_height: int) -> BitsArray:
    _, height, width = data.shape
    table = np.array([0, *params.pad_values], dtype=FP17.dtype)

    rows = _fold(data, params.kernel_width, params.stride_x, params.pad_left, out_width, _add)
    missing = missing_elements(params.kernel_width, params.stride_x, params.pad_left, width, out_width)
    edge = missing > 0
    rows[:, :, edge] = _add(rows[:, :, edge], table[missing[edge]])

    total = _fold_rows(params, rows, out_height, _add)
    missing = missing_elements(params.kernel_height, params.stride_y, params.pad_top, height, out_height)
    edge = missing > 0
    size = FP17.encode(np.array([float(params.kernel_width)]))
    pad_rows = float_ops.multiply(table[missing[edge]], size, FP17)
    total[:, edge] = _add(total[:, edge], pad_rows[:, np.newaxis])

    for reciprocal in (params.recip_width, params.recip_height):
        total = float_ops.multiply(total, np.array([reciprocal], dtype=FP17.dtype), FP17)
    return narrow(total, FP17, FP16)


def _add(first: BitsArray, second: BitsArray) -> BitsArray:
    return float_ops.add(first, second, FP17)


def _fold_rows(params: PdpParams, rows: BitsArray, out_height: int, step: _Step) -> BitsArray:
    """Reduce windows along H; the new row is the first operand."""
    turned = np.swapaxes(rows, 1, 2)

    def new_first(folded: BitsArray, new: BitsArray) -> BitsArray:
        return step(new, folded)

    folded = _fold(turned, params.kernel_height, params.stride_y, params.pad_top, out_height, new_first)
    return np.swapaxes(folded, 1, 2)


def _fold(data: BitsArray, kernel: int, stride: int, pad: int, out_size: int, step: _Step) -> BitsArray:
    """Reduce windows along the last axis, element after element; what lies outside is skipped."""
    size = data.shape[-1]
    starts = np.arange(out_size) * stride - pad
    first = np.maximum(starts, 0)
    folded = data[..., first]
    for offset in range(1, kernel):
        at = starts + offset
        more = (at > first) & (at < size)
        folded[..., more] = step(folded[..., more], data[..., at[more]])
    return folded
