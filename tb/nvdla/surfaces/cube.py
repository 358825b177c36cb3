"""Cubes and operands in memory."""

from __future__ import annotations

from dataclasses import dataclass

from models.config import HwConfig
from models.errors import InputError
from models.layout import FeatureLayout, OperandLayout
from tb.nvdla.memory import Ram


@dataclass(frozen=True)
class Surface:
    """A feature cube in memory.

    Raises:
        InputError: when the address is not a multiple of the atom, or the cube leaves the address space.
    """

    layout: FeatureLayout
    address: int
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        check_address(self.address, self.layout.nbytes, self.layout.config)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of the cube."""
        return self.layout.shape


@dataclass(frozen=True)
class OperandSurface:
    """Operands of an SDP stage in memory.

    Raises:
        InputError: when the address is not a multiple of the feature atom, or the operands leave the
            address space.
    """

    layout: OperandLayout
    address: int
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        check_address(self.address, self.layout.nbytes, self.layout.config)


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
