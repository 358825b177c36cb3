"""The short form of SDP: what it computes, which stages do it, and what is refused."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from nvdla_models.errors import InputError
from nvdla_models.lut import HybridLut, LutTable
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpStage
from nvdla_tb.nvdla.short import Sdp
from tests.unit.nvdla.samples import small_lut
from tests.unit.nvdla.short.playing import Desk, cut, shifted

SHAPE = (11, 3, 4)


def stage(alu: AluOp | None = None, **parts: Any) -> SdpStage:
    """Return a stage that does what is named."""
    return SdpStage(
        **{"alu": alu, "alu_shift": 0, "mul": False, "mul_prelu": False, "mul_shift": 0, "relu": False} | parts
    )


def test_steps_are_done_in_their_order() -> None:
    desk = Desk()
    cube, other = desk.bytes(*SHAPE), desk.bytes(*SHAPE)
    bias = desk.rng.integers(-999, 1000, SHAPE[0], dtype=np.int16)
    src, dst = desk.place(cube), desk.reserve(SHAPE)
    keys = {"bias": desk.place_operands(bias), "residual": desk.place(other), "prelu": -77}
    layer = Sdp(src, dst, scale=3, shift=4, prelu_shift=5, convert=(5, 7, 3), **keys)
    sums = shifted((cube.astype(int) + bias[:, None, None]) * 3, 4) + other
    bent = np.where(sums < 0, shifted(sums * -77, 5), sums)
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, cut(shifted((bent - 5) * 7, 3)), strict=True)


def test_both_operands_of_a_pair_are_those_of_one_stage() -> None:
    desk = Desk()
    cube = desk.bytes(*SHAPE)
    bias, scale = desk.rng.integers(-99, 100, (2, *SHAPE), dtype=np.int8)
    pair = desk.place_operands(bias, scale)
    layer = Sdp(desk.place(cube), desk.reserve(SHAPE), bias=pair, scale=pair, shift=6, relu=True)
    assert layer.params.x2 is None
    (got,) = desk.played(layer)
    wide = (cube.astype(int) + bias) * scale
    np.testing.assert_array_equal(got, cut(np.maximum(shifted(wide, 6), 0)), strict=True)


def test_operands_that_lie_apart_are_those_of_two_stages() -> None:
    desk = Desk()
    cube = desk.bytes(*SHAPE)
    bias, scale = desk.rng.integers(-99, 100, (2, SHAPE[0]), dtype=np.int8)
    placed = {"bias": desk.place_operands(bias), "scale": desk.place_operands(scale)}
    layer = Sdp(desk.place(cube), desk.reserve(SHAPE), shift=6, **placed)
    assert (layer.params.x1, layer.params.x2) == (stage(AluOp.SUM), stage(mul=True, mul_shift=6))
    (got,) = desk.played(layer)
    wide = (cube.astype(int) + bias[:, None, None]) * scale[:, None, None]
    np.testing.assert_array_equal(got, cut(shifted(wide, 6)), strict=True)


@pytest.mark.parametrize(
    ("keys", "x1", "x2"),
    [
        ({}, None, None),
        ({"relu": True}, stage(relu=True), None),
        ({"shift": 3}, stage(mul_shift=3), None),
        ({"bias": 0, "relu": True}, stage(AluOp.SUM, relu=True), None),
        ({"scale": 2, "shift": 1, "bias": 1}, stage(AluOp.SUM, mul=True, mul_shift=1), None),
        ({"scale": 2, "prelu": 3}, stage(mul=True), stage(mul=True, mul_prelu=True)),
    ],
)
def test_as_few_stages_work_as_possible(keys: dict[str, Any], x1: SdpStage | None, x2: SdpStage | None) -> None:
    desk = Desk()
    params = Sdp(desk.place(desk.bytes(*SHAPE)), desk.reserve(SHAPE), **keys).params
    assert (params.x1, params.x2) == (x1, x2)


def test_a_residual_alone_is_added_by_x1_and_followed_by_relu() -> None:
    desk = Desk()
    cube, other = desk.bytes(*SHAPE), desk.bytes(*SHAPE)
    placed = desk.place(other, line_stride_bytes=64, surface_stride_bytes=256)
    layer = Sdp(desk.place(cube), desk.reserve(SHAPE), residual=placed, relu=True)
    assert layer.params.x2 is None
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, cut(np.maximum(cube.astype(int) + other, 0)), strict=True)


def test_numbers_of_fp16_become_patterns() -> None:
    desk = Desk("nv_full")
    cube = desk.halves(*SHAPE)
    layer = Sdp(desk.place(cube), desk.reserve(SHAPE, Precision.FP16), bias=0.5, scale=-2)
    assert layer.x1 is not None
    assert (layer.x1.alu, layer.x1.mul) == (0x3800, 0xC000)
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, ((cube.astype(np.float64) + 0.5) * -2).astype(np.float16), strict=True)


def test_the_precision_may_change_and_tables_are_those_of_y() -> None:
    desk = Desk("nv_full")
    # The first entry of a table is that of an input beyond its start.
    cube = np.maximum(desk.bytes(32, 3, 4), -127)
    # Each entry of LO is a hundred times its place, so that the lookup multiplies.
    le = LutTable(np.zeros(65, np.int16), start=-500, end=-436)
    lo = LutTable(np.arange(257, dtype=np.int16) * 100 - 12800, start=-128, end=128)
    layer = Sdp(desk.place(cube), desk.reserve(cube.shape, Precision.INT16), lut=HybridLut(le, lo))
    (got,) = desk.played(layer)
    np.testing.assert_array_equal(got, cube.astype(np.int16) * 100, strict=True)


REFUSED: list[tuple[Callable[[Desk], dict[str, Any]], str]] = [
    (lambda desk: {"bias": 0.5}, r"bias must be an integer for INT8, not 0\.5"),
    (lambda desk: {"scale": 1 << 15}, r"scale must be an integer from -32768 to 32767, not 32768"),
    (lambda desk: {"shift": 64}, r"shift must be an integer from 0 to 63, not 64"),
    (lambda desk: {"prelu_shift": 1}, r"prelu_shift must be 0 without prelu, not 1"),
    (lambda desk: {"prelu": 1, "relu": True}, r"relu must be False with prelu, which keeps negative values"),
    (lambda desk: {"lut": small_lut()}, r"lut must be None: SDP of nv_small has no lookup tables"),
    (
        lambda desk: {"residual": desk.reserve((11, 3, 5))},
        r"residual must have the shape \(11, 3, 4\) of the output, not \(11, 3, 5\)",
    ),
    (
        lambda desk: {"scale": 2, "residual": desk.reserve(SHAPE), "prelu": desk.place_operands(desk.bytes(11))},
        r"scale, residual, prelu must fit the stages of nv_small: X1 and X2 have an adder, a multiplier and ReLU each, "
        r"in this order, and one surface of operands; prelu is left over, and as one number it would need no surface",
    ),
    (
        lambda desk: {"bias": 1, "residual": desk.reserve(SHAPE), "scale": 2, "prelu": 3, "prelu_shift": 64},
        r"prelu_shift must be an integer from 0 to 63, not 64",
    ),
    (
        lambda desk: {"bias": desk.place_operands(desk.bytes(7))},
        r"bias must have an operand for each of the 11 channels or for each element of \(11, 3, 4\), "
        r"not the shape \(7, 1, 1\)",
    ),
]


@pytest.mark.parametrize(("keys", "message"), REFUSED)
def test_what_cannot_be_is_refused(keys: Callable[[Desk], dict[str, Any]], message: str) -> None:
    desk = Desk()
    src, dst = desk.place(desk.bytes(*SHAPE)), desk.reserve(SHAPE)
    with pytest.raises(InputError, match=f"^{message}$"):
        Sdp(src, dst, **keys(desk))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"shift": 3}, r"shift must be 0 for FP16, which has none, not 3"),
        ({"convert": (0, 2, 0)}, r"convert must be \(0, 1, 0\) for FP16, which has none, not \(0, 2, 0\)"),
    ],
)
def test_what_fp16_lacks_is_refused(keys: dict[str, Any], message: str) -> None:
    desk = Desk("nv_full")
    src, dst = desk.place(desk.halves(*SHAPE)), desk.reserve(SHAPE, Precision.FP16)
    with pytest.raises(InputError, match=f"^{message}$"):
        Sdp(src, dst, **keys)


def test_operands_of_another_precision_are_refused() -> None:
    desk = Desk("nv_full")
    src, dst = desk.place(desk.bytes(*SHAPE)), desk.reserve(SHAPE)
    bias = desk.place_operands(np.zeros(11, np.int16), precision=Precision.INT16)
    message = (
        "bias must be placed for INT8, in which SDP computes here, not for INT16: "
        "place_operands(..., precision=Precision.INT8)"
    )
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Sdp(src, dst, bias=bias)


def test_an_output_of_the_default_precision_after_fp16_is_refused_by_its_name() -> None:
    desk = Desk("nv_full")
    message = "dst must have the precision INT16 or FP16 after FP16, not INT8: reserve(shape, Precision.FP16)"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Sdp(desk.place(desk.halves(*SHAPE)), desk.reserve(SHAPE))
