"""Convolutions at random that find lines or weights of the one before in the convolution buffer."""

from __future__ import annotations

import math
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from nvdla_models.cbuf import bank_entries
from nvdla_models.config import HwConfig
from nvdla_models.layout import pixel_format
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.conv import Sizes, draw_sums, is_read_right
from nvdla_tb.stimulus.generate.draw.numbers import Axis, Cube, Description, draw_converter, draw_gaps, one_of
from nvdla_tb.stimulus.generate.draw.sdp import draw_processing
from nvdla_tb.stimulus.generate.draw.sizes import Drawn

_NOT_MEASURED = {"batch", "winograd", "zero_percent", "precision", "output_precision"}
_PARTS = (("data",), ("data",), ("weights",), ("data", "weights"))
_KERNELS = (1, 5, 8, 9, 16, 17, 24, 33)
_SIDES = (1, 1, 2, 3, 3, 5)
_STRIDES = (1, 1, 2, 3)
_DILATIONS = (1, 1, 1, 2, 3)
_MOST_FOLLOWERS = 3
_MOST_LINES = 16
_MOST_STEPS = 8000
_TRIES = 20
_FEWER = 0.15
"""Of the layers that reuse: those that convolve fewer lines, or have fewer kernels, than there are."""

_IN_VAIN = 0.15
"""Of the parts that are not reused: those that are kept all the same."""


@dataclass
class _Left:
    """The rest that the last layer can leave.

    Attributes:
        lines: that it convolved; None when there are more after them, which no later layer takes for its own.
        kernels: of its weights; None when there are more after them.
        tight: whether the size of its weights in registers ends with the last entry that they reach.
    """

    lines: int | None
    kernels: int | None
    tight: bool


def may_be_followed(layer: Description) -> bool:
    """Return whether a convolution may leave something for another one."""
    return layer["engine"] == "CONV" and "shape" in layer and _NOT_MEASURED.isdisjoint(layer)


def draw_followers(rng: np.random.Generator, config: HwConfig, first: Description) -> list[Drawn]:
    """Draw convolutions that each reuse something of the one before; what is kept for them is added to that one.

    Args:
        rng: Randomness.
        config: The configuration.
        first: The convolution before them, for which :func:`may_be_followed` holds.

    Returns:
        The layers after it, perhaps none.
    """
    followers: list[Drawn] = []
    last, left = first, _Left(first["shape"][1], first["kernels"], first.get("tight_weights", False))
    for _ in range(int(rng.integers(1, _MOST_FOLLOWERS + 1))):
        for _ in range(_TRIES):
            drawn = _follow(rng, config, last, left)
            if drawn is not None:
                break
        else:
            break
        kept, follower, left = drawn
        last.update(kept)
        followers.append(follower)
        last = follower.layer
    return followers


def _follow(
    rng: np.random.Generator, config: HwConfig, last: Description, left: _Left
) -> tuple[Description, Drawn, _Left] | None:
    """Draw one layer: what the last keeps for it, the layer, and what it can leave."""
    reuse = _PARTS[int(rng.integers(len(_PARTS)))]
    # Lines that no layer takes go away only with another number of data banks, and the weights with them.
    if left.lines is None or (left.kernels is None and "weights" in reuse):
        return None
    channels, _, width = last["shape"]
    kept: Description = {"keep": [part for part in ("weights",) if part in reuse or rng.random() < _IN_VAIN]}
    lines = left.lines
    height = convolved = int(rng.integers(1, _MOST_LINES + 1))
    released = int(rng.integers(1, lines + 1))
    whole = rng.random() < 0.5
    if whole and ("data" in reuse or rng.random() < _IN_VAIN):
        kept["keep"].append("data")
    elif "data" in reuse or rng.random() < _IN_VAIN:
        kept["release_slices"] = released
    fewer = False
    if "data" in reuse and whole:
        fewer = rng.random() < _FEWER and lines > 1
        convolved = int(rng.integers(1, lines)) if fewer else lines
    elif "data" in reuse:
        height = int(rng.integers(1, released + 1))
        convolved = lines - released + height
    elif "reuse" in last:
        # Its banks are those of an earlier layer, and no larger than its own lines need.
        height = convolved = min(height, lines)
    elif rng.random() < 0.5:
        width = int(rng.integers(1, _MOST_LINES + 1))
    layer = _layer(rng, config, last, reuse, (channels, height, width), convolved)
    if layer is None:
        return None
    kernels = layer["kernels"]
    if "weights" in reuse and left.kernels is not None and rng.random() < _FEWER and left.kernels > 1:
        kernels = layer["kernels"] = int(rng.integers(1, left.kernels))
    tight = left.tight if "weights" in reuse else bool(rng.random() < 0.3)
    if tight:
        layer["tight_weights"] = True
    out = layer.pop("out")
    precision = Precision.INT8
    products = channels * math.prod(layer["kernel"])
    numbers, bits = draw_sums(rng, precision, products)
    pads_image = "image" in layer and any(layer["pad"][:2])
    if "data" in reuse and pads_image:
        numbers["pad_value"] = last["pad_value"]
    shape = (kernels, *out)
    dst = Cube(shape, draw_gaps(rng, shape), precision)
    layer |= numbers | {"dst_gaps": list(dst.gaps)} | draw_processing(rng, config, shape, max(1, bits), precision)
    if "image" not in layer and rng.random() < 0.3:
        layer["input_converter"] = draw_converter(rng, 16, 63, 7, wild=False)
    given = "weights" in reuse and left.kernels is not None and kernels < left.kernels
    kept["spare_banks"] = [0, 0]
    follower = Drawn(layer, Cube((channels, height, width)), dst)
    return kept, follower, _Left(None if fewer else convolved, None if given else kernels, tight)


def _layer(
    rng: np.random.Generator,
    config: HwConfig,
    last: Description,
    reuse: tuple[str, ...],
    shape: tuple[int, int, int],
    lines: int,
) -> Description | None:
    """Draw input, windows and kernels; None where they do not fit, or are too many."""
    channels, height, width = shape
    image = deepcopy(last.get("image"))
    sides: tuple[int | None, int | None] = (None, None)
    kernels = one_of(rng, _KERNELS)
    if "weights" in reuse:
        sides, kernels = (last["kernel"][0], last["kernel"][1]), last["kernels"]
    pads = (last["pad"][0], last["pad"][1]) if image and "data" in reuse else None
    across = _axis(rng, width, sides[0], pads, dilated=image is None)
    down = _axis(rng, lines, sides[1], None, dilated=image is None)
    if across is None or down is None:
        return None
    pixels = None if image is None else pixel_format(image["format"])
    sizes = Sizes(Precision.INT8, kernels, channels, down, across, pixels)
    if not is_read_right(config, pixels, across):
        return None
    if image is not None and pixels is not None:
        room = config.mac_atomic_c_size // max(across.kernel, across.stride) // pixels.channels
        group = image.get("post_extension", 1)
        if group > 1 and group > room:
            if "weights" in reuse:
                return None
            image["post_extension"] = 1
    entries = max(height, lines) * sizes.line_entries(config)
    if sizes.steps(config) > _MOST_STEPS or entries > bank_entries(config, config.cbuf_bank_number // 2):
        return None
    layer: Description = {
        "engine": "CONV",
        "reuse": list(reuse),
        "shape": list(shape),
        "kernels": kernels,
        "kernel": [across.kernel, down.kernel],
        "stride": [across.stride, down.stride],
        "dilation": [across.dilation, down.dilation],
        "pad": [across.before, across.after, down.before, down.after],
        "out": (down.windows, across.windows),
    }
    if "data" in reuse:
        layer["lines"] = lines
    if image is not None:
        layer["image"] = image
        if "input_converter" in last:
            layer["input_converter"] = last["input_converter"]
    return layer


def _axis(
    rng: np.random.Generator, size: int, kernel: int | None, pads: tuple[int, int] | None, *, dilated: bool
) -> Axis | None:
    """Draw windows over so many elements, with any kernel and padding where None is given; None where none fits."""
    kernel = one_of(rng, _SIDES) if kernel is None else kernel
    dilation = one_of(rng, _DILATIONS) if dilated else 1
    extent = (kernel - 1) * dilation + 1
    before, after = pads or (int(side) for side in rng.integers(0, min(extent, 16), 2))
    if max(before, after) >= extent or size + before + after < extent:
        return None
    return Axis(size, kernel, one_of(rng, _STRIDES), dilation, before, after)
