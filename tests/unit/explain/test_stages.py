"""Hand-overs made element by element are compared with the model, and the first bad stage is named."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tb.explain.seen import Seen
from tb.explain.stages import Handover, Stage, StageError, first_bad, judge, load_stages
from tests.unit.explain.cases import conv_layer
from tests.unit.explain.test_runs import LAYERS, LOAD, MEMORY, played
from tests.unit.oracles_conv import element

EMBEDDED = Path(__file__).resolve().parents[3] / "hdl_stubs" / "stages.toml"
SUMS = Stage("CACC to SDP", ("CONV",), "sums", "v", "r", "d", 32)
ENTERED = Stage("input of SDP", ("SDP",), "entered", "v", "r", "d", 32)
WRITTEN = Stage("SDP to memory", ("SDP",), "written", "v", "r", "d", address="a")


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
    findings = judge([ENTERED, WRITTEN], seen, RUN, (LOAD,))
    for index in (0, 1):
        assert [finding.is_bad for finding in findings[index]] == [False, False]
        assert first_bad(findings[index])[-1] == "no stage differs: look behind the last one"
    assert findings[2] == []


def test_a_wrong_element_is_named_with_place_and_cycle() -> None:
    beats = entering(0) + entering(1)
    at = len(entering(0)) + (1 * 5 + 2) * 6 + 3
    words = np.frombuffer(beats[at].data, dtype="<i4").copy()
    words[5] += 70000
    beats[at] = replace(beats[at], data=words.tobytes())
    findings = judge([ENTERED], {ENTERED.name: beats}, RUN, (LOAD,))
    assert not findings[0][0].is_bad
    total = len(entering(1))
    assert str(findings[1][0]) == (
        f"input of SDP: first wrong at c=13 h=2 w=3 in beat {at - len(entering(0)) + 1} of {total}, "
        f"cycle {beats[at].cycle}: expected {words[5] - 70000}, got {words[5]}"
    )
    assert first_bad(findings[1])[-1] == "first bad stage: input of SDP"


def test_missing_and_stray_hand_overs_are_bad() -> None:
    short = {ENTERED.name: entering(0) + entering(1)[:-1], WRITTEN.name: writing(0) + writing(1)}
    findings = judge([ENTERED, WRITTEN], short, RUN, (LOAD,))
    total = len(entering(1))
    assert str(findings[1][0]) == f"input of SDP: {total - 1} beats instead of {total}"
    stray = writing(0)
    stray[3] = replace(stray[3], address=0x10)
    findings = judge([WRITTEN], {WRITTEN.name: stray + writing(1)}, RUN, (LOAD,))
    assert str(findings[0][0]) == (
        f"SDP to memory: first wrong in beat 4, cycle {stray[3].cycle}, address 0x10: the layer writes nothing there"
    )


def test_sums_are_those_of_a_literal_convolution() -> None:
    layer = conv_layer()
    run = Seen.of(played(layer, wrong=0, moved=0))
    assert layer.conversion is not None
    raw = layer.src.layout.unpack(MEMORY.read(layer.src.address, layer.src.layout.nbytes).data)
    cube = layer.conversion.convert(raw, layer.params.precision)
    weights = layer.weights.layout
    kernels = weights.unpack(MEMORY.read(layer.weights.address, weights.nbytes).data)
    _, height, width = layer.dst.layout.shape
    beats = []
    for surface in range(3):
        for h in range(height):
            for w in range(width):
                numbers = range(8 * surface, 8 * surface + 8)
                sums = [
                    element(layer.params, cube.tolist(), kernels[k].tolist(), h, w)[0] if k < 19 else 0 for k in numbers
                ]
                beats.append(Handover(len(beats), np.array(sums, dtype="<i4").tobytes()))
    (finding,) = judge([SUMS], {SUMS.name: beats}, run, (LOAD,))[0]
    assert (finding.is_bad, finding.beats) == (False, 3 * height * width)


def test_the_stages_of_the_embedded_device_load() -> None:
    names = [stage.name for stage in load_stages(EMBEDDED)]
    assert names == ["CACC to SDP", "input of SDP", "SDP to memory", "PDP to memory", "CDP to memory"]


GOOD = '[[stage]]\nname = "a"\nengines = ["SDP"]\nvalue = "entered"\nvalid = "v"\nready = "r"\ndata = "d"\n'


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace('"SDP"', '"XDP"'), "a: engines must be of CONV, SDP, PDP, CDP, not XDP"),
        (lambda text: text.replace("entered", "left"), "a: value must be one of sums, entered, written, not left"),
        (lambda text: text.replace("entered", "written"), "a: address must be given for written, and for nothing else"),
        (lambda text: text + "element_bits = 9\n", "a: element_bits must be 8, 16 or 32, not 9"),
        (lambda text: text + "width = 9\n", "{path}: a stage has no key width"),
        (lambda text: text.replace('data = "d"\n', ""), "{path}: a stage must have the key data"),
        (lambda text: "clock = 1\n" + text, "{path}: the file must hold tables [[stage]] alone, not clock, stage"),
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
