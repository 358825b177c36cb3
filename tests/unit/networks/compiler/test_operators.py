"""Operators on the accelerator: what comes out is that of onnxruntime, within what integers cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from networks.random_networks import NetworkBuilder
from nvdla_models.precision import Precision
from nvdla_networks.compiler.accuracy import accuracy_of
from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.inputs import file_inputs, random_inputs
from nvdla_networks.compiler.precisions import Precisions
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reference import Reference
from nvdla_tb.nvdla.layers import ConvLayer, SdpLayer
from tests.unit.networks.compiler import building
from tests.unit.networks.compiler.building import OPERATORS, SHAPE
from tests.unit.networks.compiler.playing import computed, error, graph_of, played
from tests.unit.networks.loadables import FULL, SMALL

pytest.importorskip("onnxruntime")


@pytest.mark.parametrize(("config", "precision"), [(SMALL, Precision.INT8), (FULL, Precision.FP16)])
@pytest.mark.parametrize("name", OPERATORS)
def test_an_operator_runs_on_the_accelerator_and_gives_what_onnxruntime_does(
    name: str, config: Any, precision: Precision
) -> None:
    net = NetworkBuilder("net", (3, *SHAPE[1:]), 5)
    whole = fixed(net.model(OPERATORS[name](net)).SerializeToString())
    ready = prepared(whole)
    samples = random_inputs(file_inputs(ready), 3, seed=4)
    network = CutNetwork.compiled("net", ready, config, samples, precisions=Precisions(precision))
    assert not network.cut.share.host
    (output,) = accuracy_of(network, Reference(whole, network.cut.compared, by_host=True), samples, 0).outputs
    most = 0.065 if precision is Precision.INT8 else 0.003
    assert output.largest < most
    assert output.cosine is not None
    assert output.cosine > (0.99 if precision is Precision.INT8 else 0.9999)


@pytest.mark.parametrize("seed", range(40))
def test_a_transposed_convolution_of_any_sizes_is_that_of_onnxruntime(seed: int) -> None:
    draw = np.random.default_rng(seed)
    sides = draw.integers(1, 8, 2)
    kernel, stride, dilation = (draw.integers(1, most, 2) for most in (6, 5, 4))
    span = (kernel - 1) * dilation + 1
    before, after = (draw.integers(0, np.minimum(span, 4)) for _ in range(2))
    more = draw.integers(0, stride)
    if min((sides - 1) * stride + span + more - before - after) < 1:
        before = after = before * 0
    net = NetworkBuilder("net", (4, *map(int, sides)), seed)
    group = int(draw.integers(1, 3))
    weights = net.constant(draw.standard_normal((4, 3, *kernel)))
    given: dict[str, Any] = {"strides": stride, "dilations": dilation, "output_padding": more, "group": group}
    lists = {name: np.ravel(value).tolist() for name, value in given.items() if name != "group"}
    pads = [*before.tolist(), *after.tolist()]
    (name,) = net.add("ConvTranspose", [net.input, weights], pads=pads, group=group, **lists)
    net.shapes[name] = (3 * group, *((sides - 1) * stride + span + more - before - after).tolist())
    model = net.model(name)
    sample = {"input": draw.standard_normal((4, *sides))}
    expected = Reference(fixed(model.SerializeToString()), [name], by_host=True).values(sample)[0]
    np.testing.assert_allclose(computed(graph_of(model), sample), expected.ravel(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("kind", "constants", "attributes", "reason"),
    [
        (
            "Resize",
            (np.zeros(0), np.array([1, 1, 1e30, 2])),
            {},
            "images and channels must stay, and sides be 1 to 8192",
        ),
        ("Resize", (np.zeros(0), np.array([1.0, 1, 17, 1])), {}, "each element must come at most 16 times in a line"),
        ("Resize", (np.zeros(0), np.array([1.0, 1, 1.5, 2])), {}, "each line and column must come as often, or one of"),
        ("SpaceToDepth", (), {"blocksize": 17}, "steps along lines and columns must be 1 to 16, not [17, 17]"),
        ("ConvTranspose", (np.ones((4, 3, 2, 2)), np.ones(3)), {"strides": [60, 60]}, "blocks must have at most 8192"),
        ("ConvTranspose", (np.ones((4, 3, 2, 2)), np.ones(5)), {}, "bias must be 3 numbers, not 5"),
        ("ConvTranspose", (np.ones((4, 3, 40, 1)),), {"strides": [1, 99]}, "pad_top must be an integer from 0 to 31"),
        ("Slice", (np.array([5]), np.array([0]), np.array([2]), np.array([-1])), {}, "steps along lines and columns"),
    ],
)
def test_what_does_not_fit_the_accelerator_runs_on_the_host_and_says_why(
    kind: str, constants: Any, attributes: Any, reason: str
) -> None:
    net = NetworkBuilder("net", (4, 34, 34), 5)
    given = [net.constant(each, np.int64 if each.dtype.kind == "i" else np.float32) for each in constants]
    (name,) = net.add(kind, [net.input, *given], **attributes)
    net.shapes[name] = (0, 0, 0)
    model = net.model(name)
    model.graph.output[0].type.tensor_type.shape.dim[0].dim_value = 0
    ready = prepared(fixed(model.SerializeToString()))
    (node,) = CutNetwork.compiled("net", ready, SMALL, random_inputs(file_inputs(ready), 1, seed=4)).cut.share.host
    assert node.reason.startswith(reason)


def test_a_block_of_one_element_changes_nothing() -> None:
    net = NetworkBuilder("net", (3, 4, 4), 5)
    (name,) = net.add("SpaceToDepth", [net.conv(net.input, 4, 1)], blocksize=1)
    net.shapes[name] = (4, 4, 4)
    assert [type(node.operation).__name__ for node in graph_of(net.model(name)).nodes] == ["Conv"]


def test_an_average_of_more_than_a_kernel_is_one_of_averages() -> None:
    net = NetworkBuilder("wide", (3, 4, 96), 5)
    value = net.conv(net.input, 8, 1)
    (name,) = net.add("GlobalAveragePool", [value])
    net.shapes[name] = (8, 1, 1)
    whole = fixed(net.model(name).SerializeToString())
    samples = random_inputs(file_inputs(prepared(whole)), 3, seed=4)
    network = CutNetwork.compiled("net", prepared(whole), SMALL, samples)
    assert not network.cut.share.host
    (output,) = accuracy_of(network, Reference(whole, network.cut.compared, by_host=True), samples, 0).outputs
    assert output.cosine is not None
    assert output.cosine > 0.99


def test_what_follows_a_transposed_convolution_is_part_of_its_layer() -> None:
    net = NetworkBuilder("net", (3, 6, 7), 5)
    value = building.transposed((12, 9, 3, 3), strides=[2, 2], pads=[1, 1, 0, 0])(net)
    numbers = [net.constant(np.linspace(low, high, 9)) for low, high in ((0.5, 2), (-1, 1), (-0.2, 0.3), (0.5, 1.5))]
    (value,) = net.add("BatchNormalization", [value, *numbers])
    (value,) = net.add("Relu", [value])
    net.shapes[value] = (9, 12, 14)
    got, expected, layers = played(net.model(value))
    assert [type(layer) for layer in layers] == [ConvLayer, ConvLayer, *[SdpLayer] * 4]
    stages = [layer.sdp.x1 for layer in layers if isinstance(layer, ConvLayer)]
    assert [stage is not None and stage.relu for stage in stages] == [False, True]
    assert error(got[0], expected[0]) < 0.04
