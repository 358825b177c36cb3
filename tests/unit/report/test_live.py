"""The report of a run while it is played: there from the start, never better than what was shown, seldom written."""

from __future__ import annotations

import errno
from collections.abc import Sequence

import pytest

from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.report.live import UNFINISHED, LiveReport
from nvdla_tb.stimulus.result import Result
from tests.unit.run.regress.tasks import VERDICTS, task

PLANNED = {str(seed): task(seed).result(Verdict.not_played()) for seed in range(3)}
PASSED = task(0).result(VERDICTS[Ending.PASSED])


class Written:
    """What was written, and a clock that writing takes time of."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.reports: list[list[Ending]] = []
        self.now, self._seconds = 100.0, seconds

    def write(self, results: Sequence[Result], problems: Sequence[str]) -> None:
        assert problems == (UNFINISHED,)
        self.reports.append([result.ending for result in results])
        self.now += self._seconds

    def clock(self) -> float:
        return self.now


def test_every_test_is_not_played_before_the_first_result() -> None:
    written = Written()
    with LiveReport(PLANNED, written.write, written.clock) as live:
        assert written.reports == [[Ending.NOT_PLAYED] * 3]
        written.now += 5.0
        live.add("1", PASSED)
    assert written.reports[1:] == [[Ending.NOT_PLAYED, Ending.PASSED, Ending.NOT_PLAYED]]


def test_an_exception_leaves_all_that_was_played() -> None:
    written = Written()

    def played() -> None:
        with LiveReport(PLANNED, written.write, written.clock) as live:
            for key in ("0", "2"):
                live.add(key, PASSED)
            assert len(written.reports) == 1, "the report is too new"
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played()
    assert written.reports[1:] == [[Ending.PASSED, Ending.NOT_PLAYED, Ending.PASSED]]


def test_an_error_is_told_of_when_the_report_cannot_be_written_either() -> None:
    full = OSError(errno.ENOSPC, "full")
    room = [True]

    def write(_: Sequence[Result], __: Sequence[str]) -> None:
        if not room:
            raise full
        room.clear()

    with pytest.raises(ValueError, match=r"^first$"), LiveReport(PLANNED, write):
        raise ValueError("first")


def test_tests_that_are_chosen_later_are_planned_at_once() -> None:
    written = Written()
    with LiveReport(PLANNED, written.write, written.clock) as live:
        live.plan({"more": task(9).result(Verdict.not_played())})
        assert written.reports[-1] == [Ending.NOT_PLAYED] * 4
        assert [result.seed for result in live.results] == [0, 1, 2, 9]


@pytest.mark.parametrize("seconds", [0.0, 0.5, 4.0])
def test_a_report_takes_a_twentieth_of_the_time_of_a_run_at_most(seconds: float) -> None:
    written, tests, each = Written(seconds), 5000, 0.1
    planned = {str(seed): PASSED for seed in range(tests)}
    started = written.now
    with LiveReport(planned, written.write, written.clock) as live:
        for key in planned:
            written.now += each
            live.add(key, PASSED)
    writing = len(written.reports) * seconds
    assert 2 <= len(written.reports) <= 1 + (written.now - started)
    assert writing <= (written.now - started) / 20 + seconds
