"""Bytes that each memory port moves, by cycle: what layers really read and write.

``NVDLA_TRAFFIC`` in the environment asks for it.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tb.memory import Ram
from tb.timing import LayerTime

if TYPE_CHECKING:
    from tb.sim.bench import Bench

VARIABLE = "NVDLA_TRAFFIC"


class Traffic:
    """Reads as they are accepted, and write beats, of all ports of a bench."""

    def __init__(self, bench: Bench) -> None:
        """Start without any."""
        self._bench = bench
        self._reads: dict[Ram, list[NDArray[np.int64]]] = defaultdict(list)

    def see_reads(self, ram: Ram, cycles: NDArray[np.int64], beats: NDArray[np.int64]) -> None:
        """Note reads that were accepted."""
        if len(cycles):
            self._reads[ram].append(np.stack([cycles, beats]))

    def between(self, time: LayerTime) -> dict[str, dict[str, int]] | None:
        """Return the bytes of each port while a layer ran, or None when its end was not seen."""
        if time.ended is None:
            return None
        moved = {}
        for ram in self._bench.memories:
            parts = self._reads[ram]
            reads = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0), dtype=np.int64)
            inside = (reads[0] >= time.begun) & (reads[0] <= time.ended)
            width = self._bench.monitors[ram].bus_bytes
            written = sum(
                int(beats.strobe[(beats.cycle >= time.begun) & (beats.cycle <= time.ended)].sum())
                for beats in self._bench.scoreboard.history
                if beats.ram is ram
            )
            moved[ram.value] = {"read": int(reads[1][inside].sum()) * width, "written": written}
        return moved
