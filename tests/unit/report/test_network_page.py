"""What a page of a network shows, and what its report says of wrong and missing bytes."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from nvdla_models.config import HwConfig
from nvdla_networks.network_page import network_page
from nvdla_networks.network_report import Agreement, LayerVerdict, Outcome, Report, report_of
from nvdla_networks.network_text import plain, stuck
from nvdla_networks.scenario import NetworkScenario, play_networks, results_of
from nvdla_tb.judge.detail import Note
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.layer_facts import LayerFacts
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.performance import Work
from nvdla_tb.stimulus.model import play_model
from nvdla_tb.stimulus.result import Dut, Result
from tests.unit.explain.test_page import Parsed
from tests.unit.networks.loadables import SHAPE, SMALL, copying

VALUES = np.arange(48, dtype=np.int8).reshape(SHAPE)
WORK = Work(0, {"SDP": 48}, {Ram.MC: 48}, {Ram.MC: 48}, 64)


def facts(index: int, **changes: Any) -> LayerFacts:
    """Return what a simulation says of one of three copies."""
    layer = LayerFacts(
        index,
        f"layer {index} (SDP, group {index % 2})",
        "SDP",
        index % 2,
        judged_bytes=48,
        wrong_bytes=0,
        missing_bytes=0,
        worst_margin=None,
        enabled=100 * index + 10,
        begun=100 * index + 20,
        ended=100 * index + 80,
        work=WORK,
        moved=None,
        counters={},
    )
    return msgspec.structs.replace(layer, **changes)


def report(*layers: LayerFacts, got: Any = VALUES, complaints: tuple[str, ...] = (), name: str = "copies") -> Report:
    playing: NetworkScenario = play_networks("copies", [copying(3).place()], [[VALUES]])
    played = play_model(playing.scenario, SMALL)
    findings = [Finding(Check.TEST, Note(complaint)) for complaint in complaints]
    verdict = Verdict(judged_bytes=48, cycles=400, findings=findings)
    result = Result("copies", 0, Dut("nv_small", "verilator"), "rerun", verdict, layers=list(layers))
    expected = results_of(played, playing)
    return report_of(playing, ["ramp"], played, result, expected, None if got is None else [(got,)], [])


def page(what: Report) -> str:
    return network_page(what, HwConfig.load("nv_small"), [])


def test_each_layer_is_a_box_a_row_and_a_bar() -> None:
    text = page(report(facts(0), facts(1), facts(2)))
    assert len(re.findall(r'<rect class="box good"', text)) == 3
    assert len(re.findall(r'<path class="flow"', text)) == 2
    assert len(re.findall(r'<rect class="runs"', text)) == 3
    assert len(re.findall(r'<rect class="waits"', text)) == 3
    assert re.findall(r'<text x="0" y="\d+">(SDP \d)</text>', text) == ["SDP 0", "SDP 1"]
    assert 'copies: <span class="good">passed</span>' in text
    assert "roofline" not in text.split("</style>")[1]


def test_convolutions_are_points_under_the_roof() -> None:
    work = msgspec.structs.replace(WORK, macs=48 * 64, bounds={"MAC": 48})
    text = page(report(facts(0, work=work), facts(1), facts(2)))
    (point,) = re.findall(r'<circle class="point" cx="([\d.]+)" cy="([\d.]+)"', text)
    roof = [float(n) for n in re.findall(r'<path class="roof" d="M [\d.]+ [\d.]+ L [\d.]+ ([\d.]+) H', text)]
    assert float(point[1]) >= roof[0]
    assert "32 a byte, 51.2 a cycle" in text


def test_wrong_missing_and_unfinished_layers_are_told_apart() -> None:
    found = report(
        facts(0),
        facts(1, wrong_bytes=3, missing_bytes=2, judged_bytes=46),
        facts(2, missing_bytes=48, judged_bytes=0, ended=None),
        complaints=("wrong value",),
    )
    verdicts = [line.verdict for line in found.layers]
    assert verdicts == [LayerVerdict.EQUAL, LayerVerdict.WRONG, LayerVerdict.UNFINISHED]
    assert found.first_wrong is not None
    assert (found.first_wrong.number, found.first_wrong.wrong_bytes) == (1, 5)
    assert not found.passed
    text = page(found)
    assert "First wrong layer: 1 (sdp1), 5 bytes" in text
    assert 'class="runs bad"' in text
    assert report(facts(0)).layers[2].verdict is LayerVerdict.NOT_RUN


def test_of_a_hang_each_layer_says_what_it_waits_for() -> None:
    found = report(facts(0, ended=None, missing_bytes=48, judged_bytes=0), complaints=("hang",))
    assert stuck(found) == [
        "layer 1 (sdp1) waits for the end of 0 (sdp0)",
        "layer 2 (sdp2) waits for the end of 1 (sdp1)",
    ]
    assert stuck(report(facts(0), facts(1), facts(2))) == []


def test_a_layer_within_its_threshold_lets_results_differ() -> None:
    other = VALUES.copy()
    other[7, 1, 2] += 1
    layers = (facts(0, worst_margin=0.5), facts(1), facts(2))
    tolerated = report(*layers, got=other)
    assert tolerated.layers[0].verdict is LayerVerdict.WITHIN
    assert tolerated.passed
    exact = report(facts(0), facts(1), facts(2), got=other)
    assert not exact.passed
    assert exact.problems == ("ramp: RTL and model: bytes differ, class equal (47 of 48 elements equal)",)


def test_another_class_is_said_to_be_another() -> None:
    other = VALUES.copy()
    other[0, 0, 0] = 127
    (comparison,) = report(facts(0), facts(1), facts(2), got=other).runs[0].comparisons
    assert comparison.agreement is Agreement.DIFFERENT


def test_no_name_breaks_out_of_the_page() -> None:
    found = replace(report(facts(0), complaints=("<script>alert(1)</script>",)), name="<b>&")
    text = page(found)
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text
    assert "<title>&lt;b&gt;&amp;</title>" in text


def test_a_page_is_complete_and_every_tag_is_closed() -> None:
    parsed = Parsed(page(report(facts(0), facts(1), facts(2))))
    assert (parsed.open, parsed.loaded) == ([], [])


def test_the_report_as_data_has_layers_runs_and_performance() -> None:
    data = plain(report(facts(0), facts(1), facts(2)))
    assert [layer["verdict"] for layer in data["layers"]] == ["equal"] * 3
    assert [layer["cycles"] for layer in data["performance"]] == [60] * 3
    assert data["runs"][0]["comparisons"][0]["agreement"] == "same bits"
    assert (data["scenario"], data["cycles"], data["outcome"]) == ("copies", 400, "passed")


def test_what_a_simulation_left_out_fails_though_nothing_was_wrong() -> None:
    left = report(facts(0), facts(1, judged_bytes=0))
    assert left.outcome is Outcome.FAILED
    assert left.problems == ("layer 1 (sdp1): NOT FINISHED", "layer 2 (sdp2): not run")
    whole = (facts(0), facts(1), facts(2))
    assert report(*whole).outcome is Outcome.PASSED
    assert report(*whole, got=None).problems == ("the device has left no results",)
