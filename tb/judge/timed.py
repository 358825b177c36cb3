"""Bounds of the counters of cycles, from what was seen of their layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tb.judge.tracker import StartedLayer
from tb.nvdla.memory import Ram
from tb.nvdla.timed import DATA_READ_ID, READ_LATENCY, TIMED


@dataclass
class _Run:
    """A run of a unit's register group.

    Attributes:
        begun: Cycle in which it was enabled.
        alone: Whether no other run of the unit overlaps it.
        most: Most cycles that the unit can have counted by its end; None until it has ended.
    """

    begun: int
    alone: bool
    most: int | None = None


class TimedBounds:
    """Knows the least and the most that a counter of cycles can have counted.

    The most are the cycles from the write that enabled the unit, for the first time where its counters add up, to the
    access that showed the end. The reads of data that CDMA has sent were awaited for the latency of memory at least.
    """

    def __init__(self, latency_cycles: Mapping[Ram, int]) -> None:
        """Start from the reset state.

        Args:
            latency_cycles: From a read to its first answer at least, by port.
        """
        self._latency = latency_cycles
        self.reset()

    def reset(self) -> None:
        """Forget all runs, as a reset of the DUT clears the counters."""
        self._runs: dict[tuple[str, int], _Run] = {}
        self._first: dict[str, int] = {}
        self._silent: set[str] = set()
        self._reads: dict[Ram, list[NDArray[np.int64]]] = {}

    def enable(self, unit: str, group: int, cycle: int | None) -> None:
        """Note that a unit's register group was enabled."""
        if unit not in TIMED or cycle is None:
            return
        others = [run for (name, _), run in self._runs.items() if name == unit and run.most is None]
        for run in others:
            run.alone = False
        self._runs[unit, group] = _Run(cycle, not others)
        self._first.setdefault(unit, cycle)
        if unit == "CDMA" and not others:
            self._reads.clear()

    def reads(self, ram: Ram, cycles: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Take reads that were accepted."""
        kept = cycles[ids == DATA_READ_ID]
        if len(kept):
            self._reads.setdefault(ram, []).append(kept)

    def start(self, started: StartedLayer) -> None:
        """Note a layer whose units may not count."""
        self._silent |= {
            unit for unit in started.groups if unit in TIMED and not _counts(started, unit, TIMED[unit].enable)
        }

    def end(self, started: StartedLayer, cycle: int | None) -> None:
        """Note that a layer was seen to have ended."""
        for unit, group in started.groups.items():
            run = self._runs.get((unit, group))
            if run is not None and cycle is not None:
                run.most = cycle - (self._first[unit] if TIMED[unit].accumulates else run.begun)

    def of(self, started: StartedLayer, unit: str, register: str, cycle: int | None) -> tuple[int, int] | None:
        """Return the least and the most that a counter can hold after a layer, or None when nothing is known.

        A counter that does not add up is cleared by layers that count, so one that does not leaves it as it was.
        """
        timed, run = TIMED.get(unit), self._runs.get((unit, started.groups.get(unit, 0)))
        if timed is None or run is None or run.most is None or cycle is None:
            return None
        used = timed.registers.get(register)
        if used is None or not used(started.layer) or not _counts(started, unit, timed.enable):
            return None
        if not timed.accumulates and unit in self._silent:
            return None
        least = self._awaited(run, cycle) if f"{unit}.{register}" == READ_LATENCY and run.alone else 0
        return least, run.most

    def _awaited(self, run: _Run, until: int) -> int:
        """Return for how many cycles of a run reads of data have waited for memory at least."""
        most = 0
        for ram, parts in self._reads.items():
            cycles = np.concatenate(parts)
            cycles = cycles[(cycles >= run.begun) & (cycles < until)]
            if len(cycles):
                latency = self._latency[ram]
                most = max(most, int(np.minimum(np.diff(cycles), latency).sum()) + latency)
        return most


def _counts(started: StartedLayer, unit: str, enable: str) -> bool:
    """Return whether a unit counts cycles for a layer."""
    return f"{unit}.{enable}" in started.counting
