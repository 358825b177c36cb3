"""The ``onnx`` package's own cases of single operators: each plays, on the accelerator or on the host as it says."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray
from onnx import numpy_helper

from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.inputs import file_inputs
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.errors import NetworkError
from nvdla_networks.images import quantised
from nvdla_networks.scenario import left_by_model
from tests.unit.networks.loadables import SMALL

pytest.importorskip("onnxruntime")
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::RuntimeWarning")]

OPERATORS = [
    "Add",
    "ArgMax",
    "AveragePool",
    "BatchNormalization",
    "Clip",
    "Concat",
    "Conv",
    "ConvTranspose",
    "DepthToSpace",
    "DequantizeLinear",
    "Div",
    "Dropout",
    "Exp",
    "Flatten",
    "Gelu",
    "Gemm",
    "GlobalAveragePool",
    "HardSigmoid",
    "HardSwish",
    "Identity",
    "LRN",
    "LeakyRelu",
    "MatMul",
    "Max",
    "MaxPool",
    "Min",
    "Mul",
    "PRelu",
    "Pad",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "ReduceMean",
    "Relu",
    "Reshape",
    "Resize",
    "Shape",
    "Sigmoid",
    "Slice",
    "Softmax",
    "SpaceToDepth",
    "Split",
    "Squeeze",
    "Sub",
    "Sum",
    "Swish",
    "Tanh",
    "Transpose",
    "Unsqueeze",
]

ON_DEVICE = {
    "AveragePool": 13,
    "Conv": 6,
    "ConvTranspose": 9,
    "DepthToSpace": 2,
    "GlobalAveragePool": 2,
    "MaxPool": 11,
    "QLinearConv": 1,
    "Resize": 4,
    "Softmax": 1,
    "SpaceToDepth": 2,
}
"""Cases of which the accelerator computes something. Most others are of three axes, or of several images."""

WITHIN = 0.03
"""Of the largest element, where integers of 8 bits compute."""

EXACT = 1e-3

UNLIKE = {
    "test_resize_downsample_scales_linear_align_corners": "onnxruntime aligns corners otherwise",
    "test_resize_downsample_scales_cubic_align_corners": "onnxruntime aligns corners otherwise",
    "test_training_dropout_default": "draws random numbers",
    "test_training_dropout_default_mask": "draws random numbers",
    "test_training_dropout": "draws random numbers",
    "test_training_dropout_mask": "draws random numbers",
}
REFUSED = {
    "test_identity_sequence": "input 'x' must be a tensor",
    "test_identity_opt": "input 'opt_in' must be a tensor",
    "test_split_zero_size_splits_opset13": "model must be valid ONNX",
    "test_split_zero_size_splits_opset18": "model must be valid ONNX",
}
EMPTY = ("test_reshape_allowzero_reordered",)
"""A free number of images is one."""


@cache
def _cases() -> dict[str, list[Any]]:
    """Return the cases of each operator; ``onnx`` makes all of them at once."""
    from onnx.backend.test.case.node import collect_testcases

    found: dict[str, list[Any]] = {operator: [] for operator in OPERATORS}
    for case in collect_testcases(None):
        if case.model is None or case.name.endswith("_expanded") or "_expanded_" in case.name or not case.data_sets:
            continue
        first = case.model.graph.node[0]
        if first.op_type in found and not any(node.domain for node in case.model.graph.node):
            found[first.op_type].append(case)
    return found


def _array(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _as_in_files(model: onnx.ModelProto, given: list[Any]) -> tuple[onnx.ModelProto, dict[str, NDArray[Any]]]:
    """Return a case with all inputs but the first as constants, as weights, axes and sizes are in files."""
    names = [value.name for value in model.graph.input]
    changed = onnx.ModelProto()
    changed.CopyFrom(model)
    if all(isinstance(value, np.ndarray | np.generic) for value in given):
        del changed.graph.input[1:]
        for name, value in zip(names[1:], given[1:], strict=True):
            changed.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
    return changed, dict(zip(names, given, strict=True))


def _difference(ours: NDArray[Any], theirs: NDArray[Any]) -> float:
    """Return the largest difference as a part of the largest element; where both are infinite there is none."""
    got, wanted = (np.asarray(each, dtype=np.float64).ravel() for each in (ours, theirs))
    assert got.shape == wanted.shape
    finite = np.isfinite(wanted)
    np.testing.assert_array_equal(got[~finite], wanted[~finite])
    if not finite.any():
        return 0.0
    return float(np.abs(got - wanted)[finite].max() / max(np.abs(wanted[finite]).max(), 1e-9))


def _played(model: onnx.ModelProto, sample: dict[str, NDArray[Any]]) -> tuple[CutNetwork, list[NDArray[Any]]]:
    ready = prepared(fixed(model.SerializeToString()))
    given = {each.name: np.asarray(sample[each.name]) for each in file_inputs(ready)}
    compiled = CutNetwork.compiled("case", ready, SMALL, [given])
    network = compiled.place().given(given)
    inputs = [quantised(np.reshape(given[tensor.name], tensor.shape), tensor) for tensor in network.inputs]
    run, memories = left_by_model("case", network, inputs)
    return compiled, run.results(memories)


@pytest.mark.parametrize("operator", OPERATORS)
def test_cases_of_onnx_play(operator: str) -> None:
    cases = _cases()[operator]
    assert cases
    places = Counter[str]()
    for case in cases:
        given, wanted = ([_array(value) for value in side] for side in case.data_sets[0])
        if case.name in EMPTY:
            continue
        model, sample = _as_in_files(case.model, given)
        if case.name in REFUSED:
            with pytest.raises(NetworkError, match=f"^{REFUSED[case.name]}"):
                _played(model, sample)
            continue
        compiled, results = _played(model, sample)
        on_device = bool(compiled.cut.parts)
        places["device" if on_device else "host"] += 1
        known = {node.name for node in compiled.cut.share.host}
        assert on_device or known, case.name
        assert all(node.reason for node in compiled.cut.share.host)
        if case.name not in UNLIKE:
            most = WITHIN if on_device else EXACT
            assert max(map(_difference, results, wanted)) < most, case.name
    assert places["device"] == ON_DEVICE.get(operator, 0)
