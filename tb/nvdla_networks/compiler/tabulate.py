"""Operators of one element after each other as one function, which one lookup computes: x * Sigmoid(x) is SiLU."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from nvdla_models.activation import Function
from nvdla_networks.compiler.graph import Affine, Clip, Floats, Graph, Mul, Node, Operation, Table
from nvdla_networks.compiler.simplify import is_private, needed, producer, rewritten
from nvdla_networks.compiler.target import Target
from nvdla_networks.errors import NodeRefused


def tabulated(graph: Graph, target: Target) -> Graph:
    """Return a graph with as few tables as there can be.

    Raises:
        NodeRefused: for a table where SDP has none.
    """
    if target.no_tables is None:
        return needed(rewritten(rewritten(graph, _times_itself), _behind_table))
    for node in graph.nodes:
        if isinstance(node.operation, Table):
            raise NodeRefused(node.name, target.no_tables)
    return graph


def _times_itself(graph: Graph, node: Node) -> Node | None:
    """Return the product of a value and a function of it as a function."""
    if not isinstance(node.operation, Mul):
        return None
    for value, gate in (node.inputs, node.inputs[::-1]):
        function = _path(graph, value, gate)
        if function is not None and graph.shapes[value] == graph.shapes[gate]:
            return replace(node, operation=Table(_product(function)), inputs=(value,))
    return None


def _path(graph: Graph, value: str, end: str) -> Function | None:
    """Return the function that makes one value of another."""
    if end == value:
        return _same
    made = producer(graph, end)
    last = None if made is None or end in graph.outputs else _function(made.operation)
    first = None if made is None or last is None else _path(graph, value, made.inputs[0])
    return None if first is None or last is None else _after(first, last)


def _behind_table(graph: Graph, node: Node) -> Node | None:
    """Return a table with what computes one element behind it or a bound before it, and HardSigmoid."""
    last, before = _function(node.operation), producer(graph, node.inputs[0])
    if last is None or before is None or not is_private(graph, node.inputs[0]):
        return None
    first = _function(before.operation)
    joins = _joins(before.operation, node.operation)
    if first is None or not joins:
        return None
    return replace(node, name=before.name, operation=Table(_after(first, last)), inputs=before.inputs)


def _joins(first: Operation, last: Operation) -> bool:
    match first, last:
        case (Table(), _) | (Clip(), Table()):
            return True
        case Clip(least=least, most=most), Affine():
            return math.isfinite(most - least)
        case _:
            return False


def _function(operation: Operation) -> Function | None:
    match operation:
        case Table(function=function):
            return function
        case Clip(least=least, most=most):
            return lambda x: np.clip(x, least, most)
        case Affine(scale=scale, shift=shift) if np.ptp(scale) == 0 and np.ptp(shift) == 0:
            factor, summand = float(scale[0]), float(shift[0])
            return lambda x: x * factor + summand
        case _:
            return None


def _same(x: Floats) -> Floats:
    return x


def _after(first: Function, last: Function) -> Function:
    return lambda x: last(first(x))


def _product(function: Function) -> Function:
    return lambda x: x * function(x)
