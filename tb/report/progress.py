"""One line on the terminal per task that ends, with rate and estimate."""

from __future__ import annotations

import time

from tb.run.result import Result


class Progress:
    """Counts tasks that end; the rate is that of this process, not of what was resumed."""

    def __init__(self, total: int, done: int) -> None:
        """Start with ``done`` of ``total`` tasks ended before."""
        self._total = total
        self._done = done
        self._here = 0
        self._started = time.monotonic()

    def line(self, result: Result) -> str:
        """Count a task that ended, and return its line."""
        self._done += 1
        self._here += 1
        seconds = max(time.monotonic() - self._started, 1e-3)
        rate = self._here / seconds
        left = round((self._total - self._done) / rate)
        count = f"[{self._done:{len(str(self._total))}}/{self._total}]"
        estimate = f"{rate:.1f}/s, {left // 60}:{left % 60:02} left"
        return f"{count} {result.ending.value:8} {result.key}  {result.verdict.cycles} cycles  {estimate}"
