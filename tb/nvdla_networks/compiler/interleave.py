"""Cubes whose elements become blocks of elements, as SDP moves them: a line or a column of all blocks at a time.

In memory lines may lie apart, columns may not. So where columns move apart, each becomes a line of one column.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from nvdla_models.layout.raw import round_up
from nvdla_networks.compiler.cubes import Cube
from nvdla_networks.compiler.graph import MAX_SIDE, Affine, Conv, Floats, Graph, Interleave, Node, Operation, PRelu
from nvdla_networks.errors import NodeRefused


def one_by_one(graph: Graph, lanes: int) -> Graph:
    """Return a graph that moves lines apart first, then columns, and whose parts begin with new atoms.

    Args:
        graph: The graph. What parts are taken of is the result of a convolution for them alone.
        lanes: Channels of an atom; kernels of zeros fill them up.

    Raises:
        NodeRefused: for parts of more channels together than a cube has.
    """
    nodes: list[Node] = []
    shapes = dict(graph.shapes)
    for node in graph.nodes:
        if not isinstance(moved := node.operation, Interleave):
            nodes.append(node)
            continue
        (value,), (lines, columns), step = node.inputs, moved.factors, moved.step
        if step:
            step = round_up(moved.channels, lanes)
            count, made = lines * columns * step, value
            if count > MAX_SIDE:
                raise NodeRefused(node.name, f"blocks must have at most {MAX_SIDE} channels, not {count}")
            for at in reversed(range(len(nodes))):
                # Back to the convolution, by way of what follows it element by element.
                if nodes[at].output == made:
                    nodes[at] = replace(nodes[at], operation=_filled(nodes[at].operation, lines * columns, step))
                    shapes[made] = (count, *shapes[made][1:])
                    made = "" if isinstance(nodes[at].operation, Conv) else nodes[at].inputs[0]
        if min(lines, columns) > 1:
            channels, between = columns * step or moved.channels, f"{node.output}#lines"
            nodes.append(Node(node.name, Interleave((lines, 1), channels, channels if step else 0), (value,), between))
            shapes[between] = (channels, shapes[value][1] * lines, shapes[value][2])
            value, lines = between, 1
        operation = Interleave((lines, columns), moved.channels, step)
        nodes.append(replace(node, operation=operation, inputs=(value,)))
    return replace(graph, nodes=tuple(nodes), shapes=shapes)


def _filled(operation: Operation, parts: int, step: int) -> Operation:
    """Return an operation each of whose parts has as many channels, those of zeros last."""

    def filled(values: Floats) -> Floats:
        by_part = values.reshape(parts, -1, *values.shape[1:])
        more = [(0, 0), (0, step - by_part.shape[1]), *[(0, 0)] * (values.ndim - 1)]
        return np.pad(by_part, more).reshape(-1, *values.shape[1:])

    match operation:
        case Conv() as conv:
            return replace(conv, weights=filled(conv.weights), bias=filled(conv.bias), weight_scales=None)
        case Affine(scale=scale, shift=shift):
            return Affine(filled(scale), filled(shift))
        case PRelu(slope=slope):
            return PRelu(filled(slope))
        case _:
            return operation


def moves(interleave: Interleave, src: Cube, dst: Cube) -> Iterator[tuple[Cube, Cube]]:
    """Yield what each layer reads and writes of the input and the output; one of the factors is 1."""
    lanes, atom = src.target.lanes, src.target.config.memory_atomic_bytes
    for read, written in _moves(interleave, src, dst):
        channels, *sides = read.shape
        if sides != [1, 1]:
            yield read, written
            continue
        # SDP takes no strides for one pixel, so it is moved atom by atom.
        for first in range(0, channels, lanes):
            parts = (cube.channels(first, min(lanes, channels - first)) for cube in (read, written))
            one, other = (replace(part, line_stride_bytes=atom, surface_stride_bytes=atom) for part in parts)
            yield one, other


def _moves(interleave: Interleave, src: Cube, dst: Cube) -> Iterator[tuple[Cube, Cube]]:
    (lines, columns), (_, height, width) = interleave.factors, src.shape
    atom = src.target.config.memory_atomic_bytes
    for part in range(lines * columns):
        read = src.channels(interleave.step * part, interleave.channels) if interleave.step else src
        if columns == 1:
            written = dst.lines(part, height)
            yield read, replace(written, line_stride_bytes=lines * dst.line_stride_bytes)
            continue
        most = MAX_SIDE // width if src.line_stride_bytes == width * atom else 1
        for first in range(0, height, most):
            count = min(most, height - first)
            written = dst.lines(first, count).columns(part, width)
            yield _as_lines(read.lines(first, count), atom), _as_lines(written, columns * atom)


def _as_lines(cube: Cube, stride_bytes: int) -> Cube:
    """Return columns as lines of one column, so far apart."""
    channels, height, width = cube.shape
    return replace(cube, shape=(channels, height * width, 1), line_stride_bytes=stride_bytes)
