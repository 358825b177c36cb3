"""Makes a graph smaller before it is quantised: constants into weights, large averages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nvdla_models.pdp import MAX_KERNEL
from nvdla_networks.compiler.graph import (
    Affine,
    Clip,
    Conv,
    Graph,
    Interleave,
    Node,
    Operation,
    Pool,
    PRelu,
    Slice,
    Table,
    taken_channels,
)

_Rewrite = Callable[[Graph, Node], Node | None]


def simplified(graph: Graph) -> Graph:
    """Return a graph that computes the same outputs with fewer operations.

    - What computes each element goes before what moves elements, and so behind the convolution of a ConvTranspose.
    - An affine operation goes into the convolution or the affine operation before it, or into the convolution after it.
    - Bounds of bounds are one.
    - An average over more than PDP's window becomes a convolution of each channel.
    - What no output needs goes.
    """
    graph = _before_moves(graph)
    for rewrite in (_as_convolution, _into_producer, _into_convolution_after, _bounded_once):
        graph = rewritten(graph, rewrite)
    return needed(graph)


def rewritten(graph: Graph, rewrite: _Rewrite) -> Graph:
    """Return a graph in which a rewriting has nothing left to do; its node replaces the one that it is made of."""
    at = 0
    while at < len(graph.nodes):
        node = graph.nodes[at]
        found = rewrite(graph, node)
        if found is None:
            at += 1
            continue
        gone = set(node.inputs) - set(found.inputs)
        nodes = [found if other is node else other for other in graph.nodes]
        used = {value for other in nodes for value in other.inputs} | set(graph.outputs)
        nodes = [other for other in nodes if other.output in used or other.output not in gone]
        graph = replace(graph, nodes=tuple(nodes))
        at = max(at - 1, 0)
    return graph


def producer(graph: Graph, value: str) -> Node | None:
    """Return the node that makes a value, None for an input."""
    return next((node for node in graph.nodes if node.output == value), None)


def is_private(graph: Graph, value: str) -> bool:
    """Return whether a value has one user and is no output, so that it need not exist."""
    return value not in graph.outputs and sum(value in node.inputs for node in graph.nodes) == 1


def _before_moves(graph: Graph) -> Graph:
    """Return a graph that bounds, scales and shifts elements before it moves them to their lines and columns."""
    at = 0
    while at < len(graph.nodes):
        node = graph.nodes[at]
        moved = producer(graph, node.inputs[0])
        swapped = None if moved is None else _swapped(graph, moved, node)
        if moved is None or swapped is None:
            at += 1
            continue
        middle, (first, last) = moved.output, swapped
        shapes = {**graph.shapes, middle: graph.shapes[moved.inputs[0]]}
        ranges = dict(graph.ranges)
        if node.output in ranges:
            ranges[middle] = ranges[node.output]
        nodes = [*graph.nodes]
        before = nodes.index(moved)
        nodes[before], nodes[at] = first, last
        graph = replace(graph, nodes=tuple(nodes), shapes=shapes, ranges=ranges)
        at = before
    return graph


def _swapped(graph: Graph, moved: Node, node: Node) -> tuple[Node, Node] | None:
    """Return two nodes in the other order; the value between them keeps its name."""
    value, source = moved.output, producer(graph, moved.inputs[0])
    if not all(is_private(graph, each) for each in (value, *moved.inputs)) or value in graph.ranges:
        return None
    match moved.operation:
        case Interleave(step=step, factors=(lines, columns)):
            parts = lines * columns if step else 1
        case Slice() if source is not None and isinstance(source.operation, Interleave):
            # It cuts off lines and columns of blocks.
            parts = 1
        case _:
            return None
    match node.operation:
        case Affine(scale=scale, shift=shift):
            operation: Operation = Affine(np.tile(scale, parts), np.tile(shift, parts))
        case PRelu(slope=slope):
            operation = PRelu(np.tile(slope, parts))
        case Clip() | Table() as same:
            operation = same
        case _:
            return None
    return replace(node, operation=operation, inputs=moved.inputs, output=value), replace(
        moved, inputs=(value,), output=node.output
    )


def _as_convolution(graph: Graph, node: Node) -> Node | None:
    """Return an average over a large window as a convolution of each channel."""
    pool = node.operation
    if not isinstance(pool, Pool) or not pool.average or max(pool.window.kernel) <= MAX_KERNEL:
        return None
    channels = graph.shapes[node.inputs[0]][0]
    height, width = pool.window.kernel
    weights = np.full((channels, 1, height, width), 1 / (height * width))
    return replace(node, operation=Conv(weights, np.zeros(channels), pool.window, channels))


def _into_producer(graph: Graph, node: Node) -> Node | None:
    """Return an affine operation as part of the one before it."""
    affine = node.operation
    before = producer(graph, node.inputs[0])
    if not isinstance(affine, Affine) or before is None or not is_private(graph, node.inputs[0]):
        return None
    match before.operation:
        case Conv() as conv:
            scaled = replace(conv, bias=conv.bias * affine.scale + affine.shift)
            if not (affine.scale == 1).all():
                weights = conv.weights * affine.scale[:, np.newaxis, np.newaxis, np.newaxis]
                scaled = replace(scaled, weights=weights, weight_scales=None)
            return replace(node, name=before.name, operation=scaled, inputs=before.inputs)
        case Affine() as first:
            both = Affine(first.scale * affine.scale, first.shift * affine.scale + affine.shift)
            return replace(node, operation=both, inputs=before.inputs)
        case _:
            return None


def _into_convolution_after(graph: Graph, node: Node) -> Node | None:
    """Return a convolution with the affine operation before it in its weights; padding allows no shift."""
    conv = node.operation
    before = producer(graph, node.inputs[0])
    if not isinstance(conv, Conv) or before is None or not isinstance(before.operation, Affine):
        return None
    affine = before.operation
    padded = max(conv.window.before + conv.window.after) > 0
    if not is_private(graph, node.inputs[0]) or (padded and affine.shift.any()):
        return None
    taken = taken_channels(conv)
    bias = conv.bias + (conv.weights.sum(axis=(2, 3)) * affine.shift[taken]).sum(axis=1)
    weights = conv.weights * affine.scale[taken][:, :, np.newaxis, np.newaxis]
    folded = replace(conv, weights=weights, bias=bias, weight_scales=None)
    return replace(node, operation=folded, inputs=before.inputs)


def _bounded_once(graph: Graph, node: Node) -> Node | None:
    """Return bounds together with those before them."""
    clip, before = node.operation, producer(graph, node.inputs[0])
    if not isinstance(clip, Clip) or before is None or not isinstance(before.operation, Clip):
        return None
    first = before.operation
    if not is_private(graph, node.inputs[0]) or max(first.least, clip.least) > min(first.most, clip.most):
        return None
    both = Clip(max(first.least, clip.least), min(first.most, clip.most))
    return replace(node, name=before.name, operation=both, inputs=before.inputs)


def needed(graph: Graph) -> Graph:
    """Return a graph without nodes that no output needs."""
    wanted = set(graph.outputs)
    kept: list[Node] = []
    for node in reversed(graph.nodes):
        if node.output in wanted:
            wanted |= set(node.inputs)
            kept.insert(0, node)
    return replace(graph, nodes=tuple(kept))
