"""Files that name hand-overs inside the RTL.

A TOML file names the hand-overs in tables ``[[stage]]``, in the order in which data pass them: ``docs/explain.md``,
"The first bad stage", tells their fields. Tables ``[[reader]]`` and ``[[writer]]`` name the clients of the memory
interface: see ``tb.explain.tap``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import TypeVar

from models.reading import read_toml, shown
from tb.explain.stage import Stage
from tb.explain.tap import PORT, Reader, StageError, Tap, Writer
from tb.plain_data import converted

_LISTS = {"unit", "engines", "data", "mask"}
"""Keys of a stage that hold a list, or one text alone."""


@dataclass(frozen=True)
class HandoverFile:
    """What a file names."""

    stages: tuple[Stage, ...]
    readers: tuple[Reader, ...] = ()
    writers: tuple[Writer, ...] = ()

    @property
    def taps(self) -> tuple[Tap, ...]:
        """All that is watched; with clients also the port that they share."""
        clients: tuple[Reader | Writer, ...] = (*self.readers, *self.writers)
        return (*self.stages, *(tap for client in clients for tap in client.taps), *(PORT if clients else ()))


T = TypeVar("T", Stage, Reader, Writer)


def load_handovers(path: Path) -> HandoverFile:
    """Return the hand-overs of a file.

    Raises:
        StageError: when it cannot be read, or a key is missing, unknown or wrong.
    """
    raw = read_toml(path, StageError)
    if "stage" not in raw or set(raw) - {"stage", "reader", "writer"}:
        raise StageError(
            f"{path}: the file must hold tables [[stage]], and may hold [[reader]] and [[writer]], "
            f"not {', '.join(raw) or 'nothing'}"
        )
    return HandoverFile(
        tuple(_entries(path, raw, "stage", Stage, _LISTS)),
        tuple(_entries(path, raw, "reader", Reader)),
        tuple(_entries(path, raw, "writer", Writer)),
    )


def _entries(path: Path, raw: Mapping[str, object], name: str, kind: type[T], lists: Iterable[str] = ()) -> Iterator[T]:
    """Yield the entries of a table; some of its keys may hold one text instead of a list."""
    table = raw.get(name, [])
    if not isinstance(table, list):
        raise StageError(f"{path}: {name} must be tables [[{name}]], not {shown(table)}")
    for number, entry in enumerate(table):
        where = f"{path}: {name}[{number}]"
        if not isinstance(entry, dict):
            raise StageError(f"{where} must be a table, not {shown(entry)}")
        known = {field.name: field for field in fields(kind)}
        for key in sorted(key for key, field in known.items() if field.default is MISSING and key not in entry):
            raise StageError(f"{path}: a {name} must have the key {key}")
        for key in sorted(set(entry) - set(known)):
            raise StageError(f"{path}: a {name} has no key {key}")
        alone = {key: [value] for key in lists if isinstance(value := entry.get(key), str)}
        yield converted({**entry, **alone}, kind, where, StageError)
