"""Common rows of the tables from descriptors to registers."""

from __future__ import annotations

import numpy as np

from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP17
from nvdla_networks.descriptors import CubeType
from nvdla_tb.nvdla.program.table import MINUS_ONE, Codec, Named, Row, row

INT8, FP16 = 0, 2
"""Precisions as descriptors number them."""

RAM = Named(((CubeType.MC, 1), (CubeType.CV, 0), (CubeType.HARDWARE, 1)))
"""The driver has no entry for what stays in hardware: those registers are not used then."""


class _PartWidth(Codec):
    """A width less one, where 0 stays 0."""

    def encode(self, value: int, width: int) -> int:
        return super().encode(max(value - 1, 0), width)


PART_WIDTH = _PartWidth()


class _Low(Codec):
    """The low bits of a value: a driver writes the low word of an address alone."""

    def encode(self, value: int, width: int) -> int:
        return value & ((1 << width) - 1)


LOW = _Low()


class _Pattern(Codec):
    """A number or the pattern of one: both stand in a wider signed number of the descriptor."""

    def encode(self, value: int, width: int) -> int:
        half = 1 << (width - 1)
        if not -half <= value < 2 * half:
            raise InputError(f"must be {-half} to {2 * half - 1}, not {value}")
        return value & (2 * half - 1)


PATTERN = _Pattern()


def size_rows(cube: str, unit: str, register: str, field: str) -> tuple[Row, ...]:
    """Return the rows of the three sizes of a cube, in registers and fields with an axis for the braces."""
    return tuple(
        row(f"{cube}.{axis}", f"{unit}.{register.format(axis.upper())}.{field.format(axis)}", codec=MINUS_ONE)
        for axis in ("width", "height", "channel")
    )


def stride_rows(cube: str, unit: str, prefix: str, when: str = "") -> tuple[Row, ...]:
    """Return the rows of line and surface stride of a cube."""
    low = prefix.lower()
    return (
        row(f"{cube}.line_stride", f"{unit}.D_{prefix}_LINE_STRIDE.{low}_line_stride", when=when),
        row(f"{cube}.surf_stride", f"{unit}.D_{prefix}_SURFACE_STRIDE.{low}_surface_stride", when=when),
    )


def reciprocal(side: int, *, is_float: bool) -> int:
    """Return PDP's word for one over the side of a window, cut off as the public driver does."""
    return int(FP17.encode(np.array([1 / side]))[0]) if is_float else (1 << 16) // side
