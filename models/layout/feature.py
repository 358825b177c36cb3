"""Feature data: channels in atoms, atoms along W, lines along H, surfaces along C."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from models.config import HwConfig
from models.errors import InputError
from models.layout.alignment import Alignment, DataFormat, alignment_of
from models.layout.atoms import atom_view, atoms_to_planes, planes_to_atoms
from models.layout.raw import (
    MAX_CUBE_ELEMENTS,
    Array,
    ByteArray,
    BytesLike,
    MaskArray,
    check_array,
    check_index,
    check_size,
    check_stride,
    checked_bytes,
)
from models.precision import Precision


class Element(NamedTuple):
    """Coordinates of one element of a feature cube; ``c`` is a padding channel when it is not below C."""

    c: int
    h: int
    w: int


@dataclass(frozen=True)
class FeatureLayout:
    """How a feature cube of shape (C, H, W) lies in memory; a description apart from the data.

    The order is channels inside an atom, then W, H and surface: channel ``c`` is element
    ``c % atom_elements`` of its atom, on surface ``c // atom_elements``. Strides above the minimum
    leave gaps that the hardware neither reads nor writes.

    Args:
        config: the build; it decides the atom size and the precisions that exist.
        precision: type of one element.
        shape: real sizes (C, H, W).
        line_stride_bytes: distance of two lines.
        surface_stride_bytes: distance of two surfaces.

    Raises:
        InputError: when the build has no such precision, a size is beyond the hardware, or a stride
            is unaligned or makes lines or surfaces overlap.

    Source: format document, "Feature Data Format", and Table 35; the atom of the configuration
        takes the place of the 32 bytes in the text. A surface stride needs to cover the lines of a
        surface, not the line stride times H: golden nv_small traces of one line rely on that.
    """

    config: HwConfig
    precision: Precision
    shape: tuple[int, int, int]
    line_stride_bytes: int
    surface_stride_bytes: int

    def __post_init__(self) -> None:
        if self.precision not in self.config.feature_data_types:
            allowed = ", ".join(p.name for p in self.config.feature_data_types)
            raise InputError(f"precision must be one of {allowed} for {self.config.name}, not {self.precision.name}")
        if len(self.shape) != 3:
            raise InputError(f"shape must be (C, H, W), not {self.shape}")
        for name, value in zip(("channels", "height", "width"), self.shape, strict=True):
            check_size(name, value, MAX_CUBE_ELEMENTS)
        self.alignment.check(line_stride_bytes=self.line_stride_bytes, surface_stride_bytes=self.surface_stride_bytes)
        check_stride("line_stride_bytes", self.line_stride_bytes, self._line_bytes_needed, "line")
        check_stride("surface_stride_bytes", self.surface_stride_bytes, self._surface_bytes_needed, "surface")

    @classmethod
    def packed(cls, config: HwConfig, precision: Precision, shape: tuple[int, int, int]) -> FeatureLayout:
        """Return the layout without gaps: line stride W atoms, surface stride H lines.

        Raises:
            InputError: as the constructor.
        """
        if len(shape) != 3:
            raise InputError(f"shape must be (C, H, W), not {shape}")
        line = shape[2] * config.memory_atomic_bytes
        return cls(config, precision, shape, line, shape[1] * line)

    @property
    def alignment(self) -> Alignment:
        """Alignment of its start address and strides."""
        return alignment_of(self.config, DataFormat.FEATURE)

    @property
    def atom_bytes(self) -> int:
        """Bytes of one atom."""
        return self.config.memory_atomic_bytes

    @property
    def atom_elements(self) -> int:
        """Channels in one atom."""
        return self.config.atom_elements(self.precision)

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

    @property
    def line_packed(self) -> bool:
        """Whether each line follows the one before without a gap."""
        return self.line_stride_bytes == self._line_bytes_needed

    @property
    def surface_packed(self) -> bool:
        """Whether each surface follows the last line stride of the one before without a gap."""
        return self.surface_stride_bytes == self.shape[1] * self.line_stride_bytes

    @property
    def _line_bytes_needed(self) -> int:
        return self.shape[2] * self.atom_bytes

    @property
    def _surface_bytes_needed(self) -> int:
        return (self.shape[1] - 1) * self.line_stride_bytes + self._line_bytes_needed

    def pack(self, cube: Array, padding: int | float = 0) -> ByteArray:
        """Return the memory bytes of a cube; stride gaps are 0.

        Args:
            cube: (C, H, W) of the precision's dtype.
            padding: value of the padding channels at the end of the last atom.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            InputError: on another shape or dtype, or a padding that is NaN or no value of the precision.

        Source: format document, "Feature Data Format": the attached data can be any value except NaN.
        """
        check_array("cube", cube, self.shape, self.precision.dtype)
        fill = self._padding_element(padding)
        gaps = self.line_stride_bytes != self._line_bytes_needed or self.surface_stride_bytes != (
            self._surface_bytes_needed
        )
        raw = (np.zeros if gaps else np.empty)(self.nbytes, dtype=np.uint8)
        atoms = self._atoms(raw)
        per_atom, (channels, height, width) = self.atom_elements, self.shape
        full = channels // per_atom
        planes_to_atoms(cube[: full * per_atom].reshape(full, per_atom, height, width), atoms[:full])
        if full < self.surfaces:
            planes_to_atoms(cube[None, full * per_atom :], atoms[full:], fill)
        return raw

    def unpack(self, data: BytesLike) -> Array:
        """Return the cube that lies in ``data``, without padding channels.

        Args:
            data: bytes-like or uint8 array of at least ``nbytes``; later bytes are not read.

        Returns:
            (C, H, W) of the precision's dtype.

        Raises:
            InputError: when ``data`` is too short.
        """
        return self._unpack(data, self.shape[0])

    def unpack_padded(self, data: BytesLike) -> Array:
        """Return the cube that lies in ``data``, with the padding channels of the last atom.

        Args:
            data: bytes-like or uint8 array of at least ``nbytes``; later bytes are not read.

        Returns:
            (padded_channels, H, W) of the precision's dtype.

        Raises:
            InputError: when ``data`` is too short.
        """
        return self._unpack(data, self.padded_channels)

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
            + element * self.precision.nbytes
        )

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element that the byte at ``offset_bytes`` belongs to, or None in a stride gap.

        A padding channel is returned as such: ``is_padding(element.c)`` tells.

        Raises:
            InputError: for an offset outside the layout.
        """
        check_index("offset_bytes", offset_bytes, self.nbytes)
        surface, rest = divmod(offset_bytes, self.surface_stride_bytes)
        h, rest = divmod(rest, self.line_stride_bytes)
        w, rest = divmod(rest, self.atom_bytes)
        if surface >= self.surfaces or h >= self.shape[1] or w >= self.shape[2]:
            return None
        return Element(surface * self.atom_elements + rest // self.precision.nbytes, h, w)

    def is_padding(self, c: int) -> bool:
        """Return whether channel ``c`` is one of those that only fill the last atom.

        Raises:
            InputError: for a channel that the layout does not have.
        """
        check_index("c", c, self.padded_channels)
        return c >= self.shape[0]

    def written_mask(self) -> MaskArray:
        """Return which bytes belong to atoms, padding channels included, and not to stride gaps.

        Returns:
            bool of length ``nbytes``.
        """
        mask = np.zeros(self.nbytes, dtype=np.bool_)
        self._atom_bytes_view(mask.view(np.uint8))[...] = True
        return mask

    def padding_mask(self) -> MaskArray:
        """Return which bytes belong to padding channels.

        Returns:
            bool of length ``nbytes``.
        """
        mask = np.zeros(self.nbytes, dtype=np.bool_)
        real = (self.shape[0] - (self.surfaces - 1) * self.atom_elements) * self.precision.nbytes
        self._atom_bytes_view(mask.view(np.uint8))[-1, :, :, real:] = True
        return mask

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        c, h, w = self.shape
        return "\n".join(
            (
                f"feature data, {self.precision.name}, {self.config.name}: C={c} H={h} W={w}",
                f"atom: {self.atom_bytes} bytes, {self.atom_elements} channels",
                f"surfaces: {self.surfaces}, padding channels: {self.padded_channels - c}",
                f"line stride: {self.line_stride_bytes} bytes ({'packed' if self.line_packed else 'unpacked'})",
                f"surface stride: {self.surface_stride_bytes} bytes "
                f"({'packed' if self.surface_packed else 'unpacked'})",
                f"bytes: {self.nbytes}",
            )
        )

    def _padding_element(self, padding: int | float) -> Array:
        """Return ``padding`` as one stored element, or refuse it."""
        if math.isnan(padding):
            raise InputError("padding must not be NaN")
        if self.precision is Precision.FP16:
            with np.errstate(over="ignore"):
                element = np.array(padding, dtype=self.precision.dtype)
        else:
            limits = np.iinfo(self.precision.dtype)
            inside = limits.min <= padding <= limits.max
            element = np.array(int(padding) if inside else 0, dtype=self.precision.dtype)
        if float(element) != padding:
            raise InputError(f"padding must be a value of {self.precision.name}, not {padding}")
        return element

    def _unpack(self, data: BytesLike, channels: int) -> Array:
        atoms = self._atoms(checked_bytes(data, self.nbytes))
        per_atom = self.atom_elements
        cube = np.empty((channels, *self.shape[1:]), dtype=self.precision.dtype)
        full = channels // per_atom
        atoms_to_planes(atoms[:full], cube[: full * per_atom].reshape(full, per_atom, *self.shape[1:]))
        if full * per_atom < channels:
            atoms_to_planes(atoms[full:], cube[full * per_atom :].reshape(1, -1, *self.shape[1:]))
        return cube

    def _atoms(self, raw: ByteArray) -> Array:
        """Return the atoms of ``raw`` as a strided view (surfaces, H, W, atom_elements)."""
        return self._atom_bytes_view(raw).view(self.precision.dtype)

    def _atom_bytes_view(self, raw: ByteArray) -> ByteArray:
        """Return the atoms of ``raw`` as a strided view (surfaces, H, W, atom_bytes)."""
        axes = (self.surfaces, *self.shape[1:], self.atom_bytes)
        return atom_view(raw, axes, self.line_stride_bytes, self.surface_stride_bytes)
