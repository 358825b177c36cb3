"""Results as a table on the terminal, as JUnit XML, as JSON, and as an HTML page."""

from __future__ import annotations

import html
import json
import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from pathlib import Path

from tb.regress.jobs import JobResult
from tb.verdict import Outcome

_COLUMNS = ("result", "scenario.seed", "layers", "bytes judged", "worst margin", "cycles", "CRC", "seconds")


def progress_line(result: JobResult, done: int, total: int) -> str:
    """Return the line printed when a job ends."""
    cycles = result.facts.get("cycles", 0)
    return f"[{done:{len(str(total))}}/{total}] {result.outcome.value:7} {result.job.identity}  {cycles} cycles"


def table(results: Sequence[JobResult]) -> str:
    """Return one aligned line per result under a heading."""
    return aligned([_COLUMNS, *(_row(result) for result in results)], left=2)


def aligned(rows: Sequence[Sequence[str]], left: int) -> str:
    """Return rows as lines of columns; the first ``left`` columns are flush left, the others flush right."""
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [row[n].ljust(widths[n]) if n < left else row[n].rjust(widths[n]) for n in range(len(row))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


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


def write_junit(results: Sequence[JobResult], path: Path, suite: str) -> None:
    """Write JUnit XML; refused jobs are skipped tests with their reason."""
    counts = {outcome: sum(r.outcome is outcome for r in results) for outcome in Outcome}
    root = ElementTree.Element(
        "testsuite",
        name=suite,
        tests=str(len(results)),
        failures=str(counts[Outcome.FAILED]),
        skipped=str(counts[Outcome.REFUSED]),
    )
    for result in results:
        case = ElementTree.SubElement(
            root, "testcase", classname=suite, name=result.job.identity, time=f"{result.seconds:.3f}"
        )
        text = "\n".join(result.complaints)
        if result.outcome is Outcome.FAILED:
            ElementTree.SubElement(case, "failure", message=text.split("\n", 1)[0]).text = text
        elif result.outcome is Outcome.REFUSED:
            ElementTree.SubElement(case, "skipped", message=text)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def write_json(results: Sequence[JobResult], path: Path) -> None:
    """Write all results as a list of objects."""
    data = [
        {
            "scenario": result.job.name,
            "seed": result.job.seed,
            "outcome": result.outcome.value,
            "complaints": list(result.complaints),
            "seconds": round(result.seconds, 3),
            "rerun": result.job.rerun,
            **{key: value for key, value in result.facts.items() if key not in ("outcome", "complaints", "refused")},
        }
        for result in results
    ]
    path.write_text(json.dumps(data, indent=1), encoding="utf-8")


def write_html(results: Sequence[JobResult], path: Path, title: str) -> None:
    """Write a page with the table, and every complaint below it."""
    rows = "\n".join(
        f'<tr class="{r.outcome.value}">' + "".join(f"<td>{html.escape(cell)}</td>" for cell in _row(r)) + "</tr>"
        for r in results
    )
    heading = "".join(f"<th>{column}</th>" for column in _COLUMNS)
    details = html.escape(complaints(results)) or "Nothing to complain about."
    path.write_text(
        f"""<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title><style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; color: #222 }}
table {{ border-collapse: collapse; width: 100% }}
th, td {{ text-align: right; padding: .25rem .7rem; border-bottom: 1px solid #ddd; font-variant-numeric: tabular-nums }}
th:nth-child(-n+2), td:nth-child(-n+2) {{ text-align: left }}
.passed td:first-child {{ color: #16703c }} .failed td:first-child {{ color: #b3261e; font-weight: bold }}
.refused td:first-child {{ color: #8a6100 }} pre {{ background: #f6f6f4; padding: 1rem; white-space: pre-wrap }}
</style></head><body>
<h1>{html.escape(title)}</h1><p>{summary(results)}</p>
<table><thead><tr>{heading}</tr></thead><tbody>
{rows}
</tbody></table>
<pre>{details}</pre>
</body></html>
""",
        encoding="utf-8",
    )


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
