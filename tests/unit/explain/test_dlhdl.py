"""Causes of the Deep Learning HDL processor: each is found in bytes that a changed network or layout gives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from dlhdl_models.layout import ConvolutionDataLayout, DlhdlType
from dlhdl_models.single import Bounded
from dlhdl_tb.config import PLAN, DlhdlConfig
from dlhdl_tb.explain.runs import explain_dlhdl, loaded_weights, with_frames
from dlhdl_tb.judge import DlhdlJudge
from dlhdl_tb.network import Layer, Network
from dlhdl_tb.scenario import DlhdlEntry, DlhdlScenario, load_plan, save
from nvdla_tb.explain import record
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.text import Explanation
from nvdla_tb.judge.beats import Beats
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.run.explained import explain_folder

Bytes = NDArray[np.uint8]

CORE, SINGLE = DlhdlConfig.load("dlhdl_int8_9"), DlhdlConfig.load("dlhdl_single_9")
CONV = {"kind": "conv", "features": "C+1", "kernel": [3, 2], "stride": [2, 1], "padding": [1, 0, 0, 1]}
IMAGE = {"input": ["2C+1", 5, 6], "layer": [CONV]}
TWO = {"input": ["C+1", 4, 5], "layer": [CONV, {**CONV, "stride": [1, 1]}]}
DENSE = {"input": ["C+1", 2, 3], "layer": [{"kind": "fc", "features": 6}]}
SUM = {
    "input": ["C+1", 3, 4],
    "layer": [
        {"kind": "conv", "features": "C+1", "kernel": [1, 1]},
        {"kind": "conv", "features": "C+1", "kernel": [1, 1], "source": -1},
        {"kind": "add", "source": 0, "second": 1},
    ],
}
AVERAGE = {"input": ["C+1", 5, 4], "layer": [{"kind": "average_pool", "kernel": [3, 3], "padding": [1, 1, 1, 1]}]}
MAXIMUM = {"input": ["C+1", 5, 4], "layer": [{"kind": "max_pool", "kernel": [3, 3], "padding": [1, 1, 1, 1]}]}
STREAM = {**IMAGE, "mode": "stream", "frames": 3, "input_slots": 2}


def built(data: dict[str, Any], config: DlhdlConfig = CORE) -> DlhdlScenario:
    return DlhdlEntry("it", "", data).build(config, 3)


def beats_of(address: int, data: Bytes, cycle: int, width: int) -> Beats:
    parts = [
        Beats.of(Ram.ACTIVATION, address + at, data[at : at + width].tobytes(), (1 << width) - 1, cycle + at, 0)
        for at in range(0, len(data), width)
    ]
    return Beats.joined(parts)


def seen_of(scenario: DlhdlScenario, wrong: dict[int, Bytes]) -> Seen:
    """Return the record of a run in which layers, by their index, have written other bytes."""
    image = MemoryImage(limit=1 << 32)
    scenario.program.reserve(image)
    judge = DlhdlJudge(scenario, image)
    for frame in range(len(scenario.frames)):
        judge.given(frame, 0)
    for expectation, _ in list(judge.scoreboard.expected):
        index = expectation.id.index
        data = wrong.get(index, expectation.data)
        judge.scoreboard.write_beats(beats_of(expectation.address, data, 1000 * index, scenario.config.beat_bytes))
        judge.scoreboard.judge_pending()
    return Seen.of(judge.scoreboard)


def explained(scenario: DlhdlScenario, wrong: dict[int, Bytes]) -> list[Explanation]:
    return explain_dlhdl(seen_of(scenario, wrong), scenario, 3)


def packed(scenario: DlhdlScenario, number: int, value: Any) -> Bytes:
    values = value.value.astype(np.float32) if isinstance(value, Bounded) else value
    return scenario.program.network.tensors[number].layout.pack(values)


def changed(number: int, **change: Any) -> Callable[[DlhdlScenario], Bytes]:
    """Return what a layer gives when some of its attributes differ."""

    def data(scenario: DlhdlScenario) -> Bytes:
        layers = list(scenario.program.network.layers)
        new = {name: make(layers[number]) if callable(make) else make for name, make in change.items()}
        layers[number] = replace(layers[number], **new)
        return packed(scenario, number, results_of(scenario, layers)[number])

    return data


def results_of(scenario: DlhdlScenario, layers: Sequence[Layer]) -> list[Any]:
    """Return what other layers make of the first frame."""
    network = scenario.program.network
    other = Network(network.config, network.shape, network.exponent, tuple(layers))
    return other.results(scenario.frames[0])


def stale_weights(scenario: DlhdlScenario) -> Bytes:
    """Return what the second layer gives with the weights of the first, as they lie in memory."""
    first, second = scenario.program.network.layers
    layers = (first, replace(second, weights=first.operands[0].copy()))
    return packed(scenario, 1, results_of(scenario, layers)[1])


def given(change: Callable[[DlhdlScenario], NDArray[Any]]) -> Callable[[DlhdlScenario], Bytes]:
    """Return what the first layer gives for another frame."""
    return lambda scenario: packed(scenario, 0, scenario.program.network.results(change(scenario))[0])


def transposed(scenario: DlhdlScenario) -> NDArray[Any]:
    frame = scenario.frames[0]
    return np.ascontiguousarray(frame.reshape(len(frame), frame.shape[2], frame.shape[1]).swapaxes(1, 2))


def late_blocks(scenario: DlhdlScenario) -> NDArray[Any]:
    frame, threads = scenario.frames[0].copy(), scenario.config.threads
    for first in range(threads, len(frame), threads):
        block = frame[first : first + threads].reshape(-1, frame.shape[1] * frame.shape[2])
        following = frame[first + threads : first + 2 * threads].reshape(-1, block.shape[1])[:, 0]
        moved = np.concatenate([block[:, 1:], np.zeros((len(block), 1), block.dtype)], axis=1)
        moved[: len(following), -1] = scenario.frames[0][first + threads : first + 2 * threads, 0, 0][: len(block)]
        frame[first : first + threads] = moved.reshape(frame[first : first + threads].shape)
    return frame


def right(scenario: DlhdlScenario) -> Bytes:
    return packed(scenario, 0, scenario.program.network.results(scenario.frames[0])[0])


def in_blocks_of_n(scenario: DlhdlScenario) -> Bytes:
    layout = scenario.program.network.tensors[0].layout
    values = scenario.program.network.results(scenario.frames[0])[0]
    assert isinstance(layout, ConvolutionDataLayout)
    return ConvolutionDataLayout(DlhdlType.INT8, layout.shape, layout.parallel).pack(np.asarray(values))


def loud_lanes(scenario: DlhdlScenario) -> Bytes:
    layout, data = scenario.program.network.tensors[0].layout, right(scenario)
    empty = [n for n in range(len(data)) if layout.element_at(n) is None]
    data[empty] = 0xFF
    return data


def kernels_transposed(layer: Layer) -> NDArray[Any]:
    weights = layer.operands[0]
    k, z, r, s = weights.shape
    return np.ascontiguousarray(weights.reshape(k, z, s, r).swapaxes(2, 3))


LONG = pytest.mark.slow
CASES = [
    ("n-c-swapped", IMAGE, 0, in_blocks_of_n),
    ("x-y-swapped", IMAGE, 0, given(transposed)),
    ("kernel-x-y-swapped", IMAGE, 0, changed(0, weights=kernels_transposed)),
    ("padding-lane", IMAGE, 0, loud_lanes),
    pytest.param("block-offset", IMAGE, 0, given(late_blocks), marks=LONG),
    pytest.param("bias", IMAGE, 0, changed(0, bias=lambda layer: np.zeros_like(layer.operands[1])), marks=LONG),
    pytest.param("relu", IMAGE, 0, changed(0, relu=True), marks=LONG),
    ("relu", DENSE, 0, changed(0, relu=True)),
    pytest.param("exponent", IMAGE, 0, changed(0, exponent=lambda layer: layer.exponent + 1), marks=LONG),
    ("exponent", DENSE, 0, changed(0, weight_exponent=0)),
    ("exponent", SUM, 2, changed(2, exponent=lambda layer: layer.exponent + 2)),
    pytest.param("exponent", AVERAGE, 0, changed(0, exponent=lambda layer: layer.exponent - 1), marks=LONG),
    pytest.param("stale-weights", TWO, 1, stale_weights, marks=LONG),
]


@pytest.mark.parametrize(("cause", "data", "index", "wrong"), CASES)
def test_the_cause_is_named_first(
    cause: str, data: dict[str, Any], index: int, wrong: Callable[[DlhdlScenario], Bytes]
) -> None:
    scenario = built(data)
    (first, *_) = explained(scenario, {index: wrong(scenario)})
    assert [fit.name for fit in first.causes][:1] == [cause]


def test_a_frame_that_was_read_before_it_was_given_is_named() -> None:
    scenario = built(STREAM)
    (first, *_) = explained(scenario, {2: right(scenario)})
    assert first.evidence.name == "layer 2 (CONVOLUTION, frame 2)"
    assert first.causes[0].name == "frame-early"


@pytest.mark.slow
def test_a_layer_that_is_right_of_what_an_earlier_one_left_says_so() -> None:
    scenario = built(TWO)
    first, second = scenario.program.network.layers
    other = results_of(scenario, (replace(first, relu=True), second))
    found = explained(scenario, {number: packed(scenario, number, value) for number, value in enumerate(other)})
    assert [explanation.causes[0].name for explanation in found] == ["relu", "inherited"]


def test_singles_within_the_bound_are_no_evidence() -> None:
    scenario = built(IMAGE, SINGLE)
    (value,) = scenario.program.network.results(scenario.frames[0])
    assert isinstance(value, Bounded)
    near = Bounded(value.value + 0.5 * value.bound, value.bound)
    assert explained(scenario, {0: packed(scenario, 0, near)}) == []


def test_a_cause_is_found_among_singles_that_differ_within_the_bound() -> None:
    scenario = built(IMAGE, SINGLE)
    (value,) = scenario.program.network.results(scenario.frames[0])
    assert isinstance(value, Bounded)
    near = Bounded(np.maximum(value.value + 0.3 * value.bound, 0), value.bound)
    (first,) = explained(scenario, {0: packed(scenario, 0, near)})
    assert first.causes[0].name == "relu"


@pytest.mark.slow
@pytest.mark.parametrize("config", [CORE, SINGLE, DlhdlConfig.load("dlhdl_int8_4")], ids=lambda config: config.name)
def test_every_layer_of_the_plan_can_be_computed_again(config: DlhdlConfig) -> None:
    for entry in load_plan(PLAN):
        scenario = entry.build(config, 1)
        seen = seen_of(scenario, {})
        # Nothing was written: each layer is evidence.
        nothing = Seen(seen.layers, (seen.beats[0].take(np.zeros(len(seen.beats[0]), np.bool_)),))
        found = list(with_frames(nothing, scenario).evidence(loaded_weights(scenario)))
        assert len(found) == len(seen.layers), entry.name
        assert all(evidence.rerun is not None for evidence in found), entry.name


def test_a_record_explains_the_same_later(tmp_path: Path) -> None:
    scenario = built(IMAGE)
    seen = seen_of(scenario, {0: loud_lanes(scenario)})
    save(scenario, tmp_path / record.SCENARIO_FOLDER)
    record.save(tmp_path / record.FILE_NAME, seen, None, CORE.name)
    (later,) = explain_folder(tmp_path)
    assert [fit.name for fit in later.causes][:1] == ["padding-lane"]
    assert later.lines() == explain_dlhdl(seen, scenario, 3)[0].lines()
