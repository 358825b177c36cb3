"""The catch of a bug: the checks that found something, the first of them, and how early."""

from __future__ import annotations

import msgspec

from models.errors import InputError
from tb.judge.finding import Check
from tb.judge.text import complaint
from tb.judge.verdict import Ending
from tb.report.failures import MOST_UNITS
from tb.run.result import Result

_NEVER = 1 << 62


class Catch(msgspec.Struct, frozen=True):
    """How a scenario caught a bug.

    Attributes:
        scenario: its ``TEST.SEED``.
        number: how many scenarios were played until then, from 1.
        checks: those that found something, the earliest first.
        cycle: cycle of the earliest finding that has one, None when none has.
        cause: name of the explainer's first cause, None when it was not asked or knew none.
        complaint: the first line of the first finding.
        equal: names of other causes that predict the very same bytes.
        symptom: whether the first cause says no more than what the bytes look like.
        blamed: units whose faults look like the first cause or one in ``equal``, values of ``Unit``.
        units: by line of the text that names units, those units, values of ``Unit``; of the lines on the terminal.
    """

    scenario: str
    number: int
    checks: tuple[Check, ...]
    cycle: int | None
    cause: str | None
    complaint: str
    equal: tuple[str, ...] = ()
    symptom: bool = False
    units: tuple[tuple[str, ...], ...] = ()
    blamed: tuple[str, ...] = ()


def catch_of(result: Result, number: int) -> Catch | None:
    """Return how a played scenario caught a bug, or None when it passed.

    Args:
        result: result of the scenario.
        number: number of the scenario, from 1.

    Raises:
        InputError: for a scenario that was refused, or whose simulator was killed, which says nothing about the bug.
    """
    verdict = result.verdict
    if verdict.ending is Ending.PASSED:
        return None
    if verdict.ending is Ending.LOST:
        raise InputError(f"scenario {result.identity} must be played to its end: {complaint(verdict.failures[0])}")
    if verdict.ending is Ending.REFUSED:
        raise InputError(f"scenario {result.identity} must be playable, not refused: {verdict.refused}")
    failures = verdict.failures
    ordered = sorted(failures, key=lambda finding: _NEVER if finding.cycle is None else finding.cycle)
    causes = [] if result.explained is None else result.explained.causes
    equal = [] if result.explained is None else result.explained.equal
    return Catch(
        result.identity,
        number,
        tuple(dict.fromkeys(finding.check for finding in ordered)),
        ordered[0].cycle,
        causes[0][0] if causes and causes[0] else None,
        complaint(failures[0]).splitlines()[0],
        tuple(equal[0][1:]) if equal else (),
        bool(result.explained and result.explained.symptoms and result.explained.symptoms[0]),
        () if result.explained is None else tuple(map(tuple, result.explained.named[:MOST_UNITS])),
        () if result.explained is None else tuple(result.explained.blamed),
    )
