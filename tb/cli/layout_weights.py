"""Weights as the command line sees them: kernels before extension where it can be undone, and compression."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from models.layout import (
    CompressedWeightLayout,
    DeconvolutionWeightLayout,
    ImageWeightLayout,
    KernelLayout,
    WinogradWeightLayout,
)
from models.layout.raw import Array, ByteArray, check_index, checked_bytes
from tb.cli.layout_subjects import Coordinates, Subject

KERNEL_AXES = ("k", "c", "r", "s")


@dataclass(frozen=True)
class KernelSubject(Subject):
    """Kernels; those of subclasses are extended first."""

    layout: KernelLayout


@dataclass(frozen=True)
class ImageKernelSubject(KernelSubject):
    """Kernels for image input: columns become channels and back."""

    layout: ImageWeightLayout

    def extend(self, tensor: Array) -> Array:
        """Return the kernels after channel pre-extension."""
        return self.layout.pre_extend(tensor)

    def restore(self, content: Array) -> Array:
        """Return the kernels before channel pre-extension."""
        return self.layout.original(content)

    def inside(self, element: Coordinates) -> tuple[Any, ...]:
        """Return the coordinates after pre-extension: channel ``s * C + c``."""
        for name, value, end in zip(KERNEL_AXES, map(int, element), self.layout.shape, strict=True):
            check_index(name, value, end)
        k, c, r, s = map(int, element)
        return k, s * self.layout.shape[1] + c, r, 0

    def outside(self, inside: Sequence[int]) -> Coordinates:
        """Return the coordinates before pre-extension."""
        s, c = divmod(inside[1], self.layout.shape[1])
        return inside[0], c, inside[2], s


@dataclass(frozen=True)
class WinogradKernelSubject(KernelSubject):
    """Kernels for Winograd; the conversion rounds, so unpacking and elements are those of 4x4 kernels.

    Args:
        scale: factor of the conversion.
        converted: whether the tensor is converted already.
    """

    layout: WinogradWeightLayout
    scale: float
    converted: bool

    def extend(self, tensor: Array) -> Array:
        """Return the converted kernels."""
        return tensor if self.converted else self.layout.convert(tensor, self.scale)


@dataclass(frozen=True)
class KernelSetSubject(KernelSubject):
    """One set of the kernels of a deconvolution; unpacking and elements are those of the set.

    Args:
        whole: the deconvolution.
        number: which set.
    """

    whole: DeconvolutionWeightLayout
    number: int

    def extend(self, tensor: Array) -> Array:
        """Return the kernels of the set."""
        kernels: Array = self.whole.split(tensor)[self.number]
        return kernels


@dataclass(frozen=True)
class CompressedSubject(Subject):
    """Compressed kernels; the surfaces are weights, WMB and WGS, and ``layout`` is the uncompressed one.

    Args:
        compressed: the layout of the three surfaces.
        kernels: what is compressed.
        wmb: the mask, in which elements are looked up, or None where nobody looks.
    """

    layout: KernelLayout
    compressed: CompressedWeightLayout
    kernels: KernelSubject
    wmb: ByteArray | None

    @property
    def limits(self) -> tuple[int, ...]:
        """Most bytes of each surface."""
        return self.compressed.nbytes, self.compressed.wmb_nbytes, self.compressed.wgs_nbytes

    def pack(self, tensor: Array) -> tuple[ByteArray, ...]:
        """Return the bytes of weights, WMB and WGS."""
        return tuple(self.compressed.pack(self.kernels.extend(tensor)))

    def unpack(self, surfaces: Sequence[ByteArray]) -> Array:
        """Return the kernels."""
        weights, wmb, wgs = surfaces
        return self.kernels.restore(self.compressed.unpack(weights, wmb, wgs))

    def offset(self, element: Coordinates) -> int | None:
        """Return the byte offset of a weight in the compressed weights, or None when it was removed."""
        return self.compressed.offset(self._mask(), *self.kernels.inside(element))

    def element_at(self, offset_bytes: int) -> Coordinates | None:
        """Return the weight that the byte belongs to, or None after the last."""
        found = self.compressed.element_at(self._mask(), offset_bytes)
        return None if found is None else self.kernels.outside(found)

    def remark(self, element: Coordinates) -> str:
        """Tell where the mask bit of the weight is."""
        byte, bit = self.compressed.mask_bit(*self.kernels.inside(element))
        return f"mask bit {bit} of WMB byte {byte:#x}"

    def describe(self) -> str:
        """Return the layout in words."""
        return self.compressed.describe()

    def _mask(self) -> ByteArray:
        return checked_bytes(self.wmb if self.wmb is not None else b"", -(-self.layout.elements // 8))
