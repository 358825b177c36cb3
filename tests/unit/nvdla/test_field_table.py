"""The declarative field table on tables of its own: codecs, conditions, agreement and refusals."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.program.table import (
    FLAG,
    INVERTED_FLAG,
    MINUS_ONE,
    PLAIN,
    SIGNED,
    Codec,
    Fixed,
    Named,
    Refused,
    Table,
    View,
    blame,
    blame_attributes,
    decode_rows,
    encode_rows,
    row,
)
from nvdla_tb.nvdla.registers import RegisterMap
from tests.unit.nvdla.samples import SMALL

REGISTERS = RegisterMap.of(SMALL)
LETTERS = Named((("a", 0), ("b", 2)))
SHIFT, SCALE, OFFSET = "SDP.D_CVT_SHIFT.cvt_shift", "SDP.D_CVT_SCALE.cvt_scale", "SDP.D_CVT_OFFSET.cvt_offset"
ALGO = "SDP.D_DP_BS_CFG.bs_alu_algo"


def refused(message: str) -> pytest.RaisesExc[Refused]:
    return pytest.raises(Refused, match=rf"^{re.escape(message)}$")


def words(**values: int) -> dict[str, dict[str, int]]:
    return {"SDP": {"D_CVT_SHIFT": 0, "D_CVT_SCALE": 0, "D_CVT_OFFSET": 0, **values}}


@given(st.sampled_from([(PLAIN, 0), (MINUS_ONE, 1), (SIGNED, None)]), st.integers(1, 64), st.data())
def test_number_codecs_are_inverses_over_their_whole_range(
    drawn: tuple[Codec, int | None], width: int, data: st.DataObject
) -> None:
    codec, low = drawn
    low = -(1 << (width - 1)) if low is None else low
    high = low + (1 << width) - 1
    value = data.draw(st.one_of(st.integers(low, high), st.sampled_from((low, high))))
    bits = codec.encode(value, width)
    assert 0 <= bits < 1 << width
    assert codec.decode(bits, width) == value


@pytest.mark.parametrize(
    ("codec", "value", "message"),
    [
        (PLAIN, 16, "must be 0 to 15, not 16"),
        (PLAIN, -1, "must be 0 to 15, not -1"),
        (MINUS_ONE, 0, "must be 1 to 16, not 0"),
        (MINUS_ONE, 17, "must be 1 to 16, not 17"),
        (SIGNED, 8, "must be -8 to 7, not 8"),
        (SIGNED, -9, "must be -8 to 7, not -9"),
        (LETTERS, "c", "must be one of a, b, not c"),
        (FLAG, 2, "must be one of False, True, not 2"),
    ],
)
def test_values_that_a_field_cannot_hold_are_refused(codec: Codec, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=rf"^{re.escape(message)}$"):
        codec.encode(value, 4)


def test_an_inverted_flag_is_0_when_true() -> None:
    assert (INVERTED_FLAG.encode(True, 1), INVERTED_FLAG.decode(1, 1)) == (0, False)


def test_a_value_may_span_fields_from_the_lowest() -> None:
    table: Table = (row("x", SHIFT, SCALE, codec=SIGNED),)
    encoded = encode_rows(table, {"x": -2}, REGISTERS)
    assert encoded == {"SDP": {"D_CVT_SHIFT": 0x3E, "D_CVT_SCALE": 0xFFFF}}
    assert decode_rows(table, encoded, REGISTERS) == {"x": -2}
    with refused(f"{SHIFT}: must be -2097152 to 2097151, not 2097152"):
        encode_rows(table, {"x": 1 << 21}, REGISTERS)


def test_fields_of_a_register_that_no_row_mentions_keep_their_reset_value() -> None:
    assert encode_rows((row("x", ALGO),), {"x": 2}, REGISTERS) == {"SDP": {"D_DP_BS_CFG": 0b1111011}}


def test_a_row_whose_condition_fails_keeps_reset_and_is_not_decoded() -> None:
    table: Table = (row("on", SHIFT), row("off", SCALE), row("x", OFFSET, when="on & !off"))
    for on, off, active in ((0, 0, False), (1, 0, True), (1, 1, False), (0, 1, False)):
        encoded = encode_rows(table, {"on": on, "off": off, "x": 7}, REGISTERS)
        assert encoded["SDP"]["D_CVT_OFFSET"] == (7 if active else 0)
        noisy = words(D_CVT_SHIFT=on, D_CVT_SCALE=off, D_CVT_OFFSET=99)
        assert ("x" in decode_rows(table, noisy, REGISTERS)) == active


def test_an_insignificant_row_is_written_but_not_read() -> None:
    table: Table = (row("x", SHIFT), row("x", SCALE, significant=False))
    assert encode_rows(table, {"x": 5}, REGISTERS) == {"SDP": {"D_CVT_SHIFT": 5, "D_CVT_SCALE": 5}}
    assert decode_rows(table, words(D_CVT_SHIFT=5, D_CVT_SCALE=6), REGISTERS) == {"x": 5}


def test_two_places_that_disagree_are_refused() -> None:
    table: Table = (row("x", SHIFT), row("x", SCALE))
    with refused(f"{SCALE} must agree with {SHIFT} (5), not 6"):
        decode_rows(table, words(D_CVT_SHIFT=5, D_CVT_SCALE=6), REGISTERS)


def test_a_fixed_field_is_written_and_checked_where_its_condition_holds() -> None:
    table: Table = (row("x", SHIFT), Fixed(SCALE, 3, "because", when="x"))
    assert encode_rows(table, {"x": 1}, REGISTERS)["SDP"]["D_CVT_SCALE"] == 3
    assert encode_rows(table, {"x": 0}, REGISTERS)["SDP"]["D_CVT_SCALE"] == 0
    assert decode_rows(table, words(D_CVT_SCALE=4), REGISTERS) == {"x": 0}
    with refused(f"{SCALE} must be 3, not 4: because"):
        decode_rows(table, words(D_CVT_SHIFT=1, D_CVT_SCALE=4), REGISTERS)


def test_a_view_is_a_condition_for_later_rows() -> None:
    table: Table = (View("many", SHIFT, lambda bits: bits > 1), row("x", SCALE, when="many"))
    assert decode_rows(table, words(D_CVT_SHIFT=1), REGISTERS) == {"many": False}
    assert decode_rows(table, words(D_CVT_SHIFT=2, D_CVT_SCALE=9), REGISTERS) == {"many": True, "x": 9}


def test_bits_without_meaning_are_refused_by_field() -> None:
    with refused(f"{ALGO}: must be one of 0, 2, not 1"):
        decode_rows((row("x", ALGO, codec=LETTERS),), {"SDP": {"D_DP_BS_CFG": 1 << 2}}, REGISTERS)


def test_blame_names_the_innermost_field_once() -> None:
    with refused("A.B.c: must be 1, not 2"), blame("A.D.e"), blame("A.B.c"):
        raise InputError("must be 1, not 2")


@pytest.mark.parametrize("blamed", [blame("A.B.c"), blame_attributes((), "src")])
def test_a_numpy_error_is_a_bug_and_no_refusal(blamed: AbstractContextManager[None]) -> None:
    with pytest.raises(ValueError, match=r"^operands could not be broadcast together"), blamed:
        np.zeros(2) + np.zeros(3)


def test_blame_leaves_other_errors_alone() -> None:
    with pytest.raises(KeyError, match=r"^'x'$"), blame("A.B.c"):
        raise KeyError("x")


@pytest.mark.parametrize(
    ("prefix", "message", "expected"),
    [
        ("src", "address must be even, not 3", f"{SHIFT}: address must be even, not 3"),
        ("", "scale must be even, not 3", f"{SCALE}: scale must be even, not 3"),
        ("src", "shape must be square, not 3", "src: shape must be square, not 3"),
    ],
)
def test_errors_about_attributes_name_their_field(prefix: str, message: str, expected: str) -> None:
    table: Table = (row("src.address", SHIFT), row("scale", SCALE))
    with refused(expected), blame_attributes(table, prefix):
        raise InputError(message)
