"""Convolutions whose sizes go to the limits of their fields and that divide the convolution buffer in any way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nvdla_models.cbuf import bank_bytes, bank_entries
from nvdla_models.config import HwConfig
from nvdla_models.conv.params import MAX_DILATION, MAX_PAD_AFTER, MAX_PAD_BEFORE, MAX_STRIDE
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from nvdla_tb.stimulus.generate.draw.conv import MOST_KERNEL, Sizes, describe, draw_format, is_read_right
from nvdla_tb.stimulus.generate.draw.numbers import Axis, Cube, draw_precision, one_of
from nvdla_tb.stimulus.generate.draw.sizes import MOST_SIDE, Drawn, draw_reaching, draw_reaching_gaps, work_of

_TRIES = 200
_IN_A_ROW = 0.3
_MOST_IN_A_ROW = 5
_IMAGES = 0.3
_DILATED = 0.3
_SMALL = 12
_FOCUSES = ("kernels", "channels", "height", "width", "window", "buffer", "border")
_MOST_LINES = 4096
"""Of what is read: the register of the lines that are given back holds no more."""

_SIDES = {"height": (_MOST_LINES, 3), "width": (3, MOST_SIDE), "buffer": (300, 300), "border": (60, 60)}
"""The longest sides, by what goes to its limit."""


@dataclass(frozen=True)
class _Found:
    """A convolution that was drawn, and what it needs of the buffer.

    Attributes:
        drawn: the layer.
        entries: of all that it reads.
        weight_bytes: bytes of all weights.
        group_bytes: bytes of a group of kernels.
    """

    drawn: Drawn
    entries: int
    weight_bytes: int
    group_bytes: int

    def in_banks(self, data: int, weight: int, **more: Any) -> Drawn:
        """Return the layer in so many banks."""
        kept = {key: value for key, value in self.drawn.layer.items() if key != "zero_percent" or not more}
        return replace(self.drawn, layer={**kept, "banks": [data, weight], **more})


def far_convs(rng: np.random.Generator, config: HwConfig, cycles: int) -> list[Drawn]:
    """Draw a convolution, or several in a row in the same banks, so that the buffer's pointers wrap.

    They must be the first ones of a scenario: what others leave in the buffer is not looked at.

    Args:
        rng: Randomness.
        config: The build.
        cycles: About how many they may take together on the narrowest build.
    """
    # The last bank holds the mask of weights that are compressed.
    banks = config.cbuf_bank_number - config.weight_compression_enable
    if rng.random() >= _IN_A_ROW:
        found = _find(rng, config, cycles, bank_bytes(config, banks - 1))
        return [] if found is None else [_divided(rng, config, found, banks)]
    count = int(rng.integers(2, _MOST_IN_A_ROW + 1))
    weight = int(rng.integers(1, banks // 2))
    drawn = [_find(rng, config, cycles // count, bank_bytes(config, weight) // count) for _ in range(count // 2 + 1)]
    different = [found for found in drawn if found is not None]
    # Those that come again make the pointers wrap more often.
    row = [different[int(rng.integers(len(different)))] for _ in range(count)] if different else []
    data = max((_banks(found.entries, config.cbuf_bank_depth) for found in row), default=0)
    data += one_of(rng, [0, 0, 1, 2])
    # Weights without padding leave nothing in front of the next ones.
    return [found.in_banks(data, weight, tight_weights=True) for found in row] if data + weight <= banks else []


def _divided(rng: np.random.Generator, config: HwConfig, found: _Found, banks: int) -> Drawn:
    """Return a convolution with banks of its own: weights whole or a group at a time, and any number to spare."""
    data, one = _banks(found.entries, config.cbuf_bank_depth), bank_bytes(config, 1)
    needed = found.weight_bytes if rng.random() < 0.5 else min(found.group_bytes, found.weight_bytes)
    least, most = _banks(needed + WEIGHT_SIZE_ALIGNMENT_BYTES, one), banks - data
    weight = one_of(rng, [least, most, int(rng.integers(least, most + 1))])
    spare = most - weight
    return found.in_banks(data + one_of(rng, [0, spare, int(rng.integers(0, spare + 1))]), weight)


def _find(rng: np.random.Generator, config: HwConfig, cycles: int, most_weight_bytes: int) -> _Found | None:
    """Draw a convolution of at most so much work and so many weights, None where none that is tried is."""
    for _ in range(_TRIES):
        sizes = _sizes(rng, config)
        if sizes is None or sizes.steps(config) > cycles:
            continue
        height, width, pixels = sizes.height, sizes.width, sizes.pixels
        kernel_bytes = sizes.channels * height.kernel * width.kernel * sizes.precision.nbytes
        weight_bytes = kernel_bytes * sizes.kernels
        if not is_read_right(config, pixels, width):
            continue
        entries = height.size * sizes.line_entries(config)
        most_banks = config.cbuf_bank_number - config.weight_compression_enable
        needed = _banks(weight_bytes + WEIGHT_SIZE_ALIGNMENT_BYTES, bank_bytes(config, 1))
        if weight_bytes > most_weight_bytes or needed + _banks(entries, bank_entries(config, 1)) > most_banks:
            continue
        layer, dst = describe(rng, config, sizes)
        src = Cube(sizes.shape, precision=sizes.precision)
        if work_of(config, layer, src, dst).cycles > cycles:
            continue
        layer["dst_gaps"] = list(draw_reaching_gaps(rng, config, dst))
        if pixels is None:
            gaps = draw_reaching_gaps(rng, config, src)
            layer = {key: value for key, value in layer.items() if key != "fetch_slices" or gaps[0] == 0}
            layer["src_gaps"] = list(gaps)
        group = kernel_bytes * config.kernel_group_size(sizes.precision)
        return _Found(Drawn(layer, src, dst), entries, weight_bytes, group)
    return None


def _sizes(rng: np.random.Generator, config: HwConfig) -> Sizes | None:
    """Draw sizes, one of which goes to its limit; None where windows and sides do not fit each other."""
    focus = one_of(rng, _FOCUSES)
    precision = draw_precision(rng, config, None)
    pixels = draw_format(rng, config, precision) if rng.random() < _IMAGES and focus != "channels" else None
    most_channels = MOST_SIDE if focus == "channels" else 64
    channels = draw_reaching(rng, most_channels) if pixels is None else pixels.channels
    kernels = draw_reaching(rng, MOST_SIDE if focus == "kernels" else 40)
    window = MOST_KERNEL if focus in ("window", "buffer") else 4
    sides = [_axis(rng, most, window, dilated=pixels is None) for most in _SIDES.get(focus, (_SMALL, _SMALL))]
    if (
        sides[0] is None
        or sides[1] is None
        or sides[0].size > _MOST_LINES
        or max(side.windows for side in sides if side) > MOST_SIDE
    ):
        return None
    return Sizes(precision, kernels, channels, sides[0], sides[1], pixels)


def _axis(rng: np.random.Generator, most: int, most_kernel: int, *, dilated: bool) -> Axis | None:
    """Draw windows along one axis, None where none fits."""
    kernel, stride = draw_reaching(rng, most_kernel), draw_reaching(rng, MAX_STRIDE)
    dilation = draw_reaching(rng, MAX_DILATION) if dilated and rng.random() < _DILATED else 1
    extent = (kernel - 1) * dilation + 1
    before, after = (_pad(rng, min(extent - 1, limit)) for limit in (MAX_PAD_BEFORE, MAX_PAD_AFTER))
    least = max(1, extent - before - after)
    return (
        None
        if least > MOST_SIDE
        else Axis(draw_reaching(rng, max(most, least), least), kernel, stride, dilation, before, after)
    )


def _pad(rng: np.random.Generator, most: int) -> int:
    """Draw padding at one side: often none, and often as much as is allowed."""
    return one_of(rng, [0, 0, most, int(rng.integers(0, most + 1))])


def _banks(amount: int, of_one: int) -> int:
    return -(-amount // of_one)
