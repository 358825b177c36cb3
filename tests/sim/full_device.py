"""cocotb tests, started by test_full_device.py: thresholds at their edges, and layers that never end, on nv_full."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.layout import Element, FeatureLayout
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.program.ops import MemInit, MemLoad, RegRead, RegWrite, SyncWait
from nvdla_tb.sim.bench import Bench
from nvdla_tb.sim.clocking import wait_cycles
from tests.measured import carried
from tests.unit.nvdla.samples import mismatch

CONFIG = HwConfig.load("nv_full")
FLUSHED_CYCLES = 9000
HANG_CYCLES = 5000
ABSOLUTE = 1e-4
"""Of the rule for CDP and PDP; where more is allowed, the relative part of the rule allows it."""

EDGES = [
    ("dc_fp16_4x4x96_k16_comp70", "any"),
    ("wino_fp16_8x8x32_k16_exp16", "any"),
    ("cdp_lrn3_k1_mid", "absolute"),
    ("cdp_lrn3_k1_mid", "relative"),
    ("pdp_avg", "absolute"),
    ("pdp_avg", "relative"),
    ("pdp_max", "identical"),
    ("sdp_bn_batchnorm_ch_mid", "identical"),
]

NOT_COMPUTED = {
    "Winograd of an image": {"CSC.D_DATAIN_FORMAT": 1},
    "a converter for FP16": {"CDMA.D_CVT_CFG": 1},
    "channel post-extension of a cube": {"CSC.D_POST_Y_EXTENSION": 1},
    "batches by Winograd": {
        "CDMA.D_BATCH_NUMBER": 1,
        "CSC.D_BATCH_NUMBER": 1,
        "CACC.D_BATCH_NUMBER": 1,
        "SDP.D_FEATURE_MODE_CFG": 0x105,
    },
    "another number of cubes in CACC": {"CACC.D_BATCH_NUMBER": 1},
    "Winograd with a stride": {"CDMA.D_CONV_STRIDE": 1},
    "another precision in CMAC": {"CMAC_B.D_MISC_CFG": 0x1001},
    "another precision in SDP": {"SDP.D_DATA_FORMAT": 5},
    "INT8 out of 16 bits": {"SDP.D_DATA_FORMAT": 2},
}
"""By what a layer asks for and the device lacks, the registers that ask for it."""


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
@cocotb.parametrize((("layer", "kind"), EDGES), ("beyond", [False, True]))
async def one_element_is_moved_to_the_edge(dut: SimHandleBase, layer: str, kind: str, beyond: bool) -> None:
    """Play a layer with one element just beyond, or just inside, its threshold."""
    scenario = carried(layer)
    bench = await Altered.start(dut, CONFIG, scenario.settings, scenario.seed)
    bench.alter_element(at_the_edge(kind, beyond))
    await bench.play(tuple(op for op in scenario.ops if not isinstance(op, RegRead | SyncWait)))
    verdict = bench.finish()
    assert bench.element is not None
    if not beyond:
        assert verdict.ending is Ending.PASSED, complaints(verdict)
        return
    assert verdict.ending is Ending.MISMATCH
    (finding,) = verdict.findings
    bench.expect_findings(finding.check)
    assert (mismatch(finding).elements, mismatch(finding).element) == (1, bench.element)
    assert verdict.worst_margin is not None
    assert verdict.worst_margin > 1.0


@cocotb.test()
@cocotb.parametrize(asked=list(NOT_COMPUTED))
async def a_layer_that_the_device_does_not_compute_stays_running(dut: SimHandleBase, asked: str) -> None:
    """Play a layer with registers changed to ask for what the device lacks."""
    scenario, changed = carried("wino_fp16_8x8x32_k16_exp16"), NOT_COMPUTED[asked]
    bench = await Bench.start(dut, CONFIG, scenario.settings, scenario.seed)
    await bench.play(tuple(op for op in scenario.ops if isinstance(op, MemInit | MemLoad)))
    await wait_cycles(bench.clock, FLUSHED_CYCLES)
    for op in scenario.ops:
        if isinstance(op, RegWrite):
            await bench.csb.write(op.register, changed.get(op.register, op.value))
    await wait_cycles(bench.clock, HANG_CYCLES)
    for unit in ("CACC", "SDP"):
        assert await bench.csb.read(f"{unit}.S_STATUS") == 1, unit
    assert not any(bench.interrupts.fired.get((unit, 0)) for unit in ("CACC", "SDP"))
    bench.scoreboard.judge_pending()
    assert bench.verdict.written_bytes == 0
    verdict = bench.finish()
    bench.expect_findings(*{finding.check for finding in verdict.failures}, refusal=verdict.refused is not None)
