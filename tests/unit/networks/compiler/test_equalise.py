"""Channels of one value that reach differently far: the same results in floating point, better ones in integers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from networks.random_networks import NetworkBuilder, inception, mixed, residual
from nvdla_networks.compiler import equalise, onnx_network
from nvdla_networks.compiler.calibration import channels_seen
from nvdla_networks.compiler.equalise import equalised
from nvdla_networks.compiler.graph import Conv, Floats, Graph
from nvdla_networks.compiler.interpret import values_of
from nvdla_networks.compiler.simplify import simplified
from tests.unit.networks.compiler.playing import error, graph_of, played, random_samples

SAMPLES = 8


def uneven() -> NetworkBuilder:
    """Return a network whose first convolution has channels from 1 to 1/50 of the largest."""
    net = NetworkBuilder("uneven", (8, 12, 12), 5)
    convolved(net)
    return net


def convolved(net: NetworkBuilder) -> str:
    sizes = np.geomspace(1, 0.02, 16).reshape(16, 1, 1, 1)
    (name,) = net.add("Conv", [net.input, net.constant(net.rng.standard_normal((16, 8, 3, 3)) * sizes)])
    net.shapes[name] = (16, 10, 10)
    return name


def depthwise(net: NetworkBuilder) -> str:
    """Add what shows small channels again: a convolution of each channel, as large as they are small."""
    value = net.relu(next(reversed(net.shapes)))
    sizes = np.geomspace(1, 50, 16).reshape(16, 1, 1, 1)
    weights = net.constant(net.rng.standard_normal((16, 1, 3, 3)) * sizes)
    (name,) = net.add("Conv", [value, weights], group=16)
    net.shapes[name] = (16, 8, 8)
    return name


def gated() -> NetworkBuilder:
    """Return a network with everything that channels pass: slopes, a pooling, a sum, and a product with a gate."""
    net = uneven()
    first = next(reversed(net.shapes))
    (sloped,) = net.add("PRelu", [first, net.constant(np.full((16, 1, 1), 0.25))])
    net.shapes[sloped] = net.shapes[first]
    (total,) = net.add("Add", [sloped, convolved(net)])
    net.shapes[total] = net.shapes[first]
    (mean,) = net.add("GlobalAveragePool", [total])
    net.shapes[mean] = (16, 1, 1)
    (gate,) = net.add("HardSigmoid", [net.conv(mean, 16, 1)])
    net.shapes[gate] = (16, 1, 1)
    (product,) = net.add("Mul", [total, gate])
    net.shapes[product] = net.shapes[first]
    return net


def both(graph: Graph) -> tuple[dict[str, Floats], dict[str, Floats], Graph]:
    """Return all values of a graph before and after its channels were equalised, and the graph then."""
    graph = simplified(graph)
    samples = random_samples(graph, SAMPLES, seed=3)
    changed = equalised(graph, channels_seen(graph, samples))
    return values_of(graph, samples[0]), values_of(changed, samples[0]), changed


def models() -> Mapping[str, Graph]:
    net = uneven()
    plain = graph_of(net.model(depthwise(net)))
    net = uneven()
    seen = net.model(next(reversed(net.shapes)), depthwise(net))
    net = gated()
    product = next(reversed(net.shapes))
    return {
        "uneven": plain,
        "output on the way": graph_of(seen),
        "gated": graph_of(net.model(net.conv(net.pool(product, "MaxPool", 2, 1), 4, 1))),
        "mixed": graph_of(mixed()),
        "inception": graph_of(inception()),
        "residual": graph_of(residual((8, 16), side=16)),
    }


def test_an_output_that_others_take_stays() -> None:
    before, after, _ = both(models()["output on the way"])
    assert all(np.array_equal(before[value], after[value]) for value in before)


@pytest.mark.parametrize("name", ["uneven", "gated", "mixed", "inception", "residual"])
def test_floating_point_results_stay(name: str) -> None:
    graph = models()[name]
    before, after, _ = both(graph)
    for output in graph.outputs:
        np.testing.assert_allclose(after[output], before[output], rtol=1e-9, atol=1e-12)
    changed = [value for value in before if not np.allclose(before[value], after[value])]
    assert changed
    # Integers of the host and of the file stay as they are.
    assert not {*graph.inputs, *graph.outputs} & {*changed}


def test_small_channels_come_nearer_to_large_ones() -> None:
    before, after, changed = both(models()["uneven"])
    (value,) = (
        node.output for node in changed.nodes if isinstance(node.operation, Conv) and node.operation.groups == 1
    )
    spread = [np.abs(values[value]).max(axis=(1, 2)) for values in (before, after)]
    assert np.ptp(np.log2(spread[1])) < np.ptp(np.log2(spread[0])) - 2


def test_integers_lose_less_where_channels_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    def off() -> float:
        net = uneven()
        got, expected, _ = played(net.model(depthwise(net)), runs=4)
        return float(np.mean([error(*pair) for pair in zip(got, expected, strict=True)]))

    with_it = off()
    monkeypatch.setattr(onnx_network, "equalised", lambda graph, _: graph)
    assert with_it < off() / 1.5


def test_channels_of_few_elements_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(equalise, "_LEAST_COUNT", SAMPLES * 10 * 10 + 1)
    before, after, _ = both(models()["uneven"])
    assert all(np.array_equal(before[value], after[value]) for value in before)


def test_weights_with_the_scales_of_the_file_stay() -> None:
    graph = simplified(models()["uneven"])
    nodes = []
    for node in graph.nodes:
        if isinstance(conv := node.operation, Conv):
            scaled = replace(conv, weight_scales=np.ones(len(conv.weights)))
            node = replace(node, operation=scaled)
        nodes.append(node)
    graph = replace(graph, nodes=tuple(nodes))
    seen = channels_seen(graph, random_samples(graph, SAMPLES, seed=3))
    assert all(one is other for one, other in zip(equalised(graph, seen).nodes, graph.nodes, strict=True))
