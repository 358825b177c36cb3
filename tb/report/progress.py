"""One line per test that ends, with counts, rate and estimate."""

from __future__ import annotations

import time

from tb.run.result import Result

_TOLD_AT_ONCE = 3


class Progress:
    """Counts tests that end; the rate is that of this process, not of what was resumed."""

    def __init__(self, total: int, done: int = 0) -> None:
        """Start with ``done`` of ``total`` tests ended before."""
        self._total = total
        self._done = done
        self._here = 0
        self._failed = 0
        self._started = time.monotonic()

    def add(self, result: Result) -> None:
        """Count a test that ended."""
        self._done += 1
        self._here += 1
        self._failed += result.ending.is_failure

    def line(self, result: Result) -> str:
        """Return the line of the test that was counted last."""
        cycles = f"{result.verdict.cycles} cycles"
        return f"{self._count} {result.ending.value:8} {result.key}  {cycles}  {self._estimate()}"

    def summary(self) -> str:
        """Return how far it is."""
        return f"{self._count} {self._failed} failed, {self._estimate()}"

    def is_news(self, result: Result) -> bool:
        """Return whether a test that was counted last is worth a line at once: one of the first failures."""
        return result.ending.is_failure and self._failed <= _TOLD_AT_ONCE

    @property
    def _count(self) -> str:
        return f"[{self._done:{len(str(self._total))}}/{self._total}]"

    def _estimate(self) -> str:
        rate = self._here / max(time.monotonic() - self._started, 1e-3)
        left = round((self._total - self._done) / rate) if rate else 0
        return f"{rate:.1f}/s, {left // 60}:{left % 60:02} left"
