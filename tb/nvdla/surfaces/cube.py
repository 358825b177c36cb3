"""Cubes, operands, planes and lines in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from models.config import HwConfig
from models.errors import InputError
from models.layout import FeatureLayout, LinesLayout, OperandLayout, PlanarLayout
from tb.nvdla.memory import Ram

L = TypeVar("L", FeatureLayout, OperandLayout, PlanarLayout, LinesLayout)


@dataclass(frozen=True)
class Placed(Generic[L]):
    """Something that lies in memory as a layout says.

    Raises:
        InputError: when the address is not a multiple of the atom, or there is no room after it in the address space.
    """

    layout: L
    address: int
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        check_address(self.address, self.layout.nbytes, self.layout.config)


class Surface(Placed[FeatureLayout]):
    """A feature cube in memory."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of the cube."""
        return self.layout.shape


class OperandSurface(Placed[OperandLayout]):
    """Operands of an SDP stage in memory."""


class LinesSurface(Placed[LinesLayout]):
    """Lines in memory, as BDMA copies them."""


class PlanarSurface(Placed[PlanarLayout]):
    """One plane per channel in memory, as RUBIK splits and merges them, at a multiple of 64 bytes."""

    def __post_init__(self) -> None:
        alignment = self.layout.alignment.start_address_bytes
        if self.address < 0 or self.address % alignment:
            raise InputError(f"address must be a multiple of {alignment} bytes, not {self.address:#x}")
        super().__post_init__()


def check_address(address: int, nbytes: int, config: HwConfig) -> None:
    """Refuse an address that is not a multiple of the atom, or has no room after it.

    Raises:
        InputError: naming the rule.
    """
    atom = config.memory_atomic_bytes
    if address < 0 or address % atom:
        raise InputError(f"address must be a multiple of the {atom}-byte atom, not {address:#x}")
    if address + nbytes > 1 << config.memif_address_width_bits:
        raise InputError(
            f"address must leave room for {nbytes} bytes in the {config.memif_address_width_bits}-bit address "
            f"space of {config.name}, not {address:#x}"
        )
