"""Pooling as PDP does it: parameters, parts that its line buffer holds, and when it takes its input from SDP."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from nvdla_models.pdp import MAX_KERNEL, PdpParams, PoolMethod
from nvdla_networks.compiler.cubes import Cube, Extent, extent
from nvdla_networks.compiler.graph import Pool, Shape, Window
from nvdla_networks.compiler.target import Target
from nvdla_networks.tables import reciprocal
from nvdla_tb.nvdla.layers.pdp import line_buffer_elements


@dataclass(frozen=True)
class _Run:
    """Outputs along an axis that one layer can make, and how many elements of the input each window has."""

    first: int
    count: int
    kernel: int


def parts_of(target: Target, pool: Pool, src: Cube, dst: Cube) -> Iterator[tuple[Cube, Cube, PdpParams]]:
    """Yield what each layer of a pooling reads and writes of its input and output, from above and from left to right.

    PDP divides all sums by one number. Where padding does not count, windows that reach into it therefore are layers of
    their own, with kernels as large as what they have of the input. The line buffer decides how many columns one makes.

    Raises:
        InputError: for a window that PDP does not have.
    """
    (_, height, width), (_, lines, columns) = src.shape, dst.shape
    for line in _runs(pool, 0, height, lines):
        for run in _runs(pool, 1, width, columns):
            window = replace(pool.window, kernel=(line.kernel, run.kernel))
            rows = _extent(pool, 0, height, line.first, line.count)
            whole = Extent(0, width, 0, 0)
            most = line_buffer_elements(_params(target, pool, window, rows, whole), target.config) or run.count
            for column in range(run.first, run.first + run.count, most):
                count = min(most, run.first + run.count - column)
                inputs = _extent(pool, 1, width, column, count)
                read = src.lines(rows.first, rows.count).columns(inputs.first, inputs.count)
                written = dst.lines(line.first, line.count).columns(column, count)
                yield read, written, _params(target, pool, window, rows, inputs)


def _runs(pool: Pool, axis: int, size: int, outputs: int) -> list[_Run]:
    """Return the outputs along an axis whose windows have as many elements of the input; all, where padding counts."""
    if pool.counts_padding:
        return [_Run(0, outputs, pool.window.kernel[axis])]
    runs: list[_Run] = []
    for output in range(outputs):
        kernel = extent(pool.window, axis, size, output, 1).count
        if runs and runs[-1].kernel == kernel == pool.window.kernel[axis]:
            runs[-1] = replace(runs[-1], count=runs[-1].count + 1)
        else:
            runs.append(_Run(output, 1, kernel))
    return runs


def _extent(pool: Pool, axis: int, size: int, first: int, count: int) -> Extent:
    """Return what of the input some windows need; padding that does not count is none."""
    found = extent(pool.window, axis, size, first, count)
    return found if pool.counts_padding else replace(found, before=0, after=0)


def _params(target: Target, pool: Pool, window: Window, rows: Extent, columns: Extent) -> PdpParams:
    height, width = window.kernel
    average = pool.average
    return PdpParams(
        PoolMethod.AVERAGE if average else PoolMethod.MAX,
        kernel_width=width,
        kernel_height=height,
        stride_x=window.stride[1],
        stride_y=window.stride[0],
        pad_left=columns.before,
        pad_right=columns.after,
        pad_top=rows.before,
        pad_bottom=rows.after,
        pad_values=(0,) * (MAX_KERNEL - 1),
        recip_width=reciprocal(width, is_float=target.is_float) if average else 0,
        recip_height=reciprocal(height, is_float=target.is_float) if average else 0,
        precision=target.precision,
    )


def can_fly(target: Target, pool: Pool, shape: Shape, out: Shape) -> bool:
    """Return whether PDP can take its input from SDP: in one part, and all of it."""
    parts = list(parts_of(target, pool, Cube.packed(target, 0, shape), Cube.packed(target, 0, out)))
    return len(parts) == 1 and parts[0][0].shape == shape
