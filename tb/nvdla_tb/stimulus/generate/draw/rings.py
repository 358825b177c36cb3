"""Convolutions whose lines, or whose weights, end one entry below, at, or above the end of their banks."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from nvdla_models.cbuf import bank_bytes, bank_entries
from nvdla_models.config import HwConfig
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from nvdla_tb.stimulus.generate.draw.conv import Sizes, describe, draw_format, is_read_right
from nvdla_tb.stimulus.generate.draw.numbers import Axis, Cube, draw_precision, one_of
from nvdla_tb.stimulus.generate.draw.sizes import MOST_SIDE, Drawn

_OF_WEIGHTS = 0.25
_IMAGES = 0.4
_MANY_BANKS = 0.4
"""Of the divisions: those that give data three quarters of the buffer or more."""

_BESIDE_THE_END = (-1, 0, 0, 1, 1)
"""Entries from the end of the banks to the end of what is in them."""

_MOST_LINES = 4096
_KERNELS = (1, 7, 8, 9, 16)
_WINDOWS = (1, 1, 2, 3)
_MOST_OUTPUTS = 200
_MOST_STRIDE = 8
_TRIES = 80
_SMALL = 12


def draw_rings(rng: np.random.Generator, config: HwConfig) -> list[Drawn]:
    """Draw convolutions that use banks up to their end, or nothing where none that is tried fits.

    Lines of several layers go round in the same data banks, of any number, and one layer follows after the end. The
    weights of one layer fill their banks, or come again from the start. They must be the first layers of a scenario.

    Args:
        rng: Randomness.
        config: The build.
    """
    # The last bank holds the mask of weights that are compressed.
    banks = config.cbuf_bank_number - config.weight_compression_enable
    # Chosen once: most of what is tried does not fit beside much data.
    least = 3 * config.cbuf_bank_number // 4 if rng.random() < _MANY_BANKS else 1
    data = int(rng.integers(least, banks))
    of_weights = rng.random() < _OF_WEIGHTS
    for _ in range(_TRIES):
        found = _weights(rng, config, banks) if of_weights else _lines(rng, config, data, banks - data)
        if found:
            return found
    return []


def _lines(rng: np.random.Generator, config: HwConfig, data: int, left: int) -> list[Drawn]:
    """Draw layers in a row in so many data banks: all but the last end with them, and the last begins there."""
    weight = int(rng.integers(1, left + 1))
    ring = bank_entries(config, data)
    count = int(rng.integers(2, 4))
    share = ring // count
    sizes = [_shape(rng, int(rng.integers(share // 2, share + 1))) for _ in range(count - 1)]
    rest = ring - sum(map(math.prod, sizes)) + one_of(rng, _BESIDE_THE_END)
    last = _exact_shape(rng, rest)
    if last is None:
        return []
    sizes += [last, _shape(rng, int(rng.integers(1, min(share, 64) + 1)))]
    most = bank_bytes(config, weight) // len(sizes)
    drawn = [_convolution(rng, config, shape, most) for shape in sizes]
    found = [each for each in drawn if each is not None]
    return [_in_banks(each, data, weight) for each in found] if len(found) == len(drawn) else []


def _shape(rng: np.random.Generator, entries: int) -> tuple[int, int, int]:
    """Draw entries per pixel, lines and columns that are about so many entries."""
    pixel = one_of(rng, [1, 1, 2, 3])
    pixels = max(entries // pixel, 1)
    height = int(rng.integers(1, math.isqrt(pixels) + 1))
    height = min(max(height, -(-pixels // MOST_SIDE)), _MOST_LINES)
    return pixel, height, pixels // height


def _exact_shape(rng: np.random.Generator, entries: int) -> tuple[int, int, int] | None:
    """Draw entries per pixel, lines and columns that are exactly so many entries; None where the sides get too long."""
    pixel = one_of(rng, [each for each in (1, 2, 3) if entries % each == 0])
    pixels = entries // pixel
    sides = np.arange(1, min(pixels, _MOST_LINES) + 1)
    fitting = sides[(pixels % sides == 0) & (pixels // sides <= MOST_SIDE)].tolist()
    height = one_of(rng, fitting) if fitting else 0
    return (pixel, height, pixels // height) if height else None


def _convolution(
    rng: np.random.Generator, config: HwConfig, shape: tuple[int, int, int], most_bytes: int
) -> Drawn | None:
    """Draw a convolution with so many entries a pixel, lines and columns, with few weights and few outputs.

    It is of an image, where that is drawn and one has lines of as many entries.
    """
    precision = draw_precision(rng, config, None)
    pixel, *lengths = shape
    entry = config.cbuf_bank_width_bytes // precision.nbytes
    # Any of the last atom's channels take the entry.
    channels = pixel * entry - int(rng.integers(0, config.atom_elements(precision)))
    height, width = (_axis(rng, length) for length in lengths)
    sizes = Sizes(precision, one_of(rng, _KERNELS), channels, height, width)
    if rng.random() < _IMAGES:
        sizes = _image(rng, config, sizes, pixel * width.size) or sizes
        height, width = sizes.height, sizes.width
    nbytes = sizes.kernels * sizes.channels * height.kernel * width.kernel * precision.nbytes
    if nbytes + WEIGHT_SIZE_ALIGNMENT_BYTES > most_bytes or height.windows * width.windows > _MOST_OUTPUTS:
        return None
    return _described(rng, config, sizes)


def _image(rng: np.random.Generator, config: HwConfig, sizes: Sizes, entries: int) -> Sizes | None:
    """Return the convolution of an image instead, whose lines take so many entries; None where no width does."""
    pixels = draw_format(rng, config, sizes.precision)
    columns = entries * config.cbuf_bank_width_bytes // (pixels.channels * sizes.precision.nbytes)
    if not 1 <= columns <= MOST_SIDE:
        return None
    found = replace(sizes, channels=pixels.channels, width=_axis(rng, columns, padded=False), pixels=pixels)
    fits = found.line_entries(config) == entries and is_read_right(config, pixels, found.width)
    return found if fits else None


def _axis(rng: np.random.Generator, length: int, *, padded: bool = True) -> Axis:
    """Draw windows along an axis: wide apart where it is long."""
    kernel = min(one_of(rng, _WINDOWS), length)
    most = _MOST_STRIDE if length > _SMALL else 2
    before, after = (int(side) for side in rng.integers(0, kernel, 2)) if padded else (0, 0)
    return Axis(length, kernel, int(rng.integers((most + 1) // 2, most + 1)), 1, before, after)


def _weights(rng: np.random.Generator, config: HwConfig, banks: int) -> list[Drawn]:
    """Draw a layer whose weights end beside the end of their banks, and which may have lines for all others."""
    weight = int(rng.integers(1, banks))
    precision = draw_precision(rng, config, None)
    nbytes = bank_bytes(config, weight) + config.cbuf_bank_width_bytes * one_of(rng, _BESIDE_THE_END)
    group = config.kernel_group_size(precision)
    kernel = tuple(int(side) for side in rng.choice([1, 1, 2, 3, 5], 2))
    taps = kernel[0] * kernel[1] * precision.nbytes
    if nbytes % taps:
        return []
    counts = [count for count in range(2 * group, min(nbytes // taps, MOST_SIDE) + 1) if nbytes // taps % count == 0]
    counts = [count for count in counts if nbytes // taps // count <= MOST_SIDE]
    if not counts:
        return []
    kernels = counts[int(rng.integers(len(counts)))]
    channels = nbytes // taps // kernels
    axes = [Axis(side + int(rng.integers(0, 3)), side, 1, 1, 0, 0) for side in kernel]
    sizes = Sizes(precision, kernels, channels, axes[1], axes[0])
    entries = sizes.height.size * sizes.line_entries(config)
    data = -(-entries // config.cbuf_bank_depth)
    outputs = sizes.height.windows * sizes.width.windows * -(-kernels // group)
    fits = nbytes // kernels * group + WEIGHT_SIZE_ALIGNMENT_BYTES <= bank_bytes(config, weight)
    if data + weight > banks or outputs > 2 * _MOST_OUTPUTS or not fits:
        return []
    data += one_of(rng, [0, banks - weight - data])
    return [_in_banks(_described(rng, config, sizes), data, weight)]


def _described(rng: np.random.Generator, config: HwConfig, sizes: Sizes) -> Drawn:
    layer, dst = describe(rng, config, sizes)
    return Drawn(layer, Cube(sizes.shape, precision=sizes.precision), dst)


def _in_banks(drawn: Drawn, data: int, weight: int) -> Drawn:
    """Return a layer in so many banks, whose weights leave nothing after them."""
    kept = {key: value for key, value in drawn.layer.items() if key != "zero_percent"}
    return replace(drawn, layer={**kept, "banks": [data, weight], "tight_weights": True})
