"""What caught a bug: the checks that complained, the first of them, and how early."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from models.errors import InputError
from tb.launch.simulate import Outcome as SimOutcome
from tb.regress.jobs import JobResult
from tb.verdict import Outcome


class Check(Enum):
    """The checks that may complain."""

    MISMATCH = "wrong value"
    MISSING = "missing write"
    STRAY = "stray write"
    DOUBLE = "double write"
    PROTOCOL = "protocol"
    MEMORY = "memory access"
    REGISTER = "register"
    HANG = "hang"
    CRASH = "crash"
    TIMEOUT = "timeout"
    OTHER = "other"


# The first rule that fits a complaint says which check it is of.
_RULES = (
    (re.compile(r"^wrong value"), Check.MISMATCH),
    (re.compile(r"^missing write"), Check.MISSING),
    (re.compile(r"^stray write"), Check.STRAY),
    (re.compile(r"^double write"), Check.DOUBLE),
    (re.compile(r"^hang"), Check.HANG),
    (re.compile(r"outside every allocation|was never written|more memory faults"), Check.MEMORY),
    (re.compile(r" must read |^poll of |still reads "), Check.REGISTER),
    (re.compile(r"^protocol|write addresses without all data| while valid,"), Check.PROTOCOL),
)
_ENDED = {SimOutcome.CRASHED: Check.CRASH, SimOutcome.TIMED_OUT: Check.TIMEOUT}
_CYCLE = re.compile(r"\bcycle (\d+)")


@dataclass(frozen=True)
class Catch:
    """How a scenario caught a bug.

    Attributes:
        scenario: its ``TEST.SEED``.
        number: how many scenarios were played until then, from 1.
        checks: those that complained, the earliest first.
        cycle: of the earliest complaint that has one, None when none has.
        cause: name of the explainer's first cause, None when it was not asked or knew none.
        equal: names of others that predict the very same bytes.
        complaint: the first line of the first complaint.
    """

    scenario: str
    number: int
    checks: tuple[Check, ...]
    cycle: int | None
    cause: str | None
    complaint: str
    equal: tuple[str, ...] = ()


def catch_of(result: JobResult, number: int) -> Catch | None:
    """Return how a played scenario caught a bug, or None when it passed.

    Args:
        result: of the scenario.
        number: of the scenario, from 1.

    Raises:
        InputError: for a scenario that was refused, which says nothing about the bug.
    """
    if result.outcome is Outcome.PASSED:
        return None
    if result.outcome is Outcome.REFUSED:
        raise InputError(f"scenario {result.job.identity} must be playable, not refused: {result.complaints[0]}")
    first = result.complaints[0].splitlines()[0]
    if result.simulation in _ENDED:
        return Catch(result.job.identity, number, (_ENDED[result.simulation],), None, None, first)
    ordered = sorted(result.complaints, key=cycle_of)
    checks = tuple(dict.fromkeys(check_of(complaint) for complaint in ordered))
    cycle = cycle_of(ordered[0])
    causes = result.facts.get("causes") or [[]]
    cause = causes[0][0] if causes[0] else None
    equal = tuple((result.facts.get("equal") or [[]])[0][1:])
    return Catch(result.job.identity, number, checks, None if cycle == _NEVER else cycle, cause, first, equal)


def check_of(complaint: str) -> Check:
    """Return which check a complaint is of."""
    return next((check for rule, check in _RULES if rule.search(complaint)), Check.OTHER)


_NEVER = 1 << 62


def cycle_of(complaint: str) -> int:
    """Return the first cycle that a complaint names, or a very late one when it names none."""
    found = _CYCLE.search(complaint)
    return int(found[1]) if found else _NEVER
