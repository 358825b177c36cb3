"""The pixel formats of image input: fields, planes and what each is good for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np

from nvdla_models.config import PACKED_IMAGE_FORMATS, SEMI_PLANAR_IMAGE_FORMATS, HwConfig
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision

#: Channel of each colour letter: an image lies in the convolution buffer as R(Y), G(U), B(V), A(X).
CHANNEL_OF_COLOUR = {"R": 0, "Y": 0, "G": 1, "U": 1, "B": 2, "V": 2, "A": 3, "X": 3}

#: Packed formats by the names of the register map; the position is the bit of the ConfigROM's bit map.
PACKED_NAMES = tuple(f"T_{name}" for name in PACKED_IMAGE_FORMATS)

#: Semi-planar formats likewise, of the ConfigROM's other bit map.
SEMI_PLANAR_NAMES = tuple(f"T_{name}" for name in SEMI_PLANAR_IMAGE_FORMATS)

_PACKED_WORD_BITS = 32
_CONTAINER_BITS = 16


@dataclass(frozen=True)
class Field:
    """One element inside the word of a pixel: channel, position of its least significant bit, and bits."""

    channel: int
    lsb: int
    bits: int


@dataclass(frozen=True)
class Plane:
    """One plane: its pixels are little-endian words of ``pixel_bytes`` with these fields.

    Args:
        fields: in the order of their positions, least significant first.
        pixel_bytes: bytes of one pixel in this plane.
        is_bit_packed: whether fields share bytes, so that they need masks and shifts.
    """

    fields: tuple[Field, ...]
    pixel_bytes: int
    is_bit_packed: bool

    @property
    def container_bytes(self) -> int:
        """Bytes that hold one field, or the whole word when fields share bytes."""
        return self.pixel_bytes if self.is_bit_packed else self.pixel_bytes // len(self.fields)


@dataclass(frozen=True)
class PixelFormat:
    """One row of Table 33.

    The letters of a name go from the most to the least significant field of a little-endian word: of
    A8B8G8R8 the byte at the lowest address is R.

    Args:
        name: as in the register map, which is the table's without the spaces of its columns and with
            three underscores between planes.
        planes: one, or luminance and chrominance.
        element_dtype: type of one element as software sees it.
        precision: type of the input as the hardware is told.

    Source: format document, Table 33; field order measured on the public nv_small RTL for the 8-bit
        formats; T_R16_F is FP16 in the RTL, not int16 as the table says.
    """

    name: str
    planes: tuple[Plane, ...]
    element_dtype: np.dtype[np.generic]
    precision: Precision

    @property
    def channels(self) -> int:
        """The valid channel count."""
        return sum(len(plane.fields) for plane in self.planes)

    @property
    def is_float(self) -> bool:
        """Whether elements are FP16, which cannot be converted to integers."""
        return self.precision is Precision.FP16

    def field(self, channel: int) -> tuple[int, Field]:
        """Return (plane, field) of a channel.

        Raises:
            InputError: for a channel that the format does not have.
        """
        for number, plane in enumerate(self.planes):
            for field in plane.fields:
                if field.channel == channel:
                    return number, field
        raise InputError(f"c must be 0 to {self.channels - 1}, not {channel}")

    def converter_shift(self, channel: int) -> int:
        """Return how far the hardware shifts an element left before the converter.

        Fields of a 10-bit word reach the converter at the top of 16 bits; all others as they are.

        Source: public nv_full RTL; the format document is silent.
        """
        plane, field = self.field(channel)
        return _CONTAINER_BITS - field.bits if self.planes[plane].is_bit_packed else 0

    def max_x_offset(self, config: HwConfig) -> int:
        """Return the largest X offset: one pixel less than an atom holds.

        The table's 31, 15, 7 and 3 are those of 32-byte atoms.
        """
        return config.memory_atomic_bytes // self.planes[0].pixel_bytes - 1


@cache
def pixel_format(name: str) -> PixelFormat:
    """Return the format of a name.

    Raises:
        InputError: for a name that Table 33 does not have.
    """
    if name not in PACKED_NAMES and name not in SEMI_PLANAR_NAMES:
        raise InputError(f"pixel format must be one of {', '.join(PACKED_NAMES + SEMI_PLANAR_NAMES)}, not {name}")
    planes = tuple(_plane(letters) for letters in re.sub(r"^T_|_N444$|_[IF]$", "", name).split("___"))
    if name.endswith("_F"):
        return PixelFormat(name, planes, np.dtype("<f2"), Precision.FP16)
    if all(field.bits == 8 for plane in planes for field in plane.fields):
        return PixelFormat(name, planes, np.dtype("u1"), Precision.INT8)
    return PixelFormat(name, planes, np.dtype("<i2" if name.endswith("_I") else "<u2"), Precision.INT16)


def _plane(letters: str) -> Plane:
    """Return the plane whose fields ``letters`` name from the most significant down."""
    named = [(colour, int(bits)) for colour, bits in reversed(re.findall(r"([A-Z])(\d+)", letters))]
    bit_packed = sum(bits for _, bits in named) == _PACKED_WORD_BITS and any(bits == 10 for _, bits in named)
    fields: list[Field] = []
    lsb = 0
    for colour, bits in named:
        fields.append(Field(CHANNEL_OF_COLOUR[colour], lsb, bits))
        lsb += bits if bit_packed or bits == 8 else _CONTAINER_BITS
    return Plane(tuple(fields), lsb // 8, bit_packed)


def supported_formats(config: HwConfig) -> tuple[str, ...]:
    """Return the names of the formats that a build takes.

    Source: scalability document, CDMA_IMAGE_IN_FORMATS_PACKED and _SEMI.
    """
    return tuple(f"T_{name}" for name in config.image_formats_packed + config.image_formats_semi_planar)
