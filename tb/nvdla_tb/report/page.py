"""Results for a browser and for CI systems, of a regression or of jobs played at once: one page, and JUnit XML."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nvdla_tb.explain.page import FILE_NAME as PAGE_FILE
from nvdla_tb.judge.text import complaints, margin_part, why_not_passed
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.markup import Cell, Section, printable, render
from nvdla_tb.report.summary import Group, counts_line, endings, groups, passes_alone, slowest
from nvdla_tb.run.dut import about
from nvdla_tb.run.regress.store import Run
from nvdla_tb.run.result import Result
from nvdla_tb.run.simulate import LOG_NAME
from nvdla_tb.writing import writing

Trend = Sequence[tuple[Run, Mapping[Ending, int], int]]
"""Runs, the oldest first, with the counts of their endings and of tasks that were not played."""

_NOT_PREDICTED = (Ending.REFUSED, Ending.GOLDEN)
_TREND_RUNS = 30
_COLUMNS = ("result:s", "task", "layers:n", "bytes judged:n", "worst margin:n", "cycles:n", "seconds:n")


def write_html(run: Run, results: Sequence[Result], trend: Trend, path: Path, sections: Sequence[Section] = ()) -> None:
    """Write the page of a run: what was tested, summary, failures by cause, trend, slowest tests, every task.

    The trend begins with the oldest run and holds this one; other sections come before the tables of tasks. Links to
    what failures left behind are relative to the folder of the page.
    """
    title = f"Run {run.id}: {run.title}"
    counts, missing = next((counts, missing) for other, counts, missing in trend if other.id == run.id)
    sections = [_trend(trend, run), *sections]
    _write(title, run.read_about(), counts_line(counts, missing), results, sections, path)


def write_results(title: str, results: Sequence[Result], path: Path) -> None:
    """Write the page of jobs that belong to no run of a store; see ``write_html``."""
    duts = dict.fromkeys(result.dut for result in results)
    _write(title, [about(dut) for dut in duts], counts_line(endings(results), 0), results, [], path)


def _write(
    title: str, tested: Sequence[str], counts: str, results: Sequence[Result], sections: Sequence[Section], path: Path
) -> None:
    text = render(
        "results.html",
        title=": ".join((title, *tested[:1])),
        heading=title,
        about=(*tested, counts),
        failures=[_failure(group, path.parent) for group in groups(results)],
        sections=[
            *sections,
            *_refused(results),
            Section("Slowest", ("task", "seconds:n"), [(r.key, f"{r.seconds:.1f}") for r in slowest(results)]),
            Section("Tasks", _COLUMNS, rows=[_row(result, path.parent) for result in results]),
        ],
    )
    # A link there would be followed.
    path.unlink(missing_ok=True)
    with writing(path):
        path.write_text(text, encoding="utf-8")


def write_junit(title: str, results: Sequence[Result], path: Path) -> None:
    """Write JUnit XML: devices as properties, refused tasks as skipped tests, endings as the types of failures."""
    failed = sum(result.ending.is_failure for result in results)
    refused = sum(result.ending in _NOT_PREDICTED for result in results)
    root = ElementTree.Element(
        "testsuite", name=printable(title), tests=str(len(results)), failures=str(failed), skipped=str(refused)
    )
    properties = ElementTree.SubElement(root, "properties")
    for dut in dict.fromkeys(result.dut for result in results):
        ElementTree.SubElement(properties, "property", name="device", value=printable(about(dut)))
    for result in results:
        names = {"classname": printable(title), "name": printable(result.key)}
        case = ElementTree.SubElement(root, "testcase", names, time=f"{result.seconds:.3f}")
        text = printable("\n".join(why_not_passed(result.verdict)))
        if result.ending.is_failure:
            failure = ElementTree.SubElement(case, "failure", type=result.ending.value, message=text.split("\n", 1)[0])
            before = "" if result.after is None else f"\n{printable(passes_alone(result.after))}"
            failure.text = f"{text}{before}\nrerun: {printable(result.rerun)}"
        elif result.ending in _NOT_PREDICTED:
            ElementTree.SubElement(case, "skipped", message=text)
    path.unlink(missing_ok=True)
    with writing(path):
        ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _failure(group: Group, base: Path) -> dict[str, Any]:
    first = group.members[0]
    explained = first.explained
    explanation = [] if explained is None else [*explained.lines, *(f"lead: {lead}" for lead in explained.leads)]
    return {
        "name": f"{group.ending.value}: {group.title}",
        "tasks": [{"name": result.identity, "link": _link(result, base)} for result in group.members],
        "checks": "; ".join(group.checks) if group.cause is not None else "",
        "text": "\n".join((*complaints(first.verdict), *explanation)),
        "alone": "" if first.after is None else passes_alone(first.after),
        "rerun": first.rerun,
    }


def _link(result: Result, base: Path) -> str:
    """Return the address of what a task left behind, its page or its log, relative to a folder; empty for nothing."""
    if result.folder is None:
        return ""
    folder = Path(result.folder)
    found = next((path for path in (folder / PAGE_FILE, folder / LOG_NAME) if path.is_file()), folder)
    return quote(os.path.relpath(found, base), errors="surrogateescape")


def _trend(trend: Trend, run: Run) -> Section:
    rows = []
    for other, counts, missing in reversed(trend[-_TREND_RUNS:]):
        passed = counts.get(Ending.PASSED, 0)
        failed = sum(count for ending, count in counts.items() if ending.is_failure)
        rest = sum(counts.get(ending, 0) for ending in _NOT_PREDICTED) + missing
        total = max(passed + failed + rest, 1)
        parts = (("good", passed), ("bad", failed), ("other", rest))
        started = datetime.fromtimestamp(other.started).strftime("%Y-%m-%d %H:%M")
        name = f"{other.id}: {other.title}" + (" (this)" if other.id == run.id else "")
        line = counts_line(counts, missing)
        rows.append((name, started, Cell("", bar=[(kind, 100 * n / total) for kind, n in parts]), line))
    return Section("Trend", ("run", "started", "share", "endings"), rows)


def _refused(results: Sequence[Result]) -> list[Section]:
    refused = [result for result in results if result.ending in _NOT_PREDICTED]
    rows = [(result.key, "\n".join(why_not_passed(result.verdict))) for result in refused]
    return [Section("Not predicted", ("task", "reason"), rows)] if rows else []


def _row(result: Result, base: Path) -> tuple[Cell | str, ...]:
    kind = "bad" if result.ending.is_failure else "good" if result.ending is Ending.PASSED else "other"
    ending, name = Cell(result.ending.value, kind), Cell(result.key, link=_link(result, base))
    return ending, name, *counts(result), f"{result.seconds:.1f}"


def counts(result: Result) -> tuple[str, ...]:
    """Return layers, judged bytes, worst margin and cycles, as far as it was simulated."""
    verdict, played = result.verdict, result.performance is not None
    layers, judged, cycles = (str(n) if played else "-" for n in (verdict.layers, verdict.judged_bytes, verdict.cycles))
    return layers, judged, margin_part(verdict.worst_margin), cycles
