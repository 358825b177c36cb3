"""Weights of Winograd convolution: extension, conversion, order, and that the convolution comes out right."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models import conv
from nvdla_models.config import HwConfig
from nvdla_models.layout import WinogradWeightLayout
from nvdla_models.precision import Precision
from tests.unit.models.support import random_bits, refused
from tests.unit.models.test_conv_model import params

FULL = HwConfig.load("nv_full")
LARGE = HwConfig.load("nv_large")
INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16


def literal_order(layout: WinogradWeightLayout) -> list[tuple[int, int, int, int]]:
    """Return (k, c, r, s) in memory order: groups, cubes of 4 channels, kernels, H, W, channel."""
    kernels, channels, _, _ = layout.packed_shape
    group = layout.kernels_per_group
    return [
        (k, c, r, s)
        for first_k in range(0, kernels, group)
        for first_c in range(0, channels, 4)
        for k in range(first_k, min(first_k + group, kernels))
        for r in range(4)
        for s in range(4)
        for c in range(first_c, first_c + 4)
    ]


@st.composite
def winograd_layouts(draw: st.DrawFn) -> WinogradWeightLayout:
    config = draw(st.sampled_from([FULL, LARGE]))
    precision = draw(st.sampled_from(config.weight_data_types))
    stride = (draw(st.integers(1, 3)), draw(st.integers(1, 3)))
    height, width = (draw(st.integers(2 * step + 1, 3 * step)) for step in stride)
    kernels = draw(st.integers(1, config.kernel_group_size(precision) + 2))
    return WinogradWeightLayout(config, precision, (kernels, draw(st.integers(1, 40)), height, width), stride)


def test_the_5x5_kernel_of_figure_15_becomes_3x3_with_four_times_the_channels() -> None:
    layout = WinogradWeightLayout(FULL, INT8, (1, 64, 5, 5), (2, 2))
    weights = np.zeros(layout.shape, dtype=np.int8)
    weights[0, 7] = np.arange(25).reshape(5, 5)
    weights[0, 8, 0, 0] = 99
    extended = layout.extend(weights)
    assert extended.shape == (1, 256, 3, 3)
    assert extended[0, 7].tolist() == [[0, 2, 4], [10, 12, 14], [20, 22, 24]]
    assert extended[0, 64 + 7].tolist() == [[1, 3, 0], [11, 13, 0], [21, 23, 0]]
    assert extended[0, 128 + 7].tolist() == [[5, 7, 9], [15, 17, 19], [0, 0, 0]]
    assert extended[0, 192 + 7].tolist() == [[6, 8, 0], [16, 18, 0], [0, 0, 0]]
    assert extended[0, 8, 0, 0] == 99
    assert layout.packed_shape == (1, 256, 4, 4)
    assert layout.nbytes == 256 * 16


def test_channels_are_padded_to_32_bytes_before_the_extension() -> None:
    layout = WinogradWeightLayout(FULL, FP16, (1, 17, 3, 5), (1, 2))
    assert layout.padded_channels == 32
    assert layout.packed_shape == (1, 64, 4, 4)
    extended = layout.extend(np.ones(layout.shape, dtype=np.float16))
    assert extended[0, :17].all()
    assert not extended[0, 17:32].any()
    assert extended[0, 32:49, :, :2].all()
    assert not extended[0, 32:49, :, 2].any()


def test_the_conversion_of_a_single_weight_is_that_of_the_matrices() -> None:
    layout = WinogradWeightLayout(FULL, FP16, (1, 1, 3, 3))
    weights = np.zeros((1, 1, 3, 3), dtype=np.float16)
    weights[0, 0, 0, 1] = 4
    expected = [[0, 2, -2, 0], [0, 1, -1, 0], [0, 1, -1, 0], [0, 0, 0, 0]]
    assert layout.convert(weights)[0, 0].tolist() == expected
    assert layout.convert(weights, scale=0.5)[0, 0, 0].tolist() == [0, 1, -1, 0]


def test_integers_round_to_the_nearest_and_ties_to_even() -> None:
    layout = WinogradWeightLayout(FULL, INT16, (1, 1, 3, 3))
    weights = np.zeros((1, 1, 3, 3), dtype=np.int16)
    weights[0, 0, 0] = [1, 0, 0]
    assert layout.convert(weights)[0, 0].tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    weights[0, 0, 0] = [3, 0, 0]
    assert layout.convert(weights)[0, 0, 0].tolist() == [3, 2, 2, 0]


def test_fp16_rounds_once() -> None:
    layout = WinogradWeightLayout(FULL, FP16, (1, 1, 3, 3))
    weights = np.zeros((1, 1, 3, 3), dtype=np.float16)
    weights[0, 0, 0] = [2048, 1, 1]
    assert layout.convert(weights)[0, 0, 0, 1] == 1025
    weights[0, 0, 0] = [2049 + 1, 2, 1]
    assert layout.convert(weights)[0, 0, 0, 1] == np.float16((2050 + 2 + 1) / 2)


@pytest.mark.parametrize(
    ("precision", "value"),
    [(INT8, -128), (INT8, 127), (INT16, -32768), (INT16, 32767)],
)
def test_the_ends_of_the_range_can_be_converted(precision: Precision, value: int) -> None:
    layout = WinogradWeightLayout(FULL, precision, (1, 1, 3, 3))
    weights = np.zeros((1, 1, 3, 3), dtype=precision.dtype)
    weights[0, 0, 2, 2] = value
    assert layout.convert(weights)[0, 0, 3, 3] == value


def test_the_ends_of_fp16_can_be_converted() -> None:
    layout = WinogradWeightLayout(FULL, FP16, (1, 1, 3, 3))
    weights = np.zeros((1, 1, 3, 3), dtype=np.float16)
    weights[0, 0, 0, 0], weights[0, 0, 2, 2] = 65504, -65504
    converted = layout.convert(weights)[0, 0]
    assert (converted[0, 0], converted[3, 3]) == (65504, -65504)


def test_a_cube_of_4x4x4_has_the_channel_fastest_then_w_then_h() -> None:
    layout = WinogradWeightLayout(FULL, INT16, (2, 16, 3, 3))
    weights = np.zeros(layout.packed_shape, dtype=np.int16)
    for k in range(2):
        for c in range(16):
            weights[k, c] = 1000 * k + 16 * c + np.arange(16).reshape(4, 4)
    stream = layout.pack(weights).view("<i2")
    first = [16 * c + 4 * h + w for h in range(4) for w in range(4) for c in range(4)]
    assert stream[:64].tolist() == first
    assert stream[64:128].tolist() == [1000 + value for value in first]
    assert stream[128:132].tolist() == [64, 80, 96, 112]


@pytest.mark.slow
@settings(max_examples=40)
@given(winograd_layouts(), st.integers(0, 2**31))
def test_every_weight_lies_where_the_literal_loops_put_it(layout: WinogradWeightLayout, seed: int) -> None:
    weights = random_bits(layout.packed_shape, layout.precision.dtype, seed)
    order = literal_order(layout)
    raw = layout.pack(weights)
    expected = b"".join(weights[place].tobytes() for place in order)
    assert raw.tobytes() == expected + bytes(layout.nbytes - len(expected))
    size = layout.precision.nbytes
    for position in np.random.default_rng(seed).integers(0, len(order), 40):
        place = order[int(position)]
        assert layout.offset(*place) == int(position) * size
        assert layout.element_at(int(position) * size) == place
    assert layout.unpack(raw).tobytes() == weights.tobytes()


@pytest.mark.parametrize(("size", "stride"), [((3, 3), (1, 1)), ((5, 5), (2, 2)), ((6, 3), (2, 1)), ((7, 9), (3, 3))])
def test_extended_and_converted_weights_compute_the_strided_convolution(
    size: tuple[int, int], stride: tuple[int, int]
) -> None:
    rng = np.random.default_rng(7)
    layout = WinogradWeightLayout(FULL, INT16, (3, 5, *size), stride)
    weights = (4 * rng.integers(-50, 50, layout.shape)).astype(np.int16)
    outputs = 8
    rows, columns = ((outputs + 2) * step for step in stride)
    cube = rng.integers(-100, 100, (5, rows, columns))
    expected = np.zeros((3, outputs, outputs), dtype=np.int64)
    for y in range(outputs):
        for x in range(outputs):
            window = np.zeros((5, *size), dtype=np.int64)
            part = cube[:, y * stride[0] : y * stride[0] + size[0], x * stride[1] : x * stride[1] + size[1]]
            window[:, : part.shape[1], : part.shape[2]] = part
            expected[:, y, x] = np.einsum("kcij,cij->k", weights.astype(np.int64), window)
    padded = np.zeros((layout.padded_channels, rows, columns), dtype=np.int16)
    padded[:5] = cube
    extended = [padded[:, dy :: stride[0], dx :: stride[1]] for dy in range(stride[0]) for dx in range(stride[1])]
    run = params(precision=INT16, winograd=True, pad_right=2, pad_bottom=2)
    np.testing.assert_array_equal(conv.run(run, np.concatenate(extended), layout.convert(weights)), expected)


def test_the_description_names_the_stride() -> None:
    first = WinogradWeightLayout(FULL, INT8, (1, 64, 5, 6), (2, 2)).describe().splitlines()[0]
    assert first == "weights for Winograd convolution, stride y=2 x=2, INT8, nv_full: K=1 C=64 R=5 S=6"


@pytest.mark.parametrize(
    ("config", "shape", "stride", "message"),
    [
        ("nv_small", (1, 1, 3, 3), (1, 1), "weights must not be for Winograd: nv_small has none"),
        ("nv_full", (1, 1, 2, 3), (1, 1), "kernel height must be 3 to 3 with stride 1, not 2"),
        ("nv_full", (1, 1, 5, 4), (2, 2), "kernel width must be 5 to 6 with stride 2, not 4"),
        ("nv_full", (1, 1, 3, 3), (0, 1), "stride y must be 1 to 8, not 0"),
        ("nv_full", (1, 1, 3, 27), (1, 9), "stride x must be 1 to 8, not 9"),
        ("nv_full", (1, 4097, 3, 5), (1, 2), "extended channels must be at most 8192, not 8256"),
    ],
)
def test_impossible_winograd_weights_are_refused(
    config: str, shape: tuple[int, int, int, int], stride: tuple[int, int], message: str
) -> None:
    with refused(message):
        WinogradWeightLayout(HwConfig.load(config), INT8, shape, stride)


def test_weights_that_cannot_be_converted_are_refused() -> None:
    layout = WinogradWeightLayout(FULL, FP16, (1, 1, 3, 3))
    weights = np.full((1, 1, 3, 3), np.inf, dtype=np.float16)
    with refused("weights must be finite for the Winograd conversion"):
        layout.convert(weights)
    with refused("converted weights must be -65504 to 65504 for FP16, not 90000: lower the scale (winograd_scale)"):
        layout.convert(np.full((1, 1, 3, 3), 60000, dtype=np.float16))
    narrow = WinogradWeightLayout(FULL, INT8, (1, 1, 3, 3))
    with refused("converted weights must be -128 to 127 for INT8, not -192: lower the scale (winograd_scale)"):
        narrow.convert(np.full((1, 1, 3, 3), -128, dtype=np.int8))
    assert narrow.convert(np.full((1, 1, 3, 3), -56, dtype=np.int8)).min() == -126
    with refused("weights must have shape (1, 1, 3, 3), not (1, 1, 4, 4)"):
        narrow.convert(np.zeros((1, 1, 4, 4), dtype=np.int8))
    with refused("weights must have shape (1, 32, 4, 4), not (1, 1, 3, 3)"):
        narrow.pack(np.zeros((1, 1, 3, 3), dtype=np.int8))
