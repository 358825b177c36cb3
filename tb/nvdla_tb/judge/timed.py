"""Bounds of the counters of cycles, from what was seen of their layers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.timed import DATA_READ_ID, READ_LATENCY, TIMED


@dataclass
class Bounds:
    """The least and the most that a counter can hold; nothing is known while ``most`` is None.

    Registers that hold the same count share one object, so that a read of one of them settles it for all.
    """

    least: int
    most: int | None

    def read(self, got: int) -> None:
        """Note what was read: no register changes before its group is enabled again."""
        self.least = self.most = got


@dataclass
class _Run:
    """A run of a unit's register group.

    Attributes:
        group: The register group.
        begun: Cycle in which it was enabled.
        alone: Whether no other run of the unit overlaps it.
        layer: The layer that runs there; None for a unit that does nothing.
        ended: Cycle in which its end was seen; None until then.
    """

    group: int
    begun: int
    alone: bool
    layer: StartedLayer | None = None
    ended: int | None = None


class TimedBounds:
    """Knows the least and the most that a counter of cycles can have counted.

    A layer that counts adds at most the cycles from the write that enabled the unit to the access that showed the end,
    to the count before it where counters add up. The reads of data that CDMA has sent were awaited for the latency of
    memory at least. A layer that does not count leaves nothing new.
    """

    def __init__(self, latency_cycles: Mapping[Ram, int]) -> None:
        """Start from the reset state, with the least cycles from a read to its first answer by port."""
        self._latency = latency_cycles
        self.reset()

    def reset(self) -> None:
        """Forget all runs, as a reset of the DUT clears the counters."""
        self._runs: dict[str, list[_Run]] = {unit: [] for unit in TIMED}
        self._counts: dict[tuple[str, str], Bounds] = {}
        self._held: dict[tuple[str, int, str], Bounds] = {}
        self._reads: dict[Ram, list[NDArray[np.int64]]] = {}

    def enable(self, unit: str, group: int, cycle: int | None) -> None:
        """Note that a unit's register group was enabled; what it held is gone."""
        if unit not in TIMED or cycle is None:
            return
        others = self._runs[unit]
        for run in others:
            run.alone = False
        if unit == "CDMA" and not others:
            self._reads.clear()
        others.append(_Run(group, cycle, not others))
        for register in TIMED[unit].registers:
            self._held.pop((unit, group, register), None)

    def reads(self, ram: Ram, cycles: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Take reads that were accepted."""
        kept = cycles[ids == DATA_READ_ID]
        if len(kept):
            self._reads.setdefault(ram, []).append(kept)

    def start(self, started: StartedLayer) -> None:
        """Note a layer, or the first cube of a batch, that runs in groups that were enabled."""
        for unit, group in started.groups.items():
            run = next((run for run in self._runs.get(unit, ()) if run.group == group and run.layer is None), None)
            if run is not None and not started.cube:
                run.layer = started

    def end(self, started: StartedLayer, cycle: int | None) -> None:
        """Note that a layer was seen to have ended; its units run their layers in turn, whichever end is seen first."""
        for unit, group in started.groups.items():
            runs = self._runs.get(unit, [])
            for run in runs:
                if run.layer is not None and run.group == group and run.layer.index + started.cube == started.index:
                    run.ended = cycle
            last = max((n for n, run in enumerate(runs) if run.ended is not None), default=-1)
            if all(run.ended is not None for run in runs[: last + 1] if run.layer is not None):
                for run in runs[: last + 1]:
                    self._settle(unit, run)
                del runs[: last + 1]

    def of(self, unit: str, group: int, register: str) -> Bounds | None:
        """Return the least and the most that a counter can hold after the last layer of its group."""
        return self._held.get((unit, group, register))

    def _settle(self, unit: str, run: _Run) -> None:
        """Work out what counters hold after a run, which follows those that were worked out before."""
        timed = TIMED[unit]
        for register, used in timed.registers.items():
            before = self._counts.get((unit, register), Bounds(0, 0))
            if run.layer is None or run.ended is None:
                count = Bounds(0, None)
            elif f"{unit}.{timed.enable}" not in run.layer.counting:
                count = Bounds(0, 0) if register in timed.zero and used(run.layer.layer) else before
            elif not used(run.layer.layer):
                count = Bounds(0, None)
            else:
                floor = before if timed.accumulates else Bounds(0, 0)
                least = self._awaited(run, run.ended) if f"{unit}.{register}" == READ_LATENCY and run.alone else 0
                most = None if floor.most is None else floor.most + run.ended - run.begun
                count = Bounds(floor.least + least, most)
            self._counts[unit, register] = self._held[unit, run.group, register] = count

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
