"""Windows as columns of a matrix, a few output lines at a time, so that no layer is ever unfolded as a whole."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.conv.params import ConvParams
from nvdla_models.winograd_transform import OUTPUT_TILE, TILE, tiles

_COLUMN_BYTES = 16 << 20


def pad(params: ConvParams, cube: NDArray[Any], value: int | float) -> NDArray[Any]:
    """Return the cube (C, H, W) with its padding around it."""
    around = ((0, 0), (params.pad_top, params.pad_bottom), (params.pad_left, params.pad_right))
    return np.pad(cube, around, constant_values=value)


def line_runs(rows: int, out_shape: tuple[int, int], bytes_per_pixel: int) -> Iterator[slice]:
    """Yield runs of output lines whose columns and sums take about 16 MiB.

    Args:
        rows: most lines of a run that are useful.
        out_shape: (H_out, W_out).
        bytes_per_pixel: of columns or sums, whichever are larger.
    """
    lines = max(1, min(rows, _COLUMN_BYTES // (bytes_per_pixel * out_shape[1])))
    for first in range(0, out_shape[0], lines):
        yield slice(first, min(first + lines, out_shape[0]))


class Scratch:
    """Memory that is used again for every run of lines: fresh pages cost as much as what is written to them."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        """Start empty."""
        self.dtype = dtype
        self._memory = np.empty(0, dtype)

    def array(self, shape: tuple[int, ...]) -> NDArray[Any]:
        """Return an array of any contents, which the next one overwrites."""
        size = math.prod(shape)
        if size > self._memory.size:
            self._memory = np.empty(size, self.dtype)
        return self._memory[:size].reshape(shape)


def columns(
    params: ConvParams, padded: NDArray[Any], kernel: tuple[int, int], rows: slice, out_width: int, scratch: Scratch
) -> NDArray[Any]:
    """Return the windows of some output lines as columns.

    Args:
        params: strides and dilation.
        padded: (C, H, W) with the padding around it.
        kernel: (R, S).
        rows: output lines.
        out_width: elements of an output line.
        scratch: what the result may lie in; it has its dtype.

    Returns:
        (C * R * S, lines * W_out).
    """
    count = rows.stop - rows.start
    top = rows.start * params.stride_y
    height = (count - 1) * params.stride_y + (kernel[0] - 1) * params.dilation_y + 1
    source = padded[:, top : top + height].astype(scratch.dtype, copy=False)
    if kernel == (1, 1) and params.stride_x == params.stride_y == 1:
        return source.reshape(len(padded), -1)
    result = scratch.array((padded.shape[0], *kernel, count, out_width))
    last_row, last_column = (count - 1) * params.stride_y + 1, (out_width - 1) * params.stride_x + 1
    for r in range(kernel[0]):
        y = r * params.dilation_y
        for s in range(kernel[1]):
            x = s * params.dilation_x
            result[:, r, s] = source[:, y : y + last_row : params.stride_y, x : x + last_column : params.stride_x]
    return result.reshape(-1, count * out_width)


def tile_runs(
    padded: NDArray[Any], out_shape: tuple[int, int], bytes_per_tile: int
) -> Iterator[tuple[slice, NDArray[Any]]]:
    """Yield runs of output lines with the tiles that they are made of.

    Args:
        padded: (C, H, W) with the padding around it.
        out_shape: (H_out, W_out), multiples of 4.
        bytes_per_tile: of what is computed from a tile.

    Yields:
        Output lines, and their tiles (C, lines / 2, W_out / 2, 4, 4).
    """
    height, width = out_shape
    for run in line_runs(height, (height // OUTPUT_TILE, width // OUTPUT_TILE), bytes_per_tile):
        rows = slice(OUTPUT_TILE * run.start, OUTPUT_TILE * run.stop)
        lines = rows.stop - rows.start
        yield rows, tiles(padded[:, rows.start : rows.stop + TILE - OUTPUT_TILE], 0, 0, lines, width)
