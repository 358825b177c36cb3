"""The answer that a run leaves in its folder. What only failures need is imported when there is one."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import msgspec
from cocotb.handle import SimHandleBase

from nvdla_models.config import HwConfig
from nvdla_tb.judge.layer_facts import LayerTimes, Traffic, layer_facts
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import Program
from nvdla_tb.sim.altered import Alterations
from nvdla_tb.sim.clocking import cycle
from nvdla_tb.stimulus.exchange import Request
from nvdla_tb.stimulus.result import Performance

if TYPE_CHECKING:
    from nvdla_tb.sim.stages import StageWatch

_RSS_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024


class Judged(Protocol):
    """What is asked of a bench after a run.

    ``began`` is processor time and cycle when the DUT was ready, ``cut`` whether something was still on its way
    at the end.
    """

    config: HwConfig
    alterations: Alterations
    verdict: Verdict
    scoreboard: Scoreboard
    times: LayerTimes
    cut: bool
    traffic: Traffic | None
    watch: StageWatch | None
    began: tuple[float, int]

    @property
    def monitors(self) -> Mapping[Ram, object]:
        """The monitors of the memory ports."""


def performance(began: tuple[float, int]) -> Performance:
    """Return how fast a run was, by processor time and cycle when the DUT was ready."""
    seconds, first = began
    speed = (cycle() - first) / (time.process_time() - seconds)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT_BYTES
    return Performance(speed, seconds, memory)


def leave(bench: Judged, ops: Program, request: Request) -> None:
    """Save the result of a run that was judged in the file of its request; a failure is explained."""
    assert request.result is not None
    path = Path(request.result)
    layers = layer_facts(bench.times, bench.verdict, bench.traffic)
    result = msgspec.structs.replace(
        request.so_far, verdict=bench.verdict, performance=performance(bench.began), layers=layers
    )
    result.save(path)
    if bench.verdict.needs_explanation:
        from nvdla_tb.sim.failure import explained

        explained(path.parent, bench, ops, request, result).save(path)


def stage_watch(dut: SimHandleBase, request: Request) -> StageWatch | None:
    """Return what watches hand-overs inside the DUT, None unless the launcher asks for it, as for a failure."""
    if request.stages is None:
        return None
    from nvdla_tb.explain.handovers import load_handovers
    from nvdla_tb.sim.stages import StageWatch

    return StageWatch(dut, dut.dla_core_clk, load_handovers(Path(request.stages)))
