"""A node of an ONNX file, with its attributes and inputs as an operator wants them, and what it may become."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from tb.stimulus.network.compiler.graph import Floats, Operation, Shape, floats
from tb.stimulus.network.errors import NetworkError

_MAX_WINDOW = 1 << 13
"""Of sides, steps and padding: as large as a cube can be."""


@dataclass(frozen=True, eq=False)
class Constant:
    """Numbers of the file; ``scales`` says what a step of their integers is worth, where they are quantised."""

    values: NDArray[Any]
    scales: Floats | None = None


@dataclass(frozen=True)
class Result:
    """An operation and what it takes; None for another name of its input, with the magnitude that it can hold."""

    operation: Operation | None
    inputs: tuple[str, ...]
    range: float | None = None


@dataclass(frozen=True)
class View:
    """A cube whose channels have several axes, which only Transpose and Reshape take.

    Attributes:
        value: The cube.
        sizes: Sizes of the axes, as the channels of the cube lie.
        order: Those axes, as the view has them.
    """

    value: str
    sizes: tuple[int, ...]
    order: tuple[int, ...]

    @property
    def channels(self) -> NDArray[np.int64]:
        """Channels of the cube, in the order of the view."""
        return np.arange(math.prod(self.sizes)).reshape(self.sizes).transpose(self.order).ravel()


Found = Result | Constant | View


class OnnxNode:
    """One node of the file, with its attributes and inputs as an operator wants them."""

    def __init__(
        self,
        what: str,
        proto: onnx.NodeProto,
        inputs: tuple[str, ...],
        shapes: Mapping[str, Shape],
        constants: Mapping[str, Constant],
        views: Mapping[str, View],
        array_of: Callable[[onnx.TensorProto], NDArray[Any]],
    ) -> None:
        """Bind a node to what is known of the values before it."""
        self.what, self.inputs, self.array_of = what, inputs, array_of
        self.attributes = {attribute.name: attribute for attribute in proto.attribute}
        self.outputs = sum(bool(name) for name in proto.output)
        self._shapes, self._constants, self._views = shapes, constants, views

    def refuse(self, rule: str) -> NetworkError:
        """Return the error that names this node."""
        return NetworkError(f"{self.what}: {rule}")

    def demand(self, name: str, allowed: Any, got: Any) -> None:
        """Refuse another value of an attribute.

        Raises:
            NetworkError: naming node, attribute and value.
        """
        if got != allowed:
            raise self.refuse(f"{name} must be {allowed}, not {got}")

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
        if len(values) != len(default) or not all(0 <= value <= _MAX_WINDOW for value in values):
            raise self.refuse(f"{name} must be {len(default)} numbers from 0 to {_MAX_WINDOW}, not {list(values)}")
        return values

    def text(self, name: str, default: str) -> str:
        """Return an attribute that is text."""
        return self.attributes[name].s.decode(errors="replace") if name in self.attributes else default

    def value(self, number: int) -> str:
        """Return the name of an input that is computed."""
        if self.view(number) is not None:
            raise self.refuse(f"input {number} must have one axis of channels: only Transpose and Reshape take more")
        if number >= len(self.inputs) or self.inputs[number] not in self._shapes:
            raise self.refuse(f"input {number} must be computed from the network's input, not a constant")
        return self.inputs[number]

    def view(self, number: int) -> View | None:
        """Return an input whose channels have several axes."""
        return self._views.get(self.inputs[number]) if number < len(self.inputs) else None

    def shape(self, number: int) -> Shape:
        """Return the shape of an input that is computed."""
        return self._shapes[self.value(number)]

    def shape_of(self, value: str) -> Shape:
        """Return the shape of a value that is computed."""
        return self._shapes[value]

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
        return self._constants[self.inputs[number]]

    def constant(self, number: int) -> Floats:
        """Return the numbers of an input that is a constant."""
        return floats(self.quantised(number).values)

    def sizes(self, number: int) -> list[int]:
        """Return the integers of an input that is a constant, such as a shape."""
        return [int(size) for size in self.quantised(number).values.ravel()]

    def per_channel(self, number: int, cube: Shape, *, is_vector: bool = False) -> Floats:
        """Return a constant input as one number for each channel of a cube: a scalar, or 1xCx1x1 and its like.

        Args:
            number: Which input.
            cube: Shape of what it meets.
            is_vector: Whether (C,) are its channels; else they meet the width, as arrays broadcast.
        """
        values, channels = self.constant(number), cube[0]
        flat = values.ravel()
        shape = values.shape[1:] if values.ndim == 4 and values.shape[0] == 1 else values.shape
        if flat.size == 1:
            return np.full(channels, flat[0])
        vector = is_vector or cube[1:] == (1, 1)
        if flat.size != channels or not (shape[1:] == (1, 1) or (vector and len(shape) <= 2)):
            raise self.refuse(f"input {number} must be one number, or {channels}x1x1, not {values.shape}")
        return flat
