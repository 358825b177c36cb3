"""The results so far, a line a bug or mutant, so that an interrupted score can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec

from models.errors import InputError
from models.limits import TRACE_BYTES
from models.reading import parse_json, read_text, shown
from tb.plain_data import converted
from tb.tools.score.catch import Catch


class Played(msgspec.Struct, frozen=True):
    """The outcome of a bug or mutant.

    Attributes:
        catch: how it was caught, None for a survivor.
        played: scenarios that were played.
        seconds: seconds of simulation.
    """

    played: int
    catch: Catch | None
    seconds: float


class Journal:
    """Results by name in a file that every result is added to at once."""

    def __init__(self, path: Path, about: Mapping[str, Any], *, resume: bool) -> None:
        """Begin a journal, or go on with the one that is there.

        Args:
            path: its file.
            about: what all results depend on: model, seed.
            resume: whether results that are there are kept.

        Raises:
            InputError: when results are to be kept that are about something else.
        """
        self._path = path
        self.done: dict[str, Played] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        header = json.loads(json.dumps(dict(about)))
        if resume and path.is_file():
            # The last line may have been cut off with the run.
            first, *rest = read_text(path, TRACE_BYTES).split("\n")[:-1] or [""]
            if first != json.dumps(header):
                raise InputError(f"--resume must go on with the same model, seed and choice: {path} has {shown(first)}")
            self.done = dict(_entry(line, str(path)) for line in rest)
        lines = [json.dumps(header), *(_line(name, played) for name, played in self.done.items())]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    def add(self, name: str, played: Played) -> None:
        """Write down what became of a bug or mutant."""
        self.done[name] = played
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{_line(name, played)}\n")


class _Entry(msgspec.Struct):
    """One line of a journal."""

    name: str
    played: Played


def _line(name: str, played: Played) -> str:
    return msgspec.json.encode(_Entry(name, played)).decode()


def _entry(line: str, where: str) -> tuple[str, Played]:
    entry = converted(parse_json(line, where), _Entry, where)
    return entry.name, entry.played
