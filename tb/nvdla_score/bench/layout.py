"""``bench layout``: packing against a plain copy of the same bytes, and tolerances by window inputs."""

from __future__ import annotations

import argparse
import math
import os
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import partial
from typing import Any

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16
from nvdla_models.layout import (
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
from nvdla_models.layout.raw import Array
from nvdla_models.precision import Precision
from nvdla_models.tolerance import Fp16Bits, Tolerance, clip_reference, parts_used
from nvdla_models.tolerance.cdp import cdp, channel_window_maximum
from nvdla_models.tolerance.conv import Window, direct, window_sum
from nvdla_models.tolerance.pool import pdp, planar_window_maximum
from nvdla_tb.cli import numbers

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


def _random(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """Return random bit patterns."""
    size = math.prod(shape) * dtype.itemsize
    return np.random.default_rng(_SEED).integers(0, 256, size, dtype=np.uint8).view(dtype).reshape(shape)


def _directions(name: str, target: float, make: Callable[[int], tuple[Any, Array]]) -> tuple[Case, Case]:
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


def _feature(config: str, precision: Precision, nbytes: int) -> tuple[Any, Array]:
    shape = (64, nbytes // (64 * 1024 * precision.nbytes), 1024)
    return FeatureLayout.packed(HwConfig.load(config), precision, shape), _random(shape, precision.dtype)


def _feature_with_gaps(config: str, precision: Precision, nbytes: int) -> tuple[Any, Array]:
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


def _deconvolution(config: str, precision: Precision, nbytes: int) -> tuple[Any, Array]:
    shape = (nbytes // (16384 * precision.nbytes), 1024, 4, 4)
    layout = DeconvolutionWeightLayout(HwConfig.load(config), precision, shape, (2, 2))
    return layout, _random(shape, precision.dtype)


def _compressed(make: Callable[[int], tuple[KernelLayout, Array]], nbytes: int) -> tuple[Any, Array]:
    """Return weights half of which are 0."""
    layout, weights = make(nbytes)
    kept = np.random.default_rng(_SEED + 1).integers(0, 2, weights.shape, dtype=np.bool_)
    return CompressedWeightLayout(layout), np.where(kept, weights, weights.dtype.type(0))


def _pixel(config: str, name: str, nbytes: int) -> tuple[Any, Array]:
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


def _pdp_3x3(cube: Array, _: Array) -> Tolerance:
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
        for kind, cube in (("feature", _feature), ("feature with gaps", _feature_with_gaps)):
            name = f"{kind} {config} {precision.name}"
            yield from _directions(name, FEATURE_TARGET, partial(cube, config, precision))
    for config, precision in _BUILDS:
        known = _WEIGHTS if config == "nv_small" else _FULL_WEIGHTS
        for kind, make in (*known, ("deconvolution", _deconvolution)):
            name = f"weight {kind} {config} {precision.name}"
            yield from _directions(name, WEIGHT_TARGET, partial(make, config, precision))
    for config, name in _PIXELS:
        yield from _directions(f"pixel {config} {name}", PIXEL_TARGET, partial(_pixel, config, name))
    for config, precision in _BUILDS[1:]:
        for kind, make in _FULL_WEIGHTS:
            name = f"compressed {kind} {config} {precision.name}"
            weights = partial(make, config, precision)
            yield from _directions(name, COMPRESSION_TARGET, partial(_compressed, weights))
    yield Case("tolerance convolution 128x3x3", TOLERANCE_TARGET, _direct_tolerance)
    yield Case("tolerance PDP 3x3", TOLERANCE_TARGET, partial(_pool_tolerance, _pdp_3x3, 9))
    yield Case("tolerance CDP 5 channels", TOLERANCE_TARGET, partial(_pool_tolerance, _cdp_5, 5))


CASES = tuple(_all())

HELP = "packing and unpacking against ndarray.copy() of the same bytes, and tolerances by window inputs a second"

_LEAST_ROUNDS = 5
_MOST_MIB = 64


def round_options(parser: argparse.ArgumentParser, example: str) -> None:
    """Declare the options that say which cases are timed how often."""
    parser.add_argument(
        "--rounds", type=numbers.rounds, default=7, metavar="N", help="alternations, at least 5 (default: 7)"
    )
    parser.add_argument("--only", metavar="PATTERN", help=f"cases whose name matches, such as {example!r}")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this kind."""
    round_options(parser, "feature*")
    parser.add_argument(
        "--mib",
        type=numbers.whole(1, _MOST_MIB),
        default=_MOST_MIB,
        metavar="MIB",
        help=f"size of the arrays (default: {_MOST_MIB}, beyond which the hardware has no sizes)",
    )


@dataclass(frozen=True)
class Measured:
    """Medians of one case in seconds of processor time, and what counts."""

    case: Case
    seconds: float
    copy_seconds: float
    window_inputs: int

    @property
    def reached(self) -> float:
        """Ratio of a copy's time to the case's, or window inputs per second in millions."""
        if self.window_inputs:
            return self.window_inputs / self.seconds / 1e6
        return self.copy_seconds / self.seconds

    @property
    def missed(self) -> bool:
        """Whether the case is slower than its target allows."""
        return self.reached < self.case.target

    def line(self) -> str:
        """Return a line of the table."""
        unit = "M/s" if self.window_inputs else "   "
        return (
            f"{self.case.name:40} {self.seconds * 1e3:8.1f} {self.copy_seconds * 1e3:8.1f} "
            f"{self.reached:9.2f} {self.case.target:7.2f} {unit} {'NO' if self.missed else 'yes'}"
        )


def main(args: argparse.Namespace) -> int:
    """Measure, print a table and return the exit code: 0 when every target is reached, else 1.

    Raises:
        InputError: for too few rounds, or a pattern without cases.
    """
    cases = chosen(args, CASES)
    print(f"{args.mib} MiB, processor time, medians of {args.rounds} rounds, {load()} on {os.cpu_count()} CPUs")
    print(f"{'case':40} {'ms':>8} {'copy ms':>8} {'reached':>9} {'target':>7}")
    return judged(measure(case, args.mib << 20, args.rounds) for case in cases)


def chosen(args: argparse.Namespace, cases: Sequence[Any]) -> list[Any]:
    """Return the cases that the options choose.

    Raises:
        InputError: for too few rounds, or a pattern without cases.
    """
    if args.rounds < _LEAST_ROUNDS:
        raise InputError(f"--rounds must be at least {_LEAST_ROUNDS}, not {args.rounds}")
    found = [case for case in cases if args.only is None or fnmatchcase(case.name, args.only)]
    if not found:
        raise InputError(f"no case matches {args.only}; there are {', '.join(case.name for case in cases)}")
    return found


def judged(results: Iterable[Any]) -> int:
    """Print a line for each case as it ends, and how many targets are reached; return the exit code."""
    missed = []
    for result in results:
        print(result.line(), flush=True)
        missed += [] if result.missed is None else [result.missed]
    print(f"{missed.count(False)} of {len(missed)} targets reached; {load()}")
    return int(any(missed))


def load() -> str:
    """Return how busy the machine is."""
    return f"load {os.getloadavg()[0]:.1f}"


def measure(case: Case, nbytes: int, rounds: int) -> Measured:
    """Time a case and a copy of its bytes in turns, after one round that does not count."""
    work = case.prepare(nbytes)
    times = [(seconds(work.reference.copy), seconds(work.run)) for _ in range(rounds + 1)]
    copy, own = (statistics.median(taken) for taken in zip(*times[1:], strict=True))
    return Measured(case, own, copy, work.window_inputs)


def seconds(run: Callable[[], Array | object]) -> float:
    """Return the processor's time for a call, not the clock's: what else runs on the machine must not count."""
    started = time.process_time()
    result = run()
    ended = time.process_time()
    del result  # neither must freeing
    return ended - started
