"""ONNX files before they are read: checked by ``onnx``, with all sizes known, and constants computed."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError
from onnx import checker, defs, external_data_helper, inliner, shape_inference

from nvdla_models.limits import ARRAY_BYTES, NETWORK_BYTES, NETWORK_NODES
from nvdla_networks.compiler.folding import fold
from nvdla_networks.compiler.integers import made_real
from nvdla_networks.compiler.node import BROKEN, ONNX_DOMAINS, SHOWN, first_line
from nvdla_networks.errors import NetworkError
from nvdla_networks.sniff import what_else

Sizes = tuple[int, ...]

_OPSETS = range(7, defs.onnx_opset_version() + 1)
_DOMAINS = (*ONNX_DOMAINS, "ai.onnx.ml", "com.microsoft")
"""Domains of operators that ``onnx`` and ``onnxruntime`` come with; others need code of their own."""

_MOST_SIZE = 1 << 24


def fixed(data: bytes, shapes: Mapping[str, Sizes] | None = None, folder: Path | None = None) -> onnx.ModelProto:
    """Return the model in the bytes of a file, valid, whole and with inputs of known sizes.

    Args:
        data: The file.
        shapes: Sizes of inputs by their names; a batch of any size is one image without them, and one of several can
            be one image with them.
        folder: Where the file lies; its initializers may lie there, too. None allows no other files.

    Raises:
        NetworkError: for bytes that are no valid ONNX, for code and data from elsewhere, and for sizes that are free.
    """
    try:
        model: onnx.ModelProto = onnx.ModelProto.FromString(data)
    except DecodeError as error:
        raise NetworkError(f"model must be an ONNX file: {what_else(data) or 'it is no protobuf message'}") from error
    if other := what_else(data):
        raise NetworkError(f"model must be an ONNX file: {other}")
    _check_names(model)
    _check_size(model)
    _check_opsets(model)
    _load_external(model, folder)
    _fix_shapes(model.graph, shapes or {})
    try:
        checker.check_model(model)
        if model.functions:
            model = inliner.inline_local_functions(model)
    except BROKEN as error:
        raise NetworkError(f"model must be valid ONNX: {first_line(error)}") from error
    _name_nodes(model.graph)
    return model


def prepared(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a fixed model whose values have shapes, with constants computed, and without what no output needs.

    Raises:
        NetworkError: when ``onnx`` finds that shapes or types contradict each other.
    """
    for value in model.graph.output:
        # What is left to be known follows from the inputs.
        if any(dim.dim_value < 1 for dim in value.type.tensor_type.shape.dim):
            value.type.tensor_type.ClearField("shape")
    while True:
        try:
            model = shape_inference.infer_shapes(model, check_type=True, strict_mode=True, data_prop=True)
        except BROKEN as error:
            raise NetworkError(f"model must be valid ONNX: {first_line(error)}") from error
        if not fold(model) and not made_real(model, opset_of(model)):
            break
    needed = {value.name for value in model.graph.output}
    kept: list[onnx.NodeProto] = []
    for node in reversed(model.graph.node):
        if needed.intersection(node.output):
            needed |= taken_by(node)
            kept.insert(0, node)
    del model.graph.node[:]
    model.graph.node.extend(kept)
    return model


def taken_by(node: onnx.NodeProto) -> set[str]:
    """Return the values that a node takes, those of the graphs in it among them."""
    taken = set(filter(None, node.input))
    for graph in _graphs_in(node):
        inside = {value.name for value in (*graph.input, *graph.initializer)}
        inside |= {name for other in graph.node for name in other.output}
        of_inside = {name for other in graph.node for name in taken_by(other)} | {v.name for v in graph.output}
        taken |= of_inside - inside
    return taken


def _graphs_in(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    for attribute in node.attribute:
        if attribute.HasField("g"):
            yield attribute.g
        yield from attribute.graphs


def _all_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for inner in _graphs_in(node):
            yield from _all_nodes(inner)


def _check_names(model: onnx.ModelProto) -> None:
    """Refuse names that are no UTF-8, which protobuf hands on as bytes."""
    graph = model.graph
    values = (*graph.initializer, *graph.input, *graph.output)
    names: list[str | bytes] = [graph.name, *(value.name for value in values)]
    for node in _all_nodes(graph):
        names += [node.name, node.op_type, node.domain, *node.input, *node.output]
        names += [attribute.name for attribute in node.attribute]
    for name in names:
        if isinstance(name, bytes):
            raise NetworkError(f"names in model must be UTF-8, not {name[:SHOWN]!r}")


def _check_size(model: onnx.ModelProto) -> None:
    graph = model.graph
    nodes = [*_all_nodes(graph), *(node for function in model.functions for node in function.node)]
    if len(nodes) > NETWORK_NODES:
        raise NetworkError(f"model must have at most {NETWORK_NODES} nodes, not {len(nodes)}")
    domains = {*_DOMAINS, *(function.domain for function in model.functions)}
    for node in nodes:
        if node.domain not in domains:
            raise NetworkError(f"node {node.name!r}: operator {node.op_type} of {node.domain} is not known")
        for attribute in node.attribute:
            if attribute.HasField("t"):
                _check_tensor(attribute.t)
        for inner in _graphs_in(node):
            for tensor in inner.initializer:
                _check_tensor(tensor)
    if graph.sparse_initializer:
        raise NetworkError("model must have no sparse initializers")
    for tensor in graph.initializer:
        _check_tensor(tensor)


def _check_tensor(tensor: onnx.TensorProto) -> None:
    # Of Python's integers: a product of hostile sizes does not wrap.
    elements = math.prod(tensor.dims)
    if elements > ARRAY_BYTES or any(size < 0 for size in tensor.dims):
        raise NetworkError(f"initializer {tensor.name!r} must have at most {ARRAY_BYTES} elements, not {elements}")


def _load_external(model: onnx.ModelProto, folder: Path | None) -> None:
    """Read the initializers that lie in other files, which must stand in the folder of the model."""
    total = 0
    tensors = [*model.graph.initializer]
    for node in _all_nodes(model.graph):
        tensors += [attribute.t for attribute in node.attribute if attribute.HasField("t")]
        tensors += [tensor for inner in _graphs_in(node) for tensor in inner.initializer]
    for tensor in tensors:
        if tensor.data_location != onnx.TensorProto.EXTERNAL and not tensor.external_data:
            continue
        if folder is None:
            raise NetworkError(f"initializer {tensor.name!r} must lie in the model, not in another file")
        location = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
        file = (folder / location).resolve()
        if not file.is_relative_to(folder.resolve()) or not file.is_file():
            raise NetworkError(
                f"initializer {tensor.name!r} must lie in a file in the model's folder, not {location!r}"
            )
        total += file.stat().st_size
        if total > NETWORK_BYTES:
            raise NetworkError(f"files of initializers must have at most {NETWORK_BYTES} bytes together")
        try:
            external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        except BROKEN as error:
            raise NetworkError(f"initializer {tensor.name!r} must hold what it says: {first_line(error)}") from error
        tensor.data_location = onnx.TensorProto.DEFAULT
        del tensor.external_data[:]


def _check_opsets(model: onnx.ModelProto) -> None:
    for opset in model.opset_import:
        if opset.domain in ONNX_DOMAINS and opset.version not in _OPSETS:
            raise NetworkError(f"opset of model must be {_OPSETS.start} to {_OPSETS.stop - 1}, not {opset.version}")


def opset_of(model: onnx.ModelProto) -> int:
    """Return the version of ONNX's own operators in a model, the newest for one without any."""
    own = (opset.version for opset in model.opset_import if opset.domain in ONNX_DOMAINS)
    return next(own, defs.onnx_opset_version())


def inputs_of(graph: onnx.GraphProto) -> list[onnx.ValueInfoProto]:
    """Return the inputs of a graph that no initializer gives a value."""
    constants = {tensor.name for tensor in graph.initializer}
    return [value for value in graph.input if value.name not in constants]


def _fix_shapes(graph: onnx.GraphProto, shapes: Mapping[str, Sizes]) -> None:
    """Give inputs the sizes that were asked for, and forget shapes that were inferred for others."""
    inputs = inputs_of(graph)
    if unknown := sorted(shapes.keys() - {value.name for value in inputs}):
        names = ", ".join(value.name for value in inputs)
        raise NetworkError(f"--shape must name one of the inputs {names}, not {unknown[0]}")
    for value in inputs:
        if not value.type.HasField("tensor_type"):
            raise NetworkError(
                f"input {value.name!r} must be a tensor, not {value.type.WhichOneof('value') or 'nothing'}"
            )
    symbols: dict[str, int] = {}
    first = [value.type.tensor_type.shape.dim[:1] for value in inputs if value.name in shapes]
    images = [dim.dim_value for dims in first for dim in dims]
    for value in inputs:
        _fix_input(value, shapes.get(value.name), symbols)
    if max(images, default=0) > 1:
        # What becomes of the outputs follows from the inputs.
        for dim in (dim for value in graph.output for dim in value.type.tensor_type.shape.dim[:1]):
            dim.ClearField("dim_value")
    for value in inputs:
        dims = value.type.tensor_type.shape.dim
        for dim in dims:
            if dim.dim_param in symbols:
                dim.dim_value = symbols[dim.dim_param]
        if any(not dim.HasField("dim_value") or dim.dim_value < 1 for dim in dims):
            known = "x".join(str(dim.dim_value) if dim.dim_value > 0 else "?" for dim in dims)
            raise NetworkError(f"--shape {value.name}=SIZES must fix the free sizes of input {value.name!r}, {known}")
    del graph.value_info[:]


def _fix_input(value: onnx.ValueInfoProto, sizes: Sizes | None, symbols: dict[str, int]) -> None:
    """Give one input its sizes, and its symbols what they stand for; the first is that of one image if it is free."""
    dims = value.type.tensor_type.shape.dim
    if sizes is None:
        if dims and dims[0].dim_value < 1:
            dims[0].dim_value = _known(symbols, dims[0].dim_param, 1)
        return
    known = [dim.dim_value for dim in dims]
    # One image may come in place of several.
    fixed_sizes = [0, *known[1:]] if sizes[:1] == (1,) else known
    if len(sizes) != len(known) or any(old > 0 and old != new for old, new in zip(fixed_sizes, sizes, strict=True)):
        shown = "x".join(str(size) if size > 0 else "?" for size in known)
        raise NetworkError(f"--shape of {value.name} must be {shown}, not {'x'.join(map(str, sizes))}")
    for dim, size in zip(dims, sizes, strict=True):
        _known(symbols, dim.dim_param, size)
        dim.dim_value = size


def _known(symbols: dict[str, int], symbol: str, size: int) -> int:
    """Return the size that a symbol stands for, this one if it has none yet."""
    # Some converters write "?" for each size that they do not know.
    return size if symbol in ("", "?") else symbols.setdefault(symbol, size)


def parse_shape(text: str) -> tuple[str, Sizes]:
    """Return a name and its sizes out of ``name=1x3x224x224``.

    Raises:
        NetworkError: for anything else.
    """
    name, _, sizes = text.rpartition("=")
    parts = sizes.split("x")
    if not name or not all(part.isascii() and part.isdecimal() and 1 <= int(part) <= _MOST_SIZE for part in parts):
        raise NetworkError(f"--shape must be NAME=1x3x224x224 or the like, not {text}")
    return name, tuple(map(int, parts))


def _name_nodes(graph: onnx.GraphProto) -> None:
    """Give each node a name of its own: a file may leave it out, or use it twice."""
    names: Counter[str] = Counter()

    def unused(name: str) -> str:
        count = names[name]
        names[name] += 1
        return unused(f"{name}_{count}") if count else name

    for number, node in enumerate(graph.node):
        node.name = unused(node.name or f"{node.op_type}_{number}")
