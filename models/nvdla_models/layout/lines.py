"""Lines of bytes at regular distances: what BDMA copies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.layout.atom_cube import AtomGrid, Element
from nvdla_models.layout.raw import (
    MAX_CUBE_ELEMENTS,
    ByteArray,
    BytesLike,
    MaskArray,
    check_aligned,
    check_array,
    check_index,
    check_size,
    check_stride,
    checked_bytes,
)
from nvdla_models.precision import Precision

#: BDMA moves data in units of this many bytes, in every configuration that has it.
BDMA_UNIT_BYTES = 32


@dataclass(frozen=True)
class LinesLayout:
    """How surfaces of lines of bytes lie in memory; a stride matters only where there is a next one.

    ::

        layout = LinesLayout(config, (2, 3, 64), line_stride_bytes=64, surface_stride_bytes=192)
        data = layout.pack(np.zeros((2, 3, 64), np.uint8))

    Args:
        config: the build.
        shape: (surfaces, lines, bytes of a line).
        line_stride_bytes: distance of two lines.
        surface_stride_bytes: distance of two surfaces.

    Raises:
        InputError: when the build has no BDMA, a size is beyond the hardware, or a size or stride is no
            multiple of 32 bytes or makes lines or surfaces overlap.

    Source: programming guide, BDMA, "Buffer allocation". The registers hold 24 bits for the numbers of lines
        and surfaces, but in the public nv_full RTL only 13 of them reach the unit that writes.
    """

    config: HwConfig
    shape: tuple[int, int, int]
    line_stride_bytes: int
    surface_stride_bytes: int

    def __post_init__(self) -> None:
        self.config.check_has("BDMA", "bdma_enable")
        surfaces, lines, line = self.shape
        check_size("surfaces", surfaces, MAX_CUBE_ELEMENTS)
        check_size("lines", lines, MAX_CUBE_ELEMENTS)
        check_size("line_bytes", line, MAX_CUBE_ELEMENTS * BDMA_UNIT_BYTES)
        for name, value in (
            ("line_bytes", line),
            ("line_stride_bytes", self.line_stride_bytes),
            ("surface_stride_bytes", self.surface_stride_bytes),
        ):
            check_aligned(name, value, BDMA_UNIT_BYTES, f"{BDMA_UNIT_BYTES} bytes")
        check_stride("line_stride_bytes", self.line_stride_bytes, line if lines > 1 else 0, "line")
        surface = (lines - 1) * self.line_stride_bytes + line
        check_stride("surface_stride_bytes", self.surface_stride_bytes, surface if surfaces > 1 else 0, "surface")

    @property
    def precision(self) -> Precision:
        """The type of an element: a byte."""
        return Precision.INT8

    @property
    def nbytes(self) -> int:
        """Bytes from the first to the end of the last line."""
        surfaces, lines, line = self.shape
        return (surfaces - 1) * self.surface_stride_bytes + (lines - 1) * self.line_stride_bytes + line

    @property
    def grid(self) -> AtomGrid:
        """The lines as a cube with atoms of 32 bytes, the unit of BDMA."""
        surfaces, lines, line = self.shape
        shape = (surfaces * BDMA_UNIT_BYTES, lines, line // BDMA_UNIT_BYTES)
        steps = (self.surface_stride_bytes, self.line_stride_bytes, BDMA_UNIT_BYTES)
        return AtomGrid(shape, steps, BDMA_UNIT_BYTES, self.precision.dtype)

    def pack(self, lines: ByteArray) -> ByteArray:
        """Return the memory bytes of (surfaces, lines, bytes); gaps are 0.

        Raises:
            InputError: on another shape or dtype.
        """
        check_array("lines", lines, self.shape, np.dtype(np.uint8))
        raw = np.zeros(self.nbytes, dtype=np.uint8)
        self._view(raw)[...] = lines
        return raw

    def unpack(self, data: BytesLike) -> ByteArray:
        """Return the lines (surfaces, lines, bytes) that lie in ``data``; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        return self._view(checked_bytes(data, self.nbytes)).copy()

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return surface, line and byte as c, h and w, or None in a gap.

        Raises:
            InputError: for an offset outside the layout.
        """
        check_index("offset_bytes", offset_bytes, self.nbytes)
        surfaces, lines, line = self.shape
        surface, rest = divmod(offset_bytes, self.surface_stride_bytes) if surfaces > 1 else (0, offset_bytes)
        number, byte = divmod(rest, self.line_stride_bytes) if lines > 1 else (0, rest)
        return Element(surface, number, byte) if number < lines and byte < line else None

    def written_mask(self) -> MaskArray:
        """Return which bytes belong to lines.

        Returns:
            bool of length ``nbytes``.
        """
        mask = np.zeros(self.nbytes, dtype=np.uint8)
        self._view(mask)[...] = 1
        return mask.view(np.bool_)

    def _view(self, raw: ByteArray) -> ByteArray:
        strides = (self.surface_stride_bytes, self.line_stride_bytes, 1)
        return np.lib.stride_tricks.as_strided(raw, self.shape, strides)
