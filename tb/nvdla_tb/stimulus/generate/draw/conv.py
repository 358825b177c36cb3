"""Convolutions of cubes and images at random, with SDP on the fly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nvdla_models.cbuf import bank_entries, feature_entries, image_entries
from nvdla_models.config import HwConfig
from nvdla_models.conv.image_limits import misread_rows, overflowing_padding
from nvdla_models.conv.params import MAX_DILATION, MAX_PAD_AFTER, MAX_PAD_BEFORE, MAX_TRUNCATE
from nvdla_models.layout import PixelFormat, pixel_format, supported_formats
from nvdla_models.layout.alignment import WEIGHT_START_ALIGNMENT_BYTES
from nvdla_models.precision import Precision
from nvdla_models.winograd_transform import TILE
from nvdla_tb.stimulus.generate.draw.numbers import (
    Axis,
    Cube,
    Description,
    draw_channels,
    draw_converter,
    draw_gaps,
    draw_kind,
    draw_numbers,
    draw_precision,
    fit_axis,
    one_of,
)
from nvdla_tb.stimulus.generate.draw.sdp import draw_output, draw_processing

_KERNELS = (1, 2, 5, 7, 8, 9, 12, 16, 17, 24, 33, 65)
_STRIDES = (1, 1, 1, 2, 2, 3, 4, 5, 6, 7, 8)
_DILATIONS = (1, 1, 1, 1, 2, 3, 7)
MOST_KERNEL = 32
_WEIGHTS = ((-128, 127), (-128, 127), (-3, 3), (-128, -127), (126, 127))
_WIDER = ((-32768, 32767), (-32768, 32767), (-300, 300), (-32768, -32767), (32766, 32767))
_WINOGRAD = 0.2
_COMPRESSED = 0.3
_BATCHED = 0.25
_TIGHT = 0.3
_SPARSE = 0.15
"""Of the weights that are not compressed: those whose size in registers is no multiple of 128 bytes."""

_SKIPPED = 0.5
"""Of weights, compressed or not: those that begin some atoms after a multiple of 256 bytes."""

_MOST_SIDE = 40
_MOST_WINDOWS = 8
_MOST_STEPS = 8000
"""Products of an atom with a group of kernels: about the cycles of a layer."""


@dataclass(frozen=True)
class Sizes:
    """The sizes of a convolution, from which the rest of its description follows.

    Attributes:
        precision: precision of cube and weights.
        kernels: their number.
        channels: channels of the input.
        height: windows along H.
        width: windows along W.
        pixels: format of an image, None for a cube.
        winograd: whether kernels are transformed.
    """

    precision: Precision
    kernels: int
    channels: int
    height: Axis
    width: Axis
    pixels: PixelFormat | None = None
    winograd: bool = False

    @property
    def shape(self) -> tuple[int, int, int]:
        """(C, H, W) of what is read."""
        return self.channels, self.height.size, self.width.size

    @property
    def out(self) -> tuple[int, int, int]:
        """(C, H, W) of what is written."""
        return self.kernels, self.height.windows, self.width.windows

    def steps(self, config: HwConfig) -> int:
        """Return the products of an atom with a group of kernels, about a cycle each."""
        taps = self.height.kernel * self.width.kernel * self.height.windows * self.width.windows
        groups = -(-self.kernels // config.kernel_group_size(self.precision))
        return taps * groups * -(-self.channels // config.mac_atomic_c_size)

    def line_entries(self, config: HwConfig) -> int:
        """Return how many entries of the convolution buffer a line takes."""
        if self.pixels is None:
            return feature_entries(config, self.precision, self.channels, self.width.size)
        padded = self.width.before + self.width.size + self.width.after
        return image_entries(config, self.precision, self.channels, padded)


def draw_conv(rng: np.random.Generator, config: HwConfig, before: Cube | None) -> tuple[Description, Cube] | None:
    """Draw a convolution, None where it cannot read what was before it."""
    precision = draw_precision(rng, config, before)
    winograd = config.winograd_enable and rng.random() < _WINOGRAD
    pixels = draw_format(rng, config, precision) if before is None and not winograd and rng.random() < 0.45 else None
    found = _axes(rng, before, pixels) if not winograd else _tiled(rng, before)
    if found is None:
        return None
    height, width = found
    if not is_read_right(config, pixels, width):
        return None
    kernels = one_of(rng, _KERNELS)
    steps = Sizes(precision, kernels, 1, height, width).steps(config)
    if before is not None:
        channels = before.shape[0]
    elif pixels is not None:
        channels = pixels.channels
    else:
        blocks = max(1, min(_MOST_STEPS // steps, 10))
        channels = draw_channels(rng, config, blocks * config.mac_atomic_c_size, precision)
    sizes = Sizes(precision, kernels, channels, height, width, pixels, winograd)
    steps = sizes.steps(config)
    padded = width.before + width.size + width.after
    data = feature_entries(config, precision, channels, padded) * (height.before + height.size + height.after)
    room = bank_entries(config, config.cbuf_bank_number // 2)
    if steps > _MOST_STEPS or data > room:
        return None
    alone = winograd or pixels is not None or before is not None
    cubes = 1 if alone else _cubes(rng, config, min(_MOST_STEPS // steps, room // data))
    layer, dst = describe(rng, config, sizes, before, cubes)
    return layer | draw_banks(rng, config), dst


def draw_banks(rng: np.random.Generator, config: HwConfig) -> Description:
    """Draw how many banks a convolution has to spare, and whether it waits for all of its weights."""
    return {
        "spare_banks": [_spare(rng, config), _spare(rng, config)],
        "all_weights": bool(rng.random() < 0.5),
    }


def describe(
    rng: np.random.Generator, config: HwConfig, sizes: Sizes, before: Cube | None = None, cubes: int = 1
) -> tuple[Description, Cube]:
    """Draw all of a convolution, or of a batch of so many cubes, but its sizes and its banks.

    It reads the cube before it, or has data of its own.
    """
    precision, pixels, height, width = sizes.precision, sizes.pixels, sizes.height, sizes.width
    out = sizes.out
    output = draw_output(rng, config, Cube(out, precision=precision))
    if sizes.winograd or output.nbytes != precision.nbytes:
        output = precision
    gaps = draw_gaps(rng, out)
    dst = Cube(out, gaps if cubes == 1 else _even(out, gaps), output)
    numbers, bits = draw_sums(rng, precision, height.kernel * width.kernel * sizes.channels)
    windows: Description = {"winograd": True}
    if not sizes.winograd:
        windows = {name: [getattr(width, name), getattr(height, name)] for name in ("kernel", "stride", "dilation")}
    elif precision is not Precision.FP16:
        windows["pre_truncate"] = int(rng.integers(0, 4))
    layer: Description = {
        "engine": "CONV",
        "kernels": sizes.kernels,
        **windows,
        "pad": [width.before, width.after, height.before, height.after],
        **numbers,
        "dst_gaps": list(dst.gaps),
        **draw_processing(rng, config, out, max(1, bits), precision, output),
    }
    if cubes > 1:
        layer["batch"] = cubes
    if config.weight_compression_enable and rng.random() < _COMPRESSED:
        layer["zero_percent"] = int(rng.integers(0, 96))
    elif rng.random() < _TIGHT:
        layer["tight_weights"] = True
    # A generator of its own: what a seed draws besides stays as it was.
    more = rng.spawn(1)[0]
    if more.random() < _SKIPPED:
        layer["weights_skip"] = int(more.integers(1, WEIGHT_START_ALIGNMENT_BYTES // config.memory_atomic_bytes))
    if precision is not Precision.FP16 and "zero_percent" not in layer and more.random() < _SPARSE:
        layer["sparse_weights"] = True
    if precision is not Precision.FP16 and rng.random() < (0.7 if pixels else 0.3):
        wild = bool(rng.random() < 0.2)
        layer["input_converter"] = draw_converter(
            rng, 16, 63, precision.bits - 1, wild=wild, result_bits=precision.bits
        )
    if pixels is not None:
        image = _image(rng, config, pixels, width, "input_converter" in layer)
        layer |= {"shape": list(sizes.shape), "image": image}
        if precision is not Precision.INT8:
            layer["precision"] = precision.value
        return layer, dst
    src = before or Cube(sizes.shape, draw_gaps(rng, sizes.shape), precision)
    if before:
        layer["chain"] = True
    else:
        kind = draw_kind(rng, precision)
        if "numbers" not in kind and more.random() < _SPARSE:
            kind["numbers"] = "sparse"
        layer |= {"shape": list(sizes.shape), "src_gaps": list(src.gaps), **kind}
    if src.gaps[0] == 0 and rng.random() < 0.5:
        layer["fetch_slices"] = int(rng.integers(1, height.size + 2))
    return layer, dst


def is_read_right(config: HwConfig, pixels: PixelFormat | None, width: Axis) -> bool:
    """Return whether the hardware takes a cube, or an image with such windows along W wherever its lines begin."""
    if pixels is None:
        return True
    if misread_rows(config, width.kernel * pixels.channels, width.windows) is not None:
        return False
    sides = width.size, width.before, width.after
    offsets = range(pixels.max_x_offset(config) + 1)
    return all(overflowing_padding(config, pixels, *sides, offset) is None for offset in offsets)


def _spare(rng: np.random.Generator, config: HwConfig) -> int:
    """Draw how many banks are to spare: often few, up to those of half the buffer."""
    return one_of(rng, [0, 1, 4, int(rng.integers(0, config.cbuf_bank_number // 2 - 1))])


def _cubes(rng: np.random.Generator, config: HwConfig, most: int) -> int:
    """Draw how many cubes a batch has, 1 for none."""
    most = min(most, config.max_batch_size)
    if most < 2 or rng.random() >= _BATCHED:
        return 1
    return min(most, one_of(rng, [2, 2, 3, int(rng.integers(2, most + 1))]))


def _even(out: tuple[int, int, int], gaps: tuple[int, int]) -> tuple[int, int]:
    """Return gaps with which lines and surfaces are even numbers of atoms; those of one pixel do not matter."""
    if out[1:] == (1, 1):
        return gaps
    return gaps[0] + (out[2] + gaps[0]) % 2, gaps[1] + gaps[1] % 2


def draw_sums(rng: np.random.Generator, precision: Precision, products: int) -> tuple[Description, int]:
    """Draw weights, padding value and truncation, and return with them the magnitude of what the sums become."""
    if precision is Precision.FP16:
        keys = {"pad_value": one_of(rng, [0, 0x3C00, 0xC500]), "weight_numbers": draw_numbers(rng)}
        return keys | {"flush_nan": bool(rng.random() < 0.2)}, 0
    limits = _WEIGHTS[int(rng.integers(len(_WEIGHTS)))]
    if precision is not Precision.INT8:
        limits = _WIDER[int(rng.integers(len(_WIDER)))]
    low, high = precision.limits
    # Products of many signs add up to about the root of their number, and those of one sign to their number.
    signs = one_of(rng, [1, 2, 2, 2])
    sums = precision.bits - 1 + max(map(abs, limits)).bit_length() + products.bit_length() // signs
    truncate = _truncate(rng, sums)
    value = one_of(rng, [0, low, high, int(rng.integers(low, high + 1))])
    return {"pad_value": value, "weights": list(limits), "truncate": truncate}, sums - truncate


def _tiled(rng: np.random.Generator, before: Cube | None) -> tuple[Axis, Axis] | None:
    """Draw H and W for Winograd; None where what was before is not made of whole tiles."""
    axes = []
    for size in before.shape[1:] if before else (0, 0):
        before_it, after = (int(side) for side in rng.integers(0, TILE, 2))
        if size == 0:
            size = one_of(rng, [8, 8, 12]) + TILE - before_it - after
        windows = size + before_it + after - TILE
        if windows < 8 or windows % TILE:
            return None
        axes.append(_Tiles(size, TILE, 1, 1, before_it, after))
    return axes[0], axes[1]


class _Tiles(Axis):
    """An axis of Winograd: its outputs are those of whole tiles, one fewer than there are windows."""

    @property
    def windows(self) -> int:
        """Output elements."""
        return self.size + self.before + self.after - TILE


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
        kernel, stride = one_of(rng, [1, 2, 3, 3, int(rng.integers(1, 9))]), one_of(rng, _STRIDES)
        dilation = one_of(rng, _DILATIONS) if dilated else 1
        if rng.random() < 0.05:
            kernel = int(rng.integers(9, MOST_KERNEL + 1))
        elif dilated and rng.random() < 0.05:
            dilation = int(rng.integers(8, MAX_DILATION + 1))
        extent = (kernel - 1) * dilation + 1
        before, after = (_pad(rng, min(extent - 1, most)) for most in (MAX_PAD_BEFORE, MAX_PAD_AFTER))
        rest = int(rng.integers(0, stride)) if rng.random() < 0.4 else 0
        size = int(rng.integers(0, _MOST_WINDOWS)) * stride + extent + rest - before - after
        if 1 <= size <= _MOST_SIDE:
            return Axis(size, kernel, stride, dilation, before, after)


def _pad(rng: np.random.Generator, most: int) -> int:
    """Draw padding at one side: often none, and often as much as is allowed."""
    return int(rng.choice([0, 0, 0, most, *rng.integers(0, most + 1, 2)]))


def _narrow(rng: np.random.Generator) -> Axis:
    """Draw a width whose kernels are narrow enough for several lines in one step."""
    kernel, stride = (int(rng.integers(1, 5)) for _ in range(2))
    before, after = (int(rng.integers(0, kernel)) for _ in range(2))
    rest = int(rng.integers(before + after, _MOST_WINDOWS * stride + before + after))
    return Axis(kernel + rest - before - after, kernel, stride, 1, before, after)


def draw_format(rng: np.random.Generator, config: HwConfig, precision: Precision) -> PixelFormat:
    """Draw a format: those of fewer channels more often, because they allow more lines in one step."""
    formats = [pixel_format(name) for name in supported_formats(config)]
    allowed = [pixels for pixels in formats if pixels.precision is precision]
    weights = np.array([1 / pixels.channels**1.5 for pixels in allowed])
    return allowed[int(rng.choice(len(allowed), p=weights / weights.sum()))]


def _truncate(rng: np.random.Generator, bits: int) -> int:
    """Draw a shift: often one that leaves 5 to 16 bits of sums of so many."""
    if rng.random() < 0.2:
        return int(rng.integers(0, MAX_TRUNCATE + 1))
    return min(max(0, bits - int(rng.integers(5, 17))), MAX_TRUNCATE)


def _image(
    rng: np.random.Generator, config: HwConfig, pixels: PixelFormat, width: Axis, converted: bool
) -> Description:
    """Draw what an image has besides its size."""
    room = config.mac_atomic_c_size // max(width.kernel, width.stride) // pixels.channels
    image: Description = {
        "format": pixels.name,
        "x_offset": int(rng.integers(0, pixels.max_x_offset(config) + 1)),
        "gaps": [one_of(rng, [0, 0, 1, 6]) for _ in pixels.planes],
        "post_extension": one_of(rng, [lines for lines in (1, 2, 4, 4) if lines == 1 or lines <= room]),
    }
    if converted:
        image["signed"] = bool(rng.random() < 0.5)
        if rng.random() < 0.5:
            image["mean"] = [int(rng.integers(-300, 300)) for _ in range(pixels.channels)]
    return image
