"""Results in words: endings, failures grouped by cause and check, slowest tests, and what a run has proven."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nvdla_tb.counting import counted
from nvdla_tb.judge.text import signature_line
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.paths import COMMAND
from nvdla_tb.stimulus.result import Result

_SLOWEST = 5


@dataclass(frozen=True)
class Group:
    """Failures of one cause; where no cause is known, those that end the same way, in whichever register group.

    Attributes:
        ending: how the first of them ended.
        cause: the probable cause of the first in words, None when none is known.
        signatures: signatures of all members, the most frequent first; each tells engine and register group.
        members: the failures; those of which hand-overs inside were watched come first, as more is known of them, and
            of these the simplest: the one of the fewest layers, then of the fewest cycles.
    """

    ending: Ending
    cause: str | None
    signatures: tuple[tuple[str, ...], ...]
    members: tuple[Result, ...]

    @property
    def title(self) -> str:
        """The common cause of the members."""
        if self.cause is not None:
            return self.cause
        return signature_line(self.signatures[0] if len(self.signatures) == 1 else self.members[0].verdict.kind)

    @property
    def lacks_cause(self) -> bool:
        """Whether what is known of the cause is a symptom at most."""
        explained = self.members[0].explained
        first = None if explained is None else explained.first
        return self.cause is None or (first is not None and first.symptom)

    @property
    def checks(self) -> list[str]:
        """How many members have which signature."""
        counts = Counter(result.verdict.signature for result in self.members)
        return [f"{counts[signature]} x {signature_line(signature)}" for signature in self.signatures]


def passes_alone(after: str) -> str:
    """Return the remark on a failure that only comes ``after`` another ``TEST.SEED`` in the same simulator."""
    return f"passes alone: it fails after {after} on the same simulator, which is reset in between"


def endings(results: Iterable[Result]) -> dict[Ending, int]:
    """Return how many ended how; endings that did not occur are absent."""
    return endings_of(result.ending for result in results)


def endings_of(ended: Iterable[Ending]) -> dict[Ending, int]:
    """Return how often each ending occurs; those that do not are absent."""
    found = Counter(ended)
    return {ending: found[ending] for ending in Ending if ending in found}


def groups(results: Iterable[Result]) -> list[Group]:
    """Return failures by cause, and those without one by ending and kind; the largest group first."""
    found: dict[tuple[object, ...], list[Result]] = {}
    for result in results:
        if has_failed(result.ending):
            cause = result.cause
            key = (result.ending, *result.verdict.kind) if cause is None else (cause[0],)
            found.setdefault(key, []).append(result)
    grouped = []
    for members in sorted(found.values(), key=lambda members: -len(members)):
        members.sort(key=lambda result: (_unseen(result), *_size(result)))
        cause = members[0].cause
        counts = Counter(result.verdict.signature for result in members)
        signatures = tuple(signature for signature, _ in counts.most_common())
        grouped.append(Group(members[0].ending, cause and cause[1], signatures, tuple(members)))
    return grouped


def _unseen(result: Result) -> int:
    """Return how little is known of where inside a failure arises."""
    return 2 if result.explained is None else 2 - result.explained.was_watched - result.explained.located


def _size(result: Result) -> tuple[int, int]:
    """Return how many layers and cycles a test has; one without layers, as it crashed, is none to begin with."""
    return len(result.layers) or sys.maxsize, result.verdict.cycles


def slowest(results: Iterable[Result]) -> list[Result]:
    """Return the tests that took longest."""
    return sorted(results, key=lambda result: -result.seconds)[:_SLOWEST]


def has_failed(ending: Ending) -> bool:
    """Return whether a test was played and somebody has to look at it."""
    return ending.is_failure and ending is not Ending.NOT_PLAYED


def failed(counts: Mapping[Ending, int]) -> int:
    """Return how many tests were played and somebody has to look at."""
    return sum(count for ending, count in counts.items() if has_failed(ending))


def counts_line(counts: Mapping[Ending, int]) -> str:
    """Return ``N passed, N refused, ...``, the failures by name, and what has not been played."""
    kinds = ", ".join(f"{count} {ending.value}" for ending, count in counts.items() if has_failed(ending))
    parts = [
        f"{counts.get(Ending.PASSED, 0)} passed",
        f"{failed(counts)} failed" + (f" ({kinds})" if kinds else ""),
        f"{counts.get(Ending.REFUSED, 0)} refused",
    ]
    if golden := counts.get(Ending.GOLDEN, 0):
        parts.append(f"{golden} golden equal, not predicted")
    if missing := counts.get(Ending.NOT_PLAYED, 0):
        parts.append(f"{missing} not played")
    return ", ".join(parts)


NOTHING = "nothing was compared: no test has passed"
"""The problem of a run without a test that passed."""


def problems_of(counts: Mapping[Ending, int]) -> list[str]:
    """Return why a run has not passed though none of its tests says so; empty without a reason."""
    right = counts.get(Ending.PASSED, 0) + counts.get(Ending.GOLDEN, 0)
    return [] if right or any(ending.is_failure for ending in counts) else [NOTHING]


def exit_code(counts: Mapping[Ending, int], problems: Sequence[str] = ()) -> int:
    """Return 0 when all was played, something was right, nothing failed, and there are no other problems; else 1."""
    return 1 if any(ending.is_failure for ending in counts) or problems or problems_of(counts) else 0


def colour(counts: Mapping[Ending, int], code: int) -> str:
    """Return the colour of a line of counts: green only when nothing but what was predicted is right."""
    if code:
        return "red"
    return "yellow" if counts.get(Ending.GOLDEN) else "green"


def aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """Return rows as lines of columns; the first ``left`` columns are flush left, the others flush right.

    A line break in a cell is escaped: a row is one line whatever it names.
    """
    rows = [[cell.replace("\n", "\\n") for cell in row] for row in rows]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[n].ljust(widths[n]) if n < left else row[n].rjust(widths[n]) for n in range(len(row))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


GATE = "L1"
"""The level that a change of RTL must pass."""

_BEYOND = {"L2", "L3"}


def gate_command(dut: str) -> str:
    """Return the gate of a device that options select."""
    return f"{COMMAND} regress plan --level {GATE} {dut}"


def after_plan(plan: str, scenarios: int, only: Sequence[str] | None, dut: str, right: int) -> list[str]:
    """Return what was proven by the scenarios of a plan, each with one seed, in lines.

    Args:
        plan: its name.
        scenarios: how many were played.
        only: the patterns that chose them, None for all.
        dut: options that select the device.
        right: how many passed, if the run has: those that were refused prove nothing. 0 of a run that has not passed.
    """
    every = "the scenario" if scenarios == 1 else f"the {scenarios} scenarios"
    which = f"{every if only is None else counted(scenarios, 'chosen scenario')} of {plan}"
    which = which if right == scenarios else f"{right} of {which}"
    lines = [
        f"proven: every byte that {which} {'writes' if right == 1 else 'write'} is right, with one seed",
        "not proven: other sizes, modes, overlaps and orders; random layers find bugs there that this plan misses",
    ]
    return [*(lines if right else ()), f"the gate is: {gate_command(dut)}"]


def after_regression(title: str, *, passed: bool) -> str:
    """Return what was proven by a regression, whose title is a level, or what was played."""
    if title == GATE or title in _BEYOND:
        what = "the gate" if title == GATE else "the gate and more"
        return f"level {title}, {what}: {'passed' if passed else 'not passed'}; its holes are what it does not reach"
    return f"not the gate, which is level {GATE} or more: {COMMAND} regress plan --level {GATE}"
