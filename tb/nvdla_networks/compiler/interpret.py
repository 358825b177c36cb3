"""A graph in floating point: for the ranges of its values, and beside the result of the hardware."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from nvdla_networks.compiler import graph as ops
from nvdla_networks.compiler.graph import Floats, Window, floats
from nvdla_networks.network import Largest, Softmax

_COLUMN_ELEMENTS = 1 << 23
"""Elements of windows that are unfolded at a time."""


def values_of(graph: ops.Graph, inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Return every value of a graph, (C, H, W) each."""
    values = {name: np.clip(value, *graph.ranges.get(name, (-np.inf, np.inf))) for name, value in inputs.items()}
    for node in graph.nodes:
        values[node.output] = computed(node.operation, [values[name] for name in node.inputs])
    return values


def computed(operation: ops.Operation, inputs: list[Floats]) -> Floats:
    """Return the result of one operation on its inputs."""
    first = inputs[0]
    match operation:
        case ops.Conv():
            return _conv(operation, first)
        case ops.Affine(scale=scale, shift=shift):
            return first * _column(scale) + _column(shift)
        case ops.Clip(least=least, most=most):
            return np.clip(first, least, most)
        case ops.PRelu(slope=slope):
            return np.where(first < 0, first * _column(slope), first)
        case ops.Table(function=function):
            return function(first)
        case ops.Add():
            return first + inputs[1]
        case ops.Mul():
            return first * inputs[1]
        case ops.Pool():
            return _pool(operation, first)
        case ops.Lrn():
            return _lrn(operation, first)
        case ops.Concat():
            return np.concatenate(inputs)
        case ops.Slice(start=start, shape=shape):
            return first[tuple(slice(at, at + size) for at, size in zip(start, shape, strict=True))]
        case ops.Interleave():
            return _interleaved(operation, first)
        case Softmax():
            powers = np.exp(first - first.max())
            return floats(powers / powers.sum())
        case Largest():
            return floats(np.argmax(first)).reshape(1, 1, 1)


def _column(values: Floats) -> Floats:
    return values[:, np.newaxis, np.newaxis]


def _windows(window: Window, cube: Floats, padding: float) -> Floats:
    """Return the windows of a cube, (C, H_out, W_out, R, S)."""
    around = ((0, 0), *((window.before[axis], window.after[axis]) for axis in (0, 1)))
    padded = np.pad(cube, around, constant_values=padding)
    spans = window.span(0), window.span(1)
    every = sliding_window_view(padded, spans, axis=(1, 2))
    return every[:, :: window.stride[0], :: window.stride[1], :: window.dilation[0], :: window.dilation[1]]


def _conv(conv: ops.Conv, cube: Floats) -> Floats:
    channels, kernels = conv.weights.shape[1], len(conv.weights) // conv.groups
    parts = []
    for group in range(conv.groups):
        weights = conv.weights[group * kernels : (group + 1) * kernels]
        windows = _windows(conv.window, cube[group * channels : (group + 1) * channels], 0)
        lines = max(1, _COLUMN_ELEMENTS // (weights[0].size * windows.shape[2]))
        runs = [windows[:, first : first + lines] for first in range(0, windows.shape[1], lines)]
        parts.append(np.concatenate([np.tensordot(weights, run, axes=((1, 2, 3), (0, 3, 4))) for run in runs], axis=1))
    return np.concatenate(parts) + _column(conv.bias)


def _interleaved(operation: ops.Interleave, cube: Floats) -> Floats:
    (lines, columns), (_, height, width) = operation.factors, cube.shape
    parts = [cube[operation.step * part :][: operation.channels] for part in range(lines * columns)]
    blocks = np.stack(parts).reshape(lines, columns, operation.channels, height, width)
    return blocks.transpose(2, 3, 0, 4, 1).reshape(operation.channels, height * lines, width * columns)


def _lrn(lrn: ops.Lrn, cube: Floats) -> Floats:
    half = lrn.size // 2
    squares = np.pad(cube * cube, ((half, lrn.size - 1 - half), (0, 0), (0, 0)))
    sums = np.zeros_like(cube)
    for distance in range(lrn.size):
        sums += squares[distance : distance + len(cube)]
    return np.asarray(cube * (lrn.bias + lrn.alpha / lrn.size * sums) ** -lrn.beta)


def _pool(pool: ops.Pool, cube: Floats) -> Floats:
    if not pool.average:
        # Element by element of the kernel: reducing small windows takes far longer.
        windows = _windows(pool.window, cube, -np.inf)
        return floats(reduce(np.maximum, (windows[..., r, s] for r, s in np.ndindex(*windows.shape[3:]))))
    inside = _windows(pool.window, np.ones_like(cube[:1]), 1 if pool.counts_padding else 0)
    return floats(_windows(pool.window, cube, 0).sum(axis=(3, 4)) / inside.sum(axis=(3, 4)))
