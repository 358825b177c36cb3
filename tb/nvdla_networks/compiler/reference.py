"""Values of an ONNX file as ``onnx`` computes them from the file itself.

What our reader misunderstands would be wrong in a result that is computed from its graph, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun

from nvdla_networks.compiler.graph import Floats, floats
from nvdla_networks.compiler.node import BROKEN, first_line
from nvdla_networks.errors import NetworkError


class LRN(OpRun):
    """LRN by the formula of ONNX: the evaluator's own normalises only as many channels as there are images."""

    op_domain = ""

    def _run(
        self,
        batch: NDArray[Any],
        alpha: float = 1e-4,
        beta: float = 0.75,
        bias: float = 1.0,
        size: int = 0,
    ) -> tuple[NDArray[Any]]:
        result = np.empty_like(batch)
        for channel in range(batch.shape[1]):
            first = max(0, channel - (size - 1) // 2)
            around = batch[:, first : channel + size // 2 + 1]
            result[:, channel] = batch[:, channel] / (bias + alpha / size * (around**2).sum(axis=1)) ** beta
        return (result,)


class BatchNormalization(OpRun):
    """Normalisation by the statistics of the file: the evaluator takes those of the images in versions 9 to 13."""

    op_domain = ""

    def _run(
        self,
        batch: NDArray[Any],
        scale: NDArray[Any],
        shift: NDArray[Any],
        mean: NDArray[Any],
        variance: NDArray[Any],
        epsilon: float = 1e-5,
        **others: Any,
    ) -> tuple[NDArray[Any]]:
        del others
        column = (-1, *[1] * (batch.ndim - 2))
        scale, shift, mean, variance = (each.reshape(column) for each in (scale, shift, mean, variance))
        return ((scale * (batch - mean) / np.sqrt(variance + epsilon) + shift).astype(batch.dtype),)


class DequantizeLinear(OpRun):
    """Real numbers of integers: the evaluator has those of version 19 and later alone."""

    op_domain = ""

    def _run(
        self,
        integers: NDArray[Any],
        scale: NDArray[Any],
        zero_point: NDArray[Any] | None = None,
        axis: int = 1,
        **others: Any,
    ) -> tuple[NDArray[Any]]:
        del others
        column = [-1 if at == axis % integers.ndim else 1 for at in range(integers.ndim)] if scale.size > 1 else []
        offset = 0 if zero_point is None else zero_point.astype(np.float64).reshape(column)
        return (((integers.astype(np.float64) - offset) * scale.reshape(column)).astype(scale.dtype),)


class Dropout(OpRun):
    """Nothing at all, as in inference: the evaluator has no version 6."""

    op_domain = ""

    def _run(self, batch: NDArray[Any], *others: Any, **more: Any) -> tuple[NDArray[Any]]:
        del others, more
        return (batch,)


OPERATORS: list[type[OpRun]] = [LRN, BatchNormalization, DequantizeLinear, Dropout]
"""Operators that the evaluator does not compute as the specification says, or only in some versions."""

_ON_HOST = ("Softmax", "ArgMax")
_RENAMES = ("Identity", "Dropout", "Flatten", "Reshape")


class Reference:
    """Computes the outputs of an ONNX file, but for what the host computes last.

    Example:
        reference = Reference(path.read_bytes())
        (logits,) = reference.values({"input": image})

    Attributes:
        names: By output, the value that is computed: itself, or what a Softmax or ArgMax at the end takes.
    """

    def __init__(self, data: bytes) -> None:
        """Take the bytes of a file that was read without an error.

        Raises:
            NetworkError: for an operator whose version ``onnx`` cannot compute.
        """
        model = onnx.ModelProto.FromString(data)
        constants = {tensor.name for tensor in model.graph.initializer}
        inputs = [value for value in model.graph.input if value.name not in constants]
        self._inputs = {value.name: value.type.tensor_type for value in inputs}
        makers = {name: node for node in model.graph.node for name in node.output}
        self.names = tuple(_before_host(value.name, makers) for value in model.graph.output)
        self._wanted = list(dict.fromkeys(self.names))
        del model.graph.output[:]
        model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in self._wanted)
        try:
            self._evaluator = ReferenceEvaluator(model, new_ops=OPERATORS)
        except BROKEN as error:
            raise _failed(error) from error

    def values(self, sample: Mapping[str, Floats]) -> list[Floats]:
        """Return the values for one sample, flat.

        Args:
            sample: Each input by its name, (C, H, W).

        Raises:
            NetworkError: when ``onnx`` cannot compute them.
        """
        given = {}
        for name, kind in self._inputs.items():
            sizes = [max(dim.dim_value, 1) for dim in kind.shape.dim]
            given[name] = sample[name].reshape(sizes).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
        try:
            found = dict(zip(self._wanted, self._evaluator.run(self._wanted, given), strict=True))
        except BROKEN as error:
            raise _failed(error) from error
        return [floats(found[name]).ravel() for name in self.names]


def _failed(error: Exception) -> NetworkError:
    return NetworkError(f"onnx must compute the network in floating point: {first_line(error)}")


def _before_host(output: str, makers: Mapping[str, onnx.NodeProto]) -> str:
    """Return the last value that hardware computes of an output."""
    name = output
    while name in makers and makers[name].op_type in _RENAMES:
        name = makers[name].input[0]
    return makers[name].input[0] if name in makers and makers[name].op_type in _ON_HOST else output
