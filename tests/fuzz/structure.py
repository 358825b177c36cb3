"""Changes of ONNX files in their structure, where bytes alone seldom come: operators, inputs, attributes, sizes."""

from __future__ import annotations

import random

import onnx

_KINDS = (
    "Add",
    "Concat",
    "Conv",
    "Gemm",
    "Mul",
    "Pad",
    "Reshape",
    "Resize",
    "Slice",
    "Softmax",
    "Transpose",
    "Unsqueeze",
)
_NUMBERS = (0, -1, 1, 2, 3, 7, 1 << 20, -(1 << 40), 1 << 62)
_SIZES = (0, 1, 2, 5, -1, 1 << 31)


def of_structure(rng: random.Random, sample: bytes) -> bytes:
    """Return an ONNX file with one to three changes of its graph, which mostly stays valid protobuf."""
    model = onnx.ModelProto.FromString(sample)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        if model.graph.node:
            _change(rng, model.graph)
    return model.SerializeToString()


def _change(rng: random.Random, graph: onnx.GraphProto) -> None:
    node = rng.choice(graph.node)
    values = [name for each in graph.node for name in each.output]
    values += [*(tensor.name for tensor in graph.initializer), *(value.name for value in graph.input), ""]
    match rng.randrange(9):
        case 0 if node.input:
            node.input[rng.randrange(len(node.input))] = rng.choice(values)
        case 1:
            node.op_type = rng.choice((*_KINDS, *(each.op_type for each in graph.node)))
        case 2:
            node.domain = rng.choice(("", "com.microsoft", "ai.onnx.ml"))
        case 3 if node.attribute:
            attribute = rng.choice(node.attribute)
            if attribute.ints:
                attribute.ints[rng.randrange(len(attribute.ints))] = rng.choice(_NUMBERS)
            else:
                attribute.i = rng.choice(_NUMBERS)
        case 4 if node.attribute:
            del node.attribute[rng.randrange(len(node.attribute))]
        case 5:
            graph.node.remove(node)
        case 6 if node.input:
            del node.input[-1]
        case 7:
            node.input.append(rng.choice(values))
        case _:
            value = rng.choice([*graph.input, *graph.output]).type.tensor_type
            dims = [*value.shape.dim]
            if dims and rng.randrange(3):
                rng.choice(dims).dim_value = rng.choice(_SIZES)
            else:
                value.elem_type = rng.randrange(24)
