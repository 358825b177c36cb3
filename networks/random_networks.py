"""Networks with random weights, to try what a compiled network can contain.

``python -m networks.random_networks residual residual.onnx`` writes a residual network of CIFAR size,
``mixed`` one with depthwise convolutions, joined and cut cubes, and pooling of all kinds, ``alexnet`` and ``inception``
small ones with local response normalisation, ``shuffle`` one whose groups exchange channels, ``tiled`` one whose
input is too large for nv_small's buffer, ``squeezenet`` and ``densenet121`` the published structures, for small
pictures.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17
IR_VERSION = 10


class NetworkBuilder:
    """Writes an ONNX network, operator after operator.

    Example:
        net = NetworkBuilder("tiny", (3, 8, 8), seed=1)
        model = net.model(net.relu(net.conv(net.input, 16, 3, pad=1)))
    """

    def __init__(self, name: str, shape: tuple[int, ...], seed: int) -> None:
        """Start with an input (C, H, W)."""
        self.name, self.input = name, "input"
        self.shapes: dict[str, tuple[int, ...]] = {self.input: shape}
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.rng = np.random.default_rng(seed)

    def constant(self, values: Any, dtype: Any = np.float32) -> str:
        """Add a constant and return its name."""
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values, dtype=dtype), name))
        return name

    def add(self, kind: str, inputs: Sequence[str], outputs: int = 1, **attributes: Any) -> list[str]:
        """Add an operator and return the names of what it makes."""
        number = len(self.nodes)
        names = [f"v{number}_{output}" for output in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind}_{number}", **attributes))
        return names

    def conv(self, value: str, kernels: int, side: int, *, stride: int = 1, pad: int = 0, groups: int = 1) -> str:
        """Add a convolution with random weights and bias."""
        channels, height, width = self.shapes[value]
        shape = (kernels, channels // groups, side, side)
        weights = self.rng.standard_normal(shape) * np.sqrt(2 / np.prod(shape[1:]))
        inputs = [value, self.constant(weights), self.constant(self.rng.standard_normal(kernels) * 0.1)]
        pads, strides = [pad] * 4, [stride, stride]
        (name,) = self.add("Conv", inputs, pads=pads, strides=strides, group=groups, kernel_shape=[side, side])
        sides = tuple((size + 2 * pad - side) // stride + 1 for size in (height, width))
        self.shapes[name] = (kernels, *sides)
        return name

    def normalised(self, value: str) -> str:
        """Add a batch normalisation with random statistics."""
        channels = self.shapes[value][0]
        drawn = [self.rng.uniform(0.5, 1.5, channels), *self.rng.standard_normal((2, channels)) * 0.1]
        inputs = [value, *map(self.constant, (*drawn, self.rng.uniform(0.5, 1.5, channels)))]
        return self._same("BatchNormalization", inputs)

    def relu(self, value: str) -> str:
        """Add a ReLU."""
        return self._same("Relu", [value])

    def plus(self, first: str, second: str) -> str:
        """Add the sum of two cubes."""
        return self._same("Add", [first, second])

    def lrn(self, value: str, size: int = 5, alpha: float = 1.0, beta: float = 0.75, bias: float = 1.0) -> str:
        """Add a local response normalisation."""
        return self._same("LRN", [value], size=size, alpha=alpha, beta=beta, bias=bias)

    def joined(self, *values: str) -> str:
        """Add the values one after the other along the channels."""
        (name,) = self.add("Concat", values, axis=1)
        self.shapes[name] = (sum(self.shapes[value][0] for value in values), *self.shapes[values[0]][1:])
        return name

    def shuffled(self, value: str, groups: int) -> str:
        """Add a shuffle: the first channels of all groups, then the second ones."""
        channels, height, width = self.shapes[value]
        axes = self.constant([1, groups, channels // groups, height, width], np.int64)
        (wide,) = self.add("Reshape", [value, axes])
        (turned,) = self.add("Transpose", [wide], perm=[0, 2, 1, 3, 4])
        (name,) = self.add("Reshape", [turned, self.constant([1, -1, height, width], np.int64)])
        self.shapes[name] = self.shapes[value]
        return name

    def pool(self, value: str, kind: str, side: int, stride: int, pad: int = 0, **attributes: Any) -> str:
        """Add a pooling, ``MaxPool`` or ``AveragePool``."""
        channels, height, width = self.shapes[value]
        window = {"kernel_shape": [side, side], "strides": [stride, stride], "pads": [pad] * 4}
        (name,) = self.add(kind, [value], **window, **attributes)
        self.shapes[name] = (channels, *((size + 2 * pad - side) // stride + 1 for size in (height, width)))
        return name

    def dense(self, value: str, columns: int) -> str:
        """Add a fully connected layer of a flattened cube."""
        (flat,) = self.add("Flatten", [value], axis=1)
        rows = int(np.prod(self.shapes[value]))
        weights = self.rng.standard_normal((columns, rows)) * np.sqrt(1 / rows)
        bias = self.rng.standard_normal(columns) * 0.1
        (name,) = self.add("Gemm", [flat, self.constant(weights), self.constant(bias)], transB=1)
        self.shapes[name] = (columns,)
        return name

    def classes(self, value: str) -> str:
        """Add the average of each channel, ten classes and their probabilities."""
        (name,) = self.add("GlobalAveragePool", [value])
        self.shapes[name] = (self.shapes[value][0], 1, 1)
        return self._same("Softmax", [self.dense(name, 10)], axis=1)

    def model(self, *outputs: str, opset: int = OPSET) -> onnx.ModelProto:
        """Return the network with its outputs, in this version of the operators."""
        ends = []
        for kind, names in (("input", [self.input]), ("output", outputs)):
            assert names, kind
            ends.append(
                [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, *self.shapes[name]]) for name in names]
            )
        graph = helper.make_graph(self.nodes, self.name, *ends, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=IR_VERSION)

    def _same(self, kind: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add an operator that keeps the shape of its first input."""
        (name,) = self.add(kind, inputs, **attributes)
        self.shapes[name] = self.shapes[inputs[0]]
        return name


def residual(widths: Sequence[int] = (16, 32, 64), side: int = 32, blocks: int = 1, seed: int = 1) -> onnx.ModelProto:
    """Return a residual network: stages of blocks, each with half the side and other channels."""
    net = NetworkBuilder("residual", (3, side, side), seed)
    value = net.relu(net.normalised(net.conv(net.input, widths[0], 3, pad=1)))
    for stage, width in enumerate(widths):
        for block in range(blocks):
            stride = 2 if stage and not block else 1
            inner = net.relu(net.normalised(net.conv(value, width, 3, stride=stride, pad=1)))
            inner = net.normalised(net.conv(inner, width, 3, pad=1))
            if net.shapes[value] != net.shapes[inner]:
                value = net.normalised(net.conv(value, width, 1, stride=stride))
            value = net.relu(net.plus(inner, value))
    return net.model(net.classes(value))


def mixed(side: int = 24, seed: int = 2) -> onnx.ModelProto:
    """Return a network with depthwise convolutions, joined and cut cubes, pooling and activations of all kinds."""
    net = NetworkBuilder("mixed", (3, side, side), seed)
    value = net.relu(net.conv(net.input, 12, 3, stride=2, pad=1))
    value = net._same("Clip", [net.conv(value, 12, 3, pad=1, groups=12), net.constant(0), net.constant(1.5)])
    value = net.conv(value, 20, 1)
    left = net._same("LeakyRelu", [net.conv(value, 10, 3, pad=1, groups=2)], alpha=0.2)
    right = net._same("PRelu", [net.conv(value, 12, 1), net.constant(net.rng.uniform(0, 1, (12, 1, 1)))])
    pooled = net.pool(value, "MaxPool", 3, 1, 1)
    (value,) = net.add("Concat", [left, right, pooled], axis=1)
    net.shapes[value] = (42, *net.shapes[left][1:])
    first, second = net.add("Split", [value, net.constant([16, 26], np.int64)], 2, axis=1)
    net.shapes |= {name: (count, *net.shapes[left][1:]) for name, count in ((first, 16), (second, 26))}
    first = net.relu(net.conv(first, 24, 3, stride=2, pad=1, groups=8))
    second = net.pool(net.conv(second, 24, 1), "AveragePool", 2, 2)
    value = net._same("Mul", [net.plus(first, second), net.constant(net.rng.uniform(0.5, 2, (1, 24, 1, 1)))])
    (joined,) = net.add("Concat", [value, first], axis=1)
    net.shapes[joined] = (48, *net.shapes[first][1:])
    return net.model(net.classes(net.relu(net.conv(joined, 32, 3))))


def alexnet(side: int = 63, seed: int = 4) -> onnx.ModelProto:
    """Return five convolutions, two with groups, normalisation and three dense layers, all narrow."""
    net = NetworkBuilder("alexnet", (3, side, side), seed)
    value = net.lrn(net.relu(net.conv(net.input, 24, 11, stride=4)))
    value = net.pool(value, "MaxPool", 3, 2)
    value = net.lrn(net.relu(net.conv(value, 64, 5, pad=2, groups=2)), bias=2.0)
    value = net.pool(value, "MaxPool", 3, 2)
    value = net.relu(net.conv(value, 48, 3, pad=1))
    for kernels in (48, 32):
        value = net.relu(net.conv(value, kernels, 3, pad=1, groups=2))
    value = net.relu(net.dense(value, 64))
    value = net.relu(net.dense(value, 64))
    (wide,) = net.add("Mul", [net.dense(value, 10), net.constant(10)])
    net.shapes[wide] = (10,)
    return net.model(net._same("Softmax", [wide], axis=1))


def inception(side: int = 48, seed: int = 5) -> onnx.ModelProto:
    """Return a network of modules with four branches that are joined, narrow and for small pictures."""
    net = NetworkBuilder("inception", (3, side, side), seed)
    value = net.relu(net.conv(net.input, 16, 7, stride=2, pad=3))
    value = net.lrn(net.pool(value, "MaxPool", 3, 2, 1))
    value = net.relu(net.conv(value, 16, 1))
    value = net.pool(net.lrn(net.relu(net.conv(value, 40, 3, pad=1))), "MaxPool", 3, 2, 1)
    for first, *third, fifth in ((16, 24, 10), (24, 32, 12)):
        branches = [net.conv(value, first, 1)]
        branches += [net.conv(net.relu(net.conv(value, 12, 1)), kernels, 3, pad=1) for kernels in third]
        branches.append(net.conv(net.relu(net.conv(value, 8, 1)), fifth, 5, pad=2))
        branches.append(net.conv(net.pool(value, "MaxPool", 3, 1, 1), 8, 1))
        value = net.joined(*(net.relu(branch) for branch in branches))
    return net.model(net.classes(value))


def shuffle(side: int = 28, seed: int = 6) -> onnx.ModelProto:
    """Return units of grouped and depthwise convolutions with a shuffle between, joined to averages of their input."""
    net = NetworkBuilder("shuffle", (3, side, side), seed)
    value = net.pool(net.relu(net.conv(net.input, 12, 3, stride=2, pad=1)), "MaxPool", 3, 2, 1)
    for stride, kernels in ((2, 36), (1, 48)):
        inner = net.shuffled(net.relu(net.normalised(net.conv(value, 24, 1, groups=3))), 3)
        inner = net.normalised(net.conv(inner, 24, 3, stride=stride, pad=1, groups=24))
        inner = net.normalised(net.conv(inner, kernels, 1, groups=3))
        averaged = net.pool(value, "AveragePool", 3, 2, 1) if stride == 2 else value
        value = net.relu(net.joined(averaged, inner) if stride == 2 else net.plus(value, inner))
    return net.model(net.classes(value))


def tiled(seed: int = 7) -> onnx.ModelProto:
    """Return a network whose input is too large for a buffer of 128 KiB, and two convolutions of one cube."""
    net = NetworkBuilder("tiled", (64, 48, 48), seed)
    value = net.relu(net.conv(net.relu(net.conv(net.input, 64, 3, stride=4)), 16, 1))
    value = net.joined(*(net.relu(net.conv(value, 16, side, pad=side // 2)) for side in (1, 3)))
    return net.model(net.classes(value))


def published(name: str, side: int, seed: int = 3) -> onnx.ModelProto:
    """Return a structure that the ``onnx`` package ships for its own tests, with random weights.

    Args:
        name: As in ``onnx/backend/test/data/light``, such as ``squeezenet``.
        side: Of the picture, 224 in the file; only structures without a dense layer allow another.
        seed: Of the weights.
    """
    model = onnx.load(Path(onnx.__file__).parent / "backend" / "test" / "data" / "light" / f"light_{name}.onnx")
    rng = np.random.default_rng(seed)
    sizes = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    normalised = [node for node in model.graph.node if node.op_type == "BatchNormalization"]
    positive = {value for node in normalised for value in (node.input[1], node.input[4])}
    for node in model.graph.node:
        if node.op_type != "ConstantOfShape":
            continue
        shape = tuple(int(size) for size in sizes[node.input[0]])
        values = rng.standard_normal(shape) * np.sqrt(2 / max(np.prod(shape[1:]), 1))
        if node.output[0] in positive:
            values = 1 + np.abs(values) / 10
        tensor = numpy_helper.from_array(values.astype(np.float32))
        node.CopyFrom(helper.make_node("Constant", [], list(node.output), value=tensor))
    pictures = [value for value in model.graph.input if value.name not in sizes]
    for dim in pictures[0].type.tensor_type.shape.dim[2:]:
        dim.dim_value = side
    return model


NETWORKS: Mapping[str, Callable[[], onnx.ModelProto]] = {
    "residual": residual,
    "mixed": mixed,
    "alexnet": alexnet,
    "inception": inception,
    "shuffle": shuffle,
    "tiled": tiled,
    "squeezenet": lambda: published("squeezenet", 33),
    "densenet121": lambda: published("densenet121", 32),
}


def main(arguments: Sequence[str]) -> int:
    """Write the network that the arguments name."""
    if len(arguments) != 2 or arguments[0] not in NETWORKS:
        print(f"usage: python -m networks.random_networks {{{','.join(NETWORKS)}}} FILE", file=sys.stderr)
        return 2
    Path(arguments[1]).write_bytes(NETWORKS[arguments[0]]().SerializeToString())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
