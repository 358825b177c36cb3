"""Loaders of layers measured on the real hardware and of golden traces."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from tests.references import MEASURED, NO_MEASURED, NO_TRACES, TRACES


@dataclass(frozen=True)
class MeasuredLayer:
    """One measured layer: arrays as stored (FP16 as uint16 patterns) and what the file says of itself."""

    name: str
    arrays: dict[str, npt.NDArray[Any]]
    meta: dict[str, Any]

    @property
    def registers(self) -> dict[str, int]:
        """Last value written to each register."""
        return {name: value for name, value in self.meta.get("registers", []) if value is not None}

    def field(self, register: str, lsb: int, bits: int, signed: bool = False) -> int:
        """Return one field of a register."""
        value = (self.registers[register] >> lsb) & ((1 << bits) - 1)
        return value - (1 << bits) if signed and value >> (bits - 1) else value


Measured = Callable[[str], list[MeasuredLayer]]


@dataclass(frozen=True)
class Trace:
    """One golden trace: last value of each register, memory images by address, and the CRC checks."""

    name: str
    registers: dict[str, int]
    images: dict[int, npt.NDArray[np.uint8]]
    checks: list[tuple[int, int, int]]


def load_measured(pattern: str = "*") -> list[MeasuredLayer]:
    """Return the measured layers whose names match; skip the test when the files are absent."""
    if not MEASURED.is_dir():
        pytest.skip(NO_MEASURED)
    layers = []
    for path in sorted(MEASURED.glob(f"{pattern}.npz")):
        with np.load(path) as file:
            arrays = {key: file[key] for key in file.files if key != "meta"}
            layers.append(MeasuredLayer(path.stem, arrays, json.loads(str(file["meta"]))))
    return layers


def load_traces() -> list[Trace]:
    """Return every nv_small trace; skip the test when they are absent."""
    if not TRACES.is_dir():
        pytest.skip(NO_TRACES)
    return [_load_trace(path) for path in sorted(TRACES.glob("nv_small*/*/*.cfg"))]


def _load_trace(path: Path) -> Trace:
    text = path.read_text()
    writes = re.findall(r"reg_write\(NVDLA_(\w+)\.(\w+)_0,\s*(\w+)\)", text)
    sizes = {int(at, 0): int(size, 0) for at, size in re.findall(r"mem_init\(\w+,\s*(\w+),\s*(\w+)", text)}
    images = {}
    for at, name in re.findall(r'mem_load\(\w+,\s*(\w+),\s*"([^"]+)"', text):
        data = _load_dat(path.parent / name)
        image = np.zeros(max(data.size, sizes.get(int(at, 0), 0)), dtype=np.uint8)
        image[: data.size] = data
        images[int(at, 0)] = image
    checks = re.findall(r"check_crc\(\w+,\s*\w+,\s*(\w+),\s*(\w+),\s*(\w+)\)", text)
    return Trace(
        path.parent.name,
        {f"{unit}.{register}": int(value, 0) for unit, register, value in writes},
        images,
        [(int(at, 0), int(size, 0), int(crc, 0)) for at, size, crc in checks],
    )


def _load_dat(path: Path) -> npt.NDArray[np.uint8]:
    """Return the bytes of a trace's memory file; what it does not mention is 0."""
    raw = bytearray()
    for at, payload in re.findall(r"offset:\s*(\w+),\s*size:\s*\w+,\s*payload:([^}]*)}", path.read_text()):
        chunk = bytes(int(value, 0) for value in payload.split())
        start = int(at, 0)
        raw.extend(bytes(max(0, start + len(chunk) - len(raw))))
        raw[start : start + len(chunk)] = chunk
    return np.frombuffer(bytes(raw), dtype=np.uint8)
