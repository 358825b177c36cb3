"""Ranges of memory that a simulation leaves in a file, for what comes after it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from tb.memory import MemoryImage, Ram

DUMP_FILE = "dump.npz"
"""The file beside a run's result."""

Range = tuple[Ram, int, int]
"""(RAM, address, bytes)."""


def wish(ranges: Iterable[Range]) -> str:
    """Return ranges as the text of an environment variable."""
    return json.dumps([(ram.value, address, nbytes) for ram, address, nbytes in ranges])


def save_ranges(text: str, memories: Mapping[Ram, MemoryImage], path: Path) -> None:
    """Save what memory holds in the ranges of a :func:`wish`."""
    arrays = {
        f"{ram}_{address:x}": memories[Ram(ram)].read_array(address, nbytes)
        for ram, address, nbytes in json.loads(text)
    }
    np.savez_compressed(path, allow_pickle=False, **arrays)


def load_ranges(path: Path, memories: Mapping[Ram, MemoryImage]) -> None:
    """Write saved ranges into memory images."""
    with np.load(path) as file:
        for name in file.files:
            ram, address = name.split("_")
            memories[Ram(ram)].write(int(address, 16), file[name])
