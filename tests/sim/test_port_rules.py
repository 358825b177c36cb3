"""Every rule of the memory ports and of interrupts is shown a device that breaks it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import AnyDetail, EarlyInterrupt, Hang, PortViolation, UnexpectedInterrupt, Unmatched
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.port_rules import PortRule
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.run.compile.build import build
from nvdla_tb.run.compile.spec import BuildSpec, Built
from nvdla_tb.stimulus.generate.plan import PlanEntry
from nvdla_tb.stimulus.scenario import Scenario
from tests.sim.conftest import InSimulation, coroutines_of, needs_icarus, played

CONFIG = HwConfig.load("nv_small")
LAYER = {"engine": "SDP", "shape": [16, 5, 8], "x1": {"alu": "sum", "alu_operand": "element"}}
SETTINGS = {"hang_cycles": 3000, "port": {"latency_cycles": 5, "ready_stall": 0.5}}
SCENARIO = PlanEntry("it", "", "nv_small", {"settings": SETTINGS, "layer": [LAYER]}).build(CONFIG, 1)
BROKEN = (
    "axi_arvalid_dropped",
    "axi_read_address_unstable",
    "axi_awvalid_dropped",
    "axi_write_address_unstable",
    "axi_wvalid_dropped",
    "axi_write_data_unstable",
    "axi_wlast",
)
"""Bugs that break a rule of the master, in the order of the rules."""


def judged(model: Built, folder: Path, bug: str | None, scenario: Scenario = SCENARIO) -> Verdict:
    """Play a scenario on a device with a bug and return the verdict."""
    return played(model, folder, scenario, *([] if bug is None else [f"+bug={bug}"])).verdict


def details(verdict: Verdict, check: Check) -> list[AnyDetail]:
    """Return what is wrong by one check."""
    return [finding.detail for finding in verdict.findings if finding.check is check]


def test_the_sound_device_breaks_no_rule(model: Built, tmp_path: Path) -> None:
    verdict = judged(model, tmp_path, None)
    assert (verdict.ending, verdict.findings) == (Ending.PASSED, [])


@pytest.mark.parametrize(("rule", "bug"), list(enumerate(BROKEN)), ids=BROKEN)
def test_a_broken_rule_of_the_memory_port_is_reported(model: Built, tmp_path: Path, rule: int, bug: str) -> None:
    verdict = judged(model, tmp_path, bug)
    assert verdict.ending.is_failure
    (finding,) = (found for found in verdict.findings if found.detail == PortViolation(Ram.MC, rule))
    assert finding.check is Check.PROTOCOL
    assert finding.cycle is not None


def test_beats_without_address_are_reported(model: Built, tmp_path: Path) -> None:
    verdict = judged(model, tmp_path, "axi_awlen")
    assert verdict.ending.is_failure
    hangs = [detail for detail in details(verdict, Check.HANG) if isinstance(detail, Hang)]
    halves = [*details(verdict, Check.PROTOCOL), *(part for hang in hangs for part in hang.unmatched)]
    assert any(isinstance(part, Unmatched) and part.ram is Ram.MC and part.addresses + part.beats for part in halves)


def test_an_interrupt_before_the_last_write_is_reported(model: Built, tmp_path: Path) -> None:
    verdict = judged(model, tmp_path, "sdp_interrupt_at_start")
    assert verdict.ending is Ending.MISMATCH
    assert [found.layer for found in verdict.findings if found.check is Check.LATE] == [LayerId(0, "SDP", 0)]


LATE_ANSWERS = {"latency_cycles": 5, "write_latency_cycles": 300}
LUT = {"entries": [-200, 200], "le": {"start": 0, "exponent": 2}, "lo": {"start": 0, "select": 8}}
ENGINES = (
    {"engine": "SDP", "shape": [16, 5, 8]},
    {"engine": "PDP", "shape": [8, 6, 12], "method": "max", "kernel": [2, 2], "stride": [1, 1]},
    {"engine": "CDP", "shape": [16, 4, 9], "local_size": 5, "lut": LUT},
    {"engine": "CONV", "shape": [16, 6, 6], "kernels": 8, "kernel": [3, 3], "truncate": 6},
)


def late(*layers: dict[str, object], jitter_cycles: int = 0) -> Scenario:
    """Return a scenario in which writes are answered late."""
    port = {**LATE_ANSWERS, "jitter_cycles": jitter_cycles, "reorder": bool(jitter_cycles)}
    described = {"settings": {"port": port}, "order": "back_to_back", "layer": list(layers)}
    return PlanEntry("it", "", "nv_small", described).build(CONFIG, 1)


def test_interrupts_of_the_sound_device_wait_for_late_answers(model: Built, tmp_path: Path) -> None:
    verdict = judged(model, tmp_path, None, late(*ENGINES, jitter_cycles=900))
    assert (verdict.ending, verdict.findings) == (Ending.PASSED, [])


def test_an_interrupt_before_the_answers_is_reported(model: Built, tmp_path: Path) -> None:
    verdict = judged(model, tmp_path, "cdp_interrupt_before_answers", late(ENGINES[2]))
    assert verdict.ending is Ending.PROTOCOL
    (finding,) = verdict.findings
    assert (finding.check, finding.layer) == (Check.UNANSWERED, LayerId(0, "CDP", 0))
    assert isinstance(finding.detail, EarlyInterrupt)
    assert finding.cycle is not None
    assert finding.detail.written < finding.cycle < finding.detail.written + 300


def test_an_interrupt_at_the_answer_to_another_unit_is_reported(model: Built, tmp_path: Path) -> None:
    verdict = judged(model, tmp_path, "axi_write_answer_of_any_id", late(*ENGINES[:3], jitter_cycles=900))
    assert verdict.ending is Ending.PROTOCOL
    assert {finding.check for finding in verdict.findings} == {Check.UNANSWERED}


@pytest.mark.parametrize(
    ("bug", "rule"), [("axi_read_id", PortRule.READ_CLIENT), ("axi_write_id", PortRule.WRITE_CLIENT)]
)
def test_an_id_of_no_client_is_reported_and_ends_in_a_hang(model: Built, tmp_path: Path, bug: str, rule: int) -> None:
    verdict = judged(model, tmp_path, bug)
    assert PortViolation(Ram.MC, rule) in details(verdict, Check.PROTOCOL)
    (hang,) = details(verdict, Check.HANG)
    assert isinstance(hang, Hang)
    assert hang.quiet_cycles == 3000


@pytest.mark.parametrize(("bug", "event"), [("interrupt_wrong_group", "SDP_1"), ("interrupt_wrong_unit", "PDP_0")])
def test_an_interrupt_that_no_layer_owes_is_reported(model: Built, tmp_path: Path, bug: str, event: str) -> None:
    verdict = judged(model, tmp_path, bug)
    assert verdict.ending.is_failure
    assert UnexpectedInterrupt(event) in details(verdict, Check.INTERRUPT)


@pytest.mark.parametrize("name", coroutines_of("tests.sim.answers"))
def test_a_slave_that_breaks_a_rule_is_reported(model: Built, in_simulation: InSimulation, name: str) -> None:
    if model.spec.native:
        pytest.skip("coroutine back end only: the compiled slave cannot be tampered with")
    in_simulation(model, "tests.sim.answers", name)


@needs_icarus
def test_an_unknown_payload_is_reported(in_simulation: InSimulation) -> None:
    # Verilator has no X.
    in_simulation(build(BuildSpec(CONFIG, "icarus")), "tests.sim.four_state", "an_unknown_payload_is_reported")
