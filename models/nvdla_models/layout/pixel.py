"""Image input: pixels of packed and semi-planar formats in pitch-linear memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError, LackingError
from nvdla_models.layout.alignment import Alignment, DataFormat, alignment_of
from nvdla_models.layout.atom_cube import Element
from nvdla_models.layout.pixel_formats import PixelFormat, Plane, pixel_format, supported_formats
from nvdla_models.layout.raw import (
    MAX_CUBE_ELEMENTS,
    Array,
    ByteArray,
    BytesLike,
    check_array,
    check_index,
    check_size,
    check_stride,
    checked_bytes,
    round_up,
)

# Pixels that are moved together; the fields of so many stay in the processor's cache.
_BLOCK_PIXELS = 32768


@dataclass(frozen=True)
class PixelLayout:
    """How an image of shape (C, H, W) lies in memory.

    ::

        layout = PixelLayout.packed(config, "T_A8B8G8R8", (4, 20, 20))
        data = layout.pack(np.zeros((4, 20, 20), np.uint8))

    The bytes start at an atom. Before the first pixel of every line lie ``x_offset`` pixels that belong
    to the image around it. The second plane of a semi-planar format follows the first, at
    ``plane_offsets[1]``; its own offset is the X offset inside its atoms, which hold half as many pixels.

    Args:
        config: the build.
        format_name: a name of Table 33.
        shape: real sizes (C, H, W).
        line_stride_bytes: distance of two lines of each plane.
        x_offset: pixels between the aligned start of a line and the first pixel.

    Raises:
        InputError: when the build has no such format, the channels are not the format's, the X offset is
            out of range, a size is beyond the hardware, or a stride is unaligned or too small.

    Source: format document, "Pixel Format" and Table 33; the X offset of a second plane from the public
        nv_full and nv_small RTL.
    """

    config: HwConfig
    format_name: str
    shape: tuple[int, int, int]
    line_stride_bytes: tuple[int, ...]
    x_offset: int = 0

    def __post_init__(self) -> None:
        supported = supported_formats(self.config)
        if self.format.name not in supported:
            raise LackingError(
                f"pixel format must be one of {', '.join(supported)} for {self.config.name}, not {self.format.name}"
            )
        if len(self.shape) != 3:
            raise InputError(f"shape must be (C, H, W), not {self.shape}")
        if self.shape[0] != self.format.channels:
            raise InputError(f"channels must be {self.format.channels} for {self.format.name}, not {self.shape[0]}")
        for name, value in zip(("height", "width"), self.shape[1:], strict=True):
            check_size(name, value, MAX_CUBE_ELEMENTS)
        check_index("x_offset", self.x_offset, self.format.max_x_offset(self.config) + 1)
        if len(self.line_stride_bytes) != len(self.format.planes):
            raise InputError(
                f"line_stride_bytes must hold {len(self.format.planes)} strides for {self.format.name}, "
                f"not {len(self.line_stride_bytes)}"
            )
        for number, stride in enumerate(self.line_stride_bytes):
            self.alignment.check(line_stride_bytes=stride)
            check_stride("line_stride_bytes", stride, self._line_bytes(number), "line")

    @classmethod
    def packed(cls, config: HwConfig, format_name: str, shape: tuple[int, int, int], x_offset: int = 0) -> PixelLayout:
        """Return the layout with the smallest aligned line strides.

        Raises:
            InputError: as the constructor.
        """
        if len(shape) != 3:
            raise InputError(f"shape must be (C, H, W), not {shape}")
        atom = config.memory_atomic_bytes
        strides = []
        for plane in pixel_format(format_name).planes:
            before = x_offset % (atom // plane.pixel_bytes)
            strides.append(round_up((before + shape[2]) * plane.pixel_bytes, atom))
        return cls(config, format_name, shape, tuple(strides), x_offset)

    @property
    def format(self) -> PixelFormat:
        """The pixel format."""
        return pixel_format(self.format_name)

    @property
    def alignment(self) -> Alignment:
        """Alignment of its start addresses and line strides."""
        return alignment_of(self.config, DataFormat.PIXEL)

    @property
    def plane_nbytes(self) -> tuple[int, ...]:
        """Bytes of each plane from its aligned start to the end of the last atom that is read."""
        return tuple(
            (self.shape[1] - 1) * stride + self._line_bytes(number)
            for number, stride in enumerate(self.line_stride_bytes)
        )

    @property
    def plane_offsets(self) -> tuple[int, ...]:
        """Byte offset of the aligned start of each plane."""
        return (0, self.plane_nbytes[0])[: len(self.format.planes)]

    @property
    def nbytes(self) -> int:
        """Bytes of all planes."""
        return sum(self.plane_nbytes)

    def pack(self, image: Array, padding: int = 0) -> ByteArray:
        """Return the memory bytes of an image.

        Args:
            image: (C, H, W) of the format's dtype, channels in the order R(Y), G(U), B(V), A(X).
            padding: byte in gaps, and in the pixels before and after a line.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            InputError: on another shape or dtype, an element of too many bits, or a padding that is no byte.
        """
        check_array("image", image, self.shape, self.format.element_dtype)
        check_index("padding", padding, 256)
        self._check_elements(image)
        raw = np.full(self.nbytes, padding, dtype=np.uint8)
        for number, plane in enumerate(self.format.planes):
            words = self._words(raw, number)
            for lines in self._blocks():
                _write_fields(words[lines], plane, image[:, lines])
        return raw

    def unpack(self, data: BytesLike) -> Array:
        """Return the image (C, H, W) that lies in ``data``; later bytes are not read.

        Of a 10- or 12-bit element in a 16-bit container all 16 bits are returned, as the hardware
        reads them.

        Raises:
            InputError: when ``data`` is too short.
        """
        raw = checked_bytes(data, self.nbytes)
        image = np.empty(self.shape, dtype=self.format.element_dtype)
        for number, plane in enumerate(self.format.planes):
            words = self._words(raw, number)
            for lines in self._blocks():
                _read_fields(words[lines], plane, image[:, lines])
        return image

    def offset(self, c: int, h: int, w: int) -> int:
        """Return the offset of the byte that holds the least significant bit of an element.

        Raises:
            InputError: for coordinates outside the image.
        """
        byte, bit, _ = self.bits(c, h, w)
        return byte + bit // 8

    def bits(self, c: int, h: int, w: int) -> tuple[int, int, int]:
        """Return (byte offset of the pixel's word, least significant bit, bits) of an element.

        Raises:
            InputError: for coordinates outside the image.
        """
        for name, value, end in zip("chw", (c, h, w), self.shape, strict=True):
            check_index(name, value, end)
        number, field = self.format.field(c)
        pixel = (self._pixels_before(number) + w) * self.format.planes[number].pixel_bytes
        return self.plane_offsets[number] + h * self.line_stride_bytes[number] + pixel, field.lsb, field.bits

    def elements_at(self, offset_bytes: int) -> tuple[Element, ...]:
        """Return all elements that have bits in the byte, least significant first; none in gaps.

        Raises:
            InputError: for an offset outside the layout.
        """
        check_index("offset_bytes", offset_bytes, self.nbytes)
        number = sum(offset_bytes >= start for start in self.plane_offsets) - 1
        plane = self.format.planes[number]
        h, rest = divmod(offset_bytes - self.plane_offsets[number], self.line_stride_bytes[number])
        pixel, byte = divmod(rest, plane.pixel_bytes)
        w = pixel - self._pixels_before(number)
        if not 0 <= w < self.shape[2]:
            return ()
        first, last = 8 * byte, 8 * byte + 8
        return tuple(
            Element(field.channel, h, w)
            for field in plane.fields
            if field.lsb < last and field.lsb + field.bits > first
        )

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element with the least significant bits of the byte, or None in gaps and unused bits.

        Raises:
            InputError: for an offset outside the layout.
        """
        return next(iter(self.elements_at(offset_bytes)), None)

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        c, h, w = self.shape
        lines = [
            f"pixel data {self.format.name}, {self.format.precision.name} input, {self.config.name}: C={c} H={h} W={w}",
            f"X offset: {self.x_offset} of 0 to {self.format.max_x_offset(self.config)} pixels",
        ]
        for number, plane in enumerate(self.format.planes):
            fields = ", ".join(f"c{f.channel} bits {f.lsb}-{f.lsb + f.bits - 1}" for f in plane.fields)
            lines.append(
                f"plane {number}: at {self.plane_offsets[number]}, line stride {self.line_stride_bytes[number]} bytes, "
                f"{plane.pixel_bytes} bytes a pixel: {fields}"
            )
        return "\n".join([*lines, f"bytes: {self.nbytes}"])

    def _pixels_before(self, number: int) -> int:
        """Return the pixels between the aligned start of a line and the first pixel, in one plane."""
        return self.x_offset % (self.config.memory_atomic_bytes // self.format.planes[number].pixel_bytes)

    def _line_bytes(self, number: int) -> int:
        """Return the bytes of a line in whole atoms: what the hardware reads."""
        pixels = self._pixels_before(number) + self.shape[2]
        return round_up(pixels * self.format.planes[number].pixel_bytes, self.config.memory_atomic_bytes)

    def _blocks(self) -> Iterator[slice]:
        """Yield runs of lines of about ``_BLOCK_PIXELS``."""
        lines = max(1, _BLOCK_PIXELS // self.shape[2])
        for first in range(0, self.shape[1], lines):
            yield slice(first, first + lines)

    def _words(self, raw: ByteArray, number: int) -> Array:
        """Return a plane as (H, W, containers) words, a strided view."""
        plane = self.format.planes[number]
        start = self.plane_offsets[number] + self._pixels_before(number) * plane.pixel_bytes
        pixels = np.lib.stride_tricks.as_strided(
            raw[start:],
            (self.shape[1], self.shape[2], plane.pixel_bytes),
            (self.line_stride_bytes[number], plane.pixel_bytes, 1),
        )
        return pixels.view(f"<u{plane.container_bytes}")

    def _check_elements(self, image: Array) -> None:
        """Refuse elements with more bits than their field."""
        if image.dtype.kind != "u":
            return
        for c in range(self.shape[0]):
            most = (1 << self.format.field(c)[1].bits) - 1
            if most < np.iinfo(image.dtype).max and int(image[c].max()) > most:
                raise InputError(f"elements of channel {c} must be 0 to {most}, not {int(image[c].max())}")


def _write_fields(words: Array, plane: Plane, image: Array) -> None:
    """Write the channels of ``image`` into the fields of (H, W, containers) ``words``."""
    if not plane.is_bit_packed:
        for position, field in enumerate(plane.fields):
            words[..., position] = image[field.channel].view(words.dtype)
        return
    merged = image[plane.fields[0].channel].astype(words.dtype)
    for field in plane.fields[1:]:
        merged |= image[field.channel].astype(words.dtype) << np.uint32(field.lsb)
    words[..., 0] = merged


def _read_fields(words: Array, plane: Plane, image: Array) -> None:
    """Read the fields of (H, W, containers) ``words`` into the channels of ``image``."""
    for position, field in enumerate(plane.fields):
        if plane.is_bit_packed:
            mask = np.uint32((1 << field.bits) - 1)
            image[field.channel] = (words[..., 0] >> np.uint32(field.lsb)) & mask
        else:
            image[field.channel] = words[..., position].view(image.dtype)
