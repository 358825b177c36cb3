"""What commands say while they work: one live line, or a line a test, with counts, rate and estimate."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from nvdla_tb.cli.terminal import beneath, escaped
from nvdla_tb.counting import counted
from nvdla_tb.stimulus.result import Result

_COLOURS = {"red": "31", "green": "32", "yellow": "33"}
_FIRST_SECONDS, _MOST_SECONDS = 5.0, 60.0
"""A pipe gets its first line of progress after so long, and then each after twice the time, up to the second."""

_TICK_SECONDS = 0.2
_ERASE = "\r\x1b[2K"


class Console:
    """Standard output of a command.

    Attributes:
        quiet: Whether only failures and results are wanted.
        verbose: Whether every test is.
    """

    def __init__(
        self,
        *,
        quiet: bool = False,
        verbose: bool = False,
        stream: IO[str] | None = None,
        environment: Mapping[str, str] = os.environ,
    ) -> None:
        """Take what the user wants, and look at what the stream is; ``NO_COLOR`` and ``TERM`` may forbid colours."""
        self.quiet, self.verbose = quiet, verbose
        self._stream = stream
        self._live = self._out.isatty() and environment.get("TERM") != "dumb"
        self._coloured = self._live and not environment.get("NO_COLOR")
        self._shown = False
        self._last, self._pause = time.monotonic(), _FIRST_SECONDS

    @classmethod
    def of(cls, args: argparse.Namespace) -> Console:
        """Return the console that the options of a command want."""
        return cls(quiet=getattr(args, "quiet", False), verbose=getattr(args, "verbose", False))

    def result(self, text: str, colour: str | None = None) -> None:
        """Print what is wanted however quiet it shall be, in a colour where colours are welcome."""
        self.clear()
        text = escaped(text)
        text = f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if colour and self._coloured else text
        print(text, file=self._out, flush=True)
        self._last = time.monotonic()

    def say(self, text: str) -> None:
        """Print what is wanted unless it shall be quiet."""
        if not self.quiet:
            self.result(text)

    def progress(self, text: str) -> None:
        """Say how far it is: on a terminal in the live line, on a pipe in a line now and then."""
        if self.quiet:
            return
        if self._live:
            self._out.write(_ERASE + escaped(text)[: shutil.get_terminal_size().columns - 1])
            self._out.flush()
            self._shown = True
        elif time.monotonic() - self._last >= self._pause:
            self._pause = min(2 * self._pause, _MOST_SECONDS)
            self.result(text)

    @contextmanager
    def waiting(self, text: str | Callable[[float], str]) -> Iterator[None]:
        """Say what is waited for, with the seconds that it takes, as long as the block runs.

        Args:
            text: what is waited for, or a function that says so of the seconds that it has taken.
        """
        started, over = time.monotonic(), threading.Event()

        def tick() -> None:
            while not over.wait(_TICK_SECONDS):
                seconds = time.monotonic() - started
                self.progress(f"{text}: {seconds:.0f} s" if isinstance(text, str) else text(seconds))

        watch = threading.Thread(target=tick, daemon=True)
        watch.start()
        try:
            yield
        finally:
            over.set()
            watch.join()
            self.clear()

    def clear(self) -> None:
        """Remove the live line."""
        if self._shown:
            self._out.write(_ERASE)
            self._out.flush()
            self._shown = False

    @property
    def _out(self) -> IO[str]:
        return beneath(self._stream or sys.stdout)


_TOLD_AT_ONCE = 3
"""Failures that are worth a line at once."""


_TRUST = 0.2
"""How much one test that ends may change the estimate of the time that is left, which single long ones let jump."""


_EVIDENCE, _EVIDENCE_PART = 20, 0.2
"""Tests that must have ended here, or this part of all, before the time that is left is told: the first one has waited
for processes to start, and its time says nothing of thousands."""


class Progress:
    """Counts tests that end and says so; the rate is that of this process, not of what was resumed."""

    def __init__(self, console: Console, total: int, done: int = 0, failed: int = 0) -> None:
        """Start with ``done`` of ``total`` tests ended before, of which ``failed`` have failed."""
        self._console, self._total, self._done, self._failed = console, total, done, failed
        self._here = self._told = 0
        self._started = self._first = self._last = time.monotonic()
        self._least = min(_EVIDENCE, max(2, round(_EVIDENCE_PART * (total - done))))
        self._left: float | None = None

    def add(self, result: Result) -> None:
        """Count a test that ended, and say so as loudly as is wanted."""
        self._done += 1
        self._here += 1
        self._failed += result.ending.is_failure
        now = time.monotonic()
        self._first = now if self._here == 1 else self._first
        estimate = f"{self._here / max(now - self._started, 1e-3):.1f}/s"
        if self._here >= self._least or self._done == self._total:
            each = (now - self._first) / max(self._here - 1, 1)
            left = round(self._estimated((self._total - self._done) * each))
            estimate += f", {left // 60}:{left % 60:02} left"
        count = f"[{self._done:{len(str(self._total))}}/{self._total}]"
        news = result.ending.is_failure and self._told < _TOLD_AT_ONCE
        self._told += news
        if self._console.verbose or news:
            cycles = counted(result.verdict.cycles, "cycle")
            self._console.say(f"{count} {result.ending.value:8} {result.key}  {cycles}  {estimate}")
        if not self._console.verbose:
            self._console.progress(f"{count} {self._failed} failed, {estimate}")

    def _estimated(self, left: float) -> float:
        """Return the seconds that are left: what was said before, less the time since, moved a little towards news."""
        now = time.monotonic()
        if self._left is not None and self._done < self._total:
            expected = max(0.0, self._left - (now - self._last))
            left = expected + _TRUST * (left - expected)
        self._left, self._last = left, now
        return left
