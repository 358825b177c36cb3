"""What installed packages add to the bench by entry points. One that cannot be loaded is named and left out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, TypeVar

from nvdla_models.errors import InputError
from nvdla_models.reading import shown

_told: set[str] = set()

T = TypeVar("T")


def added(group: str, must: str, is_right: Callable[[Any], bool]) -> list[tuple[str, Any]]:
    """Return what the entry points of a group name, by their names.

    An installed package is code that the user has chosen. One that is broken is told on standard error, once, and takes
    nothing else along.

    Args:
        group: The group.
        must: What they must name, for the message.
        is_right: Whether it is that.
    """
    found = []
    for entry in sorted(entry_points(group=group), key=lambda entry: entry.name):
        try:
            value = entry.load()
        except (Exception, SystemExit) as error:  # whatever a module of somebody else raises
            leave_out(_name(entry), f"{type(error).__name__}: {error}")
            continue
        if is_right(value):
            found.append((entry.name, value))
        else:
            leave_out(_name(entry), f"it must name {must}")
    return found


def with_added(own: Mapping[str, T], group: str, what: str, kind: type[T]) -> dict[str, T]:
    """Return things of a kind by their names, then those that installed packages add in dictionaries.

    Args:
        own: Those of the bench.
        group: The group of entry points.
        what: What they are called, for the message.
        kind: Their type.

    Raises:
        InputError: for a name that is given twice.
    """
    found = dict(own)
    for entry, more in added(group, f"a dictionary of {kind.__name__}", lambda value: _is_of(value, kind)):
        for name in more:
            if name in found:
                raise InputError(f"{what} must have names of their own; {entry} adds {name} again")
        found |= more
    return found


def leave_out(what: str, why: str) -> None:
    """Say that something that a package adds is left out, and why."""
    line = f"error: {what} is left out: {shown(why)}"
    if line not in _told:
        _told.add(line)
        print(line, file=sys.stderr)


def _is_of(value: Any, kind: type) -> bool:
    """Return whether something that a package names is a dictionary of a kind."""
    return isinstance(value, dict) and all(isinstance(key, str) and isinstance(value[key], kind) for key in value)


def _name(entry: EntryPoint) -> str:
    package = "" if entry.dist is None else f" of {shown(entry.dist.name)}"
    return f"entry point {shown(entry.name)}{package} ({entry.group} = {shown(entry.value)})"
