"""Results of jobs that belong to no run of a store: a table on the terminal, JSON, page and JUnit XML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tb.regress import page, performance
from tb.regress.columns import aligned
from tb.regress.jobs import JobResult
from tb.regress.record import record_of
from tb.regress.summary import Ended
from tb.verdict import Outcome

_COLUMNS = ("result", "scenario.seed", "layers", "bytes judged", "worst margin", "cycles", "CRC", "seconds")


def progress_line(result: JobResult, done: int, total: int) -> str:
    """Return the line printed when a job ends."""
    cycles = result.facts.get("cycles", 0)
    return f"[{done:{len(str(total))}}/{total}] {result.outcome.value:7} {result.job.identity}  {cycles} cycles"


def table(results: Sequence[JobResult]) -> str:
    """Return one aligned line per result under a heading."""
    return aligned([_COLUMNS, *(_row(result) for result in results)], left=2)


def complaints(results: Sequence[JobResult]) -> str:
    """Return why each job that did not pass did not, with the command that repeats it."""
    blocks = []
    for result in results:
        if result.outcome is Outcome.PASSED:
            continue
        lines = [f"{result.outcome.value}: {result.job.identity}"]
        lines += [f"  {line}" for complaint in result.complaints for line in complaint.splitlines()]
        if result.outcome is Outcome.FAILED:
            explanation = result.facts.get("explanation", [])
            lines += [f"  {line}" for line in explanation]
            lines += [f"  page: {result.work_dir}/failure.html"] if explanation else []
            lines += [f"  log: {result.work_dir}/sim.log"] if result.work_dir else []
            lines.append(f"  rerun: {result.job.rerun}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def summary(results: Sequence[JobResult]) -> str:
    """Return ``N passed, N failed, N refused``."""
    counts = {outcome: sum(r.outcome is outcome for r in results) for outcome in Outcome}
    return ", ".join(f"{count} {outcome.value}" for outcome, count in counts.items())


def exit_code(results: Sequence[JobResult]) -> int:
    """Return 0 when something passed and nothing failed, else 1: a run that compared nothing has failed."""
    outcomes = [result.outcome for result in results]
    return 0 if Outcome.PASSED in outcomes and Outcome.FAILED not in outcomes else 1


def write_json(results: Sequence[JobResult], path: Path) -> None:
    """Write all results as a list of objects."""
    path.write_text(json.dumps([plain(result) for result in results], indent=1), encoding="utf-8")


def plain(result: JobResult) -> dict[str, Any]:
    """Return a result as plain data, for files."""
    told = ("outcome", "complaints", "refused", "layer_facts")
    return {
        "scenario": result.job.name,
        "seed": result.job.seed,
        "outcome": result.outcome.value,
        "complaints": list(result.complaints),
        "seconds": round(result.seconds, 3),
        "rerun": result.job.rerun,
        **{key: value for key, value in result.facts.items() if key not in told},
        "performance": [layer.to_dict() for layer in performance.layers_of(result.facts)],
    }


def write_pages(results: Sequence[JobResult], folder: Path, suite: str, title: str) -> None:
    """Write what browsers and CI systems read, as regressions do: ``index.html`` and ``junit.xml`` in a folder."""
    ended = [Ended(result.job, record_of(result.job.identity, result)) for result in results]
    page.write_results(title, ended, folder / "index.html")
    page.write_junit(suite, ended, folder / "junit.xml")


def _row(result: JobResult) -> tuple[str, ...]:
    facts = result.facts
    checked = facts.get("crc_passed", 0) + facts.get("crc_failed", 0)
    return (
        result.outcome.value,
        result.job.identity,
        str(facts.get("layers", "-")),
        str(facts.get("judged_bytes", "-")),
        _margin(facts.get("worst_margin")),
        str(facts.get("cycles", "-")),
        f"{facts['crc_passed']}/{checked}" if checked else "-",
        f"{result.seconds:.1f}",
    )


def _margin(worst: float | None) -> str:
    """Return the largest part of a published threshold that was used; "-" where none applied."""
    return "-" if worst is None else f"{worst:.3f}"
