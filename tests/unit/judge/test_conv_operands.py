"""What a convolution multiplies comes from the convolution buffer as it was fetched, whatever memory holds by then."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.judge.predictor.conv_operands import BufferContents, Operands, operands_of
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.conv_buffer import FETCHES_ALL, ConvBuffer
from nvdla_tb.nvdla.surfaces import CbufUse
from tests.unit.nvdla.conv_samples import CONVERTER, image_conv, small_conv
from tests.unit.nvdla.registers_helper import refused
from tests.unit.nvdla.samples import surface


def memory(seed: int, ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
    """Return bytes that are others for every seed."""
    del ram
    return np.random.default_rng([seed, address]).integers(0, 256, nbytes, dtype=np.uint8)


def play(*layers: ConvLayer) -> list[Operands]:
    """Return what layers multiply when all of memory changes after each of them."""
    buffer, contents, found = ConvBuffer(), BufferContents(), []
    for seed, layer in enumerate(layers):
        fetch = buffer.begin(f"layer {seed}", layer)
        found.append(contents.take(layer, fetch, lambda *at, seed=seed: memory(seed, *at)))
    return found


def alone(layer: ConvLayer, seed: int) -> Operands:
    return operands_of(layer, lambda *at: memory(seed, *at))


def using(layer: ConvLayer, **cbuf: bool | int) -> ConvLayer:
    return replace(layer, cbuf=replace(layer.cbuf, **cbuf))


def test_kept_lines_are_those_that_were_fetched_and_converted_then() -> None:
    first = replace(using(small_conv(), skip_data_release=True, weight_banks=3), conversion=CONVERTER)
    found = play(first, using(small_conv(), reuse_data=True))
    np.testing.assert_array_equal(found[1].cube, alone(first, 0).cube, strict=True)
    np.testing.assert_array_equal(found[1].weights, alone(small_conv(), 1).weights, strict=True)


def test_kept_weights_are_those_that_were_fetched_then() -> None:
    found = play(using(small_conv(), skip_weight_release=True), using(small_conv(), reuse_weights=True))
    np.testing.assert_array_equal(found[1].weights, alone(small_conv(), 0).weights, strict=True)
    np.testing.assert_array_equal(found[1].cube, alone(small_conv(), 1).cube, strict=True)


def test_kept_pixels_are_not_fetched_again() -> None:
    first = using(image_conv(), skip_data_release=True, skip_weight_release=True)
    found = play(first, using(image_conv(), reuse_data=True, reuse_weights=True))
    np.testing.assert_array_equal(found[1].cube, found[0].cube, strict=True)
    np.testing.assert_array_equal(found[1].weights, found[0].weights, strict=True)


def test_lines_that_were_not_released_go_before_those_that_are_fetched() -> None:
    first = using(small_conv(), release_slices=3, weight_banks=3)
    second = replace(
        small_conv(),
        src=surface((10, 2, 5), 0x1000),
        dst=surface((9, 4, 3), 0x2000),
        cbuf=CbufUse(1, 2, release_slices=3, reuse_data=True),
        lines=3,
    )
    found = play(first, second)
    fetched = replace(second, cbuf=CbufUse(1, 2), lines=None, dst=surface((9, 3, 3), 0x2000))
    lines = [alone(first, 0).cube[:, 3:], alone(fetched, 1).cube]
    np.testing.assert_array_equal(found[1].cube, np.concatenate(lines, axis=1), strict=True)


def test_fewer_lines_are_the_first_of_those_that_are_kept() -> None:
    first = using(small_conv(), skip_data_release=True, weight_banks=3)
    second = replace(using(small_conv(), reuse_data=True, release_slices=2), lines=2, dst=surface((9, 3, 3), 0x2000))
    found = play(first, second)
    np.testing.assert_array_equal(found[1].cube, found[0].cube[:, :2], strict=True)


def test_fewer_groups_of_kernels_are_the_first_of_those_that_are_kept() -> None:
    first = using(small_conv(), skip_weight_release=True)
    weights = replace(first.weights.layout, shape=(8, 10, 2, 3))
    second = replace(
        using(small_conv(), reuse_weights=True),
        weights=replace(first.weights, layout=weights),
        dst=surface((8, 5, 3), 0x2000),
    )
    found = play(first, second)
    np.testing.assert_array_equal(found[1].weights, found[0].weights[:8], strict=True)


def test_an_empty_buffer_gives_nothing() -> None:
    message = "fetch must be all of it, because the convolution buffer is empty"
    with refused(message):
        BufferContents().take(small_conv(), replace(FETCHES_ALL, data=False), lambda *at: memory(0, *at))
