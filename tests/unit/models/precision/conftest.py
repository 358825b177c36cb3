"""Layers measured on the real hardware, for the tests that compare against them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import settings

from tests.references import MEASURED, NO_MEASURED

# The literal oracles are slow by design; a busy machine must not fail them.
settings.register_profile("no_deadline", deadline=None)
settings.load_profile("no_deadline")


@dataclass(frozen=True)
class Layer:
    """One measured layer.

    Attributes:
        name: file name without its suffix.
        arrays: as stored; FP16 as uint16 patterns.
        meta: what the file says of itself.
        registers: last value written to each register.
    """

    name: str
    arrays: dict[str, npt.NDArray[Any]]
    meta: dict[str, Any]
    registers: dict[str, int]

    def field(self, register: str, lsb: int, bits: int, signed: bool = False) -> int:
        """Return one field of a register."""
        value = (self.registers[register] >> lsb) & ((1 << bits) - 1)
        return value - (1 << bits) if signed and value >> (bits - 1) else value


Measured = Callable[[str], list[Layer]]


@pytest.fixture(scope="session")
def measured() -> Measured:
    """Return a loader of all layers that match a file pattern; skip when the files are absent."""
    if not MEASURED.is_dir():
        pytest.skip(NO_MEASURED)

    def load(pattern: str) -> list[Layer]:
        return [_load(path) for path in sorted(MEASURED.glob(f"{pattern}.npz"))]

    return load


def _load(path: Path) -> Layer:
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files if key != "meta"}
        meta = json.loads(str(file["meta"]))
    registers = {name: value for name, value in meta.get("registers", []) if value is not None}
    return Layer(path.stem, arrays, meta, registers)
