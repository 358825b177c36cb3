"""The end of a test in Python: what it has run is judged then, whether or not it asked for a verdict."""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable, Sequence

import cocotb
from cocotb.task import Task, current_task
from cocotb.triggers import Event


def judge_at_end(conclude: Callable[[], Sequence[str]]) -> None:
    """Have the running test fail at its end when something is wrong that it did not say.

    cocotb cancels what a test has started when the test ends, however it ends. An exception that is raised then fails
    the test. cocotb does not print it, so that its lines are logged.

    Args:
        conclude: Judges what was run, and returns why the test must not pass, empty when it may.
    """
    cocotb.start_soon(_judge_at_end(current_task(), conclude))


async def _judge_at_end(test: Task[object], conclude: Callable[[], Sequence[str]]) -> None:
    try:
        await Event().wait()
    except CancelledError:
        lines = conclude()
        if lines and not _has_failed(test):
            text = "\n".join(lines)
            cocotb.log.error("the test must not pass: %s", text)
            raise AssertionError(text) from None
        raise


def _has_failed(test: Task[object]) -> bool:
    """Return whether a test raised an error itself; what ends or skips it early is none."""
    return test.done() and not test.cancelled() and isinstance(test.exception(), Exception)
