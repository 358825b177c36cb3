"""Results that belong to no run of a store: a table on the terminal, JSON, page and JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from nvdla_tb.judge.text import margin_line, why_not_passed
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.report import failures, page, performance
from nvdla_tb.report.page import Head
from nvdla_tb.report.summary import aligned, has_failed
from nvdla_tb.run.space import write_whole
from nvdla_tb.run.systems import system_of
from nvdla_tb.stimulus.result import Result

_COLUMNS = ("result", "scenario.seed", "layers", "bytes judged", "worst margin", "cycles", "CRC", "seconds")


def outcome(ending: Ending) -> str:
    """Return ``passed``, ``golden equal``, ``refused``, ``not played``, or ``failed`` for what failed."""
    return "failed" if has_failed(ending) else ending.value


def table(results: Sequence[Result]) -> str:
    """Return one aligned line per result under a heading."""
    return aligned([_COLUMNS, *(_row(result) for result in results)], left=2)


def write_json(results: Sequence[Result], path: Path) -> None:
    """Write all results as a list of objects."""
    data = msgspec.json.encode([_plain(result) for result in results])
    write_whole(path, msgspec.json.format(data, indent=1).decode())


def _plain(result: Result) -> dict[str, Any]:
    verdict, why = result.verdict, result.explained
    counts: dict[str, Any] = msgspec.structs.asdict(verdict)
    for name in ("findings", "margins", "refused", "self_checking"):
        del counts[name]
    remark = system_of(result.dut.config).note(result.dut.rtl)
    return {
        "scenario": result.test,
        "seed": result.seed,
        "outcome": outcome(result.ending),
        "ending": result.ending,
        "complaints": why_not_passed(verdict),
        "seconds": round(result.seconds, 3),
        "rerun": result.rerun,
        **({} if result.after is None else {"after": result.after}),
        **counts,
        **({"note": remark} if remark else {}),
        "findings": verdict.findings,
        "margins": [margin_line(margin) for margin in verdict.margins],
        "worst_margin": verdict.worst_margin,
        **({} if result.performance is None else msgspec.structs.asdict(result.performance)),
        "performance": [layer.to_dict() for layer in performance.layers_of(result.layers)],
        **({} if why is None else {"explained": why}),
    }


_PAGES = (page.PAGE, page.JUNIT, failures.FILE_NAME)


def write_pages(head: Head, results: Sequence[Result], folder: Path) -> None:
    """Write what browsers and CI systems read, as regressions do, and what failed at full length.

    These are ``index.html``, ``junit.xml`` and ``failures.txt`` in a folder, each of which is replaced at once.
    """
    page.write_results(head, results, folder / page.PAGE)
    page.write_junit(head, results, folder / page.JUNIT)
    failures.write(results, folder)


def remove_pages(folder: Path) -> None:
    """Remove the files of ``write_pages``, and what a run that was killed has left of them."""
    for name in _PAGES:
        (folder / name).unlink(missing_ok=True)
    page.remove_task_pages(folder)
    remove_unfinished(folder)


def remove_unfinished(folder: Path) -> None:
    """Remove what a run that was killed while it wrote its pages has left of them."""
    for name in _PAGES:
        for path in folder.glob(f".{name}.*"):
            path.unlink(missing_ok=True)


def _row(result: Result) -> tuple[str, ...]:
    checked = result.verdict.crc_passed + result.verdict.crc_failed
    crc = f"{result.verdict.crc_passed}/{checked}" if checked else "-"
    return outcome(result.ending), result.identity, *page.counts(result), crc, f"{result.seconds:.1f}"
