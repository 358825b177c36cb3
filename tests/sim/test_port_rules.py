"""Every rule of the memory ports and of interrupts is shown a device that breaks it."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from models.config import HwConfig
from tb.generate.plan import PlanEntry
from tb.launch.build import Built
from tb.regress.jobs import Job, run_job
from tb.sim.port_rules import RULES
from tb.verdict import Outcome

CONFIG = HwConfig.load("nv_small")
LAYER = {"engine": "SDP", "shape": [16, 5, 8], "x1": {"alu": "sum", "alu_operand": "element"}}
SETTINGS = {"hang_cycles": 3000, "port": {"latency_cycles": 5, "ready_stall": 0.5}}
SCENARIO = PlanEntry("it", "", "nv_small", {"settings": SETTINGS, "layer": [LAYER]}).build(CONFIG, 1)
BROKEN = {
    "axi_arvalid_dropped": RULES[0],
    "axi_read_address_unstable": RULES[1],
    "axi_awvalid_dropped": RULES[2],
    "axi_write_address_unstable": RULES[3],
    "axi_wvalid_dropped": RULES[4],
    "axi_write_data_unstable": RULES[5],
    "axi_wlast": RULES[6],
}


def complaints(built: Built, folder: Path, bug: str | None) -> tuple[Outcome, tuple[str, ...]]:
    job = Job("it", 1, "rerun", lambda: SCENARIO)
    if bug is not None:
        job = replace(job, plusargs=(f"+bug={bug}",))
    result = run_job(job, built, "nv_small", folder, 200, waves=False)
    return result.outcome, result.complaints


def test_the_sound_device_breaks_no_rule(built: Built, tmp_path: Path) -> None:
    assert complaints(built, tmp_path, None) == (Outcome.PASSED, ())


@pytest.mark.parametrize("bug", BROKEN)
def test_a_broken_rule_of_the_memory_port_is_reported(built: Built, tmp_path: Path, bug: str) -> None:
    outcome, said = complaints(built, tmp_path, bug)
    assert outcome is Outcome.FAILED
    wanted = re.compile(rf"protocol: MC: {re.escape(BROKEN[bug])} \(broken at cycle \d+\)")
    assert any(wanted.fullmatch(line) for line in said), said


@pytest.mark.parametrize(("bug", "event"), [("interrupt_wrong_group", "SDP_1"), ("interrupt_wrong_unit", "PDP_0")])
def test_an_interrupt_that_no_layer_owes_is_reported(built: Built, tmp_path: Path, bug: str, event: str) -> None:
    outcome, said = complaints(built, tmp_path, bug)
    assert outcome is Outcome.FAILED
    wanted = re.compile(rf"protocol: interrupt {event} must be that of a layer that was started \(cycle \d+\)")
    assert any(wanted.fullmatch(line) for line in said), said
