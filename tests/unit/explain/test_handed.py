"""What passes the hand-overs of a convolution is that of literal loops, in the order of the hardware."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from msgspec import structs

from nvdla_models.layout import ImageWeightLayout
from nvdla_models.precision import Precision
from nvdla_tb.explain.seen import Seen
from nvdla_tb.explain.stages import StageResult, compare
from nvdla_tb.explain.tap import Handover
from nvdla_tb.judge.predictor import BufferContents, predict
from nvdla_tb.judge.predictor.conv_operands import operands_of
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.program.conv_buffer import Fetch
from tests.unit.explain import cases
from tests.unit.explain.cases import conv_layer
from tests.unit.explain.test_culprit import INSIDE
from tests.unit.explain.test_runs import LOAD, MEMORY, played
from tests.unit.explain.test_stages import SUMS
from tests.unit.models.oracles_conv import element


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


CONVOLUTION = Seen.of(played(conv_layer()))


def compared(beats: list[Handover], value: str, seen: Seen = CONVOLUTION, **more: Any) -> StageResult:
    """Return what is found of beats of a run's only layer."""
    stage = structs.replace(INSIDE, value=value, **{"stripe": None, **more})
    (finding,) = compare([stage], {stage.name: beats}, seen, (LOAD,))[0]
    return finding


def judged(value: str, beats: list[Handover], stripe: int = 16, cells: tuple[int, int] | None = None) -> StageResult:
    """Return what is found of the atomic operations of a convolution."""
    return compared(beats, value, stripe=(stripe, stripe), cells=cells, element_bits=20 if value == "products" else 8)


def flipped(beat: Handover, byte: int = 0, bit: int = 0) -> Handover:
    """Return a beat of which a bit differs."""
    data = bytearray(beat.data)
    data[byte] ^= 1 << bit
    return replace(beat, data=bytes(data))


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
    beats[beat] = flipped(beats[beat], *divmod(bit, 8))
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


def test_lines_that_are_fetched_together_come_surface_by_surface() -> None:
    layer = conv_layer()
    packed = replace(layer.src.layout, line_stride_bytes=64, surface_stride_bytes=64 * 7)
    src, cbuf = replace(layer.src, layout=packed), replace(layer.cbuf, fetch_slices=3)
    run = Seen.of(played(replace(layer, src=src, cbuf=cbuf)))
    cube = packed.unpack(MEMORY.read(src.address, packed.nbytes).data)
    assert layer.conversion is not None
    cube = np.pad(layer.conversion.convert(cube, layer.params.precision), ((0, 5), (0, 0), (0, 0)))
    beats = [
        Handover(h, cube[8 * surface : 8 * surface + 8, h, w].astype("<i1").tobytes(), (2 * h + surface) * 8 + w)
        for first in (0, 3, 6)
        for surface in range(2)
        for h in range(first, min(first + 3, 7))
        for w in range(8)
    ]
    assert compared(beats, "converted", run, address="a").wrong is None
    assert compared([beats[0], *beats[8:16], *beats[1:8], *beats[16:]], "converted", run, address="a").wrong is not None


def test_converted_input_is_compared_line_by_line() -> None:
    beats = converted()
    assert compared(beats, "converted").wrong is None
    beats[19] = flipped(beats[19], bit=2)
    found = str(compared(beats, "converted"))
    assert found.startswith("inside: first wrong at c=0 h=1 w=3 in beat 20 of 112, cycle 19: ")


def test_unknown_bits_are_wrong_where_they_count() -> None:
    beats = converted()
    beats[19] = replace(beats[19], unknown=b"\0" * 7 + b"\1")
    assert str(compared(beats, "converted")).endswith("got unknown bits")
    beats = converted()
    beats[8] = replace(beats[8], unknown=b"\0" * 7 + b"\1")
    assert not compared(beats, "converted").is_bad


def image_pixels() -> tuple[list[list[list[int]]], tuple[int, ...]]:
    """Return the converted image as lists, and its shape."""
    cube = operands_of(cases.image_layer(), lambda _, address, nbytes: MEMORY.read(address, nbytes).data).cube
    return cube.tolist(), cube.shape


def test_images_are_compared_line_by_line() -> None:
    layer = cases.image_layer()
    params, (_, height, width) = layer.params, layer.dst.layout.shape
    pixels, (channels, lines, columns) = image_pixels()
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
    run = Seen.of(played(layer))
    found = compared(beats, "elements", run, stripe=(2, 4))
    assert (found.wrong, found.beats, found.expected) == (None, len(beats), len(beats))
    assert compared(beats, "elements", run, stripe=(4, 4), across_lines=True).is_bad


def test_images_with_post_extension_are_not_compared_and_neither_is_what_follows_them() -> None:
    later = replace(conv_layer(), dst=replace(conv_layer().dst, address=cases.DST + 0x2000))
    layer = cases.image_layer()
    weights = ImageWeightLayout(cases.SMALL, Precision.INT8, (9, 4, 3, 1), line_group=2)
    params = replace(layer.params, pad_left=0, pad_right=0)
    extended = replace(layer, weights=replace(layer.weights, layout=weights), params=params)
    run = Seen.of(played(extended, later))
    findings = compare([INSIDE], {"inside": operations(16)["elements"]}, run, (LOAD,))
    assert [str(findings[index][0]) for index in (0, 1)] == [
        "inside: not compared: images of which several lines are taken at once have no known order there",
        "inside: not compared: it is not known where the layer before ends",
    ]
    assert not any(findings[index][0].is_bad for index in (0, 1))


def test_pixels_come_line_by_line_with_their_channels_side_by_side_and_the_padding_beside_them() -> None:
    layer = cases.image_layer()
    pixels, (channels, lines, columns) = image_pixels()
    pad = [layer.params.pad_value] * channels
    atoms = []
    for h in range(lines):
        line = pad * layer.params.pad_left
        for w in range(columns):
            line += [pixels[c][h][w] for c in range(channels)]
        line += pad * layer.params.pad_right
        line += [0] * (-len(line) % 8)
        atoms += [line[at : at + 8] for at in range(0, len(line), 8)]
    beats = [Handover(n, np.array(atom, dtype="<i1").tobytes()) for n, atom in enumerate(atoms)]
    run = Seen.of(played(layer))
    found = compared(beats, "converted", run)
    assert (found.is_bad, found.beats) == (False, len(atoms))
    last = len(atoms) - 1
    found = compared([*beats[:last], flipped(beats[last], 2)], "converted", run)
    place = last % (len(atoms) // lines) * 8 + 2
    where = f"c={place % channels} h={lines - 1} w={place // channels - layer.params.pad_left}"
    assert f"first wrong at {where} in beat {last + 1} of {last + 1}" in str(found)


@pytest.mark.parametrize(
    ("value", "numbers", "said"),
    [
        ("loaded-lines", [3, 3, 1], "told: 7 lines, all right"),
        ("loaded-lines", [3, 3], "told: 6 lines instead of 7"),
        ("loaded-lines", [3, 3, 2], "told: 8 lines instead of 7"),
        ("loaded-kernels", [8, 8, 3], "told: 19 kernels, all right"),
        ("credits", [1] * 105, "told: 105 credits, all right"),
        ("credits", [1] * 104, "told: 104 credits instead of 105"),
    ],
)
def test_numbers_that_units_tell_each_other_are_added_up(value: str, numbers: list[int], said: str) -> None:
    layer = conv_layer()
    assert layer.src.layout.shape[1] == 7
    assert layer.dst.layout.shape == (19, 7, 5)
    beats = [Handover(cycle, bytes([number, 0])) for cycle, number in enumerate(numbers)]
    assert str(compared(beats, value, name="told")) == said


def test_numbers_of_a_layer_end_where_those_of_the_next_begin() -> None:
    later = replace(conv_layer(), dst=replace(conv_layer().dst, address=cases.DST + 0x2000))
    run = Seen.of(played(conv_layer(), later))
    beats = [Handover(cycle, bytes([number])) for cycle, number in enumerate([4, 3, 4, 2])]
    stage = structs.replace(INSIDE, name="told", value="loaded-lines", stripe=None)
    found = compare([stage], {"told": beats}, run, (LOAD,))
    assert [str(found[index][0]) for index in (0, 1)] == ["told: 7 lines, all right", "told: 6 lines instead of 7"]


def test_equal_numbers_of_the_next_layer_are_not_called_handed_over_once_too_often() -> None:
    later = replace(conv_layer(), dst=replace(conv_layer().dst, address=cases.DST + 0x2000))
    run = Seen.of(played(conv_layer(), later))
    stage = structs.replace(INSIDE, name="told", value="loaded-lines", stripe=None)
    found = compare([stage], {"told": [Handover(0, bytes([7])), Handover(1, bytes([7]))]}, run, (LOAD,))
    assert [str(found[index][0]) for index in (0, 1)] == ["told: 7 lines, all right"] * 2


def test_a_layer_that_reuses_weights_is_compared_with_those_of_the_layer_before() -> None:
    first = conv_layer()
    later = replace(first, dst=replace(first.dst, address=cases.DST + 0x2000))
    buffer = BufferContents()
    layers = [StartedLayer(0, "CONV", 0, first), StartedLayer(1, "CONV", 1, later, fetch=Fetch(weights=False))]
    found = [predict(layer, lambda _, address, nbytes: MEMORY.read(address, nbytes).data, buffer) for layer in layers]
    run = Seen.of(cases.scored((each, cases.beats_of(cases.result(each))) for each in found))
    told = structs.replace(INSIDE, name="told", value="loaded-kernels", stripe=None)
    sums = sums_of_literal_loops()
    beats = {"told": [Handover(0, bytes([19]))], SUMS.name: [*sums, *sums]}
    results = compare([told, SUMS], beats, run, (LOAD,))
    assert [str(result) for index in (0, 1) for result in results[index]] == [
        "told: 19 kernels, all right",
        f"CACC to SDP: {len(sums)} beats, all right",
        "told: 0 kernels, all right",
        f"CACC to SDP: {len(sums)} beats, all right",
    ]


def test_a_beat_of_another_width_is_not_compared() -> None:
    assert str(judged("elements", operations(16)["products"])) == (
        "inside: not compared: a beat of elements must hold 8 of them, not 20"
    )


def sums_of_literal_loops() -> list[Handover]:
    """Return what CACC hands to SDP for the convolution."""
    layer, (cube, kernels) = conv_layer(), conv_operands()
    _, height, width = layer.dst.layout.shape
    beats = []
    for surface in range(3):
        for h in range(height):
            for w in range(width):
                numbers = range(8 * surface, 8 * surface + 8)
                sums = [element(layer.params, cube, kernels[k], h, w)[0] if k < 19 else 0 for k in numbers]
                beats.append(Handover(len(beats), np.array(sums, dtype="<i4").tobytes()))
    return beats


def test_sums_are_those_of_a_literal_convolution() -> None:
    beats = sums_of_literal_loops()
    (finding,) = compare([SUMS], {SUMS.name: beats}, CONVOLUTION, (LOAD,))[0]
    assert (finding.is_bad, finding.beats) == (False, len(beats))


@pytest.mark.parametrize(
    ("outputs", "lengths"),
    [(1, [1]), (16, [16]), (17, [8, 9]), (31, [8, 8, 15]), (32, [16, 16]), (40, [16, 8, 16]), (47, [16, 8, 8, 15])],
)
def test_stripes_are_as_long_as_those_of_the_hardware(outputs: int, lengths: list[int]) -> None:
    stripes = list(structs.replace(INSIDE, stripe=(8, 16)).stripes(outputs))
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
    single[6] = flipped(single[6])
    found = str(judged("kernels", single, cells=(4, 4)))
    assert "first wrong at k=6 c=0 r=0 s=1 for the output h=0 w=0 in beat 7" in found


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
    assert not compared(beats, "packed").is_bad
    beats[3] = flipped(beats[3])
    assert str(compared(beats, "packed")).startswith("inside: first wrong at byte 24 of the weights in beat 4 ")


def test_beats_of_zeros_are_left_out_where_the_hardware_clears_the_buffer() -> None:
    cleared = [Handover(-n, bytes(8)) for n in range(9, 0, -1)]
    assert not compared(cleared + converted(), "converted", zeros=False).is_bad
    assert compared(cleared + converted(), "converted").is_bad
    beats = [beat for beat in converted() if any(beat.data)]
    assert compared(cleared + beats[:-1], "converted", zeros=False).is_bad


def test_flags_beside_an_operation_tell_its_place_in_the_stripe_and_the_layer() -> None:
    names = ("stripe-start", "stripe-end", "channel-end", "layer-end")
    sides = {name: name for name in names}
    outputs, stripe, steps = 35, 16, 2 * 2 * 3
    beats, flags = operations(stripe)["elements"], []
    for group in range(3):
        for start in range(0, outputs, stripe):
            stop = min(start + stripe, outputs)
            for step in range(steps):
                is_end = step == steps - 1
                last = is_end and group == 2 and stop == outputs
                flags += [(n == start, n == stop - 1, is_end, last) for n in range(start, stop)]
    assert len(flags) == len(beats)
    seen = [replace(beat, sides=tuple(map(int, flag))) for beat, flag in zip(beats, flags, strict=True)]
    more = {"stripe": (stripe, stripe), "sides": sides}
    assert compared(seen, "elements", **more).wrong is None
    seen[-1] = replace(seen[-1], sides=(*seen[-1].sides[:3], 0))
    found = compared(seen, "elements", **more).wrong
    assert found is not None
    assert found.endswith(f"cycle {seen[-1].cycle}: expected layer-end 1, got 0")
    seen[5] = replace(seen[5], sides=(None, *seen[5].sides[1:]))
    assert str(compared(seen, "elements", **more).wrong).endswith(": expected stripe-start 0, got unknown bits")
