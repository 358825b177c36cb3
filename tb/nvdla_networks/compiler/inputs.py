"""Inputs of ONNX files, and samples of them: drawn, or read from files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper

from nvdla_networks.compiler.graph import Shape
from nvdla_networks.compiler.layouts import given_as
from nvdla_networks.compiler.prepare import inputs_of
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import Preparation, read_samples
from nvdla_networks.tensors import Order
from nvdla_tb.array_files import read_arrays


@dataclass(frozen=True)
class FileInput:
    """An input of a file: name, sizes, the type of its elements, and the cube that it is, if it is one."""

    name: str
    sizes: tuple[int, ...]
    dtype: np.dtype[Any]
    shape: Shape | None = None
    order: Order | None = None

    def value(self, cube: NDArray[Any]) -> NDArray[Any]:
        """Return a cube (C, H, W) as a value of the file."""
        return cube if self.order is None else self.order.values(cube).reshape(self.sizes)


def file_inputs(model: onnx.ModelProto) -> tuple[FileInput, ...]:
    """Return the inputs of a model whose sizes are fixed."""
    found = []
    values = (*model.graph.input, *model.graph.value_info, *model.graph.output)
    known = {value.name: tuple(dim.dim_value for dim in value.type.tensor_type.shape.dim) for value in values}
    for value in inputs_of(model.graph):
        kind = value.type.tensor_type
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
        sizes = tuple(dim.dim_value for dim in kind.shape.dim)
        found.append(FileInput(value.name, sizes, dtype, *given_as(model.graph, value.name, known)))
    return tuple(found)


def random_inputs(inputs: Sequence[FileInput], count: int, seed: int) -> list[dict[str, NDArray[Any]]]:
    """Return inputs for a network that comes without samples.

    Real numbers are drawn from the standard normal distribution; integers are 0 or 1.
    """
    rng = np.random.default_rng(seed)
    return [
        {
            each.name: (
                rng.standard_normal(each.sizes) if each.dtype.kind == "f" else rng.integers(0, 2, each.sizes)
            ).astype(each.dtype if each.dtype.kind != "f" else np.float64)
            for each in inputs
        }
        for _ in range(count)
    ]


def read_inputs(path: Path, inputs: Sequence[FileInput], preparation: Preparation) -> list[Mapping[str, NDArray[Any]]]:
    """Return the samples in a file, each with a value for each input.

    A ``.npz`` holds one sample, all inputs by their names. Other files are of networks with one input.

    Raises:
        NetworkError: for a file of another kind, and values of other names, sizes or types.
    """
    if path.suffix.lower() == ".npz":
        values = read_arrays(path, error=NetworkError)
        wanted = ", ".join(f"{i.name} ({'x'.join(map(str, i.sizes))}, {i.dtype})" for i in inputs)
        fits = values.keys() == {each.name for each in inputs} and all(
            values[each.name].size == np.prod(each.sizes) and values[each.name].dtype.kind == each.dtype.kind
            for each in inputs
        )
        if not fits:
            raise NetworkError(f"{path} must hold {wanted}")
        return [{each.name: values[each.name].reshape(each.sizes) for each in inputs}]
    if len(inputs) != 1:
        names = ", ".join(each.name for each in inputs)
        raise NetworkError(f"{path} must be a .npz with {names}: the network has {len(inputs)} inputs")
    (only,) = inputs
    if only.dtype.kind != "f":
        raise NetworkError(f"{path} must be a .npz: input {only.name} takes {only.dtype}")
    samples = read_samples(path, only.shape or only.sizes, preparation)
    return [{only.name: only.value(np.asarray(sample, np.float64))} for sample in samples]
