"""What ``bench layout`` times: every format in the builds and precisions that matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from models.config import HwConfig
from models.fp16 import FP16
from models.layout import (
    CompressedWeightLayout,
    DeconvolutionWeightLayout,
    FeatureLayout,
    ImageWeightLayout,
    KernelLayout,
    PixelLayout,
    WeightLayout,
    WinogradWeightLayout,
    pixel_format,
)
from models.layout.raw import Array
from models.precision import Precision
from models.tolerance import Fp16Bits, Tolerance, clip_reference, parts_used
from models.tolerance_cdp import cdp, channel_window_maximum
from models.tolerance_conv import Window, direct, window_sum
from models.tolerance_pool import pdp, planar_window_maximum

FEATURE_TARGET, WEIGHT_TARGET, PIXEL_TARGET, COMPRESSION_TARGET = 0.25, 0.2, 0.1, 0.05

#: Window inputs per second, in millions.
TOLERANCE_TARGET = 20.0

_SEED = 1


@dataclass(frozen=True)
class Work:
    """What is timed, the array whose copy is the reference, and the window inputs of a tolerance."""

    run: Callable[[], object]
    reference: Array
    window_inputs: int = 0


@dataclass(frozen=True)
class Case:
    """A name, the least that must be reached, and how the work for arrays of so many bytes is made."""

    name: str
    target: float
    prepare: Callable[[int], Work]


class Packer(Protocol):
    """What every layout class has."""

    @property
    def pack(self) -> Callable[..., Any]:
        """From a tensor to one or more surfaces."""

    @property
    def unpack(self) -> Callable[..., Any]:
        """From the surfaces to the tensor."""


def _random(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return random bit patterns."""
    size = math.prod(shape) * dtype.itemsize
    return np.random.default_rng(_SEED).integers(0, 256, size, dtype=np.uint8).view(dtype).reshape(shape)


def _directions(name: str, target: float, make: Callable[[int], tuple[Packer, Array]]) -> tuple[Case, Case]:
    """Return the cases of both directions; compressed weights are measured by their uncompressed bytes."""

    def pack(nbytes: int) -> Work:
        layout, tensor = make(nbytes)
        packed = layout.pack(tensor)
        return Work(lambda: layout.pack(tensor), tensor if isinstance(packed, tuple) else packed)

    def unpack(nbytes: int) -> Work:
        layout, tensor = make(nbytes)
        packed = layout.pack(tensor)
        if isinstance(packed, tuple):
            return Work(lambda: layout.unpack(*packed), tensor)
        return Work(lambda: layout.unpack(packed), packed)

    return Case(f"{name}, pack", target, pack), Case(f"{name}, unpack", target, unpack)


def _feature(config: str, precision: Precision, nbytes: int) -> tuple[Packer, Array]:
    shape = (64, nbytes // (64 * 1024 * precision.nbytes), 1024)
    return FeatureLayout.packed(HwConfig.load(config), precision, shape), _random(shape, precision.dtype)


def _feature_with_gaps(config: str, precision: Precision, nbytes: int) -> tuple[Packer, Array]:
    """Return a cube with a partial atom and gaps after lines and surfaces."""
    shape = (61, nbytes // (64 * 1024 * precision.nbytes), 1000)
    line = HwConfig.load(config).memory_atomic_bytes * 1024
    layout = FeatureLayout(HwConfig.load(config), precision, shape, line, line * (shape[1] + 1))
    return layout, _random(shape, precision.dtype)


def _direct(config: str, precision: Precision, nbytes: int) -> tuple[KernelLayout, Array]:
    shape = (nbytes // (1024 * 9 * precision.nbytes), 1024, 3, 3)
    return WeightLayout(HwConfig.load(config), precision, shape), _random(shape, precision.dtype)


def _image(config: str, precision: Precision, nbytes: int) -> tuple[KernelLayout, Array]:
    layout = ImageWeightLayout(HwConfig.load(config), precision, (nbytes // (16 << 10), 16 // precision.nbytes, 32, 32))
    return layout, layout.pre_extend(_random(layout.shape, precision.dtype))


def _winograd(config: str, precision: Precision, nbytes: int) -> tuple[KernelLayout, Array]:
    layout = WinogradWeightLayout(HwConfig.load(config), precision, (nbytes // (16384 * precision.nbytes), 1024, 3, 3))
    return layout, _random(layout.packed_shape, precision.dtype)


def _deconvolution(config: str, precision: Precision, nbytes: int) -> tuple[Packer, Array]:
    shape = (nbytes // (16384 * precision.nbytes), 1024, 4, 4)
    layout = DeconvolutionWeightLayout(HwConfig.load(config), precision, shape, (2, 2))
    return layout, _random(shape, precision.dtype)


def _compressed(make: Callable[[int], tuple[KernelLayout, Array]], nbytes: int) -> tuple[Packer, Array]:
    """Return weights half of which are 0."""
    layout, weights = make(nbytes)
    kept = np.random.default_rng(_SEED + 1).integers(0, 2, weights.shape, dtype=np.bool_)
    return CompressedWeightLayout(layout), np.where(kept, weights, weights.dtype.type(0))


def _pixel(config: str, name: str, nbytes: int) -> tuple[Packer, Array]:
    pixels = pixel_format(name)
    width = 8192
    shape = (pixels.channels, nbytes // (width * sum(plane.pixel_bytes for plane in pixels.planes)), width)
    image = _random(shape, pixels.element_dtype)
    for channel in range(pixels.channels):
        bits = pixels.field(channel)[1].bits
        if bits < 8 * image.itemsize:
            image[channel] &= (1 << bits) - 1
    return PixelLayout.packed(HwConfig.load(config), name, shape), image


def _patterns(values: Array) -> Fp16Bits:
    return FP16.encode(values).astype(np.uint16, copy=False)


def _direct_tolerance(nbytes: int) -> Work:
    """Judge a 3x3 convolution of 128 channels: allowance of every output, and the comparison."""
    rng = np.random.default_rng(_SEED)
    shape = (128, nbytes // (128 * 512 * 2), 512)
    data = _patterns(rng.normal(size=shape))
    weight = _patterns(rng.normal(size=(16, 128, 3, 3)))
    window = Window(pad_top=1, pad_bottom=1, pad_left=1, pad_right=1)
    expected = window_sum(FP16.decode(data), FP16.decode(weight), window)
    actual = _patterns(clip_reference(expected))
    inputs = expected.size * 128 * 9
    return Work(lambda: parts_used(expected, actual, direct(data, weight, window, expected)), data, inputs)


def _pool_tolerance(rule: Callable[[Array, Array], Tolerance], window_inputs: int, nbytes: int) -> Work:
    """Judge a cube that is its own reference: the time does not depend on the values."""
    cube = np.random.default_rng(_SEED).normal(size=(128, nbytes // (128 * 256 * 8), 256))
    actual = _patterns(cube)
    return Work(lambda: parts_used(cube, actual, rule(cube, cube)), cube, cube.size * window_inputs)


def _pdp_3x3(cube: Array, expected: Array) -> Tolerance:
    del expected
    window = Window(pad_top=1, pad_bottom=1, pad_left=1, pad_right=1)
    return pdp(planar_window_maximum(cube, 3, 3, window))


def _cdp_5(cube: Array, expected: Array) -> Tolerance:
    return cdp(channel_window_maximum(cube, 5), expected)


_BUILDS = (("nv_small", Precision.INT8), ("nv_full", Precision.INT8), ("nv_full", Precision.FP16))
_PIXELS = (
    ("nv_small", "T_R8"),
    ("nv_small", "T_A8R8G8B8"),
    ("nv_small", "T_Y8___U8V8_N444"),
    ("nv_full", "T_A2R10G10B10"),
    ("nv_full", "T_A16B16G16R16_F"),
)
_WEIGHTS = (("direct", _direct), ("image", _image))
_FULL_WEIGHTS = (*_WEIGHTS, ("winograd", _winograd))


def _all() -> Iterator[Case]:
    for config, precision in _BUILDS:
        build = f"{config} {precision.name}"
        yield from _directions(f"feature {build}", FEATURE_TARGET, partial(_feature, config, precision))
        yield from _directions(
            f"feature with gaps {build}", FEATURE_TARGET, partial(_feature_with_gaps, config, precision)
        )
    for config, precision in _BUILDS:
        build = f"{config} {precision.name}"
        for kind, make in _WEIGHTS if config == "nv_small" else _FULL_WEIGHTS:
            yield from _directions(f"weight {kind} {build}", WEIGHT_TARGET, partial(make, config, precision))
        yield from _directions(
            f"weight deconvolution {build}", WEIGHT_TARGET, partial(_deconvolution, config, precision)
        )
    for config, name in _PIXELS:
        yield from _directions(f"pixel {config} {name}", PIXEL_TARGET, partial(_pixel, config, name))
    for config, precision in _BUILDS[1:]:
        for kind, make in _FULL_WEIGHTS:
            yield from _directions(
                f"compressed {kind} {config} {precision.name}",
                COMPRESSION_TARGET,
                partial(_compressed, partial(make, config, precision)),
            )
    yield Case("tolerance convolution 128x3x3", TOLERANCE_TARGET, _direct_tolerance)
    yield Case("tolerance PDP 3x3", TOLERANCE_TARGET, partial(_pool_tolerance, _pdp_3x3, 9))
    yield Case("tolerance CDP 5 channels", TOLERANCE_TARGET, partial(_pool_tolerance, _cdp_5, 5))


CASES = tuple(_all())
