"""How much of a file the accelerator computes: multiplications of its array, and bytes of results."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import onnx
from onnx import helper

from nvdla_networks.compiler.reading import HostNode

_MATRIX = {"Conv": 1, "MatMul": 1, "QLinearConv": 3, "ConvInteger": 1, "MatMulInteger": 1, "QLinearMatMul": 3}
"""Operators that multiply matrices, and which input has the weights."""

_RECURRENT = ("LSTM", "GRU", "RNN")


@dataclass(frozen=True)
class Amount:
    """What nodes compute; bytes are those of their results, in the types of the file."""

    multiplications: int = 0
    elements: int = 0
    nbytes: int = 0

    def __add__(self, other: Amount) -> Amount:
        """Return both together."""
        return Amount(
            self.multiplications + other.multiplications, self.elements + other.elements, self.nbytes + other.nbytes
        )


@dataclass(frozen=True)
class Share:
    """The accelerator's part of a file, and what it leaves to the host.

    Attributes:
        device: What the accelerator computes.
        total: What all nodes compute; nodes that only name or arrange elements compute nothing.
        host: The nodes of the host.
        elements: Elements of the results of each of them, None where the file does not say.
    """

    device: Amount
    total: Amount
    host: tuple[HostNode, ...] = ()
    elements: Mapping[str, int | None] = field(default_factory=dict)

    @property
    def multiplications(self) -> float | None:
        """The accelerator's part of all multiplications, None where there are none."""
        return _part(self.device.multiplications, self.total.multiplications)

    @property
    def nbytes(self) -> float | None:
        """The accelerator's part of the bytes of all results, None where there are none."""
        return _part(self.device.nbytes, self.total.nbytes)

    def of(self, node: HostNode) -> float | None:
        """Return a node's part of the elements of all results, None where it is not known."""
        elements = self.elements.get(node.name)
        return None if elements is None else _part(elements, self.total.elements)


def _part(some: int, total: int) -> float | None:
    return some / total if total else None


def share_of(graph: onnx.GraphProto, device: Collection[str], host: tuple[HostNode, ...]) -> Share:
    """Return the accelerator's share.

    Args:
        graph: Graph of the file, with the shapes of its values.
        device: Names of the nodes that the accelerator computes.
        host: Nodes that the host computes.
    """
    kinds = {value.name: value.type.tensor_type for value in (*graph.value_info, *graph.input, *graph.output)}
    shapes = {name: shape for name, kind in kinds.items() if (shape := _shape(kind)) is not None}
    shapes |= {tensor.name: tuple(tensor.dims) for tensor in graph.initializer}
    names = {node.name for node in host}
    on_device, total, elements = Amount(), Amount(), {}
    for node in graph.node:
        if node.name not in names and node.name not in device:
            continue
        amount = _amount(node, shapes, kinds)
        if node.name in names:
            elements[node.name] = None if amount is None else amount.elements
        if amount is not None:
            total += amount
            on_device += amount if node.name not in names else Amount()
    return Share(on_device, total, host, elements)


def _shape(kind: onnx.TypeProto.Tensor) -> tuple[int, ...] | None:
    if not kind.HasField("shape") or any(not dim.HasField("dim_value") for dim in kind.shape.dim):
        return None
    return tuple(dim.dim_value for dim in kind.shape.dim)


def _amount(
    node: onnx.NodeProto, shapes: Mapping[str, tuple[int, ...]], kinds: Mapping[str, onnx.TypeProto.Tensor]
) -> Amount | None:
    """Return what a node computes, None where a shape is not known, or it holds graphs."""
    made = [name for name in node.output if name]
    if any(name not in shapes for name in made) or any(attribute.HasField("g") for attribute in node.attribute):
        return None
    counts = [math.prod(shapes[name]) for name in made]
    widths = [helper.tensor_dtype_to_np_dtype(kinds[name].elem_type).itemsize for name in made]
    nbytes = sum(count * width for count, width in zip(counts, widths, strict=True))
    return Amount(_multiplications(node, shapes, counts), sum(counts), nbytes)


def _multiplications(node: onnx.NodeProto, shapes: Mapping[str, tuple[int, ...]], counts: list[int]) -> int:
    taken = [shapes.get(name, ()) for name in node.input]
    match node.op_type:
        case "Conv" | "QLinearConv" | "ConvInteger":
            return counts[0] * math.prod(taken[_MATRIX[node.op_type]][1:])
        case "ConvTranspose":
            return math.prod(taken[0]) * math.prod(taken[1][1:])
        case "MatMul" | "MatMulInteger" | "QLinearMatMul":
            return counts[0] * (taken[0][-1:] or (1,))[0]
        case "Gemm":
            transposed = any(attribute.name == "transA" and attribute.i for attribute in node.attribute)
            return counts[0] * (taken[0][0 if transposed else -1] if len(taken[0]) == 2 else 1)
        case kind if kind in _RECURRENT:
            steps = math.prod(taken[0][:2])
            return steps * (math.prod(taken[1]) + math.prod(taken[2]))
        case _:
            return 0
