"""From operations to steps: all that SDP does with the result of a convolution, or with a cube, is one step."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from nvdla_networks.compiler.graph import Add, Affine, Clip, Conv, Floats, Graph, Mul, Node, PRelu, Table
from nvdla_networks.compiler.target import Target


@dataclass(frozen=True, eq=False)
class Compute:
    """``activation((convolution of src, or src itself) * scale + shift + other)``, or ``src * other``.

    With a table, the activation is a function of one element, and ``other`` is None.

    Attributes:
        name: Name of the first node.
        src: Input.
        output: Output.
        conv: The convolution, with its bias; None for a cube out of memory.
        scale: (C,), ones after a convolution.
        shift: (C,), zeros after a convolution.
        other: A cube that is added, element by element or one element for each channel.
        multiplies: Whether it multiplies instead; that is all of such a step.
        looked_up: The value that the tables of Y are asked for, None without.
        activation: Last step.
    """

    name: str
    src: str
    output: str
    conv: Conv | None
    scale: Floats
    shift: Floats
    other: str | None = None
    activation: Clip | PRelu | Table | None = None
    multiplies: bool = False
    looked_up: str | None = None

    @property
    def inputs(self) -> tuple[str, ...]:
        """Values that it reads."""
        return (self.src,) if self.other is None else (self.src, self.other)


Step = Compute | Node


def fused(graph: Graph, target: Target) -> tuple[Step, ...]:
    """Return the steps of a graph, each after those that make what it reads.

    X1 and X2 decide what fits into one step: a bias and scales, then one of a cube, a bound or slopes, and a ReLU.
    Saturation is a bound that needs neither.
    """
    ends: dict[str, Step] = {}
    taken: set[str] = set()
    for node in graph.nodes:
        if node.output in taken:
            continue
        step = _begun(graph, node)
        while isinstance(step, Compute):
            following = [other for other in graph.nodes if step.output in other.inputs]
            if step.output in graph.outputs or len(following) != 1:
                break
            longer = _with(step, following[0], graph, target)
            if longer is None or longer.output in taken or longer.other == step.output:
                break
            step = longer
            taken.add(step.output)
        ends[step.output] = step
    return tuple(ends[node.output] for node in graph.nodes if node.output in ends)


def _begun(graph: Graph, node: Node) -> Step:
    """Return the step that a node begins, or the node where no step of SDP does it."""
    channels = graph.shapes[node.output][0]
    plain = Compute(node.name, node.inputs[0], node.output, None, np.ones(channels), np.zeros(channels))
    match node.operation:
        case Conv() as conv:
            return replace(plain, conv=conv)
        case Affine(scale=scale, shift=shift):
            return replace(plain, scale=scale, shift=shift)
        case Add():
            return replace(plain, other=node.inputs[1])
        case Mul():
            return replace(plain, other=node.inputs[1], multiplies=True)
        case Clip() | PRelu() as activation:
            return replace(plain, activation=activation)
        case Table() as table:
            return replace(plain, activation=table, looked_up=node.inputs[0])
        case _:
            return node


def _with(step: Compute, node: Node, graph: Graph, target: Target) -> Compute | None:
    """Return a step with one more node, or None when it does not fit."""
    if step.activation is not None or step.multiplies:
        return None
    shifts = bool(step.shift.any())
    match node.operation:
        case Add() if step.other is None and not shifts:
            others = [name for name in node.inputs if name != step.output]
            fits = len(others) == 1 and graph.shapes[step.output] == graph.shapes[node.output]
            return replace(step, other=others[0], output=node.output) if fits else None
        case Clip() as clip:
            interval = graph.ranges.get(node.output)
            bounds = target.bounds_of(clip, None if interval is None else target.scale_of(interval))
            # The ALU of X2 adds a cube or a number for each channel, or compares with one bound.
            taken = bool(step.other or shifts) + sum(bound is not None for bound in bounds)
            return replace(step, activation=clip, output=node.output) if taken <= 1 else None
        case Table() as table if step.other is None:
            return replace(step, activation=table, looked_up=step.output, output=node.output)
        case PRelu() if step.other is None:
            return replace(step, activation=node.operation, output=node.output)
        case _:
            return None
