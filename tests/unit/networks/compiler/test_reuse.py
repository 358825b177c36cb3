"""What compiled convolutions leave in the convolution buffer for the next ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import onnx

from networks.random_networks import NetworkBuilder, tiled
from nvdla_tb.nvdla.layers import ConvLayer, Layer, PooledLayer
from tests.unit.networks.compiler.playing import SMALL, error, played

TOLERANCE = 0.06
FEW = replace(SMALL, name="mine", cbuf_bank_number=4, cbuf_bank_depth=128)


def _convolutions(layers: Sequence[Layer]) -> list[ConvLayer]:
    producers = (layer.producer if isinstance(layer, PooledLayer) else layer for layer in layers)
    return [layer for layer in producers if isinstance(layer, ConvLayer)]


def _reuse(layers: Sequence[Layer]) -> str:
    """Return a letter for each convolution: what it takes of the one before, Data, Weights or - for nothing."""
    cbufs = [layer.cbuf for layer in _convolutions(layers)]
    for before, after in pairwise(cbufs):
        kept = before.skip_data_release, before.skip_weight_release
        assert kept == (after.reuse_data, after.reuse_weights)
    return "".join("D" if cbuf.reuse_data else "W" if cbuf.reuse_weights else "-" for cbuf in cbufs)


def test_weights_stay_from_tile_to_tile_and_lines_from_one_convolution_to_another() -> None:
    got, expected, layers = played(tiled())
    # Two tiles, one cube, which two convolutions take, averages of four atoms, and a dense layer.
    assert _reuse(layers) == "-W" + "-" + "-D" + "----" + "-"
    whole, _, layers = played(tiled(), replace(SMALL, name="mine", cbuf_bank_depth=1024))
    assert _reuse(layers) == "-" + "-" + "-D" + "----" + "-"
    np.testing.assert_array_equal(got[0], whole[0], strict=True)
    assert error(got[0], expected[0]) < TOLERANCE


def _tall(kernels: int, *, times: int = 1) -> onnx.ModelProto:
    net = NetworkBuilder("tall", (8, 60, 9), 4)
    values = [net.relu(net.conv(net.input, kernels, 5)) for _ in range(times)]
    return net.model(*values)


def test_weights_are_read_for_each_tile_where_lines_would_be_read_more_often() -> None:
    got, expected, layers = played(_tall(64), FEW)
    assert _reuse(layers) == "---"
    assert len({layer.weights.address for layer in _convolutions(layers)}) == 1
    assert error(got[0], expected[0]) < TOLERANCE


def test_other_weights_of_the_same_shape_are_read() -> None:
    _, _, layers = played(_tall(8, times=2), FEW)
    assert _reuse(layers) == "-WW-WW"


def test_another_value_at_the_place_of_the_last_is_read() -> None:
    net = NetworkBuilder("place", (8, 6, 6), 3)
    value = net.conv(net.relu(net.conv(net.input, 8, 3, pad=1)), 8, 3, pad=1)
    model = net.model(net.conv(net.pool(value, "AveragePool", 3, 1, 1), 8, 3, pad=1))
    got, expected, layers = played(model)
    _, second, third = _convolutions(layers)
    assert second.src == third.src
    assert _reuse(layers) == "---"
    assert error(got[0], expected[0]) < TOLERANCE


def test_lines_stay_for_pooling_on_the_fly() -> None:
    net = NetworkBuilder("pooled", (48, 16, 10), 9)
    pooled = [net.pool(net.relu(net.conv(net.input, 8, side, pad=side // 2)), "MaxPool", 2, 2) for side in (1, 3)]
    got, expected, layers = played(net.model(net.joined(*pooled)))
    assert [type(layer) for layer in layers] == [PooledLayer, PooledLayer]
    assert _reuse(layers) == "-D"
    assert error(got[0], expected[0]) < TOLERANCE
