"""ONNX files as graphs, and what is refused of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from networks.random_networks import NetworkBuilder, mixed
from nvdla_networks.compiler import reader
from nvdla_networks.compiler.graph import Affine, Conv, Operation, Pool, Window
from nvdla_networks.errors import NetworkError
from tests.unit.networks.compiler.playing import graph_of


def bytes_of(net: NetworkBuilder, *outputs: str) -> bytes:
    return net.model(*outputs).SerializeToString()


SHAPE = (4, 6, 6)


def tiny(
    kind: str,
    *constants: Any,
    src: tuple[int, ...] = SHAPE,
    dst: tuple[int, ...] = SHAPE,
    times: int = 1,
    **attributes: Any,
) -> bytes:
    """Return a network of one operator, which takes the input so many times and then constants."""
    net = NetworkBuilder("tiny", src, 1)
    (name,) = net.add(kind, [*[net.input] * times, *map(net.constant, constants)], **attributes)
    net.shapes[name] = dst
    return bytes_of(net, name)


def only_operation(data: bytes) -> Operation:
    (node,) = graph_of(data).nodes
    return node.operation


def test_a_network_of_all_kinds_is_read_in_the_order_of_its_nodes() -> None:
    graph = graph_of(mixed().SerializeToString())
    assert graph.inputs == ("input",)
    assert graph.shapes["input"] == (3, 24, 24)
    assert [type(node.operation).__name__ for node in graph.nodes[:3]] == ["Conv", "Clip", "Conv"]
    assert graph.shapes[graph.outputs[0]] == (10, 1, 1)


def test_a_symbolic_batch_is_one_image() -> None:
    model = onnx.ModelProto.FromString(tiny("Relu"))
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_param = "N"
    assert graph_of(model.SerializeToString()).shapes["input"] == (4, 6, 6)


def test_same_padding_is_computed_from_the_input() -> None:
    weights = np.ones((2, 4, 3, 3))
    data = tiny("Conv", weights, src=(4, 7, 6), dst=(2, 4, 3), auto_pad="SAME_UPPER", strides=[2, 2])
    operation = only_operation(data)
    assert isinstance(operation, Conv)
    assert operation.window == Window((3, 3), (2, 2), (1, 0), (1, 1))


def test_a_ceiled_pool_has_more_padding_behind_but_no_window_that_begins_there() -> None:
    ceiled = {"kernel_shape": [3, 2], "strides": [2, 2], "ceil_mode": 1}
    operation = only_operation(tiny("MaxPool", src=(4, 6, 5), dst=(4, 3, 3), **ceiled))
    assert isinstance(operation, Pool)
    assert operation.window.after == (1, 1)


def test_quantised_weights_keep_the_scales_of_the_file() -> None:
    net = NetworkBuilder("qdq", (2, 4, 4), 1)
    integers = net.rng.integers(-127, 128, (3, 2, 1, 1))
    scales = np.array([0.5, 0.25, 2.0])
    (weights,) = net.add("DequantizeLinear", [net.constant(integers, np.int8), net.constant(scales)], axis=0)
    steps = [net.constant(0.125), net.constant(0, np.int8)]
    (wide,) = net.add("QuantizeLinear", [net.input, *steps])
    (real,) = net.add("DequantizeLinear", [wide, *steps])
    (name,) = net.add("Conv", [real, weights])
    net.shapes[name] = (3, 4, 4)
    graph = graph_of(bytes_of(net, name))
    (node,) = graph.nodes
    assert isinstance(node.operation, Conv)
    np.testing.assert_array_equal(node.operation.weights, integers * scales[:, None, None, None], strict=True)
    np.testing.assert_array_equal(node.operation.weight_scales, scales, strict=True)
    assert graph.ranges["input"] == (0.125 * -128, 0.125 * 127)
    assert node.inputs == ("input",)


def test_constants_are_computed_from_constants() -> None:
    net = NetworkBuilder("constants", (2, 4, 4), 1)
    value = helper.make_tensor("value", TensorProto.FLOAT, [1], [0.5])
    (vector,) = net.add("ConstantOfShape", [net.constant([2], np.int64)], value=value)
    (column,) = net.add("Unsqueeze", [vector, net.constant([1, 2], np.int64)])
    (name,) = net.add("Sum", [net.input, column])
    net.shapes[name] = (2, 4, 4)
    operation = only_operation(bytes_of(net, name))
    assert isinstance(operation, Affine)
    np.testing.assert_array_equal(operation.shift, [0.5, 0.5], strict=True)


@pytest.mark.parametrize("sizes", [[1 << 40], [1 << 13, 1 << 12]])
def test_a_constant_that_is_too_large_is_refused(sizes: list[int]) -> None:
    net = NetworkBuilder("constants", (2, 4, 4), 1)
    net.add("ConstantOfShape", [net.constant(sizes, np.int64)])
    (name,) = net.add("Relu", [net.input])
    net.shapes[name] = (2, 4, 4)
    message = r"value 'v0_0' must have at most 16777216 elements, not (1099511627776|33554432)"
    with pytest.raises(NetworkError, match=rf"^{message}$"):
        graph_of(bytes_of(net, name))


def test_nodes_that_share_a_name_keep_their_own_numbers() -> None:
    net = NetworkBuilder("twins", (2, 4, 4), 1)
    model = net.model(net.conv(net.conv(net.input, 3, 1), 2, 1))
    for node in model.graph.node:
        node.name = "same"
    names = [node.name for node in graph_of(model.SerializeToString()).nodes]
    assert names == ["same", "same_1"]


def _external(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].data_location = onnx.TensorProto.EXTERNAL


def _two_images(model: onnx.ModelProto) -> None:
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.shape.dim[0].dim_value = 2


def _foreign(model: onnx.ModelProto) -> None:
    model.graph.node[0].domain = "com.example"


def _huge(model: onnx.ModelProto) -> None:
    for value in (model.graph.input[0], model.graph.output[0]):
        value.type.tensor_type.shape.dim[2].dim_value = 1 << 40


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (_external, "initializer 'c0' must lie in the model, not in another file"),
        (_two_images, "input: value 'input' must be 1xCxHxW, 1xCxL or 1xC, not 2x4x6x6"),
        (_foreign, "node 'PRelu_0': operator PRelu of com.example is not known"),
        (_huge, "value 'input' must have at most 16777216 elements, not 26388279066624"),
    ],
)
def test_a_model_that_cannot_be_is_refused(change: Callable[[onnx.ModelProto], None], message: str) -> None:
    model = onnx.ModelProto.FromString(tiny("PRelu", np.ones((4, 1, 1))))
    change(model)
    with pytest.raises(NetworkError) as caught:
        graph_of(model.SerializeToString())
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "model must be an ONNX file: it is empty"),
        (b"\xff\xff\xff", "model must be an ONNX file: it is no protobuf message"),
        (
            tiny("Relu").replace(b"Relu_0", b"Relu_\xff"),
            r"names in model must be UTF-8, not b'Relu_\\xff'",
        ),
        (tiny("Sum", times=3), r"node 'Sum_0' \(Sum\): inputs must be 1 or 2, not 3"),
        (tiny("Cos"), r"node 'Cos_0' \(Cos\): no layer computes this operator"),
        (tiny("Clip", 2, -1), r"node 'Clip_0' \(Clip\): bounds must be a smaller and a larger number, not 2 and -1"),
        (tiny("Softmax"), r"node 'Softmax_0' \(Softmax\): input must be a vector, not \(4, 6, 6\)"),
        (tiny("LRN", size=4), r"node 'LRN_0' \(LRN\): size must be an odd number of channels, not 4"),
        (
            tiny("LRN", size=3, beta=-0.5),
            r"node 'LRN_0' \(LRN\): alpha and beta must be at least 0 and bias positive, not 0.0001, -0.5 and 1",
        ),
        (tiny("Mul", np.full((4, 1, 1), np.nan)), "initializer 'c0' must hold finite numbers"),
        (
            tiny("AveragePool", dst=(4, 3, 3), kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1, count_include_pad=1),
            r"node 'AveragePool_0' \(AveragePool\): count_include_pad must be 0 where ceil_mode adds a window: "
            r"versions of ONNX differ",
        ),
        (
            tiny("AveragePool", kernel_shape=[9, 9], pads=[4, 4, 4, 4]),
            r"node 'AveragePool_0' \(AveragePool\): count_include_pad must be 1 for kernels over 8, which become a "
            r"convolution, with padding",
        ),
        (
            tiny("AveragePool", kernel_shape=[2, 2], strides=[4, 4], pads=[9, 9, 7, 7], ceil_mode=0),
            r"node 'AveragePool_0' \(AveragePool\): count_include_pad must be 1 where a window of this height lies .*",
        ),
        (tiny("PRelu", np.ones(6)), r"node 'PRelu_0' \(PRelu\): input 1 must be one number, or 4x1x1, not \(6,\)"),
    ],
)
def test_what_no_layer_computes_is_refused_by_name_and_node(data: bytes, message: str) -> None:
    with pytest.raises(NetworkError, match=rf"^{message}$"):
        graph_of(data)


def test_a_network_that_would_take_hours_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reader, "NETWORK_MULTIPLICATIONS", 143)
    with pytest.raises(NetworkError, match=r"^node 'Relu_0' \(Relu\): network must take at most 143 multiplications$"):
        graph_of(tiny("Relu"))
