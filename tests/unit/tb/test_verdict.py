"""Verdicts as data and as text."""

from __future__ import annotations

from dataclasses import replace

import pytest

from models.layout import Element
from tb.judge.verdict import Kind, Margin, Mismatch, Outcome, Verdict
from tb.memory import Ram

WRONG = Mismatch(Kind.VALUE, "layer 0 (SDP, group 0)", Ram.MC, Element(1, 2, 3), 0x1000, 1, 2, 30, 4)


def test_a_verdict_passes_when_bytes_were_judged_and_nothing_is_wrong() -> None:
    verdict = Verdict(judged_bytes=1)
    assert verdict.outcome is Outcome.PASSED
    assert complaints(verdict) == []


def test_an_empty_verdict_fails() -> None:
    assert Verdict().outcome is Outcome.FAILED
    assert Verdict(written_bytes=8).complaints() == ["nothing was compared: no layer wrote a byte that was expected"]


def test_a_problem_fails_even_when_every_byte_is_right() -> None:
    verdict = Verdict(judged_bytes=8, problems=["no interrupt"])
    assert verdict.outcome is Outcome.FAILED
    assert complaints(verdict) == ["no interrupt"]


def test_what_was_refused_is_neither_passed_nor_failed() -> None:
    verdict = Verdict(judged_bytes=8, refused="SDP has no Y")
    assert verdict.outcome is Outcome.REFUSED
    assert verdict.to_dict()["complaints"] == []
    assert verdict.to_dict()["refused"] == "SDP has no Y"


def test_a_refusal_does_not_hide_what_was_wrong_before_it() -> None:
    verdict = Verdict(judged_bytes=8, problems=["no interrupt"], refused="SDP has no Y")
    assert verdict.outcome is Outcome.FAILED
    assert verdict.to_dict()["complaints"] == ["no interrupt", "refused behind that: SDP has no Y"]


def test_findings_of_one_kind_and_layer_are_summed_and_keep_their_first() -> None:
    verdict = Verdict()
    verdict.add(Kind.VALUE, 4, 2, WRONG)
    verdict.add(Kind.VALUE, 2, 1, replace(WRONG, address=0x2000))
    verdict.add(Kind.DOUBLE, 1, 1, replace(WRONG, kind=Kind.DOUBLE))
    verdict.add(Kind.VALUE, 1, 1, replace(WRONG, layer="layer 1 (SDP, group 1)"))
    assert [(f.kind, f.nbytes, f.elements, f.first.address) for f in verdict.findings] == [
        (Kind.VALUE, 6, 3, 0x1000),
        (Kind.DOUBLE, 1, 1, 0x1000),
        (Kind.VALUE, 1, 1, 0x1000),
    ]


@pytest.mark.parametrize(
    ("mismatch", "text"),
    [
        (
            WRONG,
            "layer 0 (SDP, group 0): first at c=1 h=2 w=3 (address 0x1000 of MC), expected 0x01, got 0x02, "
            "at cycle 30 with id 4",
        ),
        (
            replace(WRONG, kind=Kind.MISSING, got=None, cycle=None, axi_id=None),
            "layer 0 (SDP, group 0): first at c=1 h=2 w=3 (address 0x1000 of MC), expected 0x01",
        ),
        (
            replace(WRONG, kind=Kind.STRAY, layer=None, element=None, expected=None, ram=Ram.CVSRAM),
            "first at address 0x1000 of CVSRAM, got 0x02, at cycle 30 with id 4",
        ),
        (
            replace(WRONG, expected=0, cycle=0, axi_id=0, got=0),
            "layer 0 (SDP, group 0): first at c=1 h=2 w=3 (address 0x1000 of MC), expected 0x00, got 0x00, "
            "at cycle 0 with id 0",
        ),
    ],
)
def test_a_mismatch_is_one_line(mismatch: Mismatch, text: str) -> None:
    assert str(mismatch) == text


def test_a_verdict_as_data_holds_every_count() -> None:
    verdict = Verdict(judged_bytes=1, written_bytes=2, repeated_bytes=3, layers=4, cycles=5, crc_passed=6, crc_failed=7)
    verdict.memory_faults = 8
    verdict.counters = 9
    assert verdict.to_dict() == {
        "outcome": "passed",
        "complaints": [],
        "refused": None,
        "judged_bytes": 1,
        "written_bytes": 2,
        "repeated_bytes": 3,
        "layers": 4,
        "cycles": 5,
        "crc_passed": 6,
        "crc_failed": 7,
        "memory_faults": 8,
        "counters": 9,
        "margins": [],
        "worst_margin": None,
    }


def test_the_worst_margin_of_several_layers_is_told_and_kept_in_files() -> None:
    margins = [
        Margin("layer 0 (CONV, group 0)", "CC DC", "some rule", 9, 0.25, Element(0, 0, 0)),
        Margin("layer 1 (CONV, group 1)", "CC DC", "some rule", 18, 0.3125, Element(1, 2, 3)),
    ]
    verdict = Verdict(judged_bytes=54, margins=margins)
    assert verdict.to_dict()["worst_margin"] == 0.3125
    assert verdict.to_dict()["margins"][1] == (
        "layer 1 (CONV, group 1): 18 elements by CC DC (some rule), worst 31.2 % at c=1 h=2 w=3"
    )
    assert str(replace(margins[0], worst=float("inf"))).endswith("worst more than any part at c=0 h=0 w=0")
