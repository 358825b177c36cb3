"""Layers with padding around their input: numbers of each sign and size, on each side, with any rest of channels."""

from __future__ import annotations

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.conv.params import MAX_PAD_AFTER, MAX_PAD_BEFORE
from nvdla_models.layout import PixelFormat, pixel_format, supported_formats
from nvdla_models.pdp import MAX_KERNEL, PAD_VALUE_BITS
from nvdla_models.precision import Precision
from nvdla_tb.stimulus.generate.draw.conv import Sizes, describe, draw_banks, is_read_right
from nvdla_tb.stimulus.generate.draw.numbers import (
    Axis,
    Cube,
    Description,
    draw_gaps,
    draw_kind,
    draw_precision,
    one_of,
)
from nvdla_tb.stimulus.generate.draw.pdp import draw_split, pooling, windowed
from nvdla_tb.stimulus.generate.draw.sizes import Drawn

_IMAGES = 0.5
_CONVERTED = 0.3
_ONE_SIDE = 0.4
"""Of the layers: those with padding on one side alone; others have any number of elements on each."""

_DILATED = 0.2
_MOST_DILATION = 4
_MOST_KERNEL = 5
_MOST_WINDOWS = 6
_MOST_BLOCKS = 3
_KERNELS = (1, 3, 8, 9)
_LINES = (1, 2, 4)
_TRIES = 20
_WEIGHTS = ((-1, 1), (-1, 1), (-3, 3), (1, 1))
"""Small ones, so that a bit of a number of padding is not lost behind the output."""


def draw_padded(rng: np.random.Generator, config: HwConfig, engine: str) -> list[Drawn]:
    """Draw a convolution of a cube or an image, or a pooling, with padding whose numbers count, or nothing."""
    draw = {"CONV": _convolution, "PDP": _average}[engine]
    for _ in range(_TRIES):
        drawn = draw(rng, config)
        if drawn is not None:
            return [drawn]
    return []


def draw_padding_number(rng: np.random.Generator, bits: int) -> int:
    """Draw a number of so many bits that is not 0: of either sign, of any size, at an end, or one bit alone."""
    limit = 1 << (bits - 1)
    sign, power = one_of(rng, [-1, 1]), 1 << int(rng.integers(0, bits - 1))
    match int(rng.integers(3)):
        case 0:
            return one_of(rng, [-limit, 1 - limit, limit - 2, limit - 1])
        case 1:
            return sign * power
        case _:
            return sign * int(rng.integers(power, 2 * power))


def _convolution(rng: np.random.Generator, config: HwConfig) -> Drawn | None:
    precision = draw_precision(rng, config, None)
    pixels: PixelFormat | None = None
    if rng.random() < _IMAGES:
        formats = [pixel_format(name) for name in supported_formats(config)]
        of_it = [each for each in formats if each.precision is precision]
        pixels = of_it[int(rng.integers(len(of_it)))] if of_it else None
    block = config.mac_atomic_c_size
    rest = one_of(rng, [1, block - 1, block, int(rng.integers(1, block + 1))])
    channels = int(rng.integers(0, _MOST_BLOCKS)) * block + rest
    if pixels is not None:
        channels = pixels.channels
    height, width = _sides(rng, dilated=pixels is None)
    if not is_read_right(config, pixels, width):
        return None
    sizes = Sizes(precision, one_of(rng, _KERNELS), channels, height, width, pixels)
    layer, dst = describe(rng, config, sizes)
    if precision is not Precision.FP16:
        layer["pad_value"] = draw_padding_number(rng, precision.bits)
        layer |= _plain_sums(rng, precision, height.kernel * width.kernel * channels)
    if pixels is not None:
        room = config.mac_atomic_c_size // max(width.kernel, width.stride) // channels
        layer["image"] |= {"post_extension": one_of(rng, [lines for lines in _LINES if lines <= max(room, 1)])}
    if rng.random() >= _CONVERTED:
        layer = {key: value for key, value in layer.items() if key != "input_converter"}
        if pixels is not None:
            layer["image"] = {key: value for key, value in layer["image"].items() if key not in ("mean", "signed")}
    return Drawn(layer | draw_banks(rng, config), Cube(sizes.shape, precision=precision), dst)


def _plain_sums(rng: np.random.Generator, precision: Precision, products: int) -> Description:
    """Return small weights, and a truncation with which most sums of so many products fit the output."""
    low, high = _WEIGHTS[int(rng.integers(len(_WEIGHTS)))]
    bits = precision.bits - 1 + (max(abs(low), high) - 1).bit_length() + products.bit_length() // 2
    return {"weights": [low, high], "truncate": max(bits - precision.bits + int(rng.integers(-3, 1)), 0)}


def _sides(rng: np.random.Generator, *, dilated: bool) -> tuple[Axis, Axis]:
    """Draw windows along H and W with padding on one side alone, or any on each."""
    alone = int(rng.integers(4)) if rng.random() < _ONE_SIDE else None
    axes = []
    for axis in range(2):
        kernel = int(rng.integers(2, _MOST_KERNEL + 1))
        dilation = int(rng.integers(2, _MOST_DILATION + 1)) if dilated and rng.random() < _DILATED else 1
        extent = (kernel - 1) * dilation + 1
        most = [min(extent - 1, limit) for limit in (MAX_PAD_BEFORE, MAX_PAD_AFTER)]
        pads = [int(rng.integers(0, side + 1)) for side in most]
        if alone is not None:
            pads = [int(rng.integers(1, side + 1)) if alone == 2 * axis + end else 0 for end, side in enumerate(most)]
        stride = int(rng.integers(1, kernel + 1))
        windows = int(rng.integers(1, _MOST_WINDOWS + 1))
        size = max((windows - 1) * stride + extent - sum(pads), 1)
        axes.append(Axis(size, kernel, stride, dilation, pads[0], pads[1]))
    return axes[0], axes[1]


def _average(rng: np.random.Generator, config: HwConfig) -> Drawn | None:
    """Draw an average of small windows, whose padding has a number of its own for each of its widths."""
    precision = draw_precision(rng, config, None)
    if precision is Precision.FP16:
        return None
    height, width = (_padded(rng) for _ in range(2))
    split = draw_split(rng, height, width)
    if split is None:
        return None
    shape = (int(rng.integers(1, 2 * config.atom_elements(precision) + 1)), height.size, width.size)
    src = Cube(shape, draw_gaps(rng, shape), precision)
    layer, dst = pooling(rng, src, height, width)
    layer = {key: value for key, value in layer.items() if key not in ("pad_value", "pad_values", "reciprocals")}
    # Numbers of few bits are seen in the mean, those of many at the ends of it.
    bits = int(rng.integers(precision.bits, PAD_VALUE_BITS + 1))
    values = [draw_padding_number(rng, min(bits, precision.bits + 3)) for _ in range(MAX_KERNEL - 1)]
    own = {"shape": list(shape), "src_gaps": list(src.gaps), **draw_kind(rng, precision)}
    return Drawn({**layer, **own, **split, "method": "average", "pad_values": values}, src, dst)


def _padded(rng: np.random.Generator) -> Axis:
    """Draw an axis of PDP with padding on one side or both."""
    kernel = int(rng.integers(2, MAX_KERNEL + 1))
    stride = int(rng.integers(1, kernel + 1))
    before, after = (int(side) for side in rng.integers(0, kernel, 2))
    if before + after == 0:
        before = kernel - 1
    return windowed(kernel, stride, int(rng.integers(1, 5)), (before, after))
