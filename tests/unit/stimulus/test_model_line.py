"""Interrupts of the model alone."""

from __future__ import annotations

from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.stimulus.model_line import ModelLine
from tests.unit.nvdla.samples import SMALL

REGISTERS = RegisterMap.of(SMALL)
STATUS, MASK, SET = (REGISTERS.register("GLB", f"S_INTR_{name}") for name in ("STATUS", "MASK", "SET"))


def test_an_interrupt_that_a_layer_owes_is_seen_once() -> None:
    line = ModelLine()
    assert not line.can_rise
    line.owe([("SDP", 0)])
    assert line.can_rise
    assert line.read(1, 1)
    assert (line.status, line.can_rise) == (1, True)
    line.write(STATUS, 0xFFFFFFFF)
    assert (line.status, line.can_rise) == (0, False)
    assert not line.read(1, 1)


def test_clearing_leaves_what_was_not_seen_yet() -> None:
    line = ModelLine()
    line.owe([("SDP", 0), ("CACC", 0)])
    assert line.read(1, 1)
    line.write(STATUS, 0xFFFFFFFF)
    assert line.can_rise
    assert line.read(1 << 20, 1 << 20)


def test_two_layers_of_a_group_owe_two_interrupts() -> None:
    line = ModelLine()
    for _ in range(2):
        line.owe([("SDP", 0)])
    for _ in range(2):
        assert line.read(1, 1)
        line.write(STATUS, 1)
    assert not line.can_rise


def test_a_bit_that_was_seen_reads_as_0_only_after_it_is_cleared() -> None:
    line = ModelLine()
    line.owe([("SDP", 0)])
    assert line.read(1, 0)
    assert line.read(1, 1)
    assert not line.read(1, 0)


def test_the_line_stays_low_for_what_is_masked_and_rises_for_what_software_sets() -> None:
    line = ModelLine()
    line.write(MASK, 1)
    line.write(SET, 1)
    assert (line.status, line.can_rise) == (1, False)
    line.write(MASK, 0)
    assert line.can_rise
