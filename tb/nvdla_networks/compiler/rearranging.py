"""ONNX operators that only say how elements are arranged: Flatten, Reshape, Transpose and those of constants."""

from __future__ import annotations

import math

import numpy as np

from nvdla_models.limits import VALUE_ELEMENTS
from nvdla_networks.compiler.graph import Flatten, Shape, pointwise
from nvdla_networks.compiler.node import Constant, Found, OnnxNode, Result, View, array_of


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
    channels, height, width = node.shape(0)
    sizes = [(1, channels, height, width)[at] if size == 0 and at < 4 else size for at, size in enumerate(wanted)]
    total = channels * height * width
    if sizes in ([1, channels, height, width], [-1, channels, height, width], [1, channels, -1, width]):
        return node.made(None)
    if sizes in ([1, -1], [-1, total], [1, total], [1, -1, 1, 1], [1, total, 1, 1]):
        return _as_vector(node)
    if len(sizes) > len(node.shape(0)) + 1:
        return [_several_axes(node, node.shape(0), sizes)]
    raise node.refuse(f"shape must be that of a vector, 1x{total}, or that of the input, not {wanted}")


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
    sizes = (1, *node.shape(0))
    axes = tuple(int(axis) for axis in node.attributes["perm"].ints) if "perm" in node.attributes else (3, 2, 1, 0)
    if sorted(axes) == [0, 1]:
        axes = (*axes, 2, 3)
    moved = [axis for axis in axes if sizes[axis] > 1]
    if sorted(axes) != [0, 1, 2, 3] or moved != sorted(moved) or tuple(sizes[axis] for axis in axes) != sizes:
        raise node.refuse(f"perm must leave elements where they are, or exchange axes of channels, not {list(axes)}")
    return node.made(None)


def constant_of_shape(node: OnnxNode) -> list[Found]:
    """Return an array of one number."""
    sizes = node.sizes(0)
    value = array_of(node.attributes["value"].t) if "value" in node.attributes else np.zeros(1, dtype=np.float32)
    elements = math.prod(sizes)
    if value.size != 1 or min(sizes, default=0) < 0 or elements > VALUE_ELEMENTS:
        raise node.refuse(f"shape must hold at most {VALUE_ELEMENTS} elements of one value, not {sizes}")
    return [Constant(np.full(sizes, value.ravel()[0]))]


def unsqueeze(node: OnnxNode) -> list[Found]:
    """Return a constant with more axes."""
    values, axes = node.quantised(0).values, []
    if node.has(1):
        axes = node.sizes(1)
    elif "axes" in node.attributes:
        axes = [int(axis) for axis in node.attributes["axes"].ints]
    try:
        return [Constant(np.expand_dims(values, tuple(axes)))]
    except ValueError as error:
        raise node.refuse(f"axes must be those of an array with {values.ndim + len(axes)}, not {axes}") from error
