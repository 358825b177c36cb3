"""Values of an ONNX file as ``onnx``, or ``onnxruntime`` where the host takes it anyway, computes them from the file.

What our reader misunderstands would be wrong in a result that is computed from its graph, too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np
import onnx
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from onnx import helper
from onnx.reference import ReferenceEvaluator
from onnx.reference.op_run import OpRun
from onnx.reference.ops import op_max_pool

from nvdla_networks.compiler.node import BROKEN, first_line
from nvdla_networks.compiler.prepare import inputs_of
from nvdla_networks.errors import NetworkError
from nvdla_networks.host import HostGraph


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


class MaxPool(op_max_pool.MaxPool):
    """Largest elements of all windows at once: the evaluator takes them one by one, longer than all convolutions."""

    op_domain = ""

    def _run(  # type: ignore[override]
        self,
        batch: NDArray[Any],
        auto_pad: str | None = None,
        ceil_mode: int | None = None,
        dilations: Sequence[int] | None = None,
        kernel_shape: Sequence[int] = (),
        pads: Sequence[int] | None = None,
        storage_order: int | None = None,
        strides: Sequence[int] | None = None,
    ) -> tuple[NDArray[Any], ...]:
        if ceil_mode or auto_pad not in (None, "", "NOTSET") or len(self.output) > 1 or batch.dtype.kind != "f":
            rare = (auto_pad, ceil_mode, dilations, kernel_shape, pads, storage_order, strides)
            return tuple(super()._run(batch, *rare))  # type: ignore[no-untyped-call]
        sides, ones = len(kernel_shape), [1] * len(kernel_shape)
        steps, spread, around = strides or ones, dilations or ones, pads or [0] * (2 * sides)
        edges = [(0, 0), (0, 0), *zip(around[:sides], around[sides:], strict=True)]
        spans = [(size - 1) * step + 1 for size, step in zip(kernel_shape, spread, strict=True)]
        padded = np.pad(batch, edges, constant_values=-np.inf)
        windows = sliding_window_view(padded, spans, axis=tuple(range(2, 2 + sides)))
        taken = [slice(None), slice(None), *(slice(None, None, step) for step in (*steps, *spread))]
        windows = windows[tuple(taken)]
        # Element by element of the kernel: reducing small windows takes far longer.
        return (reduce(np.maximum, (windows[(..., *at)] for at in np.ndindex(*kernel_shape))),)


OPERATORS: list[type[OpRun]] = [LRN, BatchNormalization, DequantizeLinear, Dropout, MaxPool]
"""Operators that the evaluator does not compute as the specification says, only in some versions, or too slowly."""

BY_HOST = ("ConvTranspose", "Resize", "Upsample")
"""Operators that the evaluator refuses with groups, or computes one element at a time: ``onnxruntime`` does."""


class Reference:
    """Computes values of an ONNX file.

    Example:
        reference = Reference(fixed(path.read_bytes()), ["logits"])
        (logits,) = reference.values({"input": image})

    Attributes:
        names: The values.
    """

    def __init__(self, model: onnx.ModelProto, names: Sequence[str], *, by_host: bool = False) -> None:
        """Take a model that was read without an error.

        Args:
            model: The model, whose sizes are fixed.
            names: Values to compute.
            by_host: Whether ``onnxruntime`` computes them, as it does parts of the network; else ``onnx`` does.

        Raises:
            NetworkError: for an operator whose version ``onnx`` cannot compute.
        """
        self.names = tuple(names)
        self._inputs = {value.name: value.type.tensor_type for value in inputs_of(model.graph)}
        asked = onnx.ModelProto()
        asked.CopyFrom(model)
        ends = {value.name: value for value in asked.graph.output}
        wanted = [ends.get(name, onnx.ValueInfoProto(name=name)) for name in dict.fromkeys(names)]
        del asked.graph.output[:]
        asked.graph.output.extend(wanted)
        self._host: HostGraph | None = None
        self._evaluator: Any = None
        try:
            if by_host:
                self._host = HostGraph(asked)
            else:
                self._evaluator = ReferenceEvaluator(asked, new_ops=OPERATORS)
        except BROKEN as error:
            raise _failed(error) from error

    def values(self, sample: Mapping[str, NDArray[Any]]) -> list[NDArray[Any]]:
        """Return the values for one sample.

        Args:
            sample: Each input by its name, of any shape.

        Raises:
            NetworkError: when they cannot be computed.
        """
        if self._host is not None:
            found = self._host.values(sample)
            return [found[name] for name in self.names]
        given = {}
        for name, kind in self._inputs.items():
            sizes = [dim.dim_value for dim in kind.shape.dim]
            given[name] = sample[name].reshape(sizes).astype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
        try:
            return [np.asarray(value) for value in self._evaluator.run(list(self.names), given)]
        except BROKEN as error:
            raise _failed(error) from error


def _failed(error: Exception) -> NetworkError:
    return NetworkError(f"onnx must compute the network in floating point: {first_line(error)}")
