"""Functional coverage as parts of a page: units, holes, and what is excluded and why."""

from __future__ import annotations

from collections.abc import Sequence

from tb.coverage.model import CoverageModel
from tb.coverage.status import Hits, ItemStatus, exclusions, item_status, open_reasons, totals
from tb.report.markup import bar, escaped, table


def coverage_sections(model: CoverageModel, hits: Hits) -> list[str]:
    """Return the parts of a page that show what was covered of a model."""
    statuses = item_status(model, hits)
    surprises = [name for status in statuses for name in status.surprises]
    columns = ("unit", "points:n", "crosses:n", "bins:n", "hit:n", "%:n", "", "excluded:n")
    parts = [
        table("Functional coverage", columns, [_unit(unit, statuses) for unit in (*model.bins, "all")]),
        table("Holes", ("point or cross", "hit:n", "bins:n", "not hit"), _holes(statuses)),
        _folded("Not reached yet, with reasons", list(open_reasons(model, hits))),
        _folded("Excluded bins, with reasons", list(exclusions(model))),
    ]
    if surprises:
        parts.append(_folded("Excluded, but hit: the model is wrong", surprises))
    return parts


def _unit(unit: str, statuses: Sequence[ItemStatus]) -> tuple[str, ...]:
    part = totals([status for status in statuses if unit in (status.item.unit, "all")])
    numbers = (part.points, part.crosses, part.reachable, part.hit)
    shown = bar([("good", part.percent), ("other", 100 - part.percent)])
    return escaped(unit), *map(str, numbers), f"{part.percent:.1f}", shown, str(part.excluded)


def _holes(statuses: Sequence[ItemStatus]) -> list[tuple[str, ...]]:
    return [
        (
            escaped(status.item.name),
            str(status.hit),
            str(status.reachable),
            f'<span class="names">{escaped(", ".join(status.holes))}</span>',
        )
        for status in statuses
        if status.holes
    ]


def _folded(title: str, lines: Sequence[str]) -> str:
    shown = "<br>".join(escaped(line) for line in lines)
    return f'<details><summary>{escaped(title)} ({len(lines)})</summary><p class="names">{shown}</p></details>'
