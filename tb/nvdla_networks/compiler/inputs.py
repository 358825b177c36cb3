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

from nvdla_networks.compiler.graph import cube_of
from nvdla_networks.compiler.prepare import inputs_of
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import Preparation, read_samples
from nvdla_tb.array_files import read_arrays


@dataclass(frozen=True)
class FileInput:
    """An input of a file: name, sizes, and the type of its elements."""

    name: str
    sizes: tuple[int, ...]
    dtype: np.dtype[Any]


def file_inputs(model: onnx.ModelProto) -> tuple[FileInput, ...]:
    """Return the inputs of a model whose sizes are fixed."""
    found = []
    for value in inputs_of(model.graph):
        kind = value.type.tensor_type
        dtype = np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
        found.append(FileInput(value.name, tuple(dim.dim_value for dim in kind.shape.dim), dtype))
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
    shape = cube_of(only.sizes) or only.sizes
    return [{only.name: np.asarray(sample, np.float64)} for sample in read_samples(path, shape, preparation)]
