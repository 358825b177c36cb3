"""PDP layers at random."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.pdp import MAX_KERNEL, PAD_VALUE_BITS, RECIPROCAL_BITS
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import LINE_BUFFER_ELEMENTS
from nvdla_tb.stimulus.generate.draw.numbers import (
    Axis,
    Cube,
    Description,
    draw_channels,
    draw_gaps,
    draw_kind,
    draw_precision,
    draw_wide,
    fit_axis,
    one_of,
)

_ENDED_BY_SDP = ("SDP", "CONV")
_NOT_POOLED = {"output_precision", "winograd", "batch"}
"""Keys of layers that PDP does not take on the fly."""

_METHODS = ("max", "min", "average")
_STRIDES = (1, 1, 2, 2, 3, 4, 8, 16)
_MOST_WINDOWS = 8
_MOST_COLUMNS = (20, 20, 20, 150)
_MOST_CHANNELS = 24
_FEW_CHANNELS = 9
"""Where lines are long, so that a scenario takes seconds; for atoms of 8 elements."""

_FEWEST_IN_AN_ATOM = 8
_FLUSHED = 0.3

_WHOLE = 0.4
"""Of the layers: those that are not cut, or in as few parts as fit."""

_MOST_PARTS = 7
_MOST_PART_WIDTH = 1024
"""The largest value of the register of a part's width."""


def draw_pdp(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw a PDP layer, None where it cannot read what was before it."""
    height: Axis | None = _axis(rng, _MOST_WINDOWS)
    columns = one_of(rng, _MOST_COLUMNS)
    width: Axis | None = _axis(rng, columns)
    precision = draw_precision(rng, config, before)
    most = _MOST_CHANNELS if columns == min(_MOST_COLUMNS) else _FEW_CHANNELS
    channels = draw_channels(rng, config, most * config.atom_elements(precision) // _FEWEST_IN_AN_ATOM, precision)
    if before is not None and height and width:
        channels = before.shape[0]
        height, width = fit_axis(rng, before.shape[1], height), fit_axis(rng, before.shape[2], width)
    if height is None or width is None:
        return None
    shape = (channels, height.size, width.size)
    keys: Description = {"chain": True}
    if before is None:
        keys = {"shape": list(shape), "src_gaps": list(draw_gaps(rng, shape)), **draw_kind(rng, precision)}
    split = draw_split(rng, height, width)
    if split is None:
        return None
    layer, dst = pooling(rng, before or Cube(shape, precision=precision), height, width)
    return {**layer, **keys, **split}, dst


def pooling(rng: np.random.Generator, src: Cube, height: Axis, width: Axis) -> tuple[Description, Cube]:
    """Draw all of a PDP layer but where its input lies and how it is cut."""
    pool, dst = _pool(rng, src, height, width)
    flushed = {"nan_to_zero": bool(rng.random() < _FLUSHED)} if src.precision is Precision.FP16 else {}
    return {"engine": "PDP", **pool, **flushed}, dst


def may_be_pooled(layer: Description) -> bool:
    """Return whether PDP can take the result of a layer on the fly."""
    return layer["engine"] in _ENDED_BY_SDP and _NOT_POOLED.isdisjoint(layer)


def draw_pooled(rng: np.random.Generator, producer: Description, cube: Cube) -> tuple[Description, Cube]:
    """Draw a pooling on the fly of what a layer of SDP or a convolution ends with.

    Returns:
        The layer with its pooling, and what that writes; the layer as it is, where no windows fit.
    """
    height, width = (fit_axis(rng, size, _axis(rng, _MOST_WINDOWS)) for size in cube.shape[1:])
    if height is None or width is None or not cut_fits(width, widest_part(height), 1, 0, 0):
        return producer, cube
    pool, dst = _pool(rng, cube, height, width)
    return {**{key: value for key, value in producer.items() if key != "dst_gaps"}, "pool": pool}, dst


def _pool(rng: np.random.Generator, src: Cube, height: Axis, width: Axis) -> tuple[Description, Cube]:
    """Draw the keys of a pooling from memory and of one on the fly, and what it writes."""
    out = (src.shape[0], height.windows, width.windows)
    dst = Cube(out, draw_gaps(rng, out), src.precision)
    windows = {
        "kernel": [width.kernel, height.kernel],
        "stride": [width.stride, height.stride],
        "pad": [width.before, width.after, height.before, height.after],
    }
    return {**windows, "dst_gaps": list(dst.gaps), **_method(rng, src.precision)}, dst


def widest_part(height: Axis) -> int:
    """Return how many columns the line buffer holds."""
    rows = -(-height.kernel // height.stride)
    return LINE_BUFFER_ELEMENTS >> (rows - 1).bit_length()


def _method(rng: np.random.Generator, precision: Precision) -> Description:
    """Draw the method; for an average also what software decides freely, as a rule sensibly."""
    method: Description = {"method": one_of(rng, _METHODS)}
    if method["method"] == "average" and precision is Precision.FP16:
        method["pad_value"] = int(rng.integers(-8, 9))
    elif method["method"] == "average":
        if rng.random() < 0.6:
            method["pad_value"] = int(rng.integers(-128, 128))
        else:
            method["pad_values"] = [draw_wide(rng, PAD_VALUE_BITS) for _ in range(MAX_KERNEL - 1)]
        if rng.random() < 0.3:
            largest = (1 << RECIPROCAL_BITS) - 1
            method["reciprocals"] = [
                one_of(rng, [0, 1, 1 << 16, largest, int(rng.integers(0, largest + 1))]) for _ in range(2)
            ]
    return method


def _axis(rng: np.random.Generator, most: int) -> Axis:
    """Draw an axis of at most so many windows, or as few as leave one element of the cube itself."""
    kernel, stride = int(rng.integers(1, MAX_KERNEL + 1)), one_of(rng, _STRIDES)
    before, after = int(rng.integers(0, kernel)), int(rng.integers(0, kernel))
    least = max(1, -(-(before + after + 1 - kernel) // stride) + 1)
    windows = int(rng.integers(least, max(least, most) + 1))
    return Axis((windows - 1) * stride + kernel - before - after, kernel, stride, 1, before, after)


def windowed(kernel: int, stride: int, windows: int, pads: Sequence[int]) -> Axis:
    """Return an axis of so many windows, or as many more as leave one element of the cube itself."""
    before, after = pads
    least = -(-max(before + after + 1 - kernel, 0) // stride) + 1
    windows = max(windows, least)
    return Axis((windows - 1) * stride + kernel - before - after, kernel, stride, 1, before, after)


def draw_split(rng: np.random.Generator, height: Axis, width: Axis) -> Description | None:
    """Draw how to cut the width, None where no cut that is tried fits the line buffer."""
    widest = widest_part(height)
    fitting = []
    for parts in range(1, min(_MOST_PARTS, width.windows) + 1):
        even = width.windows // parts
        fitting += [(parts, even, even)] * cut_fits(width, widest, parts, even, even)
        first, middle = (int(rng.integers(1, 2 * even + 1)) for _ in range(2))
        if parts > 1:
            fitting += [(parts, first, middle)] * cut_fits(width, widest, parts, first, middle)
    if not fitting:
        return None
    parts, first, middle = fitting[0 if rng.random() < _WHOLE else int(rng.integers(len(fitting)))]
    return {"split": parts, **({"split_columns": [first, middle]} if parts > 1 else {})}


def cut_fits(width: Axis, widest: int, parts: int, first: int, middle: int) -> bool:
    """Return whether every part has columns, no more than the line buffer holds, and begins inside the cube."""
    last = width.windows - first - (parts - 2) * middle
    if parts == 1:
        return width.windows <= widest
    if not (1 <= last <= widest and max(first, middle) <= widest and first * width.stride >= width.before):
        return False
    first_in = (first - 1) * width.stride + width.kernel - width.before
    middle_in = middle * width.stride
    last_in = width.size - first_in - (parts - 2) * middle_in
    return min(first_in, last_in) >= 1 and max(first_in, middle_in, last_in) <= _MOST_PART_WIDTH
