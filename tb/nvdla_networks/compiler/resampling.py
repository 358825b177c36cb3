"""ONNX operators that take some of the elements of a cube, or put them elsewhere: Slice."""

from __future__ import annotations

import numpy as np

from nvdla_models.pdp import MAX_STRIDE
from nvdla_networks.compiler.graph import Operation, Pool, Slice, Window, pointwise
from nvdla_networks.compiler.node import Chain, Found, OnnxNode, Result


def slice_of(node: OnnxNode) -> list[Found]:
    """Return part of a cube: a window on it in memory, of which PDP takes each so many lines and columns."""
    dims = node.dims(0)
    if node.opset < 10:
        starts, ends, axes = (node.integer_list(name) for name in ("starts", "ends", "axes"))
        steps = [1] * len(starts)
    else:
        starts, ends = node.sizes(1), node.sizes(2)
        axes = node.sizes(3) if node.has(3) else []
        steps = node.sizes(4) if node.has(4) else [1] * len(starts)
    axes = axes or list(range(len(starts)))
    taken = [range(size) for size in dims]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        taken[axis] = range(*slice(start, end, step).indices(dims[axis]))
    _, channels, *sides = taken
    lines, columns = [range(1), range(1), *sides][-2:]
    if not taken[0] or not channels or min(len(lines), len(columns)) < 1:
        raise node.refuse("output must not be empty")
    return [Chain(_picked(node, channels, lines, columns))]


def _picked(node: OnnxNode, channels: range, lines: range, columns: range) -> tuple[Result, ...]:
    """Return what takes some channels, lines and columns of the first input of a node."""
    strides = lines.step, columns.step
    if not 1 <= min(strides) <= max(strides) <= MAX_STRIDE:
        raise node.refuse(f"steps along lines and columns must be 1 to {MAX_STRIDE}, not {list(strides)}")
    whole = node.shape(0)
    first, last = (channels[0], channels[-1]) if channels.step == 1 else (0, whole[0] - 1)
    part = Slice(
        (first, lines[0], columns[0]), (last + 1 - first, lines[-1] + 1 - lines[0], columns[-1] + 1 - columns[0])
    )
    operations: list[Operation | None] = [part] if part.shape != whole else []
    if strides != (1, 1):
        operations.append(Pool(Window((1, 1), strides), average=False))
    if channels.step != 1:
        operations.append(pointwise(np.eye(whole[0])[list(channels)]))
    values = [node.value(0), *(f"#{at}" for at in range(len(operations)))]
    return tuple(Result(operation, (value,)) for operation, value in zip(operations or [None], values, strict=False))
