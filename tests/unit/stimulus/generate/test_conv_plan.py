"""Convolutions from descriptions: cubes and images, their share of the buffer, what waits for what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_models.layout import ImageWeightLayout, PixelConversion, WeightLayout
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.program.ops import InterruptNotify, RegWrite, SyncWait
from nvdla_tb.nvdla.surfaces import ImageSurface, Surface
from nvdla_tb.stimulus.generate.sequence import sequence
from nvdla_tb.stimulus.refusal import refusal
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.generate.building import build_all, build_one, refused

CUBE: dict[str, Any] = {"engine": "CONV", "shape": [10, 5, 6], "kernels": 9, "kernel": [3, 2]}
IMAGE: dict[str, Any] = {**CUBE, "shape": [3, 5, 6], "image": {"format": "T_Y8___U8V8_N444"}}


def build(**changes: Any) -> ConvLayer:
    return build_one(ConvLayer, {**CUBE, **changes})


def test_a_description_becomes_a_convolution_of_a_cube() -> None:
    layer = build(stride=[3, 1], dilation=[1, 2], pad=[1, 2, 0, 1], pad_value=-9, truncate=5, input_converter=[1, 2, 3])
    params = layer.params
    assert isinstance(layer.src, Surface)
    assert (params.stride_x, params.stride_y, params.dilation_x, params.dilation_y) == (3, 1, 1, 2)
    assert (params.pad_left, params.pad_right, params.pad_top, params.pad_bottom) == (1, 2, 0, 1)
    assert (params.pad_value, params.truncate) == (-9, 5)
    assert layer.weights.layout.shape == (9, 10, 2, 3)
    assert layer.dst.layout.shape == (9, 4, 3)
    assert layer.conversion is not None
    assert not isinstance(layer.conversion, PixelConversion)
    assert (layer.conversion.offset, layer.conversion.scale, layer.conversion.shift) == (1, 2, 3)
    assert build().conversion is None


def test_a_description_becomes_a_convolution_of_an_image() -> None:
    image = {"format": "T_A8B8G8R8", "x_offset": 1, "gaps": [2], "mean": [1, 2, 3, -4], "signed": True}
    layer = build(shape=[4, 5, 6], kernel=[1, 2], image={**image, "post_extension": 2}, input_converter=[0, 5, 1])
    assert isinstance(layer.src, ImageSurface)
    assert (layer.src.layout.format_name, layer.src.layout.x_offset) == ("T_A8B8G8R8", 1)
    assert layer.src.layout.line_stride_bytes == (32 + 2 * 8,)
    assert isinstance(layer.conversion, PixelConversion)
    assert (layer.conversion.mean, layer.conversion.signed) == ((1, 2, 3, -4), True)
    assert layer.conversion.converter is not None
    assert isinstance(layer.weights.layout, ImageWeightLayout)
    assert layer.weights.layout.line_group == 2


def test_weights_stay_in_their_range_and_are_followed_by_random_bytes() -> None:
    shop, layers = build_all({**CUBE, "weights": [100, 101]})
    assert isinstance(layers[0], ConvLayer)
    surface = layers[0].weights
    data = shop.memory.read_array(surface.address, surface.layout.nbytes)
    assert set(data[: surface.layout.elements].tolist()) == {100, 101}
    assert len(set(data[surface.layout.elements :].tolist())) > 2


def test_lines_of_an_image_are_written_with_the_pixels_around_it_but_no_gaps() -> None:
    shop, layers = build_all({**IMAGE, "image": {"format": "T_Y8___U8V8_N444", "x_offset": 5, "gaps": [1, 0]}})
    src = layers[0].src
    assert isinstance(src, ImageSurface)
    first, second = src.addresses
    written = shop.memory.written(first, 24)
    assert written[:16].all()
    assert not written[16:].any()
    assert shop.memory.written(second, 5 * 16).all()


def test_without_banks_a_layer_takes_as_few_as_hold_everything() -> None:
    layer = build()
    assert (layer.cbuf.data_banks, layer.cbuf.weight_banks, layer.cbuf.release_slices) == (1, 1, 5)
    spared = build(spare_banks=[2, 3]).cbuf
    assert (spared.data_banks, spared.weight_banks) == (3, 4)
    explicit = build(banks=[3, 4], release_slices=2, fetch_slices=6)
    assert (explicit.cbuf.data_banks, explicit.cbuf.weight_banks) == (3, 4)
    assert (explicit.cbuf.release_slices, explicit.cbuf.fetch_slices) == (2, 6)


def test_weights_that_do_not_all_fit_take_the_banks_of_a_group() -> None:
    weights = {**CUBE, "shape": [60, 5, 6], "kernels": 33, "all_weights": False}
    assert build(**weights).cbuf.weight_banks == 1
    assert build(**weights, spare_banks=[0, 1]).cbuf.weight_banks == 2
    assert build(**{**weights, "all_weights": True}).cbuf.weight_banks == 3


def test_the_banks_have_room_for_the_weights_of_the_convolutions_before() -> None:
    big = {**CUBE, "shape": [60, 5, 6], "kernels": 33}
    _, layers = build_all(big, {"engine": "SDP", "shape": [8, 2, 2]}, big, {**big, "all_weights": False})
    assert [layer.cbuf.weight_banks for layer in layers if isinstance(layer, ConvLayer)] == [3, 6, 9]


def test_banks_change_where_the_convolution_before_leaves_padding_behind_its_weights() -> None:
    _, layers = build_all({**CUBE, "kernels": 1}, CUBE)
    banks = [layer.cbuf.weight_banks for layer in layers if isinstance(layer, ConvLayer)]
    assert banks == [1, 2]
    assert refusal(sequence(layers, SMALL, in_turn=True), SMALL) is None
    _, layers = build_all({**CUBE, "kernels": 16, "shape": [8, 5, 6]}, CUBE)
    assert [layer.cbuf.weight_banks for layer in layers if isinstance(layer, ConvLayer)] == [1, 1]


def test_weights_that_end_with_an_entry_leave_nothing_behind() -> None:
    tight = {**CUBE, "kernels": 1, "tight_weights": True}
    _, layers = build_all(tight, tight)
    first, second = (layer for layer in layers if isinstance(layer, ConvLayer))
    used = first.weights.layout.elements
    assert used <= first.weights.fetched_bytes < min(used + 8, first.weights.layout.nbytes)
    assert (first.cbuf.data_banks, first.cbuf.weight_banks) == (second.cbuf.data_banks, second.cbuf.weight_banks)
    assert refusal(sequence(layers, SMALL, in_turn=True), SMALL) is None


@pytest.mark.parametrize(("skip", "offset"), [(0, 0), (1, 8), (8, 64), (31, 248)])
def test_weights_start_so_many_atoms_after_a_multiple_of_256_bytes(skip: int, offset: int) -> None:
    shop, layers = build_all({**CUBE, "weights_skip": skip})
    first = next(layer for layer in layers if isinstance(layer, ConvLayer))
    address = first.weights.address
    assert address % 256 == offset
    around = shop.memory.written(address - min(skip, 1), 2).tolist()
    assert around == ([False, True] if skip else [True, True])
    assert refusal(sequence(layers, SMALL, in_turn=True), SMALL) is None


def test_half_of_the_atoms_and_of_the_weight_vectors_of_sparse_operands_are_zero() -> None:
    sparse = {**CUBE, "shape": [20, 9, 9], "kernels": 24, "kernel": [3, 3], "sparse_weights": True, "numbers": "sparse"}
    shop, layers = build_all(sparse)
    (layer,) = layers
    assert isinstance(layer, ConvLayer)
    assert isinstance(layer.src, Surface)
    assert isinstance(layer.weights.layout, WeightLayout)
    weights = layer.weights.layout.unpack(shop.memory.read_array(layer.weights.address, layer.weights.layout.nbytes))
    data = layer.src.layout.unpack(shop.memory.read_array(layer.src.address, layer.src.layout.nbytes))
    for operands in (weights, data[np.newaxis]):
        zero = [not block.any() for part in operands for block in vectors(part)]
        assert 0.4 < np.mean(zero) < 0.6
        assert np.mean([np.mean(block == 0) for block in operands if block.any()]) < 0.65


def vectors(cube: NDArray[Any]) -> list[NDArray[Any]]:
    """Return eight channels at a time of every place of a cube, (C, H, W)."""
    return [cube[c : c + 8, h, w] for c in range(0, len(cube), 8) for h, w in np.ndindex(cube.shape[1:])]


def test_units_take_turns_each_on_its_own() -> None:
    sdp = {"engine": "SDP", "shape": [8, 2, 2]}
    _, layers = build_all(CUBE, sdp, {**CUBE, "x1": {"alu": "sum", "alu_operand": "channel"}})
    ops = sequence(layers, SMALL, in_turn=False)
    assert [(op.unit, op.group) for op in ops if isinstance(op, InterruptNotify)] == [("SDP", g) for g in (0, 1, 0)]
    pointers = [op.value for op in ops if isinstance(op, RegWrite) and op.register == "SDP_RDMA.S_POINTER"]
    assert pointers == [0, 1]
    assert [op for op in ops if isinstance(op, SyncWait)] == [SyncWait("SDP", "layer_0")]
    assert refusal(ops, SMALL) is None


def test_a_layer_that_reads_what_another_writes_is_enabled_after_it() -> None:
    _, layers = build_all(CUBE, {"engine": "PDP", "chain": True, "method": "max", "kernel": [1, 1]})
    ops = sequence(layers, SMALL, in_turn=False)
    programmed, enabled = (
        next(n for n, op in enumerate(ops) if isinstance(op, RegWrite) and op.register == f"PDP_RDMA.{name}")
        for name in ("S_POINTER", "D_OP_ENABLE")
    )
    waits = [n for n, op in enumerate(ops) if op == SyncWait("PDP_RDMA", "layer_0")]
    assert len(waits) == 1
    assert programmed < waits[0] < enabled


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ({key: CUBE[key] for key in ("engine", "shape", "kernels")}, "probe.kernel is missing"),
        ({**IMAGE, "chain": True}, "probe.chain must be left out of an image"),
        ({**IMAGE, "shape": [4, 5, 6]}, "probe: channels must be 3 for T_Y8___U8V8_N444, not 4"),
        ({**CUBE, "banks": [0, 1]}, "probe: data_banks must be 1 to 31, not 0"),
        ({**IMAGE, "image": {**IMAGE["image"], "mean": [1]}}, "probe.image.mean must be 3 integers, not [1]"),
        (
            {**CUBE, "zero_percent": 0, "tight_weights": True},
            "probe.tight_weights must be left out beside zero_percent",
        ),
        (
            {**CUBE, "zero_percent": 0, "sparse_weights": True},
            "probe.sparse_weights must be left out beside zero_percent",
        ),
        ({**CUBE, "reuse": ["data"]}, "probe.reuse needs a convolution before it"),
        ({**CUBE, "lines": 3}, "probe.lines needs data that are reused"),
    ],
)
def test_a_convolution_that_cannot_be_understood_is_refused(description: dict[str, Any], message: str) -> None:
    with refused(message):
        build_all(description)


def test_a_layer_convolves_all_lines_that_are_kept() -> None:
    kept = {**CUBE, "keep": ["data", "weights"], "banks": [2, 4]}
    layers = build_all(kept, {**CUBE, "shape": [10, 3, 6], "reuse": ["data", "weights"]})[1]
    first, second = (layer.cbuf for layer in layers if isinstance(layer, ConvLayer))
    assert (first.skip_data_release, first.skip_weight_release) == (True, True)
    assert (second.reuse_data, second.reuse_weights, second.data_banks, second.weight_banks) == (True, True, 2, 4)
    assert isinstance(layers[1], ConvLayer)
    assert (layers[1].lines, layers[1].dst.layout.shape) == (5, (9, 4, 4))


def test_a_layer_convolves_lines_that_are_left_and_its_own() -> None:
    layers = build_all({**CUBE, "release_slices": 4}, {**CUBE, "shape": [10, 3, 6], "reuse": ["data"]})[1]
    assert isinstance(layers[1], ConvLayer)
    assert layers[1].lines == 4
    assert layers[1].cbuf.data_banks == 1


def test_a_layer_that_keeps_takes_all_banks_so_that_the_next_has_room() -> None:
    layer = build(keep=["weights"])
    assert (layer.cbuf.data_banks, layer.cbuf.weight_banks) == (16, 16)
