"""ONNX files as graphs of our own: what the accelerator computes of a file, and why it does not compute the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import onnx

from nvdla_models.limits import NETWORK_BYTES, NETWORK_MULTIPLICATIONS, VALUE_ELEMENTS
from nvdla_models.reading import read_bytes
from nvdla_networks.compiler.graph import (
    Clip,
    Graph,
    Interval,
    Node,
    Operation,
    Shape,
    cube_of,
    interval_of,
    shape_of,
    work_of,
)
from nvdla_networks.compiler.node import ONNX_DOMAINS, Chain, Constant, Found, OnnxNode, Quantised, Ranged, Result, View
from nvdla_networks.compiler.operators import OPERATORS
from nvdla_networks.compiler.prepare import fixed, inputs_of, opset_of, prepared
from nvdla_networks.compiler.reading import HostNode, Reading, ranged_at_once
from nvdla_networks.errors import NetworkError, NodeRefused
from nvdla_networks.network import Largest, Softmax

_REAL = (onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE)

_TAIL = "the host makes probabilities and classes"


def read_onnx(path: Path) -> Graph:
    """Return the network in a file, all of which the accelerator must compute.

    Raises:
        NetworkError: for a file that is no valid ONNX, or holds what no layer computes.
    """
    return parse_onnx(read_bytes(path, NETWORK_BYTES, NetworkError))


def parse_onnx(data: bytes) -> Graph:
    """Return the network in the bytes of a file, all of which the accelerator must compute.

    Raises:
        NetworkError: for bytes that are no valid ONNX, or hold what no layer computes.
    """
    reading = read_model(prepared(fixed(data)))
    if reading.refusals:
        raise reading.refusals[0]
    graph = reading.graph
    for name in graph.inputs:
        graph = ranged_at_once(graph, name)
    return graph


def read_model(model: onnx.ModelProto, refused: Mapping[str, str] | None = None) -> Reading:
    """Return what the accelerator computes of a prepared model, and what it does not.

    Args:
        model: The model.
        refused: Nodes that are known to be the host's, with the reason.

    Raises:
        NetworkError: for values and networks that are too large for anyone.
    """
    return _Reader(model, refused or {}).read()


class _Reader:
    def __init__(self, model: onnx.ModelProto, refused: Mapping[str, str]) -> None:
        self._graph, self._refused = model.graph, refused
        self._opset = opset_of(model)
        self._constants: dict[str, Constant | onnx.TensorProto] = {t.name: t for t in self._graph.initializer}
        self._aliases: dict[str, str] = {}
        self._views: dict[str, View] = {}
        self._shapes: dict[str, Shape] = {}
        self._nodes: list[Node] = []
        self._work = 0
        self._quantised: dict[str, Quantised] = {}
        self._ranges: dict[str, Interval] = {}
        self._intervals: dict[str, Interval] = {}
        self._inferred = {
            value.name: value for value in (*self._graph.input, *self._graph.value_info, *self._graph.output)
        }
        kinds = {name: value.type.tensor_type for name, value in self._inferred.items()}
        self._sizes = {name: tuple(dim.dim_value for dim in kind.shape.dim) for name, kind in kinds.items()}
        self._sizes |= {tensor.name: tuple(tensor.dims) for tensor in self._graph.initializer}
        self._from_host: list[str] = []
        self._foreign: dict[str, str] = {}
        self._host: list[HostNode] = []
        self._refusals: list[NetworkError] = []

    def read(self) -> Reading:
        self._check_elements()
        inputs = [value.name for value in inputs_of(self._graph) if self._takes(value.name)]
        for node in self._graph.node:
            before = len(self._nodes)
            try:
                self._read_node(node)
            except NodeRefused as error:
                self._give_to_host(node, error, error.rule, before)
            except NetworkError as error:
                self._give_to_host(node, error, str(error), before)
        outputs = [name for value in self._graph.output if (name := self._output(value.name, inputs)) is not None]
        for kind, names in (("input", inputs_of(self._graph)), ("output", self._graph.output)):
            if not names:
                raise NetworkError(f"model must have an {kind}")
        tails = {node.output for node in self._nodes if isinstance(node.operation, Softmax | Largest)}
        self._host += [
            HostNode(node.name, node.op_type, _TAIL) for node in self._graph.node if tails.intersection(node.output)
        ]
        order = {node.name: number for number, node in enumerate(self._graph.node)}
        graph = Graph(
            self._graph.name,
            (*inputs, *self._from_host),
            tuple(self._nodes),
            tuple(dict.fromkeys(outputs)),
            self._shapes,
            dict(self._ranges),
        )
        return Reading(
            graph,
            self._aliases,
            frozenset(self._from_host),
            tuple(sorted(self._host, key=lambda node: order[node.name])),
            tuple(self._refusals),
        )

    def _takes(self, name: str) -> bool:
        """Take an input as a cube, and return whether it can be."""
        try:
            self._check_real(name)
            self._shapes[name] = self._inferred_shape(name, lambda rule: NetworkError(f"input: {rule}"))
        except NetworkError as error:
            self._refusals.append(error)
            self._foreign[name] = str(error)
            return False
        self._intervals[name] = -math.inf, math.inf
        return True

    def _output(self, name: str, inputs: list[str]) -> str | None:
        """Return an output's own name, None where the host makes it."""
        value = self._aliases.get(name, name)
        if value in self._quantised:
            rule = f"output {name!r} must be real numbers: DequantizeLinear makes them"
        elif value in self._foreign or value in self._from_host:
            return None
        elif value not in self._shapes or value in inputs:
            rule = f"output {name!r} must be computed from the input"
        else:
            return value
        self._refusals.append(NetworkError(rule))
        self._host += [HostNode(n.name, n.op_type, rule) for n in self._graph.node if name in n.output]
        return None

    def _give_to_host(self, node: onnx.NodeProto, error: NetworkError, reason: str, nodes: int) -> None:
        """Leave a node to the host; those of its results that are cubes may go on from there."""
        del self._nodes[nodes:]
        self._refusals.append(error)
        self._host.append(HostNode(node.name, node.op_type, reason))
        for name in filter(None, node.output):
            for known in (*self._known(), self._aliases, self._ranges, self._intervals):
                known.pop(name, None)
            try:
                if name not in self._inferred:
                    raise error
                self._check_real(name)
                self._shapes[name] = self._inferred_shape(name, NetworkError)
            except NetworkError as no_cube:
                self._foreign[name] = str(no_cube)
                continue
            self._intervals[name] = -math.inf, math.inf
            self._from_host.append(name)

    def _check_elements(self) -> None:
        for name, value in self._inferred.items():
            elements = math.prod(dim.dim_value for dim in value.type.tensor_type.shape.dim)
            if elements > VALUE_ELEMENTS:
                raise NetworkError(f"value {name!r} must have at most {VALUE_ELEMENTS} elements, not {elements}")

    def _read_node(self, proto: onnx.NodeProto) -> None:
        def refuse(rule: str) -> NetworkError:
            return NodeRefused(proto.name, rule, proto.op_type)

        if proto.name in self._refused:
            raise refuse(self._refused[proto.name])
        if proto.op_type not in OPERATORS or proto.domain not in ONNX_DOMAINS:
            raise refuse("no layer computes this operator")
        taken = tuple(self._aliases.get(value, value) for value in proto.input)
        for value in taken:
            if value in self._foreign:
                raise refuse(f"input {value!r} is no cube: {self._foreign[value]}")
            if value and not any(value in known for known in self._known()):
                raise refuse(f"input {value!r} must be computed before")
        known = self._shapes, self._constants, self._views, self._quantised, self._sizes
        node = OnnxNode(proto, self._opset, taken, *known)
        for output, found in zip(proto.output, OPERATORS[proto.op_type](node), strict=False):
            self._add(proto.name, output, found, refuse)

    def _add(self, name: str, output: str, found: Found, refuse: Callable[[str], NetworkError]) -> None:
        if isinstance(found, Constant):
            self._constants[output] = found
            return
        if isinstance(found, View):
            self._views[output] = found
            return
        if isinstance(found, Quantised):
            self._quantised[output] = found
            return
        if isinstance(found, Chain):
            names = [f"{output}#{at}" for at in range(len(found.results) - 1)] + [output]
            made = {f"#{at}": value for at, value in enumerate(names)}
            for value, result in zip(names, found.results, strict=True):
                self._add(name, value, replace(result, inputs=tuple(made.get(v, v) for v in result.inputs)), refuse)
            return
        if isinstance(found, Ranged):
            within = self._within(found)
            if within is None:
                self._ranges[output] = found.range
            found = Result(Clip(*found.range), (found.value,)) if within is None else Result(None, (within,))
        if found.operation is None:
            (self._aliases[output],) = found.inputs
            return
        shape = self._checked_shape(found.operation, found.inputs, output, refuse)
        # A network that would take hours or gigabytes.
        self._work += work_of(found.operation, shape)
        if self._work > NETWORK_MULTIPLICATIONS:
            raise refuse(f"network must take at most {NETWORK_MULTIPLICATIONS} multiplications")
        self._shapes[output] = shape
        self._intervals[output] = interval_of(found.operation, [self._intervals[value] for value in found.inputs])
        self._nodes.append(Node(name, found.operation, found.inputs, output))

    def _checked_shape(
        self, operation: Operation, inputs: tuple[str, ...], output: str, refuse: Callable[[str], NetworkError]
    ) -> Shape:
        shape = shape_of(operation, [self._shapes[value] for value in inputs])
        if min(shape) < 1:
            raise refuse(f"output must not be empty, not {shape}")
        inferred = self._inferred_shape(output, refuse) if output in self._inferred else shape
        if inferred != shape:
            raise refuse(f"output must be {inferred}, as onnx infers, not {shape}")
        return shape

    def _known(self) -> tuple[dict[str, Any], ...]:
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
        """Refuse a value of integers: what they stand for would be lost."""
        kind = self._inferred[name].type.tensor_type.elem_type
        if kind not in _REAL:
            known = ", ".join(onnx.TensorProto.DataType.Name(real) for real in _REAL)
            raise NetworkError(f"input {name!r} must be {known}, not {onnx.TensorProto.DataType.Name(kind)}")

    def _inferred_shape(self, name: str, refuse: Callable[[str], NetworkError]) -> Shape:
        """Return the shape of a value, with one image and all sizes known."""
        value = self._inferred[name]
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        cube = cube_of(sizes)
        if cube is None:
            known = "x".join(str(size) if size > 0 else "?" for size in sizes) or "of unknown shape"
            raise refuse(f"value {name!r} must be 1xCxHxW, 1xCxL or 1xC, not {known}")
        return cube
