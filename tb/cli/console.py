"""What commands say while they work: one live line, or a line a test, with counts, rate and estimate."""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import IO

from tb.run.result import Result

_COLOURS = {"red": "31", "green": "32", "yellow": "33"}
_FIRST_SECONDS, _MOST_SECONDS = 5.0, 60.0
"""A pipe gets its first line of progress after so long, and then each after twice the time, up to the second."""

_TICK_SECONDS = 0.2
_ERASE = "\r\x1b[2K"


def verbosity_options(group: argparse._ActionsContainer) -> None:
    """Add the options that say how much is said."""
    loud = group.add_mutually_exclusive_group()
    loud.add_argument("-v", "--verbose", action="store_true", help="print a line for each test, and the complete table")
    loud.add_argument("-q", "--quiet", action="store_true", help="print only failures and the last line")


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
        """Take what the user wants, and look at what the stream is.

        Args:
            quiet: see the class.
            verbose: see the class.
            stream: what is written to, standard output by default.
            environment: ``NO_COLOR`` and ``TERM`` say whether colours are welcome.
        """
        self.quiet, self.verbose = quiet, verbose
        self._stream = stream
        terminal = self._out.isatty() and environment.get("TERM") != "dumb"
        self._live = terminal
        self._coloured = terminal and not environment.get("NO_COLOR")
        self._shown = False
        self._last, self._pause = time.monotonic(), _FIRST_SECONDS

    @classmethod
    def of(cls, args: argparse.Namespace) -> Console:
        """Return the console that the options of a command want."""
        return cls(quiet=getattr(args, "quiet", False), verbose=getattr(args, "verbose", False))

    def result(self, text: str) -> None:
        """Print what is wanted however quiet it shall be."""
        self._print(text)

    def say(self, text: str) -> None:
        """Print what is wanted unless it shall be quiet."""
        if not self.quiet:
            self._print(text)

    def detail(self, text: str) -> None:
        """Print what only the verbose want."""
        if self.verbose:
            self._print(text)

    def progress(self, text: str) -> None:
        """Say how far it is: on a terminal in the live line, on a pipe in a line now and then."""
        if self.quiet:
            return
        if self._live:
            width = _columns()
            self._out.write(_ERASE + (text if len(text) < width else text[: width - 1]))
            self._out.flush()
            self._shown = True
        elif time.monotonic() - self._last >= self._pause:
            self._pause = min(2 * self._pause, _MOST_SECONDS)
            self._print(text)

    def colour(self, name: str, text: str) -> str:
        """Return text in a colour where colours are welcome."""
        return f"\x1b[{_COLOURS[name]}m{text}\x1b[0m" if self._coloured else text

    @contextmanager
    def waiting(self, text: str) -> Iterator[None]:
        """Say what is waited for, with the seconds that it takes, as long as the block runs."""
        started, over = time.monotonic(), threading.Event()

        def tick() -> None:
            while not over.wait(_TICK_SECONDS):
                self.progress(f"{text}: {time.monotonic() - started:.0f} s")

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
        return self._stream or sys.stdout

    def _print(self, text: str) -> None:
        self.clear()
        print(text, file=self._out, flush=True)
        self._last = time.monotonic()


def _columns() -> int:
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or 80
    except (OSError, ValueError):
        return 80


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
