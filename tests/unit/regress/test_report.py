"""Reports: table, summary, exit code, JUnit, JSON and HTML of the same results."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tb.judge.verdict import Outcome
from tb.program.ops import Program
from tb.regress import report
from tb.regress.jobs import Job, JobResult
from tb.scenario import Scenario

EMPTY: Program = ()
FACTS = {"layers": 1, "judged_bytes": 8, "cycles": 290, "crc_passed": 1, "crc_failed": 1, "worst_margin": 0.25}


def result(name: str, outcome: Outcome, *complaints: str, **facts: float) -> JobResult:
    job = Job(name, 3, f"python -m tb run --only {name}", lambda: Scenario(name, "nv_small", EMPTY, 3))
    return JobResult(job, outcome, complaints, 1.25, Path("runs") / name, facts)


PASSED = result("good", Outcome.PASSED, **FACTS)
FAILED = result("bad", Outcome.FAILED, "wrong value: <1> elements", "hang: a\n  b")
REFUSED = result("other", Outcome.REFUSED, "no Y")


def test_the_summary_counts_every_outcome() -> None:
    assert report.summary([PASSED, FAILED, REFUSED, PASSED]) == "2 passed, 1 failed, 1 refused"


def test_the_table_aligns_its_columns() -> None:
    assert report.table([PASSED, REFUSED]).splitlines() == [
        "result   scenario.seed  layers  bytes judged  worst margin  cycles  CRC  seconds",
        "passed   good.3              1             8         0.250     290  1/2      1.2",
        "refused  other.3             -             -             -       -    -      1.2",
    ]


def test_complaints_show_the_log_and_the_command_that_reruns_just_it() -> None:
    assert report.complaints([PASSED, FAILED, REFUSED]) == (
        "failed: bad.3\n"
        "  wrong value: <1> elements\n"
        "  hang: a\n"
        "    b\n"
        "  log: runs/bad/sim.log\n"
        "  rerun: python -m tb run --only bad\n"
        "\n"
        "refused: other.3\n"
        "  no Y"
    )


def test_a_run_fails_when_something_failed_or_nothing_passed() -> None:
    assert report.exit_code([PASSED, REFUSED]) == 0
    assert report.exit_code([PASSED, FAILED]) == 1
    assert report.exit_code([REFUSED]) == 1
    assert report.exit_code([]) == 1


def test_junit_has_failures_and_skips(tmp_path: Path) -> None:
    report.write_pages([PASSED, FAILED, REFUSED], tmp_path, "plan", "plan <x>")
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("3", "1", "1")
    failure = root.find("testcase[@name='bad.3']/failure")
    assert failure is not None
    assert failure.get("message") == "wrong value: <1> elements"
    assert root.find("testcase[@name='other.3']/skipped") is not None


def test_json_carries_the_facts(tmp_path: Path) -> None:
    report.write_json([PASSED], tmp_path / "r.json")
    (entry,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (entry["scenario"], entry["outcome"], entry["judged_bytes"]) == ("good", "passed", 8)


def test_the_page_shows_what_the_terminal_does_and_escapes_it(tmp_path: Path) -> None:
    report.write_pages([PASSED, FAILED, REFUSED], tmp_path, "plan", "plan <x>")
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "1 passed, 1 failed (1 hang), 1 refused" in text
    for shown in ("&lt;1&gt; elements", "plan &lt;x&gt;", "rerun: python -m tb run --only bad", "no Y", ">0.250<"):
        assert shown in text
    assert 'href="' in text, "a failure links to its folder"
