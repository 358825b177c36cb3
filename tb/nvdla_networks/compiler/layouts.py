"""How files arrange cubes: which axes of a value are channels, lines and columns, as in files of channels last.

A Transpose moves nothing. It says in which order the file has the elements of a cube, until something must know.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import onnx

from nvdla_networks.compiler.elementwise import ELEMENTWISE
from nvdla_networks.compiler.graph import Shape, cube_of
from nvdla_networks.compiler.node import Layout
from nvdla_networks.host import ARRANGING
from nvdla_networks.tensors import Order

ANYHOW = (*ELEMENTWISE, "QuantizeLinear", "DequantizeLinear")
"""Operators of each element: of one cube, they do not ask for its order."""

BY_LAYOUT = (*ANYHOW, "Concat", "Split", "Slice", "Pad", "ReduceMean", "Softmax", "MatMul")
"""Operators that take their axes from the file, and work with cubes of any layout."""

_FIXED = (
    "Conv",
    "ConvTranspose",
    "MaxPool",
    "AveragePool",
    "GlobalAveragePool",
    "BatchNormalization",
    "LRN",
    "Resize",
    "Upsample",
    "DepthToSpace",
    "SpaceToDepth",
)
"""Operators whose first input has its channels first."""


def layouts(order: Order, sizes: Sequence[int], shape: Shape) -> Iterator[Layout]:
    """Yield how the axes of a value can be those of a cube of a shape; axes of one element can be several."""
    cube = _axes_of(shape, len(sizes))
    if cube is None or sizes[0] != 1:
        return
    # Channels first, then channels last, are what files have.
    plain, last = tuple(range(len(cube))), (*range(1, len(cube)), 0)
    for axes in dict.fromkeys((plain, last, *itertools.permutations(plain))):
        if [cube[axis] for axis in axes] == [*sizes[1:]] and Order.of(cube, axes) == order:
            yield (0, *(axis + 1 for axis in axes))


def order_of(layout: Layout, shape: Shape) -> Order:
    """Return how a value of a layout has the elements of a cube."""
    cube = _axes_of(shape, len(layout))
    assert cube is not None
    return Order.of(cube, [axis - 1 for axis in layout[1:]])


def _axes_of(shape: Shape, rank: int) -> tuple[int, ...] | None:
    """Return the sizes of a cube as those of 1xCxHxW, of a line 1xCxL or of a vector 1xC."""
    channels, height, width = shape
    found: dict[int, tuple[int, ...] | None] = {
        4: shape,
        3: (channels, width) if height == 1 else None,
        2: (channels,) if height == width == 1 else None,
    }
    return found.get(rank)


def given_as(
    graph: onnx.GraphProto, name: str, known: Mapping[str, tuple[int, ...]]
) -> tuple[Shape | None, Order | None]:
    """Return the cube that a value from outside is for the first operator that knows, and how the file has it.

    Args:
        graph: The graph.
        name: The value, an input or one that the host makes.
        known: Sizes of values.

    Returns:
        The shape, None for what is no cube, and the order, None for that of the cube.
    """
    whole = cube_of(known[name])
    if whole is None:
        return None, None
    # Sizes are those before any padding, so that they are of the same elements as the order.
    todo: list[tuple[str, Order, Sequence[int]]] = [(name, Order.of(whole, range(3)), known[name])]
    for value, order, sizes in todo:
        for node in graph.node:
            if value not in node.input:
                continue
            if node.op_type in _FIXED and node.input[0] == value:
                return _first(order, sizes, whole)
            dense = node.op_type == "MatMul" and len(sizes) > len("NC")
            perm = tuple(range(len(sizes)))
            if node.op_type == "Transpose":
                perm = axes_of(node, len(sizes))
            elif dense:
                # Its columns are what a convolution has as channels.
                perm = 0, len(sizes) - 1, *range(1, len(sizes) - 1)
            turned, following = order.transposed(sizes, perm), [sizes[axis] for axis in perm]
            if turned is None:
                continue
            if dense:
                return _first(turned, following, whole)
            if node.op_type in ARRANGING and node.op_type != "Transpose":
                following = _resized(sizes, known.get(value, ()), known.get(node.output[0], ()))
            elif node.op_type in ANYHOW:
                # A constant may make it larger.
                following = following if known.get(node.output[0]) == known.get(value) else []
            elif node.op_type not in ("Transpose", "Pad"):
                continue
            is_whole = bool(following) and math.prod(following) == math.prod(sizes)
            if is_whole and all(node.output[0] != seen for seen, _, _ in todo):
                todo.append((node.output[0], turned, following))
    return whole, None


def _resized(sizes: Sequence[int], before: Sequence[int], after: Sequence[int]) -> list[int]:
    """Return the sizes after a Reshape, of what had other sizes before it was padded."""
    longer_than_one = [[size for size in shape if size > 1] for shape in (before, after)]
    if len(before) != len(sizes) or longer_than_one[0] != longer_than_one[1]:
        return [*after]
    longer = iter([size for size, padded in zip(sizes, before, strict=True) if padded > 1])
    return [next(longer) if size > 1 else 1 for size in after]


def axes_of(node: onnx.NodeProto, rank: int) -> tuple[int, ...]:
    """Return what a Transpose makes of axes."""
    perm = [int(axis) for attribute in node.attribute if attribute.name == "perm" for axis in attribute.ints]
    return tuple(perm or reversed(range(rank)))


def _first(order: Order, sizes: Sequence[int], whole: Shape) -> tuple[Shape, Order | None]:
    """Return the cube that an operator takes first, and how a value has it whose elements come in an order there."""
    shape = cube_of(sizes)
    return (whole, None) if shape is None else (shape, None if order.is_plain else order.inverse)
