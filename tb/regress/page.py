"""A regression's results for a browser and for CI systems: one self-contained page, and JUnit XML."""

from __future__ import annotations

import html
import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from tb.regress.record import Ending
from tb.regress.store import Run
from tb.regress.summary import Ended, counts_line, groups, slowest

Trend = Sequence[tuple[Run, Mapping[Ending, int], int]]
"""Runs, the oldest first, with the counts of their endings and of tasks that were not played."""

_TREND_RUNS = 30
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; color: #222 }
h2 { margin-top: 2rem; font-size: 1.1rem } table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .25rem .7rem; border-bottom: 1px solid #ddd; vertical-align: top }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums }
.good { color: #16703c } .bad { color: #b3261e; font-weight: 600 } .other { color: #8a6100 }
pre { background: #f6f6f4; padding: .7rem; white-space: pre-wrap; overflow-wrap: anywhere; margin: .3rem 0 }
code { overflow-wrap: anywhere } .bar { display: flex; height: .8rem; width: 16rem; background: #eee }
.bar span { display: block } .bar .good { background: #3a9a5f } .bar .bad { background: #c6473e }
.bar .other { background: #d8a93a }
"""


def write_html(run: Run, ended: Sequence[Ended], trend: Trend, path: Path) -> None:
    """Write the page of a run: summary, trend, failures by signature, slowest tests, every task.

    Args:
        run: The run.
        ended: Its tasks that have a record.
        trend: This run and others, the oldest first.
        path: Where to write; links to what failures left behind are relative to its folder.
    """
    title = f"Run {run.id}: {run.title}"
    counts, missing = next((counts, missing) for other, counts, missing in trend if other.id == run.id)
    body = [
        f"<h1>{_text(title)}</h1><p>{_text(counts_line(counts, missing))}</p>",
        _failures(ended, path.parent),
        _trend(trend, run),
        _slowest(ended),
        _table("Tasks", ("result", "task", "layers:n", "bytes judged:n", "cycles:n", "seconds:n"), map(_row, ended)),
    ]
    path.write_text(
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{_text(title)}</title>'
        f"<style>{_STYLE}</style></head><body>\n" + "\n".join(body) + "\n</body></html>\n",
        encoding="utf-8",
    )


def write_junit(run: Run, ended: Sequence[Ended], path: Path) -> None:
    """Write JUnit XML; refused tasks are skipped tests with their reason, endings the types of failures."""
    failed = sum(entry.record.ending.is_failure for entry in ended)
    refused = sum(entry.record.ending is Ending.REFUSED for entry in ended)
    root = ElementTree.Element(
        "testsuite", name=run.title, tests=str(len(ended)), failures=str(failed), skipped=str(refused)
    )
    for entry in ended:
        record = entry.record
        case = ElementTree.SubElement(
            root, "testcase", classname=run.title, name=record.key, time=f"{record.seconds:.3f}"
        )
        text = _printable("\n".join(record.complaints))
        if record.ending.is_failure:
            failure = ElementTree.SubElement(case, "failure", type=record.ending.value, message=text.split("\n", 1)[0])
            failure.text = f"{text}\nrerun: {entry.task.rerun}"
        elif record.ending is Ending.REFUSED:
            ElementTree.SubElement(case, "skipped", message=text)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _failures(ended: Sequence[Ended], base: Path) -> str:
    blocks = []
    for group in groups(ended):
        first = group.members[0]
        complaints = "\n".join(first.record.complaints)
        names = ", ".join(_linked(entry, base) for entry in group.members)
        blocks.append(
            f'<p><span class="bad">{_text(group.ending.value)}</span>, {len(group.members)} times: {names}</p>'
            f"<pre>{_text(complaints)}\n\nrerun: {_text(first.task.rerun)}</pre>"
        )
    return "<h2>Failures by signature</h2>\n" + ("\n".join(blocks) or "<p>None.</p>")


def _linked(entry: Ended, base: Path) -> str:
    if entry.record.folder is None:
        return _text(entry.task.identity)
    return f'<a href="{_text(os.path.relpath(entry.record.folder, base))}">{_text(entry.task.identity)}</a>'


def _trend(trend: Trend, run: Run) -> str:
    rows = []
    for other, counts, missing in reversed(trend[-_TREND_RUNS:]):
        passed = counts.get(Ending.PASSED, 0)
        failed = sum(count for ending, count in counts.items() if ending.is_failure)
        rest = counts.get(Ending.REFUSED, 0) + missing
        total = max(passed + failed + rest, 1)
        parts = (("good", passed), ("bad", failed), ("other", rest))
        bar = "".join(f'<span class="{name}" style="width:{100 * n / total:.2f}%"></span>' for name, n in parts)
        started = datetime.fromtimestamp(other.started).strftime("%Y-%m-%d %H:%M")
        name = f"{other.id}: {other.title}" + (" (this)" if other.id == run.id else "")
        line = counts_line(counts, missing)
        rows.append((_text(name), started, f'<div class="bar">{bar}</div>', _text(line)))
    return _table("Trend", ("run", "started", "share", "endings"), rows)


def _slowest(ended: Sequence[Ended]) -> str:
    rows = [(_text(entry.record.key), f"{entry.record.seconds:.1f}") for entry in slowest(ended)]
    return _table("Slowest", ("task", "seconds:n"), rows)


def _row(entry: Ended) -> tuple[str, ...]:
    record = entry.record
    kind = {Ending.PASSED: "good", Ending.REFUSED: "other"}.get(record.ending, "bad")
    facts = (str(record.facts.get(name, "-")) for name in ("layers", "judged_bytes", "cycles"))
    return (
        f'<span class="{kind}">{_text(record.ending.value)}</span>',
        _text(record.key),
        *map(_text, facts),
        f"{record.seconds:.1f}",
    )


def _table(title: str, columns: Sequence[str], rows: Sequence[tuple[str, ...]] | map[tuple[str, ...]]) -> str:
    """Return a table of cells that are HTML already; a column that ends with ``:n`` holds numbers."""
    names = [column.removesuffix(":n") for column in columns]
    classes = [' class="n"' if column.endswith(":n") else "" for column in columns]
    head = "".join(f"<th{kind}>{name}</th>" for name, kind in zip(names, classes, strict=True))
    lines = [
        "<tr>" + "".join(f"<td{kind}>{cell}</td>" for cell, kind in zip(row, classes, strict=True)) + "</tr>"
        for row in rows
    ]
    return f"<h2>{title}</h2>\n<table><thead><tr>{head}</tr></thead><tbody>\n" + "\n".join(lines) + "\n</tbody></table>"


def _text(value: str) -> str:
    return html.escape(value)


def _printable(text: str) -> str:
    """Return text without the control characters that XML cannot hold."""
    return "".join(char if char >= " " or char in "\t\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
