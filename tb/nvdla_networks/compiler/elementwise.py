"""ONNX operators that compute each element by itself, or two cubes element by element."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from nvdla_models.activation import FUNCTIONS, Function
from nvdla_networks.compiler import graph
from nvdla_networks.compiler.graph import Floats
from nvdla_networks.compiler.node import Chain, Found, OnnxNode, Result

_HARD_SWISH = 1 / 6, 0.5
"""Slope and shift of the HardSigmoid in HardSwish."""


def _bounds(node: OnnxNode, least: float, most: float) -> list[Found]:
    if not least < most:
        raise node.refuse(f"bounds must be a smaller and a larger number, not {least:g} and {most:g}")
    return node.made(None if (least, most) == (-np.inf, np.inf) else graph.Clip(least, most))


def _clip(node: OnnxNode) -> list[Found]:
    bounds = []
    for number, name in ((1, "min"), (2, "max")):
        given = node.constant(number).ravel() if node.has(number) else np.zeros(0)
        default = float(given[0]) if given.size else (np.inf if name == "max" else -np.inf)
        bounds.append(float(node.attributes[name].f) if name in node.attributes else default)
    return _bounds(node, *bounds)


def _extreme(node: OnnxNode, *, largest: bool) -> list[Found]:
    """Return the larger or smaller of a cube and a number."""
    if len(node.inputs) != 2 or not node.is_constant(1) or node.constant(1).size != 1:
        raise node.refuse("inputs must be a cube and one number")
    bound = float(node.constant(1).ravel()[0])
    return _bounds(node, bound, np.inf) if largest else _bounds(node, -np.inf, bound)


def _hard_sigmoid(value: str, slope: float, shift: float, channels: int) -> tuple[Result, Result]:
    """Return ``clip(slope * x + shift, 0, 1)``, bounded first: integers then reach no further than they must."""
    bounded = graph.Clip(-shift / slope, (1 - shift) / slope)
    scaled = graph.Affine(np.full(channels, slope), np.full(channels, shift))
    return Result(bounded, (value,)), Result(scaled, ("#0",))


def _hard_sigmoid_of(node: OnnxNode) -> list[Found]:
    slope, shift = node.number("alpha", 0.2), node.number("beta", 0.5)
    if slope <= 0:
        raise node.refuse(f"alpha must be positive, not {slope:g}")
    return [Chain(_hard_sigmoid(node.value(0), slope, shift, node.shape(0)[0]))]


def _hard_swish(node: OnnxNode) -> list[Found]:
    value = node.value(0)
    gate = _hard_sigmoid(value, *_HARD_SWISH, node.shape(0)[0])
    return [Chain((*gate, Result(graph.Mul(), (value, "#1"))))]


def _gelu(node: OnnxNode) -> list[Found]:
    kind = node.text("approximate", "none")
    if kind not in ("none", "tanh"):
        raise node.refuse(f"approximate must be none or tanh, not {kind}")
    return node.made(graph.Table(FUNCTIONS["gelu" if kind == "none" else "gelu_tanh"]))


def _elu(node: OnnxNode) -> list[Found]:
    alpha = node.number("alpha", 1.0)
    return node.made(graph.Table(lambda x: np.where(x < 0, alpha * np.expm1(np.minimum(x, 0)), x)))


def _constant_input(node: OnnxNode) -> tuple[Floats, str] | None:
    """Return the constant among two inputs as a number for each channel of the other, and the other's value."""
    for number, other in ((1, 0), (0, 1)):
        if node.is_constant(number):
            return node.per_channel(number, other), node.value(other)
    return None


def _two_cubes(node: OnnxNode) -> tuple[str, str]:
    """Return the inputs, the one with all elements first."""
    values, shapes = (node.value(0), node.value(1)), (node.shape(0), node.shape(1))
    for at in (0, 1):
        if shapes[1 - at] in (shapes[at], (shapes[at][0], 1, 1)) and node.rank(0) == node.rank(1):
            return values[at], values[1 - at]
    raise node.refuse(f"inputs must have one shape, or one of them one pixel, not {shapes[0]} and {shapes[1]}")


def _affine(scale: Floats, shift: Floats, value: str) -> Result:
    return Result(graph.Affine(scale, shift), (value,))


def _add(node: OnnxNode) -> list[Found]:
    if found := _constant_input(node):
        return [_affine(np.ones(len(found[0])), *found)]
    return [Result(graph.Add(), _two_cubes(node))]


def _sub(node: OnnxNode) -> list[Found]:
    if found := _constant_input(node):
        shift, value = found
        ones = np.ones(len(shift))
        return [_affine(ones, -shift, value) if node.is_constant(1) else _affine(-ones, shift, value)]
    if node.shape(0) != node.shape(1):
        raise node.refuse(f"inputs must have one shape, not {node.shape(0)} and {node.shape(1)}")
    channels = node.shape(1)[0]
    negative = _affine(-np.ones(channels), np.zeros(channels), node.value(1))
    return [Chain((negative, Result(graph.Add(), (node.value(0), "#0"))))]


def _sum(node: OnnxNode) -> list[Found]:
    if len(node.inputs) == 1:
        return node.made(None)
    if len(node.inputs) != 2:
        raise node.refuse(f"inputs must be 1 or 2, not {len(node.inputs)}")
    return _add(node)


def _mul(node: OnnxNode) -> list[Found]:
    if found := _constant_input(node):
        scale, value = found
        return [_affine(scale, np.zeros(len(scale)), value)]
    return [Result(graph.Mul(), _two_cubes(node))]


def _div(node: OnnxNode) -> list[Found]:
    if not node.is_constant(1):
        raise node.refuse("input 1 must be a constant")
    divisor = node.per_channel(1, 0)
    if not divisor.all():
        raise node.refuse("divisor must not be 0")
    return [_affine(1 / divisor, np.zeros(len(divisor)), node.value(0))]


def _looked_up(function: Function) -> Callable[[OnnxNode], list[Found]]:
    return lambda node: node.made(graph.Table(function))


TABLES: Mapping[str, Callable[[OnnxNode], list[Found]]] = {
    "Sigmoid": _looked_up(FUNCTIONS["sigmoid"]),
    "Tanh": _looked_up(FUNCTIONS["tanh"]),
    "Exp": _looked_up(FUNCTIONS["exp"]),
    "Erf": _looked_up(FUNCTIONS["erf"]),
    "Softplus": _looked_up(FUNCTIONS["softplus"]),
    "Softsign": _looked_up(FUNCTIONS["softsign"]),
    "Mish": _looked_up(FUNCTIONS["mish"]),
    "Elu": _elu,
    "Gelu": _gelu,
}
"""Operators that need the lookup tables of SDP."""

ELEMENTWISE: Mapping[str, Callable[[OnnxNode], list[Found]]] = {
    "Relu": lambda node: node.made(graph.Clip()),
    "Clip": _clip,
    "Max": lambda node: _extreme(node, largest=True),
    "Min": lambda node: _extreme(node, largest=False),
    "HardSigmoid": _hard_sigmoid_of,
    "HardSwish": _hard_swish,
    "PRelu": lambda node: node.made(graph.PRelu(node.per_channel(1, 0))),
    "LeakyRelu": lambda node: node.made(graph.PRelu(np.full(node.shape(0)[0], node.number("alpha", 0.01)))),
    "Abs": lambda node: node.made(graph.PRelu(np.full(node.shape(0)[0], -1.0))),
    "Neg": lambda node: node.made(graph.Affine(np.full(node.shape(0)[0], -1.0), np.zeros(node.shape(0)[0]))),
    "Add": _add,
    "Sub": _sub,
    "Sum": _sum,
    "Mul": _mul,
    "Div": _div,
    **TABLES,
}
