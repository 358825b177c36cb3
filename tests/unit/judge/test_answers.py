"""Interrupts that come before the answers to the writes of their layers are found, and no others."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.answers import AnswerRule, LastWrite
from nvdla_tb.judge.detail import EarlyInterrupt
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.interrupts import InterruptRules
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import done_bit
from nvdla_tb.nvdla.registers import Register, RegisterMap
from tests.unit.judge.test_scoreboard import Port
from tests.unit.nvdla.samples import BASE, expected

REGISTERS = RegisterMap.of(HwConfig.load("nv_small"))
MASK, SET, STATUS = (REGISTERS.parse(f"GLB.S_INTR_{name}") for name in ("MASK", "SET", "STATUS"))
SDP, CDP = ("SDP", 0), ("CDP", 0)
FIRST, SECOND = LayerId(0, "SDP", 0), LayerId(1, "CDP", 0)
BITS = {event: 1 << done_bit(*event) for event in (SDP, CDP)}
LAG = 10


class Rule(AnswerRule):
    """Two layers whose last writes were at cycles 90 and 95, with ids 1 and 3."""

    def __init__(self, *wrapped: Ram) -> None:
        writes = {0: LastWrite(Ram.MC, 1, 90, 0x100), 1: LastWrite(Ram.MC, 3, 95, 0x200)}
        super().__init__(InterruptRules().fresh, writes.get, LAG, wrapped)
        self.start(FIRST, [SDP])
        self.start(SECOND, [CDP])

    def answer(self, *answers: tuple[int, int]) -> None:
        ids, written = zip(*answers, strict=True)
        self.answers(Ram.MC, np.array(ids), np.array(written))

    def seen(self, *events: tuple[str, int], cycle: int = 200) -> list[Finding]:
        return list(self.read(STATUS, sum(BITS[event] for event in events), cycle))


def early(cycle: int) -> Finding:
    return Finding(Check.UNANSWERED, EarlyInterrupt("SDP_0", Ram.MC, 1, 0x100, 90), cycle, FIRST)


@pytest.fixture
def rule() -> Rule:
    return Rule()


def test_an_interrupt_after_the_last_answer_is_right(rule: Rule) -> None:
    rule.answer((1, 80), (1, 90))
    assert rule.seen(SDP) == []


@pytest.mark.parametrize("answers", [(), ((1, 80),), ((3, 95),)])
def test_an_interrupt_before_the_last_answer_is_found(rule: Rule, answers: tuple[tuple[int, int], ...]) -> None:
    for answer in answers:
        rule.answer(answer)
    assert rule.seen(SDP) == [early(200)]


def test_a_wrapper_may_answer_before_memory_does() -> None:
    assert Rule(Ram.MC).seen(SDP) == []
    assert Rule(Ram.CVSRAM).seen(SDP) == [early(200)]


def test_an_answer_on_the_other_port_does_not_count(rule: Rule) -> None:
    rule.answers(Ram.CVSRAM, np.array([1]), np.array([90]))
    assert rule.seen(SDP) == [early(200)]


def test_an_interrupt_that_alone_raised_the_line_is_as_old_as_the_line(rule: Rule) -> None:
    rule.line(150, level=True)
    rule.answer((1, 90))
    assert rule.seen(SDP) == [early(150)]


def test_a_line_that_another_interrupt_may_have_raised_says_nothing(rule: Rule) -> None:
    rule.line(150, level=True)
    rule.answer((1, 90), (3, 95))
    assert rule.seen(SDP, CDP) == []


def test_a_masked_interrupt_cannot_have_raised_the_line(rule: Rule) -> None:
    rule.write(MASK, BITS[CDP], 100)
    rule.line(150, level=True)
    rule.answer((1, 90), (3, 95))
    assert rule.seen(SDP, CDP) == [early(150)]


@pytest.mark.parametrize("register", [MASK, SET, STATUS])
@pytest.mark.parametrize("cycle", [150 - LAG, 160])
def test_a_line_that_software_may_have_moved_says_nothing(rule: Rule, register: Register, cycle: int) -> None:
    if cycle < 150:
        rule.write(register, 0, cycle)
        rule.line(150, level=True)
    else:
        rule.line(150, level=True)
        rule.write(register, 0, cycle)
    rule.answer((1, 90))
    assert rule.seen(SDP) == []


def test_a_line_that_fell_again_says_nothing(rule: Rule) -> None:
    rule.line(150, level=True)
    rule.line(160, level=False)
    rule.answer((1, 90))
    assert rule.seen(SDP) == []


def test_each_interrupt_stands_for_the_oldest_layer_of_its_unit_and_group(rule: Rule) -> None:
    rule.start(LayerId(2, "SDP", 0), [SDP])
    assert rule.seen(SDP) == [early(200)]
    assert rule.seen(SDP) == [], "nothing is known of what layer 2 wrote"
    assert rule.seen(SDP) == [], "no layer is due"


def test_a_reset_forgets_layers_and_answers(rule: Rule) -> None:
    rule.answer((1, 90))
    rule.reset()
    assert rule.seen(SDP) == []
    rule.start(FIRST, [SDP])
    assert rule.seen(SDP) == [early(200)]


def test_the_last_write_is_that_of_the_newest_beat_with_bytes_that_the_layer_lacked() -> None:
    port = Port()
    port.board.expect(expected())
    assert port.board.last_write(0) is None
    port.write(BASE + 8, bytes(range(8, 16)), axi_id=5)
    port.write(BASE, bytes(range(8)), axi_id=2)
    port.write(BASE, bytes(range(8)), axi_id=4)
    assert port.board.last_write(0) == LastWrite(Ram.MC, 2, 101, BASE)
    assert port.board.last_write(1) is None
