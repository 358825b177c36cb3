"""ONNX files as graphs of our own: what the accelerator computes of a file, and why it does not compute the rest."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import onnx

from nvdla_models.limits import NETWORK_MULTIPLICATIONS, VALUE_ELEMENTS
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
from nvdla_networks.compiler.layouts import ANYHOW, BY_LAYOUT, given_as, layouts, order_of
from nvdla_networks.compiler.node import (
    ONNX_DOMAINS,
    REAL,
    Chain,
    Constant,
    Found,
    Layout,
    OnnxNode,
    Quantised,
    Ranged,
    Result,
    View,
)
from nvdla_networks.compiler.operators import OPERATORS
from nvdla_networks.compiler.prepare import inputs_of, opset_of
from nvdla_networks.compiler.reading import HostNode, Reading
from nvdla_networks.compiler.rearranging import shuffled
from nvdla_networks.errors import NetworkError, NodeRefused
from nvdla_networks.host import ARRANGING
from nvdla_networks.network import Largest, Softmax
from nvdla_networks.tensors import Order

_Laid = Layout | Order | None
"""How the file has the cubes of a node: by axes, in an order that does not matter, or as they are."""

_TAIL = "the host makes probabilities and classes"


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
        self._makers = {name: node for node in self._graph.node for name in node.output}
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
            {name: view.order for name, view in self._views.items() if view.value == name},
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
            self._take(name, lambda rule: NetworkError(f"input: {rule}"))
        except NetworkError as error:
            self._refusals.append(error)
            self._foreign[name] = str(error)
            return False
        return True

    def _take(self, name: str, refuse: Callable[[str], NetworkError], *, as_is: bool = False) -> None:
        """Take a value from outside as the cube that it is for those who go on with it."""
        shape, order = (None, None) if as_is else given_as(self._graph, name, self._sizes)
        if shape is None:
            shape = self._inferred_shape(name, refuse)
        self._shapes[name], self._intervals[name] = shape, (-math.inf, math.inf)
        if order is not None or cube_of(self._sizes[name]) != shape:
            self._views[name] = View(name, order or Order.of(shape, range(3)))

    def _output(self, name: str, inputs: list[str]) -> str | None:
        """Return an output's own name, None where the host makes it."""
        value = self._aliases.get(name, name)
        if value in self._quantised:
            rule = f"output {name!r} must be real numbers: DequantizeLinear makes them"
        elif value in self._foreign or value in self._from_host:
            return None
        elif value in self._views and self._views[value].value not in inputs:
            # The host has nothing to do but to put elements into the file's order.
            return value if value in self._shapes else None
        elif value not in self._shapes or value in inputs:
            rule = f"output {name!r} must be computed from the input"
        else:
            return value
        self._refusals.append(NetworkError(rule))
        self._host += [HostNode(n.name, n.op_type, rule) for n in self._graph.node if name in n.output]
        return None

    def _give_to_host(
        self, node: onnx.NodeProto, error: NetworkError, reason: str, nodes: int, *, moves: bool = False
    ) -> None:
        """Leave a node to the host; those of its results that are cubes may go on from there.

        Args:
            node: The node.
            error: Why.
            reason: The same in short.
            nodes: How many there were before it.
            moves: Whether its results must be cubes as they are.
        """
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
                self._take(name, NetworkError, as_is=moves)
            except NetworkError as no_cube:
                self._foreign[name] = str(no_cube)
                continue
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
        laid = self._laid(proto, taken)
        known = self._shapes, self._constants, self._views, self._quantised, self._sizes
        node = OnnxNode(proto, self._opset, taken, *known, None if isinstance(laid, Order) else laid)
        for output, found in zip(proto.output, OPERATORS[proto.op_type](node), strict=False):
            self._add(proto.name, output, found, refuse, laid)

    def _laid(self, proto: onnx.NodeProto, taken: tuple[str, ...]) -> _Laid:
        """Return how the file has the cubes that a node takes; the host moves elements where that is not by axes."""
        views = {
            value: view
            for name, value in zip(proto.input, taken, strict=True)
            if (view := self._views.get(value)) is not None
            and not (view.order.is_plain and cube_of(self._sizes.get(name, ())) == self._shapes[view.value])
        }
        dense = proto.op_type in ("Gemm", "MatMul") and len(self._sizes.get(proto.input[0], ())) == len("NC")
        if not views or dense or proto.op_type in ARRANGING:
            return None
        cubes = [
            (self._sizes.get(name, ()), self._views.get(value) or View(value, Order.of(self._shapes[value], range(3))))
            for name, value in zip(proto.input, taken, strict=True)
            if value in self._views or value in self._shapes
        ]
        if proto.op_type in BY_LAYOUT:
            first, *others = ([*layouts(view.order, sizes, self._shapes[view.value])] for sizes, view in cubes)
            for layout in first:
                if all(layout in other for other in others) and (proto.op_type != "MatMul" or layout[-1] == 1):
                    return layout
        constants = [self._sizes.get(name, (0,)) for name in proto.input if name in self._constants]
        if proto.op_type in ANYHOW and len(cubes) == 1 and all(math.prod(sizes) == 1 for sizes in constants):
            return cubes[0][1].order
        for value, view in views.items():
            if view.value == value or value not in self._makers:
                raise NodeRefused(proto.name, f"input {value!r} must have its channels first", proto.op_type)
        for value in views:
            maker = self._makers[value]
            error = NodeRefused(maker.name, "elements change places between channels and pixels", maker.op_type)
            self._give_to_host(maker, error, error.rule, len(self._nodes), moves=True)
        return None

    def _arrange(self, name: str, output: str, view: View, refuse: Callable[[str], NetworkError]) -> None:
        """Note how the file has the elements of a cube, exchanging channels where that makes it one again."""
        sizes, shape = self._sizes.get(output, (0,)), self._shapes[view.value]
        if min(sizes, default=1) < 1:
            raise refuse(f"output {output!r} must have known sizes")
        if cube_of(sizes) == shape:
            if view.order.is_plain:
                self._same(output, view.value)
                return
            if view.value != output and (conv := shuffled(view.order, shape)) is not None:
                self._add(name, output, Result(conv, (view.value,)), refuse, None)
                return
        self._views[output] = view

    def _same(self, output: str, cube: str) -> None:
        """Note that the file has a cube as it is. A name with an order of its own is that of the file's value."""
        if cube in self._views:
            self._views[output] = View(cube, Order.of(self._shapes[cube], range(3)))
        elif output != cube:
            self._aliases[output] = cube

    def _add(self, name: str, output: str, found: Found, refuse: Callable[[str], NetworkError], laid: _Laid) -> None:
        if isinstance(found, Constant):
            self._constants[output] = found
            return
        if isinstance(found, View):
            self._arrange(name, output, found, refuse)
            return
        if isinstance(found, Quantised):
            self._quantised[output] = found
            if laid is not None:
                self._views[output] = View(found.value, _order(laid, self._shapes[found.value]))
            return
        if isinstance(found, Chain):
            names = [f"{output}#{at}" for at in range(len(found.results) - 1)] + [output]
            made = {f"#{at}": value for at, value in enumerate(names)}
            for value, result in zip(names, found.results, strict=True):
                inside = replace(result, inputs=tuple(made.get(v, v) for v in result.inputs))
                self._add(name, value, inside, refuse, laid if value == output else None)
            return
        if isinstance(found, Ranged):
            within = self._within(found)
            if within is None:
                self._ranges[output] = found.range
            found = Result(Clip(*found.range), (found.value,)) if within is None else Result(None, (within,))
        if found.operation is None:
            (cube,) = found.inputs
            if laid is None:
                self._same(output, cube)
        else:
            cube, shape = output, self._checked_shape(found.operation, found.inputs, output, refuse, laid)
            # A network that would take hours or gigabytes.
            self._work += work_of(found.operation, shape)
            if self._work > NETWORK_MULTIPLICATIONS:
                raise refuse(f"network must take at most {NETWORK_MULTIPLICATIONS} multiplications")
            self._shapes[output] = shape
            self._intervals[output] = interval_of(found.operation, [self._intervals[value] for value in found.inputs])
            self._nodes.append(Node(name, found.operation, found.inputs, output))
        if laid is not None:
            self._arrange(name, output, View(cube, _order(laid, self._shapes[cube])), refuse)

    def _checked_shape(
        self,
        operation: Operation,
        inputs: tuple[str, ...],
        output: str,
        refuse: Callable[[str], NetworkError],
        laid: _Laid,
    ) -> Shape:
        shape = shape_of(operation, [self._shapes[value] for value in inputs])
        if min(shape) < 1:
            raise refuse(f"output must not be empty, not {shape}")
        if output not in self._inferred or isinstance(laid, Order):
            return shape
        inferred = self._inferred_shape(output, refuse, laid)
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
        if kind not in REAL:
            known = ", ".join(onnx.TensorProto.DataType.Name(real) for real in REAL)
            raise NetworkError(f"input {name!r} must be {known}, not {onnx.TensorProto.DataType.Name(kind)}")

    def _inferred_shape(self, name: str, refuse: Callable[[str], NetworkError], layout: Layout | None = None) -> Shape:
        """Return the shape of a value, with one image and all sizes known."""
        value = self._inferred[name]
        sizes = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        if layout is not None and len(layout) == len(sizes):
            sizes = [sizes[layout.index(axis)] for axis in range(len(sizes))]
        cube = cube_of(sizes)
        if cube is None:
            known = "x".join(str(size) if size > 0 else "?" for size in sizes) or "of unknown shape"
            raise refuse(f"value {name!r} must be 1xCxHxW, 1xCxL or 1xC, not {known}")
        return cube


def _order(laid: Layout | Order, shape: Shape) -> Order:
    """Return how the file has a cube whose axes or order are known."""
    return laid if isinstance(laid, Order) else order_of(laid, shape)
