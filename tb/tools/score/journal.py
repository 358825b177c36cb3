"""The results so far, a line a bug, mutant or scenario, so that an interrupted score can go on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from models.errors import InputError
from models.limits import TRACE_BYTES
from models.reading import parse_json, read_text, shown
from tb.plain_data import converted
from tb.tools.score.catch import Catch

E = TypeVar("E", bound=msgspec.Struct)


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


class Journal(Generic[E]):
    """Results by name in a file that every result is added to at once."""

    def __init__(self, path: Path, about: Mapping[str, Any], kind: type[E], *, resume: bool) -> None:
        """Begin a journal, or go on with the one that is there.

        Args:
            path: its file.
            about: what all results depend on: model, seed.
            kind: type of the results.
            resume: whether results that are there are kept.

        Raises:
            InputError: when results are to be kept that are about something else.
        """
        self._path = path
        self.done: dict[str, E] = {}
        path.parent.mkdir(parents=True, exist_ok=True)
        header = json.dumps(dict(about))
        if resume and path.is_file():
            first, *rest = _lines_of(path)
            if first != header:
                raise InputError(f"--resume must go on with the same model, seed and choice: {path} has {shown(first)}")
            for line in rest:
                entry = converted(parse_json(line, str(path)), _Entry, str(path))
                self.done[entry.name] = converted(entry.played, kind, f"{path}: {shown(entry.name)}")
        lines = [header, *(_line(name, played) for name, played in self.done.items())]
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")

    @staticmethod
    def is_about(path: Path, about: Mapping[str, Any]) -> bool:
        """Return whether a file holds results that depend on the same."""
        return path.is_file() and _lines_of(path)[0] == json.dumps(dict(about))

    def add(self, name: str, played: E) -> None:
        """Write down a result."""
        self.done[name] = played
        with self._path.open("a", encoding="utf-8") as file:
            file.write(f"{_line(name, played)}\n")


class _Entry(msgspec.Struct):
    """One line of a journal."""

    name: str
    played: Any


def _lines_of(path: Path) -> list[str]:
    """Return the lines of a file, but for the last when it was cut off with the run."""
    return read_text(path, TRACE_BYTES).split("\n")[:-1] or [""]


def _line(name: str, played: Any) -> str:
    return msgspec.json.encode(_Entry(name, played)).decode()
