"""How the tests of a run ended in earlier runs: a trend that counts the same tests, and what has changed."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from nvdla_tb.judge.verdict import Ending
from nvdla_tb.markup import Cell, Section
from nvdla_tb.report.summary import counts_line, failed, has_failed
from nvdla_tb.run.regress.store import Run

Trend = Sequence[tuple[Run, Mapping[str, Ending]]]
"""Runs, the oldest first, with the endings of their tests by key."""

_RUNS = 30


def sections(trend: Trend, run: Run, page: Path) -> list[Section]:
    """Return the trend of a run, which is one of its runs, and what has changed in it.

    Args:
        trend: runs of the same device.
        run: the run whose page it is; of the others only what it plays as well counts.
        page: that page, from which older ones are linked.
    """
    now = next((endings for other, endings in trend if other.id == run.id), {})
    rows = [_row(other, endings, now, run, page.parent) for other, endings in reversed(trend[-_RUNS:])]
    columns = ("run", "started", "same tests:n", "share", "endings")
    found = [Section("Trend", columns, [row for row in rows if row is not None])] if trend else []
    before: dict[str, tuple[Run, Ending]] = {}
    for other, endings in trend:
        if other.id < run.id:
            before |= {key: (other, ending) for key, ending in endings.items() if ending is not Ending.NOT_PLAYED}
    if not before:
        return found
    changes = [_change(key, ending, *before[key]) for key, ending in now.items() if key in before]
    rows_of_changes = sorted(change for change in changes if change is not None)
    found += [Section("Changes", ("change:s", "task", "now", "before"), rows_of_changes)] if rows_of_changes else []
    fresh = [key for key in now if key not in before]
    return [*found, *([Section("Never played before", lines=fresh)] if fresh else [])]


def _change(key: str, ending: Ending, other: Run, earlier: Ending) -> tuple[str, str, str, str] | None:
    """Return the row of a test that ended well before and fails now, or the other way round."""
    if has_failed(ending) and not has_failed(earlier):
        change = "newly failing"
    elif ending is Ending.PASSED and has_failed(earlier):
        change = "newly passing"
    else:
        return None
    return change, key, ending.value, f"{earlier.value} in run {other.id}"


def _row(
    other: Run, endings: Mapping[str, Ending], now: Mapping[str, Ending], run: Run, base: Path
) -> tuple[Cell | str, ...] | None:
    """Return the row of a run, None for one without a test of the run that the page is of."""
    same = Counter(ending for key, ending in endings.items() if key in now)
    if not same:
        return None
    wrong = failed(same)
    parts = (("good", same[Ending.PASSED]), ("bad", wrong), ("other", same.total() - same[Ending.PASSED] - wrong))
    bar = [(kind, 100 * count / same.total()) for kind, count in parts]
    started = datetime.fromtimestamp(other.started).strftime("%Y-%m-%d %H:%M")
    page = other.folder / "index.html"
    if other.id == run.id or not page.is_file():
        name = Cell(f"{other.id}: {other.title}" + (" (this)" if other.id == run.id else ""))
    else:
        name = Cell(f"{other.id}: {other.title}", link=quote(os.path.relpath(page, base), errors="surrogateescape"))
    counts = {ending: same[ending] for ending in Ending if same[ending]}
    return name, started, f"{same.total()} of {len(now)}", Cell("", bar=bar), counts_line(counts)
