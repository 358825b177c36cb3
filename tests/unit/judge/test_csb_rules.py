"""CSB's answers: one for each request that wants one, none for others, none in reset."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from nvdla_tb.judge.csb_rules import CsbRule, CsbRules


def broken(play: Callable[[CsbRules], None]) -> list[int]:
    """Return the rules that are broken by what is played."""
    found: list[int] = []
    play(CsbRules(found.append))
    return found


def test_every_request_that_wants_an_answer_may_have_one() -> None:
    def play(rules: CsbRules) -> None:
        rules.accept(is_write=False, posted=True)
        assert rules.waits
        rules.answers(read=True, write=False)
        rules.accept(is_write=True, posted=False)
        rules.answers(read=False, write=True)
        rules.accept(is_write=True, posted=True)
        assert not rules.waits

    assert broken(play) == []


@pytest.mark.parametrize(
    ("is_write", "posted", "answers", "rule"),
    [
        (True, True, {"read": False, "write": True}, CsbRule.WRITE_UNASKED),
        (True, False, {"read": True, "write": False}, CsbRule.READ_UNASKED),
        (False, True, {"read": False, "write": True}, CsbRule.WRITE_UNASKED),
    ],
    ids=["posted write", "write answered as a read", "read answered as a write"],
)
def test_an_answer_of_another_kind_is_found(is_write: bool, posted: bool, answers: dict[str, bool], rule: int) -> None:
    def play(rules: CsbRules) -> None:
        rules.accept(is_write=is_write, posted=posted)
        rules.answers(**answers)

    assert broken(play) == [rule]


@pytest.mark.parametrize(("clock_is_low", "rules"), [(True, [CsbRule.LINE_OFF_CLOCK]), (False, [])])
def test_the_line_changes_with_the_clock_of_csb(clock_is_low: bool, rules: list[int]) -> None:
    assert broken(lambda judge: judge.line(clock_is_low=clock_is_low)) == rules


def test_a_second_answer_is_found_and_reported_once() -> None:
    def play(rules: CsbRules) -> None:
        rules.accept(is_write=False, posted=True)
        for _ in range(3):
            rules.answers(read=True, write=False)

    assert broken(play) == [CsbRule.READ_UNASKED]


def test_an_answer_to_what_a_reset_swallowed_is_found() -> None:
    def play(rules: CsbRules) -> None:
        rules.accept(is_write=False, posted=True)
        rules.flush()
        rules.answers(read=True, write=False)

    assert broken(play) == [CsbRule.READ_UNASKED]


def test_what_is_high_in_reset_is_found() -> None:
    assert broken(lambda rules: rules.in_reset(read=True, write=True, line=True)) == [
        CsbRule.READ_IN_RESET,
        CsbRule.WRITE_IN_RESET,
        CsbRule.LINE_IN_RESET,
    ]
    assert broken(lambda rules: rules.in_reset(read=False, write=False, line=False)) == []
