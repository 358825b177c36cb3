"""Verdicts: what findings make of them, and that they survive files."""

from __future__ import annotations

import msgspec
import pytest
from msgspec.structs import replace

from nvdla_models.layout import Element
from nvdla_tb.judge.detail import (
    Mismatch,
    MoreBadAccesses,
    MoreUnmappedAccesses,
    Note,
    Nothing,
    PortViolation,
    WrongRegister,
)
from nvdla_tb.judge.finding import BYTES, Check, Finding
from nvdla_tb.judge.verdict import Ending, Margin, Verdict
from nvdla_tb.nvdla.memory import Ram
from tests.unit.judge.findings import CUBE, LAYER, MISSED, TOLD, WRONG, Told

MISMATCHES = (Check.VALUE, Check.MISSING, Check.STRAY, Check.DOUBLE, Check.LATE, Check.GOLDEN)
PROTOCOL = (
    *(Check.UNANSWERED, Check.MEMORY, Check.PROTOCOL, Check.INTERRUPT, Check.REGISTER, Check.COUNTER, Check.PROGRAM),
    Check.EXPLANATION,
)
ENDINGS = {
    **dict.fromkeys(MISMATCHES, Ending.MISMATCH),
    **dict.fromkeys(PROTOCOL, Ending.PROTOCOL),
    Check.HANG: Ending.HANG,
    Check.EMPTY: Ending.EMPTY,
    Check.INPUT: Ending.BENCH_ERROR,
    Check.TEST: Ending.CHECK,
    Check.RAISED: Ending.TEST_ERROR,
    Check.CRASH: Ending.CRASH,
    Check.TIMEOUT: Ending.TIMEOUT,
    Check.BENCH: Ending.BENCH_ERROR,
    Check.BUILD: Ending.BUILD_ERROR,
    Check.LOST: Ending.LOST,
    Check.NOT_PLAYED: Ending.NOT_PLAYED,
}

WEIGHT = (
    Ending.NOT_PLAYED,
    Ending.LOST,
    Ending.BUILD_ERROR,
    Ending.CRASH,
    Ending.TIMEOUT,
    Ending.BENCH_ERROR,
    Ending.HANG,
    Ending.MISMATCH,
    Ending.TEST_ERROR,
    Ending.CHECK,
    Ending.EMPTY,
    Ending.PROTOCOL,
)
"""Endings of failures, the one that outweighs all others first."""


def noted(check: Check, message: str = "why") -> Finding:
    return Finding(check, Note(message))


@pytest.mark.parametrize("check", Check)
def test_a_check_leads_to_its_ending(check: Check) -> None:
    assert Verdict(judged_bytes=8, findings=[noted(check)]).ending is ENDINGS[check]
    assert Verdict.of(check, "why") == Verdict(findings=[noted(check)])


@pytest.mark.parametrize("one", Check)
def test_of_two_checks_the_weightier_ending_counts_in_any_order(one: Check) -> None:
    for other in Check:
        weightier = min(ENDINGS[one], ENDINGS[other], key=WEIGHT.index)
        assert Verdict(judged_bytes=8, findings=[noted(one), noted(other)]).ending is weightier


def test_a_verdict_passes_when_bytes_were_judged_and_nothing_is_wrong() -> None:
    verdict = Verdict(judged_bytes=1)
    assert (verdict.ending, verdict.failures, verdict.signature) == (Ending.PASSED, [], ())


def test_an_empty_verdict_fails() -> None:
    verdict = Verdict(written_bytes=8)
    assert verdict.ending is Ending.EMPTY
    assert verdict.failures == [Finding(Check.EMPTY, Nothing())]
    assert verdict.signature == ("nothing compared",)
    assert verdict.findings == []


def test_an_empty_verdict_names_the_accesses_that_hit_no_register() -> None:
    findings = [Finding(Check.REGISTER, MISSED, 30), Finding(Check.REGISTER, MoreUnmappedAccesses(6))]
    verdict = Verdict(findings=findings, unmapped=7, first_unmapped=[MISSED])
    assert verdict.ending is Ending.EMPTY
    assert verdict.failures == [Finding(Check.EMPTY, Nothing(7, (MISSED,)))]
    allowed = Verdict(unmapped=7, first_unmapped=[MISSED])
    assert allowed.failures == verdict.failures


def test_accesses_that_hit_no_register_fail_what_compared_something() -> None:
    verdict = Verdict(judged_bytes=8, findings=[Finding(Check.REGISTER, MISSED, 30)], unmapped=1)
    assert (verdict.ending, verdict.failures) == (Ending.PROTOCOL, verdict.findings)


def test_findings_that_a_test_expects_do_not_fail_it_and_their_lack_does() -> None:
    found = [noted(Check.REGISTER), noted(Check.HANG)]
    both = Verdict(judged_bytes=8, findings=found, expected=[Check.REGISTER, Check.HANG])
    assert (both.ending, both.failures, both.needs_explanation) == (Ending.PASSED, [], False)
    one = Verdict(judged_bytes=8, findings=found, expected=[Check.REGISTER])
    assert (one.ending, one.failures, one.needs_explanation) == (Ending.HANG, found[1:], True)
    lacking = Verdict(judged_bytes=8, expected=[Check.VALUE])
    assert lacking.ending is Ending.CHECK
    assert lacking.failures == [
        noted(Check.TEST, "the test expects a finding of the check wrong value, and there was none")
    ]
    assert Verdict(expected=[Check.EMPTY]).ending is Ending.PASSED
    assert Verdict(expected=[Check.VALUE]).ending is Ending.CHECK


def test_a_refusal_that_a_test_expects_does_not_fail_it_and_its_lack_does() -> None:
    assert Verdict(refused="SDP has no Y", expects_refusal=True).ending is Ending.PASSED
    lacking = Verdict(judged_bytes=8, expects_refusal=True)
    assert lacking.failures == [noted(Check.TEST, "the test expects a refusal of a layer, and there was none")]
    wrong = Verdict(refused="SDP has no Y", expects_refusal=True, findings=[noted(Check.VALUE)])
    assert wrong.ending is Ending.MISMATCH


def test_a_test_that_says_itself_what_it_checks_need_not_compare_bytes() -> None:
    assert Verdict(self_checking=True).ending is Ending.PASSED
    assert Verdict(self_checking=True, findings=[noted(Check.TEST)]).ending is Ending.CHECK


def test_what_was_refused_is_neither_passed_nor_failed() -> None:
    verdict = Verdict(judged_bytes=8, refused="SDP has no Y")
    assert (verdict.ending, verdict.failures, verdict.signature) == (Ending.REFUSED, [], ())
    assert Verdict(refused="SDP has no Y").ending is Ending.REFUSED


def test_a_refusal_does_not_hide_what_was_wrong_before_it() -> None:
    verdict = Verdict(judged_bytes=8, findings=[noted(Check.PROTOCOL)], refused="SDP has no Y")
    assert verdict.ending is Ending.PROTOCOL


def test_wrong_bytes_come_first_among_failures() -> None:
    register, value = Finding(Check.REGISTER, WrongRegister("SDP.S_STATUS", 1, 0), 12), Finding(Check.VALUE, WRONG, 30)
    stray = Finding(Check.STRAY, WRONG, 40)
    verdict = Verdict(findings=[register, value, stray])
    assert verdict.failures == [value, stray, register]
    assert verdict.wrong_bytes == [value, stray]
    assert verdict.signature == value.signature


def test_wrong_bytes_of_one_check_and_layer_are_summed_and_keep_their_first() -> None:
    verdict = Verdict()
    verdict.add(Finding(Check.VALUE, WRONG, 30, LAYER))
    verdict.add(Finding(Check.VALUE, replace(WRONG, nbytes=2, elements=1, address=0x2000, rule="r"), 20, LAYER))
    verdict.add(Finding(Check.DOUBLE, WRONG, 30, LAYER))
    verdict.add(Finding(Check.VALUE, WRONG, 30, CUBE))
    verdict.add(Finding(Check.STRAY, WRONG, 30))
    verdict.add(Finding(Check.STRAY, WRONG, 50))
    assert verdict.findings == [
        Finding(Check.VALUE, replace(WRONG, nbytes=8, elements=4), 30, LAYER),
        Finding(Check.DOUBLE, WRONG, 30, LAYER),
        Finding(Check.VALUE, WRONG, 30, CUBE),
        Finding(Check.STRAY, replace(WRONG, nbytes=12, elements=6), 30),
    ]


def test_other_findings_of_one_check_stay_apart() -> None:
    findings = [
        Finding(Check.REGISTER, WrongRegister("SDP.S_STATUS", 1, 0), 12),
        Finding(Check.REGISTER, WrongRegister("SDP.S_STATUS", 1, 0), 12),
        Finding(Check.MEMORY, MoreBadAccesses(1)),
    ]
    verdict = Verdict()
    for finding in findings:
        verdict.add(finding)
    assert verdict.findings == findings


def test_verdicts_share_no_lists() -> None:
    Verdict().add(noted(Check.TEST))
    assert Verdict() == Verdict(margins=[], findings=[])


@pytest.mark.parametrize("told", TOLD, ids=lambda told: type(told.finding.detail).__name__)
def test_a_signature_is_of_check_place_and_what_the_detail_adds(told: Told) -> None:
    layer = told.finding.layer
    where = () if layer is None else (layer.engine, f"group {layer.group}")
    assert told.finding.signature == (told.finding.check.value, *where, *told.cause)


def test_findings_of_one_cause_share_a_signature_whatever_their_numbers() -> None:
    one = Finding(Check.VALUE, WRONG, 30, LAYER)
    other = Finding(
        Check.VALUE, Mismatch(9, 9, Ram.CVSRAM, 0x7000, Element(0, 0, 0), 5, 6, 7, "rule"), 99, replace(LAYER, index=7)
    )
    assert one.signature == other.signature == ("wrong value", "SDP", "group 1")
    rules = [Finding(Check.PROTOCOL, PortViolation(Ram.MC, rule), cycle) for rule, cycle in ((6, 9), (6, 99), (7, 9))]
    assert rules[0].signature == rules[1].signature != rules[2].signature


@pytest.mark.parametrize("check", BYTES)
def test_engine_and_register_group_tell_signatures_apart(check: Check) -> None:
    layers = (LAYER, replace(LAYER, engine="PDP"), replace(LAYER, group=0), None)
    assert len({Finding(check, WRONG, 30, layer).signature for layer in layers}) == len(layers)


def test_a_verdict_with_every_kind_of_detail_survives_json() -> None:
    margins = [
        Margin("layer 0 (CONV, group 0)", "CC DC", "some rule", 9, 0.1, Element(0, 0, 0)),
        Margin("layer 1 (CONV, group 1)", "CC DC", "some rule", 9, None, Element(1, 2, 3)),
    ]
    verdict = Verdict(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, margins, [told.finding for told in TOLD], "no Y", True)
    data = msgspec.json.encode(verdict)
    again = msgspec.json.decode(data, type=Verdict)
    assert again == verdict
    assert [type(finding.detail) for finding in again.findings] == [type(told.finding.detail) for told in TOLD]
    assert msgspec.json.encode(again) == data


def test_the_worst_margin_is_that_of_all_layers() -> None:
    margin = Margin("layer 0 (CONV, group 0)", "CC DC", "some rule", 9, 0.25, Element(0, 0, 0))
    parts = [0.25, 0.3125, 0.0]
    assert Verdict(margins=[replace(margin, worst=part) for part in parts]).worst_margin == 0.3125
    assert Verdict(margins=[margin, replace(margin, worst=None)]).worst_margin == float("inf")
    assert Verdict().worst_margin is None
