"""Hand-overs made element by element are compared with the model, and the first bad stage is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from nvdla_models.layout import FeatureLayout
from nvdla_tb.explain.handovers import Stage, load_handovers
from nvdla_tb.explain.memory import Patch
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.stages import compare, told
from nvdla_tb.explain.tap import Handover, StageError
from nvdla_tb.paths import HDL
from tests.unit.explain import cases
from tests.unit.explain.joint_faults import pooled
from tests.unit.explain.test_runs import LAYERS, LOAD, MEMORY, played

HANDOVERS = HDL / "handovers"


def stage(name: str, unit: str, engine: str, value: str, **more: Any) -> Stage:
    return Stage(name=name, unit=(unit,), engines=(engine,), value=value, valid="v", data=("d",), **more)


SUMS = stage("CACC to SDP", "CACC", "CONV", "sums", ready="r", element_bits=32)


ENTERED = stage("input of SDP", "SDP", "SDP", "entered", ready="r", element_bits=32)


WRITTEN = stage("SDP to memory", "SDP", "SDP", "written", ready="r", address="a")


def entering(number: int) -> list[Handover]:
    """Return the atoms of a layer's input, widened to 32 bits, a literal loop."""
    src = LAYERS[number].src
    raw = MEMORY.read(src.address, src.layout.nbytes).data
    beats = []
    for surface, h, w in np.ndindex(src.layout.padded_channels // 8, *src.layout.shape[1:]):
        at = surface * src.layout.surface_stride_bytes + h * src.layout.line_stride_bytes + 8 * w
        words = raw[at : at + 8].view(np.int8).astype("<i4")
        beats.append(Handover(len(beats) + 1000 * number, words.tobytes()))
    return beats


def writing(number: int) -> list[Handover]:
    """Return the atoms that a layer writes, in the order of their addresses."""
    return writes_of(RUN.layers[number].expected)


def writes_of(expected: Patch) -> list[Handover]:
    """Return the atoms of a surface as they are written."""
    return [
        Handover(5000 + at, expected.data[at : at + 8].tobytes(), expected.address + at)
        for at in range(0, len(expected.data), 8)
        if expected.mask[at]
    ]


RUN = Seen.of(played(*LAYERS))


def test_right_hand_overs_of_layers_one_after_the_other_are_right() -> None:
    seen = {ENTERED.name: entering(0) + entering(1), WRITTEN.name: writing(1) + writing(0)}
    findings = compare([ENTERED, WRITTEN], seen, RUN, (LOAD,))
    for index in (0, 1):
        assert [finding.is_bad for finding in findings[index]] == [False, False]
        assert told(findings[index])[-1] == "no stage differs: look past the last one"
    assert findings[2] == []


def test_parts_of_an_atom_come_one_behind_the_other() -> None:
    halves = [
        Handover(2 * beat.cycle + part, beat.data[16 * part : 16 * part + 16])
        for beat in entering(0) + entering(1)
        for part in range(2)
    ]
    assert not compare([ENTERED], {ENTERED.name: halves}, RUN, (LOAD,))[1][0].is_bad
    halves[-1] = replace(halves[-1], data=bytes(16))
    found = str(compare([ENTERED], {ENTERED.name: halves}, RUN, (LOAD,))[1][0])
    assert found.startswith("input of SDP: first wrong at c=20 h=4 w=5 in beat 180 of 180, ")


def test_a_wrong_element_is_named_with_place_and_cycle() -> None:
    beats = entering(0) + entering(1)
    at = len(entering(0)) + (1 * 5 + 2) * 6 + 3
    words = np.frombuffer(beats[at].data, dtype="<i4").copy()
    words[5] += 70000
    beats[at] = replace(beats[at], data=words.tobytes())
    findings = compare([ENTERED], {ENTERED.name: beats}, RUN, (LOAD,))
    assert not findings[0][0].is_bad
    total = len(entering(1))
    assert str(findings[1][0]) == (
        f"input of SDP: first wrong at c=13 h=2 w=3 in beat {at - len(entering(0)) + 1} of {total}, "
        f"cycle {beats[at].cycle}: expected {words[5] - 70000}, got {words[5]}"
    )
    assert told(findings[1])[-1] == "first bad stage: input of SDP"


@pytest.mark.parametrize(("extra", "which"), [(None, "all"), (7, "the first 7")])
def test_what_comes_again_after_the_last_layer_was_handed_over_once_too_often(extra: int | None, which: str) -> None:
    again = entering(1)[:extra]
    findings = compare([ENTERED], {ENTERED.name: [*entering(0), *entering(1), *again]}, RUN, (LOAD,))
    assert not findings[0][0].is_bad
    assert str(findings[1][0]) == (
        f"input of SDP: {len(entering(1))} beats, all right, and then {which} of them again: handed over once too often"
    )


def test_a_layer_that_comes_twice_is_said_to_and_not_that_the_next_one_is_wrong() -> None:
    twice = [*entering(0), *entering(0), *entering(1)]
    findings = compare([ENTERED], {ENTERED.name: twice}, RUN, (LOAD,))
    first, second = findings[0][0], findings[1][0]
    assert str(first).endswith(" beats, all right, and then all of them again: handed over once too often")
    assert not second.is_bad


def test_a_wrong_layer_that_begins_as_the_one_before_is_wrong_itself() -> None:
    last = replace(entering(1)[-1], data=bytes(32))
    begins_alike = [*entering(0), *entering(0), *entering(1)[len(entering(0)) : -1], last]
    findings = compare([ENTERED], {ENTERED.name: begins_alike}, RUN, (LOAD,))
    assert not findings[0][0].is_bad
    assert "first wrong at " in str(findings[1][0])


def test_other_beats_after_a_layer_are_not_called_its_own() -> None:
    more = [replace(entering(1)[0], data=bytes(32))]
    found = str(compare([ENTERED], {ENTERED.name: [*entering(0), *entering(1), *more]}, RUN, (LOAD,))[1][0])
    assert found == f"input of SDP: {len(entering(1)) + 1} beats instead of {len(entering(1))}"


def test_what_a_stop_cut_off_is_not_bad() -> None:
    cut = Seen((RUN.layers[0], replace(RUN.layers[1], cut=True), *RUN.layers[2:]), RUN.beats)
    short = {ENTERED.name: entering(0) + entering(1)[:-1], WRITTEN.name: writing(0) + writing(1)[:-1]}
    for result in compare([ENTERED, WRITTEN], short, cut, (LOAD,))[1]:
        assert not result.is_bad
        assert str(result).endswith(" beats, right so far")
    stray = {ENTERED.name: entering(0) + entering(1) + entering(1)[:1], WRITTEN.name: writing(0) + writing(1)}
    assert compare([ENTERED], stray, cut, (LOAD,))[1][0].is_bad


def test_missing_and_stray_hand_overs_are_bad() -> None:
    short = {ENTERED.name: entering(0) + entering(1)[:-1], WRITTEN.name: writing(0) + writing(1)}
    findings = compare([ENTERED, WRITTEN], short, RUN, (LOAD,))
    total = len(entering(1))
    assert str(findings[1][0]) == f"input of SDP: {total - 1} beats instead of {total}"
    stray = writing(0)
    stray[3] = replace(stray[3], address=0x10)
    findings = compare([WRITTEN], {WRITTEN.name: stray + writing(1)}, RUN, (LOAD,))
    assert str(findings[0][0]) == (
        f"SDP to memory: first wrong in beat 4, cycle {stray[3].cycle}, address 0x10: the layer writes nothing there"
    )


def test_what_is_written_nowhere_is_of_the_layer_that_wrote_before() -> None:
    stray = [replace(writing(1)[-1], address=0x10)]
    findings = compare([WRITTEN], {WRITTEN.name: writing(0) + writing(1) + stray}, RUN, (LOAD,))
    assert not findings[0][0].is_bad
    last = f"in beat {len(writing(1)) + 1}, cycle {stray[0].cycle}, address 0x10"
    assert str(findings[1][0]) == f"SDP to memory: first wrong {last}: the layer writes nothing there"


def test_what_layers_write_to_the_same_place_is_not_compared() -> None:
    run = Seen.of(played(LAYERS[0], LAYERS[0]))
    for index in (0, 1):
        (found,) = compare([WRITTEN], {WRITTEN.name: writing(0) + writing(0)}, run, (LOAD,))[index]
        assert not found.is_bad
        assert str(found) == "SDP to memory: not compared: other layers write there, too"


def test_layers_pooled_on_the_fly_pass_the_stages_of_their_producer() -> None:
    layer = pooled(cases.sdp_layer())
    run = Seen.of(played(layer))
    assert run.layers[0].started.engine == "SDP-PDP"
    stage = structs.replace(ENTERED, name="in")
    out, behind = structs.replace(WRITTEN, name="out"), structs.replace(WRITTEN, name="behind", engines=("PDP",))
    src = layer.src.layout
    assert isinstance(src, FeatureLayout)
    cube = src.unpack_padded(MEMORY.read(cases.SRC, src.nbytes).data).astype("<i4")
    atoms = [cube[8 * c : 8 * c + 8, h, w].tobytes() for c in range(3) for h in range(5) for w in range(6)]
    seen = {
        "in": [Handover(n, atom) for n, atom in enumerate(atoms)],
        "out": [],
        "behind": writes_of(run.layers[0].expected),
    }
    found = compare([stage, out, behind], seen, run, (LOAD,))[0]
    assert [(finding.stage.name, finding.is_bad) for finding in found] == [("in", False), ("behind", False)]


def test_the_hand_overs_that_belong_to_the_bench_load() -> None:
    names = [stage.name for stage in load_handovers(HANDOVERS / "nv_small_embedded.toml").stages]
    assert names[:4] == ["CDMA to buffer", "CSC weights to CMAC", "CSC data to CMAC", "CMAC to CACC"]
    assert names[4:] == ["CACC to SDP", "input of SDP", "SDP to memory", "PDP to memory", "CDP to memory"]
    public = load_handovers(HANDOVERS / "nv_small.toml")
    assert [stage.unit for stage in public.stages][:2] == [("CDMA (data)",), ("CDMA (data)",)]
    assert public.stages[-1].name == "CDP to the memory interface"
    assert sorted(reader.id for reader in public.readers) == [1, 2, 3, 5, 6, 8, 9]
    assert sorted(writer.id for writer in public.writers) == [1, 2, 3]


def test_every_model_shows_what_the_public_hand_overs_name() -> None:
    shown = re.findall('-module "(.*)" -var "(.*)"', (HANDOVERS / "visible.vlt").read_text(encoding="utf-8"))
    core = "u_partition_p.u_NV_NVDLA_sdp.u_core"
    modules = {"": "NV_nvdla"} | {f"u_partition_{part}": f"NV_NVDLA_partition_{part}" for part in "co"}
    modules |= {core: "NV_NVDLA_SDP_core", f"{core}.u_bs": "NV_NVDLA_SDP_HLS_x1_int"}
    modules |= {f"{core}.u_bn": "NV_NVDLA_SDP_HLS_x2_int", "u_partition_o.u_NV_NVDLA_pdp.u_core": "NV_NVDLA_PDP_core"}
    modules |= {"u_partition_o.u_NV_NVDLA_cdp.u_dp": "NV_NVDLA_CDP_dp"}
    for tap in load_handovers(HANDOVERS / "nv_small.toml").taps:
        if tap.is_pin:
            continue
        for path in (tap.valid, *tap.data, *tap.mask, *tap.sides.values(), *([tap.ready] if tap.ready else [])):
            scope, _, name = path.partition("[")[0].rpartition(".")
            among = [pattern for module, pattern in shown if fnmatchcase(modules[scope], module)]
            assert any(fnmatchcase(name, pattern) for pattern in among), path


ALONE = "stripe must be given, and cells may be, for kernels, elements and products alone"


GOOD = '[[stage]]\nname = "a"\nunit = "u"\nengines = ["SDP"]\nvalue = "entered"\nvalid = "v"\nready = "r"\ndata = "d"\n'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text.replace('"SDP"', '"XDP"'),
            "{path}: a: engines must be of SDP, PDP, CDP, CONV, RUBIK, BDMA, SDP-PDP, CONV-PDP, not XDP",
        ),
        (
            lambda text: text.replace("entered", "left"),
            "{path}: a: value must be one of converted, loaded-lines, packed, loaded-kernels, flush, "
            "kernels, elements, products, sums, credits, entered, x1-alu-operands, x1-mul-operands, x1-alu, "
            "x1-product, x1, x2-alu-operands, x2-mul-operands, x2-alu, x2-product, x2, sdp-result, pdp-input, "
            "pdp-rows, pdp-result, cdp-read, cdp-input, cdp-sums, cdp-factors, cdp-products, cdp-result, written, "
            "not left",
        ),
        (
            lambda text: text.replace("entered", "written"),
            "{path}: a: address must be given for written, may be for stored values, and for nothing else",
        ),
        (lambda text: text + "packets = true\n", "{path}: a: packets must be of bytes that are written"),
        (
            lambda text: text + 'sides = { end = "e" }\n',
            "{path}: a: sides must be of layer-end, stripe-start, stripe-end, channel-end, lane, line-end, "
            "surface-end, last-line-of-surface, last-line-of-part, last-line, last-channels, last-columns, not end",
        ),
        (lambda text: text + "stripe = [8, 16]\n", "{path}: a: " + ALONE),
        (lambda text: text + "cells = [0, 4]\n", "{path}: a: " + ALONE),
        (lambda text: text.replace("entered", "products"), "{path}: a: " + ALONE),
        (
            lambda text: text.replace("entered", "kernels") + "stripe = [9, 8]\n",
            "{path}: a: stripe must be the shortest and the longest, 1 to 67108864, not (9, 8)",
        ),
        (
            lambda text: text.replace("entered", "kernels") + "stripe = [8, 16]\ncells = [1020, 5]\n",
            "{path}: a: cells must be the first and how many, below 1024, not (1020, 5)",
        ),
        (lambda text: text + "delay = -1\n", "{path}: stage[0].delay must be an integer from 0 to 1000, not -1"),
        (lambda text: text.replace('valid = "v"\n', ""), "{path}: stage[0].valid is missing"),
        (
            lambda text: text.replace('data = "d"\n', ""),
            "{path}: a: data must name a signal or more, and none for flush",
        ),
        (lambda text: "clock = 1\n" + text, "{path}: clock is unknown; allowed: stage, reader, writer"),
        (
            lambda text: text + '[[reader]]\nunit = "U"\nid = -1\nrequest = "r"\nanswer = "a"\n',
            "{path}: reader[0].id must be an integer from 0 to 65535, not -1",
        ),
        (lambda text: "stage = 1", "{path}: stage must be a list of at least 1, not 1"),
        (lambda text: "stage = [1]", "{path}: stage[0] must be a table, not 1"),
        (lambda text: text + "mask = 1\n", "{path}: stage[0].mask must be a list, not 1"),
        (lambda text: "", "{path}: stage is missing"),
    ],
)
def test_what_a_file_of_stages_must_not_say_is_refused(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    path = tmp_path / "stages.toml"
    path.write_text(change(GOOD), encoding="utf-8")
    with pytest.raises(StageError, match=f"^{re.escape(message.format(path=path))}$"):
        load_handovers(path)
