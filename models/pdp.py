"""Planar data processor: pooling along width and height, integer path.

The hardware reduces a window in two steps: first along the width, then the row results along the height.
For the average, elements of the window that lie outside the cube are replaced by table values, one table
for both directions: a row that lacks n elements gets ``pad_values[n - 1]`` added, and a window that lacks
n rows ``pad_values[n - 1] * kernel_width``. So an entry is n times the padding value, but any table works.
Maximum and minimum ignore elements outside the cube.

Registers are only as wide as sensible numbers need; what does not fit wraps, it does not saturate. The
rounded average of 127.5 is -128.

Padding channels: the hardware processes whole atoms. The channels between C and the end of the last atom
are read from memory, pooled and written like any other, so pass a cube padded to whole atoms, with the
bytes as they are in memory, to get every byte that is written.

Split width: the result is that of the whole cube; the parts only order the reads and writes. That holds as
long as the hardware's line buffer holds a part's output width. nv_small was measured to work up to 128
elements when no two windows share a row, up to 64, 32 and 16 for 2, 3 to 4 and more windows
(kernel_height / stride_y, rounded up), and to hang or to write wrong data beyond.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.arithmetic import channel_blocks, check_range, limits, shift_right_rounded, wrap
from models.precision import Precision

MAX_KERNEL = 8
MAX_STRIDE = 16
PAD_VALUE_BITS = 19
RECIPROCAL_BITS = 17

_FRACTION_BITS = 16


class PoolMethod(Enum):
    """How a window becomes one element."""

    MAX = "max"
    MIN = "min"
    AVERAGE = "average"


@dataclass(frozen=True)
class _Widths:
    """Bits of the signed registers of the averaging path.

    Attributes:
        row: sum of one row of the window, padding included.
        pad_rows: what the missing rows add.
        total: sum of the window.
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


# INT8 as measured on the public nv_small RTL; INT16 as in the public nv_full RTL.
_WIDTHS = {
    Precision.INT8: _Widths(row=11, pad_rows=14, total=15, product=31, middle=11, output=8),
    Precision.INT16: _Widths(row=22, pad_rows=22, total=22, product=39, middle=19, output=16),
}


@dataclass(frozen=True)
class PdpParams:
    """One PDP layer.

    Attributes:
        method: maximum, minimum or average.
        kernel_width: 1 to 8 elements.
        kernel_height: 1 to 8 elements.
        stride_x: 1 to 16 elements.
        stride_y: 1 to 16 elements.
        pad_left: elements, fewer than the kernel's width.
        pad_right: elements, fewer than the kernel's width.
        pad_top: elements, fewer than the kernel's height.
        pad_bottom: elements, fewer than the kernel's height.
        pad_values: signed 19-bit sums that stand for 1 to 7 missing elements; used by the average alone.
        recip_width: 2**16 / kernel_width as the software rounds it, 17 bits; used by the average alone.
        recip_height: 2**16 / kernel_height as the software rounds it, 17 bits; used by the average alone.
        precision: of input and output.

    Raises:
        ValueError: when a value does not fit its register, a padding reaches the kernel's size, or for FP16.

    Source: register map of PDP; programming guide, "PDP programming" and the limits of PDP.
    """

    method: PoolMethod
    kernel_width: int
    kernel_height: int
    stride_x: int
    stride_y: int
    pad_left: int
    pad_right: int
    pad_top: int
    pad_bottom: int
    pad_values: tuple[int, ...]
    recip_width: int
    recip_height: int
    precision: Precision

    def __post_init__(self) -> None:
        if self.precision not in _WIDTHS:
            raise ValueError(
                f"precision must be INT8 or INT16, not {self.precision.name}: the PDP model does not support it"
            )
        for name, most in (
            ("kernel_width", MAX_KERNEL),
            ("kernel_height", MAX_KERNEL),
            ("stride_x", MAX_STRIDE),
            ("stride_y", MAX_STRIDE),
        ):
            check_range(name, getattr(self, name), 1, most)
        for name, kernel in (
            ("pad_left", "kernel_width"),
            ("pad_right", "kernel_width"),
            ("pad_top", "kernel_height"),
            ("pad_bottom", "kernel_height"),
        ):
            check_range(name, getattr(self, name), 0, MAX_KERNEL - 1)
            size = getattr(self, kernel)
            if getattr(self, name) >= size:
                raise ValueError(f"{name} must be less than the {kernel} of {size}, not {getattr(self, name)}")
        if len(self.pad_values) != MAX_KERNEL - 1:
            raise ValueError(f"pad_values must hold {MAX_KERNEL - 1} values, not {len(self.pad_values)}")
        for count, value in enumerate(self.pad_values, start=1):
            check_range(f"pad value {count}x", value, *limits(PAD_VALUE_BITS))
        for name in ("recip_width", "recip_height"):
            check_range(name, getattr(self, name), 0, (1 << RECIPROCAL_BITS) - 1)

    def output_width(self, width: int) -> int:
        """Return the output's width for an input of ``width`` elements.

        Raises:
            ValueError: when windows and strides do not end exactly at the padded cube's end.

        Source: programming guide, limits of PDP.
        """
        return _output_size("width", width + self.pad_left + self.pad_right, self.kernel_width, self.stride_x)

    def output_height(self, height: int) -> int:
        """Return the output's height for an input of ``height`` elements.

        Raises:
            ValueError: when windows and strides do not end exactly at the padded cube's end.

        Source: programming guide, limits of PDP.
        """
        return _output_size("height", height + self.pad_top + self.pad_bottom, self.kernel_height, self.stride_y)


def run(params: PdpParams, cube: NDArray[Any]) -> NDArray[Any]:
    """Compute what the PDP writes for one cube.

    Args:
        params: the layer.
        cube: (C, H, W) of the precision's dtype. C may include padding channels; see the module's description.

    Returns:
        (C, H_out, W_out) of the precision's dtype.

    Raises:
        ValueError: when the cube's type, shape or size does not fit the layer.

    Source: unit description, "Planar Data Processor"; register map; measured on the public nv_small RTL.
    """
    if cube.dtype != params.precision.dtype:
        raise ValueError(f"cube must be {params.precision.dtype}, not {cube.dtype}")
    if cube.ndim != 3:
        raise ValueError(f"cube must have the axes (C, H, W), not {cube.ndim} axes")
    channels, height, width = cube.shape
    out_width, out_height = params.output_width(width), params.output_height(height)
    result = np.empty((channels, out_height, out_width), cube.dtype)
    for block in channel_blocks(cube.shape):
        if params.method is PoolMethod.AVERAGE:
            result[block] = _average(params, cube[block], out_width, out_height)
        else:
            result[block] = _extreme(params, cube[block], out_width, out_height)
    return result


def _extreme(params: PdpParams, cube: NDArray[Any], out_width: int, out_height: int) -> NDArray[Any]:
    low, high = limits(_WIDTHS[params.precision].output)
    reduce, neutral = (np.maximum, low) if params.method is PoolMethod.MAX else (np.minimum, high)
    rows = _reduce_along_width(params, cube, out_width, reduce, neutral)
    return _reduce_along_height(params, rows, out_height, reduce, neutral)


def _average(params: PdpParams, cube: NDArray[Any], out_width: int, out_height: int) -> NDArray[Any]:
    bits = _WIDTHS[params.precision]
    _, height, width = cube.shape
    table = np.array([0, *params.pad_values], dtype=np.int64)

    # int32 holds the sum of a row: 8 elements of 16 bits.
    rows = _reduce_along_width(params, cube.astype(np.int32), out_width, np.add, 0).astype(np.int64)
    missing = _missing(params.kernel_width, params.stride_x, params.pad_left, width, out_width)
    edge = missing > 0
    rows[:, :, edge] = wrap(rows[:, :, edge] + wrap(table[missing[edge]], bits.row), bits.row)

    total = _reduce_along_height(params, rows, out_height, np.add, 0)
    missing = _missing(params.kernel_height, params.stride_y, params.pad_top, height, out_height)
    edge = missing > 0
    pad_rows = wrap(table[missing[edge]] * params.kernel_width, bits.pad_rows)
    total[:, edge] += pad_rows[:, np.newaxis]
    total = wrap(total, bits.total)

    middle = _round_to_integer(wrap(total * params.recip_width, bits.product), bits.middle)
    return _round_to_integer(middle * params.recip_height, bits.output).astype(params.precision.dtype)


def _round_to_integer(product: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Drop 16 fraction bits, half away from zero; what does not fit ``bits`` bits wraps.

    A non-negative product loses the bits above the result's magnitude before it is rounded, so it becomes
    negative only when rounding carries into the sign.
    """
    magnitude = (1 << (bits - 1 + _FRACTION_BITS)) - 1
    sign = product >> 63
    kept = product & (sign | magnitude)
    return wrap(shift_right_rounded(kept, _FRACTION_BITS), bits)


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


def _missing(kernel: int, stride: int, pad_before: int, size: int, out_size: int) -> NDArray[np.int64]:
    """Count the positions of each window that lie outside the cube.

    Returns:
        (out_size,) of 0 to ``kernel`` - 1.
    """
    start = np.arange(out_size, dtype=np.int64) * stride - pad_before
    inside = np.minimum(start + kernel, size) - np.maximum(start, 0)
    return kernel - inside


def _output_size(axis: str, padded: int, kernel: int, stride: int) -> int:
    if padded < kernel:
        raise ValueError(f"{axis} with padding must be at least the kernel's {kernel}, not {padded}")
    if (padded - kernel) % stride:
        raise ValueError(
            f"{axis} with padding minus the kernel's {kernel} must be a multiple of the stride {stride}, "
            f"not {padded - kernel}"
        )
    return (padded - kernel) // stride + 1
