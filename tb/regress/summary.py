"""A regression's results in words: endings, failures grouped by signature, slowest tests, trend."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tb.regress.record import Ending, Record
from tb.regress.task import Task

_SLOWEST = 5


class Named(Protocol):
    """What is played: a task of a regression, or a job of its own."""

    @property
    def identity(self) -> str:
        """``TEST.SEED``."""

    @property
    def rerun(self) -> str:
        """The command that repeats just it."""


@dataclass(frozen=True)
class Ended:
    """What was played, and its record."""

    task: Named
    record: Record


@dataclass(frozen=True)
class Group:
    """Failures that end the same way with the same signature."""

    ending: Ending
    signature: str
    members: tuple[Ended, ...]


def pair(tasks: Iterable[Task], records: Iterable[Record]) -> list[Ended]:
    """Return the tasks that have a record, in the order of the tasks."""
    by_key = {record.key: record for record in records}
    return [Ended(task, by_key[task.key]) for task in tasks if task.key in by_key]


def endings(ended: Iterable[Ended]) -> dict[Ending, int]:
    """Return how many ended how; endings that did not occur are absent."""
    found = Counter(entry.record.ending for entry in ended)
    return {ending: found[ending] for ending in Ending if ending in found}


def groups(ended: Iterable[Ended]) -> list[Group]:
    """Return failures by ending and signature, the largest group first."""
    found: dict[tuple[Ending, str], list[Ended]] = {}
    for entry in ended:
        if entry.record.ending.is_failure:
            found.setdefault((entry.record.ending, entry.record.signature), []).append(entry)
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    return [Group(ending, signature, tuple(members)) for (ending, signature), members in ordered]


def slowest(ended: Iterable[Ended]) -> list[Ended]:
    """Return the tasks that took longest."""
    return sorted(ended, key=lambda entry: -entry.record.seconds)[:_SLOWEST]


def counts_line(counts: Mapping[Ending, int], missing: int) -> str:
    """Return ``N passed, N refused, ...``, the failures by name, and what has not been played."""
    failed = sum(count for ending, count in counts.items() if ending.is_failure)
    kinds = ", ".join(f"{count} {ending.value}" for ending, count in counts.items() if ending.is_failure)
    parts = [
        f"{counts.get(Ending.PASSED, 0)} passed",
        f"{failed} failed" + (f" ({kinds})" if kinds else ""),
        f"{counts.get(Ending.REFUSED, 0)} refused",
    ]
    return ", ".join([*parts, f"{missing} not played"] if missing else parts)


def failures(ended: Sequence[Ended]) -> str:
    """Return every group of failures with its first member whole, and the others by name."""
    blocks = []
    for group in groups(ended):
        first, *others = group.members
        lines = [f"{group.ending.value}: {len(group.members)} x {group.signature or 'without a message'}"]
        lines.append(f"  {first.task.identity}:")
        lines += [f"    {line}" for complaint in first.record.complaints for line in complaint.splitlines()]
        if first.record.folder:
            lines.append(f"    folder: {first.record.folder}")
        lines.append(f"    rerun: {first.task.rerun}")
        if others:
            lines.append(f"  also: {', '.join(entry.task.identity for entry in others)}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def exit_code(counts: Mapping[Ending, int], missing: int) -> int:
    """Return 0 when everything was played, something passed and nothing failed, else 1."""
    failed = any(ending.is_failure for ending in counts)
    return 0 if counts.get(Ending.PASSED) and not failed and not missing else 1
