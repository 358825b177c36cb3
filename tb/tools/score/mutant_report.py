"""The score of mutants as text and as data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tb.run.space import write_whole
from tb.tools.score.judged import Judgement, judged
from tb.tools.score.mutants import MutantResult
from tb.tools.score.operators import Family
from tb.tools.score.reach import Reached

LEAST_CAUGHT = 0.95
MOST_WRONG = 0.03


def line(result: MutantResult) -> str:
    """Return the outcome of a mutant in one line."""
    catch = result.catch
    if catch is None:
        return f"{result.mutant}: SURVIVED: {result.reason} ({result.seconds:.0f} s)"
    when = "" if catch.cycle is None else f", cycle {catch.cycle}"
    checks = ", ".join(check.value for check in catch.checks)
    why = judged(result.mutant.module, catch)
    stated = f"; {catch.cause}: {why.value}" if catch.cause else f"; {why.value}"
    return f"{result.mutant}: {checks} in scenario {catch.number} ({catch.scenario}{when}){stated}"


def summary(results: Sequence[MutantResult], alarms: Sequence[Reached]) -> list[str]:
    """Return tables per module and per family, the survivors with reasons, the first causes, and the score."""
    lines = [*_table("module", [result.mutant.module for result in results], results), ""]
    lines += [*_table("bugs like", [result.mutant.family.value for result in results], results), ""]
    survivors = [result for result in results if result.catch is None]
    for title, equal in (("proved equivalent:", True), ("survivors:", False)):
        listed = [result for result in survivors if result.equivalent is equal]
        if listed:
            lines += [title, *(f"  {r.number:3} {r.mutant}: {r.reason}" for r in listed), ""]
    for alarm in alarms:
        lines.append(f"left out, as it fails without a mutant: {alarm.identity}: {alarm.alarm[0]}")
    causes = Counter(judged(r.mutant.module, r.catch) for r in results if r.catch is not None)
    stated = ", ".join(f"{judgement.value} {causes[judgement]}" for judgement in Judgement)
    lines.append(f"first cause of those caught: {stated}")
    never = sum(r.reaching == 0 for r in survivors if not r.equivalent)
    caught, needed = counted(results)
    seen = len(survivors) - (len(results) - needed) - never
    lines.append(f"not caught: {never} never reached, {seen} reached and not seen; not one of them proved equivalent")
    share = f"{100 * caught / needed:.1f} %" if needed else "nothing to catch"
    lines.append(
        f"caught: {caught} of {needed} not equivalent ({share}, at least {100 * LEAST_CAUGHT:g} %); "
        f"{len(results) - needed} of {len(results)} proved equivalent"
    )
    return lines


def counted(results: Sequence[MutantResult]) -> tuple[int, int]:
    """Return how many mutants were caught, and how many are not proved to be equivalent."""
    return sum(r.catch is not None for r in results), sum(not r.equivalent for r in results)


def passed(results: Sequence[MutantResult]) -> bool:
    """Return whether enough mutants were caught, and few enough wrong causes stated."""
    caught, needed = counted(results)
    wrong = sum(judged(r.mutant.module, r.catch) is Judgement.WRONG for r in results if r.catch is not None)
    return caught >= LEAST_CAUGHT * needed and wrong <= MOST_WRONG * max(1, caught)


def _table(title: str, keys: Sequence[str], results: Sequence[MutantResult]) -> list[str]:
    """Return a table with a line for each key, and one for all."""
    width = max(len(title), *map(len, keys)) + 2
    heads = ("mutants", "caught", "equivalent", "survived", "caught of not equivalent")
    lines = [f"{title:{width}}" + "".join(f"{head:>{len(head) + 2}}" for head in heads)]
    order = [family.value for family in Family]
    for key in (*sorted(set(keys), key=lambda k: (order.index(k) if k in order else -1, k)), "all"):
        found = [r for k, r in zip(keys, results, strict=True) if key in ("all", k)]
        caught, needed = counted(found)
        share = f"{100 * caught / needed:.0f} %" if needed else "-"
        cells = (len(found), caught, len(found) - needed, needed - caught, share)
        lines.append(
            f"{key:{width}}" + "".join(f"{cell:>{len(head) + 2}}" for cell, head in zip(cells, heads, strict=True))
        )
    return lines


def write_json(results: Sequence[MutantResult], alarms: Sequence[Reached], path: Path) -> None:
    """Write the results as data."""
    caught, needed = counted(results)
    data = {
        "mutants": len(results),
        "caught": caught,
        "not_equivalent": needed,
        "false_alarms": [alarm.identity for alarm in alarms],
        "results": [_plain(result) for result in results],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, json.dumps(data, indent=1))


def _plain(result: MutantResult) -> dict[str, Any]:
    mutant, catch, proof = result.mutant, result.catch, result.proof
    return {
        "number": result.number,
        "module": mutant.module,
        "file": mutant.path.name,
        "line": mutant.line,
        "family": mutant.family.value,
        "kind": mutant.kind,
        "before": mutant.before,
        "after": mutant.after,
        "reaching": result.reaching,
        "played": result.played,
        "caught": catch is not None,
        "scenario": catch and catch.scenario,
        "checks": [check.value for check in catch.checks] if catch else [],
        "cycle": catch and catch.cycle,
        "complaint": catch and catch.complaint,
        "cause": catch and catch.cause,
        "symptom": catch and catch.symptom,
        "judged": catch and judged(mutant.module, catch).value,
        "proof": proof and str(proof),
        "reason": None if catch else result.reason,
        "seconds": round(result.seconds, 2),
    }
