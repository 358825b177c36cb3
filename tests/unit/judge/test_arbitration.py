"""Turns at the memory port are held against the weights of the memory interface."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.judge.arbitration import ArbitrationRule
from nvdla_tb.judge.detail import UnfairTurns
from nvdla_tb.judge.finding import Check
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.registers import RegisterMap

REGISTERS = RegisterMap.of(HwConfig.load("nv_small"))
READS, WRITES = (REGISTERS.parse(f"MCIF.CFG_{kind}_WEIGHT_0") for kind in ("RD", "WR"))


def ids(*turns: tuple[int, int]) -> np.ndarray:
    """Return the ids of requests, of (id, length) turns."""
    return np.concatenate([np.full(length, client) for client, length in turns])


def unfair(rule: ArbitrationRule) -> list[UnfairTurns]:
    """Return what is found at the end."""
    found = list(rule.finish(1000))
    assert {(finding.check, finding.cycle) for finding in found} <= {(Check.MEMORY, 1000)}
    return [finding.detail for finding in found if isinstance(finding.detail, UnfairTurns)]


@pytest.mark.parametrize("reading", [True, False])
def test_turns_as_long_as_the_weights_pass(reading: bool) -> None:
    rule = ArbitrationRule(REGISTERS, *(((1, 2), ()) if reading else ((), (1, 2))))
    rule.write(READS if reading else WRITES, 0x00_03_02_00, None)
    rule.see(Ram.MC, ids((1, 90), *[(2, 3), (1, 2)] * 12, (2, 70)), reading=reading)
    assert unfair(rule) == []


def test_turns_of_another_length_are_found() -> None:
    rule = ArbitrationRule(REGISTERS, (1, 2))
    rule.write(READS, 0x00_03_02_00, None)
    rule.see(Ram.MC, ids(*[(2, 3), (1, 4)] * 12), reading=True)
    assert unfair(rule) == [UnfairTurns(Ram.MC, True, 1, 2, 4, 10)]


def test_one_turn_in_ten_may_differ_and_more_may_not() -> None:
    rule = ArbitrationRule(REGISTERS, (1, 2))
    late = [(2, 1), (1, 2)]
    rule.write(READS, 0x00_03_02_00, None)
    rule.see(Ram.MC, ids((1, 1), (2, 3), *late, *[(2, 3), (1, 2)] * 10), reading=True)
    assert unfair(rule) == []
    rule.see(Ram.MC, ids(*late * 2, *[(2, 3), (1, 2)] * 3), reading=True)
    assert [found.axi_id for found in unfair(rule)] == [2]


def test_a_client_that_has_no_turn_is_found() -> None:
    rule = ArbitrationRule(REGISTERS, (1, 2))
    rule.see(Ram.MC, ids((1, 50)), reading=True)
    assert [(found.axi_id, found.got, found.turns) for found in unfair(rule)] == [(1, 0, 0), (2, 0, 0)]


def test_requests_under_earlier_weights_do_not_count() -> None:
    rule = ArbitrationRule(REGISTERS, (1, 2))
    rule.see(Ram.MC, ids(*[(2, 9), (1, 9)] * 12), reading=True)
    rule.write(READS, 0x00_01_04_00, None)
    rule.see(Ram.MC, ids(*[(2, 1), (1, 4)] * 12), reading=True)
    assert unfair(rule) == []
    rule.reset()
    rule.see(Ram.MC, ids(*[(2, 1), (1, 1)] * 12), reading=True)
    assert unfair(rule) == [], "the weights after a reset are 1"


def test_clients_behind_a_wrapper_are_known_by_the_low_bits_of_ids_or_not_judged() -> None:
    rule = ArbitrationRule(REGISTERS, (1, 2), wrapped=True)
    rule.write(READS, 0x00_03_02_00, None)
    rule.see(Ram.MC, ids(*[(0x202, 3), (0x201, 4)] * 12), reading=True)
    assert unfair(rule) == [UnfairTurns(Ram.MC, True, 1, 2, 4, 10)]
    rule.reset()
    rule.see(Ram.MC, ids(*[(0x20, 9), (0x10, 9)] * 12), reading=True)
    assert unfair(rule) == []


def test_nothing_is_judged_that_no_scenario_names() -> None:
    rule = ArbitrationRule(REGISTERS)
    rule.see(Ram.MC, ids(*[(2, 9), (1, 9)] * 12), reading=True)
    assert unfair(rule) == []
