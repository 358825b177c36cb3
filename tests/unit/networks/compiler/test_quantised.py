"""Networks that their file quantises: the integers come as close as they can to what ``onnx`` computes of the file."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from networks.random_networks import NetworkBuilder
from nvdla_models.precision import Precision
from nvdla_networks.compiler.onnx_network import OnnxNetwork
from nvdla_networks.compiler.reference import OPERATORS
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import Preparation, quantised, read_input
from tests.unit.networks.compiler.playing import graph_of, played, reference
from tests.unit.networks.loadables import FULL, SMALL, on_model

STEP = 1 / 127
"""Of the largest result: as far as integers of INT8 are from each other."""

FEW_STEPS = 8 * STEP
"""Results may be off by: the file rounds inputs, weights and sums to other integers than the hardware does."""


def qdq(net: NetworkBuilder, value: str, low: float, high: float, dtype: str, *, symmetric: bool) -> str:
    """Quantise a value so that its integers reach from ``low`` to ``high``, and take the real numbers of these."""
    limits = np.iinfo(dtype)
    if symmetric:
        middle = (int(limits.min) + int(limits.max) + 1) // 2
        numbers = [max(-low, high) / (int(limits.max) - middle), middle]
    else:
        scale = (high - low) / (int(limits.max) - int(limits.min))
        numbers = [scale, round(int(limits.min) - low / scale)]
    steps = [net.constant(numbers[0]), net.constant(numbers[1], dtype)]
    (integers,) = net.add("QuantizeLinear", [value, *steps])
    (real,) = net.add("DequantizeLinear", [integers, *steps])
    net.shapes[real] = net.shapes[value]
    return real


def weights_of(net: NetworkBuilder, values: Any, dtype: str, *, symmetric: bool, per_channel: bool) -> str:
    """Return weights (K, C, R, S) as integers of the file, with scales and zero points as onnxruntime chooses them."""
    limits = np.iinfo(dtype)
    axes = (1, 2, 3) if per_channel else (0, 1, 2, 3)
    low, high = np.minimum(values.min(axis=axes), 0), np.maximum(values.max(axis=axes), 0)
    steps = int(limits.max) - int(limits.min)
    if symmetric:
        zero = np.full_like(low, (int(limits.min) + int(limits.max) + 1) // 2)
        scale = np.maximum(-low, high) / (steps // 2)
    else:
        scale = (high - low) / steps
        zero = np.rint(limits.min - low / scale)
    along = [each.reshape(-1, 1, 1, 1) if per_channel else each for each in (scale, zero)]
    integers = np.clip(np.rint(values / along[0]) + along[1], limits.min, limits.max)
    inputs = [net.constant(integers, dtype), net.constant(scale), net.constant(zero, dtype)]
    (name,) = net.add("DequantizeLinear", inputs, axis=0)
    return name


def compared(net: NetworkBuilder, value: str, *, spread: float = 1.0, **options: Any) -> tuple[Any, Any]:
    """Return what hardware makes of random inputs, and what ``onnx`` does."""
    model = net.model(value, opset=21)
    graph = graph_of(model.SerializeToString())
    draw = np.random.default_rng(5)
    samples = [{"input": draw.standard_normal(graph.shapes["input"]) * spread} for _ in range(3)]
    config = options.pop("config", SMALL)
    compiled = OnnxNetwork.compiled("net", graph, config, samples, **options)
    networks = [compiled.place() for _ in samples]
    inputs = [
        [quantised(sample["input"], network.inputs[0])] for sample, network in zip(samples, networks, strict=True)
    ]
    _, outputs = on_model(networks, inputs, config)
    got = np.stack([values[0].astype(np.float64).ravel() for values in outputs])
    return got, np.stack([reference(model, sample) for sample in samples])


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16"])
@pytest.mark.parametrize("symmetric", [True, False], ids=["symmetric", "asymmetric"])
@pytest.mark.parametrize("weights", [*itertools.product(["int8", "uint8", "int16"], [True, False], [True, False])])
def test_zero_points_and_ranges_of_every_kind_are_those_of_the_file(
    dtype: str, symmetric: bool, weights: tuple[str, bool, bool]
) -> None:
    net = NetworkBuilder("quantised", (3, 5, 5), 1)
    kernels = net.rng.standard_normal((6, 3, 3, 3)) * np.linspace(0.2, 1, 6).reshape(-1, 1, 1, 1)
    kind, same, per_channel = weights
    taken = qdq(net, net.input, -1.6, 1.9, dtype, symmetric=symmetric)
    of_file = weights_of(net, kernels, kind, symmetric=same, per_channel=per_channel)
    (value,) = net.add("Conv", [taken, of_file, net.constant(net.rng.standard_normal(6))])
    net.shapes[value] = (6, 3, 3)
    # A ReLU in the zero point, where there is one; and less than the result reaches, so that it is cut off.
    name = qdq(net, value, -4.0 if symmetric else 0.0, 4.0, dtype, symmetric=symmetric)
    got, expected = compared(net, name, spread=1.5)
    assert np.isclose(expected, expected.max()).sum() > 5
    assert expected.min() == (pytest.approx(-4, rel=0.01) if symmetric else 0)
    np.testing.assert_allclose(got, expected, atol=4 * FEW_STEPS)
    assert np.sqrt(np.mean((got - expected) ** 2)) < 4 * STEP


def test_symmetric_integers_are_those_of_the_file_but_for_a_few_that_the_multipliers_round_otherwise() -> None:
    """Sums are exact in both; QuantizeLinear rounds to even, SDP away from zero, with multipliers of 16 bits."""
    net = NetworkBuilder("rounded", (8, 40, 40), 2)
    taken = qdq(net, net.input, -3, 3, "int8", symmetric=True)
    kernels = net.rng.standard_normal((16, 8, 3, 3)) * np.linspace(0.2, 1, 16).reshape(-1, 1, 1, 1)
    of_file = weights_of(net, kernels, "int8", symmetric=True, per_channel=True)
    (value,) = net.add("Conv", [taken, of_file])
    net.shapes[value] = (16, 38, 38)
    got, expected = compared(net, qdq(net, value, -30, 30, "int8", symmetric=True))
    steps = np.abs(np.rint(got / (30 / 127)) - np.rint(expected / (30 / 127)))
    assert steps.max() <= 1
    assert 0 < np.count_nonzero(steps) < 2e-3 * steps.size


@pytest.mark.parametrize("precision", list(Precision))
@pytest.mark.parametrize(("low", "high"), [(0.0, 1.0), (-1.0, 0.0), (-0.25, 1.0), (-1.0, 0.5), (-1.0, 1.0)])
def test_a_value_ends_at_both_ends_of_its_range_in_every_precision(
    precision: Precision, low: float, high: float
) -> None:
    net = NetworkBuilder("bounded", (8, 4, 4), 1)
    (value,) = net.add("Conv", [net.input, net.constant(np.eye(8).reshape(8, 8, 1, 1)), net.constant(np.ones(8) / 8)])
    net.shapes[value] = (8, 4, 4)
    name = qdq(net, value, low, high, "int8", symmetric=False)
    got, expected = compared(net, name, spread=2, config=FULL, precision=precision)
    assert (got.min(), got.max()) == pytest.approx((low, high), abs=0.02)
    np.testing.assert_allclose(got, expected, atol=0.04)


def _smallest(net: NetworkBuilder) -> str:
    (value,) = net.add("Conv", [net.input, net.constant(np.ones((1, 1, 1, 1)))])
    net.shapes[value] = net.shapes[net.input]
    return qdq(net, value, 0, 1, "int8", symmetric=False)


def test_a_relu_in_the_zero_point_alone_is_one() -> None:
    net = NetworkBuilder("smallest", (1, 1, 8), 1)
    got, expected = compared(net, _smallest(net))
    assert (expected == 0).any()
    np.testing.assert_array_equal(got[expected == 0], 0)
    np.testing.assert_allclose(got, expected, atol=2 * STEP)


def _summed(net: NetworkBuilder) -> str:
    """Return a sum of two values that are cut off before, and a ReLU in the zero point behind."""
    first = qdq(net, net.conv(net.input, 8, 3, pad=1), -0.5, 0.75, "int8", symmetric=False)
    second = qdq(net, net.conv(first, 8, 3, pad=1), -1, 1, "uint8", symmetric=True)
    return qdq(net, net.plus(first, second), 0, 1.25, "uint8", symmetric=False)


def _pooled(net: NetworkBuilder) -> str:
    value = qdq(net, net.relu(net.conv(net.input, 8, 3, pad=1)), 0, 1, "uint8", symmetric=False)
    (pooled,) = net.add("MaxPool", [value], kernel_shape=[2, 2], strides=[2, 2])
    net.shapes[pooled] = (8, 3, 3)
    again = qdq(net, pooled, 0, 1, "uint8", symmetric=False)
    return qdq(net, net.conv(again, 4, 1), -1.5, 1, "int8", symmetric=False)


def _joined(net: NetworkBuilder) -> str:
    small = qdq(net, net.conv(net.input, 8, 1), -0.05, 0.04, "int8", symmetric=False)
    large = qdq(net, net.conv(net.input, 8, 1), -2, 2, "int8", symmetric=False)
    return qdq(net, net.joined(small, large), -2, 2, "int8", symmetric=True)


def _taken_twice(net: NetworkBuilder) -> str:
    """Return what two take of one value, each with a quantisation of its own in the file, as exporters write it."""
    value = net.conv(net.input, 8, 3, pad=1)
    first, second = (qdq(net, value, 0, 1, "int8", symmetric=False) for _ in range(2))
    return net.plus(net.conv(first, 8, 1), net.conv(second, 8, 1))


def _of_input_twice(net: NetworkBuilder) -> str:
    """Return what is made of an input that one takes as it is, and one within a range."""
    return net.plus(net.conv(qdq(net, net.input, 0, 1, "int8", symmetric=False), 8, 1), net.conv(net.input, 8, 1))


def _with_weights_of_qdq(net: NetworkBuilder) -> str:
    scales = [net.constant(np.full(8, 0.01)), net.constant(np.zeros(8), "int8")]
    (integers,) = net.add("QuantizeLinear", [net.constant(net.rng.standard_normal((8, 3, 1, 1))), *scales], axis=0)
    (weights,) = net.add("DequantizeLinear", [integers, *scales], axis=0)
    (value,) = net.add("Conv", [net.input, weights])
    net.shapes[value] = (8, 6, 6)
    return value


GRAPHS = (_summed, _pooled, _joined, _taken_twice, _of_input_twice, _with_weights_of_qdq)


@pytest.mark.parametrize("axis", [0, 2, -1])
def test_the_reference_has_the_numbers_of_later_versions_in_earlier_ones(axis: int) -> None:
    shape = (2, 3, 4)
    net = NetworkBuilder("net", shape, 4)
    integers = net.constant(net.rng.integers(-128, 128, shape), "int8")
    sizes = shape[axis]
    steps = [net.constant(net.rng.uniform(0.1, 1, sizes)), net.constant(net.rng.integers(-128, 128, sizes), "int8")]
    (name,) = net.add("DequantizeLinear", [integers, *steps], axis=axis)
    net.shapes[name] = shape
    models = [net.model(name, opset=opset) for opset in (13, 21)]
    for model in models:
        model.graph.output[0].type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, shape))
    own = ReferenceEvaluator(models[0], new_ops=OPERATORS).run(None, {"input": np.zeros((1, *shape), np.float32)})[0]
    later = ReferenceEvaluator(models[1]).run(None, {"input": np.zeros((1, *shape), np.float32)})[0]
    np.testing.assert_allclose(own, later, rtol=1e-6, strict=True)


@pytest.mark.parametrize("build", GRAPHS, ids=[build.__name__.strip("_") for build in GRAPHS])
@pytest.mark.parametrize("spread", [0.5, 3.0])
def test_quantised_networks_compute_what_onnx_does(build: Callable[[NetworkBuilder], str], spread: float) -> None:
    net = NetworkBuilder("net", (3, 6, 6), 4)
    got, expected = compared(net, build(net), spread=spread)
    assert np.abs(got - expected).max() < 2 * FEW_STEPS * np.abs(expected).max()
    assert np.sqrt(np.mean((got - expected) ** 2)) < 3 * STEP * np.abs(expected).max()


def test_ranges_that_say_nothing_new_are_no_layers() -> None:
    net = NetworkBuilder("net", (3, 6, 6), 4)
    _, _, layers = played(net.model(_pooled(net)))
    assert len(layers) == 2
    net = NetworkBuilder("net", (3, 6, 6), 4)
    _, _, layers = played(net.model(_taken_twice(net)))
    assert len(layers) == 3


def test_an_input_of_integers_must_lie_in_the_range_of_the_file(tmp_path: Any) -> None:
    net = NetworkBuilder("net", (1, 1, 4), 1)
    name = net.conv(qdq(net, net.input, 0, 1, "int8", symmetric=False), 1, 1)
    graph = graph_of(net.model(name).SerializeToString())
    (tensor,) = OnnxNetwork.compiled("net", graph, SMALL, [{"input": np.ones((1, 1, 4))}]).place().inputs
    path = tmp_path / "in.npy"
    np.save(path, np.array([[[0, 1, 127, -1]]], dtype=np.int8))
    with pytest.raises(NetworkError, match=rf"^{path} must hold elements from 0 to 127, the range of the input$"):
        read_input(path, tensor, Preparation())
    np.save(path, np.array([[[-1, 0, 0.503, 2]]]))
    np.testing.assert_array_equal(read_input(path, tensor, Preparation()), [[[0, 0, 64, 127]]])


def _rescaled(net: NetworkBuilder) -> str:
    (integers,) = net.add("QuantizeLinear", [net.input, net.constant(0.5), net.constant(0, "int8")])
    (name,) = net.add("DequantizeLinear", [integers, net.constant(0.25), net.constant(0, "int8")])
    return name


def _moved(net: NetworkBuilder) -> str:
    (integers,) = net.add("QuantizeLinear", [net.input, net.constant(0.5), net.constant(-128, "int8")])
    (name,) = net.add("DequantizeLinear", [integers, net.constant(0.5), net.constant(0, "int8")])
    return name


def _calculated(net: NetworkBuilder) -> str:
    (integers,) = net.add("QuantizeLinear", [net.input, net.constant(0.5), net.constant(-128, "int8")])
    (name,) = net.add("Relu", [integers])
    (real,) = net.add("DequantizeLinear", [name, net.constant(0.5), net.constant(-128, "int8")])
    return real


def _by_channel(net: NetworkBuilder) -> str:
    steps = [net.constant(np.ones(4)), net.constant(np.zeros(4), "int8")]
    (integers,) = net.add("QuantizeLinear", [net.input, *steps], axis=1)
    (name,) = net.add("DequantizeLinear", [integers, *steps], axis=1)
    return name


def _of_another_kind(net: NetworkBuilder) -> str:
    (integers,) = net.add("QuantizeLinear", [net.input, net.constant(1.0)], output_dtype=TensorProto.INT16)
    (name,) = net.add("DequantizeLinear", [integers, net.constant(1.0)])
    return name


def _negative(net: NetworkBuilder) -> str:
    (name,) = net.add("DequantizeLinear", [net.constant(np.ones((4, 1, 1)), "int8"), net.constant(-1.0)])
    (value,) = net.add("Mul", [net.input, name])
    return value


def _in_blocks(net: NetworkBuilder) -> str:
    integers, scales = net.constant(np.ones((4, 4)), "int8"), net.constant(np.ones((4, 2)))
    (weights,) = net.add("DequantizeLinear", [integers, scales], axis=1, block_size=2)
    (value,) = net.add("MatMul", [net.input, weights])
    return value


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (_rescaled, "Dequantize.*: scale and zero point must be those of the QuantizeLinear before it"),
        (_moved, "Dequantize.*: scale and zero point must be those of the QuantizeLinear before it"),
        (_calculated, "Relu.*: input 0 must not be integers: only DequantizeLinear takes them"),
        (
            _by_channel,
            "Quantize.*: scale and zero point of a computed value must be one number each, not one for each channel",
        ),
        (_of_another_kind, r"Quantize.*: output_dtype must be 0, not \d+"),
        (_negative, "Dequantize.*: scale must be positive"),
        (_in_blocks, "Dequantize.*: block_size must be 0, not 2"),
    ],
)
def test_what_would_lose_its_meaning_is_refused(build: Callable[[NetworkBuilder], str], message: str) -> None:
    net = NetworkBuilder("net", (4,) if build is _in_blocks else (4, 6, 6), 4)
    name = build(net)
    net.shapes[name] = net.shapes[net.input]
    with pytest.raises(NetworkError, match=rf"^node '{message}$"):
        graph_of(net.model(name, opset=21).SerializeToString())


@pytest.mark.parametrize("kind", ["ConvInteger", "DynamicQuantizeLinear"])
def test_operators_of_integers_without_scales_are_refused(kind: str) -> None:
    net = NetworkBuilder("net", (4, 6, 6), 4)
    steps = [net.constant(1.0), net.constant(0, "int8")]
    (integers,) = net.add("QuantizeLinear", [net.input, *steps])
    weights = net.constant(np.ones((4, 4, 1, 1)), "int8")
    inputs = {
        "ConvInteger": [integers, weights],
        "DynamicQuantizeLinear": [net.input],
    }
    found = net.add(kind, inputs[kind], outputs=3 if kind == "DynamicQuantizeLinear" else 1)
    (name,) = net.add("Cast", [found[0]], to=TensorProto.FLOAT)
    net.shapes[name] = net.shapes[net.input]
    with pytest.raises(NetworkError, match=rf"^node '{kind}_\d' \({kind}\): no layer computes this operator$"):
        graph_of(net.model(name).SerializeToString())


@pytest.mark.parametrize("kind", [TensorProto.INT8, TensorProto.UINT8])
def test_inputs_and_outputs_of_integers_are_refused(kind: int) -> None:
    net = NetworkBuilder("net", (4, 6, 6), 4)
    (name,) = net.add("MaxPool", [net.input], kernel_shape=[1, 1])
    net.shapes[name] = (4, 6, 6)
    model = net.model(name)
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.elem_type = kind
    wanted = helper.tensor_dtype_to_string(kind).rpartition(".")[2]
    with pytest.raises(NetworkError, match=rf"^input 'input' must be FLOAT, FLOAT16, DOUBLE, not {wanted}$"):
        graph_of(model.SerializeToString())
    (integers,) = net.add(
        "QuantizeLinear", [net.input, net.constant(1.0), net.constant(0, helper.tensor_dtype_to_np_dtype(kind))]
    )
    net.shapes[integers] = (4, 6, 6)
    model = net.model(integers)
    model.graph.output[0].type.tensor_type.elem_type = kind
    with pytest.raises(NetworkError, match=rf"^output '{integers}' must be real numbers: DequantizeLinear makes them$"):
        graph_of(model.SerializeToString())
