"""Builders of networks with one operator each, for tests on the model and on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from networks.random_networks import NetworkBuilder

SHAPE = (12, 6, 7)
VECTOR = np.linspace(0.5, 2, 12).reshape(12, 1, 1)


def one(kind: str, *constants: Any, first: bool = True, **attributes: Any) -> Callable[[NetworkBuilder], str]:
    """Return what adds an operator of a convolution's result and constants, which come second or first."""

    def build(net: NetworkBuilder) -> str:
        value = net.conv(net.input, 12, 3, pad=1)
        given = [
            net.constant(each, np.int64 if np.asarray(each).dtype.kind == "i" else np.float32) for each in constants
        ]
        (name,) = net.add(kind, [value, *given] if first else [*given, value], **attributes)
        net.shapes[name] = net.shapes[value]
        return name

    return build


def shaped(shape: tuple[int, ...], build: Callable[[NetworkBuilder], str]) -> Callable[[NetworkBuilder], str]:
    def other(net: NetworkBuilder) -> str:
        name = build(net)
        net.shapes[name] = shape
        return name

    return other


def two(kind: str) -> Callable[[NetworkBuilder], str]:
    def build(net: NetworkBuilder) -> str:
        first, second = (net.conv(net.input, 12, 3, pad=1) for _ in range(2))
        (name,) = net.add(kind, [first, second])
        net.shapes[name] = net.shapes[first]
        return name

    return build


def gate(kind: str, order: int) -> Callable[[NetworkBuilder], str]:
    """Return what adds squeeze-and-excite: a cube, and one number for each channel that is made of it."""

    def build(net: NetworkBuilder) -> str:
        value = net.conv(net.input, 12, 3, pad=1)
        (mean,) = net.add("GlobalAveragePool", [value])
        net.shapes[mean] = (12, 1, 1)
        factor = net.conv(mean, 12, 1)
        (name,) = net.add(kind, [value, factor][::order])
        net.shapes[name] = net.shapes[value]
        return name

    return build


def around_a_sine(net: NetworkBuilder) -> str:
    """Return a convolution beside one of its sine, which only the host computes."""
    first = net.conv(net.input, 8, 3, pad=1)
    (sine,) = net.add("Sin", [first])
    net.shapes[sine] = net.shapes[first]
    second = net.conv(sine, 8, 3, pad=1)
    (both,) = net.add("Add", [second, first])
    net.shapes[both] = net.shapes[first]
    return both


def line(net: NetworkBuilder) -> str:
    """Return what adds operators of lines, 1xCxL, between a Squeeze and an Unsqueeze."""
    value = net.conv(net.input, 12, 6, pad=0)
    (flat,) = net.add("Squeeze", [value, net.constant([2], np.int64)])
    weights = net.constant(net.rng.standard_normal((12, 12, 2)) / 5)
    (name,) = net.add("Conv", [flat, weights], pads=[1, 0], strides=[1])
    (pooled,) = net.add("MaxPool", [name], kernel_shape=[2])
    (scaled,) = net.add("Mul", [pooled, net.constant(VECTOR.reshape(12, 1))])
    (both,) = net.add("Concat", [scaled, scaled], axis=-2)
    (wide,) = net.add("Unsqueeze", [both, net.constant([-2], np.int64)])
    net.shapes[wide] = (24, 1, 1)
    return wide


def sliced(net: NetworkBuilder) -> str:
    """Return what adds a part of a part of a cube, and a convolution of it."""
    value = net.conv(net.input, 12, 3, pad=1)
    for start, end, axis in ((1, 6, 3), (2, 6, 2), (1, 5, 3), (1, 3, 2)):
        (value,) = net.add("Slice", [value, *(net.constant([at], np.int64) for at in (start, end, axis))])
    net.shapes[value] = (12, 2, 4)
    return net.conv(value, 12, 3, pad=1)


def transposed(shape: tuple[int, ...], **attributes: Any) -> Callable[[NetworkBuilder], str]:
    """Return what adds a ConvTranspose with weights (C, K of a group, R, S)."""
    rng = np.random.default_rng(6)
    kernels = shape[1] * attributes.get("group", 1)
    return one("ConvTranspose", rng.standard_normal(shape) / 6, rng.standard_normal(kernels) / 3, **attributes)


def one_pixel(net: NetworkBuilder) -> str:
    """Return what adds the mean of a cube, as large as the cube again."""
    (mean,) = net.add("GlobalAveragePool", [net.conv(net.input, 12, 3, pad=1)])
    (name,) = net.add("Resize", [mean, "", "", net.constant([1, 12, 6, 7], np.int64)], mode="linear")
    return name


def activated(net: NetworkBuilder) -> str:
    """Return what adds a ConvTranspose whose result is cut off, a BatchNormalization, slopes and bounds."""
    value = transposed((12, 9, 3, 3), strides=[2, 2], pads=[1, 1, 0, 0])(net)
    numbers = [net.constant(np.linspace(low, high, 9)) for low, high in ((0.5, 2), (-1, 1), (-0.2, 0.3), (0.5, 1.5))]
    (value,) = net.add("BatchNormalization", [value, *numbers])
    (value,) = net.add("PRelu", [value, net.constant(np.linspace(-1, 1, 9).reshape(9, 1, 1))])
    (value,) = net.add("Resize", [value, "", net.constant([1.0, 1, 2, 1])], mode="nearest")
    (value,) = net.add("Clip", [value, net.constant(-2.5), net.constant(4.0)])
    net.shapes[value] = (9, 24, 14)
    return value


def blocked(net: NetworkBuilder) -> str:
    """Return what adds a SpaceToDepth of a part of a cube."""
    value = net.conv(net.input, 12, 3, pad=1)
    (part,) = net.add("Slice", [value, *(net.constant([at], np.int64) for at in (0, 6, 3))])
    (name,) = net.add("SpaceToDepth", [part], blocksize=2)
    return name


OPERATORS: dict[str, Callable[[NetworkBuilder], str]] = {
    "clip": one("Clip", -0.4, 0.9),
    "clip above": one("Clip", 0.2, 1.5),
    "maximum": one("Max", -0.25),
    "minimum": one("Min", 0.25),
    "leaky": one("LeakyRelu", alpha=-0.7),
    "slopes": one("PRelu", -VECTOR),
    "absolute": one("Abs"),
    "negative": one("Neg"),
    "sub": one("Sub", VECTOR),
    "sub from": one("Sub", VECTOR, first=False),
    "div": one("Div", VECTOR * 3),
    "hard sigmoid": one("HardSigmoid", alpha=0.2, beta=0.4),
    "hard swish": one("HardSwish"),
    "pad": shaped((12, 9, 10), one("Pad", np.array([0, 0, 1, 2, 0, 0, 2, 1]))),
    "slice": shaped((7, 5, 3), one("Slice", np.array([3, -5, 2]), np.array([10, 99, -2]), np.array([1, 2, 3]))),
    "slice of a slice": shaped((12, 2, 4), sliced),
    "slice with steps": shaped(
        (4, 2, 3), one("Slice", np.array([-1, 1, 0]), np.array([-99, 6, 5]), np.array([1, 2, 3]), np.array([-3, 3, 2]))
    ),
    "resize": shaped((12, 12, 21), one("Resize", np.zeros(0), np.array([1.0, 1, 2, 3]), mode="nearest")),
    "resize of one pixel": shaped((12, 6, 7), one_pixel),
    "resize to fewer": shaped((12, 3, 7), one("Resize", np.zeros(0), np.array([1.0, 1, 0.5, 1]), mode="nearest")),
    "transposed": shaped(
        (9, 12, 14), transposed((12, 9, 3, 3), strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])
    ),
    "transposed, cut off": shaped((9, 10, 22), transposed((12, 9, 2, 4), strides=[2, 3], pads=[1, 0, 1, 0])),
    "transposed lines": shaped((8, 7, 7), transposed((12, 8, 2, 1))),
    "transposed far": shaped((6, 14, 17), transposed((12, 3, 2, 3), strides=[2, 2], dilations=[3, 2], group=2)),
    "transposed, and more": activated,
    "space to depth": shaped((48, 3, 3), blocked),
    "depth to space": shaped((3, 12, 14), one("DepthToSpace", blocksize=2)),
    "depth to space by columns": shaped((3, 12, 14), one("DepthToSpace", blocksize=2, mode="CRD")),
    "mean": shaped((12, 1, 1), one("ReduceMean", axes=[2, 3])),
    "mean as vector": shaped((12,), one("ReduceMean", axes=[-1, -2], keepdims=0)),
    "product": two("Mul"),
    "difference": two("Sub"),
    "sum by channel": gate("Add", 1),
    "product by channel": gate("Mul", 1),
    "line": line,
    "product of a channel": gate("Mul", -1),
}
