"""The integer path of PDP.

Registers are only as wide as sensible numbers need; what does not fit wraps, it does not saturate. The
rounded average of 127.5 is -128.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import Point, Rules, Site, shift_right_rounded, wrap
from nvdla_models.config import HwConfig
from nvdla_models.pdp.params import PdpParams, PoolMethod, missing_elements
from nvdla_models.precision import Precision

_FRACTION_BITS = 16


@dataclass(frozen=True)
class _Widths:
    """Bits of the signed registers of the averaging path.

    Attributes:
        row: sum of one row of the window, padding included.
        pad_rows: what the missing rows add.
        total: sum of the window; of INT8 the build decides (``HwConfig.pdp_int8_sum_bits``).
        product: sum times the reciprocal of the width.
        middle: that product rounded to an integer.
        output: the result.
    """

    row: int
    pad_rows: int
    total: int
    product: int
    middle: int
    output: int


def _widths(params: PdpParams, config: HwConfig) -> _Widths:
    """Return the widths of a build, as measured on the public nv_small and nv_full RTL."""
    output = params.precision.bits
    if params.precision is Precision.INT8:
        return _Widths(11, pad_rows=14, total=config.pdp_int8_sum_bits, product=31, middle=11, output=output)
    return _Widths(22, pad_rows=22, total=22, product=39, middle=19, output=output)


def pool(
    params: PdpParams, cube: NDArray[Any], out_width: int, out_height: int, config: HwConfig, rules: Rules
) -> NDArray[Any]:
    """Pool some channels: (C, H, W) int8 or int16 to (C, out_height, out_width)."""
    if params.method is PoolMethod.AVERAGE:
        return _average(params, cube, out_width, out_height, _widths(params, config), rules)
    chosen = rules.unsigned[params.method is PoolMethod.MIN]
    if any(rules.unsigned_along):
        concerned = chosen or not any(rules.unsigned)
        unsigned = [concerned and along for along in rules.unsigned_along]
    else:
        unsigned = [chosen, chosen]
    along_width, along_height = (np.dtype(f"u{cube.itemsize}") if way else cube.dtype for way in unsigned)
    rows = _reduce_along_width(params, cube.view(along_width), out_width, *_extreme(params.method, along_width))
    rules.hand_on(Point.PDP_ROWS, rows.view(cube.dtype).astype(np.int64))
    neutral = _extreme(params.method, along_height)
    return _reduce_along_height(params, rows.view(along_height), out_height, *neutral).view(cube.dtype)


def _extreme(method: PoolMethod, dtype: np.dtype[Any]) -> tuple[np.ufunc, int]:
    """Return how numbers are reduced, and the number that changes no result."""
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    return (np.maximum, low) if method is PoolMethod.MAX else (np.minimum, high)


def _average(
    params: PdpParams, cube: NDArray[Any], out_width: int, out_height: int, bits: _Widths, rules: Rules
) -> NDArray[Any]:
    _, height, width = cube.shape
    table = np.array([0, *params.pad_values], dtype=np.int64)

    # int32 holds the sum of a row: 8 elements of 16 bits.
    rows = _reduce_along_width(params, cube.astype(np.int32), out_width, np.add, 0).astype(np.int64)
    missing = missing_elements(params.kernel_width, params.stride_x, params.pad_left, width, out_width)
    edge = missing > 0
    rows[:, :, edge] = wrap(rows[:, :, edge] + wrap(table[missing[edge]], bits.row), bits.row)
    rules.hand_on(Point.PDP_ROWS, rows)

    total = _reduce_along_height(params, rows, out_height, np.add, 0)
    missing = missing_elements(params.kernel_height, params.stride_y, params.pad_top, height, out_height)
    edge = missing > 0
    pad_rows = wrap(table[missing[edge]] * params.kernel_width, bits.pad_rows)
    total[:, edge] += pad_rows[:, np.newaxis]
    total = wrap(total, bits.total)

    scaled = wrap(total * params.recip_width, bits.product)
    middle = _round_to_integer(scaled, bits.middle, rules.at(Site.PDP_WIDTH))
    output = _round_to_integer(middle * params.recip_height, bits.output, rules.at(Site.PDP_HEIGHT))
    return output.astype(params.precision.dtype)


def _round_to_integer(product: NDArray[np.int64], bits: int, rules: Rules) -> NDArray[np.int64]:
    """Drop 16 fraction bits, half away from zero; what does not fit ``bits`` bits wraps.

    A non-negative product loses the bits above the result's magnitude before it is rounded, so it becomes
    negative only when rounding carries into the sign.
    """
    magnitude = (1 << (bits - 1 + _FRACTION_BITS)) - 1
    sign = product >> 63
    kept = product & (sign | magnitude)
    return wrap(shift_right_rounded(kept, _FRACTION_BITS, rules), bits)


def _reduce_along_width(
    params: PdpParams, cube: NDArray[Any], out_width: int, reduce: np.ufunc, neutral: int
) -> NDArray[Any]:
    padding = ((0, 0), (0, 0), (params.pad_left, params.pad_right))
    padded = np.pad(cube, padding, constant_values=neutral)
    last = (out_width - 1) * params.stride_x + 1
    result = padded[:, :, : last : params.stride_x].copy()
    for column in range(1, params.kernel_width):
        reduce(result, padded[:, :, column : column + last : params.stride_x], out=result)
    return result


def _reduce_along_height(
    params: PdpParams, rows: NDArray[Any], out_height: int, reduce: np.ufunc, neutral: int
) -> NDArray[Any]:
    padding = ((0, 0), (params.pad_top, params.pad_bottom), (0, 0))
    padded = np.pad(rows, padding, constant_values=neutral)
    last = (out_height - 1) * params.stride_y + 1
    result = padded[:, : last : params.stride_y].copy()
    for row in range(1, params.kernel_height):
        reduce(result, padded[:, row : row + last : params.stride_y], out=result)
    return result
