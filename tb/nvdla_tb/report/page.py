"""Results for a browser and for CI systems, of a regression or of jobs played at once: one page, and JUnit XML."""

from __future__ import annotations

import os
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nvdla_tb.counting import counted
from nvdla_tb.explain.page import FILE_NAME as PAGE_FILE
from nvdla_tb.judge.text import margin_part, why_not_passed
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.markup import Cell, Section, render
from nvdla_tb.report.failures import known_lines
from nvdla_tb.report.junit import Case, write_suite
from nvdla_tb.report.summary import Group, counts_line, endings, groups, passes_alone, slowest
from nvdla_tb.report.trend import Trend
from nvdla_tb.report.trend import sections as trend_sections
from nvdla_tb.run.dut import about
from nvdla_tb.run.environment import environment_of
from nvdla_tb.run.regress.store import Run
from nvdla_tb.run.simulate import LOG_NAME
from nvdla_tb.run.space import write_whole
from nvdla_tb.stimulus.result import Result

PAGE, JUNIT = "index.html", "junit.xml"
"""The files of a report, in the folder of its run."""

MOST_ROWS = 1000
"""Tasks that one page shows: a browser takes a second for some thousands."""

_PART = "tasks-"
"""Begins the names of pages of tasks."""

_MOST_NAMES = 100
"""Tasks that are named of one kind of failures, above the table that has all."""

THE_RUN = "the run"
"""The test case that has failed in JUnit when the run as a whole has a problem."""

_COMMAND = "command"


@dataclass(frozen=True)
class Head:
    """What a report is of.

    ::

        Head("nv_small", "nvdla-tb run --only 'sdp_*'", problems=("nothing was compared: no test has passed",))

    Attributes:
        title: Its name.
        command: The command that plays its tests.
        about: More lines about it.
        problems: Why the run as a whole has not passed, whatever its tests say.
    """

    title: str
    command: str
    about: Sequence[str] = ()
    problems: Sequence[str] = ()


_NOT_PREDICTED = (Ending.REFUSED, Ending.GOLDEN)
_LEGEND = (
    "Worst margin: the largest share of a published FP16 threshold that a result used; - where all results were "
    "compared bit by bit."
)
_COLUMNS = ("result:s", "task", "layers:n", "bytes judged:n", "worst margin:n", "cycles:n", "seconds:n")


def write_html(
    run: Run,
    results: Sequence[Result],
    trend: Trend,
    path: Path,
    sections: Sequence[Section] = (),
    problems: Sequence[str] = (),
    *,
    whole: bool = True,
    tasks_first: bool = False,
    proven: str | None = None,
) -> None:
    """Write the page of a run: what was tested, summary, failures by cause, trend, slowest tests, every task.

    The trend, if any, begins with the oldest run and holds this one; other sections come before the tables of tasks,
    unless ``tasks_first`` puts both behind them.
    Links to what failures left behind are relative to the folder of the page. ``problems`` are those of ``Head``, and
    ``proven`` says what the results prove, None where that is not known yet.
    Tasks that one page cannot show have pages of their own beside it, unless it is not ``whole``, as it is
    written often.
    """
    sections = [*trend_sections(trend, run, path), *sections]
    title = f"Run {run.id}: {run.title}"
    tested = [*run.read_about(), *([] if proven is None else [proven])]
    _write(title, tested, problems, results, sections, path, whole=whole, tasks_first=tasks_first)


def write_results(head: Head, results: Sequence[Result], path: Path) -> None:
    """Write the page of jobs that belong to no run of a store; see ``write_html``."""
    duts = [about(dut) for dut in dict.fromkeys(result.dut for result in results)]
    _write(head.title, [*duts, head.command, *head.about], head.problems, results, [], path)


def _write(
    title: str,
    tested: Sequence[str],
    problems: Sequence[str],
    results: Sequence[Result],
    sections: Sequence[Section],
    path: Path,
    *,
    whole: bool = True,
    tasks_first: bool = False,
) -> None:
    slow = Section("Slowest", ("task", "seconds:n"), [(r.key, f"{r.seconds:.1f}") for r in slowest(results)])
    tasks = _tasks(results, path, whole=whole)
    refused = _refused(results)
    text = render(
        "results.html",
        title=": ".join((title, *tested[:1])),
        heading=title,
        about=(*tested, counts_line(endings(results))),
        problems=problems,
        failures=[_failure(group, path.parent) for group in groups(results)],
        sections=[
            *([*refused, tasks, slow, *sections] if tasks_first else [*sections, *refused, slow, tasks]),
            Section("Environment", lines=_environment(results)),
        ],
    )
    write_whole(path, text)


def _tasks(results: Sequence[Result], path: Path, *, whole: bool) -> Section:
    """Return the table of all tasks, or of those that did not pass and some others, with links to pages of all."""
    base = path.parent
    if len(results) <= MOST_ROWS:
        remove_task_pages(base)
        return Section("Tasks", _COLUMNS, rows=[_row(result, base) for result in results], more=_LEGEND)
    first = sorted(results, key=lambda result: result.ending is Ending.PASSED)[:MOST_ROWS]
    more = f"{len(first)} of {len(results)} tasks, those first that did not pass."
    links: list[tuple[str, str]] = []
    if whole:
        remove_task_pages(base)
        for start in range(0, len(results), MOST_ROWS):
            part = results[start : start + MOST_ROWS]
            name, title = f"{_PART}{start // MOST_ROWS + 1:04}.html", f"{part[0].key} to {part[-1].key}"
            table = Section("Tasks", _COLUMNS, [_row(result, base) for result in part], links=[("the run", path.name)])
            heading = f"Tasks {start + 1} to {start + len(part)} of {len(results)}"
            write_whole(base / name, render("sections.html", title=heading, heading=heading, sections=[table]))
            links.append((title, name))
        more += " All of them, in their order:"
    return Section("Tasks", _COLUMNS, [_row(result, base) for result in first], more=f"{_LEGEND} {more}", links=links)


def remove_task_pages(folder: Path) -> None:
    """Remove the pages that hold the table of tasks of a large run."""
    for path in folder.glob(f"{_PART}*.html"):
        path.unlink(missing_ok=True)


def write_junit(head: Head, results: Sequence[Result], path: Path) -> None:
    """Write JUnit XML: the command and devices as properties, endings as the types of failures.

    Tasks that were not predicted are skipped tests. Those that were not played are errors, and so are the problems of
    the run as a whole, in a test case of their own.
    """
    properties = [(_COMMAND, head.command), *(("about", line) for line in head.about)]
    properties += [("device", about(dut)) for dut in dict.fromkeys(result.dut for result in results)]
    properties += [("environment", line) for line in _environment(results)]
    cases = [_case(result) for result in results]
    if head.problems:
        cases.append(Case(THE_RUN, "error", THE_RUN, "\n".join(head.problems), seconds=0.0))
    write_suite(head.title, properties, cases, path)


def _case(result: Result) -> Case:
    """Return the test case of a result."""
    known, reasons = known_lines(result), "\n".join(why_not_passed(result.verdict))
    before = [] if result.after is None else [passes_alone(result.after)]
    passed = Case(result.key, seconds=result.seconds)
    if result.ending in _NOT_PREDICTED:
        return passed._replace(kind="skipped", message=reasons)
    if not result.ending.is_failure:
        return passed
    kind = "error" if result.ending is Ending.NOT_PLAYED else "failure"
    text = "\n".join([*known, *before, f"rerun: {result.rerun}"])
    return passed._replace(kind=kind, type=result.ending.value, message=reasons.split("\n", 1)[0], text=text)


def command_of(folder: Path) -> str | None:
    """Return the command that the report in a folder is of, None when there is no report that says so."""
    try:
        found = ElementTree.parse(folder / JUNIT).getroot().find(f"properties/property[@name='{_COMMAND}']")
    except (OSError, ElementTree.ParseError):
        return None
    return None if found is None else found.get("value")


def _failure(group: Group, base: Path) -> dict[str, Any]:
    first = group.members[0]
    return {
        "name": f"{group.ending.value}: {group.title}",
        "tasks": [{"name": result.identity, "link": _link(result, base)} for result in group.members[:_MOST_NAMES]],
        "times": len(group.members),
        "played": counted(len(group.members), "time"),
        "others": max(0, len(group.members) - _MOST_NAMES),
        "checks": "; ".join(group.checks) if group.cause is not None else "",
        "text": "\n".join(known_lines(first)),
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


def _environment(results: Sequence[Result]) -> list[str]:
    return environment_of(frozenset(result.dut.simulator for result in results))


def _refused(results: Sequence[Result]) -> list[Section]:
    refused = [result for result in results if result.ending in _NOT_PREDICTED]
    rows = [(result.key, "\n".join(why_not_passed(result.verdict))) for result in refused]
    shown = f"{MOST_ROWS} of {len(rows)} tasks" if len(rows) > MOST_ROWS else ""
    return [Section("Not predicted", ("task", "reason"), rows[:MOST_ROWS], more=shown)] if rows else []


def _row(result: Result, base: Path) -> tuple[Cell | str, ...]:
    kind = "bad" if result.ending.is_failure else "good" if result.ending is Ending.PASSED else "other"
    ending, name = Cell(result.ending.value, kind), Cell(result.key, link=_link(result, base))
    return ending, name, *counts(result), f"{result.seconds:.1f}"


def counts(result: Result) -> tuple[str, ...]:
    """Return layers, judged bytes, worst margin and cycles, as far as it was simulated."""
    verdict = result.verdict
    # A test in Python may have several benches, and says no speed.
    played = result.performance is not None or result.ending is Ending.PASSED or verdict.judged_bytes > 0
    layers, judged, cycles = (str(n) if played else "-" for n in (verdict.layers, verdict.judged_bytes, verdict.cycles))
    return layers, judged, margin_part(verdict.worst_margin), cycles
