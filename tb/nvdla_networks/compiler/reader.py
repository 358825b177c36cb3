"""ONNX files: checked by ``onnx``, then read into a graph of our own; what is not known is refused by name and node."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import checker, shape_inference

from nvdla_models.limits import ARRAY_BYTES, NETWORK_BYTES, NETWORK_MULTIPLICATIONS, NETWORK_NODES, VALUE_ELEMENTS
from nvdla_models.reading import read_bytes
from nvdla_networks.compiler.graph import Clip, Graph, Interval, Node, Shape, interval_of, shape_of, work_of
from nvdla_networks.compiler.node import (
    BROKEN,
    SHOWN,
    Constant,
    Found,
    OnnxNode,
    Quantised,
    Ranged,
    Result,
    View,
    array_of,
    first_line,
)
from nvdla_networks.compiler.operators import OPERATORS
from nvdla_networks.errors import NetworkError

_DOMAINS = ("", "ai.onnx")
_REAL = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)


def read_onnx(path: Path) -> Graph:
    """Return the network in a file.

    Raises:
        NetworkError: for a file that is no valid ONNX, or holds what no layer computes.
    """
    return parse_onnx(read_bytes(path, NETWORK_BYTES, NetworkError))


def parse_onnx(data: bytes) -> Graph:
    """Return the network in the bytes of a file.

    Raises:
        NetworkError: for bytes that are no valid ONNX, or hold what no layer computes.
    """
    try:
        model = onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise NetworkError("model must be an ONNX file: it is no protobuf message") from error
    _check_names(model.graph)
    _check_size(model)
    _fix_batch(model.graph)
    try:
        checker.check_model(model)
        model = shape_inference.infer_shapes(model, check_type=True, strict_mode=True)
    except BROKEN as error:
        raise NetworkError(f"model must be valid ONNX: {first_line(error)}") from error
    return _Reader(model.graph).read()


def _check_names(graph: onnx.GraphProto) -> None:
    """Refuse names that are no UTF-8, which protobuf hands on as bytes."""
    values = (*graph.initializer, *graph.input, *graph.output)
    names: list[str | bytes] = [graph.name, *(value.name for value in values)]
    for node in graph.node:
        names += [node.name, node.op_type, node.domain, *node.input, *node.output]
        names += [attribute.name for attribute in node.attribute]
    for name in names:
        if isinstance(name, bytes):
            raise NetworkError(f"names in model must be UTF-8, not {name[:SHOWN]!r}")


def _check_size(model: onnx.ModelProto) -> None:
    graph = model.graph
    if len(graph.node) > NETWORK_NODES:
        raise NetworkError(f"model must have at most {NETWORK_NODES} nodes, not {len(graph.node)}")
    if model.functions:
        raise NetworkError(f"model must define no functions, not {len(model.functions)}")
    for node in graph.node:
        if node.domain not in _DOMAINS:
            raise NetworkError(f"node {node.name!r}: operator {node.op_type} of {node.domain} is not known")
        for attribute in node.attribute:
            if attribute.HasField("g") or attribute.graphs:
                raise NetworkError(f"node {node.name!r}: operator {node.op_type} is not known: it holds a graph")
            if attribute.HasField("t"):
                _check_tensor(attribute.t)
    if graph.sparse_initializer:
        raise NetworkError("model must have no sparse initializers")
    for tensor in graph.initializer:
        _check_tensor(tensor)


def _check_tensor(tensor: onnx.TensorProto) -> None:
    if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
        raise NetworkError(f"initializer {tensor.name!r} must lie in the model, not in another file")
    # Of Python's integers: a product of hostile sizes does not wrap.
    elements = math.prod(tensor.dims)
    if elements > ARRAY_BYTES or any(size < 0 for size in tensor.dims):
        raise NetworkError(f"initializer {tensor.name!r} must have at most {ARRAY_BYTES} elements, not {elements}")


def _fix_batch(graph: onnx.GraphProto) -> None:
    """Give a batch of any size that of one image, and forget shapes that were inferred for another."""
    del graph.value_info[:]
    constants = {tensor.name for tensor in graph.initializer}
    for value in (*graph.input, *graph.output):
        if value.name in constants or not value.type.tensor_type.shape.dim:
            continue
        first = value.type.tensor_type.shape.dim[0]
        if first.dim_value <= 0:
            first.dim_value = 1


class _Reader:
    def __init__(self, graph: onnx.GraphProto) -> None:
        self._graph = graph
        self._constants: dict[str, Constant] = {}
        self._aliases: dict[str, str] = {}
        self._views: dict[str, View] = {}
        self._shapes: dict[str, Shape] = {}
        self._nodes: list[Node] = []
        self._names: Counter[str] = Counter()
        self._work = 0
        self._quantised: dict[str, Quantised] = {}
        self._ranges: dict[str, Interval] = {}
        self._intervals: dict[str, Interval] = {}
        self._inferred = {value.name: value for value in (*graph.value_info, *graph.output, *graph.input)}

    def read(self) -> Graph:
        for tensor in self._graph.initializer:
            self._constants[tensor.name] = Constant(array_of(tensor))
        inputs = [value.name for value in self._graph.input if value.name not in self._constants]
        for name in inputs:
            self._check_real(name)
            self._shapes[name] = self._inferred_shape(name, "input")
            self._intervals[name] = -math.inf, math.inf
        for number, node in enumerate(self._graph.node):
            self._read_node(node, self._unused(node.name or f"{node.op_type}_{number}"))
        outputs = []
        for value in self._graph.output:
            name = self._aliases.get(value.name, value.name)
            if name in self._quantised:
                raise NetworkError(f"output {value.name!r} must be real numbers: DequantizeLinear makes them")
            if name not in self._shapes or name in inputs:
                raise NetworkError(f"output {value.name!r} must be computed from the input")
            outputs.append(name)
        for kind, names in (("input", inputs), ("output", outputs)):
            if not names:
                raise NetworkError(f"model must have an {kind}")
        graph = Graph(
            self._graph.name, tuple(inputs), tuple(self._nodes), tuple(outputs), self._shapes, dict(self._ranges)
        )
        for name in inputs:
            graph = _ranged_at_once(graph, name)
        return graph

    def _unused(self, name: str) -> str:
        """Return a name that no node has: a file may give several nodes one."""
        count = self._names[name]
        self._names[name] += 1
        return self._unused(f"{name}_{count}") if count else name

    def _read_node(self, proto: onnx.NodeProto, name: str) -> None:
        what = f"node {name!r} ({proto.op_type})"
        if proto.op_type not in OPERATORS:
            raise NetworkError(f"{what}: operator is not known; known are {', '.join(OPERATORS)}")
        taken = tuple(self._aliases.get(value, value) for value in proto.input)
        for value in taken:
            if value and not any(value in known for known in self._known()):
                raise NetworkError(f"{what}: input {value!r} must be computed before")
        node = OnnxNode(what, proto, taken, self._shapes, self._constants, self._views, self._quantised)
        for output, found in zip(proto.output, OPERATORS[proto.op_type](node), strict=False):
            self._add(name, output, found, what)

    def _add(self, name: str, output: str, found: Found, what: str) -> None:
        if isinstance(found, Constant):
            self._constants[output] = found
            return
        if isinstance(found, View):
            self._views[output] = found
            return
        if isinstance(found, Quantised):
            self._quantised[output] = found
            return
        if isinstance(found, Ranged):
            within = self._within(found)
            if within is None:
                self._ranges[output] = found.range
            found = Result(Clip(*found.range), (found.value,)) if within is None else Result(None, (within,))
        if found.operation is None:
            (self._aliases[output],) = found.inputs
            return
        shape = shape_of(found.operation, [self._shapes[value] for value in found.inputs])
        if min(shape) < 1:
            raise NetworkError(f"{what}: output must not be empty, not {shape}")
        inferred = self._inferred_shape(output, what) if output in self._inferred else shape
        if inferred != shape:
            raise NetworkError(f"{what}: output must be {inferred}, as onnx infers, not {shape}")
        # A network that would take hours or gigabytes.
        self._work += work_of(found.operation, shape)
        if self._work > NETWORK_MULTIPLICATIONS:
            raise NetworkError(f"{what}: network must take at most {NETWORK_MULTIPLICATIONS} multiplications")
        self._shapes[output] = shape
        self._intervals[output] = interval_of(found.operation, [self._intervals[value] for value in found.inputs])
        self._nodes.append(Node(name, found.operation, found.inputs, output))

    def _known(self) -> tuple[Mapping[str, object], ...]:
        return self._shapes, self._constants, self._views, self._quantised

    def _within(self, ranged: Ranged) -> str | None:
        """Return a value that is what another is between bounds, or None: itself, or one that was made so before."""
        least, most = ranged.range
        low, high = self._intervals[ranged.value]
        if least <= low and high <= most:
            self._ranges.setdefault(ranged.value, ranged.range)
            return ranged.value
        wanted = Clip(*ranged.range), (ranged.value,)
        return next((node.output for node in self._nodes if (node.operation, node.inputs) == wanted), None)

    def _check_real(self, name: str) -> None:
        """Refuse an input of integers: what they stand for would be lost."""
        kind = self._inferred[name].type.tensor_type.elem_type
        if kind not in _REAL:
            known = ", ".join(onnx.TensorProto.DataType.Name(real) for real in _REAL)
            raise NetworkError(f"input {name!r} must be {known}, not {onnx.TensorProto.DataType.Name(kind)}")

    def _inferred_shape(self, name: str, what: str) -> Shape:
        """Return the shape of a value, with one image and all sizes known."""
        value = self._inferred[name]
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if len(sizes) not in (2, 4) or sizes[0] != 1 or min(sizes) < 1:
            known = "x".join(str(size) if size > 0 else "?" for size in sizes) or "of unknown shape"
            raise NetworkError(f"{what}: value {name!r} must be 1xCxHxW or 1xC, not {known}")
        elements = math.prod(sizes)
        if elements > VALUE_ELEMENTS:
            raise NetworkError(f"{what}: value {name!r} must have at most {VALUE_ELEMENTS} elements, not {elements}")
        _, channels, height, width = (*sizes, 1, 1)[:4]
        return channels, height, width


def _ranged_at_once(graph: Graph, name: str) -> Graph:
    """Return a graph without the node that keeps an input between bounds, where all take the input from there.

    Whoever writes the input then keeps it there.
    """
    users = [node for node in graph.nodes if name in node.inputs]
    if len(users) != 1 or users[0].output in graph.outputs or users[0].output not in graph.ranges:
        return graph
    (clip,) = users
    if clip.operation != Clip(*graph.ranges[clip.output]):
        return graph
    nodes = [
        replace(node, inputs=tuple(name if value == clip.output else value for value in node.inputs))
        for node in graph.nodes
        if node is not clip
    ]
    return replace(graph, nodes=tuple(nodes), ranges={**graph.ranges, name: graph.ranges[clip.output]})
