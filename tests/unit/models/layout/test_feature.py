"""Feature data: document vectors, literal oracle, property tests, refusals."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.layout import Element, FeatureLayout
from nvdla_models.precision import Precision
from tests.unit.models.support import random_bits, refused

SMALL = HwConfig.load("nv_small")
FULL = HwConfig.load("nv_full")
INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16


def literal_offset(layout: FeatureLayout, c: int, h: int, w: int) -> int:
    """Count bytes as the document's loop does: C' fastest, then W, H and surface."""
    atom = layout.config.memory_atomic_bytes
    size = layout.precision.nbytes
    offset = 0
    surface = 0
    while c * size >= (surface + 1) * atom:
        surface += 1
        offset += layout.surface_stride_bytes
    for _ in range(h):
        offset += layout.line_stride_bytes
    for _ in range(w):
        offset += atom
    return offset + c * size - surface * atom


@st.composite
def layouts(draw: st.DrawFn) -> FeatureLayout:
    """Draw a layout of any configuration and precision, packed or with gaps."""
    config = HwConfig.load(draw(st.sampled_from(builtin_names())))
    precision = draw(st.sampled_from(config.feature_data_types))
    shape = (draw(st.integers(1, 70)), draw(st.integers(1, 5)), draw(st.integers(1, 6)))
    atom = config.memory_atomic_bytes
    line = (shape[2] + draw(st.integers(0, 3))) * atom
    needed = (shape[1] - 1) * line + shape[2] * atom
    return FeatureLayout(config, precision, shape, line, needed + draw(st.integers(0, 5)) * atom)


def test_a_3x2x2_int8_cube_of_nv_small_packs_as_written_by_hand() -> None:
    layout = FeatureLayout.packed(SMALL, INT8, (3, 2, 2))
    cube = np.array([[[1, 2], [3, 4]], [[11, 12], [13, 14]], [[21, 22], [23, -24]]], dtype=np.int8)
    expected = "010b151f1f1f1f1f 020c161f1f1f1f1f 030d171f1f1f1f1f 040ee81f1f1f1f1f"
    assert layout.pack(cube, padding=31).tobytes() == bytes.fromhex(expected)


def test_fp16_elements_are_little_endian_and_sixteen_to_an_atom_of_nv_full() -> None:
    layout = FeatureLayout.packed(FULL, FP16, (17, 1, 1))
    cube = np.arange(17, dtype=np.float16).reshape(17, 1, 1)
    raw = layout.pack(cube, padding=-0.0)
    assert raw[:6].tobytes() == bytes.fromhex("0000003c0040")
    assert raw[32:36].tobytes() == bytes.fromhex("004c0080")
    assert layout.nbytes == 64


def test_channel_32_of_int8_starts_the_second_surface_of_nv_full() -> None:
    layout = FeatureLayout.packed(FULL, INT8, (33, 4, 5))
    assert layout.offset(31, 3, 4) == 32 * 20 - 1
    assert layout.offset(32, 0, 0) == 32 * 20
    assert layout.surfaces == 2


def test_gaps_between_lines_and_surfaces_are_zero_and_not_written() -> None:
    layout = FeatureLayout(SMALL, INT8, (16, 2, 1), 16, 40)
    raw = layout.pack(np.full((16, 2, 1), 7, dtype=np.int8))
    expected = [True] * 8 + [False] * 8 + [True] * 8 + [False] * 16 + [True] * 8 + [False] * 8 + [True] * 8
    assert layout.nbytes == 64
    assert layout.written_mask().tolist() == expected
    assert raw.tolist() == [7 if w else 0 for w in expected]


def test_a_single_line_needs_no_surface_stride_of_a_whole_line_stride() -> None:
    layout = FeatureLayout(SMALL, INT8, (8, 1, 1), 32, 8)
    assert layout.nbytes == 8


def test_packed_tells_lines_and_surfaces_apart() -> None:
    def packed(line: int, surface: int) -> tuple[bool, bool]:
        layout = FeatureLayout(SMALL, INT8, (16, 2, 2), line, surface)
        return layout.line_packed, layout.surface_packed

    assert packed(16, 32) == (True, True)
    assert packed(24, 48) == (False, True)
    assert packed(16, 40) == (True, False)
    assert packed(24, 56) == (False, False)


@settings(max_examples=60)
@given(layouts(), st.integers(0, 2**32 - 1))
def test_every_element_lies_where_the_literal_loop_puts_it(layout: FeatureLayout, seed: int) -> None:
    cube = random_bits(layout.shape, layout.precision.dtype, seed)
    raw = layout.pack(cube, padding=5)
    size = layout.precision.nbytes
    expected = np.zeros(layout.nbytes, dtype=np.uint8)
    written = np.zeros(layout.nbytes, dtype=bool)
    padding = np.zeros(layout.nbytes, dtype=bool)
    fill = np.array(5, dtype=layout.precision.dtype).tobytes()
    for c in range(layout.padded_channels):
        for h in range(layout.shape[1]):
            for w in range(layout.shape[2]):
                at = literal_offset(layout, c, h, w)
                assert layout.offset(c, h, w) == at
                real = c < layout.shape[0]
                expected[at : at + size] = list(cube[c, h, w].tobytes() if real else fill)
                written[at : at + size] = True
                padding[at : at + size] = not real
                for byte in range(size):
                    assert layout.element_at(at + byte) == (c, h, w)
                assert layout.is_padding(c) is not real
    np.testing.assert_array_equal(raw, expected, strict=True)
    np.testing.assert_array_equal(layout.written_mask(), written, strict=True)
    np.testing.assert_array_equal(layout.padding_mask(), padding, strict=True)
    for gap in np.flatnonzero(~written):
        assert layout.element_at(int(gap)) is None


@settings(max_examples=100)
@given(layouts(), st.integers(0, 2**32 - 1))
def test_unpack_returns_what_was_packed_and_nothing_behind_it(layout: FeatureLayout, seed: int) -> None:
    cube = random_bits(layout.shape, layout.precision.dtype, seed)
    raw = layout.pack(cube, padding=3)
    longer = np.concatenate([raw, np.full(5, 0xEE, dtype=np.uint8)])
    for data in (raw, raw.tobytes(), bytearray(raw), memoryview(raw.tobytes()), longer):
        out = layout.unpack(data)
        assert out.dtype == layout.precision.dtype
        assert out.shape == layout.shape
        assert out.tobytes() == cube.tobytes()
    padded = layout.unpack_padded(raw)
    assert padded.shape == (layout.padded_channels, *layout.shape[1:])
    assert padded[: layout.shape[0]].tobytes() == cube.tobytes()
    assert (padded[layout.shape[0] :] == 3).all()


def test_a_transposed_cube_and_a_strided_byte_view_are_understood() -> None:
    layout = FeatureLayout.packed(SMALL, INT8, (9, 2, 3))
    cube = np.arange(54, dtype=np.int8).reshape(3, 2, 9).T
    raw = layout.pack(cube)
    assert raw.tobytes() == layout.pack(np.ascontiguousarray(cube)).tobytes()
    spread = np.zeros(2 * raw.size, dtype=np.uint8)
    spread[::2] = raw
    np.testing.assert_array_equal(layout.unpack(spread[::2]), cube, strict=True)


def test_the_description_names_every_fact() -> None:
    assert FeatureLayout(FULL, INT16, (17, 2, 3), 128, 256).describe().splitlines() == [
        "feature data, INT16, nv_full: C=17 H=2 W=3",
        "atom: 32 bytes, 16 channels",
        "surfaces: 2, padding channels: 15",
        "line stride: 128 bytes (unpacked)",
        "surface stride: 256 bytes (packed)",
        "bytes: 480",
    ]


def test_element_compares_as_a_tuple() -> None:
    assert FeatureLayout.packed(SMALL, INT8, (1, 1, 1)).element_at(0) == Element(0, 0, 0) == (0, 0, 0)


@pytest.mark.parametrize(
    ("config", "precision", "shape", "line", "surface", "message"),
    [
        (SMALL, FP16, (1, 1, 1), 8, 8, "precision must be one of INT8 for nv_small, not FP16"),
        (SMALL, INT8, (1, 1), 8, 8, "shape must be (C, H, W), not (1, 1)"),
        (SMALL, INT8, (0, 1, 1), 8, 8, "channels must be 1 to 8192, not 0"),
        (SMALL, INT8, (1, 8193, 1), 8, 8, "height must be 1 to 8192, not 8193"),
        (SMALL, INT8, (1, 1, -1), 8, 8, "width must be 1 to 8192, not -1"),
        (SMALL, INT8, (1, 1, 1), 12, 8, "line_stride_bytes must be a multiple of the 8-byte atom, not 12"),
        (FULL, INT8, (1, 1, 1), 32, 40, "surface_stride_bytes must be a multiple of the 32-byte atom, not 40"),
        (SMALL, INT8, (1, 1, 3), 16, 24, "line_stride_bytes must be at least the 24 bytes of a line, not 16"),
        (SMALL, INT8, (1, 3, 3), 32, 80, "surface_stride_bytes must be at least the 88 bytes of a surface, not 80"),
        (SMALL, INT8, (1, 1, 1), 8, 1 << 32, "surface_stride_bytes must be at most 4294967295, not 4294967296"),
    ],
)
def test_an_impossible_layout_is_refused(
    config: HwConfig, precision: Precision, shape: tuple[int, int, int], line: int, surface: int, message: str
) -> None:
    with refused(message):
        FeatureLayout(config, precision, shape, line, surface)


def test_packed_refuses_a_shape_of_two_axes() -> None:
    with refused("shape must be (C, H, W), not (1, 1)"):
        FeatureLayout.packed(SMALL, INT8, (1, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("config", "precision", "padding", "message"),
    [
        (FULL, FP16, float("nan"), "padding must not be NaN"),
        (FULL, FP16, 70000, "padding must be a value of FP16, not 70000"),
        (FULL, FP16, 0.1, "padding must be a value of FP16, not 0.1"),
        (SMALL, INT8, 128, "padding must be a value of INT8, not 128"),
        (SMALL, INT8, float("inf"), "padding must be a value of INT8, not inf"),
        (FULL, INT16, -0.5, "padding must be a value of INT16, not -0.5"),
        (FULL, INT16, float("nan"), "padding must not be NaN"),
    ],
)
def test_a_padding_that_is_no_value_of_the_precision_is_refused(
    config: HwConfig, precision: Precision, padding: float, message: str
) -> None:
    layout = FeatureLayout.packed(config, precision, (1, 1, 1))
    with refused(message):
        layout.pack(np.zeros((1, 1, 1), dtype=precision.dtype), padding=padding)


def test_infinite_padding_is_a_value_of_fp16() -> None:
    layout = FeatureLayout.packed(FULL, FP16, (1, 1, 1))
    raw = layout.pack(np.zeros((1, 1, 1), dtype=np.float16), padding=float("-inf"))
    assert raw[:4].tobytes() == bytes.fromhex("000000fc")


def test_bad_data_is_refused() -> None:
    layout = FeatureLayout.packed(SMALL, INT8, (9, 1, 2))
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: layout.pack(np.zeros((9, 2, 1), np.int8)), "cube must have shape (9, 1, 2), not (9, 2, 1)"),
        (lambda: layout.pack(np.zeros((9, 1, 2), np.uint8)), "cube must have dtype int8, not uint8"),
        (lambda: layout.unpack(bytes(31)), "data must hold at least 32 bytes, not 31"),
        (lambda: layout.unpack_padded(bytes(31)), "data must hold at least 32 bytes, not 31"),
        (
            lambda: layout.unpack(np.zeros(32, np.int8)),
            "data must be a one-dimensional uint8 array, not 1-dimensional int8",
        ),
        (
            lambda: layout.unpack(np.zeros((4, 8), np.uint8)),
            "data must be a one-dimensional uint8 array, not 2-dimensional uint8",
        ),
        (lambda: layout.offset(16, 0, 0), "c must be 0 to 15, not 16"),
        (lambda: layout.offset(0, -1, 0), "h must be 0 to 0, not -1"),
        (lambda: layout.offset(0, 0, 2), "w must be 0 to 1, not 2"),
        (lambda: layout.element_at(32), "offset_bytes must be 0 to 31, not 32"),
        (lambda: layout.is_padding(16), "c must be 0 to 15, not 16"),
    ]
    for call, message in cases:
        with refused(message):
            call()


def test_big_endian_elements_are_refused() -> None:
    layout = FeatureLayout.packed(FULL, INT16, (1, 1, 1))
    with refused("cube must have dtype int16, not >i2"):
        layout.pack(np.zeros((1, 1, 1), dtype=">i2"))
