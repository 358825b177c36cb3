"""Compiled networks on the reference model: what comes out, beside what floating point computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import onnx
import pytest

from networks.random_networks import NetworkBuilder, alexnet, inception, mixed, residual, shuffle
from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_networks.compiler.onnx_network import OnnxNetwork
from nvdla_networks.errors import NetworkError
from nvdla_tb.nvdla.layers import CdpLayer, ConvLayer, Layer, PdpLayer, PooledLayer, SdpLayer
from nvdla_tb.nvdla.surfaces import ImageSurface
from tests.unit.networks.compiler.playing import SMALL, computed, error, graph_of, played, random_samples, reference

TOLERANCE = 0.06
"""Of the largest value: a few roundings to 127 steps each."""

TINY = {
    "mixed": lambda: mixed(side=12),
    "residual": lambda: residual((8, 16), side=8),
    "alexnet": lambda: alexnet(side=47),
    "inception": lambda: inception(side=24),
    "shuffle": lambda: shuffle(side=16),
}


@pytest.mark.parametrize("name", TINY)
def test_floating_point_is_that_of_onnx(name: str) -> None:
    model = TINY[name]()
    graph = graph_of(model)
    (sample,) = random_samples(graph, 1, seed=5)
    np.testing.assert_allclose(computed(graph, sample), reference(model, sample), atol=1e-5)


@pytest.mark.parametrize("name", TINY)
def test_simplifying_and_arranging_change_no_result(name: str) -> None:
    graph = graph_of(TINY[name]())
    (sample,) = random_samples(graph, 1, seed=5)
    smaller = OnnxNetwork.compiled("net", graph, SMALL, [sample]).graph
    np.testing.assert_allclose(computed(smaller, sample), computed(graph, sample), atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("config", ["nv_small", "nv_small_256", "nv_large", "nv_full"])
@pytest.mark.parametrize("name", TINY)
def test_one_file_is_compiled_for_every_configuration(name: str, config: str) -> None:
    got, expected, layers = played(TINY[name](), HwConfig.load(config))
    assert error(got[0], expected[0]) < TOLERANCE
    normalised = any(isinstance(layer, CdpLayer) for layer in layers)
    assert normalised == (name in ("alexnet", "inception"))
    assert normalised or any(isinstance(layer, PooledLayer) for layer in layers)


def test_a_user_configuration_with_a_small_buffer_cuts_lines_and_computes_the_same() -> None:
    net = NetworkBuilder("wide", (8, 40, 9), 4)
    value = net.relu(net.conv(net.input, 8, 5, stride=2, pad=2))
    model = net.model(net.conv(value, 12, 3, pad=1))
    whole, _, layers = played(model)
    few = replace(SMALL, name="mine", cbuf_bank_number=4, cbuf_bank_depth=128)
    cut, expected, more = played(model, few)
    assert (len(layers), len(more)) == (2, 3)
    np.testing.assert_array_equal(cut[0], whole[0])
    assert error(cut[0], expected[0]) < TOLERANCE


def test_a_layer_whose_one_line_does_not_fit_is_refused_by_name() -> None:
    net = NetworkBuilder("wide", (64, 8, 8), 4)
    few = replace(SMALL, name="mine", cbuf_bank_number=2, cbuf_bank_depth=64)
    message = "node 'Conv_0': 8 kernels of 64x3x3 and the input of one line of output must fit the 2 banks of mine"
    with pytest.raises(NetworkError) as caught:
        played(net.model(net.conv(net.input, 8, 3)), few)
    assert str(caught.value) == message


def _bounded(net: NetworkBuilder) -> str:
    return net._same("Clip", [net.conv(net.input, 8, 3, pad=1), net.constant(0), net.constant(0.5)])


def _bounded_in_a_wider_scale(net: NetworkBuilder) -> str:
    """Return a bound that is not the scale's own: the cube is joined with a larger one."""
    large = net._same("Mul", [net.conv(net.input, 8, 1), net.constant(4)])
    (value,) = net.add("Concat", [_bounded(net), large], axis=1)
    net.shapes[value] = (16, 6, 6)
    return value


def _leaky(net: NetworkBuilder) -> str:
    return net._same("LeakyRelu", [net.conv(net.input, 8, 3, pad=1)], alpha=0.3)


def _shifted(net: NetworkBuilder) -> str:
    """Return a batch normalisation that no convolution takes up."""
    return net.relu(net.normalised(net.relu(net.conv(net.input, 12, 1))))


def _negative(net: NetworkBuilder) -> str:
    return net.relu(net._same("Mul", [net.pool(net.input, "MaxPool", 1, 1), net.constant(-0.5)]))


def _cut_and_added(net: NetworkBuilder) -> str:
    """Return the sum of cuts that begin within atoms, which copies make equal."""
    first, second = net.add("Split", [net.conv(net.input, 12, 1), net.constant([5, 7], np.int64)], 2, axis=1)
    net.shapes |= {first: (5, 6, 6), second: (7, 6, 6)}
    return net.plus(net.conv(first, 7, 1), second)


def _joined_twice(net: NetworkBuilder) -> str:
    """Return a cube that is joined within another, beside a part that is joined a second time."""
    first, second = net.conv(net.input, 5, 1), net.conv(net.input, 9, 1)
    (inner,) = net.add("Concat", [first, second], axis=1)
    (outer,) = net.add("Concat", [inner, first, net.input], axis=1)
    net.shapes[outer] = (5 + 9 + 5 + 3, 6, 6)
    return net.conv(outer, 8, 3)


def _averaged_at_large(net: NetworkBuilder) -> str:
    net.shapes[net.input] = (3, 11, 9)
    (value,) = net.add("GlobalAveragePool", [net.conv(net.input, 10, 1)])
    net.shapes[value] = (10, 1, 1)
    return value


def _dilated(net: NetworkBuilder) -> str:
    weights = net.constant(net.rng.standard_normal((8, 3, 3, 3)) * 0.3)
    (value,) = net.add("Conv", [net.input, weights], dilations=[2, 1], pads=[2, 1, 2, 1])
    net.shapes[value] = (8, 6, 6)
    return value


def _shuffled_twice(net: NetworkBuilder) -> str:
    """Return groups that exchange channels, and exchange them back, so that nothing is left to do."""
    value = net.conv(net.input, 12, 1)
    back = net.shuffled(net.shuffled(value, 3), 4)
    return net.conv(net.plus(back, net.shuffled(value, 2)), 8, 1, groups=2)


def _multiplied(net: NetworkBuilder) -> str:
    (flat,) = net.add("Reshape", [net.input, net.constant([1, -1], np.int64)])
    (value,) = net.add("MatMul", [flat, net.constant(net.rng.standard_normal((108, 9)) * 0.1)])
    net.shapes[value] = (9,)
    return net._same("Identity", [net.plus(value, net.constant(net.rng.standard_normal(9)))])


SHAPES = (
    _bounded,
    _bounded_in_a_wider_scale,
    _leaky,
    _shifted,
    _negative,
    _cut_and_added,
    _joined_twice,
    _averaged_at_large,
    _dilated,
    _shuffled_twice,
    _multiplied,
)


@pytest.mark.parametrize("build", SHAPES, ids=[build.__name__.strip("_") for build in SHAPES])
@pytest.mark.parametrize("per_channel", [True, False], ids=["per channel", "per tensor"])
def test_what_comes_out_is_that_of_floating_point(build: Callable[[NetworkBuilder], str], per_channel: bool) -> None:
    net = NetworkBuilder("small", (3, 6, 6), 7)
    got, expected, _ = played(net.model(build(net)), per_channel=per_channel)
    assert error(got[0], expected[0]) < TOLERANCE


def test_a_step_of_integers_is_what_scales_say() -> None:
    """Weights and inputs that are integers lose nothing: the result is that of integers, rounded once."""
    net = NetworkBuilder("exact", (1, 1, 1), 1)
    (value,) = net.add("Conv", [net.input, net.constant(np.full((1, 1, 1, 1), 127.0))])
    net.shapes[value] = (1, 1, 1)
    got, expected, _ = played(net.model(value))
    np.testing.assert_allclose(got[0], expected[0], rtol=1 / 127)


@pytest.mark.parametrize(
    ("shape", "side", "stride", "pads", "ceil", "parts"),
    [
        ((5, 6, 7), 3, 1, [1, 1, 1, 1], 0, 9),
        ((5, 6, 7), 3, 2, [0, 1, 1, 0], 1, 6),
        ((5, 7, 5), 5, 1, [2, 2, 2, 2], 0, 25),
        ((5, 2, 2), 3, 1, [1, 1, 1, 1], 0, 4),
        ((5, 8, 8), 2, 2, [0, 0, 0, 0], 0, 1),
    ],
)
def test_padding_that_does_not_count_is_left_out_of_averages(
    shape: tuple[int, int, int], side: int, stride: int, pads: list[int], ceil: int, parts: int
) -> None:
    net = NetworkBuilder("average", shape, 8)
    kernel = {"kernel_shape": [side, side], "strides": [stride, stride], "pads": pads, "ceil_mode": ceil}
    (value,) = net.add("AveragePool", [net.input], **kernel)
    rounding = -(stride - 1) if ceil else 0
    sides = [(s + pads[a] + pads[a + 2] - side - rounding) // stride + 1 for a, s in enumerate(shape[1:])]
    net.shapes[value] = (shape[0], *sides)
    model = net.model(value)
    got, expected, layers = played(model)
    np.testing.assert_allclose(expected[0], reference(model, random_samples(graph_of(model), 1, seed=3)[0]), atol=1e-6)
    assert [type(layer) for layer in layers] == [PdpLayer] * parts
    assert error(got[0], expected[0]) < 0.04


def test_a_shuffle_is_one_convolution_and_two_that_undo_each_other_are_two() -> None:
    net = NetworkBuilder("shuffle", (12, 4, 4), 8)
    _, _, layers = played(net.model(net.relu(net.shuffled(net.input, 3))))
    assert [type(layer) for layer in layers] == [ConvLayer]
    net = NetworkBuilder("nothing", (12, 4, 4), 8)
    (same,) = net.add("Transpose", [net.shuffled(net.relu(net.input), 1)], perm=[0, 1, 2, 3])
    net.shapes[same] = (12, 4, 4)
    _, _, layers = played(net.model(net.relu(same)))
    assert [type(layer) for layer in layers] == [SdpLayer]


FULL = HwConfig.load("nv_full")


@pytest.mark.slow
@pytest.mark.parametrize(("precision", "most"), [(Precision.INT16, 0.002), (Precision.FP16, 0.004)])
@pytest.mark.parametrize("name", TINY)
def test_wider_numbers_come_closer_to_floating_point(name: str, precision: Precision, most: float) -> None:
    got, expected, layers = played(TINY[name](), FULL, precision=precision)
    assert error(got[0], expected[0]) < most
    assert {layer.dst.layout.precision for layer in layers} == {precision}


@pytest.mark.parametrize(("precision", "most"), [(Precision.INT16, 0.002), (Precision.FP16, 0.004)])
@pytest.mark.parametrize("build", SHAPES, ids=[build.__name__.strip("_") for build in SHAPES])
def test_every_shape_has_wider_numbers(
    build: Callable[[NetworkBuilder], str], precision: Precision, most: float
) -> None:
    net = NetworkBuilder("small", (3, 6, 6), 7)
    got, expected, _ = played(net.model(build(net)), FULL, precision=precision)
    assert error(got[0], expected[0]) < most


def test_sums_of_int16_that_32_bits_do_not_hold_lose_bits_and_do_not_overflow() -> None:
    net = NetworkBuilder("long", (64, 5, 5), 7)
    weights = net.constant(np.full((4, 64, 5, 5), 0.01))
    (value,) = net.add("Conv", [net._same("Relu", [net.input]), weights])
    net.shapes[value] = (4, 1, 1)
    got, expected, layers = played(net.model(value), FULL, precision=Precision.INT16)
    (conv,) = (layer for layer in layers if isinstance(layer, ConvLayer))
    # 64 x 5 x 5 products of 15 bits each: 30 + 11 bits.
    assert conv.params.truncate == 30 + 11 - 31
    assert error(got[0], expected[0]) < 0.001


def test_a_configuration_without_the_precision_is_refused() -> None:
    with pytest.raises(NetworkError) as caught:
        played(TINY["residual"](), precision=Precision.FP16)
    assert str(caught.value) == "precision must be INT8 for nv_small, not FP16"


def _channels_of_first(layers: Sequence[Layer]) -> tuple[str, int]:
    (first, *_) = (layer.producer if isinstance(layer, PooledLayer) else layer for layer in layers)
    assert isinstance(first, ConvLayer)
    name = first.src.layout.format_name if isinstance(first.src, ImageSurface) else "cube"
    return name, first.src.layout.shape[0]


@pytest.mark.parametrize("config", ["nv_small", "nv_small_256", "nv_large", "nv_full"])
@pytest.mark.parametrize(("channels", "image"), [(1, ("T_R8", 1)), (3, ("T_A8B8G8R8", 4)), (4, ("T_A8B8G8R8", 4))])
def test_pictures_are_read_as_images_and_give_the_same_bits(config: str, channels: int, image: tuple[str, int]) -> None:
    net = NetworkBuilder("picture", (channels, 13, 19), 9)
    model = net.model(net.pool(net.relu(net.conv(net.input, 12, 5, stride=2, pad=2)), "MaxPool", 2, 2))
    hardware = HwConfig.load(config)
    got, expected, layers = played(model, hardware)
    without = replace(hardware, image_formats_packed=(), image_formats_semi_planar=())
    same, _, cubes = played(model, without)
    assert (_channels_of_first(layers), _channels_of_first(cubes)) == (image, ("cube", channels))
    np.testing.assert_array_equal(got[0], same[0], strict=True)
    assert error(got[0], expected[0]) < TOLERANCE


def test_a_picture_that_does_not_fit_the_buffer_is_read_in_parts() -> None:
    net = NetworkBuilder("tall", (3, 90, 20), 9)
    model = net.model(net.conv(net.input, 8, 3, pad=1))
    few = replace(SMALL, name="mine", cbuf_bank_number=4, cbuf_bank_depth=64)
    whole, _, _ = played(model)
    cut, _, layers = played(model, few)
    assert len(layers) > 1
    assert _channels_of_first(layers) == ("T_A8B8G8R8", 4)
    np.testing.assert_array_equal(cut[0], whole[0], strict=True)


def _one_pixel(net: NetworkBuilder) -> str:
    return net.conv(net.input, 8, 1)


def _taken_twice(net: NetworkBuilder) -> str:
    return net.plus(net.conv(net.input, 8, 3, pad=1), net.conv(net.input, 8, 1))


def _in_groups(net: NetworkBuilder) -> str:
    return net.conv(net.input, 6, 3, groups=3)


def _width_of_one_stripe_and_a_pixel(net: NetworkBuilder) -> str:
    net.shapes[net.input] = (3, 8, 23)
    return net.conv(net.input, 8, 7)


@pytest.mark.parametrize("build", [_one_pixel, _taken_twice, _in_groups, _width_of_one_stripe_and_a_pixel])
def test_a_picture_stays_a_cube_where_that_is_faster_shared_or_safe(build: Callable[[NetworkBuilder], str]) -> None:
    net = NetworkBuilder("cube", (3, 8, 8), 9)
    _, _, layers = played(net.model(build(net)))
    assert _channels_of_first(layers)[0] == "cube"


def test_layers_are_fused_as_far_as_the_hardware_can() -> None:
    _, _, layers = played(residual((8, 16), side=8))
    kinds = [type(layer) for layer in layers]
    assert kinds == [ConvLayer] * 5 + [PooledLayer, ConvLayer]
    _, _, layers = played(mixed(side=12))
    assert {type(layer) for layer in layers} == {ConvLayer, PooledLayer, SdpLayer, PdpLayer}


def test_several_runs_share_constants_and_differ() -> None:
    got, expected, _ = played(residual((8,), side=4), runs=2)
    assert not np.array_equal(got[0], got[1])
    for run in range(2):
        assert error(got[run], expected[run]) < TOLERANCE


def test_values_that_never_meet_share_memory() -> None:
    net = NetworkBuilder("deep", (8, 6, 6), 1)
    value = net.input
    for _ in range(6):
        value = net.relu(net.conv(value, 8, 3, pad=1))
    compiled = OnnxNetwork.compiled("net", graph_of(net.model(value)), SMALL, [])
    assert len([a for a in compiled.place().allocations if a.name.startswith("b")]) == 4


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda net: net.pool(net.input, "MaxPool", 9, 1),
            "node 'MaxPool_0': kernel_width must be an integer from 1 to 8, not 9",
        ),
        (
            lambda net: net.relu(net._same("Softmax", [net.dense(net.input, 3)])),
            "node 'Softmax_2': the host makes probabilities and classes, and 'Relu_3' goes on",
        ),
    ],
)
def test_what_the_hardware_cannot_is_refused_by_node(build: Callable[[NetworkBuilder], str], message: str) -> None:
    net = NetworkBuilder("wrong", (3, 12, 12), 1)
    model: onnx.ModelProto = net.model(build(net))
    with pytest.raises(NetworkError) as caught:
        played(model)
    assert str(caught.value) == message
