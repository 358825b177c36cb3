"""Hand-overs made element by element are compared with the model, and the first bad stage is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from models.layout import FeatureLayout
from tb.explain.seen import Seen
from tb.explain.stages import Handover, Stage, StageError, StageResult, compare, first_bad, load_stages
from tb.places import HDL
from tests.unit.explain import cases
from tests.unit.explain.cases import conv_layer
from tests.unit.explain.joint_faults import pooled
from tests.unit.explain.test_runs import LAYERS, LOAD, MEMORY, played
from tests.unit.models.oracles_conv import element

EMBEDDED = HDL / "stages.toml"
SUMS = Stage("CACC to SDP", ("CONV",), "sums", "v", ("d",), "r", 32)
ENTERED = Stage("input of SDP", ("SDP",), "entered", "v", ("d",), "r", 32)
WRITTEN = Stage("SDP to memory", ("SDP",), "written", "v", ("d",), "r", address="a")


def entering(number: int) -> list[Handover]:
    """Return the atoms of a layer's input, widened to 32 bits, a literal loop."""
    src = LAYERS[number].src
    raw = MEMORY.read(src.address, src.layout.nbytes).data
    channels, height, width = src.layout.padded_channels, *src.layout.shape[1:]
    beats = []
    for surface in range(channels // 8):
        for h in range(height):
            for w in range(width):
                at = surface * src.layout.surface_stride_bytes + h * src.layout.line_stride_bytes + 8 * w
                words = raw[at : at + 8].view(np.int8).astype("<i4")
                beats.append(Handover(len(beats) + 1000 * number, words.tobytes()))
    return beats


def writing(number: int) -> list[Handover]:
    """Return the atoms that a layer writes, in the order of their addresses."""
    (layer,) = [layer for layer in Seen.of(played(*LAYERS, wrong=0, moved=0)).layers if layer.started.index == number]
    expected = layer.expected
    return [
        Handover(5000 + at, expected.data[at : at + 8].tobytes(), expected.address + at)
        for at in range(0, len(expected.data), 8)
        if expected.mask[at]
    ]


RUN = Seen.of(played(*LAYERS, wrong=0, moved=0))


def test_right_hand_overs_of_layers_one_after_the_other_are_right() -> None:
    seen = {ENTERED.name: entering(0) + entering(1), WRITTEN.name: writing(1) + writing(0)}
    findings = compare([ENTERED, WRITTEN], seen, RUN, (LOAD,))
    for index in (0, 1):
        assert [finding.is_bad for finding in findings[index]] == [False, False]
        assert first_bad(findings[index])[-1] == "no stage differs: look past the last one"
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
    assert first_bad(findings[1])[-1] == "first bad stage: input of SDP"


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


def conv_operands() -> tuple[list[list[list[int]]], list[list[list[list[int]]]]]:
    """Return cube and kernels of the convolution as lists, channels of the cube in whole atoms."""
    layer = conv_layer()
    assert layer.conversion is not None
    raw = layer.src.layout.unpack(MEMORY.read(layer.src.address, layer.src.layout.nbytes).data)
    cube = layer.conversion.convert(raw, layer.params.precision)
    weights = layer.weights.layout
    kernels = weights.unpack(MEMORY.read(layer.weights.address, weights.nbytes).data)
    return cube.tolist(), kernels.tolist()


def operations(stripe: int) -> dict[str, list[Handover]]:
    """Return what passes CSC and CMAC for the convolution, a literal loop over its atomic operations."""
    layer, (cube, kernels) = conv_layer(), conv_operands()
    params, (_, height, width) = layer.params, layer.dst.layout.shape
    elements, products, weights = [], [], []
    for group in range(3):
        for start in range(0, height * width, stripe):
            for block in range(2):
                for r in range(2):
                    for s in range(3):
                        chosen = [
                            [
                                kernels[k][c][r][s] if k < 19 and c < 11 else 0x55
                                for c in range(8 * block, 8 * block + 8)
                            ]
                            for k in range(8 * group, 8 * group + 8)
                        ]
                        weights.append(np.array(chosen, dtype="<i1").tobytes())
                        for output in range(start, min(start + stripe, height * width)):
                            y = output // width * params.stride_y + r * params.dilation_y - params.pad_top
                            x = output % width * params.stride_x + s * params.dilation_x - params.pad_left
                            inside = 0 <= y < 7 and 0 <= x < 8
                            seen = [
                                0x33 if c >= 11 else cube[c][y][x] if inside else params.pad_value
                                for c in range(8 * block, 8 * block + 8)
                            ]
                            elements.append(np.array(seen, dtype="<i1").tobytes())
                            real = range(min(8, 11 - 8 * block))
                            sums = [sum(seen[c] * row[c] for c in real) for row in chosen]
                            word = sum((value & (1 << 20) - 1) << 20 * n for n, value in enumerate(sums))
                            products.append(word.to_bytes(20, "little"))
    found = {"kernels": weights, "elements": elements, "products": products}
    return {value: [Handover(n, data) for n, data in enumerate(beats)] for value, beats in found.items()}


CONVOLUTION = Seen.of(played(conv_layer(), wrong=0, moved=0))


def judged(value: str, beats: list[Handover], stripe: int = 16) -> StageResult:
    """Return what is found of a convolution's beats."""
    stage = Stage("inside", ("CONV",), value, "v", ("d",), None, 20 if value == "products" else 8, (stripe, stripe))
    (finding,) = compare([stage], {"inside": beats}, CONVOLUTION, (LOAD,))[0]
    return finding


@pytest.mark.parametrize("value", ["kernels", "elements", "products"])
@pytest.mark.parametrize("stripe", [16, 5, 1000])
def test_atomic_operations_are_those_of_a_literal_loop(value: str, stripe: int) -> None:
    beats = operations(stripe)[value]
    finding = judged(value, beats, stripe)
    assert (finding.wrong, finding.beats, finding.expected) == (None, len(beats), len(beats))


@pytest.mark.parametrize(
    ("value", "beat", "bit", "place"),
    [
        ("kernels", 11, 8 * 17, "k=2 c=9 r=1 s=2 for the output h=0 w=0"),
        ("elements", 16 * 11 + 5, 8, "c=9 r=1 s=2 for the output h=1 w=0"),
        ("products", 2 * 420 + 16 * 11 + 5, 20, "k=17 block 1 r=1 s=2 for the output h=1 w=0"),
    ],
)
def test_a_wrong_operation_is_named_with_its_place(value: str, beat: int, bit: int, place: str) -> None:
    beats = operations(16)[value]
    word = int.from_bytes(beats[beat].data, "little") ^ 1 << bit
    beats[beat] = replace(beats[beat], data=word.to_bytes(len(beats[beat].data), "little"))
    finding = judged(value, beats)
    assert finding.wrong is not None
    assert finding.wrong.startswith(f"first wrong at {place} in beat {beat + 1} of {len(beats)}, cycle {beat}: ")


def converted() -> list[Handover]:
    """Return the atoms of the converted input, line by line, a literal loop."""
    cube, _ = conv_operands()
    atoms = [
        np.array([cube[c][h][w] if c < 11 else 7 for c in range(8 * surface, 8 * surface + 8)], dtype="<i1")
        for h in range(7)
        for surface in range(2)
        for w in range(8)
    ]
    return [Handover(n, atom.tobytes()) for n, atom in enumerate(atoms)]


def test_converted_input_is_compared_line_by_line() -> None:
    beats = converted()
    assert judged("converted", beats, None).wrong is None
    changed = bytes([beats[19].data[0] ^ 4]) + beats[19].data[1:]
    beats[19] = replace(beats[19], data=changed)
    finding = judged("converted", beats, None)
    assert finding.wrong is not None
    assert finding.wrong.startswith("first wrong at c=0 h=1 w=3 in beat 20 of 112, cycle 19: ")


def test_unknown_bits_are_wrong_where_they_count() -> None:
    beats = converted()
    beats[19] = replace(beats[19], unknown=b"\0" * 7 + b"\1")
    assert str(judged("converted", beats, None)).endswith("got unknown bits")
    beats = converted()
    beats[8] = replace(beats[8], unknown=b"\0" * 7 + b"\1")
    assert not judged("converted", beats, None).is_bad


def test_images_are_not_compared_and_neither_is_what_follows_them() -> None:
    later = replace(conv_layer(), dst=replace(conv_layer().dst, address=cases.DST + 0x2000))
    run = Seen.of(played(cases.image_layer(), later, wrong=0, moved=0))
    stage = Stage("inside", ("CONV",), "elements", "v", ("d",), None, 8, 16)
    findings = compare([stage], {"inside": operations(16)["elements"]}, run, (LOAD,))
    assert [str(findings[index][0]) for index in (0, 1)] == [
        "inside: not compared: only direct convolutions of INT8 feature cubes have a known order there",
        "inside: not compared: it is not known where the layer before ends",
    ]
    assert not any(findings[index][0].is_bad for index in (0, 1))


def test_a_beat_of_another_width_is_not_compared() -> None:
    assert str(judged("elements", operations(16)["products"])) == (
        "inside: not compared: a beat of elements must hold 8 of them, not 20"
    )


def test_layers_pooled_on_the_fly_pass_the_stages_of_their_producer() -> None:
    layer = pooled(cases.sdp_layer())
    run = Seen.of(played(layer, wrong=0, moved=0))
    assert run.layers[0].started.engine == "SDP-PDP"
    stage = replace(ENTERED, name="in")
    out, behind = replace(WRITTEN, name="out"), replace(WRITTEN, name="behind", engines=("PDP",))
    expected = run.layers[0].expected
    beats = [
        Handover(at, expected.data[at : at + 8].tobytes(), expected.address + at)
        for at in range(0, len(expected.data), 8)
        if expected.mask[at]
    ]
    src = layer.src.layout
    assert isinstance(src, FeatureLayout)
    cube = src.unpack_padded(MEMORY.read(cases.SRC, src.nbytes).data).astype("<i4")
    atoms = [cube[8 * c : 8 * c + 8, h, w].tobytes() for c in range(3) for h in range(5) for w in range(6)]
    seen = {"in": [Handover(n, atom) for n, atom in enumerate(atoms)], "out": [], "behind": beats}
    found = compare([stage, out, behind], seen, run, (LOAD,))[0]
    assert [(finding.stage, finding.is_bad) for finding in found] == [("in", False), ("behind", False)]


def test_sums_are_those_of_a_literal_convolution() -> None:
    layer, (cube, kernels) = conv_layer(), conv_operands()
    run = Seen.of(played(layer, wrong=0, moved=0))
    _, height, width = layer.dst.layout.shape
    beats = []
    for surface in range(3):
        for h in range(height):
            for w in range(width):
                numbers = range(8 * surface, 8 * surface + 8)
                sums = [element(layer.params, cube, kernels[k], h, w)[0] if k < 19 else 0 for k in numbers]
                beats.append(Handover(len(beats), np.array(sums, dtype="<i4").tobytes()))
    (finding,) = compare([SUMS], {SUMS.name: beats}, run, (LOAD,))[0]
    assert (finding.is_bad, finding.beats) == (False, 3 * height * width)


def test_the_stages_of_the_embedded_device_load() -> None:
    names = [stage.name for stage in load_stages(EMBEDDED)]
    assert names[:4] == ["CDMA to buffer", "CSC weights to CMAC", "CSC data to CMAC", "CMAC to CACC"]
    assert names[4:] == ["CACC to SDP", "input of SDP", "SDP to memory", "PDP to memory", "CDP to memory"]


GOOD = '[[stage]]\nname = "a"\nengines = ["SDP"]\nvalue = "entered"\nvalid = "v"\nready = "r"\ndata = "d"\n'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text.replace('"SDP"', '"XDP"'),
            "a: engines must be of SDP, PDP, CDP, CONV, RUBIK, BDMA, not XDP",
        ),
        (
            lambda text: text.replace("entered", "left"),
            "a: value must be one of converted, kernels, elements, products, sums, entered, written, not left",
        ),
        (lambda text: text.replace("entered", "written"), "a: address must be given for written, and for nothing else"),
        (lambda text: text + "element_bits = 65\n", "a: element_bits must be 1 to 64, not 65"),
        (
            lambda text: text + "stripe = 16\n",
            "a: stripe must be given for kernels, elements and products, and nothing else",
        ),
        (
            lambda text: text.replace("entered", "products"),
            "a: stripe must be given for kernels, elements and products, and nothing else",
        ),
        (lambda text: text.replace("entered", "kernels") + "stripe = 0\n", "a: stripe must be 1 to 67108864, not 0"),
        (lambda text: text + "width = 9\n", "{path}: a stage has no key width"),
        (lambda text: text.replace('data = "d"\n', ""), "{path}: a stage must have the key data"),
        (lambda text: "clock = 1\n" + text, "{path}: the file must hold tables [[stage]] alone, not clock, stage"),
        (lambda text: "stage = 1", "{path}: stage must be tables [[stage]], not 1"),
        (lambda text: "stage = [1]", "{path}: stage[0] must be a table, not 1"),
        (lambda text: text + "mask = 1\n", "{path}: stage[0]: Expected `array`, got `int` - at `$.mask`"),
        (lambda text: "", "{path}: the file must hold tables [[stage]] alone, not nothing"),
    ],
)
def test_what_a_file_of_stages_must_not_say_is_refused(
    tmp_path: Path, change: Callable[[str], str], message: str
) -> None:
    path = tmp_path / "stages.toml"
    path.write_text(change(GOOD), encoding="utf-8")
    with pytest.raises(StageError, match=f"^{re.escape(message.format(path=path))}$"):
        load_stages(path)
