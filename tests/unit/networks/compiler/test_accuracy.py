"""What quantisation costs: measured against ``onnx`` itself, and failing where it is too much or shows nothing."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper
from onnx.reference import ReferenceEvaluator

from networks.random_networks import NetworkBuilder
from nvdla_networks.compiler import onnx_network, operators
from nvdla_networks.compiler.accuracy import Accuracy, accuracy_of, compared
from nvdla_networks.compiler.cut import cut_model
from nvdla_networks.compiler.node import Ranged, Result
from nvdla_networks.compiler.onnx_network import OnnxNetwork
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.quantised import dequantize
from nvdla_networks.compiler.reference import OPERATORS, Reference
from nvdla_networks.compiler.scales import Scales
from nvdla_networks.errors import NetworkError
from nvdla_networks.model import ACCURACY
from tests.unit.networks.compiler.playing import graph_of, random_samples
from tests.unit.networks.loadables import SMALL


def accuracy(net: NetworkBuilder, *outputs: str, samples: list[dict[str, Any]] | None = None) -> Accuracy:
    data = net.model(*outputs).SerializeToString()
    graph = graph_of(data)
    samples = samples or random_samples(graph, 4, seed=2)
    compiled = OnnxNetwork.compiled("net", graph, SMALL, samples)
    names = cut_model(prepared(fixed(data))).compared
    return accuracy_of(compiled, Reference(fixed(data), names), samples, ACCURACY)


def _relu_in_the_zero_point(net: NetworkBuilder) -> str:
    (value,) = net.add("Conv", [net.input, net.constant(np.ones((1, 1, 1, 1)))])
    steps = [net.constant(1 / 255), net.constant(-128, "int8")]
    (integers,) = net.add("QuantizeLinear", [value, *steps])
    (name,) = net.add("DequantizeLinear", [integers, *steps])
    net.shapes[name] = net.shapes[net.input]
    return name


RAMP = [{"input": np.linspace(-1, 1, 8).reshape(1, 1, 8)}]


def test_a_relu_that_got_lost_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    net = NetworkBuilder("smallest", (1, 1, 8), 1)
    name = _relu_in_the_zero_point(net)
    assert accuracy(net, name, samples=RAMP).problems == ()

    def lossy(node: Any) -> list[Any]:
        return [Result(None, (f.value,)) if isinstance(f, Ranged) else f for f in dequantize(node)]

    monkeypatch.setattr(operators, "OPERATORS", {**operators.OPERATORS, "DequantizeLinear": lossy})
    monkeypatch.setattr("nvdla_networks.compiler.reader.OPERATORS", operators.OPERATORS)
    (problem,) = accuracy(net, name, samples=RAMP).problems
    assert re.fullmatch(rf"output '{name}': cosine 0\.7\d+ against floating point, less than {ACCURACY}", problem)


def _branches(net: NetworkBuilder) -> str:
    """Join a branch that reaches to about 25 with one of it that reaches to about 834, and read both alike."""
    small = net.relu(net.conv(net.input, 8, 3, pad=1))
    (scaled,) = net.add("Mul", [small, net.constant(6.0)])
    net.shapes[scaled] = net.shapes[small]
    (large,) = net.add("Mul", [net.conv(scaled, 8, 1), net.constant(33.0)])
    net.shapes[large] = net.shapes[small]
    both = net.joined(scaled, large)
    weights = net.rng.standard_normal((8, 16, 1, 1)) * np.repeat([1, 1 / 33], 8).reshape(1, 16, 1, 1)
    (name,) = net.add("Conv", [both, net.constant(weights)])
    net.shapes[name] = net.shapes[small]
    return name


def test_branches_of_very_different_ranges_keep_their_scales(monkeypatch: pytest.MonkeyPatch) -> None:
    net = NetworkBuilder("branches", (3, 6, 6), 2)
    name = _branches(net)
    (output,) = accuracy(net, name).outputs
    assert output.cosine is not None
    assert output.cosine > 0.999
    own = onnx_network.scales_of

    def shared(*arguments: Any) -> Scales:
        found = own(*arguments)
        largest = max(float(each.max()) for each in found.scales.values())
        return replace(found, scales={value: np.full_like(each, largest) for value, each in found.scales.items()})

    monkeypatch.setattr(onnx_network, "scales_of", shared)
    bad = accuracy(net, name)
    assert bad.problems
    assert bad.outputs[0].cosine is not None
    assert bad.outputs[0].cosine < ACCURACY


def test_every_output_counts_and_is_compared_before_the_host_computes() -> None:
    net = NetworkBuilder("two", (3, 4, 4), 2)
    value = net.conv(net.input, 8, 4)
    (probabilities,) = net.add("Softmax", [value], axis=1)
    net.shapes[probabilities] = net.shapes[value]
    other = net.conv(net.input, 4, 1)
    first, second = accuracy(net, probabilities, other).outputs
    assert (first.name, second.name) == (value, other)
    assert (first.same_class, second.same_class) == (4, None)


def test_a_network_without_results_shows_nothing() -> None:
    net = NetworkBuilder("dead", (3, 4, 4), 2)
    (dead,) = net.add("Mul", [net.input, net.constant(0.0)])
    (constant,) = net.add("Add", [dead, net.constant(2.0)])
    net.shapes |= dict.fromkeys((dead, constant), (3, 4, 4))
    zero, same = accuracy(net, net.relu(dead), net.relu(constant)).problems
    assert zero.endswith("shows nothing: floating point gives 0 for each of 4 samples")
    assert same.endswith("shows nothing: floating point gives the same for each of 4 samples")


def test_classes_are_counted() -> None:
    theirs = np.array([[1.0, 2], [2, 1], [3, 4]])
    assert compared("y", theirs[:, ::-1], theirs, is_vector=True).same_class == 0
    assert compared("y", theirs + np.array([[0, 0], [0, 3], [0, 0]]), theirs, is_vector=True).same_class == 2


@pytest.mark.parametrize(
    ("ours", "theirs", "problem"),
    [
        ([[1.0, 2], [2, 1]], [[1.0, 2], [2, 1]], None),
        ([[2.0, 4], [4, 2]], [[1.0, 2], [2, 1]], "output 'y': 100.0% off against floating point, more than 20.0%"),
        ([[math.nan, 2], [2, 1]], [[1.0, 2], [2, 1]], "output 'y': cosine nan against floating point, less than 0.98"),
        ([[1.0, 2], [2, 1]], [[math.nan, 2], [2, 1]], "output 'y': cosine nan against floating point, less than 0.98"),
        ([[0.0, 0], [2, 1]], [[1.0, 2], [2, 1]], "output 'y': cosine 0.00000 against floating point, less than 0.98"),
        ([[1.0, 2], [2, 1]], [[0.0, 0], [2, 1]], "output 'y': cosine 0.00000 against floating point, less than 0.98"),
        ([[1.0, 2], [1, 2]], [[1.0, 2], [2, 1]], "output 'y': cosine 0.80000 against floating point, less than 0.98"),
    ],
)
def test_a_wrong_length_no_number_and_one_wrong_sample_fail(ours: Any, theirs: Any, problem: str | None) -> None:
    found = compared("y", np.array(ours), np.array(theirs), is_vector=True)
    assert found.problem(0.98) == problem
    assert found.problem(0) is None


def test_values_that_memory_does_not_hold_at_once_are_compared_without_their_layers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    net = NetworkBuilder("deep", (8, 16, 16), 1)
    value = net.input
    for _ in range(8):
        value = net.relu(net.conv(value, 8, 1))
    whole = accuracy(net, value)
    assert len(whole.layers) == 8
    # Pages of constants, and of three values out of nine.
    monkeypatch.setattr(onnx_network, "BASE_ADDRESS", (1 << 32) - 0x30000)
    compact = accuracy(net, value)
    assert compact.layers == {}
    assert compact.outputs == whole.outputs
    monkeypatch.setattr(onnx_network, "BASE_ADDRESS", (1 << 32) - 0x8000)
    with pytest.raises(NetworkError, match=r"^memory must end in the 32-bit address space$"):
        accuracy(net, value)


@pytest.mark.parametrize(
    ("shape", "attributes"),
    [
        ((1, 3, 11, 9), {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
        ((1, 2, 10, 12), {"kernel_shape": [2, 3], "strides": [2, 1], "pads": [0, 1, 1, 0], "dilations": [2, 1]}),
        ((2, 3, 8, 8), {"kernel_shape": [3, 3], "strides": [3, 2], "ceil_mode": 1}),
        ((1, 3, 7, 7), {"kernel_shape": [2, 2], "strides": [2, 2], "auto_pad": "SAME_LOWER"}),
        ((1, 4, 13), {"kernel_shape": [3], "strides": [2]}),
        ((1, 4, 6, 6), {"kernel_shape": [2, 2]}),
    ],
)
def test_maxima_of_all_windows_are_those_that_onnx_takes_one_by_one(shape: Any, attributes: Any) -> None:
    kind = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
    end = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)
    node = helper.make_node("MaxPool", ["x"], ["y"], **attributes)
    model = helper.make_model(helper.make_graph([node], "pool", [kind], [end]))
    values = {"x": np.random.default_rng(1).standard_normal(shape).astype(np.float32)}
    (own,) = ReferenceEvaluator(model, new_ops=OPERATORS).run(None, values)
    (theirs,) = ReferenceEvaluator(model).run(None, values)
    np.testing.assert_array_equal(own, theirs, strict=True)
