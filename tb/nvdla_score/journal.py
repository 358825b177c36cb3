"""How a bug was caught, and the results so far, a line each, so that an interrupted score can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from nvdla_models.errors import InputError
from nvdla_models.limits import TRACE_BYTES
from nvdla_models.reading import parse_json, read_text, shown
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.text import complaint
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.plain_data import converted
from nvdla_tb.report.failures import MOST_UNITS
from nvdla_tb.stimulus.explained import Explained, ExplainedLayer
from nvdla_tb.stimulus.result import Result

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

    def __str__(self) -> str:
        """Return checks and scenario in words."""
        when = "" if self.cycle is None else f", cycle {self.cycle}"
        checks = ", ".join(check.value for check in self.checks)
        return f"{checks} in scenario {self.number} ({self.scenario}{when})"


def catch_of(result: Result, number: int) -> Catch | None:
    """Return how the played scenario of a number, from 1, caught a bug, or None when it passed.

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
    why = result.explained or Explained()
    first = why.first or ExplainedLayer("", 0)
    return Catch(
        result.identity,
        number,
        tuple(dict.fromkeys(finding.check for finding in ordered)),
        ordered[0].cycle,
        first.causes[0] if first.causes else None,
        complaint(failures[0]).splitlines()[0],
        tuple(first.equal[1:]),
        first.symptom,
        tuple(tuple(pointed.units) for pointed in why.units[:MOST_UNITS]),
        tuple(why.blamed),
    )


E = TypeVar("E", bound=msgspec.Struct)


class Played(msgspec.Struct, frozen=True):
    """The outcome of a bug or mutant: scenarios played, how it was caught, None for a survivor, and seconds."""

    played: int
    catch: Catch | None
    seconds: float

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data, for files."""
        catch = self.catch
        return {
            "caught": catch is not None,
            "played": self.played,
            "scenario": catch and catch.scenario,
            "checks": [check.value for check in catch.checks] if catch else [],
            "cycle": catch and catch.cycle,
            "complaint": catch and catch.complaint,
            "cause": catch and catch.cause,
            "seconds": round(self.seconds, 2),
        }


class Journal(Generic[E]):
    """Results by name in a file that every result is added to at once."""

    def __init__(self, path: Path, about: Mapping[str, Any], kind: type[E], *, resume: bool | None) -> None:
        """Begin a journal, or go on with the one that is there.

        Args:
            path: its file.
            about: what all results depend on: model, seed.
            kind: type of the results.
            resume: whether results that are there are kept; None keeps those that are about the same.

        Raises:
            InputError: when results are to be kept that are about something else.
        """
        self._path = path
        self.done: dict[str, E] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        header = json.dumps(dict(about))
        if resume is not False and path.is_file():
            # The last line may have been cut off with the run.
            first, *rest = read_text(path, TRACE_BYTES).split("\n")[:-1] or [""]
            if resume and first != header:
                raise InputError(f"--resume must go on with the same model, seed and choice: {path} has {shown(first)}")
            for line in rest if first == header else ():
                entry = converted(parse_json(line, str(path)), _Entry, str(path))
                self.done[entry.name] = converted(entry.played, kind, f"{path}: {shown(entry.name)}")
        lines = [header, *(_line(name, played) for name, played in self.done.items())]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def add(self, name: str, played: E) -> None:
        """Write down a result."""
        self.done[name] = played
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{_line(name, played)}\n")


class _Entry(msgspec.Struct):
    """One line of a journal."""

    name: str
    played: Any


def _line(name: str, played: Any) -> str:
    return msgspec.json.encode(_Entry(name, played)).decode()
