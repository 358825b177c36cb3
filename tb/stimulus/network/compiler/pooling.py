"""Pooling as PDP does it: parameters, parts that its line buffer holds, and when it takes its input from SDP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from models.config import HwConfig
from models.pdp import MAX_KERNEL, PdpParams, PoolMethod
from models.precision import Precision
from tb.nvdla.layers.pdp import line_buffer_elements
from tb.stimulus.network.compiler.cubes import Extent, extent
from tb.stimulus.network.compiler.graph import Pool, Shape

_RECIPROCALS = (0x10000, 0x8000, 0x5555, 0x4000, 0x3333, 0x2AAA, 0x2492, 0x2000)
"""2**16 by kernel side, cut off as the public driver does."""


@dataclass(frozen=True)
class PoolPart:
    """Columns of the output that one layer makes, and what of the input it reads."""

    column: int
    columns: int
    rows: Extent
    inputs: Extent
    params: PdpParams


def parts_of(config: HwConfig, pool: Pool, shape: Shape, out: Shape) -> Iterator[PoolPart]:
    """Yield the parts of a pooling layer from left to right.

    Args:
        config: Decides how many columns the line buffer holds.
        pool: The pooling.
        shape: Shape of its input.
        out: Shape of its output.

    Raises:
        InputError: for a window that PDP does not have.
    """
    rows = extent(pool.window, 0, shape[1], 0, out[1])
    most = line_buffer_elements(_params(pool, rows, Extent(0, shape[2], 0, 0)), config) or out[2]
    for column in range(0, out[2], most):
        columns = min(most, out[2] - column)
        inputs = extent(pool.window, 1, shape[2], column, columns)
        yield PoolPart(column, columns, rows, inputs, _params(pool, rows, inputs))


def _params(pool: Pool, rows: Extent, columns: Extent) -> PdpParams:
    height, width = pool.window.kernel
    average = pool.average
    return PdpParams(
        PoolMethod.AVERAGE if average else PoolMethod.MAX,
        kernel_width=width,
        kernel_height=height,
        stride_x=pool.window.stride[1],
        stride_y=pool.window.stride[0],
        pad_left=columns.before,
        pad_right=columns.after,
        pad_top=rows.before,
        pad_bottom=rows.after,
        pad_values=(0,) * (MAX_KERNEL - 1),
        recip_width=_RECIPROCALS[width - 1] if average else 0,
        recip_height=_RECIPROCALS[height - 1] if average else 0,
        precision=Precision.INT8,
    )


def can_fly(config: HwConfig, pool: Pool, shape: Shape, out: Shape) -> bool:
    """Return whether PDP can take its input from SDP: in one part, and all of it."""
    parts = list(parts_of(config, pool, shape, out))
    return len(parts) == 1 and (parts[0].rows.count, parts[0].inputs.count) == shape[1:]
