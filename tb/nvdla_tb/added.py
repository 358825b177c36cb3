"""What installed packages add to the bench by entry points. One that cannot be loaded is named and left out."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from nvdla_models.reading import shown

_told: set[str] = set()


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


def leave_out(what: str, why: str) -> None:
    """Say that something that a package adds is left out, and why."""
    line = f"error: {what} is left out: {shown(why)}"
    if line not in _told:
        _told.add(line)
        print(line, file=sys.stderr)


def _name(entry: EntryPoint) -> str:
    package = "" if entry.dist is None else f" of {shown(entry.dist.name)}"
    return f"entry point {shown(entry.name)}{package} ({entry.group} = {shown(entry.value)})"
