"""What caught a bug and what of it counts; an interrupted score goes on where it ended, with what it began with."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_models.errors import InputError
from nvdla_score.catalogue import Bug, BugKind
from nvdla_score.journal import Catch, Journal, Played, catch_of
from nvdla_score.play import BugResult
from nvdla_score.reach import Reached
from nvdla_score.report import caught, explained, line, passed, summary
from nvdla_tb.judge.detail import Note, WrongRegister
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.stimulus.explained import Explained, ExplainedLayer, Pointed
from nvdla_tb.stimulus.result import Result
from tests.unit.run.regress.tasks import DUT, hang, wrong

CAUGHT = Played(
    2, Catch("sdp.1", 2, (Check.VALUE, Check.MISSING), 312, "dst-base", "wrong value at c=0", ("dst-order",)), 1.5
)
SURVIVED = Played(7, None, 9.25)


def test_what_was_played_is_there_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "score" / "played.jsonl", {"seed": 1}, Played, resume=False)
    journal.add("one", CAUGHT)
    journal.add("two", SURVIVED)
    again = Journal(tmp_path / "score" / "played.jsonl", {"seed": 1}, Played, resume=True)
    assert again.done == {"one": CAUGHT, "two": SURVIVED}


@pytest.mark.parametrize("second", [SURVIVED, CAUGHT])
def test_a_line_that_was_cut_off_anywhere_is_played_again(tmp_path: Path, second: Played) -> None:
    path = tmp_path / "played.jsonl"
    journal = Journal(path, {"seed": 1}, Played, resume=False)
    journal.add("one", CAUGHT)
    begin = path.stat().st_size
    journal.add("two", second)
    whole = path.read_bytes()
    for end in {*range(begin, len(whole), 9), len(whole) - 1}:
        path.write_bytes(whole[:end])
        assert Journal(path, {"seed": 1}, Played, resume=True).done == {"one": CAUGHT}
    again = Journal(path, {"seed": 1}, Played, resume=True)
    assert again.done == {"one": CAUGHT}
    again.add("two", SURVIVED)
    assert Journal(path, {"seed": 1}, Played, resume=True).done == {"one": CAUGHT, "two": SURVIVED}


def test_a_new_run_begins_with_nothing(tmp_path: Path) -> None:
    Journal(tmp_path / "played.jsonl", {"seed": 1}, Played, resume=False).add("one", CAUGHT)
    assert Journal(tmp_path / "played.jsonl", {"seed": 1}, Played, resume=False).done == {}
    assert Journal(tmp_path / "played.jsonl", {"seed": 1}, Played, resume=True).done == {}


def test_results_of_another_seed_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "played.jsonl"
    Journal(path, {"seed": 1}, Played, resume=False)
    message = f'--resume must go on with the same model, seed and choice: {path} has {{"seed": 1}}'
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Journal(path, {"seed": 2}, Played, resume=True)


def test_what_scenarios_reach_is_kept_with_the_same_model_alone(tmp_path: Path) -> None:
    path, about = tmp_path / "folder" / "reached.jsonl", {"model": "model-1", "hang_cycles": None}
    survey = Journal(path, about, Reached, resume=None)
    survey.add("a.1", Reached("a.1", 0.5, [1, 3]))
    survey.add("b.1", Reached("b.1", 0.5, None, alarm=["hang"]))
    with path.open("a") as file:
        file.write('{"name":"c.1","pla')  # interrupted while it was written
    again = Journal(path, about, Reached, resume=None)
    assert again.done == survey.done
    again.add("c.1", Reached("c.1", 0.5, [2]))
    assert Journal(path, about, Reached, resume=True).done == again.done, (
        "what follows a line that was cut off is sound"
    )
    assert Journal(path, about | {"model": "model-2"}, Reached, resume=None).done == {}


REGISTER = Finding(Check.REGISTER, WrongRegister("SDP.S_STATUS", 1, 0), 12)
LATE = Finding(Check.TEST, Note("late"))
CRASH = Finding(Check.CRASH, Note("the simulator was ended by SIGSEGV\nline"))
PLACE = "layer 0 (SDP, group 0): first at c=0 h=0 w=0 "


def result(*findings: Finding, causes: list[list[str]] | None = None, equal: list[list[str]] | None = None) -> Result:
    """Return a scenario that was played."""
    layers = [
        ExplainedLayer("", 1, causes=one, equal=same)
        for one, same in zip(causes or (), equal or causes or (), strict=True)
    ]
    why = None if causes is None else Explained(layers)
    return Result("sdp_copy", 1, DUT, "rerun", Verdict(judged_bytes=8, findings=list(findings)), explained=why)


def bug(kind: BugKind = BugKind.LAYOUT, causes: tuple[str, ...] = ("dst-base",), equivalent: str = "") -> Bug:
    return Bug("one_bug", kind, "SDP", "about", "nv_small", causes=causes, equivalent=equivalent)


def caught_by(*findings: Finding, causes: list[list[str]] | None = None, equal: list[list[str]] | None = None) -> Catch:
    catch = catch_of(result(*findings, causes=causes, equal=equal), 4)
    assert catch is not None
    return catch


def test_a_scenario_that_passes_catches_nothing() -> None:
    assert catch_of(result(), 1) is None


@pytest.mark.parametrize(
    ("findings", "checks", "cycle", "complaint"),
    [
        (  # the earliest comes first
            [wrong(3, cycle=300), hang("SDP_0"), REGISTER, wrong(1, Check.MISSING, None), LATE],
            (Check.REGISTER, Check.VALUE, Check.HANG, Check.MISSING, Check.TEST),
            12,
            f"wrong value: 3 elements; {PLACE}",
        ),
        (  # what was found more than once is named once, and cycle 0 is a cycle
            [REGISTER, replace(REGISTER, cycle=0), wrong(cycle=None)],
            (Check.REGISTER, Check.VALUE),
            0,
            f"wrong value: 1 element; {PLACE}",
        ),
        ([wrong(cycle=None)], (Check.VALUE,), None, f"wrong value: 1 element; {PLACE}"),
        # of several lines the first is kept
        ([hang("SDP_0")], (Check.HANG,), 61000, "hang: nothing moved for 5000 cycles, at cycle 61000"),
        ([CRASH], (Check.CRASH,), None, "the simulator was ended by SIGSEGV"),
    ],
)
def test_a_catch_tells_checks_cycle_and_the_first_complaint(
    findings: list[Finding], checks: tuple[Check, ...], cycle: int | None, complaint: str
) -> None:
    catch = caught_by(*findings)
    assert (catch.number, catch.scenario, catch.checks, catch.cycle) == (4, "sdp_copy.1", checks, cycle)
    assert catch.complaint.startswith(complaint)
    assert "\n" not in catch.complaint


def test_a_scenario_that_compared_nothing_is_caught_as_such() -> None:
    catch = catch_of(Result("sdp_copy", 1, DUT, "rerun", Verdict()), 1)
    assert catch is not None
    assert (catch.checks, catch.cycle) == ((Check.EMPTY,), None)


@pytest.mark.parametrize(
    ("causes", "equal", "cause", "same"),
    [
        ([["dst-base", "dst-found"], ["src-base"]], [["dst-base"], []], "dst-base", ()),
        ([["dst-base", "dst-order"], ["src-base"]], None, "dst-base", ("dst-order",)),
        (None, None, None, ()),
        ([], None, None, ()),
        ([[]], None, None, ()),
        ([[], ["src-base"]], None, None, ()),
    ],
)
def test_the_cause_is_the_first_of_the_first_layer_with_those_that_predict_the_same_bytes(
    causes: list[list[str]] | None, equal: list[list[str]] | None, cause: str | None, same: tuple[str, ...]
) -> None:
    catch = caught_by(wrong(3), causes=causes, equal=equal)
    assert (catch.cause, catch.equal) == (cause, same)


def test_right_causes_that_predict_the_same_bytes_as_others_are_counted() -> None:
    catch = caught_by(wrong(3, cycle=7), causes=[["dst-base", "dst-order"], ["src-base"]])
    both = BugResult(bug(), Played(1, catch, 1.0))
    assert line(both).endswith("cause dst-base: right, the same bytes as dst-order")
    assert "right first causes of which another predicts the very same bytes: 1" in summary([both])
    other = BugResult(bug(causes=("src-base",)), Played(1, catch, 1.0))
    assert not any("very same bytes" in text for text in summary([other]))


def test_the_units_of_the_lines_on_the_terminal_are_kept_as_data() -> None:
    why = Explained(units=[Pointed("SDP: it", units) for units in (["SDP"], ["SDP", "PDP"], ["CACC"])])
    catch = catch_of(replace(result(wrong(3)), explained=why), 1)
    assert catch is not None
    assert catch.units == (("SDP",), ("SDP", "PDP"))


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
