"""ONNX operators that only say how elements are arranged: Flatten, Reshape, Squeeze, Unsqueeze and Transpose."""

from __future__ import annotations

import numpy as np

from nvdla_networks.compiler.graph import Conv, Shape, pointwise
from nvdla_networks.compiler.node import Constant, Found, OnnxNode, View
from nvdla_networks.tensors import Order


def same_elements(node: OnnxNode) -> list[Found]:
    """Return the input with other sizes, in the order in which it was."""
    return [node.view(0)]


def reshape(node: OnnxNode) -> list[Found]:
    """Return a value with other sizes."""
    if not node.is_constant(0):
        return same_elements(node)
    values, sizes = node.quantised(0).values, node.sizes(1)
    try:
        return [Constant(values.reshape(sizes))]
    except ValueError as error:
        raise node.refuse(f"shape must hold {values.size} elements, not {sizes}") from error


def transpose(node: OnnxNode) -> list[Found]:
    """Return the input with its elements in another order."""
    view, sizes = node.view(0), node.dims(0)
    perm = tuple(node.integer_list("perm")) or tuple(reversed(range(len(sizes))))
    order = view.order.transposed(sizes, perm) if sorted(perm) == list(range(len(sizes))) else None
    if order is None:
        raise node.refuse(f"perm must exchange axes of {list(sizes)} that are parts of a cube's, not {list(perm)}")
    return [View(view.value, order)]


def shuffled(order: Order, shape: Shape) -> Conv | None:
    """Return the convolution that exchanges channels so that a cube has an order, None where pixels move."""
    channels, height, width = shape
    places = order.values(np.arange(channels * height * width)).reshape(channels, height * width)
    moved = places[:, 0] // (height * width)
    is_whole = (places == moved[:, np.newaxis] * height * width + np.arange(height * width)).all()
    return pointwise(np.eye(channels)[moved]) if is_whole else None
