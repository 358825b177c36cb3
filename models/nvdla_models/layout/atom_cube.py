"""Cubes in atoms: atoms along W, lines along H, surfaces along C, whatever an atom holds."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError, LackingError
from nvdla_models.layout.atoms import atom_view
from nvdla_models.layout.raw import MAX_CUBE_ELEMENTS, ByteArray, MaskArray, check_index, check_size, check_stride
from nvdla_models.precision import Precision


class Element(NamedTuple):
    """Coordinates of one element of a feature cube; ``c`` is a padding channel when it is not below C."""

    c: int
    h: int
    w: int


class AtomGrid(NamedTuple):
    """Where everything lies that is written with a cube: padding channels, ends of lines.

    Attributes:
        shape: (C, H, W), C in whole atoms.
        steps: Bytes from a surface, a line and a column to the next.
        atom_elements: Channels of an atom.
        dtype: Type of an element.
    """

    shape: tuple[int, int, int]
    steps: tuple[int, int, int]
    atom_elements: int
    dtype: np.dtype[Any]


class AtomCube:
    """A cube whose elements lie in atoms of the same size; a layout of one format is a subclass.

    Attributes:
        config: the build; it decides the elements of an atom and the precisions that exist.
        precision: type that decides the elements of an atom.
        shape: real sizes (C, H, W).
        line_stride_bytes: distance of two lines.
        surface_stride_bytes: distance of two surfaces.
    """

    config: HwConfig
    precision: Precision
    shape: tuple[int, int, int]
    line_stride_bytes: int
    surface_stride_bytes: int

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return self.precision.nbytes

    @property
    def atom_elements(self) -> int:
        """Channels in one atom."""
        return self.config.atom_elements(self.precision)

    @property
    def atom_bytes(self) -> int:
        """Bytes of one atom."""
        return self.atom_elements * self.element_bytes

    @property
    def surfaces(self) -> int:
        """Number of surfaces: C in atoms, rounded up."""
        return -(-self.shape[0] // self.atom_elements)

    @property
    def padded_channels(self) -> int:
        """C rounded up to whole atoms."""
        return self.surfaces * self.atom_elements

    @property
    def nbytes(self) -> int:
        """Bytes from the first atom to the end of the last, gaps between included."""
        return (self.surfaces - 1) * self.surface_stride_bytes + self._surface_bytes_needed

    def written_mask(self) -> MaskArray:
        """Return which bytes belong to atoms, padding channels included, and not to stride gaps.

        Returns:
            bool of length ``nbytes``.
        """
        mask = np.zeros(self.nbytes, dtype=np.bool_)
        self._atom_bytes_view(mask.view(np.uint8))[...] = True
        return mask

    def _check_strides(self) -> None:
        check_stride("line_stride_bytes", self.line_stride_bytes, self._line_bytes_needed, "line")
        check_stride("surface_stride_bytes", self.surface_stride_bytes, self._surface_bytes_needed, "surface")

    @property
    def _line_bytes_needed(self) -> int:
        return self.shape[2] * self.atom_bytes

    @property
    def _surface_bytes_needed(self) -> int:
        return (self.shape[1] - 1) * self.line_stride_bytes + self._line_bytes_needed

    def offset(self, c: int, h: int, w: int) -> int:
        """Return the byte offset of an element; padding channels have one too.

        Raises:
            InputError: for coordinates outside (padded_channels, H, W).
        """
        for name, value, end in zip("chw", (c, h, w), (self.padded_channels, *self.shape[1:]), strict=True):
            check_index(name, value, end)
        surface, element = divmod(c, self.atom_elements)
        return (
            surface * self.surface_stride_bytes
            + h * self.line_stride_bytes
            + w * self.atom_bytes
            + element * self.element_bytes
        )

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element that the byte at ``offset_bytes`` belongs to, or None in a stride gap.

        A padding channel is returned as such: its ``c`` is not below C.

        Raises:
            InputError: for an offset outside the layout.
        """
        found = self._element_of(offset_bytes)
        return None if found is None else Element(*found[:3])

    def _element_of(self, offset_bytes: int) -> tuple[int, int, int, int] | None:
        """Return c, h, w and the byte in the element, or None in a stride gap; refuse offsets outside."""
        check_index("offset_bytes", offset_bytes, self.nbytes)
        surface, rest = divmod(offset_bytes, self.surface_stride_bytes)
        h, rest = divmod(rest, self.line_stride_bytes)
        w, rest = divmod(rest, self.atom_bytes)
        if surface >= self.surfaces or h >= self.shape[1] or w >= self.shape[2]:
            return None
        element, byte = divmod(rest, self.element_bytes)
        return surface * self.atom_elements + element, h, w, byte

    def _atom_bytes_view(self, raw: ByteArray) -> ByteArray:
        """Return the atoms of ``raw`` as a strided view (surfaces, H, W, atom_bytes)."""
        axes = (self.surfaces, *self.shape[1:], self.atom_bytes)
        return atom_view(raw, axes, self.line_stride_bytes, self.surface_stride_bytes)


def check_cube(config: HwConfig, precision: Precision, shape: tuple[int, ...]) -> None:
    """Refuse a cube of features that a configuration cannot have.

    Raises:
        InputError: for a precision that it lacks, other axes than (C, H, W), or a size beyond the hardware.
    """
    if precision not in config.feature_data_types:
        allowed = ", ".join(p.name for p in config.feature_data_types)
        raise LackingError(f"precision must be one of {allowed} for {config.name}, not {precision.name}")
    if len(shape) != 3:
        raise InputError(f"shape must be (C, H, W), not {shape}")
    for name, value in zip(("channels", "height", "width"), shape, strict=True):
        check_size(name, value, MAX_CUBE_ELEMENTS)
