"""What caught a bug: checks, cycle and cause from the result of a job."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tb.score.judge import Check, catch_of, check_of

from tb.judge.verdict import Outcome
from models.errors import InputError
from tb.launch.simulate import Outcome as SimOutcome
from tb.regress.jobs import Job, JobResult
from tb.scenario import Scenario
from tb.score.catalogue import Bug, BugKind, Place
from tb.score.play import BugResult
from tb.score.report import caught, explained, line, passed, summary

JOB = Job("sdp_copy", 1, "rerun", lambda: Scenario("sdp_copy", "nv_small", (), 1))


def result(
    *complaints: str, simulation: SimOutcome = SimOutcome.FAILED, outcome: Outcome | None = None, **facts: Any
) -> JobResult:
    """Return a played job."""
    ended = outcome or (Outcome.FAILED if complaints else Outcome.PASSED)
    return JobResult(JOB, ended, complaints, 1.0, Path("folder"), facts, simulation)


def bug(kind: BugKind = BugKind.LAYOUT, causes: tuple[str, ...] = ("dst-base",), equivalent: str = "") -> Bug:
    return Bug("one_bug", kind, Place.RTL, "SDP", "about", causes, equivalent)


@pytest.mark.parametrize(
    ("complaint", "check"),
    [
        ("wrong value: 3 elements; layer 0 (SDP, group 0): first at c=1", Check.MISMATCH),
        ("missing write: 16 elements; layer 0", Check.MISSING),
        ("stray write: 16 bytes; first at address 0x80000500", Check.STRAY),
        ("double write with another value: 8 elements", Check.DOUBLE),
        ("protocol: MC: wlast must be set on the last beat (broken at cycle 9)", Check.PROTOCOL),
        ("MC: 1 write addresses without all data, 0 beats without address", Check.PROTOCOL),
        ("MC: wdata is XX while valid, at cycle 3", Check.PROTOCOL),
        ("MC: read of 8 bytes at 0x0 with id 1 at cycle 7: outside every allocation", Check.MEMORY),
        ("MC: read of 8 bytes at 0x0 with id 1 at cycle 7: 0x0 was never written (src+0x0)", Check.MEMORY),
        ("12 more memory faults", Check.MEMORY),
        ("SDP.S_STATUS must read 0x1, not 0x0 (cycle 12)", Check.REGISTER),
        ("poll of GLB.S_INTR_STATUS for equal 0x1 still reads 0x0 after 500 cycles", Check.REGISTER),
        ("hang: nothing moved for 60000 cycles, at cycle 61000", Check.HANG),
        ("nothing was compared: no layer wrote a byte that was expected", Check.OTHER),
    ],
)
def test_a_complaint_belongs_to_a_check(complaint: str, check: Check) -> None:
    assert check_of(complaint) is check


def test_a_scenario_that_passes_catches_nothing() -> None:
    assert catch_of(result(simulation=SimOutcome.PASSED), 1) is None


def test_the_earliest_complaint_comes_first() -> None:
    catch = catch_of(
        result("wrong value: 3 elements; at cycle 300 with id 1", "SDP.S_STATUS must read 0x1 (cycle 12)"), 4
    )
    assert catch is not None
    assert (catch.number, catch.scenario, catch.cycle) == (4, "sdp_copy.1", 12)
    assert catch.checks == (Check.REGISTER, Check.MISMATCH)
    assert catch.complaint == "wrong value: 3 elements; at cycle 300 with id 1"


def test_the_cause_is_the_first_of_the_first_layer_that_was_explained() -> None:
    causes = [["dst-base", "dst-found"], ["src-base"]]
    catch = catch_of(result("wrong value: 3 elements", causes=causes), 1)
    assert catch is not None
    assert catch.cause == "dst-base"


def test_causes_that_predict_the_same_bytes_as_the_first_are_kept_and_counted() -> None:
    facts = {"causes": [["dst-base", "dst-order"], ["src-base"]], "equal": [["dst-base", "dst-order"], ["src-base"]]}
    catch = catch_of(result("wrong value: 3 elements; at cycle 7", **facts), 1)
    assert catch is not None
    assert catch.equal == ("dst-order",)
    both = BugResult(bug(), 1, catch, 1.0)
    assert line(both).endswith("cause dst-base: right, the same bytes as dst-order")
    assert "right first causes of which another predicts the very same bytes: 1" in summary([both])
    wrong = BugResult(bug(causes=("src-base",)), 1, catch, 1.0)
    assert not any("very same bytes" in text for text in summary([wrong]))


@pytest.mark.parametrize("causes", [[], [[]], [[], ["src-base"]]])
def test_a_layer_without_a_known_cause_has_none(causes: list[list[str]]) -> None:
    catch = catch_of(result("wrong value: 3 elements", causes=causes), 1)
    assert catch is not None
    assert catch.cause is None


def test_a_crash_is_caught_as_such() -> None:
    catch = catch_of(result("the simulator was ended by SIGSEGV", simulation=SimOutcome.CRASHED), 2)
    assert catch is not None
    assert catch.checks == (Check.CRASH,)


def test_a_refused_scenario_says_nothing_about_a_bug() -> None:
    refused = result("SDP.D_DP_EW_CFG", outcome=Outcome.REFUSED, simulation=SimOutcome.PASSED)
    with pytest.raises(InputError, match=r"^scenario sdp_copy\.1 must be playable, not refused: SDP\.D_DP_EW_CFG$"):
        catch_of(refused, 1)


def played(which: Bug, *complaints: str, causes: list[list[str]] | None = None) -> BugResult:
    catch = catch_of(result(*complaints, causes=causes or []), 1) if complaints else None
    return BugResult(which, 3, catch, 1.0)


def test_the_score_counts_what_was_caught_and_explained() -> None:
    results = [
        played(bug(), "wrong value: 1 elements; at cycle 7", causes=[["dst-base"]]),
        played(bug(), "wrong value: 1 elements; at cycle 7", causes=[["src-base"]]),
        played(bug()),
        played(bug(BugKind.PROTOCOL, ()), "protocol: MC: wlast (broken at cycle 9)"),
        played(bug(BugKind.CONTROL, (), "no scenario can show it")),
    ]
    assert caught(results) == (3, 4)
    assert explained(results) == (1, 3)
    assert not passed(results)
    text = "\n".join(summary(results))
    assert "caught: 3 of 4 (75.0 %, at least 97 %)" in text
    assert "first cause right: 1 of 3 (33.3 %, at least 85 %)" in text
    assert "SURVIVED 3 scenarios" in text
    assert "no scenario can show it" in text
    assert "cause src-base: expected dst-base" in text


def test_a_score_passes_only_when_enough_was_caught_and_explained() -> None:
    good = played(bug(), "wrong value: 1 elements; at cycle 7", causes=[["dst-base"]])
    assert passed([good])
    assert not passed([good, played(bug(BugKind.CONTROL, ()))])
    assert line(good).endswith("wrong value in scenario 1 (sdp_copy.1, cycle 7); cause dst-base: right")
