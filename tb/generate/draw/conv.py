"""Convolutions of cubes and images at random, with SDP on the fly."""

from __future__ import annotations

import numpy as np

from models.config import HwConfig
from models.conv.params import MAX_DILATION, MAX_PAD_BEFORE, MAX_PAD_BEHIND, MAX_TRUNCATE
from models.layout import PixelFormat, pixel_format, supported_formats
from models.precision import Precision
from tb.generate.draw.numbers import (
    Axis,
    Cube,
    Description,
    draw_channels,
    draw_converter,
    draw_gaps,
    fit_axis,
)
from tb.generate.draw.sdp import draw_processing

_KERNELS = (1, 2, 5, 7, 8, 9, 12, 16, 17, 24, 33, 65)
_STRIDES = (1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8)
_DILATIONS = (1, 1, 1, 1, 2, 3, 7)
_MOST_KERNEL = 32
_WEIGHTS = ((-128, 127), (-128, 127), (-3, 3), (-128, -127), (126, 127))
_MOST_SIDE = 40
_MOST_WINDOWS = 8
_MOST_STEPS = 8000
"""Products of an atom with a group of kernels: about the cycles of a layer."""


def draw_conv(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw a convolution, None where it cannot read what was before it."""
    pixels = _format(rng, config) if before is None and rng.random() < 0.45 else None
    found = _axes(rng, before, pixels)
    if found is None:
        return None
    height, width = found
    kernels = int(rng.choice(_KERNELS))
    group = config.kernel_group_size(Precision.INT8)
    taps = height.kernel * width.kernel * height.windows * width.windows * -(-kernels // group)
    channels = _channels(rng, config, before, pixels, _MOST_STEPS // taps)
    steps = taps * -(-channels // config.mac_atomic_c_size)
    if steps > _MOST_STEPS:
        return None
    out = (kernels, height.windows, width.windows)
    dst = Cube(out, draw_gaps(rng, out))
    limits = _WEIGHTS[int(rng.integers(len(_WEIGHTS)))]
    sums = 7 + max(map(abs, limits)).bit_length() + (height.kernel * width.kernel * channels).bit_length() // 2
    truncate = _truncate(rng, sums)
    layer: Description = {
        "engine": "CONV",
        "kernels": kernels,
        "kernel": [width.kernel, height.kernel],
        "stride": [width.stride, height.stride],
        "dilation": [width.dilation, height.dilation],
        "pad": [width.before, width.behind, height.before, height.behind],
        "pad_value": int(rng.choice([0, -128, 127, int(rng.integers(-128, 128))])),
        "weights": list(limits),
        "truncate": truncate,
        "spare_banks": [int(rng.choice([0, 0, 1, 4])), int(rng.choice([0, 0, 1, 4]))],
        "all_weights": bool(rng.random() < 0.5),
        "dst_gaps": list(dst.gaps),
        **draw_processing(rng, out, max(1, sums - truncate)),
    }
    if rng.random() < (0.7 if pixels else 0.3):
        layer["input_converter"] = draw_converter(rng, 16, 63, 7, wild=bool(rng.random() < 0.2))
    shape = (channels, height.size, width.size)
    if pixels is not None:
        layer |= {"shape": list(shape), "image": _image(rng, config, pixels, width, "input_converter" in layer)}
        return layer, dst
    src = before or Cube(shape, draw_gaps(rng, shape))
    layer |= {"chain": True} if before else {"shape": list(shape), "src_gaps": list(src.gaps)}
    if src.gaps[0] == 0 and rng.random() < 0.5:
        layer["fetch_slices"] = int(rng.integers(1, height.size + 2))
    return layer, dst


def _axes(rng: np.random.Generator, before: Cube | None, pixels: PixelFormat | None) -> tuple[Axis, Axis] | None:
    """Draw H and W; None where the windows do not fit what was before."""
    drawn = [_axis(rng, dilated=pixels is None) for _ in range(2)]
    if pixels is not None and pixels.channels == 1 and rng.random() < 0.5:
        drawn[1] = _narrow(rng)
    if before is not None:
        fitted = [fit_axis(rng, size, axis, exact=False) for size, axis in zip(before.shape[1:], drawn, strict=True)]
        drawn = [axis for axis in fitted if axis is not None]
    return (drawn[0], drawn[1]) if len(drawn) == 2 else None


def _axis(rng: np.random.Generator, *, dilated: bool) -> Axis:
    while True:
        kernel, stride = int(rng.choice([1, 2, 3, 3, int(rng.integers(1, 9))])), int(rng.choice(_STRIDES))
        dilation = int(rng.choice(_DILATIONS)) if dilated else 1
        if rng.random() < 0.05:
            kernel = int(rng.integers(9, _MOST_KERNEL + 1))
        elif dilated and rng.random() < 0.05:
            dilation = int(rng.integers(8, MAX_DILATION + 1))
        extent = (kernel - 1) * dilation + 1
        before, behind = (_pad(rng, min(extent - 1, most)) for most in (MAX_PAD_BEFORE, MAX_PAD_BEHIND))
        rest = int(rng.integers(0, stride)) if rng.random() < 0.4 else 0
        size = int(rng.integers(0, _MOST_WINDOWS)) * stride + extent + rest - before - behind
        if 1 <= size <= _MOST_SIDE:
            return Axis(size, kernel, stride, dilation, before, behind)


def _pad(rng: np.random.Generator, most: int) -> int:
    """Draw padding at one side: often none, and often as much as is allowed."""
    return int(rng.choice([0, 0, 0, most, *rng.integers(0, most + 1, 2)]))


def _narrow(rng: np.random.Generator) -> Axis:
    """Draw a width whose kernels are narrow enough for several lines in one step."""
    kernel, stride = (int(rng.integers(1, 5)) for _ in range(2))
    before, behind = (int(rng.integers(0, kernel)) for _ in range(2))
    rest = int(rng.integers(before + behind, _MOST_WINDOWS * stride + before + behind))
    return Axis(kernel + rest - before - behind, kernel, stride, 1, before, behind)


def _format(rng: np.random.Generator, config: HwConfig) -> PixelFormat:
    """Draw a format: those of fewer channels more often, because they allow more lines in one step."""
    formats = [pixel_format(name) for name in supported_formats(config)]
    allowed = [pixels for pixels in formats if pixels.precision is Precision.INT8]
    weights = np.array([1 / pixels.channels**1.5 for pixels in allowed])
    return allowed[int(rng.choice(len(allowed), p=weights / weights.sum()))]


def _channels(
    rng: np.random.Generator, config: HwConfig, before: Cube | None, pixels: PixelFormat | None, most_blocks: int
) -> int:
    if before is not None:
        return before.shape[0]
    if pixels is not None:
        return pixels.channels
    return draw_channels(rng, config, most=max(1, min(most_blocks, 10)) * config.mac_atomic_c_size)


def _truncate(rng: np.random.Generator, bits: int) -> int:
    """Draw a shift: often one that leaves 5 to 16 bits of sums of so many."""
    if rng.random() < 0.2:
        return int(rng.integers(0, MAX_TRUNCATE + 1))
    return max(0, bits - int(rng.integers(5, 17)))


def _image(
    rng: np.random.Generator, config: HwConfig, pixels: PixelFormat, width: Axis, converted: bool
) -> Description:
    """Draw what an image has besides its size."""
    room = config.mac_atomic_c_size // max(width.kernel, width.stride) // pixels.channels
    image: Description = {
        "format": pixels.name,
        "x_offset": int(rng.integers(0, pixels.max_x_offset(config) + 1)),
        "gaps": [int(rng.choice([0, 0, 1, 6])) for _ in pixels.planes],
        "post_extension": int(rng.choice([lines for lines in (1, 2, 4, 4) if lines == 1 or lines <= room])),
    }
    if converted:
        image["signed"] = bool(rng.random() < 0.5)
        if rng.random() < 0.5:
            image["mean"] = [int(rng.integers(-300, 300)) for _ in range(pixels.channels)]
    return image
