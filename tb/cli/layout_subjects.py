"""Layouts as the command line sees them: a tensor, its surfaces in memory, and elements by their coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from models.layout import Alignment, Element, FeatureLayout, OperandLayout, PixelFormat, PixelLayout
from models.layout.raw import Array, ByteArray, check_array

Coordinates = tuple[int | str, ...]


class Layout(Protocol):
    """What every layout class has; the coordinates of elements differ."""

    @property
    def nbytes(self) -> int:
        """Bytes from the first to the last."""

    @property
    def pack(self) -> Callable[..., ByteArray]:
        """From a tensor to memory bytes."""

    @property
    def unpack(self) -> Callable[..., Any]:
        """From memory bytes to a tensor."""

    @property
    def offset(self) -> Callable[..., int]:
        """From the coordinates of an element to its byte offset."""

    @property
    def element_at(self) -> Callable[[int], Any]:
        """From a byte offset to the coordinates of an element, or None."""

    @property
    def describe(self) -> Callable[[], str]:
        """The layout in words."""


@dataclass(frozen=True)
class Subject:
    """A layout with one tensor and one surface, unless a subclass says otherwise.

    Args:
        layout: the layout.
        axes: names of an element's coordinates.
        alignment: of the start address of the first surface, or None where there is no rule.
    """

    layout: Layout
    axes: tuple[str, ...]
    alignment: Alignment | None

    @property
    def pixels(self) -> PixelFormat | None:
        """The pixel format of an image, or None for what is no image."""
        return None

    @property
    def limits(self) -> tuple[int, ...]:
        """Most bytes of each surface."""
        return (self.layout.nbytes,)

    def extend(self, tensor: Array) -> Any:
        """Return a tensor as the layout takes it."""
        return tensor

    def restore(self, content: Any) -> Array:
        """Return the tensor of what the layout has unpacked, or that itself where it cannot be undone."""
        tensor: Array = content
        return tensor

    def inside(self, element: Coordinates) -> tuple[Any, ...]:
        """Return the coordinates that the layout has for an element."""
        return element

    def outside(self, inside: Any) -> Coordinates:
        """Return the coordinates of an element of the layout."""
        return tuple(inside)

    def pack(self, tensor: Array) -> tuple[ByteArray, ...]:
        """Return the bytes of each surface."""
        return (self.layout.pack(self.extend(tensor)),)

    def unpack(self, surfaces: Sequence[ByteArray]) -> Array:
        """Return the tensor that lies in the surfaces."""
        return self.restore(self.layout.unpack(surfaces[0]))

    def offset(self, element: Coordinates) -> int | None:
        """Return the byte offset of an element in the first surface, or None when it does not lie there."""
        return self.layout.offset(*self.inside(element))

    def element_at(self, offset_bytes: int) -> Coordinates | None:
        """Return the element that a byte of the first surface belongs to, or None."""
        found = self.layout.element_at(offset_bytes)
        return None if found is None else self.outside(found)

    def remark(self, element: Coordinates) -> str:
        """Return what else is to be said of an element, or nothing."""
        del element
        return ""

    def name(self, element: Coordinates) -> str:
        """Return coordinates and remark, as ``c=17 h=2 w=3 (padding channel)``."""
        text = " ".join(f"{axis}={value}" for axis, value in zip(self.axes, element, strict=True))
        remark = self.remark(element)
        return f"{text} ({remark})" if remark else text

    def names_at(self, offset_bytes: int) -> tuple[str, ...]:
        """Return the elements that a byte of the first surface belongs to, in words; none in gaps."""
        element = self.element_at(offset_bytes)
        if element is None:
            return ()
        byte = offset_bytes - (self.offset(element) or 0)
        return (self.name(element) + (f", its byte {byte}" if byte else ""),)

    def describe(self) -> str:
        """Return the layout in words."""
        return self.layout.describe()


@dataclass(frozen=True)
class FeatureSubject(Subject):
    """A feature cube, with the value of its padding channels."""

    layout: FeatureLayout
    padding: int | float

    def pack(self, tensor: Array) -> tuple[ByteArray, ...]:
        """Return the bytes of the cube."""
        return (self.layout.pack(tensor, self.padding),)

    def remark(self, element: Coordinates) -> str:
        """Tell the channels that only fill the last atom."""
        return "padding channel" if self.layout.is_padding(int(element[0])) else ""


@dataclass(frozen=True)
class PixelSubject(Subject):
    """An image, with the byte around its pixels."""

    layout: PixelLayout
    padding: int

    @property
    def pixels(self) -> PixelFormat | None:
        """The pixel format."""
        return self.layout.format

    def pack(self, tensor: Array) -> tuple[ByteArray, ...]:
        """Return the bytes of all planes."""
        return (self.layout.pack(tensor, self.padding),)

    def remark(self, element: Coordinates) -> str:
        """Tell where the bits of the element are."""
        c, h, w = map(int, element)
        word, lsb, bits = self.layout.bits(c, h, w)
        return f"bits {lsb} to {lsb + bits - 1} of the word at {word:#x}"

    def names_at(self, offset_bytes: int) -> tuple[str, ...]:
        """Return every element that has bits in the byte."""
        return tuple(self.name(element) for element in self.layout.elements_at(offset_bytes))


@dataclass(frozen=True)
class OperandSubject(Subject):
    """Operands of an SDP stage: one tensor (C, H, W), or (2, C, H, W) for a pair."""

    layout: OperandLayout

    def extend(self, tensor: Array) -> dict[str, Array]:
        """Return the operands by their components."""
        names, shape = self.layout.components, self.layout.shape
        check_array("operands", tensor, shape if len(names) == 1 else (2, *shape), self.layout.component_dtype)
        return dict(zip(names, tensor.reshape(-1, *shape), strict=True))

    def restore(self, content: dict[str, Array]) -> Array:
        """Return the operands."""
        arrays = list(content.values())
        return arrays[0] if len(arrays) == 1 else np.stack(arrays)

    def remark(self, element: Coordinates) -> str:
        """Tell the channels that only fill the last atom."""
        return "padding channel" if int(element[1]) >= self.layout.shape[0] else ""


@dataclass(frozen=True)
class ValuesSubject(Subject):
    """Values of a fully connected module: a single coordinate."""

    def outside(self, inside: Element) -> Coordinates:
        """Return the coordinate of a value."""
        return (inside.c,)


@dataclass(frozen=True)
class RubikSubject(Subject):
    """What a mode of RUBIK makes of a cube; ``layout`` is that of what it writes.

    Args:
        mode: its name.
        movement: from the cube that the mode reads to the bytes that it writes.
    """

    mode: str
    movement: Callable[[Array], ByteArray]

    def pack(self, tensor: Array) -> tuple[ByteArray, ...]:
        """Return the bytes that the mode writes."""
        return (self.movement(tensor),)

    def describe(self) -> str:
        """Return the layout of what the mode writes."""
        return f"written by RUBIK {self.mode}: {super().describe()}"
