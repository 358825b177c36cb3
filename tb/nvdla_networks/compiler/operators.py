"""ONNX operators; each becomes an operation of the graph, another name for its input, or a constant."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from nvdla_models.pdp import MAX_KERNEL
from nvdla_networks.compiler import graph
from nvdla_networks.compiler.elementwise import ELEMENTWISE
from nvdla_networks.compiler.graph import Floats, Shape, Window, floats
from nvdla_networks.compiler.node import REAL, Chain, Constant, Found, OnnxNode, Result
from nvdla_networks.compiler.quantised import dequantize, quantize
from nvdla_networks.compiler.rearranging import reshape, same_elements, transpose
from nvdla_networks.compiler.resampling import conv_transpose, depth_to_space, resize, slice_of, space_to_depth
from nvdla_networks.network import Largest, Softmax

_MAX_CHANNELS = 1 << 13
_MAX_SIDE = 32
"""Of a kernel of a convolution."""


def _window(node: OnnxNode, kernel: tuple[int, ...], shape: Shape, dilation: tuple[int, ...] = (1, 1)) -> Window:
    stride = node.integers("strides", (1, 1))
    pads = node.integers("pads", (0, 0, 0, 0))
    if min(*kernel, *stride, *dilation) < 1:
        raise node.refuse("kernel, strides and dilations must be at least 1")
    pairs = {"kernel": (kernel[0], kernel[1]), "stride": (stride[0], stride[1]), "dilation": (dilation[0], dilation[1])}
    before, after = (pads[0], pads[1]), (pads[2], pads[3])
    match node.text("auto_pad", "NOTSET"):
        case "NOTSET":
            pass
        case "VALID":
            before = after = (0, 0)
        case "SAME_UPPER" | "SAME_LOWER" as mode:
            # As many windows as strides fit.
            sizes, span = shape[1:], Window(**pairs).span
            lacking = [max((-(-sizes[n] // stride[n]) - 1) * stride[n] + span(n) - sizes[n], 0) for n in (0, 1)]
            small = (lacking[0] // 2, lacking[1] // 2)
            large = (lacking[0] - small[0], lacking[1] - small[1])
            before, after = (small, large) if mode == "SAME_UPPER" else (large, small)
        case mode:
            raise node.refuse(f"auto_pad must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, not {mode}")
    return Window(**pairs, before=before, after=after)


def _conv(node: OnnxNode) -> list[Found]:
    constant = node.quantised(1)
    weights = floats(constant.values)
    if weights.ndim == node.rank(0) == len("NCL"):
        weights = weights[:, :, np.newaxis]
    if weights.ndim != 4:
        raise node.refuse(f"weights must be (K, C, R, S), not {weights.shape}")
    shape, kernels = node.shape(0), weights.shape[0]
    groups = node.integer("group", 1)
    if groups < 1 or shape[0] != weights.shape[1] * groups or kernels % groups:
        raise node.refuse(f"group must divide {shape[0]} channels and {kernels} kernels, not {groups}")
    sides = (int(weights.shape[2]), int(weights.shape[3]))
    node.demand("kernel_shape", sides)
    bias = node.constant(2).ravel() if node.has(2) else np.zeros(kernels)
    window = _window(node, sides, shape, node.integers("dilations", (1, 1)))
    scales = _kernel_scales(constant, kernels, 0)
    return node.made(graph.Conv(weights, bias, window, groups, scales))


def _kernel_scales(constant: Constant, kernels: int, axis: int) -> Floats | None:
    """Return the file's scale of each kernel, or None where it has none, or others along another axis."""
    scales = constant.scales
    if scales is None or (scales.ndim and scales.shape[axis] != scales.size):
        return None
    return np.broadcast_to(scales.ravel(), (kernels,))


def _dense(node: OnnxNode, matrix: Floats, bias: Floats, scales: Floats | None) -> list[Found]:
    """Return a matrix (C, K) as a convolution, of one pixel after the other or with kernels as large as its input."""
    view, rank = node.view(0), node.rank(0)
    shape = node.shape(0)
    size = shape[0] if rank > 2 else math.prod(shape)
    if matrix.ndim != 2 or len(matrix) != size or (rank > 2 and node.axis(-1, rank) != 1):
        raise node.refuse(f"matrix must have {size} rows, as its input has elements in a line, not {matrix.shape}")
    if rank > 2 or (shape[1:] == (1, 1) and view.order.is_plain):
        return [Result(graph.pointwise(matrix.T, bias, scales), (view.value,))]
    weights = np.stack([view.order.cube(row, shape) for row in matrix.T])
    return [Result(graph.Conv(weights, bias, Window(shape[1:]), 1, scales), (view.value,))]


def _gemm(node: OnnxNode) -> list[Found]:
    node.demand("transA", 0)
    matrix = node.constant(1) * node.number("alpha", 1.0)
    if node.integer("transB", 0):
        matrix = matrix.T
    bias = np.zeros(1) if not node.has(2) else node.constant(2) * node.number("beta", 1.0)
    columns = matrix.shape[-1]
    if bias.size not in (1, columns):
        raise node.refuse(f"C must be one number, or one for each of {columns} columns, not {bias.shape}")
    axis = 0 if node.integer("transB", 0) else 1
    scales = _kernel_scales(node.quantised(1), columns, axis) if node.number("alpha", 1.0) == 1 else None
    return _dense(node, matrix, np.broadcast_to(bias.ravel(), (columns,)), scales)


def _matmul(node: OnnxNode) -> list[Found]:
    matrix = node.constant(1)
    if matrix.ndim != 2:
        raise node.refuse(f"matrix must have 2 axes, not {matrix.ndim}")
    return _dense(node, matrix, np.zeros(matrix.shape[1]), _kernel_scales(node.quantised(1), matrix.shape[1], 1))


def _batch_normalization(node: OnnxNode) -> list[Found]:
    for name, only in (("training_mode", 0), ("spatial", 1)):
        node.demand(name, only)
    scale, shift, mean, variance = (node.per_channel(number, 0, is_vector=True) for number in range(1, 5))
    spread = variance + node.number("epsilon", 1e-5)
    if (spread <= 0).any():
        raise node.refuse("variance and epsilon must be positive together")
    factor = scale / np.sqrt(spread)
    return node.made(graph.Affine(factor, shift - mean * factor))


def _pool(node: OnnxNode, *, average: bool) -> list[Found]:
    if node.outputs > 1:
        raise node.refuse("indices of the largest elements must not be an output")
    shape = node.shape(0)
    node.demand("dilations", (1, 1))
    window = _window(node, node.integers("kernel_shape", (1, 1)), shape)
    counts_padding = not average or node.integer("count_include_pad", 0) == 1
    if node.integer("ceil_mode", 0):
        ceiled = _ceiled(window, shape)
        if average and counts_padding and ceiled != window:
            raise node.refuse("count_include_pad must be 0 where ceil_mode adds a window: versions of ONNX differ")
        window = ceiled
    if not counts_padding:
        _check_inside(node, window, shape)
        counts_padding = window.before + window.after == (0, 0, 0, 0)
    return node.made(graph.Pool(window, average, counts_padding))


def _check_inside(node: OnnxNode, window: Window, shape: Shape) -> None:
    """Refuse windows without any element that counts, and those that PDP does not have."""
    for axis, name in ((0, "height"), (1, "width")):
        last = (window.output(axis, shape[1 + axis]) - 1) * window.stride[axis] - window.before[axis]
        if window.before[axis] >= window.span(axis) or last >= shape[1 + axis]:
            raise node.refuse(f"count_include_pad must be 1 where a window of this {name} lies in the padding")
        if window.kernel[axis] > MAX_KERNEL and (window.before[axis] or window.after[axis]):
            raise node.refuse(
                f"count_include_pad must be 1 for kernels over {MAX_KERNEL}, which become a convolution, with padding"
            )


def _ceiled(window: Window, shape: Shape) -> Window:
    """Return a window whose padding at the end lets one more fit where elements are left over."""
    after = []
    for axis in (0, 1):
        padded = shape[1 + axis] + window.before[axis] + window.after[axis]
        more = -(padded - window.span(axis)) % window.stride[axis]
        last = padded + more - window.span(axis)
        # A window that begins in the padding at the end does not count.
        after.append(window.after[axis] + (more if last < shape[1 + axis] + window.before[axis] else 0))
    return Window(window.kernel, window.stride, window.before, (after[0], after[1]))


def _mean_of_lines(node: OnnxNode) -> list[Found]:
    """Return the average of each channel; a large one is an average of averages."""
    sides = node.shape(0)[1:]
    inner = tuple(_largest_part(side) for side in sides)
    if inner == (1, 1):
        return node.made(graph.Pool(Window(sides), average=True))
    first = graph.Pool(Window((inner[0], inner[1]), (inner[0], inner[1])), average=True)
    rest = graph.Pool(Window((sides[0] // inner[0], sides[1] // inner[1])), average=True)
    return [Chain((Result(first, (node.value(0),)), Result(rest, ("#0",))))]


def _largest_part(side: int) -> int:
    """Return what divides a side so that the rest fits a kernel of a convolution, 1 where it fits or nothing does."""
    if side <= _MAX_SIDE:
        return 1
    return next((part for part in range(MAX_KERNEL, 1, -1) if side % part == 0 and side // part <= _MAX_SIDE), 1)


def _reduce_mean(node: OnnxNode) -> list[Found]:
    given = node.sizes(1) if node.has(1) else [int(axis) for axis in node.integer_list("axes")]
    rank = node.rank(0)
    if rank < len("NCL") or sorted(node.axis(axis, rank) for axis in given) != list(range(2, rank)):
        raise node.refuse(f"axes must be those of lines and columns, not {given}")
    return _mean_of_lines(node)


def _pad(node: OnnxNode) -> list[Found]:
    """Return padding as convolutions that change no element."""
    pads = node.sizes(1) if node.has(1) else [int(size) for size in node.integer_list("pads")]
    value = float(node.constant(2).ravel()[0]) if node.has(2) else node.number("value", 0.0)
    mode = node.text("mode", "constant")
    if len(pads) == 2 * node.rank(0):
        pads = [*node.by_axis(pads[: node.rank(0)]), *node.by_axis(pads[node.rank(0) :])]
    if len(pads) == 2 * node.rank(0) == 2 * len("NCL"):
        pads = [*pads[:2], 0, pads[2], *pads[3:5], 0, pads[5]]
    if mode != "constant" or value or len(pads) != 8 or any(pads[at] for at in (0, 1, 4, 5)) or min(pads) < 0:
        raise node.refuse(f"padding must be zeros around lines and columns, not {mode} {value:g} {pads}")
    channels = node.shape(0)[0]
    before, after = (pads[2], pads[3]), (pads[6], pads[7])
    moves = [_shifted(channels, sizes, end) for sizes, end in ((before, False), (after, True)) if any(sizes)]
    if not moves:
        return node.made(None)
    values = node.value(0), "#0"
    return [Chain(tuple(Result(move, (value,)) for move, value in zip(moves, values, strict=False)))]


def _shifted(channels: int, sizes: tuple[int, int], at_end: bool) -> graph.Conv:
    """Return the convolution that adds lines and columns before a cube, or at its end.

    Padding is smaller than a kernel, so each kernel has one more than is added, all 0 but one.
    """
    kernel = sizes[0] + 1, sizes[1] + 1
    weights = np.zeros((channels, 1, *kernel))
    weights[:, 0, sizes[0] if at_end else 0, sizes[1] if at_end else 0] = 1
    return graph.Conv(weights, np.zeros(channels), Window(kernel, before=sizes, after=sizes), channels)


def _lrn(node: OnnxNode) -> list[Found]:
    size = node.integer("size", 0)
    if size % 2 == 0 or not 1 <= size <= _MAX_CHANNELS:
        raise node.refuse(f"size must be an odd number of channels, not {size}")
    alpha, beta, bias = node.number("alpha", 1e-4), node.number("beta", 0.75), node.number("bias", 1.0)
    if alpha < 0 or beta < 0 or bias <= 0:
        raise node.refuse(f"alpha and beta must be at least 0 and bias positive, not {alpha:g}, {beta:g} and {bias:g}")
    return node.made(graph.Lrn(size, alpha, beta, bias))


def _concat(node: OnnxNode) -> list[Found]:
    if not node.is_along_channels(1):
        raise node.refuse(f"axis must be 1, that of the channels, not {node.integer('axis', 1)}")
    inputs = tuple(node.value(number) for number in range(len(node.inputs)))
    sides = {node.shape(number)[1:] for number in range(len(inputs))}
    if len(sides) != 1:
        raise node.refuse(f"inputs must have one height and width, not {sorted(sides)}")
    return [Result(graph.Concat(), inputs)]


def _split(node: OnnxNode) -> list[Found]:
    channels = node.shape(0)[0]
    if not node.is_along_channels(0):
        raise node.refuse(f"axis must be 1, that of the channels, not {node.integer('axis', 0)}")
    even = -(-channels // max(node.outputs, 1))
    sizes = [min(even, channels - first) for first in range(0, channels, even)]
    if node.has(1):
        sizes = node.sizes(1)
    elif node.attributes.get("split") is not None:
        sizes = [int(size) for size in node.attributes["split"].ints]
    if len(sizes) != node.outputs or min(sizes, default=0) < 1 or sum(sizes) != channels:
        raise node.refuse(f"split must be {node.outputs} sizes that add up to {channels}, not {sizes}")
    starts = [sum(sizes[:number]) for number in range(len(sizes))]
    _, height, width = node.shape(0)
    return [
        Result(graph.Slice((first, 0, 0), (size, height, width)), (node.value(0),))
        for first, size in zip(starts, sizes, strict=True)
    ]


def _same(node: OnnxNode) -> list[Found]:
    if node.is_constant(0):
        return [node.quantised(0)]
    return same_elements(node)


def _cast(node: OnnxNode) -> list[Found]:
    """Return real numbers as they are: the accelerator has types of its own."""
    kind = node.integer("to", 0)
    if kind not in REAL:
        raise node.refuse("to must be a type of real numbers")
    return _same(node)


def _on_host(node: OnnxNode, operation: graph.Operation) -> list[Found]:
    shape = node.shape(0)
    if shape[1:] != (1, 1):
        raise node.refuse(f"input must be a vector, not {shape}")
    # Softmax of opsets before 13 takes all axes from the one of the channels on.
    default = 0 if isinstance(operation, Largest) else 1 if node.opset < 13 else -1
    if not node.is_along_channels(default):
        raise node.refuse(f"axis must be 1, that of the channels, not {node.integer('axis', default)}")
    return node.made(operation)


OPERATORS: Mapping[str, Callable[[OnnxNode], list[Found]]] = {
    "Conv": _conv,
    "Gemm": _gemm,
    "MatMul": _matmul,
    "BatchNormalization": _batch_normalization,
    "MaxPool": partial(_pool, average=False),
    "AveragePool": partial(_pool, average=True),
    "GlobalAveragePool": _mean_of_lines,
    "ReduceMean": _reduce_mean,
    "Pad": _pad,
    "LRN": _lrn,
    **ELEMENTWISE,
    "Concat": _concat,
    "Split": _split,
    "Slice": slice_of,
    "Resize": resize,
    "Upsample": resize,
    "ConvTranspose": conv_transpose,
    "SpaceToDepth": space_to_depth,
    "DepthToSpace": depth_to_space,
    "Flatten": same_elements,
    "Reshape": reshape,
    "Squeeze": same_elements,
    "Unsqueeze": same_elements,
    "Transpose": transpose,
    "Cast": _cast,
    "Dropout": _same,
    "Identity": _same,
    "Softmax": partial(_on_host, operation=Softmax()),
    "ArgMax": partial(_on_host, operation=Largest()),
    "QuantizeLinear": quantize,
    "DequantizeLinear": dequantize,
}
