"""``bench model``: convolutions of the reference model against PyTorch's ``conv2d`` in float32 on the CPU."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import conv
from nvdla_models.conv import AtomOrder, ConvParams
from nvdla_models.fp16 import FP16
from nvdla_models.precision import Precision
from nvdla_score.bench.layout import chosen, judged, load, round_options, seconds

TARGET = 0.5
"""Least part of PyTorch's speed."""

_SEED = 1
_ATOM = 64


@dataclass(frozen=True)
class Shape:
    """A convolution: (C, H, W), (K, C, R, S), stride and padding on all sides."""

    name: str
    cube: tuple[int, int, int]
    weights: tuple[int, int, int, int]
    stride: int
    padding: int

    def params(self, precision: Precision) -> ConvParams:
        """Return the layer in a precision."""
        stride, pad = self.stride, self.padding
        return ConvParams(stride, stride, 1, 1, pad, pad, pad, pad, 0, 0, precision)

    @property
    def products(self) -> int:
        """Multiplications of the layer."""
        kernels, height, width = self.params(Precision.INT8).output_shape(self.cube, self.weights)
        return height * width * kernels * int(np.prod(self.weights[1:]))


@dataclass(frozen=True)
class Work:
    """What is timed, and the float32 operands of the same shape that the reference multiplies."""

    run: Callable[[], object]
    cube: NDArray[np.float32]
    weights: NDArray[np.float32]


@dataclass(frozen=True)
class Case:
    """A name, the least that must be reached or None, the shape, how the work is made, whether it is in float64."""

    name: str
    target: float | None
    shape: Shape
    prepare: Callable[[], Work]
    float64: bool = False


def _integers(shape: Shape, precision: Precision) -> Work:
    rng = np.random.default_rng(_SEED)
    cube, weights = (
        rng.integers(*precision.limits, size, dtype=precision.dtype, endpoint=True)
        for size in (shape.cube, shape.weights)
    )
    params = shape.params(precision)
    return Work(lambda: conv.run(params, cube, weights), cube.astype(np.float32), weights.astype(np.float32))


def _numbers(shape: Shape, run: Callable[[ConvParams, NDArray[Any], NDArray[Any]], object]) -> Work:
    rng = np.random.default_rng(_SEED)
    cube, weights = (rng.normal(size=size).astype(np.float32) for size in (shape.cube, shape.weights))
    patterns = [FP16.encode(values.astype(np.float64)).astype(np.uint16, copy=False) for values in (cube, weights)]
    params = shape.params(Precision.FP16)
    return Work(lambda: run(params, *patterns), cube, weights)


def _exact(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any]) -> object:
    return conv.run_exact(params, cube, weights, AtomOrder(_ATOM))


SHAPES = (
    Shape("64x56x56 by 64 of 3x3", (64, 56, 56), (64, 64, 3, 3), 1, 1),
    Shape("256x14x14 by 256 of 3x3", (256, 14, 14), (256, 256, 3, 3), 1, 1),
    Shape("3x224x224 by 64 of 7x7, stride 2", (3, 224, 224), (64, 3, 7, 7), 2, 3),
    Shape("512x14x14 by 1024 of 1x1", (512, 14, 14), (1024, 512, 1, 1), 1, 0),
    Shape("128x28x28 by 128 of 5x5", (128, 28, 28), (128, 128, 5, 5), 1, 2),
)
_SMALL = Shape("32x14x14 by 32 of 3x3", (32, 14, 14), (32, 32, 3, 3), 1, 1)


def _all() -> Iterator[Case]:
    for shape in SHAPES:
        yield Case(f"INT8 {shape.name}", TARGET, shape, partial(_integers, shape, Precision.INT8))
    for shape in SHAPES:
        yield Case(f"FP16 {shape.name}", TARGET, shape, partial(_numbers, shape, conv.run_float64), float64=True)
    for shape in SHAPES:
        yield Case(f"INT16 {shape.name}", None, shape, partial(_integers, shape, Precision.INT16))
    yield Case(f"FP16 bit by bit {_SMALL.name}", None, _SMALL, partial(_numbers, _SMALL, _exact))


CASES = tuple(_all())

HELP = "convolutions of the model against PyTorch's conv2d in float32 on the same shapes"

_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
_MISSING = (
    "PyTorch is not installed: nothing is compared and no target is judged (pip install torch; it is no requirement)"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of this kind."""
    round_options(parser, "INT8*")


@dataclass(frozen=True)
class Measured:
    """The best times of one case in seconds of processor time, and of the reference in float32 and float64, if any."""

    case: Case
    seconds: float
    reference_seconds: float | None = None
    float64_seconds: float | None = None

    @property
    def reached(self) -> float | None:
        """Part of the reference's speed."""
        return None if self.reference_seconds is None else self.reference_seconds / self.seconds

    @property
    def missed(self) -> bool | None:
        """Whether the case is slower than its target allows; None when nothing is judged."""
        if self.reached is None or self.case.target is None:
            return None
        return self.reached < self.case.target

    def line(self) -> str:
        """Return a line of the table."""
        references = (
            "-" if seconds is None else f"{seconds * 1e3:.1f}"
            for seconds in (self.reference_seconds, self.float64_seconds)
        )
        reached, target = ("-" if part is None else f"{part:.2f}" for part in (self.reached, self.case.target))
        verdict = {None: "", True: "NO", False: "yes"}[self.missed]
        rate = self.case.shape.products / self.seconds / 1e9
        own = f"{self.case.name:42} {self.seconds * 1e3:8.1f} {rate:8.2f}"
        return f"{own} {' '.join(f'{time:>10}' for time in references)} {reached:>8} {target:>7} {verdict}".rstrip()


def main(args: argparse.Namespace) -> int:
    """Measure, print a table and return the exit code: 0 when every target is reached, else 1.

    Both sides get one thread, which numpy is only told when it starts: in a process of its own. Without PyTorch the
    model is timed alone, and the exit code is 0.

    Raises:
        InputError: for too few rounds, or a pattern without cases.
    """
    cases = chosen(args, CASES)
    if any(os.environ.get(name) != "1" for name in _THREADS):
        command = [sys.executable, "-m", "nvdla_tb", "bench", "model", "--rounds", str(args.rounds)]
        command += ["--only", args.only] if args.only else []
        return subprocess.run(command, env=os.environ | dict.fromkeys(_THREADS, "1"), check=False).returncode
    torch = load_torch()
    against = _MISSING
    if torch is not None:
        against = f"PyTorch {torch.__version__}, conv2d; what is reached is of its speed in float32"
    about = f"processor time on one thread, best of {args.rounds} rounds, {load()} on {os.cpu_count()} CPUs"
    print(f"{about}\n{against}")
    print(f"{'case':42} {'ms':>8} {'GMAC/s':>8} {'float32 ms':>10} {'float64 ms':>10} {'reached':>8} {'target':>7}")
    return judged(measure(case, torch, args.rounds) for case in cases)


def load_torch() -> Any | None:
    """Return PyTorch, or None where it is not installed."""
    try:
        import torch
    except ModuleNotFoundError:
        return None
    return torch


def measure(case: Case, torch: Any | None, rounds: int) -> Measured:
    """Time a case and the reference in turns, after one round that does not count."""
    work = case.prepare()
    runs = [work.run]
    if torch is not None:
        types = (np.float32, np.float64) if case.float64 else (np.float32,)
        runs += [_reference(case, work.cube.astype(dtype), work.weights.astype(dtype), torch) for dtype in types]
    times = [[seconds(run) for run in runs] for _ in range(rounds + 1)]
    # What else runs on the machine can only slow a round down.
    return Measured(case, *(min(seconds) for seconds in zip(*times[1:], strict=True)))


def _reference(case: Case, cube: NDArray[Any], weights: NDArray[Any], torch: Any) -> Callable[[], object]:
    cube, weights = torch.from_numpy(cube)[None], torch.from_numpy(weights)
    conv2d, stride, padding = torch.nn.functional.conv2d, case.shape.stride, case.shape.padding
    return lambda: conv2d(cube, weights, stride=stride, padding=padding)
