"""What caught a bug: checks, cycle and cause from a result."""

from __future__ import annotations

import pytest

from models.errors import InputError
from tb.judge.detail import Note, WrongRegister
from tb.judge.finding import Check, Finding
from tb.judge.verdict import Verdict
from tb.run.result import Result
from tb.stimulus.exchange import Explained
from tb.tools.score.catalogue import Bug, BugKind
from tb.tools.score.journal import Played, catch_of
from tb.tools.score.play import BugResult
from tb.tools.score.report import caught, explained, line, passed, summary
from tests.unit.run.regress.tasks import DUT, hang, wrong

REGISTER = Finding(Check.REGISTER, WrongRegister("SDP.S_STATUS", 1, 0), 12)


def result(*findings: Finding, causes: list[list[str]] | None = None, equal: list[list[str]] | None = None) -> Result:
    """Return a scenario that was played."""
    why = None if causes is None else Explained([], causes, equal or causes)
    return Result("sdp_copy", 1, DUT, "rerun", Verdict(judged_bytes=8, findings=list(findings)), explained=why)


def bug(kind: BugKind = BugKind.LAYOUT, causes: tuple[str, ...] = ("dst-base",), equivalent: str = "") -> Bug:
    return Bug("one_bug", kind, "SDP", "about", "nv_small", causes=causes, equivalent=equivalent)


def test_a_scenario_that_passes_catches_nothing() -> None:
    assert catch_of(result(), 1) is None


def test_the_earliest_finding_comes_first() -> None:
    first, last = wrong(3, cycle=300), Finding(Check.TEST, Note("late"))
    catch = catch_of(result(first, hang("SDP_0"), REGISTER, wrong(1, Check.MISSING, None), last), 4)
    assert catch is not None
    assert (catch.number, catch.scenario, catch.cycle) == (4, "sdp_copy.1", 12)
    assert catch.checks == (Check.REGISTER, Check.VALUE, Check.HANG, Check.MISSING, Check.TEST)
    assert catch.complaint.startswith("wrong value: 3 elements; layer 0 (SDP, group 0): first at c=0 h=0 w=0 ")


def test_a_check_that_found_more_than_once_is_named_once_and_cycle_0_is_a_cycle() -> None:
    again = Finding(Check.REGISTER, WrongRegister("SDP.S_POINTER", 1, 0), 0)
    catch = catch_of(result(REGISTER, again, wrong(cycle=None)), 1)
    assert catch is not None
    assert (catch.checks, catch.cycle) == ((Check.REGISTER, Check.VALUE), 0)


def test_findings_without_a_cycle_have_none() -> None:
    catch = catch_of(result(wrong(cycle=None)), 1)
    assert catch is not None
    assert catch.cycle is None


def test_only_the_first_line_of_a_complaint_is_kept() -> None:
    catch = catch_of(result(hang("SDP_0")), 1)
    assert catch is not None
    assert catch.complaint == "hang: nothing moved for 5000 cycles, at cycle 61000"


def test_a_scenario_that_compared_nothing_is_caught_as_such() -> None:
    catch = catch_of(Result("sdp_copy", 1, DUT, "rerun", Verdict()), 1)
    assert catch is not None
    assert (catch.checks, catch.cycle) == ((Check.EMPTY,), None)


def test_the_cause_is_the_first_of_the_first_layer_that_was_explained() -> None:
    catch = catch_of(result(wrong(), causes=[["dst-base", "dst-found"], ["src-base"]], equal=[["dst-base"], []]), 1)
    assert catch is not None
    assert (catch.cause, catch.equal) == ("dst-base", ())


def test_causes_that_predict_the_same_bytes_as_the_first_are_kept_and_counted() -> None:
    catch = catch_of(result(wrong(3, cycle=7), causes=[["dst-base", "dst-order"], ["src-base"]]), 1)
    assert catch is not None
    assert catch.equal == ("dst-order",)
    both = BugResult(bug(), Played(1, catch, 1.0))
    assert line(both).endswith("cause dst-base: right, the same bytes as dst-order")
    assert "right first causes of which another predicts the very same bytes: 1" in summary([both])
    other = BugResult(bug(causes=("src-base",)), Played(1, catch, 1.0))
    assert not any("very same bytes" in text for text in summary([other]))


@pytest.mark.parametrize("causes", [None, [], [[]], [[], ["src-base"]]])
def test_a_layer_without_a_known_cause_has_none(causes: list[list[str]] | None) -> None:
    catch = catch_of(result(wrong(3), causes=causes), 1)
    assert catch is not None
    assert (catch.cause, catch.equal) == (None, ())


def test_the_units_of_the_lines_on_the_terminal_are_kept_as_data() -> None:
    why = Explained([], [], [], units=["SDP: it"] * 3, named=[["SDP"], ["SDP", "PDP"], ["CACC"]])
    played = Result("sdp_copy", 1, DUT, "rerun", Verdict(judged_bytes=8, findings=[wrong(3)]), explained=why)
    catch = catch_of(played, 1)
    assert catch is not None
    assert catch.units == (("SDP",), ("SDP", "PDP"))


def test_a_crash_is_caught_as_such() -> None:
    catch = catch_of(result(Finding(Check.CRASH, Note("the simulator was ended by SIGSEGV\nline"))), 2)
    assert catch is not None
    assert (catch.checks, catch.complaint) == ((Check.CRASH,), "the simulator was ended by SIGSEGV")


def test_a_refused_scenario_says_nothing_about_a_bug() -> None:
    refused = Result("sdp_copy", 1, DUT, "rerun", Verdict(judged_bytes=8, refused="SDP.D_DP_EW_CFG"))
    with pytest.raises(InputError, match=r"^scenario sdp_copy\.1 must be playable, not refused: SDP\.D_DP_EW_CFG$"):
        catch_of(refused, 1)


def played(which: Bug, *findings: Finding, causes: list[list[str]] | None = None) -> BugResult:
    return BugResult(which, Played(3, catch_of(result(*findings, causes=causes), 1), 1.0))


def test_the_score_counts_what_was_caught_and_explained() -> None:
    results = [
        played(bug(), wrong(cycle=7), causes=[["dst-base"]]),
        played(bug(), wrong(cycle=7), causes=[["src-base"]]),
        played(bug()),
        played(bug(BugKind.PROTOCOL, ()), Finding(Check.PROTOCOL, Note("wlast"), 9)),
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
    good = played(bug(), wrong(cycle=7), causes=[["dst-base"]])
    assert passed([good])
    assert not passed([good, played(bug(BugKind.CONTROL, ()))])
    assert line(good).endswith("wrong value in scenario 1 (sdp_copy.1, cycle 7); cause dst-base: right")
