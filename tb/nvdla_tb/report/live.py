"""The report of a run that is being played: it is there before the first test, and never better than what was shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import TracebackType

from nvdla_tb.stimulus.result import Result

UNFINISHED = "the run has not ended: it is being played, or it was interrupted or killed"
"""The problem of a run whose report is still to be replaced."""

_LEAST_SECONDS = 1.0
_PAUSE = 20
"""A report is written again after so many times the time that it takes, as it grows with the run: writing takes a
twentieth of the time of a run at most, and a run of N tests does not take N reports."""

Write = Callable[[Sequence[Result], Sequence[str]], None]
"""Replaces a report by one of some results, in which the problems of the run as a whole stand."""


class LiveReport:
    """Keeps a report up to date while its tests are played.

    ::

        with LiveReport({task.key: task.result(Verdict.not_played()) for task in tasks}, write) as live:
            for task in tasks:
                live.add(task.key, played(task))
            write(live.results, ())  # the last one, without the problem that the run has not ended

    When the block begins, every test is *not played*. Whatever ends the process afterwards leaves that of all tests
    that were not played until shortly before; an exception leaves it of just those.
    """

    def __init__(
        self, planned: Mapping[str, Result], write: Write, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Take all tests of the run by their keys, and who writes the report; ``clock`` tells seconds."""
        self._results, self._write, self._clock = dict(planned), write, clock
        self._next = 0.0

    @property
    def results(self) -> list[Result]:
        """The results of all tests in the order in which they are planned."""
        return list(self._results.values())

    def begin(self) -> None:
        """Write the report; ``with`` does so, too."""
        self._replace()

    def __enter__(self) -> LiveReport:
        """Write the report."""
        self.begin()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write what is known when an exception ends the run; it is the exception that is told of."""
        if error is not None:
            # The report that is there says less, and nothing wrong.
            with suppress(OSError):
                self._replace()

    def plan(self, more: Mapping[str, Result]) -> None:
        """Take more tests that the run is to play, and write the report."""
        self._results |= more
        self._replace()

    def add(self, key: str, result: Result) -> None:
        """Take a result, and write the report when the last one is old enough."""
        self._results[key] = result
        if self._clock() >= self._next:
            self._replace()

    def _replace(self) -> None:
        started = self._clock()
        self._write(self.results, (UNFINISHED,))
        ended = self._clock()
        self._next = ended + max(_LEAST_SECONDS, _PAUSE * (ended - started))
