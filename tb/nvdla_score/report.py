"""The score as text and as data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from nvdla_score.catalogue import BugKind
from nvdla_score.play import BugResult
from nvdla_tb.run.space import write_whole

LEAST_CAUGHT = 0.97
LEAST_EXPLAINED = 0.85


def line(result: BugResult) -> str:
    """Return the outcome of a bug in one line."""
    bug, catch = result.bug, result.catch
    if catch is None:
        state = "equivalent" if bug.equivalent else "SURVIVED"
        return f"{bug.name:32} {bug.kind.value:10} {state} {result.ended.played} scenarios"
    why = ""
    if result.explained is not None:
        right = f"right, the same bytes as {', '.join(catch.equal)}" if catch.equal else "right"
        worth = right if result.explained else f"expected {' or '.join(bug.causes)}"
        why = f"; cause {catch.cause or 'unknown'}: {worth}"
    return f"{bug.name:32} {bug.kind.value:10} {catch}{why}"


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
    undecided = sum(bool(result.explained and result.catch and result.catch.equal) for result in results)
    if undecided:
        lines.append(f"right first causes of which another predicts the very same bytes: {undecided}")
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
    data = [
        {
            "bug": result.bug.name,
            "kind": result.bug.kind.value,
            "unit": result.bug.unit,
            **result.ended.to_dict(),
            "equal": list(result.catch.equal) if result.catch else [],
            "expected_causes": list(result.bug.causes),
            "explained": result.explained,
        }
        for result in results
    ]
    write_whole(path, json.dumps(data, indent=1))
