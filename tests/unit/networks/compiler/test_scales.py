"""Zeros of values that do not reach as far to both sides, and where they must be 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from networks.random_networks import NetworkBuilder
from nvdla_models.precision import Precision
from nvdla_networks.compiler.arrange import arranged
from nvdla_networks.compiler.fuse import fused
from nvdla_networks.compiler.scales import Scales, scales_of
from nvdla_networks.compiler.simplify import simplified
from nvdla_networks.compiler.target import Target
from tests.unit.networks.compiler.playing import error, graph_of, played, random_samples
from tests.unit.networks.loadables import FULL, SMALL


def scaled(net: NetworkBuilder, value: str, precision: Precision = Precision.INT8) -> Scales:
    """Return the scales of a network's values by random samples."""
    graph = graph_of(net.model(value))
    target = Target(SMALL if precision is Precision.INT8 else FULL, precision)
    simple = arranged(simplified(graph), target.lanes, scaled=True).graph
    return scales_of(simple, fused(simple, target), random_samples(graph, 2, seed=1), target)


def _taken_by(taker: Callable[[NetworkBuilder, str], str]) -> tuple[NetworkBuilder, str, str]:
    """Return a network, what is never negative in it, and what something and a convolution make of that."""
    net = NetworkBuilder("net", (3, 8, 8), 1)
    value = net.relu(net.conv(net.input, 8, 3, pad=1))
    return net, value, net.conv(taker(net, value), 8, 1)


def _product(net: NetworkBuilder, *values: str) -> str:
    (name,) = net.add("Mul", list(values))
    net.shapes[name] = net.shapes[values[0]]
    return name


BEAR = {
    "product": lambda net, value: _product(net, value, net.conv(net.input, 8, 1)),
    "padded convolution": lambda net, value: net.conv(value, 8, 3, pad=1),
    "depthwise convolution": lambda net, value: net.conv(value, 8, 3, pad=1, groups=8),
    "maximum": lambda net, value: net.pool(value, "MaxPool", 3, 2, 1),
    "average": lambda net, value: net.pool(value, "AveragePool", 3, 2, 1),
    "sum": lambda net, value: net.plus(value, net.conv(net.input, 8, 1)),
    "sum of a convolution": lambda net, value: net.relu(net.plus(net.conv(value, 8, 3, pad=1), value)),
    "sum of two": lambda net, value: net.plus(net.pool(value, "MaxPool", 3, 1, 1), value),
    "joined": lambda net, value: net.conv(net.joined(value, net.relu(net.conv(net.input, 12, 1))), 8, 1),
}
DO_NOT = {
    "product with it": lambda net, value: _product(net, net.conv(net.input, 8, 1), value),
    "square": lambda net, value: _product(net, value, value),
    "normalisation": lambda net, value: net.lrn(value),
    "average of padding": lambda net, value: net.pool(value, "AveragePool", 3, 2, 1, count_include_pad=1),
    "joined and padded": lambda net, value: net.conv(net.joined(value, net.conv(net.input, 8, 1)), 8, 3, pad=1),
    "sum of memory, bounded": lambda net, value: net.relu(net.plus(net.pool(value, "MaxPool", 3, 1, 1), value)),
}


@pytest.mark.parametrize("name", [*BEAR, *DO_NOT])
def test_a_value_that_is_never_negative_uses_all_integers_where_its_takers_allow(name: str) -> None:
    net, value, output = _taken_by({**BEAR, **DO_NOT}[name])
    found = scaled(net, output)
    assert found.zero(value) == (-128 if name in BEAR else 0)
    assert (found.zero(net.input), found.zero(output)) == (0, 0)


@pytest.mark.parametrize("name", [*BEAR, *DO_NOT])
def test_results_are_as_near_whatever_takes_a_zero(name: str) -> None:
    net, _, output = _taken_by({**BEAR, **DO_NOT}[name])
    for got, expected in zip(*played(net.model(output), runs=2)[:2], strict=True):
        assert error(got, expected) < 0.04


def test_no_step_is_lost_where_nothing_is_negative() -> None:
    net = NetworkBuilder("net", (8, 8, 8), 1)
    weights = np.eye(8).reshape(8, 8, 1, 1)
    values = [net.input]
    for _ in range(2):
        values += net.add("Conv", [values[-1], net.constant(weights)])
        values += net.add("Relu", [values[-1]])
        net.shapes |= dict.fromkeys(values, (8, 8, 8))
    found = scaled(net, net.conv(values[-1], 8, 1))
    samples = random_samples(graph_of(net.model(values[-1])), 2, seed=1)
    most = max(float(sample["input"].max()) for sample in samples)
    assert found.scale(values[2]) == pytest.approx(most / 255)


@pytest.mark.parametrize("precision", [Precision.INT16, Precision.FP16])
def test_other_precisions_have_no_zeros(precision: Precision) -> None:
    net, value, output = _taken_by(BEAR["padded convolution"])
    assert scaled(net, output, precision).zero(value) == 0
