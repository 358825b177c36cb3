"""The score of mutants as text and as data."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from nvdla_score.equivalent import UNTESTED
from nvdla_score.mutants import MutantResult
from nvdla_score.operators import Family
from nvdla_score.reach import Reached
from nvdla_score.units import Judgement, Naming, judged, naming
from nvdla_score.unseen import BYPASS
from nvdla_tb.explain.units import Unit
from nvdla_tb.run.space import write_whole

LEAST_CAUGHT = 0.95
MOST_WRONG = 0.03


def line(result: MutantResult) -> str:
    """Return the outcome of a mutant in one line."""
    catch = result.catch
    if catch is None:
        return f"{result.mutant}: SURVIVED: {result.reason} ({result.ended.seconds:.0f} s)"
    why, worth = judged(result.mutant.module, result.unit, catch), naming(result.unit, catch)
    stated = f"{catch.cause}: {why.value}" if catch.cause else why.value
    units = "; ".join(", ".join(units) or "nothing" for units in catch.units)
    named = f"unit {units}" if units else "no unit"
    wanted = f", {result.unit.value} has it" if worth is Naming.WRONG and result.unit is not None else ""
    return f"{result.mutant}: {catch}; {stated}; {named}: {worth.value}{wanted}"


def summary(results: Sequence[MutantResult], alarms: Sequence[Reached], *, bypassed: bool = False) -> list[str]:
    """Return tables per module and per family, the survivors with reasons, the first causes, and the score.

    It also says what a build cannot test whose clock gates are bypassed.
    """
    lines = [*_table("module", [result.mutant.module for result in results], results), ""]
    lines += [*_table("bugs like", [result.mutant.family.value for result in results], results), ""]
    survivors = [result for result in results if result.catch is None]
    for title, equal in (("proved equivalent:", True), ("survivors:", False)):
        listed = [result for result in survivors if result.equivalent is equal]
        if listed:
            lines += [title, *(f"  {r.number:3} {r.mutant}: {r.reason}" for r in listed), ""]
    for alarm in alarms:
        lines.append(f"left out, as it fails without a mutant: {alarm.identity}: {alarm.alarm[0]}")
    causes = Counter(judged(r.mutant.module, r.unit, r.catch) for r in results if r.catch is not None)
    stated = ", ".join(f"{judgement.value} {causes[judgement]}" for judgement in Judgement)
    lines.append(f"first cause of those caught: {stated}")
    lines += _units(results)
    never = sum(r.reaching == 0 for r in survivors if not r.equivalent)
    if bypassed:
        untested = sum(result.proof == UNTESTED for result in survivors)
        lines.append(
            f"not tested by this build, whose clock gates are wires ({BYPASS}): mutants that stop a clock; "
            f"{untested} of those proved equivalent act on clock gates alone"
        )
    caught, needed = counted(results)
    seen = len(survivors) - (len(results) - needed) - never
    lines.append(f"not caught: {never} never reached, {seen} reached and not seen; not one of them proved equivalent")
    share = f"{100 * caught / needed:.1f} %" if needed else "nothing to catch"
    score = (
        f"caught: {caught} of {needed} not equivalent ({share}, at least {100 * LEAST_CAUGHT:g} %); "
        f"{len(results) - needed} of {len(results)} proved equivalent"
    )
    if cut := unexhausted(results):
        more = sum(result.cut for result in cut)
        score += f"; the level may catch {len(cut)} more: --each cut {more} scenarios that reach them"
    return [*lines, score]


def unexhausted(results: Sequence[MutantResult]) -> list[MutantResult]:
    """Return the survivors, not proved equivalent, that further scenarios reach, which were cut."""
    return [result for result in results if result.cut and not result.equivalent]


def _units(results: Sequence[MutantResult]) -> list[str]:
    """Return by unit how the units that are named are judged, and the same of all in a line."""
    caught = [result for result in results if result.catch is not None]
    kinds = [kind for kind in Naming if kind is not Naming.SHARED]
    table = []
    for unit in Unit:
        counts = Counter(result.naming for result in caught if result.unit is unit)
        if counts:
            table.append(f"  {unit.value:18}" + "".join(f"{counts[kind]:>8}" for kind in kinds))
    heads = f"  {'unit':18}" + "".join(f"{kind.value:>8}" for kind in kinds)
    counts = Counter(result.naming for result in caught)
    judged_ones = sum(counts[kind] for kind in kinds)
    said = ", ".join(f"{kind.value} {counts[kind]}" for kind in kinds[1:])
    total = f"units named right: {counts[Naming.RIGHT]} of {judged_ones} caught; {said}"
    total += f"; not counted, in modules that units share: {counts[Naming.SHARED]}"
    return [heads, *table, total] if table else [total]


def counted(results: Sequence[MutantResult]) -> tuple[int, int]:
    """Return how many mutants were caught, and how many are not proved to be equivalent."""
    return sum(r.catch is not None for r in results), sum(not r.equivalent for r in results)


def passed(results: Sequence[MutantResult]) -> bool:
    """Return whether enough mutants were caught, and few enough wrong causes stated."""
    caught, needed = counted(results)
    wrong = sum(judged(r.mutant.module, r.unit, r.catch) is Judgement.WRONG for r in results if r.catch is not None)
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
        "not_exhausted": len(unexhausted(results)),
        "units": {kind.value: sum(result.naming is kind for result in results) for kind in Naming},
        "false_alarms": [alarm.identity for alarm in alarms],
        "results": [_plain(result) for result in results],
    }
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
        "cut": result.cut,
        **result.ended.to_dict(),
        "symptom": catch and catch.symptom,
        "unit": result.unit and result.unit.value,
        "named": [list(units) for units in catch.units] if catch else [],
        "naming": result.naming and result.naming.value,
        "judged": catch and judged(mutant.module, result.unit, catch).value,
        "proof": proof and str(proof),
        "reason": None if catch else result.reason,
    }
