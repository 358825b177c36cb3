"""Results that belong to no run of a store: a table on the terminal, JSON, page and JUnit XML."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from nvdla_tb.judge.text import margin_line, why_not_passed
from nvdla_tb.judge.verdict import Ending
from nvdla_tb.report import failures, page, performance
from nvdla_tb.report.summary import aligned, golden_part
from nvdla_tb.run.result import Result
from nvdla_tb.run.space import write_whole
from nvdla_tb.run.systems import note

_COLUMNS = ("result", "scenario.seed", "layers", "bytes judged", "worst margin", "cycles", "CRC", "seconds")


def outcome(ending: Ending) -> str:
    """Return ``passed``, ``golden equal``, ``refused``, or ``failed`` for whatever somebody has to look at."""
    return "failed" if ending.is_failure else ending.value


def table(results: Sequence[Result]) -> str:
    """Return one aligned line per result under a heading."""
    return aligned([_COLUMNS, *(_row(result) for result in results)], left=2)


def summary(results: Sequence[Result]) -> str:
    """Return ``N passed, N failed, N refused``, and how many are equal to golden results that nothing predicts."""
    outcomes = [outcome(result.ending) for result in results]
    golden = outcomes.count(Ending.GOLDEN.value)
    parts = [f"{outcomes.count(name)} {name}" for name in ("passed", "failed", "refused")]
    return ", ".join([*parts, *golden_part(golden)])


def write_json(results: Sequence[Result], path: Path) -> None:
    """Write all results as a list of objects."""
    data = msgspec.json.encode([_plain(result) for result in results])
    write_whole(path, msgspec.json.format(data, indent=1).decode())


def _plain(result: Result) -> dict[str, Any]:
    verdict, why = result.verdict, result.explained
    counts: dict[str, Any] = msgspec.structs.asdict(verdict)
    for name in ("findings", "margins", "refused", "self_checking"):
        del counts[name]
    remark = note(result.dut.config, result.dut.rtl)
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
        **({} if why is None else {"explanation": why.lines, "causes": why.causes, "equal": why.equal}),
    }


def write_pages(results: Sequence[Result], folder: Path, title: str) -> None:
    """Write what browsers and CI systems read, as regressions do, and what failed at full length.

    These are ``index.html``, ``junit.xml`` and ``failures.txt`` in a folder.
    """
    page.write_results(title, results, folder / "index.html")
    page.write_junit(title, results, folder / "junit.xml")
    failures.write(results, folder)


def _row(result: Result) -> tuple[str, ...]:
    checked = result.verdict.crc_passed + result.verdict.crc_failed
    crc = f"{result.verdict.crc_passed}/{checked}" if checked else "-"
    return outcome(result.ending), result.identity, *page.counts(result), crc, f"{result.seconds:.1f}"
