"""The interrupt line is judged by the registers alone, as far as they tell."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import WrongLine
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.line import LineRule
from nvdla_tb.nvdla.registers import Register, RegisterMap

REGISTERS = RegisterMap.of(HwConfig.load("nv_small"))
MASK, SET, STATUS = (REGISTERS.parse(f"GLB.S_INTR_{name}") for name in ("MASK", "SET", "STATUS"))
LIMIT = 10


class Rule(LineRule):
    """A rule whose layers owe what a test says."""

    def __init__(self) -> None:
        self.owes = 0
        super().__init__(lambda: self.owes, LIMIT)

    def seen(self, value: int, cycle: int, owed: int = 0) -> WrongLine | None:
        """Read the status."""
        self.owes = owed
        return wrong(self.read(STATUS, value, cycle))

    def written(self, register: Register, value: int, cycle: int) -> WrongLine | None:
        self.owes = 0
        return wrong(self.write(register, value, cycle))

    def moved(self, cycle: int, *, level: bool) -> WrongLine | None:
        return wrong(self.line(cycle, level=level))

    def end(self, cycle: int) -> WrongLine | None:
        return wrong(self.finish(cycle))


def wrong(findings: Iterable[Finding]) -> WrongLine | None:
    """Return what is wrong with the line: one thing at most."""
    found = list(findings)
    if not found:
        return None
    (finding,) = found
    assert finding.check is Check.INTERRUPT
    assert isinstance(finding.detail, WrongLine)
    return finding.detail


@pytest.fixture
def rule() -> Rule:
    return Rule()


def test_a_bit_that_is_set_and_not_masked_must_raise_the_line_soon(rule: Rule) -> None:
    assert rule.seen(1, 100) is None
    assert rule.end(100 + LIMIT) is None
    assert rule.end(101 + LIMIT) == WrongLine(True, 100, 1, 0)
    assert rule.end(200) is None, "once"


def test_a_line_that_follows_in_time_is_right_and_may_not_drop(rule: Rule) -> None:
    rule.seen(1, 100)
    assert rule.moved(105, level=True) is None
    assert rule.end(500) is None
    assert rule.moved(600, level=False) == WrongLine(True, 100, 1, 0)


def test_a_line_must_be_low_when_all_that_is_set_is_masked_or_cleared() -> None:
    for register, value in ((MASK, 1), (STATUS, 1)):
        rule = Rule()
        rule.seen(1, 100)
        rule.moved(102, level=True)
        assert rule.written(register, value, 200) is None
        assert rule.end(200 + LIMIT) is None
        found = rule.end(201 + LIMIT)
        assert found is not None
        assert (found.must, found.since) == (False, 200)


def test_nothing_is_said_of_bits_that_a_layer_owes(rule: Rule) -> None:
    rule.seen(0, 100, owed=4)
    assert rule.moved(300, level=True) is None
    assert rule.end(400) is None
    assert rule.seen(0, 500) is None
    assert rule.end(511) == WrongLine(False, 500, 0, 0)


def test_what_software_sets_counts_once_it_was_read(rule: Rule) -> None:
    rule.written(SET, 0x80, 100)
    assert rule.end(300) is None, "the hardware may lack the bit"
    assert rule.seen(0, 400) is None
    assert rule.moved(401, level=True) is None
    assert rule.end(411) == WrongLine(False, 400, 0, 0)


def test_a_layer_of_which_nothing_is_known_ends_judging_until_a_reset(rule: Rule) -> None:
    rule.stop()
    rule.seen(1, 100)
    assert rule.end(300) is None
    rule.reset()
    rule.seen(1, 400)
    assert rule.end(500) == WrongLine(True, 400, 1, 0)
