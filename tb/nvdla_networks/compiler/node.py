"""A node of an ONNX file, with its attributes and inputs as an operator wants them, and what it may become."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import checker, numpy_helper, shape_inference

from nvdla_networks.compiler.graph import Floats, Interval, Operation, Shape, floats
from nvdla_networks.errors import NetworkError, NodeRefused
from nvdla_networks.tensors import Order

_MAX_WINDOW = 1 << 13
"""Of sides, steps and padding: as large as a cube can be."""

NARROW = ("int2", "uint2", "int4", "uint4")
"""Integers of less than a byte, which numpy takes for bytes of no kind."""

REAL = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)
"""Types of real numbers."""

ONNX_DOMAINS = ("", "ai.onnx")
"""Names of the domain of ONNX's own operators."""

SHOWN = 200
"""Characters of messages of ``onnx`` and of names that refusals quote."""

BROKEN = (checker.ValidationError, shape_inference.InferenceError, ValueError, TypeError, RuntimeError, KeyError)
"""Exceptions of ``onnx`` for invalid files; it documents the first two."""


@dataclass(frozen=True, eq=False)
class Constant:
    """Numbers of the file; ``scales`` says what a step of their integers is worth, where they are quantised."""

    values: NDArray[Any]
    scales: Floats | None = None


@dataclass(frozen=True)
class Result:
    """An operation and what it takes; None for another name of its input."""

    operation: Operation | None
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class Chain:
    """Operations one after the other; ``#0`` among their inputs is the result of the first, and so on."""

    results: tuple[Result, ...]


@dataclass(frozen=True)
class Quantised:
    """A computed value as the integers that the file makes of it; only DequantizeLinear takes them.

    Attributes:
        value: The value.
        scale: Value of a step.
        zero_point: The integer that stands for 0.
        least: The smallest integer.
        most: The largest.
    """

    value: str
    scale: float
    zero_point: int
    least: int
    most: int

    @property
    def range(self) -> Interval:
        """The real numbers that the smallest and the largest integer stand for."""
        return self.scale * (self.least - self.zero_point), self.scale * (self.most - self.zero_point)


@dataclass(frozen=True)
class Ranged:
    """A value between the bounds of the file's quantisation."""

    value: str
    range: Interval


@dataclass(frozen=True)
class View:
    """A cube, and how the file has its elements."""

    value: str
    order: Order


Layout = tuple[int, ...]
"""What each axis of a value is, 0 for images, then channels, lines and columns: (0, 2, 3, 1) are channels last."""

Found = Result | Chain | Constant | View | Quantised | Ranged


class OnnxNode:
    """One node of the file, with its attributes and inputs as an operator wants them."""

    def __init__(
        self,
        proto: onnx.NodeProto,
        opset: int,
        inputs: tuple[str, ...],
        shapes: Mapping[str, Shape],
        constants: MutableMapping[str, Constant | onnx.TensorProto],
        views: Mapping[str, View],
        quantised: Mapping[str, Quantised],
        sizes: Mapping[str, tuple[int, ...]],
        layout: Layout | None = None,
    ) -> None:
        """Bind a node to what is known of the values before it; axes are those of a layout, and channels come first."""
        self._proto, self.opset, self.inputs = proto, opset, inputs
        self._sizes, self._layout = sizes, layout
        self.attributes = {attribute.name: attribute for attribute in proto.attribute}
        self.outputs = sum(bool(name) for name in proto.output)
        self.shapes, self._constants, self._views, self._integers = shapes, constants, views, quantised

    def refuse(self, rule: str) -> NetworkError:
        """Return the error that names this node."""
        return NodeRefused(self._proto.name, rule, self._proto.op_type)

    def demand(self, name: str, allowed: int | tuple[int, ...]) -> None:
        """Refuse an attribute of another value than this one, its default.

        Raises:
            NetworkError: naming node, attribute and value.
        """
        if isinstance(allowed, int):
            got: int | tuple[int, ...] = self.integer(name, allowed)
        else:
            got = self.integers(name, allowed)
        if got != allowed:
            rule, value = (list(n) if isinstance(n, tuple) else n for n in (allowed, got))
            raise self.refuse(f"{name} must be {rule}, not {value}")

    def integer(self, name: str, default: int) -> int:
        """Return an attribute that is an integer."""
        return int(self.attributes[name].i) if name in self.attributes else default

    def number(self, name: str, default: float) -> float:
        """Return an attribute that is a finite number."""
        value = float(self.attributes[name].f) if name in self.attributes else default
        if not np.isfinite(value):
            raise self.refuse(f"{name} must be finite, not {value}")
        return value

    def integers(self, name: str, default: Sequence[int]) -> tuple[int, ...]:
        """Return an attribute that is a list of as many integers as ``default``."""
        values = tuple(int(value) for value in self.attributes[name].ints) if name in self.attributes else ()
        values = values or tuple(default)
        if len(self._proto.input) and self.rank(0) == len("NCL") and 2 * len(values) == len(default):
            # Of lines, cubes of height 1, the file has the width alone.
            values = tuple(size for at, value in enumerate(values) for size in (default[2 * at], value))
        if len(values) != len(default) or not all(0 <= value <= _MAX_WINDOW for value in values):
            raise self.refuse(f"{name} must be {len(default)} numbers from 0 to {_MAX_WINDOW}, not {list(values)}")
        return values

    def integer_list(self, name: str) -> list[int]:
        """Return an attribute that is a list of integers, empty without it."""
        return [int(value) for value in self.attributes[name].ints] if name in self.attributes else []

    def dims(self, number: int) -> tuple[int, ...]:
        """Return the sizes of an input, images and channels first."""
        name = self._proto.input[number]
        if name not in self._sizes:
            raise self.refuse(f"input {number} must have known sizes")
        return tuple(self.by_axis(self._sizes[name]))

    def by_axis(self, values: Sequence[Any]) -> list[Any]:
        """Return what the file has for each of its axes, images and channels first."""
        if self._layout is None or len(values) != len(self._layout):
            return list(values)
        return [values[self._layout.index(axis)] for axis in range(len(values))]

    def axis(self, of_file: int, rank: int) -> int:
        """Return an axis of the file, negative ones from the last, where images and channels are first."""
        return of_file % rank if self._layout is None else self._layout[of_file % rank]

    def rank(self, number: int) -> int:
        """Return how many axes the file gives an input."""
        return len(self.dims(number))

    def is_along_channels(self, default: int) -> bool:
        """Return whether attribute ``axis`` is that of the channels of the first input, whose versions differ."""
        rank = self.rank(0)
        return rank > 1 and self.axis(self.integer("axis", default), rank) == 1

    def text(self, name: str, default: str) -> str:
        """Return an attribute that is text."""
        return self.attributes[name].s.decode(errors="replace") if name in self.attributes else default

    def value(self, number: int) -> str:
        """Return the cube of an input that is computed."""
        if self.integers_of(number) is not None:
            raise self.refuse(f"input {number} must not be integers: only DequantizeLinear takes them")
        name = self.inputs[number] if number < len(self.inputs) else ""
        view = self._views.get(name)
        if view is None and name not in self.shapes:
            raise self.refuse(f"input {number} must be computed from the network's input, not a constant")
        return name if view is None else view.value

    def made(self, operation: Operation | None) -> list[Found]:
        """Return what an operation makes of the first input, or that input itself."""
        return [Result(operation, (self.value(0),))]

    def view(self, number: int) -> View:
        """Return an input that is computed, and how the file has its elements."""
        view = self._views.get(self.inputs[number])
        return View(self.value(number), Order.of(self.shape(number), range(3))) if view is None else view

    def integers_of(self, number: int) -> Quantised | None:
        """Return an input that QuantizeLinear has made."""
        return self._integers.get(self.inputs[number]) if number < len(self.inputs) else None

    def shape(self, number: int) -> Shape:
        """Return the shape of an input that is computed."""
        return self.shapes[self.value(number)]

    def has(self, number: int) -> bool:
        """Return whether an optional input is given."""
        return number < len(self.inputs) and bool(self.inputs[number])

    def is_constant(self, number: int) -> bool:
        """Return whether an input is a constant."""
        return self.has(number) and self.inputs[number] in self._constants

    def quantised(self, number: int) -> Constant:
        """Return an input that is a constant, with its scales.

        Raises:
            NetworkError: when it is computed.
        """
        if not self.is_constant(number):
            raise self.refuse(f"input {number} must be a constant")
        name = self.inputs[number]
        found = self._constants[name]
        if isinstance(found, onnx.TensorProto):
            self._constants[name] = found = Constant(array_of(found))
        return found

    def constant(self, number: int) -> Floats:
        """Return the numbers of an input that is a constant."""
        return floats(self.quantised(number).values)

    def sizes(self, number: int) -> list[int]:
        """Return the integers of an input that is a constant, such as a shape."""
        return [int(size) for size in self.quantised(number).values.ravel()]

    def per_channel(self, number: int, of: int, *, is_vector: bool = False) -> Floats:
        """Return a constant input as one number for each channel of a cube: a scalar, or 1xCx1x1 and its like.

        Args:
            number: Which input.
            of: The input that is the cube.
            is_vector: Whether (C,) are its channels; else they meet the last axis, as arrays broadcast.
        """
        values, channels, rank = self.constant(number), self.shape(of)[0], self.rank(of)
        flat = values.ravel()
        if flat.size == 1:
            return np.full(channels, flat[0])
        wide = tuple(self.by_axis((1,) * (rank - values.ndim) + values.shape))
        if flat.size != channels or not (wide == (1, channels, *[1] * (rank - 2)) or (is_vector and values.ndim == 1)):
            raise self.refuse(f"input {number} must be one number, or {channels}x1x1, not {values.shape}")
        return flat


def first_line(error: Exception) -> str:
    """Return the beginning of what an exception says, or its type."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return (lines[0] if lines else type(error).__name__)[:SHOWN]


def array_of(tensor: onnx.TensorProto) -> NDArray[Any]:
    """Return the numbers of a constant.

    Raises:
        NetworkError: when it holds other than it says.
    """
    try:
        values = np.asarray(numpy_helper.to_array(tensor))
    except BROKEN as error:
        raise NetworkError(f"initializer {tensor.name!r} must hold what it says: {first_line(error)}") from error
    if values.dtype.kind not in "biuf" and values.dtype.name not in NARROW:
        raise NetworkError(f"initializer {tensor.name!r} must hold numbers, not {values.dtype}")
    if values.dtype.kind == "f" and not np.isfinite(values).all():
        raise NetworkError(f"initializer {tensor.name!r} must hold finite numbers")
    return values
