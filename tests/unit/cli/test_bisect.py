"""``bisect`` searches only where the scenarios tell the commits apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from nvdla_tb.cli import bisect
from tests.unit.conftest import Run


class FakeHistory:
    """A history whose scenarios end on commits as the test says, and whose search finds ``found``."""

    folder, below = Path("sim_build/bisect/rtl/tree"), Path("rtl")
    codes: dict[str, int]
    between: Sequence[str]
    found: str | None
    commands: list[Sequence[str]]

    @classmethod
    def of(cls, rtl: Path, folder: Path) -> FakeHistory:
        return cls()

    def commit(self, name: str) -> str:
        return name

    def play(self, commit: str, command: Sequence[str]) -> tuple[int, str]:
        self.commands.append(command)
        return self.codes[commit], "error: no such filelist"

    def search(self, good: str, bad: str, play: Callable[[str, int, int], int]) -> str | None:
        for number, commit in enumerate(self.between):
            play(commit, 1 + number, len(self.between) - number - 1)
        return self.found

    def subject(self, commit: str) -> str:
        return f"{commit} (CDMA: {commit})"

    def describe(self, commit: str) -> str:
        return f"{commit} 2026-01-01 A: broken"


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> type[FakeHistory]:
    monkeypatch.setattr(FakeHistory, "codes", {"old": 0, "new": 1, "abc": 1, "unbuilt": 2}, raising=False)
    monkeypatch.setattr(FakeHistory, "between", (), raising=False)
    monkeypatch.setattr(FakeHistory, "found", "abc", raising=False)
    monkeypatch.setattr(FakeHistory, "commands", [], raising=False)
    monkeypatch.setattr(bisect, "History", FakeHistory)
    return FakeHistory


WORDS = "bisect old new --rtl my.f --only sdp_* --seed 7 --sim icarus"


def test_the_commit_is_named_and_the_copy_is_played(tb: Run, history: type[FakeHistory]) -> None:
    assert tb(WORDS).out.splitlines()[-1] == "first bad commit: abc 2026-01-01 A: broken"
    words = " ".join(history.commands[0])
    assert " run --quiet --explain 0 --results " in words
    for part in ("--seed 7", "--only sdp_*", "--sim icarus", "bisect/rtl/tree/rtl/my.f"):
        assert part in words


def test_each_commit_that_is_played_is_told_with_its_verdict(
    tb: Run, history: type[FakeHistory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "between", ("unbuilt", "abc"))
    assert tb(WORDS).out.splitlines() == [
        "GOOD: commit old (CDMA: old): passes",
        "BAD: commit new (CDMA: new): fails",
        "step 1, about 1 left: commit unbuilt (CDMA: unbuilt): could not be played: error: no such filelist",
        "step 2, about 0 left: commit abc (CDMA: abc): fails",
        "first bad commit: abc 2026-01-01 A: broken",
    ]


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        ({"old": 1, "new": 1}, "scenarios must pass on GOOD, old: one failed"),
        ({"old": 0, "new": 0}, "scenarios must fail on BAD, new: all passed"),
        ({"old": 2, "new": 1}, "scenarios must pass on GOOD, old: they could not be played: error: no such filelist"),
    ],
)
def test_commits_that_the_scenarios_do_not_tell_apart_are_refused(
    tb: Run, history: type[FakeHistory], monkeypatch: pytest.MonkeyPatch, codes: dict[str, int], message: str
) -> None:
    monkeypatch.setattr(history, "codes", codes)
    assert tb(WORDS).refusal == message


def test_a_search_without_an_end_is_no_success(
    tb: Run, history: type[FakeHistory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "found", None)
    ran = tb(WORDS)
    message = "no single commit was found: those between could not be built or played"
    assert (ran.code, ran.out.splitlines()[-1]) == (1, message)


def test_there_is_no_history_of_the_embedded_device(tb: Run) -> None:
    assert tb("bisect old new").refusal == "--rtl must be given: the history of your RTL is searched"
