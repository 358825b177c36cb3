"""Code coverage of the RTL in words and on pages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from tb.markup import Cell, Section
from tb.run.regress.code_coverage import KINDS, ModuleCoverage


def lines(modules: Sequence[ModuleCoverage]) -> Iterator[str]:
    """Yield a line per module and one for all: points hit, all points and percent of each kind."""
    width = max([len("module"), *(len(entry.module) for entry in modules)])
    yield f"{'module':{width}}" + "".join(f"{kind:>24}" for kind in KINDS)
    for entry in (*modules, _together(modules)):
        yield f"{entry.module:{width}}" + "".join(f"{_share(entry, kind):>24}" for kind in KINDS)


def section(modules: Sequence[ModuleCoverage]) -> Section:
    """Return the coverage of all modules as a part of a page."""
    rows: list[tuple[Cell | str, ...]] = [
        (entry.module, *(Cell(_share(entry, kind), bar=_bar(entry, kind)) for kind in KINDS))
        for entry in (_together(modules), *modules)
    ]
    return Section("Code coverage of the RTL", ("module", *KINDS), rows)


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
