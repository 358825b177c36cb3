"""The embedded Deep Learning HDL stand-in passes what is right, and what is seeded is found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tb.dlhdl.config import DlhdlConfig
from tb.dlhdl.scenario import DlhdlEntry
from tb.judge.detail import HandshakeViolation, PortViolation
from tb.judge.finding import Check
from tb.judge.handshake_rules import HandshakeRule
from tb.judge.port_rules import RULES
from tb.judge.text import complaints
from tb.judge.verdict import Ending
from tb.judge.wrapped_rules import AXI4_RULES
from tb.places import ROOT
from tb.run.compile.build import build
from tb.run.compile.dlhdl import TOP
from tb.run.dut import Dut
from tb.run.folders import RESULTS
from tb.run.jobs import Job, run_job
from tb.run.result import Result
from tests.sim.conftest import EACH_BACK_END

CORE = DlhdlConfig.load("dlhdl_int8_4")
SIMULATORS = [pytest.param(case.values[0][0], id=case.values[0][0], marks=case.marks) for case in EACH_BACK_END]
ICARUS = SIMULATORS[1:]
CONV = {"kind": "conv", "features": "C+1", "kernel": [3, 2], "padding": [1, 1, 0, 0]}
TWO_LAYERS = {"input": ["C+1", 3, 4], "frames": 2, "layer": [CONV, {"kind": "fc", "features": 6}]}
STREAM = {**TWO_LAYERS, "mode": "stream", "frames": 4}
ROWS = {"input": ["C", 18, 17], "layer": [{"kind": "max_pool", "kernel": [1, 1]}]}


def play(simulator: str, folder: Path, data: dict[str, Any], bug: str | None = None) -> Result:
    """Return how a scenario ended on the embedded core."""
    dut = Dut(CORE.name, simulator, top=TOP)
    built = build(dut.build_spec(waves=False), ROOT / RESULTS)
    plusargs = () if bug is None else (f"+bug={bug}",)
    job = Job("it", 1, "rerun", lambda: DlhdlEntry("it", "", data).build(CORE, 1), plusargs=plusargs)
    return run_job(job, built, dut, folder / "run", 240, waves=False)


@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_stream_of_two_layers_is_right_in_every_byte(simulator: str, tmp_path: Path) -> None:
    result = play(simulator, tmp_path, STREAM)
    assert complaints(result.verdict) == []
    program = DlhdlEntry("it", "", STREAM).build(CORE, 1).program
    assert result.verdict.judged_bytes == 4 * sum(tensor.layout.nbytes for tensor in program.network.tensors)
    assert result.verdict.layers == 8


@pytest.mark.parametrize("simulator", ICARUS)
@pytest.mark.parametrize(
    ("bug", "data"),
    [
        ("bias_lost", TWO_LAYERS),
        ("padding_lane_not_zero", TWO_LAYERS),
        ("exponent_destination_ignored", TWO_LAYERS),
        ("frame_input_not_advanced", TWO_LAYERS),
    ],
)
def test_a_seeded_bug_of_data_makes_wrong_bytes(simulator: str, bug: str, data: dict[str, Any], tmp_path: Path) -> None:
    result = play(simulator, tmp_path, data, bug)
    assert result.ending is Ending.MISMATCH
    assert any(finding.check is Check.VALUE for finding in result.verdict.findings)


@pytest.mark.parametrize("simulator", ICARUS)
@pytest.mark.parametrize(
    ("bug", "rule"),
    [
        ("input_addr_not_advanced", HandshakeRule.INPUT_ADDRESS),
        ("output_addr_not_advanced", HandshakeRule.OUTPUT_ADDRESS),
        ("output_valid_early", HandshakeRule.OUTPUT_EARLY),
    ],
)
def test_a_seeded_bug_of_the_handshake_breaks_its_rule(
    simulator: str, bug: str, rule: HandshakeRule, tmp_path: Path
) -> None:
    findings = play(simulator, tmp_path, STREAM, bug).verdict.findings
    assert rule in [found.detail.rule for found in findings if isinstance(found.detail, HandshakeViolation)]


@pytest.mark.parametrize("simulator", ICARUS)
@pytest.mark.parametrize(
    ("bug", "rule"), [("read_split_4k", "araddr and arlen must not lead across a border of 4 KiB")]
)
def test_a_seeded_bug_of_a_master_breaks_a_rule_of_axi4(simulator: str, bug: str, rule: str, tmp_path: Path) -> None:
    findings = play(simulator, tmp_path, {**ROWS, "skew_bytes": 4064}, bug).verdict.findings
    broken = [found.detail.rule for found in findings if isinstance(found.detail, PortViolation)]
    assert rule in [(*RULES, *AXI4_RULES)[number] for number in broken]
