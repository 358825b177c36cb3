"""Hand-overs made element by element are compared with the model, and the first bad stage is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import numpy as np
import pytest

from models.layout import FeatureLayout, ImageWeightLayout
from models.precision import Precision
from tb.explain.handed import Operations
from tb.explain.seen import Seen
from tb.explain.stages import Handover, Stage, StageError, StageResult, compare, culprit, load_stages, told
from tb.judge.predictor.conv_operands import operands_of
from tb.places import HDL
from tests.unit.explain import cases
from tests.unit.explain.cases import conv_layer
from tests.unit.explain.joint_faults import pooled
from tests.unit.explain.test_runs import LAYERS, LOAD, MEMORY, played
from tests.unit.models.oracles_conv import element

HANDOVERS = HDL / "handovers"
SUMS = Stage("CACC to SDP", "CACC", ("CONV",), "sums", "v", ("d",), "r", 32)
ENTERED = Stage("input of SDP", "SDP_RDMA or SDP", ("SDP",), "entered", "v", ("d",), "r", 32)
WRITTEN = Stage("SDP to memory", "SDP", ("SDP",), "written", "v", ("d",), "r", address="a")


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


INSIDE = Stage("inside", "CSC", ("CONV",), "elements", "v", ("d",), stripe=(16, 16))


def judged(value: str, beats: list[Handover], stripe: int = 16, cells: tuple[int, int] | None = None) -> StageResult:
    """Return what is found of a convolution's beats."""
    stage = replace(INSIDE, value=value, stripe=(stripe, stripe), cells=cells)
    if value == "products":
        stage = replace(stage, element_bits=20)
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


def judged_input(beats: list[Handover], *, zeros: bool = True) -> StageResult:
    """Return what is found of the beats of a convolution's converted input."""
    stage = replace(INSIDE, value="converted", stripe=None, zeros=zeros)
    (finding,) = compare([stage], {"inside": beats}, CONVOLUTION, (LOAD,))[0]
    return finding


def test_converted_input_is_compared_line_by_line() -> None:
    beats = converted()
    assert judged_input(beats).wrong is None
    changed = bytes([beats[19].data[0] ^ 4]) + beats[19].data[1:]
    beats[19] = replace(beats[19], data=changed)
    finding = judged_input(beats)
    assert finding.wrong is not None
    assert finding.wrong.startswith("first wrong at c=0 h=1 w=3 in beat 20 of 112, cycle 19: ")


def test_unknown_bits_are_wrong_where_they_count() -> None:
    beats = converted()
    beats[19] = replace(beats[19], unknown=b"\0" * 7 + b"\1")
    assert str(judged_input(beats)).endswith("got unknown bits")
    beats = converted()
    beats[8] = replace(beats[8], unknown=b"\0" * 7 + b"\1")
    assert not judged_input(beats).is_bad


def test_images_are_compared_line_by_line() -> None:
    layer = cases.image_layer()
    params, (_, height, width) = layer.params, layer.dst.layout.shape
    pixels = operands_of(layer, lambda _, address, nbytes: MEMORY.read(address, nbytes).data).cube.tolist()
    channels, lines, columns = len(pixels), len(pixels[0]), len(pixels[0][0])
    beats = []
    for _ in range(2):
        for h in range(height):
            for start in range(0, width, 4):
                for block in range(-(-3 * channels // 8)):
                    for r in range(3):
                        for w in range(start, min(start + 4, width)):
                            seen = []
                            for number in range(8 * block, 8 * block + 8):
                                y = h * params.stride_y + r - params.pad_top
                                x = w * params.stride_x + number // channels - params.pad_left
                                inside = 0 <= y < lines and 0 <= x < columns
                                real = number < 3 * channels
                                pad = params.pad_value
                                seen.append(0x33 if not real else pixels[number % channels][y][x] if inside else pad)
                            beats.append(Handover(len(beats), np.array(seen, dtype="<i1").tobytes()))
    run = Seen.of(played(layer, wrong=0, moved=0))
    (found,) = compare([replace(INSIDE, stripe=(2, 4))], {"inside": beats}, run, (LOAD,))[0]
    assert (found.wrong, found.beats, found.expected) == (None, len(beats), len(beats))
    (across,) = compare([replace(INSIDE, stripe=(4, 4), across_lines=True)], {"inside": beats}, run, (LOAD,))[0]
    assert across.is_bad


def test_images_with_post_extension_are_not_compared_and_neither_is_what_follows_them() -> None:
    later = replace(conv_layer(), dst=replace(conv_layer().dst, address=cases.DST + 0x2000))
    layer = cases.image_layer()
    weights = ImageWeightLayout(cases.SMALL, Precision.INT8, (9, 4, 3, 1), line_group=2)
    params = replace(layer.params, pad_left=0, pad_right=0)
    extended = replace(layer, weights=replace(layer.weights, layout=weights), params=params)
    run = Seen.of(played(extended, later, wrong=0, moved=0))
    findings = compare([INSIDE], {"inside": operations(16)["elements"]}, run, (LOAD,))
    assert [str(findings[index][0]) for index in (0, 1)] == [
        "inside: not compared: images of which several lines are taken at once have no known order there",
        "inside: not compared: it is not known where the layer before ends",
    ]
    assert not any(findings[index][0].is_bad for index in (0, 1))
    pixels = replace(INSIDE, value="converted", stripe=None)
    found = compare([pixels], {"inside": []}, run, (LOAD,))[0][0]
    assert str(found) == "inside: not compared: only feature cubes have a known order there"


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


@pytest.mark.parametrize(
    ("outputs", "lengths"),
    [(1, [1]), (16, [16]), (17, [8, 9]), (31, [8, 8, 15]), (32, [16, 16]), (40, [16, 8, 16]), (47, [16, 8, 8, 15])],
)
def test_stripes_are_as_long_as_those_of_the_hardware(outputs: int, lengths: list[int]) -> None:
    stripes = list(Operations(8, 16).stripes(outputs))
    assert [stop - start for start, stop in stripes] == lengths
    assert [start for start, _ in stripes] == [sum(lengths[:n]) for n in range(len(lengths))]


def test_kernels_may_come_one_after_the_other_to_some_of_the_cells() -> None:
    groups = operations(16)["kernels"]
    a_group = len(groups) // 3
    # 19 kernels: the last group has three, of which the upper cells get none.
    single = [
        Handover(n, beat.data[8 * cell : 8 * cell + 8])
        for n, beat in enumerate(groups)
        for cell in range(4, 8)
        if n < 2 * a_group
    ]
    finding = judged("kernels", single, cells=(4, 4))
    assert (finding.wrong, finding.beats, finding.expected) == (None, len(single), len(single))
    single[6] = replace(single[6], data=bytes([single[6].data[0] ^ 1]) + single[6].data[1:])
    assert "first wrong at k=6 c=0 r=0 s=1 for the output h=0 w=0 in beat 7" in str(
        judged("kernels", single, cells=(4, 4))
    )


def test_a_stage_that_nothing_passed_is_bad_unless_nothing_should_have() -> None:
    assert str(judged("elements", [])).startswith("inside: 0 beats instead of ")
    missing = judged("kernels", [], cells=(4, 4))
    assert str(missing).startswith("inside: 0 beats instead of ")
    # The last of three groups has three kernels, so that nothing goes to the upper cells.
    assert missing.expected == 2 * len(operations(16)["kernels"]) // 3


def test_products_may_be_those_of_some_of_the_cells() -> None:
    upper = [
        replace(beat, data=(int.from_bytes(beat.data, "little") >> 80).to_bytes(10, "little"))
        for beat in operations(16)["products"]
    ]
    assert not judged("products", upper, cells=(4, 4)).is_bad
    assert judged("products", upper, cells=(0, 4)).wrong is not None


def test_weights_are_compared_as_they_lie_in_memory() -> None:
    layer = conv_layer()
    raw = MEMORY.read(layer.weights.address, -(-layer.weights.layout.nbytes // 8) * 8).data
    beats = [Handover(at, raw[at : at + 8].tobytes()) for at in range(0, len(raw), 8)]
    stage = replace(INSIDE, value="packed", stripe=None)
    (finding,) = compare([stage], {"inside": beats}, CONVOLUTION, (LOAD,))[0]
    assert not finding.is_bad
    beats[3] = replace(beats[3], data=bytes([beats[3].data[0] ^ 1]) + beats[3].data[1:])
    (finding,) = compare([stage], {"inside": beats}, CONVOLUTION, (LOAD,))[0]
    assert finding.wrong is not None
    assert finding.wrong.startswith("first wrong at byte 24 of the weights in beat 4 ")


def test_beats_of_zeros_are_left_out_where_the_hardware_clears_the_buffer() -> None:
    cleared = [Handover(-n, bytes(8)) for n in range(9, 0, -1)]
    assert not judged_input(cleared + converted(), zeros=False).is_bad
    assert judged_input(cleared + converted()).is_bad
    beats = [beat for beat in converted() if any(beat.data)]
    assert judged_input(cleared + beats[:-1], zeros=False).is_bad


def result(stage: str, wrong: str | None = None, skipped: str | None = None) -> StageResult:
    """Return the result of a stage with one beat."""
    return StageResult(stage, "layer 0", 1, 1, wrong, skipped)


def test_the_culprit_is_the_unit_before_the_first_bad_hand_over() -> None:
    names = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
    stages = [replace(INSIDE, name=f"{name} out", unit=name) for name in names]
    stages = [replace(stage, value="products") if "CMAC" in stage.name else stage for stage in stages]
    stages[4] = replace(SUMS, name="CACC out")

    def found(*texts: str | None, skipped: int = 0) -> tuple[str, bool] | None:
        results = [
            result(stage.name, text, "no order" if number < skipped else None)
            for number, (stage, text) in enumerate(zip(stages, texts, strict=True))
        ]
        one = culprit(stages, results, "CONV")
        return None if one is None else (one.suspect.units, one.is_sure)

    assert found(None, "x", "x", "x", "x") == ("CSC", True)
    assert found(None, None, "x", "x", "x") == ("CMAC_A or CMAC_B", True)
    assert found(None, None, None, "x", "x") == ("CMAC_B", True)
    assert found(None, None, None, None, "x") == ("CACC", True)
    assert found(None, None, None, None, None) == ("SDP_RDMA or SDP", True)
    assert found(None, None, None, None, "x", skipped=2) == ("CACC", True), "right products are made of right elements"
    assert found(None, None, "x", "x", "x", skipped=2) == ("CDMA or CSC or CMAC_A or CMAC_B", False)
    assert found(None, None, None, None, "x", skipped=4) == ("CDMA or CSC or CMAC_A or CMAC_B or CACC", False)
    assert found(None, None, None, None, None, skipped=5) is None


def test_the_hand_overs_that_belong_to_the_bench_load() -> None:
    names = [stage.name for stage in load_stages(HANDOVERS / "nv_small_embedded.toml")]
    assert names[:4] == ["CDMA to buffer", "CSC weights to CMAC", "CSC data to CMAC", "CMAC to CACC"]
    assert names[4:] == ["CACC to SDP", "input of SDP", "SDP to memory", "PDP to memory", "CDP to memory"]
    public = load_stages(HANDOVERS / "nv_small.toml")
    assert [stage.unit for stage in public][:2] == ["CDMA (data)", "CDMA (weights)"]
    assert public[-1].name == "CACC to SDP"


def test_every_model_shows_what_the_public_hand_overs_name() -> None:
    shown = re.findall('-module "(.*)" -var "(.*)"', (HANDOVERS / "visible.vlt").read_text(encoding="utf-8"))
    modules = {"": "NV_nvdla", "u_partition_c": "NV_NVDLA_partition_c"}
    for stage in load_stages(HANDOVERS / "nv_small.toml"):
        for path in (stage.valid, *stage.data, *stage.mask, *([stage.ready] if stage.ready else [])):
            scope, _, name = path.rpartition(".")
            assert any(module == modules[scope] and fnmatchcase(name, pattern) for module, pattern in shown), path


ALONE = "stripe must be given, and cells may be, for kernels, elements and products alone"
GOOD = '[[stage]]\nname = "a"\nunit = "u"\nengines = ["SDP"]\nvalue = "entered"\nvalid = "v"\nready = "r"\ndata = "d"\n'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda text: text.replace('"SDP"', '"XDP"'),
            "a: engines must be of SDP, PDP, CDP, CONV, RUBIK, BDMA, not XDP",
        ),
        (
            lambda text: text.replace("entered", "left"),
            "a: value must be one of converted, packed, kernels, elements, products, sums, entered, written, not left",
        ),
        (lambda text: text.replace("entered", "written"), "a: address must be given for written, and for nothing else"),
        (lambda text: text + "element_bits = 65\n", "a: element_bits must be 1 to 64, not 65"),
        (lambda text: text + "stripe = [8, 16]\n", f"a: {ALONE}"),
        (lambda text: text + "cells = [0, 4]\n", f"a: {ALONE}"),
        (lambda text: text.replace("entered", "products"), f"a: {ALONE}"),
        (
            lambda text: text.replace("entered", "kernels") + "stripe = [9, 8]\n",
            "a: stripe must be the shortest and the longest, 1 to 67108864, not (9, 8)",
        ),
        (
            lambda text: text.replace("entered", "kernels") + "stripe = [8, 16]\ncells = [1020, 5]\n",
            "a: cells must be the first and how many, below 1024, not (1020, 5)",
        ),
        (lambda text: text + "delay = -1\n", "a: delay must be 0 to 1000 cycles, not -1"),
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
