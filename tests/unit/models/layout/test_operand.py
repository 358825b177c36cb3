"""Operands of SDP: the document's figures and tables, a literal oracle, property tests, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_models.config import HwConfig, builtin_names
from nvdla_models.layout import COMPONENTS, Operand, OperandLayout
from nvdla_models.precision import Precision
from tests.unit.models.support import random_bits, refused

SMALL = HwConfig.load("nv_small")
FULL = HwConfig.load("nv_full")
INT8, INT16, FP16 = Precision.INT8, Precision.INT16, Precision.FP16


@st.composite
def operand_layouts(draw: st.DrawFn) -> OperandLayout:
    config = HwConfig.load(draw(st.sampled_from(builtin_names())))
    precision = draw(st.sampled_from(config.feature_data_types))
    components = draw(st.sampled_from(COMPONENTS))
    component_bytes = 2 if precision is FP16 else draw(st.sampled_from([1, 2]))
    channels = draw(st.integers(1, 70))
    if draw(st.booleans()):
        return OperandLayout.packed(config, precision, (channels, 1, 1), components, component_bytes)
    shape = (channels, draw(st.integers(1, 3)), draw(st.integers(2, 11)))
    least = OperandLayout.packed(config, precision, shape, components, component_bytes)
    atom = config.memory_atomic_bytes
    line = least.line_stride_bytes + draw(st.integers(0, 2)) * atom
    surface = shape[1] * line + draw(st.integers(0, 2)) * atom
    return OperandLayout(config, precision, shape, components, component_bytes, line, surface)


def random_operands(layout: OperandLayout, seed: int) -> dict[str, npt.NDArray[Any]]:
    """Return an array of random bit patterns per component."""
    return {
        name: random_bits(layout.shape, layout.component_dtype, seed + index)
        for index, name in enumerate(layout.components)
    }


@pytest.mark.parametrize(
    ("precision", "components", "component_bytes", "bytes_per_atom"),
    [
        (INT8, ("alu",), 1, 32),
        (INT8, ("mul",), 2, 64),
        (INT16, ("alu",), 1, 16),
        (INT16, ("mul",), 2, 32),
        (FP16, ("alu",), 2, 32),
        (INT8, ("alu", "mul"), 1, 64),
        (INT8, ("alu", "mul"), 2, 128),
        (INT16, ("alu", "mul"), 1, 32),
        (INT16, ("alu", "mul"), 2, 64),
        (FP16, ("alu", "mul"), 2, 64),
    ],
)
def test_bytes_per_atom_are_elements_times_components_times_bytes(
    precision: Precision, components: tuple[str, ...], component_bytes: int, bytes_per_atom: int
) -> None:
    layout = OperandLayout.packed(FULL, precision, (1, 2, 2), components, component_bytes)
    assert layout.atom_bytes == bytes_per_atom
    assert layout.atom_elements == (32 if precision is INT8 else 16)


def test_an_atom_of_nv_small_holds_8_elements() -> None:
    layout = OperandLayout.packed(SMALL, INT8, (9, 1, 1), ("alu",), 2)
    assert (layout.atom_elements, layout.atom_bytes, layout.nbytes) == (8, 16, 32)


def test_figure_18_one_byte_bias_per_channel_is_contiguous() -> None:
    layout = OperandLayout.packed(FULL, INT8, (33, 1, 1), ("alu",), 1)
    raw = layout.pack({"alu": np.arange(33, dtype=np.int8).reshape(33, 1, 1)})
    assert raw.tolist() == [*range(33), *[0] * 31]


def test_figure_19_two_byte_bias_of_int8_takes_64_bytes_an_atom() -> None:
    layout = OperandLayout.packed(FULL, INT8, (33, 1, 1), ("alu",), 2)
    raw = layout.pack({"alu": np.arange(-1, 32, dtype=np.int16).reshape(33, 1, 1)})
    assert raw[:6].tobytes() == bytes.fromhex("ffff00000100")
    assert raw[64:68].tobytes() == bytes.fromhex("1f000000")
    assert layout.nbytes == 128


@pytest.mark.parametrize(("component_bytes", "offsets"), [(1, [31, 32, 64, 128]), (2, [62, 64, 128, 256])])
def test_figures_20_and_21_bias_per_element_lies_like_a_feature_cube(component_bytes: int, offsets: list[int]) -> None:
    layout = OperandLayout.packed(FULL, INT8, (33, 2, 2), ("alu",), component_bytes)
    assert [layout.offset("alu", *at) for at in ((31, 0, 0), (0, 0, 1), (0, 1, 0), (32, 0, 0))] == offsets


@pytest.mark.parametrize(("component_bytes", "expected"), [(1, "0102fe"), (2, "01000200feff")])
def test_figures_22_and_23_prelu_has_one_component_for_the_multiplier(component_bytes: int, expected: str) -> None:
    layout = OperandLayout.packed(FULL, INT8, (3, 1, 1), ("mul",), component_bytes)
    slopes = np.array([1, 2, -2], dtype=layout.component_dtype).reshape(3, 1, 1)
    raw = layout.pack({"mul": slopes})
    assert raw[: len(expected) // 2].tobytes() == bytes.fromhex(expected)
    assert layout.nbytes == 32 * component_bytes


@pytest.mark.parametrize(("component_bytes", "expected"), [(1, "010b020c030d"), (2, "01000b0002000c0003000d00")])
def test_figures_24_and_25_batch_normalization_packs_addend_and_factor_together(
    component_bytes: int, expected: str
) -> None:
    layout = OperandLayout.packed(FULL, INT8, (3, 1, 1), ("alu", "mul"), component_bytes)
    addend = np.array([1, 2, 3], dtype=layout.component_dtype).reshape(3, 1, 1)
    raw = layout.pack({"alu": addend, "mul": addend + addend.dtype.type(10)})
    assert raw[: len(expected) // 2].tobytes() == bytes.fromhex(expected)
    assert layout.nbytes == 64 * component_bytes


def test_figures_26_and_27_element_wise_data_follows_the_feature_order() -> None:
    one = OperandLayout.packed(FULL, INT8, (32, 1, 2), ("alu",), 1)
    two = OperandLayout.packed(FULL, INT8, (32, 1, 2), ("mul",), 2)
    values = np.arange(64, dtype=np.int8).reshape(32, 1, 2)
    order = [*range(0, 64, 2), *range(1, 64, 2)]
    assert one.pack({"alu": values}).tolist() == order
    assert two.pack({"mul": values.astype(np.int16)}).view("<i2").tolist() == order


def test_both_element_wise_operands_double_the_size_with_the_alu_first() -> None:
    layout = OperandLayout.packed(FULL, FP16, (16, 1, 2), ("alu", "mul"), 2)
    ones = np.ones((16, 1, 2), dtype=np.float16)
    raw = layout.pack({"alu": ones, "mul": -ones})
    assert raw.tobytes() == bytes.fromhex("003c00bc") * 32


def test_one_byte_operands_of_int16_end_an_odd_line_in_a_gap() -> None:
    layout = OperandLayout.packed(FULL, INT16, (16, 2, 3), ("alu",), 1)
    assert (layout.atom_bytes, layout.line_stride_bytes, layout.nbytes) == (16, 64, 112)
    assert layout.written_mask().tolist() == [True] * 48 + [False] * 16 + [True] * 48
    assert OperandLayout.packed(FULL, INT16, (17, 1, 1), ("alu",), 1).nbytes == 32


@pytest.mark.slow
@settings(max_examples=30)
@given(operand_layouts(), st.integers(0, 2**31))
def test_every_component_lies_where_the_literal_loop_puts_it(layout: OperandLayout, seed: int) -> None:
    operands = random_operands(layout, seed)
    raw = layout.pack(operands)
    expected = np.zeros(layout.nbytes, dtype=np.uint8)
    written = np.zeros(layout.nbytes, dtype=bool)
    size = layout.component_bytes
    per_atom = layout.config.memory_atomic_bytes // layout.precision.nbytes
    for c in range(layout.padded_channels):
        for h in range(layout.shape[1]):
            for w in range(layout.shape[2]):
                at = c // per_atom * layout.surface_stride_bytes + h * layout.line_stride_bytes
                at += (w * per_atom + c % per_atom) * len(layout.components) * size
                for name in layout.components:
                    assert layout.offset(name, c, h, w) == at
                    assert layout.element_at(at + size - 1) == Operand(name, c, h, w)
                    if c < layout.shape[0]:
                        expected[at : at + size] = list(operands[name][c, h, w].tobytes())
                    written[at : at + size] = True
                    at += size
    np.testing.assert_array_equal(raw, expected, strict=True)
    np.testing.assert_array_equal(layout.written_mask(), written, strict=True)
    for gap in np.flatnonzero(~written)[:50]:
        assert layout.element_at(int(gap)) is None


@settings(max_examples=40)
@given(operand_layouts(), st.integers(0, 2**31))
def test_unpack_returns_what_was_packed_and_nothing_behind_it(layout: OperandLayout, seed: int) -> None:
    operands = random_operands(layout, seed)
    raw = layout.pack(operands)
    for data in (raw, raw.tobytes() + b"behind"):
        out = layout.unpack(data)
        assert tuple(out) == layout.components
        for name, values in operands.items():
            assert out[name].dtype == layout.component_dtype
            assert out[name].shape == layout.shape
            assert out[name].tobytes() == values.tobytes()
    padded = layout.unpack_padded(raw)
    for name in layout.components:
        assert padded[name].shape == (layout.padded_channels, *layout.shape[1:])
        assert not padded[name][layout.shape[0] :].any()


def test_the_description_names_every_fact() -> None:
    assert OperandLayout.packed(FULL, INT8, (33, 1, 1), ("alu", "mul"), 2).describe().splitlines() == [
        "operands alu and mul per channel, INT8, nv_full: C=33 H=1 W=1",
        "atom: 128 bytes, 32 channels, 2 bytes each",
        "line stride: 128 bytes, surface stride: 128 bytes",
        "bytes: 256",
    ]
    first = OperandLayout.packed(FULL, INT8, (33, 2, 1), ("mul",), 1).describe().splitlines()[0]
    assert first == "operands mul per element, INT8, nv_full: C=33 H=2 W=1"


@pytest.mark.parametrize(
    ("config", "precision", "shape", "components", "component_bytes", "strides", "message"),
    [
        (SMALL, FP16, (1, 1, 1), ("alu",), 2, (16, 16), "precision must be one of INT8 for nv_small, not FP16"),
        (FULL, INT8, (1, 1), ("alu",), 1, (32, 32), "shape must be (C, H, W), not (1, 1)"),
        (FULL, INT8, (8193, 1, 1), ("alu",), 1, (32, 32), "channels must be 1 to 8192, not 8193"),
        (
            FULL,
            INT8,
            (1, 1, 1),
            ("mul", "alu"),
            1,
            (64, 64),
            "components must be one of (('alu',), ('mul',), ('alu', 'mul')), not ('mul', 'alu')",
        ),
        (FULL, INT8, (1, 1, 1), ("alu",), 4, (32, 32), "component_bytes must be 1 or 2, not 4"),
        (FULL, FP16, (1, 1, 1), ("alu",), 1, (32, 32), "component_bytes must be 2 for FP16, not 1"),
        (
            FULL,
            INT8,
            (1, 2, 1),
            ("alu",),
            1,
            (48, 96),
            "line_stride_bytes must be a multiple of the 32-byte atom, not 48",
        ),
        (
            FULL,
            INT8,
            (1, 1, 2),
            ("alu",),
            2,
            (96, 128),
            "line_stride_bytes must be at least the 128 bytes of a line, not 96",
        ),
        (
            FULL,
            INT8,
            (33, 2, 1),
            ("alu",),
            1,
            (64, 64),
            "surface_stride_bytes must be at least the 96 bytes of a surface, not 64",
        ),
        (
            FULL,
            INT16,
            (17, 1, 1),
            ("alu",),
            1,
            (16, 48),
            "line_stride_bytes must be a multiple of the 32-byte atom, not 16",
        ),
    ],
)
def test_impossible_operands_are_refused(
    config: HwConfig,
    precision: Precision,
    shape: tuple[int, int, int],
    components: tuple[str, ...],
    component_bytes: int,
    strides: tuple[int, int],
    message: str,
) -> None:
    with refused(message):
        OperandLayout(config, precision, shape, components, component_bytes, *strides)


def test_bad_operands_and_bytes_are_refused() -> None:
    layout = OperandLayout.packed(FULL, INT8, (3, 1, 1), ("alu", "mul"), 2)
    good = np.zeros((3, 1, 1), dtype=np.int16)
    with refused("operands must be ('alu', 'mul'), not ('alu',)"):
        layout.pack({"alu": good})
    with refused("mul must have shape (3, 1, 1), not (3,)"):
        layout.pack({"alu": good, "mul": good.reshape(3)})
    with refused("alu must have dtype int16, not int8"):
        layout.pack({"alu": good.astype(np.int8), "mul": good})
    with refused("data must hold at least 128 bytes, not 127"):
        layout.unpack(bytes(127))
    with refused("component must be one of ('alu', 'mul'), not bias"):
        layout.offset("bias", 0, 0, 0)
    with refused("c must be 0 to 31, not 32"):
        layout.offset("alu", 32, 0, 0)
    with refused("offset_bytes must be 0 to 127, not 128"):
        layout.element_at(128)
    with refused("shape must be (C, H, W), not (3,)"):
        OperandLayout.packed(FULL, INT8, (3,), ("alu",), 1)  # type: ignore[arg-type]
