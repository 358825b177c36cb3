"""Reports: table, summary, exit code, JUnit, JSON and HTML of the same results."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from msgspec.structs import replace

from nvdla_models.layout import Element
from nvdla_tb.judge.detail import Note
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.verdict import Margin, Verdict
from nvdla_tb.report import report
from nvdla_tb.report.page import Head
from nvdla_tb.stimulus.result import Performance, Result
from tests.unit.run.regress.tasks import DUT, explained, hang, wrong

MARGIN = Margin("layer 0 (CONV, group 0)", "CC DC", "some rule", 9, 0.25, Element(1, 2, 3))
PERFORMANCE = Performance(1e5, 0.5, 1 << 27)
WRONG = (
    "wrong value: 1 element; layer 0 (SDP, group 0): first at c=0 h=0 w=0 (address 0x1000 of MC), "
    "expected 0x01, got 0x02, at cycle 30 with id 4"
)


def result(name: str, verdict: Verdict) -> Result:
    return Result(name, 3, DUT, f"nvdla-tb run --only {name}", verdict, 1.25, f"runs/{name}")


COUNTS = Verdict(layers=1, judged_bytes=8, cycles=290, crc_passed=1, crc_failed=1, margins=[MARGIN])
PASSED = replace(result("good", COUNTS), performance=PERFORMANCE)
FAILED = result("bad", Verdict(findings=[hang("SDP_0"), wrong(), Finding(Check.TEST, Note("<1> element"))]))
REFUSED = result("other", Verdict(refused="no Y"))


def test_the_table_aligns_its_columns() -> None:
    assert report.table([PASSED, REFUSED]).splitlines() == [
        "result   scenario.seed  layers  bytes judged  worst margin  cycles  CRC  seconds",
        "passed   good.3              1             8         0.250     290  1/2      1.2",
        "refused  other.3             -             -             -       -    -      1.2",
    ]


def test_a_test_in_python_has_its_counts_too() -> None:
    nothing = result("own_assertions", Verdict(self_checking=True))
    assert [line.split()[2:6] for line in report.table([result("test", COUNTS), nothing]).splitlines()[1:]] == [
        ["1", "8", "0.250", "290"],
        ["0", "0", "-", "0"],
    ]


def test_page_and_junit_tell_what_the_terminal_does(tmp_path: Path) -> None:
    report.write_pages(Head("plan <x>", "nvdla-tb run"), [PASSED, FAILED, REFUSED], tmp_path)
    root = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("3", "1", "1")
    failure = root.find("testcase[@name='bad.3.nv_small.verilator']/failure")
    assert failure is not None
    assert (failure.get("type"), failure.get("message")) == ("hang", WRONG)
    assert str(failure.text).endswith("\n<1> element\nrerun: nvdla-tb run --only bad")
    assert root.find("testcase[@name='other.3.nv_small.verilator']/skipped") is not None
    text = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert "1 passed, 1 failed (1 hang), 1 refused" in text
    for shown in ("&lt;1&gt; element", "plan &lt;x&gt;", "<pre>nvdla-tb run --only bad</pre>", "no Y", ">0.250<"):
        assert shown in text
    assert 'href="' in text, "a failure links to its folder"


def test_reports_name_the_device_and_what_a_reader_must_know_of_it(tmp_path: Path) -> None:
    core = replace(PASSED, dut=replace(DUT, config="dlhdl_single_9"))
    remark = (
        "the embedded stand-in proves the bench, not the vendor's arithmetic; "
        "the bound of single is the bench's own, as none is published"
    )
    report.write_pages(Head("plan", "nvdla-tb run"), [PASSED, core], tmp_path)
    properties = ElementTree.parse(tmp_path / "junit.xml").getroot().findall("properties/property[@name='device']")
    devices = [str(device.get("value")) for device in properties]
    assert [device.endswith(remark) for device in devices] == [False, True]
    assert devices[0].startswith("the embedded DUT, NV_nvdla, nv_small, verilator; ")
    assert remark.partition(";")[0].replace("'", "&#39;") in (tmp_path / "index.html").read_text(encoding="utf-8")
    report.write_json([PASSED, core], tmp_path / "r.json")
    first, second = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert ("note" in first, second["note"]) == (False, remark)


def test_json_carries_every_count(tmp_path: Path) -> None:
    report.write_json([PASSED], tmp_path / "r.json")
    (entry,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert entry == {
        "scenario": "good",
        "seed": 3,
        "outcome": "passed",
        "ending": "passed",
        "complaints": [],
        "seconds": 1.25,
        "rerun": "nvdla-tb run --only good",
        **dict.fromkeys(("written_bytes", "repeated_bytes", "memory_faults", "counters", "registers"), 0),
        **{"judged_bytes": 8, "layers": 1, "cycles": 290, "crc_passed": 1, "crc_failed": 1, "differing_bytes": 0},
        **{"unchecked": 0, "unpredicted": False, "golden_bytes": 0, "unmapped": 0, "first_unmapped": []},
        **{"expected": [], "expects_refusal": False, "altered": [], "before_refusal": 0},
        "findings": [],
        "margins": ["layer 0 (CONV, group 0): 9 elements by CC DC (some rule), worst 25.0 % at c=1 h=2 w=3"],
        "worst_margin": 0.25,
        "cycles_per_second": 1e5,
        "start_seconds": 0.5,
        "peak_memory_bytes": 1 << 27,
        "performance": [],
    }


def test_json_carries_findings_as_data_and_in_words(tmp_path: Path) -> None:
    why = explained("dst-base", equal=("dst-base", "dst-order"), why=["it is there"])
    failed = replace(result("bad", Verdict(findings=[wrong()])), explained=why)
    report.write_json([failed, REFUSED], tmp_path / "r.json")
    bad, refused = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert (bad["outcome"], bad["ending"], bad["complaints"]) == ("failed", "mismatch", [WRONG])
    (finding,) = bad["findings"]
    assert (finding["check"], finding["cycle"], finding["layer"]["engine"]) == ("wrong value", 30, "SDP")
    assert (finding["detail"]["type"], finding["detail"]["address"]) == ("Mismatch", 0x1000)
    (layer,) = bad["explained"]["layers"]
    assert (layer["why"], layer["causes"], layer["equal"]) == (["it is there"], ["dst-base"], ["dst-base", "dst-order"])
    assert (refused["outcome"], refused["complaints"], "explained" in refused) == ("refused", ["no Y"], False)


def test_a_margin_beyond_any_part_is_no_number_in_json(tmp_path: Path) -> None:
    margin = replace(MARGIN, worst=None)
    report.write_json([result("bad", Verdict(findings=[wrong()], margins=[margin]))], tmp_path / "r.json")
    (entry,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    assert entry["worst_margin"] is None
    assert "worst more than any part" in entry["margins"][0]
