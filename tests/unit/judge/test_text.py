"""The words for findings, each asserted whole, and those of verdicts and margins."""

from __future__ import annotations

from typing import get_args

import pytest

from nvdla_models.layout import Element
from nvdla_tb.judge.detail import AnyDetail, MoreBadAccesses, Note, PortViolation, Raised, UnexpectedInterrupt
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.port_rules import PortRule
from nvdla_tb.judge.text import (
    complaint,
    complaints,
    first_line,
    margin_line,
    margin_part,
    signature_line,
    why_not_passed,
)
from nvdla_tb.judge.verdict import Altered, Margin, Verdict
from nvdla_tb.nvdla.memory import Ram
from tests.unit.judge.findings import TOLD, Told

MARGIN = Margin("layer 1 (CONV, group 1)", "CC DC", "some rule", 18, 0.3125, Element(1, 2, 3))


def test_every_kind_of_detail_is_told() -> None:
    assert {type(told.finding.detail) for told in TOLD} == set(get_args(AnyDetail))


@pytest.mark.parametrize("told", TOLD, ids=lambda told: type(told.finding.detail).__name__)
def test_a_finding_has_words(told: Told) -> None:
    assert complaint(told.finding) == told.text


@pytest.mark.parametrize("rule", PortRule)
def test_every_rule_of_a_port_has_words(rule: PortRule) -> None:
    finding = Finding(Check.PROTOCOL, PortViolation(Ram.CVSRAM, rule), 9)
    assert complaint(finding) == f"protocol: CVSRAM: {rule.text} (broken at cycle 9)"


def test_wrong_bytes_are_told_first_and_a_refusal_last() -> None:
    wrong = TOLD[0]
    verdict = Verdict(
        findings=[Finding(Check.MEMORY, MoreBadAccesses(2)), wrong.finding, Finding(Check.TEST, Note("a\nb"))],
        refused="SDP has no Y",
    )
    assert complaints(verdict) == [wrong.text, "2 more memory faults", "a\nb", "then refused: SDP has no Y"]
    assert why_not_passed(verdict) == complaints(verdict)


def test_what_a_test_has_altered_is_a_note_to_a_failure_and_not_to_a_pass() -> None:
    altered = [Altered(Ram.MC, 0x80 + address, 2) for address in range(5)]
    note = "note: the test altered bytes that the DUT reads and the model does not: 2 at 0x80 of MC"
    assert complaints(Verdict(findings=[TOLD[0].finding], altered=altered[:1])) == [TOLD[0].text, note]
    more = ", 2 at 0x81 of MC, 2 at 0x82 of MC, 2 more places"
    assert complaints(Verdict(findings=[TOLD[0].finding], altered=altered)) == [TOLD[0].text, note + more]
    assert complaints(Verdict(judged_bytes=1, altered=altered)) == []


def test_the_first_line_has_the_ending_and_the_place_of_an_exception() -> None:
    (raised,) = (told.finding for told in TOLD if isinstance(told.finding.detail, Raised))
    assert first_line(Verdict(findings=[raised])) == (
        "test error: InputError: dst must have the shape of src (tests/mine.py:7)"
    )
    assert first_line(Verdict.of(Check.TEST, "a\nb")) == "failed check: a"


def test_a_refusal_alone_is_no_complaint_but_a_reason() -> None:
    verdict = Verdict(judged_bytes=8, refused="SDP has no Y")
    assert complaints(verdict) == []
    assert why_not_passed(verdict) == ["SDP has no Y"]


def test_a_verdict_that_passes_needs_no_words() -> None:
    assert complaints(Verdict(judged_bytes=1)) == why_not_passed(Verdict(judged_bytes=1)) == []


def test_a_verdict_that_compared_nothing_says_so() -> None:
    assert complaints(Verdict(written_bytes=8)) == ["nothing was compared: no layer wrote a byte that was expected"]


@pytest.mark.parametrize(
    ("worst", "part"), [(0.3125, "31.2 %"), (0.0, "0.0 %"), (1.5, "150.0 %"), (None, "more than any part")]
)
def test_a_margin_is_one_line(worst: float | None, part: str) -> None:
    margin = Margin(MARGIN.layer, MARGIN.module, MARGIN.rule, MARGIN.elements, worst, MARGIN.at)
    assert margin_line(margin) == (
        f"layer 1 (CONV, group 1): 18 elements by CC DC (some rule), worst {part} at c=1 h=2 w=3"
    )


def test_the_worst_part_has_three_places() -> None:
    assert [margin_part(worst) for worst in (None, 0.0, 0.31251, float("inf"))] == ["-", "0.000", "0.313", "inf"]


def test_a_signature_is_one_line() -> None:
    assert signature_line(Finding(Check.INTERRUPT, UnexpectedInterrupt("SDP_1")).signature) == "interrupt, SDP_1"
