"""Functional coverage as parts of a page: units, holes, and what is excluded and why."""

from __future__ import annotations

from collections.abc import Sequence

from tb.coverage.model import CoverageModel
from tb.coverage.status import Hits, ItemStatus, exclusions, item_status, open_reasons, totals
from tb.markup import Cell, Section, render

_BINS = ("unit:s", "point or cross", "hit:n", "reachable:n", "%:n", "bins with their hits")


def coverage_sections(model: CoverageModel, hits: Hits) -> list[Section]:
    """Return the parts of a page that show what was covered of a model."""
    statuses = item_status(model, hits)
    surprises = [name for status in statuses for name in status.surprises]
    columns = ("unit", "points:n", "crosses:n", "bins:n", "hit:n", "%:n", "", "excluded:n")
    parts = [
        Section("Functional coverage", columns, [_unit(unit, statuses) for unit in (*model.bins, "all")]),
        Section("Holes", ("point or cross", "hit:n", "bins:n", "not hit"), _holes(statuses)),
        Section("All bins", _BINS, _bins(model, hits, statuses)),
        Section("Not reached yet, with reasons", lines=list(open_reasons(model, hits))),
        Section("Excluded bins, with reasons", lines=list(exclusions(model))),
    ]
    if surprises:
        parts.append(Section("Excluded, but hit: the model is wrong", lines=surprises))
    return parts


def coverage_page(title: str, model: CoverageModel, hits: Hits) -> str:
    """Return a page of its own that shows what was covered of a model."""
    return render("sections.html", title=title, heading=title, sections=coverage_sections(model, hits))


def _unit(unit: str, statuses: Sequence[ItemStatus]) -> tuple[Cell | str, ...]:
    part = totals([status for status in statuses if unit in (status.item.unit, "all")])
    numbers = (part.points, part.crosses, part.reachable, part.hit)
    shown = Cell("", bar=[("good", part.percent), ("other", 100 - part.percent)])
    return unit, *map(str, numbers), f"{part.percent:.1f}", shown, str(part.excluded)


def _holes(statuses: Sequence[ItemStatus]) -> list[tuple[Cell | str, ...]]:
    return [
        (status.item.name, str(status.hit), str(status.reachable), Cell(", ".join(status.holes), "names"))
        for status in statuses
        if status.holes
    ]


def _bins(model: CoverageModel, hits: Hits, statuses: Sequence[ItemStatus]) -> list[tuple[Cell | str, ...]]:
    """Return a row for each point and cross, with how often each of its bins was hit folded in it."""
    rows: list[tuple[Cell | str, ...]] = []
    for status in statuses:
        item, part = status.item, totals([status])
        parts = [_bin(model, hits, item.bin_name(key), "*".join(key)) for key in item.keys]
        summary = f"{len(parts)} bins" + (f", {len(status.holes)} not hit" if status.holes else "")
        numbers = (str(part.hit), str(part.reachable), f"{part.percent:.1f}")
        rows.append((item.unit, "*".join(item.points), *numbers, Cell(summary, parts=parts)))
    return rows


def _bin(model: CoverageModel, hits: Hits, name: str, label: str) -> tuple[str, str]:
    """Return the kind of a bin and its label with its hits."""
    count = hits.get(name, 0)
    if name in model.excluded:
        return "other", f"{label}: excluded" + (f", but hit {count} times" if count else "")
    return "good" if count else "bad", f"{label}: {count}"
