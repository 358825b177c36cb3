"""Ranges of memory that a simulation leaves in a file, for what comes after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
import numpy as np

from tb.nvdla.memory import MemoryImage, Ram

DUMP_FILE = "dump.npz"
"""The file beside a run's result."""


class Range(msgspec.Struct, frozen=True):
    """A range of memory."""

    ram: Ram
    address: int
    nbytes: int


def save_ranges(ranges: Iterable[Range], memories: Mapping[Ram, MemoryImage], path: Path) -> None:
    """Save what memory holds in some ranges."""
    arrays = {f"{r.ram.value}_{r.address:x}": memories[r.ram].read_array(r.address, r.nbytes) for r in ranges}
    np.savez_compressed(path, allow_pickle=False, **arrays)


def load_ranges(path: Path, memories: Mapping[Ram, MemoryImage]) -> None:
    """Write saved ranges into memory images."""
    with np.load(path) as file:
        for name in file.files:
            ram, address = name.split("_")
            memories[Ram(ram)].write(int(address, 16), file[name])
