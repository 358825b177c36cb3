"""The page and the XML of a regression: everything is there, nothing that a test is called can break them."""

from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ElementTree
from html.parser import HTMLParser
from pathlib import Path

import pytest
from msgspec.structs import replace

from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.report import page
from nvdla_tb.report.page import Head
from nvdla_tb.run.regress.store import Run
from nvdla_tb.stimulus.result import Performance, Result
from tests.unit.run.regress.tasks import VERDICTS, explained, hang, task, wrong

HOSTILE = "<script>alert('x')</script>&\x07\""


HEAD = Head("title", "nvdla-tb run")
PERFORMANCE = Performance(1e5, 0.25, 1 << 27)


def ended(seed: int, verdict: Verdict, seconds: float = 1.0, folder: Path | None = None) -> Result:
    """Return the result of a task that was played."""
    counted = replace(verdict, cycles=42, layers=2)
    return replace(task(seed).result(counted, seconds, folder), performance=PERFORMANCE)


def entries(root: Path) -> list[Result]:
    return [
        ended(1, VERDICTS[Ending.PASSED]),
        ended(2, Verdict(findings=[wrong(3)]), folder=root / "random.2"),
        ended(3, Verdict(findings=[wrong(77), wrong(1, Check.MISSING)])),
        ended(4, Verdict(findings=[hang(HOSTILE)]), seconds=9.0),
        ended(5, Verdict(refused="no Y")),
    ]


class Collector(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str | None] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value for name, value in attrs if name in ("href", "src")]

    def handle_data(self, data: str) -> None:
        self.text += data


def written(root: Path) -> Collector:
    run = Run(2, f"random {HOSTILE}", 0.0, root)
    missing = [task(seed).result(Verdict.not_played()) for seed in (6, 7, 8)]
    results = [*entries(root), *missing]
    now = {result.key: result.ending for result in results}
    earlier = dataclasses.replace(run, id=1, title="earlier")
    trend = [(earlier, {entries(root)[0].key: Ending.PASSED}), (run, now)]
    page.write_html(run, results, trend, root / "index.html", problems=[f"not yet {HOSTILE}"])
    collector = Collector()
    collector.feed((root / "index.html").read_text(encoding="utf-8"))
    return collector


def test_the_page_shows_summary_trend_failures_and_tasks_and_hostile_names_stay_text(tmp_path: Path) -> None:
    collector = written(tmp_path)
    for shown in (
        "1 passed, 3 failed (2 mismatch, 1 hang), 1 refused, 3 not played",
        "not yet <script>alert('x')</script>",
        "1: earlier",
        "mismatch: wrong value, SDP, group 0, 2 times: random.2, random.3",
        "nvdla-tb regress random --seed 2",
        "<script>alert('x')</script>",
    ):
        assert shown in collector.text
    assert collector.text.count("random.4.nv_small.verilator") == 3, (
        "among the slowest, all, and those never played before"
    )
    assert collector.tags.count("script") == 1, "that of the page"
    assert collector.links == ["random.2", "random.2"], "of the failure and in the table of all"


def test_a_large_run_has_failures_on_its_page_and_all_tasks_on_pages_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(page, "MOST_ROWS", 4)
    monkeypatch.setattr(page, "_MOST_NAMES", 2)
    run = Run(1, "random", 0.0, tmp_path)
    failing = (2, 7, 9)
    verdicts = {seed: Verdict(findings=[wrong()]) if seed in failing else VERDICTS[Ending.PASSED] for seed in range(10)}
    results = [ended(seed, verdict) for seed, verdict in verdicts.items()]
    (tmp_path / "tasks-0009.html").touch()

    def read(name: str) -> Collector:
        collector = Collector()
        collector.feed((tmp_path / name).read_text(encoding="utf-8"))
        return collector

    page.write_html(run, results, (), tmp_path / "index.html")
    first = read("index.html")
    assert "mismatch: wrong value, SDP, group 0, 3 times: random.2, random.7 and 1 more" in first.text
    assert "4 of 10 tasks, those first that did not pass." in first.text
    table = first.text.rpartition("Tasks")[2]
    order = [int(seed) for seed in re.findall(r"random\.(\d)\.nv_small\.verilator(?! to)", table)]
    assert order[:4] == [2, 7, 9, 0]
    parts = ["tasks-0001.html", "tasks-0002.html", "tasks-0003.html"]
    assert first.links == parts
    assert sorted(path.name for path in tmp_path.glob("tasks-*")) == parts, "none of an earlier report"
    told = [read(part).text for part in parts]
    assert [text.count(f"random.{seed}.nv_small") for seed, text in zip((3, 4, 9), told, strict=True)] == [1, 1, 1]
    assert all(read(part).links == ["index.html"] for part in parts)
    page.write_html(run, results[2:6], (), tmp_path / "index.html")
    assert "mismatch: wrong value, SDP, group 0, 1 time: random.2" in read("index.html").text
    assert not list(tmp_path.glob("tasks-*")), "a small report has one page"


def test_junit_is_xml_whatever_it_holds(tmp_path: Path) -> None:
    page.write_junit(Head(HOSTILE, "run"), entries(tmp_path), tmp_path / "junit.xml")
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("5", "3", "1")
    kinds = [(str(case.get("name"))[:8], failure.get("type")) for case in root for failure in case.iter("failure")]
    assert kinds == [("random.2", "mismatch"), ("random.3", "mismatch"), ("random.4", "hang")]


@pytest.mark.parametrize("text", ["\0", "\x1b[31m", "\x0b", "\x85", "\ufffe", "\udcff", "]]>", "\U0001f600"])
def test_any_name_and_message_leave_pages_well_formed(tmp_path: Path, text: str) -> None:
    folder = tmp_path / f"a {text.replace(chr(0), '')}#1%"
    failed = ended(1, Verdict.of(Check.TEST, f"one {text} two"), folder=folder)
    hostile = replace(failed, test=f"name {text}", rerun=f"rerun {text}")
    refused = replace(hostile, verdict=Verdict(refused=f"no {text}"))
    page.write_junit(Head(f"suite {text}", f"run {text}"), [hostile, refused], tmp_path / "junit.xml")
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    shown = text if text in ("]]>", "\x85", "\U0001f600") else "\N{REPLACEMENT CHARACTER}" + text[1:]
    assert root.get("name") == f"suite {shown}"
    names = {case.get("name") for case in root.iter("testcase")}
    assert names == {f"name {shown}.1.nv_small.verilator"}
    failure, skipped = root.find("testcase/failure"), root.find("testcase/skipped")
    assert failure is not None
    assert skipped is not None
    assert (failure.get("message"), skipped.get("message")) == (f"one {shown} two", f"no {shown}")
    assert failure.text == f"one {shown} two\nrerun: rerun {shown}"
    page.write_results(HEAD, [hostile, refused], tmp_path / "index.html")
    collector = Collector()
    collector.feed((tmp_path / "index.html").read_text(encoding="utf-8"))
    assert f"one {shown} two" in collector.text
    assert f"no {shown}" in collector.text
    assert all("#" not in link and " " not in link for link in collector.links if link), collector.links


def test_what_was_not_played_and_problems_of_the_run_are_errors_in_junit(tmp_path: Path) -> None:
    head = Head("L1", "nvdla-tb regress plan --level L1", ["the RTL"], ["nothing ended", "nor began"])
    results = [ended(1, VERDICTS[Ending.PASSED]), task(2).result(Verdict.not_played())]
    page.write_junit(head, results, tmp_path / "junit.xml")
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    counts = [root.get(name) for name in ("tests", "errors", "failures", "skipped")]
    assert counts == ["3", "2", "0", "0"]
    errors = {case.get("name"): error for case in root.iter("testcase") for error in case.iter("error")}
    unplayed, whole = errors["random.2.nv_small.verilator"], errors["the run"]
    assert (unplayed.get("type"), unplayed.get("message")) == (
        "not played",
        "the run has not come to it, or was ended before",
    )
    assert str(unplayed.text).endswith("\nrerun: nvdla-tb regress random --seed 2")
    assert (whole.get("type"), whole.get("message"), whole.text) == (
        "the run",
        "nothing ended",
        "nothing ended\nnor began",
    )
    about = [(found.get("name"), found.get("value")) for found in root.iter("property")][:2]
    assert about == [("command", "nvdla-tb regress plan --level L1"), ("about", "the RTL")]


def test_what_was_not_played_is_not_green_on_a_page(tmp_path: Path) -> None:
    page.write_results(HEAD, [task(1).result(Verdict.not_played())], tmp_path / "index.html")
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "0 passed, 0 failed, 0 refused, 1 not played" in text
    assert '<span class="bad">not played</span>' in text
    assert '"good"' not in text


def test_a_folder_says_which_command_its_report_is_of(tmp_path: Path) -> None:
    assert page.command_of(tmp_path) is None
    page.write_junit(HEAD, [], tmp_path / page.JUNIT)
    assert page.command_of(tmp_path) == "nvdla-tb run"
    (tmp_path / page.JUNIT).write_text("<testsuite", encoding="utf-8")
    assert page.command_of(tmp_path) is None


def test_a_page_is_never_written_through_a_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept", encoding="utf-8")
    for name in ("index.html", "junit.xml"):
        (tmp_path / name).symlink_to(precious)
    page.write_results(HEAD, entries(tmp_path), tmp_path / "index.html")
    page.write_junit(HEAD, entries(tmp_path), tmp_path / "junit.xml")
    assert precious.read_text(encoding="utf-8") == "kept"


def test_tasks_that_were_not_simulated_have_no_counts(tmp_path: Path) -> None:
    shown = [ended(1, VERDICTS[Ending.PASSED]), task(2).result(VERDICTS[Ending.LOST])]
    page.write_results(HEAD, shown, tmp_path / "index.html")
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    rows = text.partition("<h2>Tasks</h2>")[2].split("<tr>")[2:]
    cells = [re.findall(r"<td[^>]*>(?:<span[^>]*>)?([^<]*)", row) for row in rows]
    assert cells == [
        ["passed", "random.1.nv_small.verilator", "2", "8", "-", "42", "1.0"],
        ["lost worker", "random.2.nv_small.verilator", "-", "-", "-", "-", "0.0"],
    ]


def test_the_first_of_a_group_is_explained(tmp_path: Path) -> None:
    why = explained("dst-base", why=["it is <there>"])
    page.write_results(HEAD, [replace(entries(tmp_path)[1], explained=why)], tmp_path / "index.html")
    assert "it is &lt;there&gt;" in (tmp_path / "index.html").read_text(encoding="utf-8")
