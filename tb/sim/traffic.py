"""Bytes that each memory port moves, by cycle: what layers really read and write."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tb.judge.layer_facts import Moved
from tb.judge.scoreboard import Scoreboard
from tb.judge.timing import LayerTime
from tb.nvdla.memory import Ram
from tb.sim.memory_port import MemoryPortMonitor
from tb.sim.native_port import NativePort


class Traffic:
    """Reads as they are accepted, and write beats, of all ports of a bench."""

    def __init__(self, ports: Mapping[Ram, MemoryPortMonitor | NativePort], scoreboard: Scoreboard) -> None:
        """Start without any; the scoreboard keeps write beats."""
        self._ports, self._scoreboard = ports, scoreboard
        self._reads: dict[Ram, list[NDArray[np.int64]]] = defaultdict(list)

    def see_reads(self, ram: Ram, cycles: NDArray[np.int64], beats: NDArray[np.int64]) -> None:
        """Note reads that were accepted."""
        if len(cycles):
            self._reads[ram].append(np.stack([cycles, beats]))

    def between(self, time: LayerTime) -> dict[Ram, Moved] | None:
        """Return the bytes of each port while a layer ran, or None when its end was not seen."""
        if time.ended is None:
            return None
        moved = {}
        for ram, port in self._ports.items():
            parts = self._reads[ram]
            reads = np.concatenate(parts, axis=1) if parts else np.zeros((2, 0), dtype=np.int64)
            inside = (reads[0] >= time.begun) & (reads[0] <= time.ended)
            written = sum(
                int(beats.strobe[(beats.cycle >= time.begun) & (beats.cycle <= time.ended)].sum())
                for beats in self._scoreboard.history
                if beats.ram is ram
            )
            moved[ram] = Moved(int(reads[1][inside].sum()) * port.bus_bytes, written)
        return moved
