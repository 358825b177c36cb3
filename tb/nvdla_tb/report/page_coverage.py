"""Functional coverage and code coverage as parts of a page, and code coverage in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from nvdla_tb.counting import counted
from nvdla_tb.coverage.model import CoverageModel
from nvdla_tb.coverage.status import Hits, ItemStatus, exclusions, item_status, open_reasons, totals
from nvdla_tb.markup import Cell, Section, render
from nvdla_tb.run.regress.code_coverage import CodeCoverage, ModuleCoverage
from nvdla_tb.run.regress.code_exclusions import KINDS

_BINS = ("unit:s", "point or cross", "hit:n", "reachable:n", "%:n", "bins with their hits")


def coverage_sections(model: CoverageModel, hits: Hits) -> list[Section]:
    """Return the parts of a page that show what was covered of a model."""
    statuses = item_status(model, hits)
    surprises = [name for status in statuses for name in status.surprises]
    holes = [
        (status.item.name, str(status.hit), str(status.reachable), Cell(", ".join(status.holes), "names"))
        for status in statuses
        if status.holes
    ]
    columns = ("unit", "points:n", "crosses:n", "bins:n", "hit:n", "%:n", "", "excluded:n")
    parts = [
        Section("Functional coverage", columns, [_unit(unit, statuses) for unit in (*model.bins, "all")]),
        Section("Holes", ("point or cross", "hit:n", "bins:n", "not hit"), holes),
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


def _bins(model: CoverageModel, hits: Hits, statuses: Sequence[ItemStatus]) -> list[tuple[Cell | str, ...]]:
    """Return a row for each point and cross, with how often each of its bins was hit folded in it."""
    rows: list[tuple[Cell | str, ...]] = []
    for status in statuses:
        item, part = status.item, totals([status])
        parts = [_bin(model, hits, item.bin_name(key), "*".join(key)) for key in item.keys]
        summary = counted(len(parts), "bin") + (f", {len(status.holes)} not hit" if status.holes else "")
        numbers = (str(part.hit), str(part.reachable), f"{part.percent:.1f}")
        rows.append((item.unit, "*".join(item.points), *numbers, Cell(summary, parts=parts)))
    return rows


def _bin(model: CoverageModel, hits: Hits, name: str, label: str) -> tuple[str, str]:
    """Return the kind of a bin and its label with its hits."""
    count = hits.get(name, 0)
    if name in model.excluded:
        return "other", f"{label}: excluded" + (f", but hit {counted(count, 'time')}" if count else "")
    return "good" if count else "bad", f"{label}: {count}"


_SHOWN = 5
"""Surprises that are named one by one."""


def code_lines(coverage: CodeCoverage) -> Iterator[str]:
    """Yield a line per module and one for all: points hit, all points and percent; then what is left out."""
    modules = coverage.modules
    width = max([len("module"), *(len(entry.module) for entry in modules)])
    yield f"{'module':{width}}" + "".join(f"{kind:>24}" for kind in KINDS)
    for entry in (*modules, _together(modules)):
        yield f"{entry.module:{width}}" + "".join(f"{_share(entry, kind):>24}" for kind in KINDS)
    for reason, count in Counter(coverage.excluded).most_common():
        yield f"excluded: {count}, {reason}"
    for surprise in coverage.surprises[:_SHOWN]:
        yield f"excluded but reached: {surprise}"
    if len(coverage.surprises) > _SHOWN:
        yield f"excluded but reached: {len(coverage.surprises) - _SHOWN} more"
    for reason in coverage.unused:
        yield f"an exclusion fits nothing: {reason}"


def code_sections(coverage: CodeCoverage) -> Iterator[Section]:
    """Yield the coverage of all modules, and what is left out, as parts of a page."""
    modules = coverage.modules
    rows: list[tuple[Cell | str, ...]] = [
        (entry.module, *(Cell(_share(entry, kind), bar=_bar(entry, kind)) for kind in KINDS))
        for entry in (_together(modules), *modules)
    ]
    yield Section("Code coverage of the RTL", ("module", *KINDS), rows)
    counts = Counter(coverage.excluded).most_common()
    left_out: list[tuple[Cell | str, ...]] = [(str(count), reason) for reason, count in counts]
    left_out += [("reached all the same", surprise) for surprise in coverage.surprises]
    if left_out:
        yield Section("Code that need not be reached", ("points", "why"), left_out)


def _together(modules: Sequence[ModuleCoverage]) -> ModuleCoverage:
    hit: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for entry in modules:
        hit.update(entry.hit)
        total.update(entry.total)
    return ModuleCoverage("all", hit, total)


def _share(entry: ModuleCoverage, kind: str) -> str:
    hit, total = entry.hit.get(kind, 0), entry.total.get(kind, 0)
    return f"{hit}/{total} {100 * hit / total:5.1f} %" if total else "-"


def _bar(entry: ModuleCoverage, kind: str) -> list[tuple[str, float]]:
    total = entry.total.get(kind, 0)
    percent = 100 * entry.hit.get(kind, 0) / total if total else 0.0
    return [("good", percent), ("other", 100 - percent)] if total else []
