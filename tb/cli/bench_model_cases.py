"""What ``bench model`` times: layers of well-known networks, in the precisions that the convolution core has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import conv
from models.conv import AtomOrder, ConvParams
from models.fp16 import FP16
from models.precision import Precision

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
