"""The interrupt line is judged by the registers alone, as far as they tell."""

from __future__ import annotations

from models.config import HwConfig
from tb.judge.detail import WrongLine
from tb.judge.line import LineRule
from tb.nvdla.registers import RegisterMap

REGISTERS = RegisterMap.of(HwConfig.load("nv_small"))
MASK, SET, STATUS = (REGISTERS.parse(f"GLB.S_INTR_{name}") for name in ("MASK", "SET", "STATUS"))
LIMIT = 10


def seen(rule: LineRule, value: int, cycle: int, owed: int = 0) -> WrongLine | None:
    """Read the status."""
    return rule.access(STATUS, value, owed, cycle, is_write=False)


def test_a_bit_that_is_set_and_not_masked_must_raise_the_line_soon() -> None:
    rule = LineRule(LIMIT)
    assert seen(rule, 1, 100) is None
    assert rule.finish(100 + LIMIT) is None
    assert rule.finish(101 + LIMIT) == WrongLine(True, 100, 1, 0)
    assert rule.finish(200) is None, "once"


def test_a_line_that_follows_in_time_is_right_and_may_not_drop() -> None:
    rule = LineRule(LIMIT)
    seen(rule, 1, 100)
    assert rule.line(105, level=True) is None
    assert rule.finish(500) is None
    assert rule.line(600, level=False) == WrongLine(True, 100, 1, 0)


def test_a_line_must_be_low_when_all_that_is_set_is_masked_or_cleared() -> None:
    for register, value in ((MASK, 1), (STATUS, 1)):
        rule = LineRule(LIMIT)
        seen(rule, 1, 100)
        rule.line(102, level=True)
        assert rule.access(register, value, 0, 200, is_write=True) is None
        assert rule.finish(200 + LIMIT) is None
        wrong = rule.finish(201 + LIMIT)
        assert wrong is not None
        assert (wrong.must, wrong.since) == (False, 200)


def test_nothing_is_said_of_bits_that_a_layer_owes() -> None:
    rule = LineRule(LIMIT)
    seen(rule, 0, 100, owed=4)
    assert rule.line(300, level=True) is None
    assert rule.finish(400) is None
    assert seen(rule, 0, 500) is None
    assert rule.finish(511) == WrongLine(False, 500, 0, 0)


def test_what_software_sets_counts_once_it_was_read() -> None:
    rule = LineRule(LIMIT)
    rule.access(SET, 0x80, 0, 100, is_write=True)
    assert rule.finish(300) is None, "the hardware may lack the bit"
    assert seen(rule, 0, 400) is None
    assert rule.line(401, level=True) is None
    assert rule.finish(411) == WrongLine(False, 400, 0, 0)


def test_a_layer_of_which_nothing_is_known_ends_judging_until_a_reset() -> None:
    rule = LineRule(LIMIT)
    rule.stop()
    seen(rule, 1, 100)
    assert rule.finish(300) is None
    rule.reset()
    seen(rule, 1, 400)
    assert rule.finish(500) == WrongLine(True, 400, 1, 0)
