"""Predicted cycles: the rules of stripes and hardware that does not exist, and layers beside the public RTL."""

from __future__ import annotations

import pytest

from networks.random_networks import NetworkBuilder
from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.nvdla.layers import ConvLayer, Layer, first_of
from nvdla_tb.nvdla.timing import Machine, Timeline, WhatIf
from nvdla_tb.nvdla.timing.convolution import stripes
from tests.unit.networks.compiler.playing import SMALL, played
from tests.unit.nvdla.samples import FULL


def machine(*what_if: str, latency_cycles: int = 50) -> Machine:
    found = Machine.of(SMALL, latency_cycles, WhatIf.parse(what_if))
    assert found is not None
    return found


def alone(layer: Layer, *what_if: str, latency_cycles: int = 50) -> int:
    span = Timeline(machine(*what_if, latency_cycles=latency_cycles)).add(layer, enabled=0)
    assert span is not None
    return span.cycles


def dense(channels: int, kernels: int) -> Layer:
    net = NetworkBuilder("dense", (channels, 1, 1), 1)
    (layer,) = played(net.model(net.conv(net.input, kernels, 1)))[2]
    return layer


def convolved(channels: int, side: int, kernels: int, size: int, stride: int = 1, pad: int = 0) -> Layer:
    net = NetworkBuilder("convolved", (channels, side, side), 1)
    (layer,) = played(net.model(net.conv(net.input, kernels, size, stride=stride, pad=pad)))[2]
    return layer


def pooled(kind: str, side: int, size: int, stride: int, pad: int = 0) -> Layer:
    net = NetworkBuilder("pooled", (16, side, side), 1)
    (layer,) = played(net.model(net.pool(net.input, kind, size, stride, pad)))[2]
    return layer


@pytest.mark.parametrize(
    ("atoms", "lengths"),
    [(1, [1]), (16, [16]), (17, [8, 9]), (31, [8, 8, 15]), (32, [16, 16]), (47, [16, 8, 8, 15])],
)
def test_stripes_have_16_atoms_and_shorter_ones_at_the_end(atoms: int, lengths: list[int]) -> None:
    assert list(stripes(atoms)) == lengths


@pytest.mark.parametrize(
    ("layer", "cycles"),
    [
        # Played on the public nv_small RTL with the bench's memory, each alone.
        (lambda: dense(800, 64), 7542),
        (lambda: dense(256, 496), 16618),
        (lambda: convolved(16, 20, 16, 1), 10196),
        (lambda: convolved(8, 20, 16, 1), 9745),
        (lambda: convolved(64, 32, 8, 1, stride=8), 6914),
        (lambda: convolved(16, 32, 8, 1, stride=8), 1723),
        (lambda: pooled("MaxPool", 32, 3, 1, 1), 17341),
    ],
)
def test_layers_of_one_kind_of_work_are_predicted_within_3_percent(layer: object, cycles: int) -> None:
    assert callable(layer)
    assert alone(layer()) == pytest.approx(cycles, rel=0.03)


def test_a_slow_memory_slows_units_with_few_reads_in_flight() -> None:
    # The public RTL took 30191 cycles at a latency of 100, and hides most of it in convolutions.
    assert alone(pooled("MaxPool", 32, 3, 1, 1), latency_cycles=100) == pytest.approx(30191, rel=0.03)
    conv = convolved(8, 20, 16, 1)
    assert alone(conv, latency_cycles=100) == alone(conv) + 100


def test_a_dense_layer_needs_a_faster_port_and_more_multipliers() -> None:
    # 100 atoms of data; 8 kernel groups, each 800 atoms of weights and 100 operations of 8 cycles.
    layer = dense(800, 64)
    assert alone(layer) - alone(layer, "macs=2x") == pytest.approx(800 / 2, abs=2)
    assert alone(layer) - alone(layer, "memory=2x") == pytest.approx((100 + 800) / 2, abs=2)
    assert alone(layer) - alone(layer, "memory=2x", "macs=2x") == pytest.approx((100 + 8 * 800 + 800) / 2, abs=2)


def test_a_convolution_that_is_enabled_early_fetches_behind_the_one_before() -> None:
    layer = first_of(convolved(16, 20, 16, 1))
    assert isinstance(layer, ConvLayer)
    timeline = Timeline(machine())
    first = timeline.add(layer, enabled=0)
    second = timeline.add(layer, enabled=0)
    assert first is not None
    assert second is not None
    assert second.begun == first.ended
    assert second.cycles < first.cycles


def test_other_sizes_than_those_measured_are_not_predicted() -> None:
    assert Machine.of(FULL) is None
    assert Machine.of(HwConfig.load("nv_large")) is None


@pytest.mark.parametrize("word", ["memory", "memory=0", "memory=x", "memory=-1", "banks=2x", "latency=1000", "=2"])
def test_factors_that_are_none_are_refused(word: str) -> None:
    message = f"^--what-if must be one of memory=N, latency=N, macs=N, N from 0.01 to 100, not {word}$"
    with pytest.raises(InputError, match=message):
        WhatIf.parse([word])
