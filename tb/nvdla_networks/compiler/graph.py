"""A network of floating-point operations on cubes, as the compiler sees it.

Every value is a cube (C, H, W) of one image; a vector is (C, 1, 1). Constants belong to the operations that take them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.activation import Function
from nvdla_networks.network import Largest, Softmax
from nvdla_networks.tensors import Order

Shape = tuple[int, int, int]
Interval = tuple[float, float]
"""The least and the most of something."""

Floats = NDArray[np.float64]

MAX_SIDE = 1 << 13
"""The largest side of a cube."""


@dataclass(frozen=True)
class Window:
    """How a kernel moves over a cube; pairs are (along H, along W), and padding lies before and after the cube."""

    kernel: tuple[int, int]
    stride: tuple[int, int] = (1, 1)
    before: tuple[int, int] = (0, 0)
    after: tuple[int, int] = (0, 0)
    dilation: tuple[int, int] = (1, 1)

    def span(self, axis: int) -> int:
        """Return how many elements a window covers along H (0) or W (1)."""
        return (self.kernel[axis] - 1) * self.dilation[axis] + 1

    def output(self, axis: int, size: int) -> int:
        """Return how many windows fit along H (0) or W (1)."""
        return (size + self.before[axis] + self.after[axis] - self.span(axis)) // self.stride[axis] + 1


@dataclass(frozen=True, eq=False)
class Conv:
    """A convolution; a fully connected layer has kernels as large as its input.

    Attributes:
        weights: (K, C of a group, R, S).
        bias: (K,).
        window: How the kernels move.
        groups: Parts of the channels that do not see each other.
        weight_scales: Value of a step of each kernel's integers, (K,), where the file says so.
    """

    weights: Floats
    bias: Floats
    window: Window
    groups: int = 1
    weight_scales: Floats | None = None


@dataclass(frozen=True, eq=False)
class Affine:
    """``x * scale + shift`` for each channel, both (C,)."""

    scale: Floats
    shift: Floats


@dataclass(frozen=True)
class Clip:
    """Elements below ``least`` become that, and those above ``most``; as it is, a ReLU."""

    least: float = 0.0
    most: float = math.inf


@dataclass(frozen=True, eq=False)
class PRelu:
    """Negative elements are multiplied by the slope of their channel, (C,)."""

    slope: Floats


@dataclass(frozen=True, eq=False)
class Table:
    """A function of each element, by the lookup tables of SDP."""

    function: Function


@dataclass(frozen=True)
class Add:
    """The sum of two cubes; the second may have one element for each channel."""


@dataclass(frozen=True)
class Mul:
    """The product of two cubes; the second may have one element for each channel."""


@dataclass(frozen=True)
class Pool:
    """The largest element of each window, or the average; padding counts as 0 in an average, or not at all."""

    window: Window
    average: bool
    counts_padding: bool = True


@dataclass(frozen=True)
class Lrn:
    """``x / (bias + alpha / size * sum of the squares of size channels around x) ** beta``."""

    size: int
    alpha: float
    beta: float
    bias: float


@dataclass(frozen=True)
class Concat:
    """Cubes one after the other along the channels."""


@dataclass(frozen=True)
class Slice:
    """A part of a cube, of a shape, that begins at channel, line and column ``start``."""

    start: Shape
    shape: Shape

    @property
    def channels(self) -> slice:
        """Its channels among those of the cube."""
        return slice(self.start[0], self.start[0] + self.shape[0])


@dataclass(frozen=True)
class Interleave:
    """A cube of ``factors`` as many lines and columns: a block of elements for each of the input's pixels.

    Attributes:
        factors: Lines and columns of a block.
        channels: Channels of the result.
        step: Channels of the input from one element of a block to the next, line by line; 0 repeats the same.
    """

    factors: tuple[int, int]
    channels: int
    step: int


Operation = (
    Conv | Affine | Clip | PRelu | Table | Add | Mul | Pool | Lrn | Concat | Slice | Interleave | Softmax | Largest
)


@dataclass(frozen=True, eq=False)
class Node:
    """One operation, and the values that it takes and makes."""

    name: str
    operation: Operation
    inputs: tuple[str, ...]
    output: str


@dataclass(frozen=True, eq=False)
class Graph:
    """A network, whose values have names; each node comes after those that make what it takes.

    ``ranges`` are the least and the most that the file's own quantisation can hold. A node keeps its value between
    them; for an input, whoever writes it does. ``orders`` say how the file has values that are not as their cubes.
    """

    name: str
    inputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    shapes: Mapping[str, Shape]
    ranges: Mapping[str, Interval] = field(default_factory=dict)
    orders: Mapping[str, Order] = field(default_factory=dict)


def cube_of(sizes: Sequence[int]) -> Shape | None:
    """Return a value of one image as a cube: of 1xCxHxW, a line of 1xCxL, a vector of 1xC; None for another."""
    if len(sizes) not in (2, 3, 4) or sizes[0] != 1 or min(sizes) < 1 or max(sizes[1:]) > MAX_SIDE:
        return None
    channels, *sides = sizes[1:]
    height, width = [1, 1, *sides][-2:]
    return channels, height, width


def shape_of(operation: Operation, inputs: list[Shape]) -> Shape:
    """Return the shape of what an operation makes of inputs of these shapes."""
    channels, height, width = inputs[0]
    match operation:
        case Conv(weights=weights, window=window):
            return weights.shape[0], window.output(0, height), window.output(1, width)
        case Pool(window=window):
            return channels, window.output(0, height), window.output(1, width)
        case Concat():
            return sum(shape[0] for shape in inputs), height, width
        case Slice(shape=shape):
            return shape
        case Interleave(factors=(lines, columns)):
            return operation.channels, height * lines, width * columns
        case Largest():
            return 1, 1, 1
        case _:
            return inputs[0]


def interval_of(operation: Operation, inputs: Sequence[Interval]) -> Interval:
    """Return what is known of the least and the most of a result, from those of the inputs."""
    least, most = min(low for low, _ in inputs), max(high for _, high in inputs)
    match operation:
        case Clip():
            return min(max(least, operation.least), operation.most), max(min(most, operation.most), operation.least)
        case Pool(average=True, counts_padding=True):
            return min(least, 0.0), max(most, 0.0)
        case Pool() | Slice() | Interleave() | Concat():
            return least, most
        case _:
            return -math.inf, math.inf


def work_of(operation: Operation, output: Shape) -> int:
    """Return the multiplications, or comparisons, that an operation takes for an output of this shape."""
    channels, height, width = output
    pixels = height * width
    match operation:
        case Lrn(size=size):
            return size * channels * pixels
        case Conv(weights=weights):
            return weights.size * pixels
        case Pool(window=window):
            return window.kernel[0] * window.kernel[1] * channels * pixels
        case _:
            return channels * pixels


def pointwise(matrix: Floats, bias: Floats | None = None, weight_scales: Floats | None = None) -> Conv:
    """Return the convolution that multiplies the channels of each pixel by a matrix (K, C)."""
    weights = matrix[:, :, np.newaxis, np.newaxis]
    return Conv(weights, np.zeros(len(matrix)) if bias is None else bias, Window((1, 1)), 1, weight_scales)


def taken_channels(conv: Conv) -> NDArray[np.int64]:
    """Return which channels of the input each kernel sees, (K, C of a group)."""
    kernels, channels = conv.weights.shape[:2]
    group = np.arange(kernels) // (kernels // conv.groups)
    return np.asarray(group[:, np.newaxis] * channels + np.arange(channels))


def floats(values: Any) -> Floats:
    """Return numbers as an array of doubles."""
    return np.asarray(values, dtype=np.float64)
