"""What was read of a file: a graph for the accelerator, and nodes for the host."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from nvdla_networks.compiler.graph import Clip, Graph
from nvdla_networks.errors import NetworkError


@dataclass(frozen=True)
class HostNode:
    """A node that the accelerator does not compute, and why."""

    name: str
    operator: str
    reason: str


@dataclass(frozen=True, eq=False)
class Reading:
    """What was read of a file.

    Attributes:
        graph: All that the accelerator computes. Its inputs are those of the file that are cubes, and cubes that
            the host makes between; its outputs are all outputs of the file that it computes, by the values' own names.
        aliases: Other names of cubes.
        from_host: Cubes that the host makes.
        host: Nodes of the host, in the file's order.
        refusals: Why not all of the file runs on the accelerator, in its order; none where all does.
    """

    graph: Graph
    aliases: Mapping[str, str]
    from_host: frozenset[str]
    host: tuple[HostNode, ...]
    refusals: tuple[NetworkError, ...]

    def cube(self, value: str) -> str:
        """Return the own name of a value."""
        return self.aliases.get(value, value)


def ranged_at_once(graph: Graph, name: str) -> Graph:
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
