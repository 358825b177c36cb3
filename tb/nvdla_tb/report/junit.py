"""JUnit XML, which CI systems read.

``nvdla_tb.report.page`` decides what stands in it, and writes it as ``junit.xml`` in the folder of a run.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from nvdla_tb.markup import printable
from nvdla_tb.run.space import write_whole


class Case(NamedTuple):
    """A test case: ``kind`` is ``failure``, ``error`` or ``skipped``, empty when it passed; ``text`` tells the rest."""

    name: str
    kind: str = ""
    type: str = ""
    text: str = ""
    message: str = ""
    """The first line of ``text`` when it is empty."""
    seconds: float | None = None


def write_suite(title: str, properties: Iterable[tuple[str, str]], cases: Sequence[Case], path: Path) -> None:
    """Write a suite; whatever its texts hold, the file is valid."""
    title = printable(title)
    root = ElementTree.Element("testsuite", name=title, tests=str(len(cases)))
    for count, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        root.set(count, str(sum(case.kind == kind for case in cases)))
    inside = ElementTree.SubElement(root, "properties")
    for name, value in properties:
        ElementTree.SubElement(inside, "property", name=name, value=printable(value))
    for case in cases:
        about = ElementTree.SubElement(root, "testcase", classname=title, name=printable(case.name))
        if case.seconds is not None:
            about.set("time", f"{case.seconds:.3f}")
        if case.kind:
            ended = ElementTree.SubElement(about, case.kind)
            if case.type:
                ended.set("type", case.type)
            ended.set("message", printable(case.message or case.text.split("\n", 1)[0]))
            ended.text = printable(case.text) or None
    write_whole(path, ElementTree.tostring(root, encoding="utf-8", xml_declaration=True))
