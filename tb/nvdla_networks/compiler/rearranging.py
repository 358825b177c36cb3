"""ONNX operators that only say how elements are arranged: Flatten, Reshape, Squeeze, Unsqueeze and Transpose."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from nvdla_networks.compiler.graph import Flatten, Shape, cube_of, pointwise
from nvdla_networks.compiler.node import Constant, Found, OnnxNode, Result, View


def flatten(node: OnnxNode) -> list[Found]:
    """Return the input of Flatten as a vector."""
    node.demand("axis", 1)
    return _as_vector(node)


def _as_vector(node: OnnxNode) -> list[Found]:
    if node.shape(0)[1:] == (1, 1):
        return node.made(None)
    return node.made(Flatten())


def reshape(node: OnnxNode) -> list[Found]:
    """Return a vector, the same cube, or a cube whose channels have several axes; or such a cube as it was."""
    if node.is_constant(0):
        values = node.quantised(0).values
        sizes = node.sizes(1)
        try:
            return [Constant(values.reshape(sizes))]
        except ValueError as error:
            raise node.refuse(f"shape must hold {values.size} elements, not {sizes}") from error
    view, wanted = node.view(0), node.sizes(1)
    if view is not None:
        return _cube_of(node, view, wanted)
    kept = [node.dims(0)[at] if size == 0 and at < node.rank(0) else size for at, size in enumerate(wanted)]
    sizes = _completed(kept, math.prod(node.shape(0)))
    if len(sizes) > len("NCHW"):
        return [_several_axes(node, node.shape(0), sizes)]
    return _renamed(node, sizes)


def _renamed(node: OnnxNode, sizes: Sequence[int]) -> list[Found]:
    """Return a cube with other sizes, which must leave it as it is or make a vector of it."""
    shape = node.shape(0)
    total = math.prod(shape)
    cube = cube_of(sizes)
    if cube == shape:
        return node.made(None)
    if cube == (total, 1, 1):
        return _as_vector(node)
    raise node.refuse(f"shape must be that of a vector, 1x{total}, or that of the input, not {list(sizes)}")


def squeeze(node: OnnxNode) -> list[Found]:
    """Return a cube with fewer axes."""
    dims = node.dims(0)
    axes = _axes(node, len(dims)) or [at for at, size in enumerate(dims) if size == 1]
    return _renamed(node, [size for at, size in enumerate(dims) if at not in axes])


def unsqueeze(node: OnnxNode) -> list[Found]:
    """Return a cube with more axes."""
    dims = iter(node.dims(0))
    given = node.sizes(1) if node.has(1) else node.integer_list("axes")
    rank = node.rank(0) + len(given)
    axes = {axis % rank for axis in given}
    return _renamed(node, [1 if at in axes else next(dims) for at in range(rank)])


def _axes(node: OnnxNode, rank: int) -> list[int]:
    given = node.sizes(1) if node.has(1) else node.integer_list("axes")
    return [axis % rank for axis in given]


def _several_axes(node: OnnxNode, shape: Shape, wanted: list[int]) -> View:
    """Return a cube whose channels become several axes, beside one image and lines and columns that stay."""
    sizes = _completed(wanted, math.prod(shape))
    axes = tuple(sizes[1:-2])
    if [sizes[0], *sizes[-2:]] != [1, *shape[1:]] or math.prod(axes) != shape[0] or min(axes) < 1:
        allowed = f"1 image, axes of {shape[0]} channels, {shape[1]} lines and {shape[2]} columns"
        raise node.refuse(f"shape must have {allowed}, not {wanted}")
    return View(node.value(0), axes, tuple(range(len(axes))))


def _completed(sizes: list[int], total: int) -> list[int]:
    """Return sizes in which -1 is what is left over."""
    known = math.prod(size for size in sizes if size != -1)
    return [total // known if size == -1 and known > 0 else size for size in sizes]


def _cube_of(node: OnnxNode, view: View, wanted: list[int]) -> list[Found]:
    """Return a view as a cube again: the cube itself, or a convolution that puts its channels in another order."""
    shape = node.shapes[view.value]
    sizes = _completed(wanted, math.prod(shape))
    if sizes != [1, *shape]:
        raise node.refuse(f"shape must be 1x{'x'.join(map(str, shape))}, as before, not {wanted}")
    order = view.channels
    if (order == np.arange(shape[0])).all():
        return [Result(None, (view.value,))]
    return [Result(pointwise(np.eye(shape[0])[order]), (view.value,))]


def transpose(node: OnnxNode) -> list[Found]:
    """Return the input itself, or with the axes of its channels in another order."""
    view = node.view(0)
    if view is not None:
        count = len(view.order)
        axes = tuple(int(axis) for axis in node.attributes["perm"].ints) if "perm" in node.attributes else ()
        inner = sorted(axes[1:-2]) == list(range(1, count + 1))
        if len(axes) != count + 3 or not inner or (axes[0], *axes[-2:]) != (0, count + 1, count + 2):
            raise node.refuse(f"perm must leave image, lines and columns where they are, not {list(axes)}")
        return [View(view.value, view.sizes, tuple(view.order[axis - 1] for axis in axes[1:-2]))]
    sizes = node.dims(0)
    axes = tuple(node.integer_list("perm")) or tuple(reversed(range(len(sizes))))
    moved, _kept = [axis for axis in axes if sizes[axis] > 1], tuple(sizes[axis] for axis in axes) == sizes
    if (
        sorted(axes) != list(range(len(sizes)))
        or moved != sorted(moved)
        or tuple(sizes[axis] for axis in axes) != sizes
    ):
        raise node.refuse(f"perm must leave elements where they are, or exchange axes of channels, not {list(axes)}")
    return node.made(None)
