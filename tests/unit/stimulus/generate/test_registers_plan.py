"""Programs of register accesses: what they reach, and that a register file which follows the map passes them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla import configrom
from nvdla_tb.nvdla.program.ops import Poll, RegRead, RegWrite
from nvdla_tb.nvdla.registers import RegisterError, RegisterMap
from nvdla_tb.paths import PLANS
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.plan import PlanEntry, load_plan
from nvdla_tb.stimulus.generate.registers import _KINDS, kept, register_program
from nvdla_tb.stimulus.trace import read, write
from tests.unit.nvdla.samples import SMALL
from tests.unit.stimulus.generate.building import refused

ENTRIES = {entry.name: entry for entry in load_plan(PLANS / "nv_small_registers.toml")}


def program(kind: str, config: HwConfig, *units: str) -> tuple[RegWrite | RegRead | Poll, ...]:
    """Return a program of accesses."""
    ops = register_program(kind, config, np.random.default_rng(1), units)
    assert all(isinstance(op, RegWrite | RegRead | Poll) for op in ops)
    return ops  # type: ignore[return-value]


@pytest.mark.parametrize("config", ["nv_small", "nv_full"])
def test_every_readable_register_is_read_after_reset_in_both_groups(config: str) -> None:
    hardware = HwConfig.load(config)
    registers = RegisterMap.of(hardware)
    reads = Counter(op.register for op in program("reset", hardware) if isinstance(op, RegRead))
    unsteady = {"S_LUT_ACCESS_DATA", "S_CBUF_FLUSH_STATUS", "S_INTR_SET"}
    expected = {r.full_name: 1 + r.is_grouped for r in registers if r.name not in unsteady}
    assert dict(reads) == expected


def test_the_configrom_is_expected_as_the_configuration_makes_it() -> None:
    reads = {op.register: op.expected for op in program("reset", SMALL) if isinstance(op, RegRead)}
    assert reads["CFGROM.CFGROM_HW_VERSION"] == configrom.encode(SMALL)[0]


def test_a_one_and_a_zero_walk_over_every_bit_that_can_be_written() -> None:
    ops = program("bits", SMALL, "SDP")
    register = RegisterMap.of(SMALL).parse("SDP.D_CVT_OFFSET")
    words = [op.value for op in ops if isinstance(op, RegWrite) and op.register == register.full_name]
    ones = [word for word in words if word.bit_count() == 1]
    zeros = [word for word in words if word.bit_count() == 31]
    assert sorted(ones) == sorted(2 * [1 << bit for bit in range(32)]), "in both groups"
    assert len(zeros) == 64
    assert {op.posted for op in ops if isinstance(op, RegWrite)} == {False, True}


def test_what_cannot_be_written_is_written_and_stays() -> None:
    ops = program("bits", SMALL, "CACC")
    at = next(n for n, op in enumerate(ops) if op.register == "CACC.D_OUT_SATURATION")
    assert ops[at] == RegWrite("CACC.D_OUT_SATURATION", 0xFFFF_FFFF, posted=ops[at].posted)  # type: ignore[union-attr]
    assert ops[at + 1] == RegRead("CACC.D_OUT_SATURATION", 0)


def test_every_kept_register_of_both_groups_has_a_value_of_its_own() -> None:
    ops = program("distinct", SMALL)
    registers = RegisterMap.of(SMALL)
    reads = Counter(op.register for op in ops if isinstance(op, RegRead))
    for unit in registers.units:
        for register in kept(registers, unit):
            if unit != "CFGROM":
                assert reads[register.full_name] == 2 * (1 + register.is_grouped)
    wide = [op.value for op in ops if isinstance(op, RegWrite) and "POINTER" not in op.register]
    assert len(set(wide)) == len(wide)


def test_no_program_enables_a_layer_that_is_next() -> None:
    for kind in _KINDS:
        producer: dict[str, int] = {}
        for op in program(kind, SMALL):
            unit, _, name = op.register.partition(".")
            if isinstance(op, RegWrite) and name == "S_POINTER":
                producer[unit] = op.value & 1
            if isinstance(op, RegWrite) and name == "D_OP_ENABLE" and op.value & 1:
                assert kind == "pending"
                assert producer[unit] == 1


def test_unmapped_addresses_read_0_and_survive_a_trace(tmp_path: Path) -> None:
    scenario = ENTRIES["registers_unmapped"].build(SMALL, 3)
    registers = RegisterMap.of(SMALL)
    free = [op for op in scenario.ops if isinstance(op, RegRead) and op.register.startswith("0x")]
    assert len(free) > 1000
    assert {op.expected for op in free} == {0}
    assert all(registers.at(int(op.register, 16)) is None for op in free)
    assert scenario.settings.unmapped_accesses == "count"
    write(scenario, tmp_path / "trace")
    assert read(tmp_path / "trace", SMALL) == scenario


def test_an_address_with_a_register_must_be_spelt_by_name() -> None:
    registers = RegisterMap.of(SMALL)
    with pytest.raises(RegisterError, match=r"^address 0x1004 must be spelt GLB\.S_INTR_MASK$"):
        registers.parse("0x1004")
    with pytest.raises(RegisterError, match=r"^address must be a multiple of 4 below 0x40000, not 0x9f01$"):
        registers.parse("0x9f01")
    assert registers.address(registers.parse("0x9f00")) == 0x9F00


def test_a_unit_that_the_configuration_lacks_is_refused() -> None:
    with pytest.raises(PlanError, match=r"^units must be of CFGROM, GLB, .*, not BDMA$"):
        register_program("bits", SMALL, np.random.default_rng(1), ["BDMA"])


def test_interrupts_are_raised_masked_and_cleared_without_service() -> None:
    scenario = ENTRIES["interrupts_by_software"].build(SMALL, 1)
    assert not scenario.settings.serve_interrupts
    raised = [op.value for op in scenario.ops if isinstance(op, RegWrite) and op.register == "GLB.S_INTR_SET"]
    for bit in (0, 1, 2, 3, 4, 5, 16, 17, 18, 19, 20, 21):
        assert 1 << bit in raised
    assert {op.expected for op in scenario.ops if isinstance(op, RegRead)} >= {0, 1, 0x3F003F}


def test_a_reset_comes_at_another_cycle_with_each_seed() -> None:
    entry = ENTRIES["reset_while_sdp"]
    cycles = {entry.build(SMALL, seed).settings.reset_cycle for seed in range(1, 9)}
    assert len(cycles) > 4
    assert all(cycle is not None and 700 <= cycle <= 4500 for cycle in cycles)


def test_layers_are_needed_where_the_program_is_made_of_them() -> None:
    with refused("probe: layer is missing"):
        PlanEntry("probe", "", "nv_small", {"registers": "running"}).build(SMALL, 1)
