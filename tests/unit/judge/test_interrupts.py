"""Done interrupts: one for each that a layer owes; what software sets and what was read before do not count."""

from __future__ import annotations

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import UnexpectedInterrupt
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.interrupts import InterruptRules
from nvdla_tb.judge.line import LINE_CYCLES
from nvdla_tb.nvdla.program.ops import done_bit
from nvdla_tb.nvdla.registers import Register, RegisterMap

REGISTERS = RegisterMap.of(HwConfig.load("nv_small"))
STATUS, SET, MASK = (REGISTERS.parse(f"GLB.S_INTR_{name}") for name in ("STATUS", "SET", "MASK"))
SDP_0, SDP_1, WEIGHTS = 1 << done_bit("SDP", 0), 1 << done_bit("SDP", 1), 1 << done_bit("CDMA_WT", 0)


def names(rules: InterruptRules, register: Register, value: int) -> list[str]:
    """Return the interrupts that a read shows and that no layer owes."""
    found = list(rules.read(register, value, 100))
    assert {(finding.check, finding.cycle) for finding in found} <= {(Check.INTERRUPT, 100)}
    details = [finding.detail for finding in found]
    assert all(isinstance(detail, UnexpectedInterrupt) for detail in details)
    return [detail.name for detail in details if isinstance(detail, UnexpectedInterrupt)]


@pytest.fixture
def rules() -> InterruptRules:
    return InterruptRules()


def test_an_interrupt_that_a_layer_owes_is_right_and_a_second_one_is_not(rules: InterruptRules) -> None:
    rules.start([("SDP", 0)])
    assert names(rules, STATUS, SDP_0) == []
    assert names(rules, STATUS, SDP_0) == [], "the same bit, read twice"
    rules.write(STATUS, SDP_0, None)
    assert names(rules, STATUS, 0) == []
    assert names(rules, STATUS, SDP_0) == ["SDP_0"]


def test_the_other_group_and_other_units_are_told_apart(rules: InterruptRules) -> None:
    rules.enable("CDMA", 0)
    rules.start([("SDP", 0), ("CDMA_WT", 0)])
    assert names(rules, STATUS, SDP_1 | WEIGHTS) == ["SDP_1"]
    assert names(rules, STATUS, SDP_1 | WEIGHTS | SDP_0) == []


def test_cdma_may_be_done_before_its_layer_starts_and_once_only(rules: InterruptRules) -> None:
    assert names(rules, STATUS, WEIGHTS) == ["CDMA_WT_0"]
    rules.write(STATUS, WEIGHTS, None)
    rules.enable("CDMA", 0)
    assert names(rules, STATUS, WEIGHTS) == []
    rules.start([("SDP", 0), ("CDMA_WT", 0)])
    rules.write(STATUS, WEIGHTS, None)
    assert names(rules, STATUS, WEIGHTS) == ["CDMA_WT_0"]


def test_a_bit_that_cannot_be_cleared_is_found_a_few_times_only(rules: InterruptRules) -> None:
    found = []
    for _ in range(9):
        found += names(rules, STATUS, SDP_1)
        rules.write(STATUS, SDP_1, None)
    assert found == ["SDP_1"] * 5
    assert rules.seen == 0
    rules.start([("SDP", 1)])
    assert names(rules, STATUS, SDP_1) == []
    assert rules.seen == 1


def test_what_software_sets_is_no_interrupt_of_a_layer(rules: InterruptRules) -> None:
    rules.write(SET, SDP_1, None)
    assert names(rules, STATUS, SDP_1) == []
    rules.write(STATUS, SDP_1, None)
    assert names(rules, STATUS, SDP_1) == ["SDP_1"]


def test_an_interrupt_that_never_comes_stays_owed(rules: InterruptRules) -> None:
    rules.enable("CDMA", 0)
    rules.start([("SDP", 0), ("SDP", 1), ("CDMA_WT", 0)])
    assert names(rules, STATUS, SDP_0) == []
    assert rules.owed == ["CDMA_DAT_0", "CDMA_WT_0", "SDP_1"]


def test_a_bit_that_nobody_clears_stands_for_two_layers_but_not_for_one_that_starts_behind_it(
    rules: InterruptRules,
) -> None:
    rules.start([("SDP", 0)])
    rules.start([("SDP", 0)])
    assert names(rules, STATUS, SDP_0) == []
    assert rules.owed == []
    rules.write(STATUS, SDP_0, None)
    rules.start([("SDP", 0)])
    assert rules.owed == ["SDP_0"]


def test_other_registers_say_nothing(rules: InterruptRules) -> None:
    assert names(rules, REGISTERS.parse("GLB.S_INTR_MASK"), 0xFFFF) == []


def test_a_reset_forgets_what_was_owed(rules: InterruptRules) -> None:
    rules.start([("SDP", 0)])
    rules.reset()
    assert names(rules, STATUS, SDP_0) == ["SDP_0"]


def test_a_bit_that_is_cleared_unread_shows_as_a_pulse_of_the_line(rules: InterruptRules) -> None:
    for _ in range(2):
        rules.start([("SDP", 0)])
        rules.write(STATUS, SDP_0, None)
        assert rules.owed == ["SDP_0"]
        rules.line(5, level=True)
        rules.line(6, level=False)
        assert rules.owed == []


def test_a_pulse_is_that_of_one_layer(rules: InterruptRules) -> None:
    for _ in range(2):
        rules.start([("SDP", 0)])
        rules.write(STATUS, SDP_0, None)
    rules.line(5, level=True)
    assert rules.owed == ["SDP_0"]
    rules.line(6, level=False)
    rules.line(7, level=True)
    assert rules.owed == []


def test_a_bit_that_a_clear_beats_stays_owed_although_that_of_the_next_layer_comes(rules: InterruptRules) -> None:
    rules.start([("SDP", 0)], 10)
    rules.write(STATUS, SDP_0, 100)
    rules.start([("SDP", 0)], 101 + LINE_CYCLES)
    rules.write(STATUS, SDP_0, 300)
    rules.line(303, level=True)
    rules.write(STATUS, SDP_0, 304)
    assert rules.owed == ["SDP_0"]
    rules.reset()
    assert rules.owed == []


@pytest.mark.parametrize("change", ["line", "mask", "soon"])
def test_a_bit_that_its_event_may_set_after_the_clear_is_not_lost(rules: InterruptRules, change: str) -> None:
    rules.start([("SDP", 0)], 10)
    rules.write(STATUS, SDP_0, 100)
    if change == "line":
        rules.line(200, level=True)
    if change == "mask":
        rules.write(MASK, SDP_0, 200)
    rules.start([("SDP", 0)], 100 + LINE_CYCLES if change == "soon" else 400)
    assert names(rules, STATUS, SDP_0) == []
    assert rules.owed == []


def test_a_pulse_says_nothing_of_a_bit_that_was_not_cleared(rules: InterruptRules) -> None:
    rules.write(STATUS, SDP_0, None)
    rules.start([("SDP", 0)])
    rules.write(STATUS, SDP_1, 2)
    rules.line(5, level=True)
    assert rules.owed == ["SDP_0"]


def test_a_pulse_is_not_that_of_a_bit_which_was_cleared_long_before(rules: InterruptRules) -> None:
    rules.start([("SDP", 0)])
    rules.write(STATUS, SDP_0, 100)
    rules.line(101 + LINE_CYCLES, level=True)
    assert rules.owed == ["SDP_0"]


def test_a_bit_that_is_cleared_where_no_pulse_shows_need_not_be_seen() -> None:
    for hidden in ("masked", "slow", "high"):
        rules = InterruptRules(LINE_CYCLES + (hidden == "slow"))
        rules.start([("SDP", 0)])
        if hidden == "masked":
            rules.write(MASK, SDP_0, None)
        if hidden == "high":
            rules.line(5, level=True)
        rules.write(STATUS, SDP_0, None)
        assert rules.owed == [], hidden
