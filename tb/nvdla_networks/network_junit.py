"""The outcome of a network for CI systems: JUnit XML with a test for what was judged, and one for the accuracy."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from nvdla_networks.network_lines import accuracy_lines
from nvdla_networks.network_report import Outcome, Report
from nvdla_tb.markup import printable
from nvdla_tb.run.dut import about
from nvdla_tb.run.space import write_whole


def write_junit(report: Report, path: Path) -> None:
    """Write the report; what was not compared or not measured is a skipped test."""
    wrong = [] if report.accuracy is None else [f"accuracy: {text}" for text in report.accuracy.problems]
    judged = [problem for problem in report.problems if problem not in wrong]
    computed = report.outcome is Outcome.COMPUTED or (bool(wrong) and not judged and not report.compared)
    lines = "\n".join(accuracy_lines(report))
    cases = (
        ("bytes", judged, Outcome.COMPUTED.value if computed else None),
        ("accuracy", wrong, lines if report.accuracy is None or not report.accuracy.least else None),
    )
    root = ElementTree.Element("testsuite", name=printable(report.name), tests=str(len(cases)))
    root.set("failures", str(sum(bool(problems) for _, problems, _ in cases)))
    root.set("skipped", str(sum(not problems and skipped is not None for _, problems, skipped in cases)))
    properties = ElementTree.SubElement(root, "properties")
    device = f"{report.config}, reference model" if report.result is None else about(report.result.dut)
    for name, value in (("device", device), ("outcome", report.outcome.value), ("accuracy", lines)):
        ElementTree.SubElement(properties, "property", name=name, value=printable(value))
    for name, problems, skipped in cases:
        _case(root, report.name, name, problems, skipped)
    data = BytesIO()
    ElementTree.ElementTree(root).write(data, encoding="utf-8", xml_declaration=True)
    write_whole(path, data.getvalue().decode("utf-8"))


def _case(root: ElementTree.Element, network: str, name: str, problems: Sequence[str], skipped: str | None) -> None:
    case = ElementTree.SubElement(root, "testcase", classname=printable(network), name=name)
    if problems:
        text = printable("\n".join(problems))
        failure = ElementTree.SubElement(case, "failure", type=name, message=text.split("\n", 1)[0])
        failure.text = text
    elif skipped is not None:
        ElementTree.SubElement(case, "skipped", message=printable(skipped))
