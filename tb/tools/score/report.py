"""The score as text and as data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tb.run.space import write_whole
from tb.tools.score.catalogue import BugKind
from tb.tools.score.play import BugResult

LEAST_CAUGHT = 0.97
LEAST_EXPLAINED = 0.85


def line(result: BugResult) -> str:
    """Return the outcome of a bug in one line."""
    bug, catch = result.bug, result.catch
    if catch is None:
        state = "equivalent" if bug.equivalent else "SURVIVED"
        return f"{bug.name:32} {bug.kind.value:10} {state} {result.ended.played} scenarios"
    when = "" if catch.cycle is None else f", cycle {catch.cycle}"
    checks = ", ".join(check.value for check in catch.checks)
    why = "" if result.explained is None else f"; cause {catch.cause or 'unknown'}: {_right(result)}"
    return f"{bug.name:32} {bug.kind.value:10} {checks} in scenario {catch.number} ({catch.scenario}{when}){why}"


def _right(result: BugResult) -> str:
    if not result.explained:
        return f"expected {' or '.join(result.bug.causes)}"
    assert result.catch is not None
    return f"right, the same bytes as {', '.join(result.catch.equal)}" if result.catch.equal else "right"


def undecided(results: Sequence[BugResult]) -> int:
    """Return for how many of the bugs whose cause is right another one predicts the very same bytes."""
    return sum(bool(result.explained and result.catch and result.catch.equal) for result in results)


def caught(results: Sequence[BugResult]) -> tuple[int, int]:
    """Return how many bugs were caught, and how many had to be."""
    needed = [result for result in results if not result.bug.equivalent]
    return sum(result.catch is not None for result in needed), len(needed)


def explained(results: Sequence[BugResult]) -> tuple[int, int]:
    """Return how many layout and arithmetic bugs the explainer named first, and how many there are."""
    judged = [result.explained for result in results if result.explained is not None]
    return sum(judged), len(judged)


def summary(results: Sequence[BugResult]) -> list[str]:
    """Return the score: by kind, then the survivors, then the bugs whose first cause is wrong."""
    lines = [f"{'kind':12}{'bugs':>6}{'caught':>8}{'first scenario':>16}{'cause right':>13}"]
    for kind in (*BugKind, None):
        chosen = [result for result in results if kind is None or result.bug.kind is kind]
        if not chosen:
            continue
        first = sum(result.catch is not None and result.catch.number == 1 for result in chosen)
        right, judged = explained(chosen)
        share = f"{right}/{judged}" if judged else "-"
        name = "all" if kind is None else kind.value
        lines.append(f"{name:12}{len(chosen):>6}{caught(chosen)[0]:>8}{first:>16}{share:>13}")
    lines += _listed("survivors", [r for r in results if r.catch is None and not r.bug.equivalent])
    lines += _listed("equivalent", [r for r in results if r.bug.equivalent])
    lines += _listed("another first cause", [r for r in results if r.explained is False and r.catch is not None])
    if undecided(results):
        lines.append(f"right first causes of which another predicts the very same bytes: {undecided(results)}")
    for name, (part, whole), least in (
        ("caught", caught(results), LEAST_CAUGHT),
        ("first cause right", explained(results), LEAST_EXPLAINED),
    ):
        if whole:
            lines.append(f"{name}: {part} of {whole} ({100 * part / whole:.1f} %, at least {100 * least:g} %)")
    return lines


def _listed(title: str, results: Sequence[BugResult]) -> list[str]:
    if not results:
        return []
    lines = [f"{title}:"]
    for result in results:
        lines.append(f"  {line(result)}")
        if result.bug.equivalent:
            lines.append(f"    {result.bug.equivalent}")
    return lines


def passed(results: Sequence[BugResult]) -> bool:
    """Return whether enough bugs were caught and explained."""
    parts = ((caught(results), LEAST_CAUGHT), (explained(results), LEAST_EXPLAINED))
    return all(not whole or part / whole >= least for (part, whole), least in parts)


def write_json(results: Sequence[BugResult], path: Path) -> None:
    """Write the results as data."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps([_plain(result) for result in results], indent=1))


def _plain(result: BugResult) -> dict[str, Any]:
    bug, catch = result.bug, result.catch
    return {
        "bug": bug.name,
        "kind": bug.kind.value,
        "unit": bug.unit,
        "caught": catch is not None,
        "played": result.ended.played,
        "scenario": catch and catch.scenario,
        "checks": [check.value for check in catch.checks] if catch else [],
        "cycle": catch and catch.cycle,
        "complaint": catch and catch.complaint,
        "cause": catch and catch.cause,
        "equal": list(catch.equal) if catch else [],
        "expected_causes": list(bug.causes),
        "explained": result.explained,
        "seconds": round(result.ended.seconds, 2),
    }
