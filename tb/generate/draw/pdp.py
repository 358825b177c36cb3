"""PDP layers at random."""

from __future__ import annotations

import numpy as np

from models.config import HwConfig
from tb.generate.draw.numbers import Axis, Cube, Description, draw_channels, draw_gaps, fit_axis
from tb.layers import LINE_BUFFER_ELEMENTS

_METHODS = ("max", "min", "average")
_MOST_KERNEL = 8
_STRIDES = (1, 1, 2, 2, 3, 4, 8, 16)
_MOST_WINDOWS = 8
_MOST_COLUMNS = 20
_MOST_CHANNELS = 24
_MOST_PARTS = 4


def draw_pdp(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw a PDP layer, None where it cannot read what was before it."""
    height: Axis | None = _axis(rng, _MOST_WINDOWS)
    width: Axis | None = _axis(rng, _MOST_COLUMNS)
    channels = draw_channels(rng, config, most=_MOST_CHANNELS)
    if before is not None and height and width:
        channels = before.shape[0]
        height, width = fit_axis(rng, before.shape[1], height), fit_axis(rng, before.shape[2], width)
    if height is None or width is None:
        return None
    shape = (channels, height.size, width.size)
    keys = {"chain": True} if before else {"shape": list(shape), "src_gaps": list(draw_gaps(rng, shape))}
    split = _split(rng, height, width)
    if split is None:
        return None
    out = (channels, height.windows, width.windows)
    dst = Cube(out, draw_gaps(rng, out))
    layer = {
        "engine": "PDP",
        **keys,
        "method": str(rng.choice(_METHODS)),
        "kernel": [width.kernel, height.kernel],
        "stride": [width.stride, height.stride],
        "pad": [width.before, width.behind, height.before, height.behind],
        "pad_value": int(rng.integers(-128, 128)),
        "split": split,
        "dst_gaps": list(dst.gaps),
    }
    return layer, dst


def _axis(rng: np.random.Generator, most: int) -> Axis:
    """Draw an axis of at most so many windows, or as few as leave one element of the cube itself."""
    kernel, stride = int(rng.integers(1, _MOST_KERNEL + 1)), int(rng.choice(_STRIDES))
    before, behind = int(rng.integers(0, kernel)), int(rng.integers(0, kernel))
    least = max(1, -(-(before + behind + 1 - kernel) // stride) + 1)
    windows = int(rng.integers(least, max(least, most) + 1))
    return Axis((windows - 1) * stride + kernel - before - behind, kernel, stride, 1, before, behind)


def _split(rng: np.random.Generator, height: Axis, width: Axis) -> int | None:
    """Draw in how many parts to cut the width, None where the line buffer is too short for all of them."""
    rows = -(-height.kernel // height.stride)
    widest = LINE_BUFFER_ELEMENTS >> (rows - 1).bit_length()
    fitting = []
    for parts in range(1, min(_MOST_PARTS, width.windows) + 1):
        middle = width.windows // parts
        first = (middle - 1) * width.stride + width.kernel - width.before
        last = width.size - first - (parts - 2) * middle * width.stride
        if width.windows - middle * (parts - 1) <= widest and (parts == 1 or min(first, last) >= 1):
            fitting.append(parts)
    if not fitting:
        return None
    return fitting[0] if rng.random() < 0.6 else int(rng.choice(fitting))
