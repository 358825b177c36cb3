"""Operators of integers, as onnxruntime's quantiser writes them, in terms of real ones.

Each becomes the operator of real numbers between DequantizeLinear and QuantizeLinear, which is what it means. Those
that only arrange or choose integers become the same between the two.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper, numpy_helper

from nvdla_networks.compiler.node import NARROW, ONNX_DOMAINS, array_of

_CONTRIBUTED = "com.microsoft"
_FIRST = 10
"""Version of ONNX's operators that has QuantizeLinear."""

_WITH_AXIS = 13
"""The one from which on it has a scale for each channel."""

_WITH_WIDE = 21
"""The one from which on it has more than eight bits."""

_NARROW = (onnx.TensorProto.INT8, onnx.TensorProto.UINT8)


@dataclass(frozen=True)
class _Form:
    """Where an operator of integers has what; behind each value stand its scale and zero point.

    Attributes:
        operator: Its name among operators of real numbers.
        taken: Positions of the values.
        made: Position of the scale of the result, with its zero point behind it.
        bias: Position of integers whose step is that of the first value times that of the second.
    """

    operator: str
    taken: tuple[int, ...]
    made: int
    bias: int | None = None


_OWN = {"QLinearConv": _Form("Conv", (0, 3), 6, 8), "QLinearMatMul": _Form("MatMul", (0, 3), 6)}

_OTHERS = {
    "QGemm": _Form("Gemm", (0, 3), 7, 6),
    "QLinearAdd": _Form("Add", (0, 3), 6),
    "QLinearMul": _Form("Mul", (0, 3), 6),
    "QLinearAveragePool": _Form("AveragePool", (0,), 3),
    "QLinearGlobalAveragePool": _Form("GlobalAveragePool", (0,), 3),
    "QLinearLeakyRelu": _Form("LeakyRelu", (0,), 3),
    "QLinearReduceMean": _Form("ReduceMean", (0,), 3),
    "QLinearSigmoid": _Form("Sigmoid", (0,), 3),
    "QLinearSoftmax": _Form("Softmax", (0,), 3),
}

_CARRIES = (
    "MaxPool",
    "Flatten",
    "Reshape",
    "Squeeze",
    "Unsqueeze",
    "Transpose",
    "Split",
    "Slice",
    "Gather",
    "Identity",
    "DepthToSpace",
    "SpaceToDepth",
)
"""Operators whose results are integers of their first input."""


def made_real(model: onnx.ModelProto, opset: int) -> bool:
    """Put operators of real numbers in the place of those of integers, and return whether there was any.

    Args:
        model: The model; changed. Operators that take computed scales stay.
        opset: Version of ONNX's own operators in it.
    """
    if opset < _FIRST:
        return False
    rewriter = _Rewriter(model.graph, opset)
    nodes = [new for node in model.graph.node for new in rewriter.replaced(node)]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return rewriter.changes


class _Rewriter:
    def __init__(self, graph: onnx.GraphProto, opset: int) -> None:
        self._graph, self._opset = graph, opset
        self._constants = {tensor.name: tensor for tensor in graph.initializer}
        self._names = {name for node in graph.node for name in (*node.input, *node.output)} | set(self._constants)
        self._steps: dict[str, tuple[str, str]] = {}
        self.changes = False

    def replaced(self, node: onnx.NodeProto) -> Sequence[onnx.NodeProto]:
        """Return what does the same as a node: the node itself, or real numbers between two conversions."""
        new: Sequence[onnx.NodeProto] | None = None
        form = (_OWN if node.domain in ONNX_DOMAINS else _OTHERS).get(node.op_type)
        if node.op_type in ("QuantizeLinear", "DequantizeLinear"):
            new = self._own(node)
        elif form is not None:
            new = self._computed(node, form)
        elif (node.op_type, node.domain) == ("QLinearConcat", _CONTRIBUTED):
            new = self._joined(node)
        elif node.op_type in _CARRIES and node.domain in ONNX_DOMAINS and node.input[0] in self._steps:
            new = self._carried(node)
        if new is None:
            return [node]
        self.changes = True
        return new

    def _own(self, node: onnx.NodeProto) -> Sequence[onnx.NodeProto] | None:
        """Note the steps of integers, and return the node as one of ONNX's own, with weights of at least eight bits."""
        if node.op_type == "QuantizeLinear" and len(node.input) > 2:
            self._steps[node.output[0]] = node.input[1], node.input[2]
        zero = self._constants.get(node.input[2]) if len(node.input) > 2 else None
        if node.domain != _CONTRIBUTED or zero is None:
            return None
        own = onnx.NodeProto()
        own.CopyFrom(node)
        own.domain = ""
        old = (*_NARROW, onnx.TensorProto.INT32) if node.op_type == "DequantizeLinear" else _NARROW
        if zero.data_type in old or self._opset >= _WITH_WIDE:
            return [own]
        weights = self._constants.get(node.input[0])
        if weights is None or array_of(zero).dtype.name not in NARROW:
            return None
        for place, tensor in ((0, weights), (2, zero)):
            numbers = array_of(tensor)
            wide = np.uint8 if numbers.dtype.name.startswith("u") else np.int8
            own.input[place] = self._constant(f"{tensor.name}_wide", numbers.astype(wide))
        return [own]

    def _computed(self, node: onnx.NodeProto, form: _Form) -> Sequence[onnx.NodeProto] | None:
        inputs = [*node.input, *[""] * (form.made + 2 - len(node.input))]
        first, *others = (tuple(inputs[at : at + 3]) for at in form.taken)
        made = inputs[form.made], inputs[form.made + 1]
        attributes = [a for a in node.attribute if a.name not in ("channels_last", "opset")]
        if not self._has_steps(first[1:], *(other[1:] for other in others), made) or self._is_other(node):
            return None
        if np.prod(self._constants[first[1]].dims) != 1:
            return None
        # Kernels are the first axis of a convolution's weights, and of a transposed matrix.
        axis = 0 if form.operator == "Conv" or any(a.name == "transB" and a.i for a in attributes) else 1
        values = [first, *others]
        if form.bias is not None and form.bias < len(inputs) and inputs[form.bias]:
            values.append((inputs[form.bias], self._product(first[1], others[0][1]), ""))
        return [*self._between(node, form.operator, values, made, (0, axis, 0), attributes)]

    def _is_other(self, node: onnx.NodeProto) -> bool:
        """Return whether attributes say something that the operator of real numbers does not."""
        given = {attribute.name: attribute.i for attribute in node.attribute}
        # A softmax of versions before 13 takes all axes from one on.
        later = given.get("opset", self._opset) >= _WITH_AXIS
        return bool(given.get("channels_last")) or later != (self._opset >= _WITH_AXIS)

    def _joined(self, node: onnx.NodeProto) -> Sequence[onnx.NodeProto] | None:
        if len(node.input) < 2:
            return None
        made = node.input[0], node.input[1]
        values = [tuple(node.input[at : at + 3]) for at in range(2, len(node.input), 3)]
        if any(len(value) != 3 for value in values) or not self._has_steps(made, *(value[1:] for value in values)):
            return None
        return [*self._between(node, "Concat", values, made, (0,) * len(values), [*node.attribute])]

    def _carried(self, node: onnx.NodeProto) -> Sequence[onnx.NodeProto] | None:
        made = self._steps[node.input[0]]
        if not self._has_steps(made):
            return None
        return [*self._between(node, node.op_type, [(node.input[0], *made)], made, (0,), [*node.attribute])]

    def _has_steps(self, *steps: Sequence[str]) -> bool:
        """Return whether scales and zero points are constants of which this version has the conversion."""
        if any(name not in self._constants for pair in steps for name in pair):
            return False
        return self._opset >= _WITH_AXIS or all(np.prod(self._constants[pair[0]].dims) == 1 for pair in steps)

    def _between(
        self,
        node: onnx.NodeProto,
        operator: str,
        values: Sequence[Sequence[str]],
        made: tuple[str, str],
        axes: Sequence[int],
        attributes: Sequence[onnx.AttributeProto],
    ) -> Iterator[onnx.NodeProto]:
        """Yield an operator of real numbers between conversions; what follows a carrying node's input stays."""
        taken = []
        for (integers, scale, zero), axis in zip(values, axes, strict=False):
            taken.append(self._unused(f"{integers}_real"))
            yield self._conversion("DequantizeLinear", (integers, scale, zero), taken[-1], axis)
        if operator == node.op_type:
            taken += node.input[1:]
        results = [self._unused(f"{name}_real") if name else "" for name in node.output]
        real = helper.make_node(operator, taken, results, name=node.name)
        real.attribute.extend(attributes)
        yield real
        for result, integers in zip(results, node.output, strict=True):
            if integers:
                self._steps[integers] = made
                yield self._conversion("QuantizeLinear", (result, *made), integers, 0)

    def _conversion(self, operator: str, inputs: Sequence[str], output: str, axis: int) -> onnx.NodeProto:
        value, *steps = inputs
        names = [value, *(self._scalar(name) for name in steps if name)]
        conversion = helper.make_node(operator, names, [output], name=self._unused(f"{output}_{operator}"))
        if np.prod(self._constants[steps[0]].dims) > 1:
            conversion.attribute.append(helper.make_attribute("axis", axis))
        return conversion

    def _scalar(self, name: str) -> str:
        """Return a constant of one element without axes, as all versions take it."""
        tensor = self._constants[name]
        if not tensor.dims or np.prod(tensor.dims) != 1:
            return name
        return self._constant(f"{name}_scalar", array_of(tensor).reshape(()))

    def _product(self, first: str, second: str) -> str:
        product = array_of(self._constants[first]) * array_of(self._constants[second])
        return self._constant(f"{first}_{second}", product.astype(np.float32))

    def _constant(self, name: str, values: NDArray[Any]) -> str:
        tensor = numpy_helper.from_array(np.asarray(values), self._unused(name))
        self._constants[tensor.name] = tensor
        self._graph.initializer.append(tensor)
        return tensor.name

    def _unused(self, name: str) -> str:
        """Return a name that no other value has."""
        while name in self._names:
            name += "_"
        self._names.add(name)
        return name
