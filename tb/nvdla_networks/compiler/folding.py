"""Constants of ONNX files: what depends on no input is computed by ``onnx``, shapes of values among it."""

from __future__ import annotations

import math

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from nvdla_models.limits import VALUE_ELEMENTS
from nvdla_networks.compiler.node import BROKEN, ONNX_DOMAINS

_KEPT = ("QuantizeLinear", "DequantizeLinear", "If", "Loop", "Scan", "Bernoulli", "Multinomial")
"""Operators whose result is no constant, or whose scale is worth knowing."""


def fold(model: onnx.ModelProto) -> bool:
    """Replace nodes that compute constants by their results, and return whether there was any.

    Args:
        model: A model with the shapes of its values; changed. Results of unknown or too large size stay nodes.
    """
    graph = model.graph
    constants = {tensor.name: tensor for tensor in graph.initializer}
    kinds = {value.name: value.type.tensor_type for value in (*graph.value_info, *graph.input, *graph.output)}
    outputs = {value.name for value in graph.output}
    kept = []
    for node in graph.node:
        found = None
        if node.domain in ONNX_DOMAINS and not outputs.intersection(node.output):
            found = _shape(node, kinds) or _computed(node, model, constants, kinds)
        if found is None:
            kept.append(node)
            continue
        constants |= {tensor.name: tensor for tensor in found}
        graph.initializer.extend(found)
    changed = len(kept) < len(graph.node)
    del graph.node[:]
    graph.node.extend(kept)
    return changed


def _shape(node: onnx.NodeProto, kinds: dict[str, onnx.TypeProto.Tensor]) -> list[onnx.TensorProto] | None:
    """Return the shape or the size of a value that is known."""
    if node.op_type not in ("Shape", "Size") or (sizes := _sizes(kinds.get(node.input[0]))) is None:
        return None
    ends = {attribute.name: attribute.i for attribute in node.attribute}
    shape = np.array(sizes[ends.get("start") : ends.get("end")], dtype=np.int64)
    value = shape if node.op_type == "Shape" else np.array(math.prod(sizes), dtype=np.int64)
    return [numpy_helper.from_array(value, node.output[0])]


def _sizes(kind: onnx.TypeProto.Tensor | None) -> list[int] | None:
    if kind is None or not kind.HasField("shape") or any(not dim.HasField("dim_value") for dim in kind.shape.dim):
        return None
    return [dim.dim_value for dim in kind.shape.dim]


def _computed(
    node: onnx.NodeProto,
    model: onnx.ModelProto,
    constants: dict[str, onnx.TensorProto],
    kinds: dict[str, onnx.TypeProto.Tensor],
) -> list[onnx.TensorProto] | None:
    """Return the results of a node that takes constants alone."""
    taken = [name for name in node.input if name]
    if node.op_type in _KEPT or node.op_type.startswith("Random") or any(name not in constants for name in taken):
        return None
    made = [name for name in node.output if name]
    sizes = [_sizes(kinds.get(name)) for name in made]
    if any(each is None or math.prod(each) > VALUE_ELEMENTS for each in sizes):
        return None
    ends = [onnx.ValueInfoProto(name=name) for name in made]
    graph = helper.make_graph([node], "constants", [], ends, [constants[name] for name in dict.fromkeys(taken)])
    alone = helper.make_model(graph, opset_imports=model.opset_import)
    try:
        values = ReferenceEvaluator(alone).run(None, {})
        return [numpy_helper.from_array(np.asarray(value), name) for name, value in zip(made, values, strict=True)]
    except (*BROKEN, NotImplementedError, AttributeError, IndexError):
        # What onnx's evaluator does not know stays a node.
        return None
