"""Where the channels of values lie: cubes that are joined lie in each other, cubes that are cut are windows on others.

Atoms are written as a whole, so a joined cube begins each of its parts with a new atom. Between the parts there may be
channels that mean nothing; kernels are 0 there. What cannot bear them gets a copy that has none.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace

import numpy as np

from nvdla_networks.compiler.graph import (
    Add,
    Affine,
    Concat,
    Conv,
    Graph,
    Interleave,
    Lrn,
    Mul,
    Node,
    Pool,
    Slice,
    pointwise,
)
from nvdla_networks.network import Largest, Softmax


@dataclass(frozen=True)
class Channels:
    """Channels as they lie in memory.

    Attributes:
        count: All of them, those that mean nothing included.
        places: Where each channel of the value is among them.
    """

    count: int
    places: tuple[int, ...]

    @property
    def dense(self) -> bool:
        """Whether each channel means something, and they are in order."""
        return self.places == tuple(range(self.count))


def of_count(count: int) -> Channels:
    """Return channels without gaps."""
    return Channels(count, tuple(range(count)))


@dataclass(frozen=True)
class Home:
    """The cube that a value is part of, and the surface, line and column of it that it begins with."""

    value: str
    surface: int
    line: int = 0
    column: int = 0


@dataclass(frozen=True, eq=False)
class Arranged:
    """A graph in which every value has a place.

    Attributes:
        graph: The graph, with copies where values cannot be shared.
        channels: Channels of every value.
        homes: Values that lie in others: parts of joined cubes, and cuts.
    """

    graph: Graph
    channels: dict[str, Channels]
    homes: dict[str, Home]


def arranged(graph: Graph, lanes: int, *, scaled: bool) -> Arranged:
    """Return a graph with a place for every value.

    Args:
        graph: The graph.
        lanes: Channels of an atom.
        scaled: Whether values have scales. Then the parts of a joined cube have their own, and what needs one for all
            channels gets a copy.
    """
    return _Arranger(graph, lanes, scaled).run()


class _Arranger:
    def __init__(self, graph: Graph, lanes: int, scaled: bool) -> None:
        self._graph, self._lanes, self._scaled = graph, lanes, scaled
        self._makers = {value: (value,) * graph.shapes[value][0] for value in graph.inputs}
        self._shapes, self._ranges, self._orders = dict(graph.shapes), dict(graph.ranges), dict(graph.orders)
        self._channels = {value: of_count(graph.shapes[value][0]) for value in graph.inputs}
        self._homes: dict[str, Home] = {}
        self._nodes: list[Node] = []
        self._cannot_move = set(graph.inputs)

    def run(self) -> Arranged:
        outputs = tuple(self._graph.outputs)
        for node in self._graph.nodes:
            self._add(node)
        outputs = tuple(self._dense(value) for value in outputs)
        graph = replace(self._graph, nodes=tuple(self._nodes), outputs=outputs)
        graph = replace(graph, shapes=self._shapes, ranges=self._ranges, orders=self._orders)
        return Arranged(graph, self._channels, self._homes)

    def _add(self, node: Node) -> None:
        match node.operation:
            case Conv(weights=weights):
                channels = of_count(len(weights))
            case Concat():
                node, channels = self._joined(node)
            case Slice() as part:
                channels = self._cut(node, part)
            case Softmax() | Largest() | Lrn():
                # What lies between parts of a joined cube would be part of the sums of LRN.
                taken = self._dense(node.inputs[0])
                node = replace(node, inputs=(self._of_one_scale(taken) if isinstance(node.operation, Lrn) else taken,))
                channels = of_count(self._shapes[node.output][0])
            case Interleave(step=step, channels=count) if step:
                channels = of_count(count)
            case Add() | Mul() if self._channels[node.inputs[0]] != self._channels[node.inputs[1]]:
                node = replace(node, inputs=tuple(self._of_one_scale(self._dense(value)) for value in node.inputs))
                channels = self._channels[node.inputs[0]]
            case Add() | Mul():
                node = replace(node, inputs=tuple(self._of_one_scale(value) for value in node.inputs))
                channels = self._channels[node.inputs[0]]
            case _:
                channels = self._channels[node.inputs[0]]
        self._channels[node.output] = channels
        self._makers[node.output] = self._makers_of(node)
        self._nodes.append(node)

    def _makers_of(self, node: Node) -> tuple[str, ...]:
        """Return the value whose scale each channel of a result has."""
        made = [self._makers[value] for value in node.inputs]
        match node.operation:
            case Pool():
                return made[0]
            case Interleave(channels=channels):
                return made[0][:channels]
            case Slice() as part:
                return made[0][part.channels]
            case Concat():
                return tuple(itertools.chain(*made))
            case _:
                return (node.output,) * self._shapes[node.output][0]

    def _of_one_scale(self, value: str) -> str:
        """Return a value whose channels have one scale: the value itself, or a copy."""
        if not self._scaled or len(set(self._makers[value])) == 1:
            return value
        count = self._shapes[value][0]
        return self._inserted(value, Affine(np.ones(count), np.zeros(count)), self._channels[value])

    def _joined(self, node: Node) -> tuple[Node, Channels]:
        inputs: list[str] = []
        places: list[int] = []
        surface = count = 0
        for value in node.inputs:
            part = value
            if part in self._homes or part in self._cannot_move or part in inputs:
                whole = self._shapes[value][0]
                part = self._inserted(value, Affine(np.ones(whole), np.zeros(whole)), self._channels[value])
            channels = self._channels[part]
            self._homes[part] = Home(node.output, surface)
            inputs.append(part)
            first = surface * self._lanes
            places += [first + place for place in channels.places]
            count = first + channels.count
            surface += -(-channels.count // self._lanes)
        return replace(node, inputs=tuple(inputs)), Channels(count, tuple(places))

    def _cut(self, node: Node, part: Slice) -> Channels:
        """Note which surfaces, lines and columns of its input a cut is a window on."""
        whole = self._channels[node.inputs[0]]
        places = whole.places[part.channels]
        surface = min(places) // self._lanes
        start = surface * self._lanes
        end = min((max(places) // self._lanes + 1) * self._lanes, whole.count)
        self._homes[node.output] = Home(node.inputs[0], surface, *part.start[1:])
        return Channels(end - start, tuple(place - start for place in places))

    def _dense(self, value: str) -> str:
        """Return a value without gaps: the value itself, or a copy that a convolution makes."""
        if self._channels[value].dense:
            return value
        count = self._shapes[value][0]
        return self._inserted(value, pointwise(np.eye(count)), of_count(count))

    def _inserted(self, value: str, operation: Conv | Affine, channels: Channels) -> str:
        copy = next(name for n in itertools.count() if (name := f"{value}_copy{n}") not in self._shapes)
        self._shapes[copy] = self._shapes[value]
        if value in self._ranges:
            self._ranges[copy] = self._ranges[value]
        if value in self._orders:
            self._orders[copy] = self._orders[value]
        self._channels[copy] = channels
        self._makers[copy] = (copy,) * self._shapes[value][0]
        self._nodes.append(Node(copy, operation, (value,), copy))
        return copy
