"""Covered and uncovered parts of a model: per item, per unit, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from nvdla_tb.coverage.model import CoverageModel, Item

Hits = Mapping[str, int]
"""How often bins were hit, by their names; bins that were not may be absent."""

_MOST_LABELS = 12


@dataclass(frozen=True)
class ItemStatus:
    """One point or cross.

    Attributes:
        item: the point or cross.
        reachable: bins that the configuration can reach.
        hit: how many of them were.
        holes: labels of the others.
        surprises: names of bins that were hit although the model says that nothing can.
    """

    item: Item
    reachable: int
    hit: int
    holes: tuple[str, ...]
    surprises: tuple[str, ...]


@dataclass(frozen=True)
class Totals:
    """Several points and crosses together."""

    points: int
    crosses: int
    reachable: int
    hit: int
    excluded: int

    @property
    def percent(self) -> float:
        """Share of reachable bins that were hit; 0 when there is none, as nothing was shown then."""
        return 100.0 * self.hit / self.reachable if self.reachable else 0.0


def item_status(model: CoverageModel, hits: Hits, items: Iterable[Item] | None = None) -> list[ItemStatus]:
    """Return how far each item is; ``items`` None means all of the model."""
    return [_status(model, hits, item) for item in (model.items if items is None else items)]


def totals(statuses: Sequence[ItemStatus]) -> Totals:
    """Add items up."""
    return Totals(
        points=sum(not status.item.is_cross for status in statuses),
        crosses=sum(status.item.is_cross for status in statuses),
        reachable=sum(status.reachable for status in statuses),
        hit=sum(status.hit for status in statuses),
        excluded=sum(len(status.item.keys) - status.reachable for status in statuses),
    )


def text(model: CoverageModel, hits: Hits, *, excluded: bool = False) -> str:
    """Return a table per unit, all holes, hits against the model, and with ``excluded`` the reasons."""
    statuses = item_status(model, hits)
    lines = [*table(model, statuses), "", *holes(statuses), *open_reasons(model, hits)]
    lines += [f"excluded but hit: {name}" for status in statuses for name in status.surprises]
    if excluded:
        lines += ["", *exclusions(model)]
    return "\n".join(lines)


def table(model: CoverageModel, statuses: Sequence[ItemStatus]) -> Iterator[str]:
    """Yield a line per unit, and one for all."""
    yield f"{'unit':8}{'points':>8}{'crosses':>9}{'bins':>7}{'hit':>7}{'%':>7}{'excluded':>10}"
    for unit in (*model.bins, "all"):
        part = totals([status for status in statuses if unit in (status.item.unit, "all")])
        yield (
            f"{unit:8}{part.points:8}{part.crosses:9}{part.reachable:7}{part.hit:7}{part.percent:7.1f}{part.excluded:10}"
        )


def holes(statuses: Sequence[ItemStatus]) -> Iterator[str]:
    """Yield a line per item that lacks bins, the labels of a few of them in it."""
    for status in statuses:
        if status.holes:
            some = ", ".join(status.holes[:_MOST_LABELS])
            more = f", and {len(status.holes) - _MOST_LABELS} more" if len(status.holes) > _MOST_LABELS else ""
            yield f"hole: {status.item.name} {status.hit}/{status.reachable}: {some}{more}"


def exclusions(model: CoverageModel) -> Iterator[str]:
    """Yield why bins were excluded, and how many, a line per reason and item."""
    yield from _counted("excluded", model.excluded)


def open_reasons(model: CoverageModel, hits: Hits) -> Iterator[str]:
    """Yield why bins are not reached yet, as far as the model knows, a line per reason and item."""
    yield from _counted("open", {name: reason for name, reason in model.open.items() if not hits.get(name)})


def _counted(word: str, reasons: Mapping[str, str]) -> Iterator[str]:
    counts = Counter((reason, name.partition("=")[0]) for name, reason in reasons.items())
    for (reason, item), count in counts.items():
        yield f"{word}: {count} of {item}: {reason}"


def _status(model: CoverageModel, hits: Hits, item: Item) -> ItemStatus:
    names = {key: item.bin_name(key) for key in item.keys}
    reachable = {key: name for key, name in names.items() if name not in model.excluded}
    missing = tuple("*".join(key) for key, name in reachable.items() if not hits.get(name))
    surprises = tuple(name for key, name in names.items() if key not in reachable and hits.get(name))
    return ItemStatus(item, len(reachable), len(reachable) - len(missing), missing, surprises)
