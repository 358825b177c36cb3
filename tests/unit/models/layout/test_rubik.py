"""RUBIK: the M-planar format and the movement of contract, split and merge, by hand and by literal loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models.config import HwConfig
from nvdla_models.layout import FeatureLayout, PlanarLayout, contract, contracted_shape, merge, split
from nvdla_models.precision import Precision
from tests.unit.models.support import numbered, random_bits, refused

FULL = HwConfig.load("nv_full")
LARGE = HwConfig.load("nv_large")
SMALL = HwConfig.load("nv_small")
INT8, INT16 = Precision.INT8, Precision.INT16


@st.composite
def planar_layouts(draw: st.DrawFn) -> PlanarLayout:
    config = draw(st.sampled_from([FULL, LARGE]))
    precision = draw(st.sampled_from(config.feature_data_types))
    shape = (draw(st.integers(1, 40)), draw(st.integers(1, 4)), draw(st.integers(1, 70)))
    packed = PlanarLayout.packed(config, precision, shape)
    line = packed.line_stride_bytes + 64 * draw(st.integers(0, 1))
    return PlanarLayout(config, precision, shape, line, shape[1] * line + 64 * draw(st.integers(0, 2)))


def test_planes_lie_one_behind_the_other_in_lines_of_64_bytes() -> None:
    layout = PlanarLayout.packed(FULL, INT16, (2, 2, 3))
    raw = layout.pack(numbered((2, 2, 3), INT16.dtype))
    lines = raw[: 3 * 64].reshape(3, 64)
    assert (layout.line_stride_bytes, layout.planar_stride_bytes, layout.nbytes) == (64, 128, 224)
    assert [line[:6].view("<i2").tolist() for line in lines] == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert raw[192:198].view("<i2").tolist() == [9, 10, 11]
    assert layout.written_mask().tolist() == ([True] * 32 + [False] * 32) * 3 + [True] * 32


@settings(max_examples=40)
@given(planar_layouts(), st.integers(0, 2**31))
def test_every_element_lies_where_the_literal_loop_puts_it(layout: PlanarLayout, seed: int) -> None:
    cube = random_bits(layout.shape, layout.precision.dtype, seed)
    raw = layout.pack(cube)
    size = layout.precision.nbytes
    expected = np.zeros(layout.nbytes, dtype=np.uint8)
    written = np.zeros(layout.nbytes, dtype=bool)
    owned = np.zeros(layout.nbytes, dtype=bool)
    for c, h, w in np.ndindex(*layout.shape):
        at = c * layout.planar_stride_bytes + h * layout.line_stride_bytes + w * size
        expected[at : at + size] = list(cube[c, h, w].tobytes())
        written[at // 32 * 32 : at // 32 * 32 + 32] = True
        owned[at : at + size] = True
        if c < 2:
            assert layout.offset(c, h, w) == at
            assert layout.element_at(at + size - 1) == (c, h, w)
    np.testing.assert_array_equal(raw, expected, strict=True)
    np.testing.assert_array_equal(layout.written_mask(), written, strict=True)
    for gap in np.flatnonzero(~owned)[:50]:
        assert layout.element_at(int(gap)) is None
    assert layout.unpack(raw.tobytes() + b"behind").tobytes() == cube.tobytes()


@settings(max_examples=30)
@given(planar_layouts(), st.integers(0, 2**31))
def test_merge_undoes_split(planes: PlanarLayout, seed: int) -> None:
    features = FeatureLayout.packed(planes.config, planes.precision, planes.shape)
    raw = features.pack(random_bits(planes.shape, planes.precision.dtype, seed))
    assert merge(planes, features, split(features, planes, raw)).tobytes() == raw.tobytes()


def test_split_takes_the_first_channels_when_told_fewer() -> None:
    features = FeatureLayout.packed(FULL, INT8, (40, 1, 2))
    planes = PlanarLayout.packed(FULL, INT8, (33, 1, 2))
    cube = numbered((40, 1, 2), INT8.dtype)
    np.testing.assert_array_equal(planes.unpack(split(features, planes, features.pack(cube))), cube[:33])


def test_merge_writes_padding_channels_as_0() -> None:
    features = FeatureLayout.packed(FULL, INT8, (3, 1, 1))
    planes = PlanarLayout.packed(FULL, INT8, (3, 1, 1))
    raw = merge(planes, features, planes.pack(np.full((3, 1, 1), 7, dtype=np.int8)))
    assert raw.tolist() == [7] * 3 + [0] * 29


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 2), (1, 4)])
def test_contract_moves_each_channel_block_to_its_row_and_column(stride: tuple[int, int]) -> None:
    channels, height, width = 32 * stride[0] * stride[1], 2, 3
    source = FeatureLayout(FULL, INT8, (channels, height, width), 128, 320)
    target_shape = (32, height * stride[0], width * stride[1])
    line = target_shape[2] * 32 + 32
    target = FeatureLayout(FULL, INT8, target_shape, line, target_shape[1] * line)
    cube = random_bits((channels, height, width), INT8.dtype, 3)
    result = target.unpack(contract(source, target, stride, source.pack(cube)))
    for c, h, w in np.ndindex(*target_shape):
        block = (h % stride[0]) * stride[1] + w % stride[1]
        assert result[c, h, w] == cube[block * 32 + c, h // stride[0], w // stride[1]]


def test_the_description_names_every_fact() -> None:
    assert PlanarLayout.packed(FULL, INT16, (2, 2, 33)).describe().splitlines() == [
        "M-planar data, INT16, nv_full: C=2 H=2 W=33",
        "line: 96 bytes, stride 128 bytes",
        "planar stride: 256 bytes",
        "bytes: 480",
    ]


@pytest.mark.parametrize(
    ("config", "precision", "shape", "line", "plane", "message"),
    [
        (
            SMALL,
            INT8,
            (1, 1, 1),
            64,
            64,
            "RUBIK must not be used: nv_small has none; configurations with RUBIK: nv_full, nv_large",
        ),
        (LARGE, INT16, (1, 1, 1), 64, 64, "precision must be one of INT8 for nv_large, not INT16"),
        (FULL, INT8, (1, 1), 64, 64, "shape must be (C, H, W), not (1, 1)"),
        (FULL, INT8, (8193, 1, 1), 64, 64, "channels must be 1 to 8192, not 8193"),
        (FULL, INT8, (1, 1, 1), 96, 128, "line_stride_bytes must be a multiple of 64 bytes for M-planar data, not 96"),
        (FULL, INT8, (1, 1, 1), 64, 96, "planar_stride_bytes must be a multiple of 64 bytes, not 96"),
        (FULL, INT8, (1, 1, 65), 64, 64, "line_stride_bytes must be at least the 96 bytes of a line, not 64"),
        (FULL, INT8, (1, 3, 1), 64, 128, "planar_stride_bytes must be at least the 160 bytes of a plane, not 128"),
    ],
)
def test_impossible_planes_are_refused(
    config: HwConfig, precision: Precision, shape: tuple[int, int, int], line: int, plane: int, message: str
) -> None:
    with refused(message):
        PlanarLayout(config, precision, shape, line, plane)


@pytest.mark.parametrize(("stride", "shape"), [((1, 1), (192, 3, 5)), ((3, 2), (32, 9, 10)), ((2, 3), (32, 6, 15))])
def test_contract_makes_rows_and_columns_of_channels(stride: tuple[int, int], shape: tuple[int, int, int]) -> None:
    assert contracted_shape(FeatureLayout.packed(FULL, INT8, (192, 3, 5)), stride) == shape


def test_impossible_movements_are_refused() -> None:
    def cube(*shape: int, config: HwConfig = FULL, precision: Precision = INT8) -> FeatureLayout:
        return FeatureLayout.packed(config, precision, (shape[0], shape[1], shape[2]))

    with refused("RUBIK must not be used: nv_small has none; configurations with RUBIK: nv_full, nv_large"):
        contract(cube(8, 1, 1, config=SMALL), cube(8, 1, 1, config=SMALL), (1, 1), b"")
    with refused("stride y must be 1 to 32, not 33"):
        contract(cube(32, 1, 1), cube(32, 1, 1), (33, 1), b"")
    with refused("channels must be a multiple of the 128 that contract needs with stride (2, 2), not 64"):
        contract(cube(64, 1, 1), cube(16, 2, 2), (2, 2), b"")
    with refused("target must have shape (32, 2, 2), not (32, 2, 3)"):
        contract(cube(128, 1, 1), cube(32, 2, 3), (2, 2), b"")
    with refused("target must be INT8 of nv_full like source, not INT16 of nv_full"):
        contract(cube(32, 1, 1), cube(32, 1, 1, precision=INT16), (1, 1), b"")
    with refused("data must hold at least 32 bytes, not 31"):
        contract(cube(32, 1, 1), cube(32, 1, 1), (1, 1), bytes(31))
    planes = PlanarLayout.packed(FULL, INT8, (4, 2, 3))
    with refused("target must be INT16 of nv_full like source, not INT8 of nv_full"):
        split(cube(4, 2, 3, precision=INT16), planes, b"")
    with refused("target must be INT8 of nv_full like source, not INT8 of nv_large"):
        merge(planes, cube(4, 2, 3, config=LARGE), b"")
    with refused("target must have the shape (3, 2, 3) of source or fewer channels, not (4, 2, 3)"):
        split(cube(3, 2, 3), planes, b"")
    with refused("target must have the shape (4, 3, 2) of source or fewer channels, not (4, 2, 3)"):
        split(cube(4, 3, 2), planes, b"")
    with refused("target must have the shape (4, 2, 3) of source, not (5, 2, 3)"):
        merge(planes, cube(5, 2, 3), b"")
    with refused("data must hold at least 480 bytes, not 479"):
        merge(planes, cube(4, 2, 3), bytes(479))
    with refused("cube must have dtype int8, not uint8"):
        planes.pack(np.zeros((4, 2, 3), np.uint8))
    with refused("w must be 0 to 2, not 3"):
        planes.offset(0, 0, 3)
    with refused("offset_bytes must be 0 to 479, not 480"):
        planes.element_at(480)
    with refused("shape must be (C, H, W), not (4,)"):
        PlanarLayout.packed(FULL, INT8, (4,))  # type: ignore[arg-type]
