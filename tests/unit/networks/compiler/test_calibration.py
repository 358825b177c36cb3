"""What integers must hold: all of the samples, all but outliers, or what loses least information."""

from __future__ import annotations

import numpy as np
import pytest

from networks.random_networks import NetworkBuilder
from nvdla_networks.compiler.accuracy import accuracy_of
from nvdla_networks.compiler.calibration import Calibration, reached
from nvdla_networks.compiler.graph import Floats
from nvdla_networks.compiler.onnx_network import OnnxNetwork
from nvdla_networks.compiler.prepare import fixed
from nvdla_networks.compiler.reference import Reference
from tests.unit.networks.compiler.playing import graph_of
from tests.unit.networks.loadables import SMALL

OUTLIER = 60.0


def _samples(side: int = 40) -> list[dict[str, Floats]]:
    """Return normal numbers, one of which lies far out."""
    samples = [{"input": np.random.default_rng(seed).standard_normal((4, side, side))} for seed in range(4)]
    samples[0]["input"][0, 0, 0] = OUTLIER
    return samples


def _relu(side: int = 40) -> NetworkBuilder:
    net = NetworkBuilder("relu", (4, side, side), 1)
    net.relu(net.conv(net.input, 4, 1))
    return net


def test_outliers_count_in_a_range_alone() -> None:
    graph = graph_of(_relu().model("v1_0"))
    reach = {kind: reached(graph, _samples(), kind)["input"] for kind in Calibration}
    everything = np.stack([sample["input"] for sample in _samples()])
    assert reach[Calibration.RANGE] == (everything.min(), OUTLIER)
    least, most = reach[Calibration.PERCENTILE]
    step = (OUTLIER - everything.min()) / 2048
    assert least == pytest.approx(np.quantile(everything, 0.5e-4), abs=2 * step)
    assert most == pytest.approx(np.quantile(everything, 1 - 0.5e-4), abs=2 * step)
    least, most = reach[Calibration.ENTROPY]
    assert -4 < least < -3
    assert 3 < most < 10


def test_a_value_that_is_never_negative_reaches_from_zero_and_few_elements_reach_as_far_as_they_do() -> None:
    graph = graph_of(_relu().model("v1_0"))
    assert all(reached(graph, _samples(), kind)["v1_0"][0] == 0 for kind in Calibration)
    few = graph_of(_relu(4).model("v1_0"))
    assert reached(few, _samples(4), Calibration.ENTROPY) == reached(few, _samples(4), Calibration.RANGE)


def test_a_network_whose_outliers_are_left_out_is_nearer_to_floating_point() -> None:
    model = _relu().model("v1_0")
    reference = Reference(fixed(model.SerializeToString()), ["v1_0"])
    errors = {}
    for kind in Calibration:
        network = OnnxNetwork.compiled("net", graph_of(model), SMALL, _samples(), calibration=kind)
        (output,) = accuracy_of(network, reference, _samples()[1:], 0).outputs
        errors[kind] = output.error
    assert errors[Calibration.PERCENTILE] < errors[Calibration.RANGE] / 3
    assert errors[Calibration.ENTROPY] < errors[Calibration.RANGE] / 3
