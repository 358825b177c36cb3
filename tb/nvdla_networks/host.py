"""What the host computes of a network that was cut: nodes of the file, by onnxruntime in this process."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx.reference import ReferenceEvaluator

from nvdla_networks.errors import NetworkError

_LACKS = "NOT_IMPLEMENTED"
"""What onnxruntime says about operators, versions and types that it does not have; ``onnx`` computes these."""

_WARNINGS = 3
"""Severity from which on onnxruntime logs: errors."""


ARRANGING = ("Flatten", "Reshape", "Squeeze", "Unsqueeze", "Transpose", "Identity", "Dropout", "Cast")
"""Operators that change neither real numbers nor their order in a cube."""


class HostGraph:
    """A model that onnxruntime computes, or ``onnx`` where that does not know an operator.

    Example:
        host = HostGraph(model)
        values = host.values({"input": image})

    Attributes:
        names: Values that it makes.
        nodes: What it computes, by operators and names.
        computes: Whether any of them does more than arrange elements, so that ``onnxruntime`` is needed.
    """

    def __init__(self, model: onnx.ModelProto) -> None:
        """Take a model; it is loaded when it is needed first."""
        self._model = model
        self.names = tuple(value.name for value in model.graph.output)
        self.computes = any(node.op_type not in ARRANGING for node in model.graph.node)
        self.nodes = tuple(f"{node.op_type} {node.name}" for node in model.graph.node)
        self._inputs = {value.name: value.type.tensor_type for value in model.graph.input}

    @cached_property
    def _session(self) -> Any:
        try:
            import onnxruntime
        except ImportError as error:
            if not self.computes:
                return ReferenceEvaluator(self._model)
            raise NetworkError(
                "onnxruntime must be installed for what the host computes: pip install 'nvdla-testbench[networks]'"
            ) from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = _WARNINGS
        try:
            return onnxruntime.InferenceSession(
                self._model.SerializeToString(), options, providers=["CPUExecutionProvider"]
            )
        # onnxruntime's exceptions have no base of their own.
        except Exception as error:
            if _LACKS not in str(error):
                raise _failed(error) from error
        try:
            return ReferenceEvaluator(self._model)
        except Exception as error:
            raise _failed(error) from error

    def values(self, given: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Return what it makes of values by their names, which may have any shape of as many elements.

        Raises:
            NetworkError: when onnxruntime is missing, or cannot compute it.
        """
        feeds = {}
        for name, kind in self._inputs.items():
            dtype = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type)
            feeds[name] = np.asarray(given[name]).astype(dtype).reshape([dim.dim_value for dim in kind.shape.dim])
        try:
            found = self._session.run(list(self.names), feeds)
        except NetworkError:
            raise
        except Exception as error:
            raise _failed(error) from error
        return dict(zip(self.names, map(np.asarray, found), strict=True))


def _failed(error: Exception) -> NetworkError:
    return NetworkError(f"onnxruntime must compute the host's nodes: {' '.join(str(error).split())[:200]}")
