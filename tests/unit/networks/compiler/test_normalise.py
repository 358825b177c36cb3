"""Local response normalisation: what CDP's tables make of it, beside the formula."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from networks.random_networks import NetworkBuilder, inception
from nvdla_models.cdp import CdpParams, run
from nvdla_models.config import HwConfig
from nvdla_models.lut import LutChoice
from nvdla_models.precision import Precision
from nvdla_networks.compiler.graph import Lrn
from nvdla_networks.compiler.interpret import computed
from nvdla_networks.compiler.normalise import normalisation
from nvdla_networks.compiler.target import Target
from nvdla_networks.errors import NetworkError
from nvdla_tb.nvdla.layers import CdpLayer
from tests.unit.networks.compiler.playing import SMALL, Array, error, graph_of, played, reference

SHAPE = (13, 8, 8)
TARGET = Target(SMALL, Precision.INT8)

MOST_STEPS = 1.0
"""Of the result: half a step of rounding, and as much for the tables."""


def scaled(lrn: Lrn, cube: Array, src: float, target: Target = TARGET) -> tuple[CdpParams, Array, float]:
    """Return the layer that normalises integers of this scale, the real result, and the scale of the layer's."""
    expected = computed(lrn, [cube * src])
    out = float(np.abs(expected).max()) / target.most
    return normalisation("n", target, lrn, SHAPE, src, out), expected, out


@pytest.mark.parametrize("size", [3, 5, 7, 9])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize(("beta", "bias"), [(0.75, 1.0), (0.5, 2.0), (1.0, 0.1)])
def test_the_tables_err_by_less_than_a_step(size: int, alpha: float, beta: float, bias: float) -> None:
    draw = np.random.default_rng(size)
    magnitudes = np.exp(draw.uniform(0, np.log(127.5), SHAPE))
    cube = np.rint(magnitudes * draw.choice([-1, 1], SHAPE)).astype(np.int8)
    params, expected, out = scaled(Lrn(size, alpha, beta, bias), cube, 0.05)
    got = run(params, cube, SHAPE[0])
    assert np.abs(got * out - expected).max() < MOST_STEPS * out


def test_the_finer_table_wins_where_both_hit() -> None:
    cube = np.random.default_rng(9).integers(-20, 21, SHAPE, dtype=np.int8)
    params, expected, out = scaled(Lrn(9, 1.0, 0.75, 1.0), cube, 0.05)
    other = LutChoice(1 - params.lut.hybrid_priority)
    coarse = replace(params, lut=replace(params.lut, hybrid_priority=other))
    fine_steps, coarse_steps = (np.abs(run(p, cube, SHAPE[0]) * out - expected).max() / out for p in (params, coarse))
    assert fine_steps < MOST_STEPS < coarse_steps


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


@pytest.mark.parametrize("alpha", [1e-4, 1.0])
def test_int16_is_far_finer_than_int8(alpha: float) -> None:
    cube = np.random.default_rng(2).integers(-32767, 32768, SHAPE, dtype=np.int16)
    target = Target(HwConfig.load("nv_full"), Precision.INT16)
    params, expected, out = scaled(Lrn(5, alpha, 0.75, 1.0), cube, 2.0 / (1 << 15), target)
    got = run(params, cube, SHAPE[0])
    assert np.abs(got * out - expected).max() < np.abs(expected).max() / 4000


@pytest.mark.parametrize("size", [3, 9])
@pytest.mark.parametrize("alpha", [0.0, 1e-4, 1.0])
@pytest.mark.parametrize(("beta", "bias"), [(0.75, 1.0), (0.5, 2.0), (1.0, 0.1)])
@pytest.mark.parametrize(("part", "most"), [(0.9, 0.004), (300.0, 0.13)], ids=["fine table", "coarse table"])
def test_fp16_errs_by_a_part_of_the_result(
    size: int, alpha: float, beta: float, bias: float, part: float, most: float
) -> None:
    """Sums are spread evenly over magnitudes, up to 0.9 or 300 times the end of the fine table."""
    lrn = Lrn(size, alpha, beta, bias)
    largest = min(np.sqrt(part * 16 * bias / alpha), 1000) if alpha else 1000
    draw = np.random.default_rng(size)
    cube = (draw.choice([-1, 1], SHAPE) * largest * 2.0 ** -draw.uniform(0, 6, SHAPE[1:])).astype(np.float16)
    expected = computed(lrn, [cube.astype(np.float64)])
    params = normalisation("n", Target(HwConfig.load("nv_full"), Precision.FP16), lrn, SHAPE, 1.0, 1.0)
    got = run(params, cube.view(np.uint16), SHAPE[0]).view(np.float16).astype(np.float64)
    assert np.abs(got / expected - 1).max() < most


def test_networks_with_lrn_come_close_in_fp16() -> None:
    got, expected, layers = played(inception(side=24), HwConfig.load("nv_full"), precision=Precision.FP16)
    assert error(got[0], expected[0]) < 0.004
    normalising = [layer for layer in layers if isinstance(layer, CdpLayer)]
    assert {layer.params.precision for layer in normalising} == {Precision.FP16}
