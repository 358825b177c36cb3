"""Records: how a task ended, told apart as a verification engineer would, in a form that lasts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from tb.launch.simulate import Outcome as SimOutcome
from tb.launch.simulate import SimResult
from tb.plain_data import converted
from tb.regress.jobs import JobResult
from tb.verdict import Kind, Outcome


class Ending(Enum):
    """How a task ended."""

    PASSED = "passed"
    REFUSED = "refused"
    MISMATCH = "mismatch"
    EMPTY = "nothing compared"
    CHECK = "failed check"
    PROTOCOL = "protocol error"
    HANG = "hang"
    CRASH = "crash"
    TIMEOUT = "timeout"
    BENCH_ERROR = "bench error"
    BUILD_ERROR = "build error"
    LOST = "lost worker"

    @property
    def is_failure(self) -> bool:
        """Whether somebody has to look at it."""
        return self not in (Ending.PASSED, Ending.REFUSED)


_SIMULATION = {
    SimOutcome.CRASHED: Ending.CRASH,
    SimOutcome.TIMED_OUT: Ending.TIMEOUT,
    SimOutcome.FAILED: Ending.BENCH_ERROR,
}


@dataclass(frozen=True)
class Record:
    """How one task ended; equal records mean that the same thing happened, whatever it took.

    Attributes:
        key: The task's key.
        ending: How it ended.
        complaints: Why it did not pass.
        facts: The verdict's counts.
        seconds: Wall-clock time.
        folder: What is left of a failure, or None.
        coverage: How often the layers of a task that passed hit which bins of the coverage model.
    """

    key: str
    ending: Ending
    complaints: tuple[str, ...]
    facts: dict[str, Any] = field(default_factory=dict)
    seconds: float = field(default=0.0, compare=False)
    folder: str | None = field(default=None, compare=False)
    coverage: dict[str, int] = field(default_factory=dict, compare=False)

    @property
    def signature(self) -> str:
        """What failures of one cause share: the first complaint without its numbers."""
        if not self.ending.is_failure or not self.complaints:
            return ""
        first = self.complaints[0].splitlines()[0]
        return re.sub(r"0x[0-9a-fA-F]+|\d+", "#", first)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data."""
        return {
            "key": self.key,
            "ending": self.ending.value,
            "complaints": list(self.complaints),
            "facts": self.facts,
            "seconds": self.seconds,
            "folder": self.folder,
            "coverage": self.coverage,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Record:
        """Return the record that ``to_dict`` described.

        Raises:
            InputError: for an unknown ending, a missing key, or a value of another type.
        """
        return converted(data, cls, "a record")


def record_of(key: str, result: JobResult) -> Record:
    """Return the record of a job that was played or refused."""
    facts = {name: value for name, value in result.facts.items() if name not in ("outcome", "complaints", "refused")}
    folder = None if result.work_dir is None else str(result.work_dir)
    return Record(key, _ending(result), result.complaints, facts, result.seconds, folder)


def record_of_test(key: str, result: SimResult) -> Record:
    """Return the record of a test in Python, which says itself what it checks."""
    ending = {SimOutcome.PASSED: Ending.PASSED, SimOutcome.FAILED: Ending.CHECK}.get(result.outcome)
    complaints = (result.message,) if result.message else ()
    folder = str(result.log_path.parent)
    return Record(key, ending or _SIMULATION[result.outcome], complaints, {}, result.seconds, folder)


def _ending(result: JobResult) -> Ending:
    if result.outcome is Outcome.PASSED:
        return Ending.PASSED
    if result.outcome is Outcome.REFUSED:
        return Ending.REFUSED
    if result.simulation is not None and (not result.facts or result.facts["outcome"] == Outcome.PASSED.value):
        return _SIMULATION[result.simulation]
    if result.facts.get("outcome") == Outcome.REFUSED.value:
        return Ending.BENCH_ERROR
    if _begins(result, ("hang",)):
        return Ending.HANG
    if result.facts.get("crc_failed") or _begins(result, tuple(kind.value for kind in Kind)):
        return Ending.MISMATCH
    return Ending.EMPTY if _begins(result, ("nothing was compared",)) else Ending.PROTOCOL


def _begins(result: JobResult, starts: tuple[str, ...]) -> bool:
    return any(complaint.startswith(starts) for complaint in result.complaints)
