"""A file cut into parts: graphs for the accelerator, and what the host computes before, between and after them.

Parts alternate. A part takes inputs of the file, cubes that the host has made, and cubes of earlier parts, which the
host moves. So parts depend on each other through the host alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

import onnx
from onnx import helper

from nvdla_models.precision import Precision
from nvdla_networks.compiler.graph import Graph, Node
from nvdla_networks.compiler.precisions import Precisions
from nvdla_networks.compiler.prepare import inputs_of, taken_by
from nvdla_networks.compiler.reader import read_model
from nvdla_networks.compiler.reading import Reading, ranged_at_once
from nvdla_networks.compiler.share import Share, share_of
from nvdla_networks.network import Largest, Softmax

_GIVEN = -1
"""Level of what needs no part of the accelerator; parts have even levels, what the host makes after them odd ones."""


@dataclass(frozen=True, eq=False)
class Segment:
    """What the host does at one point.

    Attributes:
        model: The nodes that it computes, None where it only moves cubes.
        sources: Values in the model that parts of the accelerator have made.
        given: Values in the model that are inputs of the file.
        made: Values that it makes.
        moved: Cubes of earlier parts that a later one takes.
    """

    model: onnx.ModelProto | None
    sources: tuple[str, ...]
    given: tuple[str, ...]
    made: tuple[str, ...]
    moved: tuple[str, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to do."""
        return not self.made and not self.moved


@dataclass(frozen=True, eq=False)
class Cut:
    """A file in parts.

    Attributes:
        reading: What was read of it.
        parts: For the accelerator, in order.
        precisions: Of the elements of each part.
        before: What the host does before each of them.
        after: What it does in the end.
        outputs: Outputs of the file; those that ``after`` does not make are cubes of parts.
        share: The accelerator's share.
    """

    reading: Reading
    parts: tuple[Graph, ...]
    precisions: tuple[Precision, ...]
    before: tuple[Segment, ...]
    after: Segment
    outputs: tuple[str, ...]
    share: Share

    @property
    def compared(self) -> tuple[str, ...]:
        """What is compared with floating point: outputs, or what the host makes probabilities or a class of.

        Probabilities may look alike whatever the network computes.
        """
        own = {name: self.reading.cube(name) for name in self.outputs}
        tails = {n.output: n.inputs[0] for n in self.reading.graph.nodes if isinstance(n.operation, Softmax | Largest)}
        return tuple(name if name in self.after.made else tails.get(own[name], name) for name in self.outputs)


def cut_model(
    model: onnx.ModelProto, refused: Mapping[str, str] | None = None, precisions: Precisions | None = None
) -> Cut:
    """Return a prepared model in parts.

    Args:
        model: The model.
        refused: Nodes that are known to be the host's, with the reason.
        precisions: Of nodes; INT8 without them.

    Raises:
        NetworkError: for values and networks that are too large for anyone.
    """
    reading = read_model(model, refused)
    return _Cutter(model, reading, precisions or Precisions()).cut()


class _Cutter:
    def __init__(self, model: onnx.ModelProto, reading: Reading, precisions: Precisions) -> None:
        self._model, self._graph, self._reading = model, model.graph, reading
        self._precisions, self._kinds = precisions.of_nodes(reading.graph.nodes), precisions.all
        self._inputs = [value.name for value in inputs_of(model.graph)]
        # Probabilities and classes are made by the host, which makes them again where it goes on with them.
        tails = {n.output for n in reading.graph.nodes if isinstance(n.operation, Softmax | Largest)}
        self._made = {node.output for node in reading.graph.nodes} - tails
        self._makers = {name: node for node in model.graph.node for name in node.output if name}
        self._levels = self._found_levels()

    def cut(self) -> Cut:
        reading = self._reading
        levels = sorted({self._levels[node.output] for node in reading.graph.nodes})
        own = {reading.cube(value.name) for value in self._graph.output} & set(reading.graph.outputs)
        outputs = tuple(value.name for value in self._graph.output)
        own -= reading.graph.orders.keys()
        on_host = tuple(dict.fromkeys(name for name in outputs if reading.cube(name) not in own))
        nodes = {level: tuple(n for n in reading.graph.nodes if self._levels[n.output] == level) for level in levels}
        taken = {level: _taken(nodes[level]) for level in levels}
        before = [self._segment(level, taken[level]) for level in levels]
        after = self._extracted(on_host)
        handed = {reading.cube(name) for segment in (*before, after) for name in (*segment.sources, *segment.moved)}
        parts = tuple(self._part(nodes[level], taken[level], own | handed) for level in levels)
        device = {node.name for node in reading.graph.nodes}
        share = share_of(self._graph, device, reading.host)
        kinds = tuple(self._kinds[level // 2 % len(self._kinds)] for level in levels)
        return Cut(reading, parts, kinds, tuple(before), after, outputs, share)

    def _found_levels(self) -> dict[str, int]:
        """Return the level of each value: even ones are the accelerator's, its precisions in turn."""
        levels = dict.fromkeys(self._inputs, _GIVEN)
        nodes: dict[str, list[Node]] = {}
        for node in self._reading.graph.nodes:
            nodes.setdefault(node.name, []).append(node)
        for proto in self._graph.node:
            host = max((_after(levels.get(name, _GIVEN), 1, 2) for name in taken_by(proto)), default=_GIVEN)
            for name in filter(None, proto.output):
                cube = self._reading.cube(name)
                levels[name] = levels[cube] if cube in self._made and cube in levels else host
            mine = nodes.get(proto.name, ())
            taken = {name for node in mine for name in node.inputs} - {node.output for node in mine}
            if mine:
                turn = 2 * self._kinds.index(self._precisions[proto.name])
                level = max((_after(levels[name], turn, 2 * len(self._kinds)) for name in taken), default=turn)
                levels |= {node.output: level for node in mine}
        return levels

    def _part(self, nodes: tuple[Node, ...], taken: Iterable[str], wanted: Collection[str]) -> Graph:
        outputs = tuple(node.output for node in nodes if node.output in wanted)
        graph = replace(self._reading.graph, inputs=tuple(taken), nodes=nodes, outputs=outputs)
        for name in graph.inputs:
            graph = ranged_at_once(graph, name)
        known = {*graph.inputs, *(node.output for node in nodes)}
        shapes = {name: shape for name, shape in graph.shapes.items() if name in known}
        ranges = {name: interval for name, interval in graph.ranges.items() if name in known}
        return replace(graph, shapes=shapes, ranges=ranges)

    def _segment(self, level: int, taken: Iterable[str]) -> Segment:
        """Return what the host does for a part: cubes that it makes, and those of earlier parts."""
        made = tuple(name for name in taken if name in self._reading.from_host)
        moved = tuple(name for name in taken if name in self._made and self._levels[name] < level)
        return replace(self._extracted(made), moved=moved)

    def _extracted(self, wanted: tuple[str, ...]) -> Segment:
        """Return the nodes that make values out of cubes of parts and inputs of the file."""
        if not wanted:
            return Segment(None, (), (), ())
        needed, ends, inside = list(wanted), dict[str, None](), set[str]()
        while needed:
            name = needed.pop()
            if self._reading.cube(name) in self._made or name in self._inputs:
                ends[name] = None
            elif name in self._makers and self._makers[name].name not in inside:
                inside.add(self._makers[name].name)
                needed += sorted(taken_by(self._makers[name]))
        nodes = [node for node in self._graph.node if node.name in inside]
        used = {name for node in nodes for name in taken_by(node)}
        kinds = {v.name: v for v in (*self._graph.value_info, *self._graph.output, *self._graph.input)}
        graph = helper.make_graph(
            nodes,
            "host",
            [kinds[name] for name in ends if name in used],
            [kinds.get(name, onnx.ValueInfoProto(name=name)) for name in wanted if name not in ends],
            [tensor for tensor in self._graph.initializer if tensor.name in used],
        )
        model = helper.make_model(graph, opset_imports=self._model.opset_import, ir_version=self._model.ir_version)
        given = tuple(name for name in ends if name in self._inputs)
        sources = tuple(name for name in ends if name not in given)
        return Segment(model if nodes else None, sources, given, wanted)


def _after(level: int, turn: int, every: int) -> int:
    """Return the first level from one on that comes in turn."""
    return level + (turn - level) % every


def _taken(nodes: tuple[Node, ...]) -> tuple[str, ...]:
    """Return the values that nodes take from elsewhere."""
    made = {node.output for node in nodes}
    return tuple(dict.fromkeys(name for node in nodes for name in node.inputs if name not in made))
