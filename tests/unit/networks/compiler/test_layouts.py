"""Files whose cubes have their channels last, or their elements in any other order."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from nvdla_models.config import HwConfig
from nvdla_networks.compiler.accuracy import accuracy_of
from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.inputs import file_inputs, random_inputs
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reference import Reference
from nvdla_networks.tensors import Order
from nvdla_tb.cli.main import main
from tests.unit.networks.loadables import FULL, SMALL

pytest.importorskip("onnxruntime")

LAST, FIRST = [0, 2, 3, 1], [0, 3, 1, 2]


class File:
    """A file whose input has its channels last, as converters of TensorFlow write it."""

    def __init__(self, sizes: tuple[int, ...]) -> None:
        self.rng = np.random.default_rng(3)
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.sizes = sizes

    def constant(self, values: Any) -> str:
        array = np.asarray(values)
        name = f"c{len(self.constants)}"
        kind = np.int64 if array.dtype.kind == "i" else np.float32
        self.constants.append(numpy_helper.from_array(array.astype(kind), name))
        return name

    def add(self, kind: str, *inputs: Any, count: int = 1, **attributes: Any) -> Any:
        names = [value if isinstance(value, str) else self.constant(value) for value in inputs]
        outputs = [f"v{len(self.nodes)}_{at}" for at in range(count)]
        self.nodes.append(helper.make_node(kind, names, outputs, **attributes))
        return outputs[0] if count == 1 else outputs

    def first(self, value: str) -> str:
        return str(self.add("Transpose", value, perm=FIRST))

    def last(self, value: str) -> str:
        return str(self.add("Transpose", value, perm=LAST))

    def conv(self, value: str, channels: int, kernels: int, side: int = 3, **attributes: Any) -> str:
        """Return a convolution of a value whose channels are last, as such a value."""
        weights = self.rng.standard_normal((kernels, channels, side, side)) / np.sqrt(channels * side**2)
        pads = [side // 2] * 4
        return self.last(self.add("Conv", self.first(value), weights, self.rng.standard_normal(kernels) / 5, pads=pads))

    def model(self, *outputs: str, opset: int = 17) -> onnx.ModelProto:
        ends = [onnx.ValueInfoProto(name=name) for name in outputs]
        given = [helper.make_tensor_value_info("input", TensorProto.FLOAT, self.sizes)]
        graph = helper.make_graph(self.nodes, "last", given, ends, self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model)


def compiled(model: onnx.ModelProto, config: HwConfig = SMALL) -> CutNetwork:
    """Return a network whose results are near those of onnxruntime."""
    whole = fixed(model.SerializeToString())
    ready = prepared(whole)
    samples = random_inputs(file_inputs(ready), 3, seed=4)
    network = CutNetwork.compiled("net", ready, config, samples)
    accuracy = accuracy_of(network, Reference(whole, network.cut.compared, by_host=True), samples, 0.99)
    assert accuracy.outputs
    assert not accuracy.problems
    return network


def classifier(net: File) -> str:
    """Return what converters of TensorFlow write: means, convolutions, a branch, pooling, and dense layers."""
    value = net.add("Mul", net.add("Sub", "input", [0.1, 0.2, 0.3]), 1.5)
    value = net.add("Relu", net.conv(value, 3, 16))
    other = net.add("Clip", net.add("Mul", net.conv(value, 16, 16), np.linspace(0.5, 2, 16)), -0.5, 1.5)
    value = net.add("Concat", net.add("Add", value, other), value, axis=-1)
    value = net.add("Pad", value, [0, 0, 0, 0, 0, 1, 1, 0])
    value = net.last(net.add("MaxPool", net.first(value), kernel_shape=[2, 2], strides=[2, 2]))
    flat = net.add("Reshape", value, [1, -1])
    hidden = net.add(
        "Relu", net.add("Add", net.add("MatMul", flat, net.rng.standard_normal((4 * 4 * 32, 24)) / 20), 1.0)
    )
    return str(net.add("Softmax", net.add("MatMul", hidden, net.rng.standard_normal((24, 10)) / 3)))


def test_a_classifier_with_channels_last_runs_on_the_accelerator() -> None:
    net = File((1, 7, 7, 3))
    network = compiled(net.model(classifier(net)))
    assert [node.operator for node in network.cut.share.host] == ["Softmax"]
    assert len(network.cut.parts) == 1
    assert network.place().inputs[0].shape == (3, 7, 7)


def _quantised(net: File, value: str) -> str:
    return str(net.add("DequantizeLinear", net.add("QuantizeLinear", value, 0.02), 0.02))


BLOCKS: dict[str, Callable[[File, str], str]] = {
    "as it is": lambda net, value: value,
    "first": lambda net, value: net.first(value),
    "dense": lambda net, value: net.add("MatMul", value, net.rng.standard_normal((16, 9))),
    "mean": lambda net, value: net.add("ReduceMean", value, axes=[1, 2], keepdims=0),
    "gate": lambda net, value: net.add("Mul", value, net.conv(net.add("ReduceMean", value, axes=[1, 2]), 16, 16, 1)),
    "slice": lambda net, value: net.add("Slice", value, [1, 4], [6, 12], [2, -1]),
    "split": lambda net, value: net.conv(net.add("Split", value, count=2, axis=3)[1], 8, 8),
    "pad": lambda net, value: net.add("Pad", value, [0, 1, 2, 0, 0, 2, 1, 0]),
    "flat": lambda net, value: net.add(
        "Gemm", net.add("Relu", net.add("Flatten", value)), net.rng.standard_normal((6 * 7 * 16, 9))
    ),
    "head": lambda net, value: net.add("Reshape", value, [1, -1, 4]),
    "lines": lambda net, value: net.add("Transpose", net.add("Reshape", value, [1, 42, 16]), perm=[0, 2, 1]),
    "tokens": lambda net, value: net.add(
        "MatMul", net.add("Relu", net.add("MatMul", value, net.rng.standard_normal((16, 9)))), np.eye(9) + 0.5
    ),
    "leaky": lambda net, value: net.add("PRelu", value, np.linspace(-1, 1, 16)),
    "back": lambda net, value: net.add(
        "Conv", _quantised(net, net.first(net.add("Relu", value))), net.rng.standard_normal((8, 16, 1, 1))
    ),
    "half": lambda net, value: net.conv(net.add("Cast", net.add("Cast", value, to=TensorProto.FLOAT16), to=1), 16, 8),
    "quantised": lambda net, value: _quantised(net, value),
}


@pytest.mark.parametrize("name", BLOCKS)
def test_operators_take_cubes_with_their_channels_last(name: str) -> None:
    net = File((1, 6, 7, 3))
    network = compiled(net.model(BLOCKS[name](net, net.conv("input", 3, 16))))
    assert not network.cut.share.host


def test_a_picture_that_is_given_as_a_vector_is_a_cube() -> None:
    net = File((1, 36))
    scaled = net.add("Mul", "input", 1 / 3)
    network = compiled(net.model(net.conv(net.add("Reshape", scaled, [1, 6, 6, 1]), 1, 8)))
    assert not network.cut.share.host
    assert network.place().inputs[0].shape == (1, 6, 6)


def test_a_picture_that_is_padded_before_its_channel_comes_first_is_a_cube() -> None:
    net = File((1, 6, 7, 1))
    padded = net.add("Pad", "input", [0, 1, 1, 0, 0, 1, 1, 0])
    first = net.add("Reshape", padded, [1, 1, 8, 9])
    network = compiled(net.model(net.add("Conv", first, net.rng.standard_normal((8, 1, 3, 3)))))
    assert not network.cut.share.host
    assert network.place().inputs[0].shape == (1, 6, 7)


def test_an_output_is_arranged_without_onnxruntime(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    net = File((1, 6, 7, 3))
    onnx.save_model(net.model(net.conv("input", 3, 8)), tmp_path / "net.onnx")
    given = str(tmp_path / "net.onnx"), "--model-only", "--on-device", "--save-results", str(tmp_path)
    assert main(["network", *given]) == 0
    assert "the accelerator runs all nodes" in capsys.readouterr().out
    assert np.load(tmp_path / "run0_output0.npy").shape == (1, 6, 7, 8)


def test_a_cube_of_one_line_and_one_channel_has_its_channel_last() -> None:
    net = File((1, 1, 9, 1))
    value = net.conv("input", 1, 1)
    joined = net.add("Concat", value, net.add("Relu", value), axis=3)
    assert not compiled(net.model(net.conv(joined, 2, 4))).cut.share.host


def test_an_output_may_be_taken_and_have_axes_of_one_element_only() -> None:
    net = File((1, 1, 1, 1))
    padded = net.add("Pad", net.add("Relu", "input"), [0, 0, 1, 0, 0, 0, 1, 0])
    network = compiled(net.model(padded, net.add("Squeeze", padded, [3])))
    assert not network.cut.share.host


def test_a_constant_that_makes_a_value_larger_is_the_hosts() -> None:
    net = File((1, 3, 1, 4))
    larger = net.add("Mul", net.add("Relu", "input"), net.rng.standard_normal((1, 1, 1, 1, 1)))
    network = compiled(net.model(net.conv(net.add("Reshape", larger, [1, 3, 4, 1]), 1, 4)))
    assert network.cut.parts


def test_lines_with_their_channels_last_are_cubes() -> None:
    net = File((1, 20, 8))
    turned = net.add("Transpose", "input", perm=[0, 2, 1])
    value = net.add("Conv", turned, net.rng.standard_normal((16, 8, 3)), pads=[1, 1])
    dense = net.add("MatMul", net.add("Transpose", value, perm=[0, 2, 1]), net.rng.standard_normal((16, 4)))
    assert not compiled(net.model(dense)).cut.share.host


def test_the_host_moves_elements_between_channels_and_pixels() -> None:
    net = File((1, 6, 6, 8))
    value = net.conv("input", 8, 6)
    turned = net.add("Transpose", value, perm=[0, 3, 1, 2])
    moved = net.add("Transpose", turned, perm=[0, 2, 1, 3])
    again = net.add("Conv", moved, net.rng.standard_normal((8, 6, 1, 1)))
    network = compiled(net.model(again))
    (node,) = network.cut.share.host
    assert (node.operator, node.reason) == ("Transpose", "elements change places between channels and pixels")
    assert len(network.cut.parts) == 2


def test_what_the_host_makes_may_have_its_channels_last() -> None:
    net = File((1, 6, 6, 8))
    sine = net.add("Mul", net.add("Sin", net.conv("input", 8, 8)), np.linspace(1, 2, 8))
    network = compiled(net.model(net.conv(sine, 8, 6)), FULL)
    assert [node.operator for node in network.cut.share.host] == ["Sin"]


@pytest.mark.parametrize("seed", range(20))
def test_an_order_is_that_of_numpy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shape = tuple(int(size) for size in rng.choice([1, 2, 4, 6], 3))
    cube = rng.permutation(np.prod(shape)).reshape(shape)
    values, order = cube, Order.of(shape, range(3))
    for _ in range(4):
        sizes = [int(size) for size in rng.choice(values.shape, values.ndim, replace=False)]
        values = values.reshape(sizes) if rng.random() < 0.5 else values
        perm = [int(axis) for axis in rng.permutation(values.ndim)]
        turned = order.transposed(values.shape, perm)
        if turned is None:
            continue
        values, order = values.transpose(perm), turned
        np.testing.assert_array_equal(order.values(cube), values.ravel())
        np.testing.assert_array_equal(order.cube(values, (shape[0], shape[1], shape[2])), cube)
