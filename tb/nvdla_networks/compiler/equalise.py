"""Channels of about one size: small ones beside large ones would have few of the integers that all share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from nvdla_networks.compiler.graph import (
    Add,
    Affine,
    Clip,
    Conv,
    Floats,
    Graph,
    Mul,
    Node,
    Operation,
    Pool,
    PRelu,
    taken_channels,
)
from nvdla_networks.compiler.simplify import is_private

_LEAST = 1 / 64
"""Channels that reach less far, as a part of the largest, count as if they reached so far."""


_LEAST_COUNT = 256
"""With fewer elements of a channel it is not known how far the channel reaches."""

_POWERS = (0.0, 0.25, 0.5)


class _Alike:
    """Values whose channels must be scaled alike, and those among them whose channels must stay."""

    def __init__(self, values: Iterable[str]) -> None:
        self._of = {value: value for value in values}
        self._fixed: set[str] = set()

    def root(self, value: str) -> str:
        while self._of[value] != value:
            value = self._of[value]
        return value

    def tie(self, *values: str) -> None:
        first, *others = map(self.root, values)
        for other in others:
            self._of[other] = first
            if other in self._fixed:
                self._fixed.add(first)

    def fix(self, *values: str) -> None:
        self._fixed |= {self.root(value) for value in values}

    def is_fixed(self, value: str) -> bool:
        return self.root(value) in self._fixed

    def free(self) -> dict[str, list[str]]:
        """Return the values that can be scaled, by what stands for those that are alike."""
        found: dict[str, list[str]] = {}
        for value in self._of:
            if not self.is_fixed(value):
                found.setdefault(self.root(value), []).append(value)
        return found


@dataclass(frozen=True, eq=False)
class Channels:
    """What samples show of the channels of a value: largest magnitudes, mean squares, (C,), and elements of each."""

    most: Floats
    squares: Floats
    count: int


def equalised(graph: Graph, seen: Mapping[str, Channels]) -> Graph:
    """Return a graph with the same results whose values have channels of about one size.

    Convolutions and affine operations divide the channels that they make, and those that take these multiply their
    weights. A channel is divided by a power of its part of the largest, at most by the square root: so it has room for
    more than samples show. Of these powers the one is taken with which those that take the channels lose least to
    rounding, of elements and of weights, which share a scale, too.

    Args:
        graph: The graph.
        seen: Channels of every value.
    """
    factors: dict[str, Floats] = {}
    for values in _alike(graph).free().values():
        stored = [value for value in values if not _is_passing(graph, value) and seen[value].most.any()]
        if stored and min(seen[value].count for value in stored) >= _LEAST_COUNT:
            part = np.max([seen[value].most / seen[value].most.max() for value in stored], axis=0)
            tried = [np.maximum(part, _LEAST) ** power for power in _POWERS]
            taken = min(tried, key=lambda factor: sum(_lost(graph, value, seen[value], factor) for value in stored))
            factors |= dict.fromkeys(values, taken)
    return replace(graph, nodes=tuple(_scaled(node, factors) for node in graph.nodes))


def _lost(graph: Graph, value: str, seen: Channels, factor: Floats) -> float:
    """Return the square of what rounding costs those that take a value, as a part of their results, summed up."""
    steps = (seen.most / factor).max() * factor
    total = 0.0
    for node in graph.nodes:
        if node.inputs[0] != value or isinstance(node.operation, Pool):
            continue
        if isinstance(conv := node.operation, Conv):
            channels = taken_channels(conv)
            squares, most = (conv.weights**2).sum(axis=(2, 3)), np.abs(conv.weights).max(axis=(2, 3))
            of_elements = (squares * steps[channels] ** 2).sum()
            of_weights = (most * steps[channels]).max(axis=1) ** 2 * (seen.squares / steps**2)[channels].sum(axis=1)
            lost = of_elements + of_weights.sum() * conv.weights[0, 0].size
            length = (squares * seen.squares[channels]).sum()
        else:
            lost, length = (steps**2).sum(), seen.squares.sum()
        total += lost / length if length else 0.0
    return total


def _alike(graph: Graph) -> _Alike:
    alike = _Alike(graph.shapes)
    alike.fix(*graph.inputs, *graph.outputs, *graph.ranges)
    products = []
    for node in graph.nodes:
        match node.operation:
            case Conv(weight_scales=None) | Affine():
                pass
            case Clip() as clip if clip == Clip():
                alike.tie(node.output, *node.inputs)
            case PRelu() | Pool() | Add():
                alike.tie(node.output, *node.inputs)
            case Mul():
                products.append(node)
            case _:
                alike.fix(node.output, *node.inputs)
    while products:
        # A product is scaled as one factor where the other stays as it is.
        node = next((node for node in products if any(map(alike.is_fixed, node.inputs))), products[0])
        products.remove(node)
        first, other = node.inputs[::-1] if alike.is_fixed(node.inputs[0]) else node.inputs
        if not alike.is_fixed(other):
            alike.fix(other)
        alike.tie(node.output, first)
    return alike


def _is_passing(graph: Graph, value: str) -> bool:
    """Return whether a value is never in memory, as what bounds it comes in the same step."""
    users = [node for node in graph.nodes if value in node.inputs]
    return is_private(graph, value) and isinstance(users[0].operation, Clip | PRelu)


def _scaled(node: Node, factors: Mapping[str, Floats]) -> Node:
    """Return an operation that takes and makes values whose channels are divided by factors."""
    taken, made = factors.get(node.inputs[0]), factors.get(node.output)
    if taken is None and made is None:
        return node
    operation: Operation = node.operation
    match operation:
        case Conv(weights=weights, bias=bias):
            if taken is not None:
                weights = weights * taken[taken_channels(operation)][:, :, np.newaxis, np.newaxis]
            if made is not None:
                weights, bias = weights / made[:, np.newaxis, np.newaxis, np.newaxis], bias / made
            operation = replace(operation, weights=weights, bias=bias)
        case Affine(scale=scale, shift=shift):
            scale = scale * (1 if taken is None else taken)
            operation = Affine(scale, shift) if made is None else Affine(scale / made, shift / made)
    return replace(node, operation=operation)
