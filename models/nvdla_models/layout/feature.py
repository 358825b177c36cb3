"""Feature data: channels in atoms, atoms along W, lines along H, surfaces along C."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout.alignment import Alignment, DataFormat, alignment_of
from nvdla_models.layout.atom_cube import AtomCube, AtomGrid, check_cube
from nvdla_models.layout.atoms import atoms_to_cube, cube_to_atoms
from nvdla_models.layout.raw import Array, ByteArray, BytesLike, MaskArray, check_array, check_index, checked_bytes
from nvdla_models.precision import Precision


@dataclass(frozen=True)
class FeatureLayout(AtomCube):
    """How a feature cube of shape (C, H, W) lies in memory; a description apart from the data.

    ::

        layout = FeatureLayout.packed(config, Precision.INT8, (33, 4, 5))
        data = layout.pack(np.zeros((33, 4, 5), np.int8))  # uint8, (layout.nbytes,)
        offset = layout.offset(17, 2, 3)  # bytes from the first one to c=17, h=2, w=3

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
        check_cube(self.config, self.precision, self.shape)
        self.alignment.check(line_stride_bytes=self.line_stride_bytes, surface_stride_bytes=self.surface_stride_bytes)
        self._check_strides()

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
    def grid(self) -> AtomGrid:
        """The atoms of the cube."""
        shape = (self.padded_channels, *self.shape[1:])
        steps = (self.surface_stride_bytes, self.line_stride_bytes, self.atom_bytes)
        return AtomGrid(shape, steps, self.atom_elements, self.precision.dtype)

    @property
    def line_packed(self) -> bool:
        """Whether each line follows the one before without a gap."""
        return self.line_stride_bytes == self._line_bytes_needed

    @property
    def surface_packed(self) -> bool:
        """Whether each surface follows the last line stride of the one before without a gap."""
        return self.surface_stride_bytes == self.shape[1] * self.line_stride_bytes

    @property
    def whole_atoms(self) -> FeatureLayout:
        """The layout of the same bytes with the padding channels as channels."""
        return replace(self, shape=(self.padded_channels, *self.shape[1:]))

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
        packed = self.line_packed and self.surface_stride_bytes == self._surface_bytes_needed
        raw = (np.empty if packed else np.zeros)(self.nbytes, dtype=np.uint8)
        cube_to_atoms(cube, self._atoms(raw), self.atom_elements, fill)
        return raw

    def unpack(self, data: BytesLike) -> Array:
        """Return the cube (C, H, W) that lies in ``data``, without padding channels; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        return self._unpack(data, self.shape[0])

    def unpack_padded(self, data: BytesLike) -> Array:
        """Return the cube (padded_channels, H, W) that lies in ``data``; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        return self._unpack(data, self.padded_channels)

    def is_padding(self, c: int) -> bool:
        """Return whether channel ``c`` is one of those that only fill the last atom.

        Raises:
            InputError: for a channel that the layout does not have.
        """
        check_index("c", c, self.padded_channels)
        return c >= self.shape[0]

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
        cube = np.empty((channels, *self.shape[1:]), dtype=self.precision.dtype)
        atoms_to_cube(self._atoms(checked_bytes(data, self.nbytes)), cube, self.atom_elements)
        return cube

    def _atoms(self, raw: ByteArray) -> Array:
        """Return the atoms of ``raw`` as a strided view (surfaces, H, W, atom_elements)."""
        return self._atom_bytes_view(raw).view(self.precision.dtype)
