"""ONNX operators that take some of the elements of a cube, or make several of one: Slice, Resize, ConvTranspose, ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nvdla_models.limits import VALUE_ELEMENTS
from nvdla_models.pdp import MAX_STRIDE
from nvdla_networks.compiler.graph import (
    MAX_SIDE,
    Concat,
    Conv,
    Floats,
    Interleave,
    Operation,
    Pool,
    Shape,
    Slice,
    Window,
    floats,
    pointwise,
)
from nvdla_networks.compiler.node import Chain, Found, OnnxNode, Result

Sides = tuple[int, int]


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
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise node.refuse("starts, ends, axes and steps must be as many, and no step 0")
    taken = [range(size) for size in dims]
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        at = node.axis(axis, len(dims))
        taken[at] = range(*slice(start, end, step).indices(dims[at]))
    if not all(taken):
        raise node.refuse("output must not be empty")
    return [Chain(_picked(node, taken[1], *_sides(taken[2:])))]


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


_Coordinates = Callable[[Floats, float, int, int], Floats]

_COORDINATES: Mapping[str, _Coordinates] = {
    "asymmetric": lambda out, scale, size, count: out / scale,
    "half_pixel": lambda out, scale, size, count: (out + 0.5) / scale - 0.5,
    "pytorch_half_pixel": lambda out, scale, size, count: (out + 0.5) / scale - 0.5 if count > 1 else 0 * out,
    "align_corners": lambda out, scale, size, count: out * (size - 1) / max(count - 1, 1),
}
"""Where an element of the result lies in the input: of its number, the scale, and the elements of both."""

_NEAREST: Mapping[str, Callable[[Floats], Floats]] = {
    "round_prefer_floor": lambda at: np.ceil(at - 0.5),
    "round_prefer_ceil": lambda at: np.floor(at + 0.5),
    "floor": np.floor,
    "ceil": np.ceil,
}


def resize(node: OnnxNode) -> list[Found]:
    """Return a cube with each element several times, or each so many only."""
    mode, dims = node.text("mode", "nearest"), node.dims(0)
    # Between elements of one there is nothing else.
    if mode != "nearest" and max(dims[2:], default=1) > 1:
        raise node.refuse(f"mode must be nearest, not {mode}")
    axes = [axis % len(dims) for axis in node.integer_list("axes")] or list(range(len(dims)))
    is_old, has_sizes = node.opset < 11, node.has(3) and bool(node.sizes(3))
    if has_sizes:
        given = np.array(node.sizes(3), dtype=np.float64)
        if node.text("keep_aspect_ratio_policy", "stretch") != "stretch":
            raise node.refuse("keep_aspect_ratio_policy must be stretch")
    elif "scales" in node.attributes:
        given = floats(node.attributes["scales"].floats)
    else:
        given = node.constant(1 if is_old else 2).ravel()
    if len(given) != len(axes) or not (np.isfinite(given).all() and (given > 0).all()):
        raise node.refuse(f"scales or sizes must be {len(axes)} positive numbers, not {given.tolist()}")
    scales = np.ones(len(dims))
    scales[axes] = given / np.array(dims)[axes] if has_sizes else given
    # A scale out of sizes gives them back but for rounding.
    sizes = [int(size) for size in (np.rint if has_sizes else np.floor)(np.array(dims) * scales)]
    if sizes[:2] != list(dims[:2]) or not 1 <= min(sizes) <= max(sizes[2:], default=1) <= MAX_SIDE:
        raise node.refuse(f"images and channels must stay, and sides be 1 to {MAX_SIDE}: {list(dims)} to {sizes}")
    kind = node.text("coordinate_transformation_mode", "asymmetric" if is_old else "half_pixel")
    nearest = node.text("nearest_mode", "floor" if is_old else "round_prefer_floor")
    if kind not in _COORDINATES or nearest not in _NEAREST:
        raise node.refuse(f"elements must lie as {', '.join(_COORDINATES)} say, not {kind} with {nearest}")
    taken = []
    for size, count, scale in zip(dims[2:], sizes[2:], scales[2:], strict=True):
        at = _NEAREST[nearest](_COORDINATES[kind](np.arange(count, dtype=np.float64), scale, size, count))
        taken.append(np.clip(at, 0, size - 1).astype(np.int64))
    factors = tuple(len(at) // size for at, size in zip(taken, dims[2:], strict=True))
    if all(map(np.array_equal, taken, map(np.repeat, map(np.arange, dims[2:]), factors))):
        lines, columns = (1, 1, *factors)[-2:]
        if max(factors, default=1) > MAX_STRIDE:
            raise node.refuse(f"each element must come at most {MAX_STRIDE} times in a line, not {max(factors)}")
        return node.made(Interleave((lines, columns), dims[1], 0) if lines * columns > 1 else None)
    picks = [range(int(at[0]), int(at[-1]) + 1, max(int(at[1] - at[0]), 1) if len(at) > 1 else 1) for at in taken]
    if all(map(np.array_equal, taken, picks)):
        return [Chain(_picked(node, range(dims[1]), *_sides(picks)))]
    raise node.refuse(f"each line and column must come as often, or one of so many: {list(dims[2:])} to {sizes[2:]}")


def _sides(ranges: Sequence[range]) -> tuple[range, range]:
    """Return lines and columns of a cube, a line or a vector."""
    lines, columns = [range(1), range(1), *ranges][-2:]
    return lines, columns


def space_to_depth(node: OnnxNode) -> list[Found]:
    """Return the elements of each block as channels of one pixel: PDP takes each so many lines and columns."""
    size, (channels, height, width) = node.integer("blocksize", 0), node.shape(0)
    if size < 1 or height % size or width % size:
        raise node.refuse(f"blocksize must divide {height} lines and {width} columns, not {size}")
    if (mode := node.text("mode", "DCR")) != "DCR":
        raise node.refuse(f"mode must be DCR, not {mode}")
    if size == 1:
        return node.made(None)
    results: list[Result] = []
    parts = []
    for line in range(size):
        for column in range(size):
            for result in _picked(node, range(channels), range(line, height, size), range(column, width, size)):
                values = [f"#{len(results) - 1}" if value.startswith("#") else value for value in result.inputs]
                results.append(Result(result.operation, tuple(values)))
            parts.append(f"#{len(results) - 1}")
    return [Chain((*results, Result(Concat(), tuple(parts))))]


def depth_to_space(node: OnnxNode) -> list[Found]:
    """Return channels of a pixel as a block of elements, after a convolution that puts them into the order of parts."""
    size, channels, mode = node.integer("blocksize", 0), node.shape(0)[0], node.text("mode", "DCR")
    if size < 1 or channels % size**2 or mode not in ("DCR", "CRD"):
        raise node.refuse(f"blocksize must have a square that divides {channels} channels, not {size}, by DCR or CRD")
    count = channels // size**2
    numbers = np.arange(channels)
    by_part = (
        numbers.reshape(size, size, count) if mode == "DCR" else numbers.reshape(count, size, size).transpose(1, 2, 0)
    )
    return _blocks(node, pointwise(np.eye(channels)[by_part.ravel()]), (size, size), count)


def _blocks(
    node: OnnxNode, conv: Conv, factors: tuple[int, int], channels: int, size: Sides | None = None
) -> list[Found]:
    """Return blocks of what a convolution makes, cut off at a height and width."""
    results = [Result(conv, (node.value(0),))]
    if factors != (1, 1):
        results.append(Result(Interleave(factors, channels, channels), ("#0",)))
    if size is not None:
        results.append(Result(Slice((0, 0, 0), (channels, *size)), (f"#{len(results) - 1}",)))
    return [Chain(tuple(results))]


def conv_transpose(node: OnnxNode) -> list[Found]:
    """Return a convolution that makes all elements of a block at once, and the blocks of them."""
    weights = node.constant(1)
    if weights.ndim == node.rank(0) == len("NCL"):
        weights = weights[:, :, np.newaxis]
    shape, groups = node.shape(0), node.integer("group", 1)
    if weights.ndim != len("CKRS") or len(weights) != shape[0] or groups < 1 or shape[0] % groups:
        raise node.refuse(f"weights must be (C, K, R, S) of {shape[0]} channels in whole groups, not {weights.shape}")
    kernels, kernel = weights.shape[1] * groups, (weights.shape[2], weights.shape[3])
    bias = node.constant(2).ravel() if node.has(2) else np.zeros(kernels)
    node.demand("kernel_shape", kernel)
    stride, dilation = node.integers("strides", (1, 1)), node.integers("dilations", (1, 1))
    if min(*stride, *dilation) < 1:
        raise node.refuse("strides and dilations must be at least 1")
    if bias.size != kernels:
        raise node.refuse(f"bias must be {kernels} numbers, not {bias.size}")
    before, out = _transposed_sides(node, shape, kernel, stride, dilation)
    lines, columns = (
        _Taps.of(shape[1 + axis], out[axis], stride[axis], kernel[axis], dilation[axis], before[axis])
        for axis in (0, 1)
    )
    elements = stride[0] * stride[1] * kernels * shape[0] * lines.count * columns.count
    if elements > VALUE_ELEMENTS:
        raise node.refuse(f"the convolution of its blocks must have at most {VALUE_ELEMENTS} weights, not {elements}")
    wide = np.zeros((kernels, *shape[:1], *kernel))
    of_group = shape[0] // groups
    for channel in range(shape[0]):
        first = channel // of_group * weights.shape[1]
        wide[first : first + weights.shape[1], channel] = weights[channel]
    parts = np.zeros((stride[0], stride[1], *wide.shape[:2], lines.count, columns.count))
    for line, y, r in lines.taps:
        for column, x, s in columns.taps:
            parts[line, column, :, :, y, x] = wide[:, :, r, s]
    window = Window(
        (lines.count, columns.count), before=(lines.before, columns.before), after=(lines.after, columns.after)
    )
    flat = parts.reshape(-1, *parts.shape[3:])
    conv = Conv(flat, np.tile(bias, stride[0] * stride[1]), window)
    is_whole = (lines.blocks * stride[0], columns.blocks * stride[1]) == out
    return _blocks(node, conv, (stride[0], stride[1]), kernels, None if is_whole else out)


def _transposed_sides(
    node: OnnxNode, shape: Shape, kernel: Sides, stride: Sequence[int], dilation: Sequence[int]
) -> tuple[Sides, Sides]:
    """Return what is cut off before lines and columns of the result, and its height and width."""
    pads, more = node.integers("pads", (0, 0, 0, 0)), node.integers("output_padding", (0, 0))
    mode = node.text("auto_pad", "NOTSET")
    wanted = node.integer_list("output_shape")[-(node.rank(0) - 2) :]
    before, out = [], []
    for axis in (0, 1):
        full = (shape[1 + axis] - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1 + more[axis]
        if not wanted and not mode.startswith("SAME"):
            cut = (0, 0) if mode == "VALID" else (pads[axis], pads[2 + axis])
        else:
            size = [1, *wanted][-2:][axis] if wanted else shape[1 + axis] * stride[axis]
            small = (full - size) // 2
            cut = (small, full - size - small) if mode == "SAME_UPPER" else (full - size - small, small)
        before.append(cut[0])
        out.append(full - sum(cut))
    if min(out) < 1:
        raise node.refuse("output must not be empty")
    return (before[0], before[1]), (out[0], out[1])


@dataclass(frozen=True)
class _Taps:
    """A transposed convolution along one axis as a convolution that makes blocks of elements.

    Attributes:
        taps: Element of a block, place in the kernel that makes it, and place in the transposed one.
        blocks: How many there are.
        count: Elements of the kernel.
        before: Padding before the input.
        after: Padding after it.
    """

    taps: tuple[tuple[int, int, int], ...]
    blocks: int
    count: int
    before: int
    after: int

    @classmethod
    def of(cls, size: int, out: int, stride: int, kernel: int, dilation: int, cut: int) -> _Taps:
        """Return those of an axis, where element i of the input meets element ``i * stride + r * dilation - cut``."""
        blocks = -(-out // stride)
        found = [
            (part, (part + cut - r * dilation) // stride, r)
            for part in range(stride)
            for r in range(kernel)
            if (part + cut - r * dilation) % stride == 0
        ]
        # Padding is at least 0, and smaller than the kernel.
        ends = [0, size - blocks, *(at for _, at, _ in found)]
        least, most = min(ends), max(ends)
        taps = tuple((part, at - least, r) for part, at, r in found)
        return cls(taps, blocks, most - least + 1, -least, most - (size - blocks))
