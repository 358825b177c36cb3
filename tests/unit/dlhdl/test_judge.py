from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dlhdl_tb.config import DlhdlConfig
from dlhdl_tb.handshake_rules import HandshakeRule
from dlhdl_tb.judge import DlhdlJudge, packed_frame
from dlhdl_tb.program import ACTIVATION_BASE
from dlhdl_tb.scenario import DlhdlEntry, DlhdlScenario
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import HandshakeViolation, Mismatch
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaints
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.nvdla.memory import MemoryImage, Ram

LAYERS = [
    {"kind": "conv", "features": "N+1", "kernel": [3, 3], "padding": [1, 1, 1, 1]},
    {"kind": "fc", "features": 6},
]
DATA = {"input": ["C+1", 4, 5], "layer": LAYERS, "frames": 3}
STREAM = {**DATA, "mode": "stream", "input_slots": 2, "output_slots": 2}


class Core:
    """Writes what the model computes, or what a test makes of it."""

    def __init__(self, name: str = "dlhdl_int8_9", data: dict[str, Any] = DATA) -> None:
        self.scenario: DlhdlScenario = DlhdlEntry("t", "", data).build(DlhdlConfig.load(name), 1)
        self.program = self.scenario.program
        self.image = MemoryImage(limit=1 << 32)
        self.program.reserve(self.image)
        self.judge = DlhdlJudge(self.scenario, self.image)

    def give(self, frame: int) -> None:
        offset = ACTIVATION_BASE + self.program.inputs.offset(frame)
        self.image.write(offset, packed_frame(self.scenario, frame))
        self.judge.given(frame, 0)

    def compute(self, frame: int, change: Callable[[int, np.ndarray], np.ndarray] = lambda _, data: data) -> None:
        results = self.program.network.results(self.scenario.frames[frame])
        self.judge.reads(Ram.ACTIVATION, ACTIVATION_BASE + self.program.inputs.offset(frame), 4, 0, 1)
        for number, (value, tensor) in enumerate(zip(results, self.program.network.tensors, strict=True)):
            plain = value if isinstance(value, np.ndarray) else value.value.astype(np.float32)
            self.write(self.program.address(number, frame), change(number, tensor.layout.pack(plain)))

    def write(self, address: int, data: np.ndarray) -> None:
        width = self.scenario.config.beat_bytes
        for start in range(0, len(data), width):
            part = data[start : start + width]
            self.judge.writes(Beats.of(Ram.ACTIVATION, address + start, part.tobytes(), (1 << len(part)) - 1, 7, 0))

    def rules(self) -> list[HandshakeRule]:
        findings = self.judge.finish(10).findings
        return [HandshakeRule(found.detail.rule) for found in findings if isinstance(found.detail, HandshakeViolation)]


@pytest.mark.parametrize("name", ["dlhdl_int8_4", "dlhdl_int8_64", "dlhdl_single_9", "dlhdl_single_64"])
def test_a_batch_that_writes_what_the_model_says_passes(name: str) -> None:
    core = Core(name)
    for frame in range(3):
        core.give(frame)
    for frame in range(3):
        core.compute(frame)
    core.judge.done(9)
    verdict = core.judge.finish(10)
    assert complaints(verdict) == []
    assert verdict.judged_bytes == 3 * sum(tensor.layout.nbytes for tensor in core.program.network.tensors)
    assert len(verdict.margins) == (6 if "single" in name else 0)


def flipped(at: int, bit: int) -> Callable[[int, np.ndarray], np.ndarray]:
    def change(number: int, data: np.ndarray) -> np.ndarray:
        data = data.copy()
        if number == 0:
            data[at] ^= bit
        return data

    return change


@pytest.mark.parametrize("name", ["dlhdl_int8_9", "dlhdl_single_9"])
def test_a_wrong_value_has_its_element_and_its_layer(name: str) -> None:
    core = Core(name)
    core.give(0)
    width = core.scenario.config.data_type.dtype.itemsize
    core.compute(0, flipped(width * (4 * 7 + 2) + width - 1, 0x40))
    finding = core.judge.finish(10).findings[0]
    assert isinstance(finding.detail, Mismatch)
    assert tuple(finding.detail.element or ()) == (2, 1, 2)
    assert finding.layer is not None
    assert finding.layer.name == "layer 0 (CONVOLUTION, frame 0)"
    assert (finding.check, finding.detail.elements) == (Check.VALUE, 1)


@pytest.mark.parametrize("name", ["dlhdl_int8_9", "dlhdl_single_9"])
def test_a_padding_lane_must_be_0(name: str) -> None:
    core = Core(name)
    core.give(0)
    core.compute(0, flipped(3 * core.scenario.config.data_type.dtype.itemsize, 1))
    finding = core.judge.finish(10).findings[0]
    assert isinstance(finding.detail, Mismatch)
    assert (finding.check, finding.detail.element, finding.detail.expected) == (Check.VALUE, None, 0)


def test_a_single_beyond_its_bound_is_told_with_it() -> None:
    core = Core("dlhdl_single_9")
    core.give(0)
    core.compute(0, flipped(3, 0x80))
    (line,) = complaints(core.judge.finish(10))
    assert "within" in line
    assert "bound of this testbench for single, as the vendor publishes none" in line


def test_a_byte_that_is_never_written_is_missing() -> None:
    core = Core()
    core.give(0)
    core.compute(0, lambda number, data: data[:-4] if number else data)
    assert core.judge.finish(10).ending is Ending.MISMATCH


def test_done_before_the_last_write_is_early() -> None:
    core = Core()
    core.give(0)
    core.judge.done(9)
    core.compute(0)
    assert core.rules() == [HandshakeRule.DONE_EARLY]


def streaming() -> Core:
    core = Core(data=STREAM)
    core.judge.asked(0, 0, core.program.inputs.stride, 1)
    core.give(0)
    core.compute(0)
    return core


def test_a_stream_in_order_breaks_no_rule() -> None:
    core = streaming()
    inputs, outputs = core.program.inputs, core.program.outputs
    for frame in (1, 2):
        core.judge.asked(frame, inputs.offset(frame), inputs.stride, 2)
        core.judge.asked(frame, inputs.offset(frame), inputs.stride, 3)
        core.judge.offered(frame - 1, outputs.offset(frame - 1), outputs.stride, 4)
        core.judge.offered(frame - 1, outputs.offset(frame - 1), outputs.stride, 4)
        core.judge.read_out(frame - 1)
        core.give(frame)
        core.compute(frame)
    core.judge.offered(2, outputs.offset(2), outputs.stride, 4)
    core.judge.read_out(2)
    core.judge.streaming_done(3, owed=False, cycle=9)
    assert complaints(core.judge.finish(10)) == []


def changed_input(core: Core) -> None:
    core.judge.asked(1, core.program.inputs.offset(1), core.program.inputs.stride, 2)
    core.judge.asked(1, core.program.inputs.offset(1) + 4, core.program.inputs.stride, 3)


def changed_output(core: Core) -> None:
    core.judge.offered(0, core.program.outputs.offset(0), core.program.outputs.stride, 2)
    core.judge.offered(0, core.program.outputs.offset(0), 0, 3)


def overwritten(core: Core) -> None:
    core.judge.offered(0, core.program.outputs.offset(0), core.program.outputs.stride, 2)
    core.write(core.program.address(1, 0), np.zeros(4, dtype=np.uint8))


def early(core: Core) -> None:
    core.give(1)
    core.judge.offered(0, core.program.outputs.offset(0), core.program.outputs.stride, 2)
    core.judge.read_out(0)
    core.judge.offered(1, core.program.outputs.offset(1), core.program.outputs.stride, 2)


def read_early(core: Core) -> None:
    core.judge.asked(2, core.program.inputs.offset(2), core.program.inputs.stride, 2)
    core.judge.reads(Ram.ACTIVATION, ACTIVATION_BASE, 4, 0, 3)


@pytest.mark.parametrize(
    ("fault", "rule"),
    [
        (changed_input, HandshakeRule.INPUT_STAYS),
        (lambda core: core.judge.asked(1, 0, core.program.inputs.stride, 1), HandshakeRule.INPUT_ADDRESS),
        (lambda core: core.judge.asked(1, core.program.inputs.offset(1), 4, 1), HandshakeRule.INPUT_SIZE),
        (lambda core: core.judge.asked_beyond(3, 1), HandshakeRule.INPUT_BEYOND),
        (read_early, HandshakeRule.READ_EARLY),
        (changed_output, HandshakeRule.OUTPUT_STAYS),
        (lambda core: core.judge.offered(0, 0, core.program.outputs.stride, 1), HandshakeRule.OUTPUT_ADDRESS),
        (lambda core: core.judge.offered(0, core.program.outputs.offset(0), 1, 1), HandshakeRule.OUTPUT_SIZE),
        (early, HandshakeRule.OUTPUT_EARLY),
        (overwritten, HandshakeRule.OVERWRITTEN),
        (lambda core: core.judge.offered(1, 0, 0, 1), HandshakeRule.OUTPUT_UNASKED),
        (lambda core: core.judge.streaming_done(1, owed=True, cycle=1), HandshakeRule.STREAMING_DONE_EARLY),
    ],
)
def test_each_rule_of_the_handshake_can_be_broken(fault: Callable[[Core], None], rule: HandshakeRule) -> None:
    core = streaming()
    fault(core)
    assert core.rules() == [rule]


def test_a_read_outside_all_regions_and_one_of_poison_are_found() -> None:
    core = Core()
    core.give(0)
    core.judge.reads(Ram.ACTIVATION, 0x8000_0000 - 4, 4, 3, 1)
    core.judge.reads(Ram.ACTIVATION, core.program.address(0, 0), 4, 3, 2)
    core.compute(0)
    lines = complaints(core.judge.finish(10))
    assert [line.split(":")[0] for line in lines] == ["activation data", "activation data"]
    assert "outside every allocation" in lines[0]
    assert "was never written (SystemBuffer of layer 0+0x0)" in lines[1]


def test_what_is_written_while_a_reset_drains_is_not_judged() -> None:
    core = Core()
    core.give(0)
    core.judge.dropping = True
    core.write(core.program.address(0, 0), np.full(8, 99, dtype=np.uint8))
    core.judge.begin()
    core.judge.dropping = False
    core.give(0)
    core.compute(0)
    assert complaints(core.judge.finish(10)) == []


def test_a_master_that_moves_while_the_core_is_held_is_told() -> None:
    core = Core("dlhdl_int8_4")
    core.judge.moved_while_held(9)
    assert core.rules() == [HandshakeRule.HELD]


def test_a_register_that_a_reset_has_not_cleared_is_told() -> None:
    core = Core("dlhdl_int8_4")
    core.judge.cleared("FrameCount", 0, 5)
    core.judge.cleared("StreamingMode", 1, 6)
    (found,) = core.judge.finish(10).findings
    assert (found.check, found.cycle) == (Check.REGISTER, 6)
    assert complaints(core.judge.verdict) == ["StreamingMode must be 0 after a reset, not 0x1"]
