"""The outcome of a network for CI systems: JUnit XML with a test for what was judged, and one for the accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from nvdla_networks.network_lines import accuracy_lines
from nvdla_networks.network_report import Outcome, Report
from nvdla_tb.report.junit import Case, write_suite
from nvdla_tb.run.dut import about


def write_junit(report: Report, path: Path) -> None:
    """Write the report; what was not compared or not measured is a skipped test."""
    wrong = [] if report.accuracy is None else [f"accuracy: {text}" for text in report.accuracy.problems]
    judged = [problem for problem in report.problems if problem not in wrong]
    computed = report.outcome is Outcome.COMPUTED or (bool(wrong) and not judged and not report.compared)
    lines = "\n".join(accuracy_lines(report))
    device = f"{report.config}, reference model" if report.result is None else about(report.result.dut)
    properties = (("device", device), ("outcome", report.outcome.value), ("accuracy", lines))
    cases = (
        _case("bytes", judged, Outcome.COMPUTED.value if computed else None),
        _case("accuracy", wrong, lines if report.accuracy is None or not report.accuracy.least else None),
    )
    write_suite(report.name, properties, cases, path)


def _case(name: str, problems: Sequence[str], skipped: str | None) -> Case:
    if problems:
        return Case(name, "failure", name, "\n".join(problems))
    return Case(name) if skipped is None else Case(name, "skipped", message=skipped)
