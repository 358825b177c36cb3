"""Causes in what PDP computes: method, windows, padding, reciprocals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nvdla_models.pdp import MAX_KERNEL, PdpParams, PoolMethod
from nvdla_tb.explain.cause import Cause, Kinds, Way, of_kinds
from nvdla_tb.explain.causes import reach
from nvdla_tb.explain.causes.reach import Part
from nvdla_tb.explain.engines import Make, PdpRun, Run
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.walk import Cube
from nvdla_tb.nvdla.layers import PdpLayer

_ENTRIES = MAX_KERNEL - 1


def _ways(run: Run) -> Kinds:
    """Yield everything that may be wrong."""
    for engine in reach.engines(run, PdpRun):
        yield from _of_pooling(engine)


def _of_pooling(engine: Part[PdpRun]) -> Kinds:
    old = engine.value.params

    def params(**new: object) -> Make:
        return partial(_with_params, engine, new)

    for method in PoolMethod:
        filled = {"recip_width": 65536 // old.kernel_width, "recip_height": 65536 // old.kernel_height}
        extra = filled if method is PoolMethod.AVERAGE and old.method is not PoolMethod.AVERAGE else {}
        yield "method", f"{method.value} instead of {old.method.value}", params(method=method, **extra)
    sizes = (old.kernel_width, old.kernel_height)
    for width, height, what in (
        (sizes[1], sizes[0], "width and height swapped"),
        (sizes[0] - 1, sizes[1], "one column too few"),
        (sizes[0] + 1, sizes[1], "one column too many"),
        (sizes[0], sizes[1] - 1, "one line too few"),
        (sizes[0], sizes[1] + 1, "one line too many"),
        (1, sizes[1], "one column"),
        (sizes[0], 1, "one line"),
        (sizes[0] - 1, sizes[1] - 1, "one too small both ways"),
    ):
        detail = f"{what}, {width} x {height} instead of {sizes[0]} x {sizes[1]}"
        yield "kernel", detail, params(kernel_width=width, kernel_height=height)
    for x, y, what in (
        (old.stride_y, old.stride_x, "x and y swapped"),
        (1, old.stride_y, "1 along x"),
        (old.stride_x, 1, "1 along y"),
        (old.stride_x + 1, old.stride_y, "one too large along x"),
        (old.stride_x, old.stride_y + 1, "one too large along y"),
        (old.stride_x - 1, old.stride_y, "one too small along x"),
        (old.stride_x, old.stride_y - 1, "one too small along y"),
    ):
        yield "stride", what, params(stride_x=x, stride_y=y)
    for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, -1)):
        yield "window", f"{down} lines down, {right} columns right", engine.other(shift=(down, right))
    for left, top, what in (
        (0, old.pad_top, "left ignored"),
        (old.pad_left, 0, "top ignored"),
        (0, 0, "left and top ignored"),
        (old.pad_top, old.pad_left, "left and top swapped"),
        (old.pad_right, old.pad_top, "left as right"),
        (old.pad_left, old.pad_bottom, "top as bottom"),
    ):
        yield "padding", what, params(pad_left=left, pad_top=top)
    if old.method is not PoolMethod.AVERAGE:
        yield "padding", "zeros take part", engine.other(pads_take_part=True)
        return
    first = old.pad_values[0]
    for values, what in (
        ((0,) * _ENTRIES, "0 instead of the padding value"),
        ((first,) * _ENTRIES, "its first entry for any number of elements"),
        (tuple(-value for value in old.pad_values), "negated"),
        ((0, *old.pad_values[:-1]), "one entry too early"),
        ((*old.pad_values[1:], old.pad_values[-1]), "one entry too late"),
        *_entries_of_others(old.pad_values),
    ):
        yield "pad-value", what, params(pad_values=values)
    for width, height, what in (
        (old.recip_height, old.recip_width, "width and height swapped"),
        (old.recip_width, old.recip_width, "that of the width for both"),
        (old.recip_height, old.recip_height, "that of the height for both"),
        (65536, old.recip_height, "width left out"),
        (old.recip_width, 65536, "height left out"),
        (old.recip_width + 1, old.recip_height, "width one too large"),
        (old.recip_width - 1, old.recip_height, "width one too small"),
        (old.recip_width, old.recip_height + 1, "height one too large"),
        (old.recip_width, old.recip_height - 1, "height one too small"),
        (old.recip_width // 2, old.recip_height, "width halved"),
        (old.recip_width, old.recip_height // 2, "height halved"),
        (min(2 * old.recip_width, (1 << 17) - 1), old.recip_height, "width doubled"),
    ):
        yield "reciprocal", what, params(recip_width=width, recip_height=height)


def _entries_of_others(values: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], str]]:
    """Yield padding values of which one is that of the count before or after it, or of no padding."""
    table = (0, *values)
    for count in range(1, len(table)):
        for other in sorted({0, count - 1, count + 1} & set(range(len(table)))):
            changed = (*table[1:count], table[other], *table[count + 1 :])
            yield changed, f"that of {other} for {count} padded elements"


def _with_params(engine: Part[PdpRun], new: dict[str, object]) -> Run:
    """Return a run with other parameters; padding after the cube does not count, so it is left out."""
    fields = {name: getattr(engine.value.params, name) for name in PdpParams.__dataclass_fields__}
    fields |= {"pad_right": 0, "pad_bottom": 0, **new}
    fields["pad_left"] = min(fields["pad_left"], fields["kernel_width"] - 1)
    fields["pad_top"] = min(fields["pad_top"], fields["kernel_height"] - 1)
    return engine.other(params=PdpParams(**fields))()


def _bands(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Bands of a split cube that begin at other columns of the output; a later one overwrites an earlier one."""
    layer = None if evidence.started is None else evidence.started.layer
    if not isinstance(layer, PdpLayer) or layer.split is None:
        return
    split = layer.split
    starts = [0, *(split.first_out + number * split.middle_out for number in range(split.parts - 1))]
    bands = list(pairwise((*starts, split.total_out)))
    for what, moved in (
        ("one column early", [starts[0], *(start - 1 for start in starts[1:])]),
        ("one column late", [starts[0], *(start + 1 for start in starts[1:])]),
        ("all at the first column", [0] * len(starts)),
    ):
        columns = np.full(split.total_out, -1, dtype=np.int64)
        for (start, stop), first in zip(bands, moved, strict=True):
            end = min(first + stop - start, split.total_out)
            columns[first:end] = np.arange(start, start + end - first)
        order = (*run.order, partial(_taken, columns))
        make = partial(replace, run, order=order, touch=partial(_written, columns))
        yield Way(f"those after the first {what}", make)


def _taken(columns: NDArray[np.int64], cube: Cube) -> Cube:
    taken: Cube = cube[:, :, columns]
    return taken


def _written(columns: NDArray[np.int64], shape: tuple[int, int, int]) -> NDArray[np.bool_]:
    return np.broadcast_to(columns >= 0, shape)


_KINDS = {
    "method": "pooling: wrong method",
    "kernel": "pooling: wrong kernel size",
    "stride": "pooling: wrong stride of windows",
    "window": "pooling: windows displaced",
    "padding": "pooling: wrong padding",
    "pad-value": "pooling: wrong padding value",
    "reciprocal": "pooling: wrong reciprocal",
}

CAUSES = (
    *of_kinds("pool", _KINDS, _ways),
    Cause("pool-split", "bands of a split cube", _bands),
)
