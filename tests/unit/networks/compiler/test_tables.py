"""Functions of one element by the tables of SDP: on the device where it has some, else on the host with the reason."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from networks.random_networks import NetworkBuilder
from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_networks.compiler.accuracy import accuracy_of
from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.inputs import file_inputs, random_inputs
from nvdla_networks.compiler.precisions import Precisions
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reference import Reference
from nvdla_networks.images import quantised
from nvdla_networks.scenario import left_by_model
from tests.unit.networks.loadables import FULL, SMALL

pytest.importorskip("onnxruntime")

LARGE = HwConfig.load("nv_large")

Build = Callable[[NetworkBuilder, str], str]


def _one(kind: str, **attributes: Any) -> Build:
    def build(net: NetworkBuilder, value: str) -> str:
        (name,) = net.add(kind, [value], **attributes)
        return name

    return build


def _silu(net: NetworkBuilder, value: str) -> str:
    return net.add("Mul", [value, *net.add("Sigmoid", [value])])[0]


def _gelu(net: NetworkBuilder, value: str) -> str:
    (erf,) = net.add("Erf", net.add("Div", [value, net.constant(np.float32(math.sqrt(2)))]))
    (sum_,) = net.add("Add", [erf, net.constant(np.float32(1))])
    return net.add("Mul", [*net.add("Mul", [value, sum_]), net.constant(np.float32(0.5))])[0]


BUILDS: dict[str, Build] = {
    "Sigmoid": _one("Sigmoid"),
    "Tanh": _one("Tanh"),
    "Exp": _one("Exp"),
    "Erf": _one("Erf"),
    "Elu": _one("Elu", alpha=0.7),
    "Softplus": _one("Softplus"),
    "Softsign": _one("Softsign"),
    "HardSigmoid": _one("HardSigmoid"),
    "HardSwish": _one("HardSwish"),
    "SiLU": _silu,
    "GELU of Erf": _gelu,
}


def _compiled(build: Build, config: HwConfig, precision: Precision) -> tuple[CutNetwork, bytes, Any]:
    net = NetworkBuilder("net", (3, 6, 7), 5)
    value = net.conv(net.input, 12, 3, pad=1)
    (name,) = [build(net, value)]
    net.shapes[name] = net.shapes[value]
    end = net.conv(name, 8, 1)
    whole = fixed(net.model(end).SerializeToString())
    samples = random_inputs(file_inputs(prepared(whole)), 3, seed=4)
    return (
        CutNetwork.compiled("net", prepared(whole), config, samples, precisions=Precisions(precision)),
        whole,
        samples,
    )


@pytest.mark.parametrize(("config", "precision"), [(LARGE, Precision.INT8), (FULL, Precision.INT16)])
@pytest.mark.parametrize("name", BUILDS)
def test_a_function_is_a_table_behind_the_convolution(name: str, config: HwConfig, precision: Precision) -> None:
    network, whole, samples = _compiled(BUILDS[name], config, precision)
    assert not network.cut.share.host
    (task, *_) = network.place().given(samples[0]).tasks
    operations = getattr(task, "operations", ())
    looked_up = [operation for operation in operations if getattr(operation, "lut", None) is not None]
    # The slope of HardSigmoid goes into the convolution behind it, and its bounds are X2's.
    assert len(looked_up) == (0 if name == "HardSigmoid" else 1)
    assert name == "HardSigmoid" or [operation.engine.name for operation in operations] == ["CONV", "SDP"] * 2
    (output,) = accuracy_of(network, Reference(whole, network.cut.compared, by_host=True), samples, 0).outputs
    assert output.cosine is not None
    assert output.cosine > (0.998 if precision is Precision.INT8 else 0.999999)


@pytest.mark.parametrize(
    ("config", "precision", "reason"),
    [
        (SMALL, Precision.INT8, "SDP of nv_small has no lookup tables"),
        (FULL, Precision.FP16, "lookup tables of FP16 are not made"),
    ],
)
def test_without_tables_the_host_computes_it(config: HwConfig, precision: Precision, reason: str) -> None:
    network, _, _ = _compiled(_silu, config, precision)
    assert [(node.operator, node.reason) for node in network.cut.share.host][:1] == [("Sigmoid", reason)]


def test_two_functions_have_tables_of_their_own() -> None:
    def build(net: NetworkBuilder, value: str) -> str:
        (first,) = net.add("Sigmoid", [value])
        net.shapes[first] = net.shapes[value]
        return _one("Tanh")(net, net.conv(first, 12, 1))

    network, whole, samples = _compiled(build, LARGE, Precision.INT8)
    (task, *_) = network.place().given(samples[0]).tasks
    loaded = {operation.lut for operation in getattr(task, "operations", ()) if operation.lut is not None}
    assert len(loaded) == 2
    (output,) = accuracy_of(network, Reference(whole, network.cut.compared, by_host=True), samples, 0).outputs
    assert output.cosine is not None
    assert output.cosine > 0.998


def _cases() -> list[Any]:
    from onnx.backend.test.case.node import collect_testcases

    kinds = {"Sigmoid", "Tanh", "Exp", "Erf", "Gelu", "HardSigmoid", "HardSwish", "Elu", "Mish", "Softplus", "Softsign"}
    return [
        case
        for case in collect_testcases(None)
        if case.model is not None
        and case.data_sets
        and len(case.model.graph.node) == 1
        and case.model.graph.node[0].op_type in kinds
        and case.data_sets[0][0][0].size > 0
    ]


@pytest.mark.slow
def test_cases_of_onnx_play_as_cubes_on_the_device() -> None:
    cases = _cases()
    assert len(cases) > 20
    for case in cases:
        (given,), (wanted,) = (
            [numpy_helper.to_array(v) if isinstance(v, onnx.TensorProto) else v for v in side]
            for side in case.data_sets[0]
        )
        shape = (1, given.size, 1, 1) if given.size <= 1 << 13 else (1, given.size // 100, 10, 10)
        kind = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, shape)
        out = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, shape)
        node = onnx.NodeProto()
        node.CopyFrom(case.model.graph.node[0])
        node.input[0], node.output[0] = "x", "y"
        model = helper.make_model(
            helper.make_graph([node], "case", [kind], [out]), opset_imports=case.model.opset_import
        )
        ready = prepared(fixed(model.SerializeToString()))
        sample = {"x": given.reshape(shape).astype(np.float32)}
        network = CutNetwork.compiled("case", ready, FULL, [sample], precisions=Precisions(Precision.INT16))
        assert not network.cut.share.host, case.name
        placed = network.place().given(sample)
        inputs = [quantised(np.reshape(sample["x"], tensor.shape), tensor) for tensor in placed.inputs]
        run, memories = left_by_model("case", placed, inputs)
        (result,) = run.results(memories)
        difference = np.abs(np.asarray(result, np.float64).ravel() - wanted.ravel()).max()
        assert difference < 1e-3 * max(np.abs(wanted).max(), 1e-9), case.name


def test_what_pooling_takes_on_the_fly_is_looked_up_in_tables_of_its_own() -> None:
    def build(net: NetworkBuilder, value: str) -> str:
        (first,) = net.add("Tanh", [value])
        net.shapes[first] = net.shapes[value]
        value = net.conv(first, 12, 1)
        (gate,) = net.add("Sigmoid", [value])
        return net.add("MaxPool", [gate], kernel_shape=[3, 3], pads=[1, 1, 1, 1])[0]

    network, whole, samples = _compiled(build, LARGE, Precision.INT8)
    (task, *_) = network.place().given(samples[0]).tasks
    operations = getattr(task, "operations", ())
    assert [operation.engine.name for operation in operations if operation.lut is not None] == ["SDP", "SDP"]
    assert "PDP" in [operation.engine.name for operation in operations]
    (output,) = accuracy_of(network, Reference(whole, network.cut.compared, by_host=True), samples, 0).outputs
    assert output.cosine is not None
    assert output.cosine > 0.998
