"""What a run left behind is stored, read again and explained, layer by layer."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.arithmetic import Rounding, Rules, Site
from nvdla_models.config import BUILTIN_DIR
from nvdla_models.layout import WeightLayout
from nvdla_models.pdp import PoolMethod
from nvdla_models.precision import Precision
from nvdla_tb.explain import Explanation, explain_run
from nvdla_tb.explain.build import run_of
from nvdla_tb.explain.engines import Run as LayerRun
from nvdla_tb.explain.memory import Bytes
from nvdla_tb.explain.record import FILE_NAME, RecordError, save
from nvdla_tb.explain.runs import OWN_CONFIG
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.text import bad_beats
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.predictor import predict
from nvdla_tb.judge.predictor.expectation import Expectation
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import Batch, Layer, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import MemLoad
from nvdla_tb.nvdla.surfaces import WeightSurface
from nvdla_tb.run.explained import explain_folder
from nvdla_tb.stimulus.scenario import Scenario
from nvdla_tb.stimulus.trace import write
from tests.unit.explain import cases, full_cases, joint_faults
from tests.unit.nvdla.samples import FULL, SMALL

MEMORY = cases.memory_for(2)
LOAD = MemLoad(Ram.MC, cases.BASE, ((0, MEMORY.data.tobytes()),), "all.dat")


def read(ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
    return MEMORY.read(address, nbytes).data


def played(*layers: Layer, wrong: int = 0, moved: int = 0) -> Scoreboard:
    """Return what a scoreboard saw of layers of which one writes its bytes at other addresses."""

    def written(number: int, layer: Layer) -> tuple[Expectation, Beats]:
        expectation = cases.predicted(layer, MEMORY, number)
        right = cases.result(expectation)
        return expectation, cases.beats_of(replace(right, address=right.address + moved * (number == wrong)))

    return cases.scored(written(*numbered) for numbered in enumerate(layers))


def elsewhere(layer: Layer, nbytes: int) -> Layer:
    assert isinstance(layer.dst, Surface)
    return replace(layer, dst=replace(layer.dst, address=layer.dst.address + nbytes))


LAYERS = (cases.copy_layer(), elsewhere(cases.sdp_layer(), 0x2000), elsewhere(cases.pdp_layer(), 0x4000))


@pytest.mark.parametrize("wrong", range(3))
def test_only_the_layer_that_wrote_wrong_bytes_is_explained(wrong: int) -> None:
    (explanation,) = explain_run(Seen.of(played(*LAYERS, wrong=wrong, moved=16)), (LOAD,))
    evidence = explanation.evidence
    assert evidence.started is not None
    assert (evidence.started.index, evidence.started.group) == (wrong, wrong % 2)
    assert evidence.before == LAYERS[:wrong]
    assert evidence.rerun is not None
    assert explanation.causes[0].name == "dst-base"
    address = LAYERS[wrong].dst.address
    assert explanation.causes[0].text == f"output: wrong start address: {address + 16:#x} instead of {address:#x}"
    assert evidence.beats is not None
    first = int(evidence.beats.cycle[bad_beats(evidence)][0])
    assert 1000 * wrong < first < 1000 * wrong + 1000


def test_strays_of_a_batch_are_those_of_the_nearest_cube() -> None:
    weights = WeightSurface(WeightLayout(FULL, Precision.INT8, (20, 20, 3, 3)), cases.X2)
    layer = replace(full_cases.convolution(Precision.INT8, weights), batch=Batch(3, 0x1000, 0x2000))
    scoreboard, further = Scoreboard(), 64
    cubes = [
        predict(StartedLayer(number, "CONV", 0, cube, cube=number, cubes=3), read)
        for number, cube in enumerate(layer.cubes)
    ]
    for expectation in cubes:
        scoreboard.expect(expectation)
    for number, expectation in enumerate(cubes):
        right = cases.result(expectation)
        scoreboard.write_beats(cases.beats_of(replace(right, address=right.address + further * number)))
    scoreboard.judge_pending()
    explanations = explain_run(Seen.of(scoreboard), (LOAD,))
    wrong = [explanation.evidence.started for explanation in explanations]
    assert [started.cube for started in wrong if started is not None] == [1, 2]
    for number, explanation in zip((1, 2), explanations, strict=True):
        right, nbytes = cubes[number].address, further * number
        assert explanation.causes[0].text == (
            f"output: wrong start address: {right + nbytes:#x} instead of {right:#x}, {nbytes} bytes too far"
        )


def test_what_was_wrong_at_first_and_right_in_the_end_is_said() -> None:
    expectation = cases.predicted(cases.copy_layer(), MEMORY, 0)
    right = cases.beats_of(cases.result(expectation))
    wrong = replace(right, data=right.data ^ np.uint8(1))
    last, second = np.arange(len(right)) == len(right) - 1, np.arange(len(right)) == 1
    scoreboard = Scoreboard()
    scoreboard.expect(expectation)
    for beats in (wrong.take(second), right.take(~last), wrong.take(last)):
        scoreboard.write_beats(beats)
    scoreboard.judge_pending()
    (explanation,) = explain_run(Seen.of(scoreboard), (LOAD,))
    assert explanation.where[0].startswith("8 of ")
    assert "wrong at first and right in the end: 8 elements, first at c=0 h=0 w=1" in explanation.where


def stopped(tmp_path: Path, *, cut: bool) -> list[Explanation]:
    """Return the explanation, stored and read again, of a layer that had written half of its atoms, one byte wrong."""
    layer = cases.copy_layer()
    expectation = cases.predicted(layer, MEMORY, 0)
    beats = cases.beats_of(cases.result(expectation))
    half = beats.take(np.arange(len(beats)) < len(beats) // 2)
    half.data[3, 2] ^= 1
    scoreboard = cases.scored([(expectation, half)])
    if cut:
        scoreboard.abandon()
    (tmp_path / "scenario").mkdir()
    write(Scenario("half", "nv_small", (LOAD,), 1), tmp_path / "scenario")
    save(tmp_path / FILE_NAME, Seen.of(scoreboard), SMALL, "nv_small")
    return explain_folder(tmp_path)


def test_what_a_stop_cut_off_is_no_evidence(tmp_path: Path) -> None:
    (explanation,) = stopped(tmp_path, cut=True)
    evidence = explanation.evidence
    assert (evidence.wrong_bytes, int(evidence.bad.sum()), int(evidence.bad_elements.sum())) == (1, 1, 1)
    assert not evidence.missing_elements.any()
    assert not any("never written" in line for line in explanation.lines())
    assert any(line.endswith("columns: only number 3, of 6") for line in explanation.lines())


def test_what_a_layer_has_not_written_by_its_end_is_evidence(tmp_path: Path) -> None:
    (explanation,) = stopped(tmp_path, cut=False)
    assert explanation.evidence.missing_elements.any()
    assert any("were never written" in line for line in explanation.lines())


def test_a_layer_that_a_reset_cut_off_and_that_wrote_nothing_wrong_is_not_explained() -> None:
    expectation = cases.predicted(cases.copy_layer(), MEMORY, 0)
    beats = cases.beats_of(cases.result(expectation))
    scoreboard = cases.scored([(expectation, beats.take(np.arange(len(beats)) < 4))])
    scoreboard.abandon()
    assert explain_run(Seen.of(scoreboard), (LOAD,)) == []


def test_strays_after_a_reset_are_not_of_the_layer_that_it_cut_off() -> None:
    expectations = [cases.predicted(cases.pdp_layer(), MEMORY, number) for number in range(2)]
    right = cases.result(expectations[1])
    scoreboard = cases.scored([(expectations[0], cases.beats_of(right).take(np.zeros(0, dtype=np.int64)))])
    scoreboard.abandon()
    scoreboard.expect(expectations[1])
    scoreboard.write_beats(cases.beats_of(replace(right, address=right.address + 0x2000)))
    scoreboard.judge_pending()
    (explanation,) = explain_run(Seen.of(scoreboard), (LOAD,))
    evidence = explanation.evidence
    assert evidence.started is not None
    assert evidence.started.index == 1
    assert explanation.causes[0].name == "dst-base"


def test_strays_are_of_the_unit_that_has_their_id_wherever_they_go() -> None:
    pooling, sdp = (cases.predicted(layer, MEMORY, number) for number, layer in enumerate(LAYERS[:0:-1]))
    assert (pooling.id.engine, sdp.id.engine) == ("PDP", "SDP")
    # Bytes that are all alike do not tell whose they are.
    pooling = replace(pooling, data=np.zeros_like(pooling.data))
    later = cases.predicted(elsewhere(cases.copy_layer(), 0x6000), MEMORY, 2)
    written = cases.beats_of(cases.result(pooling))
    early = np.arange(len(written)) < len(written) // 2
    strays = replace(written.take(~early), address=np.full(np.count_nonzero(~early), later.address, dtype=np.uint64))
    scoreboard = Scoreboard()
    for expectation, beats, axi_id in (
        (pooling, written.take(early), 2),
        (sdp, cases.beats_of(cases.result(sdp)), 1),
        (None, strays, 2),
        (later, cases.beats_of(cases.result(later)), 1),
    ):
        if expectation is not None:
            scoreboard.expect(expectation)
        scoreboard.write_beats(replace(beats, axi_id=np.full(len(beats), axi_id)))
    scoreboard.judge_pending()
    (explanation,) = explain_run(Seen.of(scoreboard), (LOAD,))
    evidence = explanation.evidence
    assert evidence.started is not None
    assert evidence.started.index == 0
    assert evidence.beats is not None
    assert len(evidence.beats) == len(written)


MOVEMENTS = (joint_faults.CONTRACT, joint_faults.SPLIT, joint_faults.MERGE, joint_faults.COPIED)


@pytest.mark.parametrize("layer", MOVEMENTS, ids=lambda layer: layer.unit)
def test_a_movement_is_stored_and_explained_again(tmp_path: Path, layer: Layer) -> None:
    (tmp_path / "scenario").mkdir()
    write(Scenario("movement", "nv_full", (LOAD,), 1), tmp_path / "scenario")
    save(tmp_path / FILE_NAME, Seen.of(played(layer, wrong=0, moved=64)), FULL, "nv_full")
    (explanation,) = explain_folder(tmp_path)
    assert explanation.evidence.rerun is not None
    assert explanation.causes[0].name == "dst-base"
    first = explanation.evidence.wrong.argmax()
    assert explanation.evidence.actual.address_of(int(first)) == layer.dst.address


def test_a_layer_that_takes_what_another_has_left_in_the_buffer_is_explained_again(tmp_path: Path) -> None:
    plain = cases.conv_layer()
    out = cases.gapped((19, plain.params.output_height(5, 2), plain.dst.layout.shape[2]), 1, 2)
    first = replace(plain, cbuf=replace(plain.cbuf, skip_data_release=True))
    second = replace(
        plain,
        cbuf=replace(plain.cbuf, reuse_data=True, weight_banks=7),
        lines=5,
        dst=Surface(out, plain.dst.address + 0x2000),
    )
    seen = Seen.of(played(first, second, wrong=1, moved=16))
    save(tmp_path / FILE_NAME, seen, SMALL, "nv_small")
    (tmp_path / "scenario").mkdir()
    write(Scenario("reuse", "nv_small", (LOAD,), 1), tmp_path / "scenario")
    [explanation] = explain_folder(tmp_path)
    assert explanation.evidence.name == "layer 1 (CONV, group 1)"
    assert explanation.lines() == explain_run(seen, (LOAD,))[0].lines()


def wrongly(layers: tuple[Layer, ...], faults: dict[int, Callable[[LayerRun], LayerRun]]) -> Seen:
    """Return a run in which some layers, by their numbers, ran as changed."""
    patches = [faults.get(number, lambda run: run)(run_of(layer)).patch(MEMORY) for number, layer in enumerate(layers)]
    expectations = [cases.predicted(layer, MEMORY, number) for number, layer in enumerate(layers)]
    return Seen.of(cases.scored(zip(expectations, map(cases.beats_of, patches), strict=True)))


def test_bytes_that_the_test_altered_are_the_cause_now_and_when_it_is_explained_again(tmp_path: Path) -> None:
    layer = cases.copy_layer()
    assert isinstance(layer.src, Surface)
    right = MEMORY.read(layer.src.address, 40)
    fault = replace(right, data=right.data ^ np.uint8(0x80))
    memory = Bytes((cases.BASE,), (len(MEMORY.data),), MEMORY.data.copy(), MEMORY.known)
    memory.paint(fault)
    seen = replace(wrongly((layer,), {0: lambda run: replace(run, memory=memory)}), altered=(fault,))
    (explanation,) = explain_run(seen, (LOAD,))
    assert explanation.evidence.rerun is not None
    assert [fit.name for fit in explanation.equal][:1] == ["altered"]
    save(tmp_path / FILE_NAME, seen, SMALL, "nv_small")
    (tmp_path / "scenario").mkdir()
    write(Scenario("altered", "nv_small", (LOAD,), 1), tmp_path / "scenario")
    (again,) = explain_folder(tmp_path)
    assert again.lines() == explanation.lines()


@pytest.mark.slow
def test_what_would_change_a_layer_that_is_right_is_not_the_cause() -> None:
    def ruled(rules: Rules) -> Callable[[LayerRun], LayerRun]:
        return lambda run: replace(run, rules=rules)

    plain = cases.register_layer()
    other = elsewhere(cases.sdp_layer(), 0x4000)
    at_output = ruled(Rules(rounding=Rounding.UP, site=Site.SDP_OUTPUT))
    [alone] = explain_run(wrongly((plain,), {0: at_output}), (LOAD,))
    assert alone.causes[0].name == "rounding"
    [beside] = explain_run(wrongly((plain, other), {0: at_output}), (LOAD,))
    assert "rounding" not in [fit.name for fit in beside.causes if not fit.contradicted], "the other layer rounds right"


def test_a_maximum_that_compares_as_unsigned_is_told_beside_a_minimum_that_is_right() -> None:
    def unsigned(run: LayerRun) -> LayerRun:
        return replace(run, rules=Rules(unsigned=(True, False), unsigned_along=(True, False)))

    layers = (cases.pdp_layer(PoolMethod.MAX), elsewhere(cases.pdp_layer(PoolMethod.MIN), 0x4000))
    [found] = explain_run(wrongly(layers, {0: unsigned}), (LOAD,))
    assert found.headline.startswith(
        "maximum or minimum compares as unsigned: maximum, along the width of a window alone (explains "
    )


@pytest.mark.slow
def test_two_faults_at_once_are_doubted_when_another_layer_has_neither() -> None:
    def both(run: LayerRun) -> LayerRun:
        changed = replace(run, dst=run.dst.moved(8))
        return replace(changed, rules=Rules(rounding=Rounding.FLOOR))

    def noise(run: LayerRun) -> LayerRun:
        rng = np.random.default_rng(9)
        return replace(run, values=(lambda cube: rng.integers(-128, 128, cube.shape).astype(cube.dtype),))

    first, second = cases.sdp_layer(), elsewhere(cases.sdp_layer(), 0x4000)
    [alone] = explain_run(wrongly((first,), {0: both}), (LOAD,))
    assert sorted(alone.causes[0].name.split("+")) == ["dst-base", "rounding"]
    pair, other = explain_run(wrongly((first, second), {0: both, 1: noise}), (LOAD,))
    assert pair.headline == other.headline == "no known cause fits"
    assert "closest: " in "\n".join(pair.reasons())


def test_a_run_without_wrong_bytes_has_no_explanation() -> None:
    assert explain_run(Seen.of(played(*LAYERS)), (LOAD,)) == []


def failed_run(run: Path) -> Path:
    """Leave in a folder what a failed run of three layers does, whose second wrote 16 bytes too far."""
    (run / "scenario").mkdir(parents=True)
    write(Scenario("three_layers", "nv_small", (LOAD,), 1), run / "scenario")
    save(run / FILE_NAME, Seen.of(played(*LAYERS, wrong=1, moved=16)), SMALL, "nv_small")
    return run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return failed_run(tmp_path / "run")


def test_a_stored_run_is_explained_as_it_was_while_it_was_in_memory(folder: Path) -> None:
    now = explain_run(Seen.of(played(*LAYERS, wrong=1, moved=16)), (LOAD,))
    later = explain_folder(folder)
    assert [explanation.lines() for explanation in later] == [explanation.lines() for explanation in now]


def test_a_bundle_is_explained_with_the_configuration_that_it_brings(tmp_path: Path) -> None:
    own = tmp_path / "bundle" / OWN_CONFIG / "mine.toml"
    own.parent.mkdir(parents=True)
    shutil.copyfile(BUILTIN_DIR / "nv_small.toml", own)
    folder = tmp_path / "bundle"
    write(Scenario("three_layers", "mine", (LOAD,), 1), folder / "scenario")
    save(folder / FILE_NAME, Seen.of(played(*LAYERS, wrong=1, moved=16)), SMALL, "elsewhere/mine.toml")
    (explanation,) = explain_folder(folder)
    assert explanation.causes[0].name == "dst-base"


def test_a_file_that_is_no_record_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / FILE_NAME, other=np.zeros(1))
    with pytest.raises(
        RecordError, match=r"^.*writes\.npz: the file must hold facts, as the record of a failed run does$"
    ):
        explain_folder(tmp_path)
    facts = json.dumps({"config": "nv_small", "layers": [], "beats": ["MC"]})
    np.savez(tmp_path / FILE_NAME, facts=np.array(facts))
    with pytest.raises(RecordError, match=r"^.*writes\.npz: the record must hold beats_0_data$"):
        explain_folder(tmp_path)


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("config", 7, "facts: config must be a text, not 7"),
        ("beats", ["XY"], "facts: beats[0] must be one of MC, CVSRAM, activation data, weight data, debug, not XY"),
        ("layers", [{}], "facts: layers[0].index is missing"),
    ],
)
def test_facts_of_another_type_are_refused(key: str, value: object, message: str, tmp_path: Path) -> None:
    facts = {"config": "nv_small", "layers": [], "beats": [], key: value}
    np.savez(tmp_path / FILE_NAME, facts=np.array(json.dumps(facts)))
    with pytest.raises(RecordError, match=rf"^.*writes\.npz: {re.escape(message)}$"):
        explain_folder(tmp_path)


@pytest.mark.parametrize(
    ("name", "array", "message"),
    [
        ("layer_0_data", np.zeros(3, np.uint8), "layer_0_data must be uint8 ({nbytes}), not uint8 (3,)"),
        ("layer_0_mask", np.zeros((2, 45), np.uint8), "layer_0_mask must be uint8 ({packed}), not uint8 (2, 45)"),
        ("beats_0_cycle", np.zeros(2, np.float64), "beats_0_cycle must be int64 ({beats}), not float64 (2,)"),
        ("beats_0_strobe", np.zeros((2, 4), np.bool_), "beats_0_strobe must be bool ({beats}, 8), not bool (2, 4)"),
    ],
)
def test_arrays_of_another_shape_are_refused(
    name: str, array: NDArray[np.generic], message: str, tmp_path: Path
) -> None:
    scoreboard = played(cases.copy_layer())
    path = tmp_path / FILE_NAME
    save(path, Seen.of(scoreboard), SMALL, "nv_small")
    with np.load(path) as file:
        arrays = {key: file[key] for key in file.files}
    np.savez(path, **{**arrays, name: array})
    sizes = {"nbytes": arrays["layer_0_data"].size, "packed": arrays["layer_0_mask"].size}
    message = message.format(**sizes, beats=len(arrays["beats_0_cycle"]))
    with pytest.raises(RecordError, match=rf"^.*writes\.npz: {re.escape(message)}$"):
        explain_folder(tmp_path)


def test_beats_of_a_port_that_no_layer_writes_do_not_disturb() -> None:
    scoreboard = played(*LAYERS, wrong=1, moved=16)
    lanes = np.zeros((3, 8), dtype=np.uint8)
    other = Beats(
        Ram.CVSRAM, np.arange(3, dtype=np.uint64) * 8, lanes, lanes == 0, np.arange(3) + 9000, np.zeros(3, np.int64)
    )
    scoreboard.write_beats(other)
    scoreboard.judge_pending()
    (explanation,) = explain_run(Seen.of(scoreboard), (LOAD,))
    assert explanation.causes[0].name == "dst-base"
