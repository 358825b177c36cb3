"""The end of a test in Python: what it has run is judged then, whether or not it asked for a verdict.

What it has begun to run must have ended.
"""

from __future__ import annotations

import logging
from asyncio import CancelledError
from collections.abc import Callable, Coroutine, Sequence
from functools import cached_property
from inspect import CORO_CLOSED, CORO_CREATED, getcoroutinestate
from typing import Any

import cocotb
from cocotb.task import Task, current_task
from cocotb.triggers import Event


class FindingsError(AssertionError):
    """What the bench found, which its verdict tells: the test raised nothing of its own."""


Conclude = Callable[[], Sequence[str]]
"""Judges what was run, and returns why the test must not pass, empty when it may."""


class _Ending:
    """The verdict of one bench of the running test, which is asked for once."""

    latest: _Ending | None = None

    def __init__(self, conclude: Conclude) -> None:
        self._conclude = conclude
        self.waits = Event()

    @cached_property
    def complaints(self) -> Sequence[str]:
        return self._conclude()

    async def judge(self, test: Task[object]) -> None:
        try:
            self.waits.set()
            await Event().wait()
        except CancelledError:
            if _Ending.latest is self:
                _Ending.latest = None
            try:
                text = "\n".join(self.complaints)
            except Exception:
                # cocotb says that something was raised, and not what.
                logging.getLogger("cocotb").exception("the bench could not judge the test")
                raise
            if text and not _has_failed(test):
                cocotb.log.error("the test must not pass: %s", text)
                raise FindingsError(text) from None
            raise


def judge_before_another() -> None:
    """Judge what the test has run by now, as another bench takes up the DUT."""
    if _Ending.latest is not None:
        _ = _Ending.latest.complaints


async def judge_at_end(conclude: Conclude) -> None:
    """Have the running test fail at its end when something is wrong that it did not say.

    cocotb cancels what a test has started when the test ends, however it ends. An exception that is raised then fails
    the test. cocotb does not print it, so that its lines are logged.
    """
    _Ending.latest = _Ending(conclude)
    cocotb.start_soon(_Ending.latest.judge(current_task()))
    # What has not begun to wait is not told of the end: the test may end at once.
    await _Ending.latest.waits.wait()


def _has_failed(test: Task[object]) -> bool:
    """Return whether a test raised an error itself; what ends or skips it early is none."""
    return test.done() and not test.cancelled() and isinstance(test.exception(), Exception)


class Begun:
    """The coroutines that a bench has given to its test: all must have ended when the test ends."""

    def __init__(self) -> None:
        """Begin with none."""
        self._open: list[tuple[str, Coroutine[Any, Any, None]]] = []

    def take(self, name: str, begun: Coroutine[Any, Any, None]) -> Coroutine[Any, Any, None]:
        """Return the coroutine of the bench's method of a name, and watch it."""
        self._open = [other for other in self._open if getcoroutinestate(other[1]) != CORO_CLOSED]
        self._open.append((name, begun))
        return begun

    def unfinished(self) -> list[str]:
        """Return why the test must not pass; those that nobody has awaited are closed."""
        found = []
        for name, begun in self._open:
            state = getcoroutinestate(begun)
            if state == CORO_CREATED:
                found.append(f"the test called bench.{name} and did not await it, so that this was not played")
                begun.close()
            elif state != CORO_CLOSED:
                found.append(f"the test ended before its bench.{name} did: what is left was not played")
        return found
