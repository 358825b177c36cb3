"""Results in words: endings, failures grouped by signature, slowest tests."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tb.judge.text import complaints, signature_line
from tb.judge.verdict import Ending
from tb.run.result import Result

_SLOWEST = 5


@dataclass(frozen=True)
class Group:
    """Failures that end the same way with the same signature."""

    ending: Ending
    signature: tuple[str, ...]
    members: tuple[Result, ...]


def endings(results: Iterable[Result]) -> dict[Ending, int]:
    """Return how many ended how; endings that did not occur are absent."""
    found = Counter(result.ending for result in results)
    return {ending: found[ending] for ending in Ending if ending in found}


def groups(results: Iterable[Result]) -> list[Group]:
    """Return failures by ending and signature, the largest group first."""
    found: dict[tuple[Ending, tuple[str, ...]], list[Result]] = {}
    for result in results:
        if result.ending.is_failure:
            found.setdefault((result.ending, result.verdict.signature), []).append(result)
    ordered = sorted(found.items(), key=lambda item: -len(item[1]))
    return [Group(ending, signature, tuple(members)) for (ending, signature), members in ordered]


def slowest(results: Iterable[Result]) -> list[Result]:
    """Return the tests that took longest."""
    return sorted(results, key=lambda result: -result.seconds)[:_SLOWEST]


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


def failures(results: Sequence[Result]) -> str:
    """Return every group of failures with its first member whole, and the others by name."""
    blocks = []
    for group in groups(results):
        first, *others = group.members
        lines = [f"{group.ending.value}: {len(group.members)} x {signature_line(group.signature)}"]
        lines.append(f"  {first.identity}:")
        lines += [f"    {line}" for complaint in complaints(first.verdict) for line in complaint.splitlines()]
        if first.folder:
            lines.append(f"    folder: {first.folder}")
        lines.append(f"    rerun: {first.rerun}")
        if others:
            lines.append(f"  also: {', '.join(result.identity for result in others)}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def exit_code(counts: Mapping[Ending, int], missing: int) -> int:
    """Return 0 when everything was played, something passed and nothing failed, else 1."""
    failed = any(ending.is_failure for ending in counts)
    return 0 if counts.get(Ending.PASSED) and not failed and not missing else 1
