"""Networks whose layers compute in several precisions, with layers of SDP between them."""

from __future__ import annotations

import itertools

import numpy as np
import onnx
import pytest

from networks.random_networks import NetworkBuilder
from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_networks.compiler.accuracy import accuracy_of
from nvdla_networks.compiler.cut_network import CutNetwork
from nvdla_networks.compiler.inputs import file_inputs, random_inputs
from nvdla_networks.compiler.precisions import Precisions
from nvdla_networks.compiler.prepare import fixed, prepared
from nvdla_networks.compiler.reference import Reference
from nvdla_networks.errors import NetworkError
from nvdla_networks.network import HardwareTask, HostPart, Network, SoftwareTask
from tests.unit.networks.loadables import FULL, SMALL


def stages(channels: int = 32) -> onnx.ModelProto:
    """Return three convolutions with a ReLU each, and a branch around the second."""
    net = NetworkBuilder("stages", (3, 6, 6), 2)
    first = net.relu(net.conv(net.input, channels, 3, pad=1))
    second = net.relu(net.conv(first, channels, 3, pad=1))
    (both,) = net.add("Add", [second, first])
    net.shapes[both] = net.shapes[first]
    return net.model(net.conv(both, channels, 1))


def compiled(model: onnx.ModelProto, *texts: str, config: HwConfig = FULL) -> tuple[CutNetwork, float]:
    """Return a network, and how far it is from floating point."""
    whole = fixed(model.SerializeToString())
    ready = prepared(whole)
    samples = random_inputs(file_inputs(ready), 3, seed=4)
    network = CutNetwork.compiled("net", ready, config, samples, precisions=Precisions.parse(texts))
    (output,) = accuracy_of(network, Reference(whole, network.cut.compared), samples, 0).outputs
    assert output.cosine is not None
    return network, output.error


def operations(network: Network) -> list[str]:
    return [op.name for task in network.tasks if isinstance(task, HardwareTask) for op in task.operations]


def moved_by_host(network: Network) -> int:
    parts = (op for task in network.tasks if isinstance(task, SoftwareTask) for op in task.operations)
    return sum(len(part.moved) for part in parts if isinstance(part, HostPart))


@pytest.mark.parametrize(
    ("first", "second"), [pair for pair in itertools.product(Precision, repeat=2) if pair[0] is not pair[1]]
)
def test_layers_of_sdp_convert_between_any_two_precisions(first: Precision, second: Precision) -> None:
    network, error = compiled(stages(), first.value, f"Conv_2={second.value}")
    placed = network.place()
    assert network.cut.precisions == (first, second, first)
    assert moved_by_host(placed) == 0
    assert {f"v1_0_{second.value}", f"v3_0_{first.value}"} <= {*operations(placed)}
    most = {Precision.INT8: 0.02, Precision.INT16: 0.002, Precision.FP16: 0.003}
    assert error < max(most[first], most[second])


def test_wider_layers_cost_less_and_names_are_patterns() -> None:
    _, narrow = compiled(stages())
    network, wide = compiled(stages(), "Conv_*=int16", "Conv_2=int8")
    assert network.cut.precisions == (Precision.INT16, Precision.INT8, Precision.INT16)
    assert wide < narrow


def test_what_a_conversion_costs_is_that_of_its_layers() -> None:
    model = stages()
    network, _ = compiled(model, "Conv_2=int16", "Conv_5=fp16")
    reference = Reference(fixed(model.SerializeToString()), network.cut.compared)
    layers = accuracy_of(network, reference, random_inputs(network.inputs, 2, seed=4), 0).layers
    assert {*layers} == {name for name in operations(network.place()) if not name.startswith("sdp")}
    assert 0 < layers["v1_0_int16"] < 1e-3 < layers["v3_0_int8"] < 0.02
    assert layers["v4_0_int16"] == layers["v4_0_fp16"] == layers["v4_0_fp16_1"] < 1e-3


@pytest.mark.parametrize("channels", [1, 10, 16, 40, 80])
@pytest.mark.parametrize("second", ["int16", "fp16"])
def test_channels_that_fill_atoms_of_one_precision_alone_are_converted_with_those_behind_them(
    channels: int, second: str
) -> None:
    network, error = compiled(stages(channels), f"Conv_2={second}")
    assert moved_by_host(network.place()) == 0
    assert error < 0.03


@pytest.mark.parametrize(
    ("first", "second"), [("int8", "int16"), ("int8", "fp16"), ("int16", "int8"), ("int16", "fp16"), ("fp16", "int8")]
)
def test_parts_of_a_joined_cube_are_converted_each_with_its_scale(first: str, second: str) -> None:
    net = NetworkBuilder("joined", (3, 6, 6), 2)
    small = net.relu(net.conv(net.input, 20, 1))
    (large,) = net.add("Mul", [net.relu(net.conv(net.input, 32, 1)), net.constant(100.0)])
    net.shapes[large] = (32, 6, 6)
    weights = net.rng.standard_normal((8, 52, 1, 1)) * np.repeat([1, 1 / 100], (20, 32)).reshape(1, 52, 1, 1)
    (name,) = net.add("Conv", [net.joined(small, large), net.constant(weights)])
    net.shapes[name] = (8, 6, 6)
    network, error = compiled(net.model(name), first, f"Conv_6={second}")
    assert moved_by_host(network.place()) == 0
    assert error < (0.03 if "int8" in (first, second) else 0.003)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int4", "--precision must be int8, int16, fp16, or NODE= and one of them or host, not int4"),
        ("host", "--precision must be int8, int16, fp16, or NODE= and one of them or host, not host"),
        ("Conv_9=int16", "--precision must name a node of the file or a layer, not Conv_9"),
        ("Conv_2=int16", "precision must be INT8 for nv_small, not INT16"),
    ],
)
def test_a_precision_that_cannot_be_is_refused(text: str, message: str) -> None:
    with pytest.raises(NetworkError) as caught:
        compiled(stages(), text, config=SMALL)
    assert str(caught.value) == message


def test_the_host_computes_the_nodes_that_are_left_to_it() -> None:
    network, error = compiled(stages(), "Conv_*=host", "Conv_0=int8", "Conv_5=int8", config=SMALL)
    (node,) = network.cut.share.host
    assert (node.name, node.reason) == ("Conv_2", "--precision says so")
    assert error < 0.03


def test_a_gain_out_of_the_range_of_fp16_takes_two_stages() -> None:
    net = NetworkBuilder("small", (32, 4, 4), 2)
    weights = net.constant(np.full((32, 32, 1, 1), 1e-4) * np.linspace(-1, 1, 32).reshape(32, 1, 1, 1))
    (value,) = net.add("Conv", [net.input, weights])
    net.shapes[value] = (32, 4, 4)
    (name,) = net.add("Conv", [value, net.constant(np.eye(32).reshape(32, 32, 1, 1) * 1000)])
    net.shapes[name] = (32, 4, 4)
    _, error = compiled(net.model(name), "int16", "Conv_1=fp16")
    assert error < 0.005
