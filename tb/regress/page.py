"""Results for a browser and for CI systems, of a regression or of jobs played at once: one page, and JUnit XML."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from tb.regress.markup import bar, document, escaped, printable, table
from tb.regress.record import Ending
from tb.regress.summary import Ended, counts_line, endings, groups, slowest

if TYPE_CHECKING:
    from tb.regress.store import Run

Trend = Sequence[tuple["Run", Mapping[Ending, int], int]]
"""Runs, the oldest first, with the counts of their endings and of tasks that were not played."""

_TREND_RUNS = 30
_COLUMNS = ("result", "task", "layers:n", "bytes judged:n", "worst margin:n", "cycles:n", "seconds:n")


def write_html(run: Run, ended: Sequence[Ended], trend: Trend, path: Path, sections: Sequence[str] = ()) -> None:
    """Write the page of a run: summary, failures by signature, trend, slowest tests, every task.

    Args:
        run: The run.
        ended: Its tasks that have a record.
        trend: This run and others, the oldest first.
        path: Where to write; links to what failures left behind are relative to its folder.
        sections: More HTML, which comes before the tables of tasks.
    """
    title = f"Run {run.id}: {run.title}"
    counts, missing = next((counts, missing) for other, counts, missing in trend if other.id == run.id)
    _write(title, counts_line(counts, missing), ended, [_trend(trend, run), *sections], path)


def write_results(title: str, ended: Sequence[Ended], path: Path) -> None:
    """Write the page of jobs that belong to no run of a store; see ``write_html``."""
    _write(title, counts_line(endings(ended), 0), ended, [], path)


def _write(title: str, counts: str, ended: Sequence[Ended], sections: Sequence[str], path: Path) -> None:
    body = [
        f"<h1>{escaped(title)}</h1><p>{escaped(counts)}</p>",
        _failures(ended, path.parent),
        *sections,
        _refused(ended),
        _slowest(ended),
        table("Tasks", _COLUMNS, map(_row, ended)),
    ]
    # A link there would be followed.
    path.unlink(missing_ok=True)
    path.write_text(document(title, body), encoding="utf-8")


def write_junit(title: str, ended: Sequence[Ended], path: Path) -> None:
    """Write JUnit XML; refused tasks are skipped tests with their reason, endings the types of failures."""
    failed = sum(entry.record.ending.is_failure for entry in ended)
    refused = sum(entry.record.ending is Ending.REFUSED for entry in ended)
    root = ElementTree.Element(
        "testsuite", name=printable(title), tests=str(len(ended)), failures=str(failed), skipped=str(refused)
    )
    for entry in ended:
        record = entry.record
        names = {"classname": printable(title), "name": printable(record.key)}
        case = ElementTree.SubElement(root, "testcase", names, time=f"{record.seconds:.3f}")
        text = printable("\n".join(record.complaints))
        if record.ending.is_failure:
            failure = ElementTree.SubElement(case, "failure", type=record.ending.value, message=text.split("\n", 1)[0])
            failure.text = f"{text}\nrerun: {printable(entry.task.rerun)}"
        elif record.ending is Ending.REFUSED:
            ElementTree.SubElement(case, "skipped", message=text)
    path.unlink(missing_ok=True)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _failures(ended: Sequence[Ended], base: Path) -> str:
    blocks = []
    for group in groups(ended):
        first = group.members[0]
        complaints = "\n".join((*first.record.complaints, *first.record.facts.get("explanation", ())))
        names = ", ".join(_linked(entry, base) for entry in group.members)
        blocks.append(
            f'<p><span class="bad">{escaped(group.ending.value)}</span>, {len(group.members)} times: {names}</p>'
            f"<pre>{escaped(complaints)}\n\nrerun: {escaped(first.task.rerun)}</pre>"
        )
    return "<h2>Failures by signature</h2>\n" + ("\n".join(blocks) or "<p>None.</p>")


def _linked(entry: Ended, base: Path) -> str:
    if entry.record.folder is None:
        return escaped(entry.task.identity)
    link = quote(os.path.relpath(entry.record.folder, base), errors="surrogateescape")
    return f'<a href="{escaped(link)}">{escaped(entry.task.identity)}</a>'


def _trend(trend: Trend, run: Run) -> str:
    rows = []
    for other, counts, missing in reversed(trend[-_TREND_RUNS:]):
        passed = counts.get(Ending.PASSED, 0)
        failed = sum(count for ending, count in counts.items() if ending.is_failure)
        rest = counts.get(Ending.REFUSED, 0) + missing
        total = max(passed + failed + rest, 1)
        parts = (("good", passed), ("bad", failed), ("other", rest))
        started = datetime.fromtimestamp(other.started).strftime("%Y-%m-%d %H:%M")
        name = f"{other.id}: {other.title}" + (" (this)" if other.id == run.id else "")
        line = counts_line(counts, missing)
        rows.append((escaped(name), started, bar((kind, 100 * n / total) for kind, n in parts), escaped(line)))
    return table("Trend", ("run", "started", "share", "endings"), rows)


def _slowest(ended: Sequence[Ended]) -> str:
    rows = [(escaped(entry.record.key), f"{entry.record.seconds:.1f}") for entry in slowest(ended)]
    return table("Slowest", ("task", "seconds:n"), rows)


def _refused(ended: Sequence[Ended]) -> str:
    refused = [entry for entry in ended if entry.record.ending is Ending.REFUSED]
    rows = [(escaped(entry.record.key), escaped("\n".join(entry.record.complaints))) for entry in refused]
    return table("Refused", ("task", "reason"), rows) if rows else ""


def _row(entry: Ended) -> tuple[str, ...]:
    record = entry.record
    kind = {Ending.PASSED: "good", Ending.REFUSED: "other"}.get(record.ending, "bad")
    facts = (str(record.facts.get(name, "-")) for name in ("layers", "judged_bytes"))
    margin = record.facts.get("worst_margin")
    return (
        f'<span class="{kind}">{escaped(record.ending.value)}</span>',
        escaped(record.key),
        *map(escaped, facts),
        "-" if margin is None else f"{margin:.3f}",
        escaped(str(record.facts.get("cycles", "-"))),
        f"{record.seconds:.1f}",
    )
