"""Code coverage of the RTL in words and on pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tb.markup import Cell, Section
from tb.run.regress.code_coverage import CodeCoverage, ModuleCoverage
from tb.run.regress.code_exclusions import KINDS

_SHOWN = 5
"""Surprises that are named one by one."""


def lines(coverage: CodeCoverage) -> Iterator[str]:
    """Yield a line per module and one for all: points hit, all points and percent; then what is left out."""
    modules = coverage.modules
    width = max([len("module"), *(len(entry.module) for entry in modules)])
    yield f"{'module':{width}}" + "".join(f"{kind:>24}" for kind in KINDS)
    for entry in (*modules, _together(modules)):
        yield f"{entry.module:{width}}" + "".join(f"{_share(entry, kind):>24}" for kind in KINDS)
    for reason, count in _by_count(coverage):
        yield f"excluded: {count}, {reason}"
    for surprise in coverage.surprises[:_SHOWN]:
        yield f"excluded but reached: {surprise}"
    if len(coverage.surprises) > _SHOWN:
        yield f"excluded but reached: {len(coverage.surprises) - _SHOWN} more"
    for reason in coverage.unused:
        yield f"an exclusion fits nothing: {reason}"


def sections(coverage: CodeCoverage) -> Iterator[Section]:
    """Yield the coverage of all modules, and what is left out, as parts of a page."""
    modules = coverage.modules
    rows: list[tuple[Cell | str, ...]] = [
        (entry.module, *(Cell(_share(entry, kind), bar=_bar(entry, kind)) for kind in KINDS))
        for entry in (_together(modules), *modules)
    ]
    yield Section("Code coverage of the RTL", ("module", *KINDS), rows)
    left_out: list[tuple[Cell | str, ...]] = [(str(count), reason) for reason, count in _by_count(coverage)]
    left_out += [("reached all the same", surprise) for surprise in coverage.surprises]
    if left_out:
        yield Section("Code that need not be reached", ("points", "why"), left_out)


def _by_count(coverage: CodeCoverage) -> list[tuple[str, int]]:
    """Return why points are left out, and how many, most first."""
    return sorted(coverage.excluded.items(), key=lambda item: -item[1])


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
