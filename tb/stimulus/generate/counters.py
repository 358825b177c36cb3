"""Statistics of layers in programs: what enables them, and what reads them once a layer has ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tb.nvdla.engines import ENGINES
from tb.nvdla.program.ops import RegRead, RegWrite

_ENABLES = {unit: word for engine in ENGINES for unit, word in engine.counting.items()}
COUNTERS = {unit: registers for engine in ENGINES for unit, registers in engine.counters.items()}
"""Registers whose values or bounds are known, by unit."""


def enables(units: Iterable[str]) -> list[RegWrite]:
    """Return the writes that let units count; some do so without being told."""
    return [RegWrite(f"{unit}.D_PERF_ENABLE", _ENABLES[unit]) for unit in units if unit in _ENABLES]


def reads(unit: str) -> Iterator[RegRead]:
    """Yield reads of what a unit has counted."""
    return (RegRead(f"{unit}.{register}") for register in COUNTERS[unit])
