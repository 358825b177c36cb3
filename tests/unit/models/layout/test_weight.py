"""Weights of direct convolution and image input: document vectors, literal loops, property tests, refusals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.layout import ImageWeightLayout, Weight, WeightLayout
from nvdla_models.precision import Precision
from tests.unit.models.support import numbered, random_bits, refused

SMALL = HwConfig.load("nv_small")
FULL = HwConfig.load("nv_full")
LARGE = HwConfig.load("nv_large")
INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16


def literal_order(layout: WeightLayout) -> list[tuple[int, int, int, int]]:
    """Return (k, c, r, s) in memory order, by the document's loops: C', lines, K, W, H, C, groups."""
    kernels, channels, height, width = layout.packed_shape
    group, cube = layout.kernels_per_group, layout.config.mac_atomic_c_size
    order = []
    for first_k in range(0, kernels, group):
        for first_c in range(0, channels, cube):
            for first_r in range(0, height, layout.line_group):
                for s in range(width):
                    for k in range(first_k, min(first_k + group, kernels)):
                        for r in range(first_r, min(first_r + layout.line_group, height)):
                            order += [(k, c, r, s) for c in range(first_c, min(first_c + cube, channels))]
    return order


@st.composite
def weight_layouts(draw: st.DrawFn) -> WeightLayout:
    config = HwConfig.load(draw(st.sampled_from(builtin_names())))
    precision = draw(st.sampled_from(config.weight_data_types))
    cube = config.mac_atomic_c_size
    kernels = draw(st.integers(1, 2 * config.kernel_group_size(precision) + 1))
    if draw(st.booleans()):
        channels = draw(st.sampled_from([1, 3, cube - 1, cube, cube + 1, 2 * cube + 5]))
        return WeightLayout(config, precision, (kernels, channels, draw(st.integers(1, 3)), draw(st.integers(1, 3))))
    lines = draw(st.sampled_from([1, 2, 4]))
    channels = draw(st.integers(1, min(4, cube // lines)))
    width = draw(st.integers(1, max(1, cube // lines // channels)))
    shape = (kernels, channels, draw(st.integers(1, 7)), width)
    return ImageWeightLayout(config, precision, shape, lines)


def test_figure_13_maps_one_group_of_3x3x192_byte_kernels() -> None:
    layout = WeightLayout(FULL, INT16, (16, 96, 3, 3))
    weights = np.zeros(layout.shape, dtype=np.int16)
    for k in range(16):
        for cube in range(18):
            channels = slice(0, 64) if cube < 9 else slice(64, 96)
            weights[k, channels, cube % 9 // 3, cube % 3] = 100 * k + cube
    cubes = [(k, cube) for cube in range(18) for k in range(16)]
    expected = np.concatenate([np.full(64 if cube < 9 else 32, 100 * k + cube, "<i2") for k, cube in cubes])
    assert layout.pack(weights).tobytes() == expected.tobytes()


def test_kernels_of_two_nv_small_groups_pack_as_written_by_hand() -> None:
    layout = WeightLayout(SMALL, INT8, (9, 9, 1, 1))
    weights = (10 * np.arange(9)[:, None] + np.arange(9)).astype(np.int8).reshape(9, 9, 1, 1)
    first = [10 * k + c for k in range(8) for c in range(8)] + [10 * k + 8 for k in range(8)]
    last = [80 + c for c in range(8)] + [88]
    assert layout.pack(weights).tolist() == first + last + [0] * (128 - 81)
    assert layout.groups == 2
    assert layout.group_elements == (72, 9)


def test_groups_have_16_kernels_for_16_bit_weights_and_32_for_int8() -> None:
    sizes = {p: WeightLayout(FULL, p, (33, 1, 1, 1)).kernels_per_group for p in Precision}
    assert sizes == {INT8: 32, INT16: 16, FP16: 16}
    assert WeightLayout(FULL, INT8, (33, 1, 1, 1)).group_elements == (32, 1)
    assert WeightLayout(FULL, FP16, (33, 1, 1, 1)).group_elements == (16, 16, 1)


@pytest.mark.parametrize(("kernels", "nbytes"), [(1, 128), (128, 128), (129, 256)])
def test_only_the_end_is_padded_to_128_bytes(kernels: int, nbytes: int) -> None:
    layout = WeightLayout(LARGE, INT8, (kernels, 1, 1, 1))
    raw = layout.pack(np.full(layout.shape, -1, dtype=np.int8))
    assert raw.size == layout.nbytes == nbytes
    assert raw.tolist() == [255] * kernels + [0] * (nbytes - kernels)


def test_figure_14_turns_the_columns_of_an_image_kernel_into_channels() -> None:
    layout = ImageWeightLayout(FULL, INT16, (1, 3, 5, 5))
    red = np.arange(25, dtype=np.int16).reshape(5, 5)
    weights = np.stack([red, red + 100, red + 200])[None]
    extended = layout.pre_extend(weights)
    assert extended.shape == (1, 15, 5, 1)
    assert extended[0, :, 0, 0].tolist() == [0, 100, 200, 1, 101, 201, 2, 102, 202, 3, 103, 203, 4, 104, 204]
    assert layout.pack(extended)[:6].tobytes() == bytes.fromhex("00006400c800")
    np.testing.assert_array_equal(layout.original(extended), weights, strict=True)


def test_figure_16_joins_two_lines_and_leaves_the_third_alone() -> None:
    layout = WeightLayout(FULL, INT16, (16, 28, 3, 3), line_group=2)
    weights = np.zeros(layout.shape, dtype=np.int16)
    for k in range(16):
        weights[k] = 100 * k + np.arange(9).reshape(3, 3)
    order = [(k, cell) for s in range(3) for k in range(16) for cell in (s, s + 3)]
    order += [(k, 6 + s) for s in range(3) for k in range(16)]
    expected = np.concatenate([np.full(28, 100 * k + cell, "<i2") for k, cell in order])
    raw = layout.pack(weights)
    assert raw[: expected.nbytes].tobytes() == expected.tobytes()
    assert raw.size == expected.nbytes == 16 * 9 * 28 * 2


def test_four_line_post_extension_of_six_lines_appends_no_zeros() -> None:
    layout = ImageWeightLayout(FULL, INT8, (2, 1, 6, 2), line_group=4)
    weights = numbered((2, 1, 6, 2), np.dtype("i1"))
    raw = layout.pack(layout.pre_extend(weights))
    first = [0, 1, 2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17, 18, 19]
    assert raw[:24].tolist() == [*first, 8, 9, 10, 11, 20, 21, 22, 23]
    assert not raw[24:].any()


@settings(max_examples=60)
@given(weight_layouts(), st.integers(0, 2**31))
def test_every_weight_lies_where_the_literal_loops_put_it(layout: WeightLayout, seed: int) -> None:
    weights = random_bits(layout.packed_shape, layout.precision.dtype, seed)
    order = literal_order(layout)
    assert len(order) == layout.elements
    expected = b"".join(weights[place].tobytes() for place in order)
    raw = layout.pack(weights)
    assert raw.tobytes() == expected + bytes(layout.nbytes - len(expected))
    assert layout.nbytes % 128 == 0
    assert 0 <= layout.nbytes - len(expected) < 128
    size = layout.precision.nbytes
    rng = np.random.default_rng(seed)
    for position in rng.integers(0, len(order), 40):
        place = order[int(position)]
        assert layout.offset(*place) == int(position) * size
        assert layout.element_at(int(position) * size + size - 1) == place
    if layout.nbytes > len(expected):
        assert layout.element_at(len(expected)) is None
        assert layout.element_at(layout.nbytes - 1) is None


@settings(max_examples=80)
@given(weight_layouts(), st.integers(0, 2**31))
def test_unpack_returns_the_packed_weights_and_reads_nothing_behind_them(layout: WeightLayout, seed: int) -> None:
    weights = random_bits(layout.packed_shape, layout.precision.dtype, seed)
    raw = layout.pack(weights)
    for data in (raw, raw.tobytes() + b"behind", raw[: layout.elements * layout.precision.nbytes]):
        out = layout.unpack(data)
        assert out.dtype == weights.dtype
        assert out.shape == weights.shape
        assert out.tobytes() == weights.tobytes()
    if isinstance(layout, ImageWeightLayout):
        original = random_bits(layout.shape, layout.precision.dtype, seed)
        assert layout.original(layout.pre_extend(original)).tobytes() == original.tobytes()


def test_the_weights_given_are_not_shared_with_the_bytes() -> None:
    layout = WeightLayout(LARGE, INT8, (128, 1, 1, 1))
    weights = np.zeros(layout.shape, dtype=np.int8)
    layout.pack(weights)[:] = 1
    assert not weights.any()


def test_a_weight_is_named_by_its_coordinates() -> None:
    layout = WeightLayout(SMALL, INT8, (9, 9, 2, 3))
    found = layout.element_at(layout.offset(8, 8, 1, 2))
    assert found == Weight(k=8, c=8, r=1, s=2)


def test_the_description_names_every_fact() -> None:
    assert WeightLayout(FULL, FP16, (20, 96, 3, 3)).describe().splitlines() == [
        "weights for direct convolution, FP16, nv_full: K=20 C=96 R=3 S=3",
        "kernel in memory: CxRxS = 96x3x3, 1728 bytes",
        "groups: 2 of 16 kernels, 4 in the last",
        "bytes: 34560, of which 0 are end alignment",
    ]
    first = ImageWeightLayout(SMALL, INT8, (8, 3, 4, 1), 2).describe().splitlines()[0]
    assert first == "weights for image input, 2-line post-extension, INT8, nv_small: K=8 C=3 R=4 S=1"


@pytest.mark.parametrize(
    ("config", "precision", "shape", "lines", "message"),
    [
        (SMALL, INT16, (1, 1, 1, 1), 1, "precision must be one of INT8 for nv_small, not INT16"),
        (SMALL, INT8, (1, 1, 1), 1, "shape must be (K, C, R, S), not (1, 1, 1)"),
        (SMALL, INT8, (0, 1, 1, 1), 1, "kernels must be at least 1, not 0"),
        (SMALL, INT8, (1, 1, 0, 1), 1, "height must be at least 1, not 0"),
        (SMALL, INT8, (8193, 1, 1, 1), 1, "kernels must be at most 8192, not 8193"),
        (SMALL, INT8, (1, 8193, 1, 1), 1, "extended channels must be at most 8192, not 8193"),
        (SMALL, INT8, (1, 1, 33, 1), 1, "kernel height must be at most 32, not 33"),
        (SMALL, INT8, (1, 1, 1, 33), 1, "kernel width must be at most 32, not 33"),
        (FULL, INT16, (1, 8192, 5, 4), 1, "bytes of one kernel must be at most 262144, not 327680"),
        (FULL, INT8, (1, 1, 1, 1), 3, "line_group must be 1, 2 or 4, not 3"),
        (FULL, INT8, (1, 33, 1, 1), 2, "extended channels must be at most 32 with 2-line post-extension, not 33"),
        (FULL, INT8, (1, 17, 1, 1), 4, "extended channels must be at most 16 with 4-line post-extension, not 17"),
    ],
)
def test_impossible_weights_are_refused(
    config: HwConfig, precision: Precision, shape: tuple[int, int, int, int], lines: int, message: str
) -> None:
    with refused(message):
        WeightLayout(config, precision, shape, lines)


def test_post_extension_counts_the_channels_after_pre_extension() -> None:
    ImageWeightLayout(FULL, INT8, (1, 4, 5, 8), 2)
    with refused("extended channels must be at most 32 with 2-line post-extension, not 36"):
        ImageWeightLayout(FULL, INT8, (1, 4, 5, 9), 2)
    with refused("extended channels must be at most 8192, not 8196"):
        ImageWeightLayout(FULL, INT8, (1, 4, 1, 2049))


def test_bad_weights_and_bytes_are_refused() -> None:
    layout = ImageWeightLayout(SMALL, INT8, (2, 3, 2, 2))
    with refused("weights must have shape (2, 3, 2, 2), not (2, 3, 2, 3)"):
        layout.pre_extend(np.zeros((2, 3, 2, 3), np.int8))
    with refused("weights must have dtype int8, not uint8"):
        layout.pre_extend(np.zeros((2, 3, 2, 2), np.uint8))
    with refused("weights must have shape (2, 6, 2, 1), not (2, 3, 2, 2)"):
        layout.pack(np.zeros((2, 3, 2, 2), np.int8))
    with refused("extended must have shape (2, 6, 2, 1), not (2, 6, 1, 2)"):
        layout.original(np.zeros((2, 6, 1, 2), np.int8))
    with refused("data must hold at least 24 bytes, not 23"):
        layout.unpack(bytes(23))
    with refused("k must be 0 to 1, not 2"):
        layout.offset(2, 0, 0, 0)
    with refused("s must be 0 to 0, not 1"):
        layout.offset(0, 0, 0, 1)
    with refused("offset_bytes must be 0 to 127, not 128"):
        layout.element_at(128)
