"""Surfaces that RUBIK and BDMA move besides cubes: planes and lines in memory."""

from __future__ import annotations

from dataclasses import dataclass

from models.errors import InputError
from models.layout import LinesLayout, PlanarLayout
from tb.nvdla.memory import Ram
from tb.nvdla.surfaces.cube import check_address


@dataclass(frozen=True)
class PlanarSurface:
    """One plane per channel in memory, as RUBIK splits and merges them.

    Raises:
        InputError: when the address is not a multiple of 64 bytes, or the planes leave the address space.
    """

    layout: PlanarLayout
    address: int
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        alignment = self.layout.alignment.start_address_bytes
        if self.address < 0 or self.address % alignment:
            raise InputError(f"address must be a multiple of {alignment} bytes, not {self.address:#x}")
        check_address(self.address, self.layout.nbytes, self.layout.config)


@dataclass(frozen=True)
class LinesSurface:
    """Lines in memory, as BDMA copies them.

    Raises:
        InputError: when the address is not a multiple of the atom, or the lines leave the address space.
    """

    layout: LinesLayout
    address: int
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        check_address(self.address, self.layout.nbytes, self.layout.config)
