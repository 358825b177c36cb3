"""Watches hand-overs inside the RTL, named by a file: see ``tb.explain.stages``."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge

from tb.explain.stages import Handover, Stage, StageError, load_stages
from tb.sim.clocking import HIGH, cycle


class StageWatch:
    """Records every beat of some stages."""

    def __init__(self, dut: SimHandleBase, clock: SimHandleBase, stages: Sequence[Stage]) -> None:
        """Find the signals.

        Raises:
            StageError: when one does not exist, or is not visible.
        """
        self.stages = tuple(stages)
        self.seen: dict[str, list[Handover]] = {stage.name: [] for stage in stages}
        self._clock = clock
        self._signals = {
            stage.name: [None if path is None else _signal(dut, stage, path) for path in _paths(stage)]
            for stage in stages
        }

    @classmethod
    def from_env(cls, dut: SimHandleBase, clock: SimHandleBase) -> StageWatch:
        """Return a watch of the stages of the file that ``NVDLA_STAGES`` names."""
        return cls(dut, clock, load_stages(Path(os.environ["NVDLA_STAGES"])))

    def start(self) -> None:
        """Start to watch."""
        for stage in self.stages:
            cocotb.start_soon(self._watch(stage))

    async def _watch(self, stage: Stage) -> None:
        valid, ready, data, address = self._signals[stage.name]
        seen, edge = self.seen[stage.name], RisingEdge(self._clock)
        nbytes = -(-len(data) // 8)
        while True:
            await edge
            if valid.value == HIGH and ready.value == HIGH:
                word = int(data.value).to_bytes(nbytes, "little")
                seen.append(Handover(cycle(), word, None if address is None else int(address.value)))


def _paths(stage: Stage) -> tuple[str | None, ...]:
    return stage.valid, stage.ready, stage.data, stage.address


def _signal(dut: SimHandleBase, stage: Stage, path: str) -> SimHandleBase:
    handle = dut.dut if hasattr(dut, "dut") else None
    for name in path.split("."):
        if handle is None or not hasattr(handle, name):
            raise StageError(f"{stage.name}: the RTL must have {path}, visible in a model built with --debug")
        handle = getattr(handle, name)
    return handle
