"""What looks at registers, interrupts, CSB and the memory interface finds what is wrong with each of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nvdla_tb.judge.csb_rules import CsbRule
from nvdla_tb.judge.detail import AnyDetail, CsbViolation, UnfairTurns, WrongLine, WrongOutstanding, WrongRegister
from nvdla_tb.judge.verdict import Ending, Verdict
from nvdla_tb.run.compile.build import Built
from tests.sim.conftest import planned, played

RULES = {"csb_posted_answered": CsbRule.WRITE_UNASKED, "csb_read_answered_twice": CsbRule.READ_UNASKED}
"""By seeded bug, the rule of CSB that it breaks."""

FOUND: dict[str, tuple[str, type[AnyDetail]]] = {
    "regs_bits_joined": ("registers_distinct", WrongRegister),
    "regs_alias": ("registers_distinct", WrongRegister),
    "regs_reset_value": ("registers_reset_values", WrongRegister),
    "regs_read_only_kept": ("registers_bits_of_sdp", WrongRegister),
    "regs_enable_clears": ("registers_of_a_waiting_group", WrongRegister),
    "regs_write_while_enabled": ("registers_while_layers_run", WrongRegister),
    "csb_unmapped_answers": ("registers_unmapped", WrongRegister),
    "mcif_reads_unlimited": ("memory_interface_narrow", WrongOutstanding),
    "mcif_writes_unlimited": ("memory_interface_narrow", WrongOutstanding),
    "mcif_weights_ignored": ("memory_interface_read_turns", UnfairTurns),
    "csb_posted_answered": ("interrupts_by_software", CsbViolation),
    "csb_read_answered_twice": ("interrupts_by_software", CsbViolation),
    "csb_write_answered_as_read": ("interrupts_by_software", CsbViolation),
    "interrupt_line_late": ("interrupts_by_software", WrongLine),
    "interrupt_line_ignores_last": ("interrupts_by_software", WrongLine),
    "interrupt_mask_ignored": ("interrupts_of_layers", WrongLine),
    "interrupt_clears_neighbour": ("interrupts_by_software", WrongRegister),
    "interrupt_set_lost": ("interrupts_by_software", WrongRegister),
}
"""By seeded bug, the scenario that shows it and what it finds."""

EVERYWHERE = ("mcif_reads_unlimited", "csb_posted_answered", "csb_read_answered_twice", "interrupt_line_late")
"""Those that are played by coroutines, too; the others take long there and are found by the same code."""

SOUND = (
    *("memory_interface_narrow", "clocks_csb_slow", "clocks_csb_fast", "reset_while_sdp"),
    "groups_differ_conv_lines_left",
)


def judged(model: Built, folder: Path, name: str, *plusargs: str) -> Verdict:
    """Play a scenario of the plan and return the verdict."""
    return played(model, folder, planned(name, plan="nv_small_registers"), *plusargs).verdict


@pytest.mark.parametrize("bug", FOUND)
def test_a_seeded_bug_is_found_by_what_looks_there(model: Built, tmp_path: Path, bug: str) -> None:
    if not model.spec.native and bug not in EVERYWHERE:
        pytest.skip("native back end only: it takes long with coroutines")
    name, detail = FOUND[bug]
    verdict = judged(model, tmp_path, name, f"+bug={bug}")
    assert verdict.ending.is_failure
    found = [finding for finding in verdict.findings if isinstance(finding.detail, detail)]
    assert found, verdict.findings
    assert found[0].cycle is not None
    if bug in RULES:
        assert CsbViolation(RULES[bug]) in [finding.detail for finding in found]


def test_an_unknown_bug_ends_the_simulation_with_the_list_of_all(model: Built, tmp_path: Path) -> None:
    ending = judged(model, tmp_path / "run", "reset_while_sdp", "+bug=none_of_them").ending
    # Icarus ends its test as failed, Verilator itself.
    assert ending in (Ending.BENCH_ERROR, Ending.CRASH)
    log = (tmp_path / "run" / "sim.log").read_text(encoding="utf-8")
    assert "bug must be one of those below, not none_of_them" in log
    assert "  axi_wlast\n" in log


@pytest.mark.parametrize("name", SOUND)
def test_the_sound_device_passes(model: Built, tmp_path: Path, name: str) -> None:
    verdict = judged(model, tmp_path, name)
    assert (verdict.ending, verdict.findings) == (Ending.PASSED, [])
