"""Convolutions of the real hardware, from register writes to output bytes, without a simulator."""

from __future__ import annotations

import zlib
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.fp16 import FP16
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.predictor import Expectation, predict
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import CheckCrc, MemInit, MemLoad
from nvdla_tb.nvdla.surfaces import Surface
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.scenario import Scenario, apply_memory_op
from nvdla_tb.stimulus.trace import read
from tests.measured import load_measured, scenario_of
from tests.references import TRACES, needs_traces
from tests.unit.nvdla.registers_helper import Tracked

FOLDERS = [*sorted(TRACES.glob("nv_small/dc_*")), *sorted(TRACES.glob("nv_small_measured/*"))]


def memory_of(scenario: Scenario) -> MemoryImage:
    memory = MemoryImage()
    for op in scenario.ops:
        if isinstance(op, MemInit | MemLoad):
            apply_memory_op({Ram.MC: memory}, op)
    return memory


def predicted(scenario: Scenario, config: HwConfig, memory: MemoryImage) -> Expectation:
    """Follow register writes and return what the one layer that they start must write."""
    (started,) = Tracked(config).ops(*scenario.ops)
    return predict(started, lambda ram, address, nbytes: memory.read_array(address, nbytes))


@needs_traces
@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_golden_crc_comes_out_of_memory_and_register_writes(folder: Path) -> None:
    config = HwConfig.load("nv_small")
    scenario = read(folder, config)
    memory = memory_of(scenario)
    expected = predicted(scenario, config, memory)
    (check,) = (op for op in scenario.checks if isinstance(op, CheckCrc))
    gaps = memory.read_array(expected.address, len(expected.data))
    memory.write(expected.address, np.where(expected.must_write, expected.data, gaps))
    assert zlib.crc32(memory.read(check.address, check.nbytes)) == check.crc


def judged(expected: Expectation, raw: NDArray[np.uint8], *, exact: bool) -> Verdict:
    """Let the hardware's bytes be judged."""
    board = Scoreboard(exact)
    board.expect(expected)
    for start in range(0, len(raw), 32):
        atom = raw[start : start + 32].tobytes()
        board.write_beats(Beats.of(expected.ram, expected.address + start, atom, 0xFFFFFFFF, 0, 1))
    return board.finish()


@pytest.mark.slow
def test_every_measured_convolution_comes_out_of_its_register_writes_bit_by_bit_and_within_the_threshold() -> None:
    config = HwConfig.load("nv_full")
    counts: Counter[str] = Counter()
    worst: dict[str, float] = {}
    for layer in load_measured():
        family = layer.name.rpartition("fp16_")[0] or layer.name.split("_")[0]
        if not layer.name.startswith(("dc_", "wino_")) or "registers" not in layer.meta:
            continue
        scenario = scenario_of(layer)
        expected = predicted(scenario, config, memory_of(scenario))
        raw = layer.arrays["raw_output"]
        np.testing.assert_array_equal(expected.data, raw, strict=True, err_msg=layer.name)
        assert expected.must_write.all()
        for exact in (False, True):
            verdict = judged(expected, raw, exact=exact)
            assert verdict.ending is Ending.PASSED, (layer.name, complaints(verdict))
            if not exact and verdict.worst_margin is not None:
                assert expected.tolerated is not None
                module = expected.tolerated.tolerance.module.value
                worst[module] = max(worst.get(module, 0.0), verdict.worst_margin)
        counts[family] += 1
    assert counts == {"dc_": 17, "dc": 4, "wino_": 4, "wino": 2}
    assert sorted(worst) == ["CC DC", "CC Winograd"]
    assert all(0.4 < part < 0.75 for part in worst.values()), worst


def test_a_nan_in_a_padding_channel_counts_in_winograd_alone() -> None:
    config = HwConfig.load("nv_full")
    for winograd in (False, True):
        layer = {"engine": "CONV", "shape": [1, 12, 12], "kernels": 16, "kernel": [3, 3], "precision": "fp16"}
        layer["winograd"] = winograd
        scenario = PlanEntry("padding", "", "nv_full", {"layer": [layer]}).build(config, 5)
        memory = memory_of(scenario)
        before = predicted(scenario, config, memory)
        src = before.started.layer.src
        assert isinstance(src, Surface)
        nan = np.array([FP16.infinity_bits | 1], np.uint16).view(np.uint8)
        memory.write(src.address + src.layout.precision.nbytes, nan)
        after = predicted(scenario, config, memory)
        nans = [int(FP16.is_nan(found.data.view(np.uint16)).sum()) for found in (before, after)]
        assert nans == [0, 16 * 4 if winograd else 0], "a NaN in a tile makes its 2 x 2 outputs NaN"
