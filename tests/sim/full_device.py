"""cocotb tests, started by test_full_device.py: thresholds at their edges, and layers that never end, on nv_full."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase
from numpy.typing import NDArray

from models.config import HwConfig
from models.layout import Element, FeatureLayout
from tb.judge.beats import Beats
from tb.judge.predictor import Expectation
from tb.judge.text import complaints
from tb.judge.tracker import StartedLayer
from tb.judge.verdict import Ending
from tb.nvdla.program.ops import MemInit, MemLoad, RegRead, RegWrite, SyncWait
from tb.nvdla.registers import RegisterMap
from tb.sim.bench import Bench
from tb.sim.clocking import wait_cycles
from tb.stimulus.trace import read
from tests.unit.nvdla.samples import mismatch

CONFIG = HwConfig.load("nv_full")
REGISTERS = RegisterMap.of(CONFIG)
FLUSHED_CYCLES = 9000
HANG_CYCLES = 5000
ABSOLUTE = 1e-4
"""Of the rule for CDP and PDP; where more is allowed, the relative part of the rule allows it."""


class Altered(Bench):
    """A bench that sees one element of what the DUT writes altered.

    ``pick`` chooses the element and the FP16 pattern to be seen, once the layer is predicted.
    """

    element: Element | None = None
    pick: Callable[[Expectation], tuple[Element, int]]
    _places: Mapping[int, int] = {}

    def alter_element(self, pick: Callable[[Expectation], tuple[Element, int]]) -> None:
        """Alter what the next layer writes."""
        self.pick = pick
        self.judge.watchers.append(self)

    def started(self, layer: StartedLayer, expectation: Expectation, cycle: int | None) -> None:
        """Choose the element."""
        del layer
        self.element, pattern = self.pick(expectation)
        address = expectation.address + whole(expectation.layout).offset(*self.element)
        self._places = {address: pattern & 0xFF, address + 1: pattern >> 8}

    def ended(self, layer: StartedLayer, cycle: int | None) -> None:
        """Do nothing."""

    def see_writes(self, beats: Beats) -> None:
        """Pass on beats with the bytes of the element altered."""
        data = beats.data.copy()
        for place, value in self._places.items():
            lane = place - beats.address.astype(np.int64)
            hit = np.flatnonzero((lane >= 0) & (lane < data.shape[1]))
            data[hit, lane[hit]] = value
        super().see_writes(replace(beats, data=data))


def whole(layout: object) -> FeatureLayout:
    """Return the layout of a cube with its padding channels, which are written and judged like all others."""
    assert isinstance(layout, FeatureLayout)
    shape = (layout.padded_channels, *layout.shape[1:])
    return FeatureLayout(layout.config, layout.precision, shape, layout.line_stride_bytes, layout.surface_stride_bytes)


def fp16_values() -> NDArray[np.float64]:
    """Return every finite FP16 number in order."""
    patterns = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
    return np.unique(patterns[np.isfinite(patterns)].astype(np.float64))


def edge(reference: float, allowance: float) -> tuple[float, float]:
    """Return the largest FP16 number that the allowance admits, and the next one."""
    values = fp16_values()
    first_beyond = int(np.searchsorted(values - reference, allowance, side="right"))
    return float(values[first_beyond - 1]), float(values[first_beyond])


def pattern_of(value: float) -> int:
    """Return the FP16 bits of a number."""
    return int(np.float16(value).view(np.uint16))


def at_the_edge(kind: str, beyond: bool):
    """Return a choice for ``Altered``: the first element of that kind whose threshold admits a wrong value."""

    def pick(expectation: Expectation) -> tuple[Element, int]:
        tolerated = expectation.tolerated
        assert tolerated is not None
        reference, allowed = tolerated.reference, tolerated.tolerance.allowance
        if kind == "identical":
            assert allowed is None
            bits = reference.view(np.uint16).astype(np.int64)
            c, h, w = (int(n) for n in np.argwhere((bits & 0x7FFF) < 0x7BFF)[0])
            return Element(c, h, w), int(bits[c, h, w]) + beyond
        assert allowed is not None
        suits = np.isfinite(reference) & (np.abs(reference) < 60000.0)
        if kind == "absolute":
            suits &= allowed <= ABSOLUTE * (1 + 1e-9)
        if kind == "relative":
            suits &= allowed > ABSOLUTE * (1 + 1e-9)
        for c, h, w in np.argwhere(suits):
            inside, outside = edge(float(reference[c, h, w]), float(allowed[c, h, w]))
            if inside != float(np.float16(reference[c, h, w])):
                return Element(int(c), int(h), int(w)), pattern_of(outside if beyond else inside)
        raise AssertionError(
            f"no element whose threshold is {kind} and admits another FP16 number than the rounded one"
        )

    return pick


@cocotb.test()
async def one_element_is_moved_to_the_edge(dut: SimHandleBase) -> None:
    """Play the layer ``NVDLA_LAYER`` with one element just beyond, or just inside, its threshold."""
    scenario = read(Path(os.environ["NVDLA_LAYER"]), CONFIG)
    beyond = os.environ["NVDLA_SIDE"] == "beyond"
    bench = await Altered.start(dut, CONFIG, scenario.settings, scenario.seed)
    bench.alter_element(at_the_edge(os.environ["NVDLA_KIND"], beyond))
    await bench.play(tuple(op for op in scenario.ops if not isinstance(op, RegRead | SyncWait)))
    verdict = bench.finish()
    assert bench.element is not None
    if not beyond:
        assert verdict.ending is Ending.PASSED, complaints(verdict)
        return
    assert verdict.ending is Ending.MISMATCH
    (finding,) = verdict.findings
    assert (mismatch(finding).elements, mismatch(finding).element) == (1, bench.element)
    assert verdict.worst_margin is not None
    assert verdict.worst_margin > 1.0


@cocotb.test()
async def a_layer_that_the_device_does_not_compute_stays_running(dut: SimHandleBase) -> None:
    """Play ``NVDLA_LAYER`` with registers changed to ask for what the device lacks."""
    scenario = read(Path(os.environ["NVDLA_LAYER"]), CONFIG)
    changed = dict(change.split("=") for change in os.environ["NVDLA_CHANGE"].split())
    bench = await Bench.start(dut, CONFIG, scenario.settings, scenario.seed)
    await bench.play(tuple(op for op in scenario.ops if isinstance(op, MemInit | MemLoad)))
    await wait_cycles(bench.clock, FLUSHED_CYCLES)
    for op in scenario.ops:
        if isinstance(op, RegWrite):
            value = int(changed[op.register], 0) if op.register in changed else op.value
            await bench.csb.write(REGISTERS.parse(op.register), value)
    await wait_cycles(bench.clock, HANG_CYCLES)
    for unit in ("CACC", "SDP"):
        assert await bench.csb.read(REGISTERS.parse(f"{unit}.S_STATUS")) == 1, unit
    assert not any(bench.interrupts.fired.get((unit, 0)) for unit in ("CACC", "SDP"))
    bench.scoreboard.judge()
    assert bench.verdict.written_bytes == 0
