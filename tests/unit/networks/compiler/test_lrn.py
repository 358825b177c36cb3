"""Local response normalisation in networks."""

from __future__ import annotations

import numpy as np
import pytest

from networks.random_networks import NetworkBuilder, inception
from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_networks.compiler.interpret import computed
from nvdla_networks.errors import NetworkError
from nvdla_tb.nvdla.layers import CdpLayer
from tests.unit.networks.compiler.playing import error, graph_of, played, reference


def test_floating_point_is_that_of_onnx() -> None:
    net = NetworkBuilder("lrn", (11, 3, 4), 5)
    model = net.model(net.lrn(net.input, 7, 0.5, 0.6, 1.5))
    sample = {"input": net.rng.standard_normal((11, 3, 4))}
    (node,) = graph_of(model).nodes
    np.testing.assert_allclose(
        computed(node.operation, [sample["input"]]).ravel(), reference(model, sample), rtol=1e-5, atol=1e-6
    )


def test_parts_of_a_joined_cube_are_put_together_before_sums_are_taken() -> None:
    net = NetworkBuilder("parts", (3, 4, 4), 6)
    value = net.joined(net.conv(net.input, 5, 1), net.conv(net.input, 6, 1))
    got, expected, layers = played(net.model(net.conv(net.lrn(value, 3), 4, 1)))
    (layer,) = (layer for layer in layers if isinstance(layer, CdpLayer))
    assert layer.src.layout.shape == (11, 4, 4)
    assert error(got[0], expected[0]) < 0.06


def test_a_window_that_cdp_does_not_have_is_refused() -> None:
    net = NetworkBuilder("lrn", (16, 3, 4), 5)
    with pytest.raises(NetworkError) as caught:
        played(net.model(net.lrn(net.input, 11)))
    assert str(caught.value) == "node 'LRN_0': size must be 3, 5, 7 or 9, which CDP has, not 11"


def test_networks_with_lrn_come_close_in_fp16() -> None:
    got, expected, layers = played(inception(side=24), HwConfig.load("nv_full"), precision=Precision.FP16)
    assert error(got[0], expected[0]) < 0.004
    normalising = [layer for layer in layers if isinstance(layer, CdpLayer)]
    assert {layer.params.precision for layer in normalising} == {Precision.FP16}
