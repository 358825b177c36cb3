"""Layouts as the command line sees them: a tensor, its surfaces in memory, and elements by their coordinates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nvdla_models.layout import Alignment, CompressedWeightLayout, PixelFormat, PixelLayout
from nvdla_models.layout.raw import Array, ByteArray, checked_bytes

Coordinates = tuple[int | str, ...]


@dataclass(frozen=True)
class Subject:
    """A layout with one tensor and one surface; its functions say what the layout itself does not.

    Args:
        layout: an instance of any layout class.
        axes: names of an element's coordinates.
        extend: from a tensor to what is packed.
        restore: from what was unpacked to the tensor, or to that itself where it cannot be undone.
        inside: from the coordinates of an element to those that the layout has for it.
        outside: from the coordinates of the layout to those of an element.
        remark: what else is to be said of an element, or nothing.
        write: from what ``extend`` returns to memory bytes, None for what the layout packs.
        about: begins the description.
    """

    layout: Any
    axes: tuple[str, ...]
    extend: Callable[[Array], Any] = lambda tensor: tensor
    restore: Callable[[Any], Array] = lambda content: content
    inside: Callable[[Coordinates], tuple[Any, ...]] = lambda element: element
    outside: Callable[[Any], Coordinates] = tuple
    remark: Callable[[Coordinates], str] = lambda element: ""
    write: Callable[[Any], ByteArray] | None = None
    about: str = ""

    @property
    def alignment(self) -> Alignment | None:
        """The alignment of the start address of the first surface, or None where there is no rule."""
        return getattr(self.layout, "alignment", None)

    @property
    def pixels(self) -> PixelFormat | None:
        """The pixel format of an image, or None for what is no image."""
        return self.layout.format if isinstance(self.layout, PixelLayout) else None

    @property
    def limits(self) -> tuple[int, ...]:
        """Most bytes of each surface."""
        return (self.layout.nbytes,)

    def pack(self, tensor: Array) -> tuple[ByteArray, ...]:
        """Return the bytes of each surface."""
        write = self.write or self.layout.pack
        return (write(self.extend(tensor)),)

    def unpack(self, surfaces: Sequence[ByteArray]) -> Array:
        """Return the tensor that lies in the surfaces."""
        return self.restore(self.layout.unpack(surfaces[0]))

    def offset(self, element: Coordinates) -> int | None:
        """Return the byte offset of an element in the first surface, or None when it does not lie there."""
        offset: int = self.layout.offset(*self.inside(element))
        return offset

    def element_at(self, offset_bytes: int) -> Coordinates | None:
        """Return the element that a byte of the first surface belongs to, or None."""
        found = self.layout.element_at(offset_bytes)
        return None if found is None else self.outside(found)

    def name(self, element: Coordinates) -> str:
        """Return coordinates and remark, as ``c=17 h=2 w=3 (padding channel)``."""
        text = " ".join(f"{axis}={value}" for axis, value in zip(self.axes, element, strict=True))
        remark = self.remark(element)
        return f"{text} ({remark})" if remark else text

    def names_at(self, offset_bytes: int) -> tuple[str, ...]:
        """Return the elements that have bits in a byte of the first surface, in words; none in gaps."""
        if isinstance(self.layout, PixelLayout):
            return tuple(self.name(element) for element in self.layout.elements_at(offset_bytes))
        element = self.element_at(offset_bytes)
        if element is None:
            return ()
        byte = offset_bytes - (self.offset(element) or 0)
        return (self.name(element) + (f", its byte {byte}" if byte else ""),)

    def describe(self) -> str:
        """Return the layout in words."""
        return f"{self.about}{self.layout.describe()}"


@dataclass(frozen=True, kw_only=True)
class CompressedSubject(Subject):
    """Compressed kernels; the surfaces are weights, WMB and WGS, and ``layout`` is the uncompressed one.

    Args:
        compressed: the layout of the three surfaces.
        wmb: the mask, in which elements are looked up, or None where nobody looks.
    """

    compressed: CompressedWeightLayout
    wmb: ByteArray | None

    @property
    def limits(self) -> tuple[int, ...]:
        """Most bytes of each surface."""
        return self.compressed.nbytes, self.compressed.wmb_nbytes, self.compressed.wgs_nbytes

    def pack(self, tensor: Array) -> tuple[ByteArray, ...]:
        """Return the bytes of weights, WMB and WGS."""
        return tuple(self.compressed.pack(self.extend(tensor)))

    def unpack(self, surfaces: Sequence[ByteArray]) -> Array:
        """Return the kernels."""
        weights, wmb, wgs = surfaces
        return self.restore(self.compressed.unpack(weights, wmb, wgs))

    def offset(self, element: Coordinates) -> int | None:
        """Return the byte offset of a weight in the compressed weights, or None when it was removed."""
        return self.compressed.offset(self._mask(), *self.inside(element))

    def element_at(self, offset_bytes: int) -> Coordinates | None:
        """Return the weight that the byte belongs to, or None after the last."""
        found = self.compressed.element_at(self._mask(), offset_bytes)
        return None if found is None else self.outside(found)

    def describe(self) -> str:
        """Return the layout in words."""
        return self.compressed.describe()

    def _mask(self) -> ByteArray:
        return checked_bytes(self.wmb if self.wmb is not None else b"", -(-self.compressed.layout.elements // 8))
