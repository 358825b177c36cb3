"""The register map and the mirrored register files of both groups."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from nvdla_models.config import HwConfig, builtin_names
from nvdla_tb.nvdla.program.state import RegisterState
from nvdla_tb.nvdla.registers import UNIT_BYTES, Field, Register, RegisterError, RegisterMap, with_field, word_of
from tests.unit.nvdla.samples import FULL, SMALL

ENABLED = "D_OP_ENABLE"
REGISTERS = RegisterMap.of(SMALL)


def refused(message: str) -> pytest.RaisesExc[RegisterError]:
    return pytest.raises(RegisterError, match=rf"^{re.escape(message)}$")


@pytest.mark.parametrize(
    ("config", "name", "address"),
    [
        ("nv_small", "GLB.S_INTR_STATUS", 0x100C),
        ("nv_small", "CDMA.S_CBUF_FLUSH_STATUS", 0x300C),
        ("nv_small", "SDP_RDMA.D_OP_ENABLE", 0x8008),
        ("nv_small", "SDP.D_OP_ENABLE", 0x9038),
        ("nv_small", "PDP.D_DST_BASE_ADDR_LOW", 0xB070),
        ("nv_full", "GLB.S_INTR_STATUS", 0xC),
        ("nv_full", "SDP.D_OP_ENABLE", 0xB038),
        ("nv_full", "BDMA.CFG_LAUNCH0", 0x4034),
        ("nv_large", "BDMA.CFG_LAUNCH0", 0x10034),
    ],
)
def test_addresses_follow_the_configuration(config: str, name: str, address: int) -> None:
    registers = RegisterMap.of(HwConfig.load(config))
    register = registers.parse(name)
    assert registers.address(register) == address
    assert registers.at(address) is register
    assert register.full_name == name


@pytest.mark.parametrize("name", builtin_names())
def test_every_address_has_one_register_and_every_bit_one_field(name: str) -> None:
    registers = RegisterMap.of(HwConfig.load(name))
    addresses = [registers.address(register) for register in registers]
    assert addresses == sorted(set(addresses))
    for register in registers:
        assert register.offset % 4 == 0
        assert register.offset < UNIT_BYTES
        masks = [field.mask for field in register.fields]
        assert sum(masks) <= 0xFFFF_FFFF
        union = 0
        for mask in masks:
            assert not union & mask, register.full_name
            union |= mask
        assert register.reset & ~union == 0
        assert len({field.name for field in register.fields}) == len(register.fields)
        for field in register.fields:
            assert all(0 <= value < 1 << field.width for value in field.values.values())


def test_fields_are_read_when_they_are_asked_for_and_malformed_ones_are_refused() -> None:
    register = Register("SDP", "D_X", 0, ("on[0:0] rw 0x1 NO=0 YES=1", "size[15:4] r 0x20"))
    assert "fields" not in vars(register)
    assert register.fields == (Field("on", 0, 0, "rw", 1, {"NO": 0, "YES": 1}), Field("size", 4, 15, "r", 0x20, {}))
    assert (register.reset, register.writable, register.readable) == (0x201, 1, 0xFFF1)
    with refused("malformed field in registers.json: size[15] r 0x20"):
        Register("SDP", "D_X", 0, ("size[15] r 0x20",)).field("size")


BITS_OF_NV_FULL = {
    "CDMA.D_BANK": 0x000F_000F,
    "CDMA.D_ENTRY_PER_SLICE": 0x0000_0FFF,
    "CSC.D_WEIGHT_BYTES": 0xFFFF_FF80,
    "CDMA.D_WMB_BYTES": 0x0FFF_FF80,
    "CACC.D_LINE_STRIDE": 0x00FF_FFE0,
    "SDP.D_DST_BASE_ADDR_LOW": 0xFFFF_FFE0,
    "SDP_RDMA.D_BRDMA_CFG": 0x0000_003F,
}


@pytest.mark.parametrize(("name", "bits"), BITS_OF_NV_FULL.items())
def test_registers_of_nv_full_have_the_bits_of_its_rtl(name: str, bits: int) -> None:
    registers = RegisterMap.of(FULL)
    register = registers.parse(name)
    assert (register.writable, register.readable, register.reset) == (bits, bits, 0)
    state = RegisterState(registers)
    state.write(register, 0xFFFF_FFFF)
    assert state.words(register.unit, 0)[register.name] == bits


def test_54_registers_of_nv_full_have_fewer_bits_and_8_reset_to_0() -> None:
    full, small = RegisterMap.of(FULL), RegisterMap.of(HwConfig.load("nv_large"))
    grouped = [(register, small.parse(register.full_name)) for register in full if register.is_grouped]
    assert sum(ours.readable != theirs.readable for ours, theirs in grouped) == 54
    assert sum(ours.reset != theirs.reset for ours, theirs in grouped) == 8


def test_a_value_that_needs_bits_that_the_register_lacks_is_refused() -> None:
    register = RegisterMap.of(FULL).parse("CDMA.D_BANK")
    assert with_field(register, 0, "weight_bank", 15) == 0xF_0000
    with refused("CDMA.D_BANK.weight_bank must have only the bits 0xf of this build, not 0x10"):
        with_field(register, 0, "weight_bank", 16)


@pytest.mark.parametrize(
    ("bits", "message"),
    [
        (
            {"register_bits": (("SDP.D_NOTHING", 1),)},
            "nv_small: register_bits must name registers of the register map, not SDP.D_NOTHING",
        ),
        (
            {"register_resets": (("BDMA.CFG_LINE", 1),)},
            "nv_small: register_resets must name registers of the register map, not BDMA.CFG_LINE",
        ),
        (
            {"register_bits": (("CDMA.D_BANK", 0x1F_003F),)},
            "nv_small: register_bits: CDMA.D_BANK must be bits of 0x1f001f, not 0x1f003f",
        ),
    ],
)
def test_a_configuration_with_registers_that_cannot_be_is_refused(
    bits: dict[str, tuple[tuple[str, int], ...]], message: str
) -> None:
    with refused(message):
        RegisterMap.of(replace(SMALL, **bits))


def test_nothing_is_mapped_between_registers() -> None:
    assert REGISTERS.at(0x1010) is None
    assert REGISTERS.at(0x9039) is None


def test_units_that_a_configuration_lacks_have_no_registers() -> None:
    assert {"BDMA", "RBK", "CVIF"} & set(REGISTERS.units) == set()
    assert {"BDMA", "RBK", "CVIF"} <= set(RegisterMap.of(FULL).units)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("SDP.D_NOTHING", "unit SDP has no register D_NOTHING"),
        ("SDP.D_OP_ENABEL", "unit SDP has no register D_OP_ENABEL; did you mean D_OP_ENABLE?"),
        ("SDP_D_OP_ENABLE", "register must be spelt UNIT.NAME, not SDP_D_OP_ENABLE"),
    ],
)
def test_unknown_registers_are_refused(name: str, message: str) -> None:
    with refused(message):
        REGISTERS.parse(name)


def test_a_unit_that_the_configuration_lacks_has_neither_registers_nor_state() -> None:
    with refused(f"unit must be one of {', '.join(REGISTERS.units)}, not BDMA"):
        REGISTERS.parse("BDMA.CFG_LAUNCH0")
    with refused(f"unit must be one of {', '.join(REGISTERS.units)}, not BDMA"):
        RegisterState(REGISTERS).words("BDMA", 0)


def test_a_field_is_replaced_and_the_others_stay() -> None:
    register = REGISTERS.parse("SDP.D_DP_BS_CFG")
    assert register.reset == 0b1110011
    word = with_field(register, register.reset, "bs_bypass", 0)
    assert word == 0b1110010
    assert with_field(register, word, "bs_alu_algo", 2) == 0b1111010


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("bs_alu_algo", 4, "SDP.D_DP_BS_CFG.bs_alu_algo must fit in 2 bits, not 4"),
        ("bs_alu_algo", -1, "SDP.D_DP_BS_CFG.bs_alu_algo must fit in 2 bits, not -1"),
        (
            "relu",
            1,
            "SDP.D_DP_BS_CFG has no field relu; it has bs_bypass, bs_alu_bypass, bs_alu_algo, bs_mul_bypass, "
            "bs_mul_prelu, bs_relu_bypass",
        ),
    ],
)
def test_values_that_do_not_fit_are_refused(field: str, value: int, message: str) -> None:
    register = REGISTERS.parse("SDP.D_DP_BS_CFG")
    with refused(message):
        with_field(register, 0, field, value)


def test_a_field_takes_its_bits_out_of_a_word() -> None:
    field = Field("x", 4, 7, "rw", 0, {})
    assert (field.width, field.mask, field.extract(0xABCD)) == (4, 0xF0, 0xC)


@pytest.fixture
def state() -> RegisterState:
    return RegisterState(REGISTERS)


def write(state: RegisterState, name: str, value: int) -> int | None:
    return state.write(state.registers.parse(name), value)


def test_the_producer_pointer_selects_the_group_that_is_written(state: RegisterState) -> None:
    write(state, "SDP.D_CVT_SHIFT", 1)
    write(state, "SDP.S_POINTER", 1)
    write(state, "SDP.D_CVT_SHIFT", 2)
    assert [state.words("SDP", group)["D_CVT_SHIFT"] for group in (0, 1)] == [1, 2]
    write(state, "SDP.S_POINTER", 0xFFFF_FFFE)
    write(state, "SDP.D_CVT_SHIFT", 3)
    assert [state.words("SDP", group)["D_CVT_SHIFT"] for group in (0, 1)] == [3, 2]


def test_each_unit_has_its_own_pointer(state: RegisterState) -> None:
    write(state, "SDP.S_POINTER", 1)
    write(state, "SDP_RDMA.D_DATA_CUBE_WIDTH", 7)
    assert state.words("SDP_RDMA", 0)["D_DATA_CUBE_WIDTH"] == 7
    assert state.words("SDP_RDMA", 1)["D_DATA_CUBE_WIDTH"] == 0


def test_shared_registers_belong_to_both_groups(state: RegisterState) -> None:
    write(state, "SDP.S_LUT_LE_START", 0x1234)
    assert [state.words("SDP", group)["S_LUT_LE_START"] for group in (0, 1)] == [0x1234, 0x1234]


def test_bits_without_a_writable_field_stay_as_they_are(state: RegisterState) -> None:
    write(state, "SDP.D_CVT_SHIFT", 0xFFFF_FFFF)
    assert state.words("SDP", 0)["D_CVT_SHIFT"] == 0x3F
    write(state, "SDP.S_POINTER", 0xFFFF_FFFF)
    assert state.words("SDP", 0)["S_POINTER"] == 1
    write(state, "GLB.S_NVDLA_HW_VERSION", 0)
    assert state.words("GLB", 0)["S_NVDLA_HW_VERSION"] == 0x30_3031


def test_writes_to_an_enabled_group_are_ignored(state: RegisterState) -> None:
    write(state, "SDP.D_CVT_SHIFT", 1)
    assert write(state, "SDP.D_OP_ENABLE", 1) == 0
    write(state, "SDP.D_CVT_SHIFT", 2)
    assert write(state, "SDP.D_OP_ENABLE", 1) is None
    assert write(state, "SDP.D_OP_ENABLE", 0) is None
    assert state.enabled("SDP", 0)
    assert state.words("SDP", 0)["D_CVT_SHIFT"] == 1
    write(state, "SDP.S_POINTER", 1)
    write(state, "SDP.D_CVT_SHIFT", 3)
    assert state.words("SDP", 1)["D_CVT_SHIFT"] == 3
    assert not state.enabled("SDP", 1)


def test_writing_0_to_op_enable_enables_nothing(state: RegisterState) -> None:
    assert write(state, "SDP.D_OP_ENABLE", 0) is None
    assert write(state, "SDP.D_OP_ENABLE", 2) is None
    assert not state.enabled("SDP", 0)


def test_a_finished_layer_clears_op_enable_and_turns_the_consumer(state: RegisterState) -> None:
    write(state, "SDP.D_OP_ENABLE", 1)
    assert state.consumer("SDP") == 0
    state.finish("SDP", 0)
    assert not state.enabled("SDP", 0)
    assert state.consumer("SDP") == 1
    write(state, "SDP.D_CVT_SHIFT", 2)
    assert state.words("SDP", 0)["D_CVT_SHIFT"] == 2
    state.finish("SDP", 1)
    assert state.consumer("SDP") == 0


def test_a_reset_returns_every_register_to_its_reset_value(state: RegisterState) -> None:
    write(state, "SDP.S_POINTER", 1)
    for register in state.registers:
        if register.name != ENABLED:
            state.write(register, 0xFFFF_FFFF)
    write(state, "SDP.D_OP_ENABLE", 1)
    state.reset()
    for register in state.registers:
        for group in (0, 1):
            assert state.words(register.unit, group)[register.name] == register.reset, register.full_name
    assert not state.enabled("SDP", 1)
    write(state, "SDP.D_CVT_SHIFT", 5)
    assert state.words("SDP", 0)["D_CVT_SHIFT"] == 5


def test_a_register_is_found_by_itself_its_name_and_its_address() -> None:
    registers = RegisterMap.of(HwConfig.load("nv_small"))
    register = registers.register("SDP", "D_CVT_OFFSET")
    for where in (register, "SDP.D_CVT_OFFSET", registers.address(register)):
        assert registers.find(where) is register
    assert registers.find(0x9F00).full_name == "0x9f00"
    with pytest.raises(RegisterError, match=r"^address must be a multiple of 4 below 0x40000, not 0x9f01$"):
        registers.find(0x9F01)


@pytest.mark.parametrize("value", ["3", 1.0, -1, 1 << 32, True])
def test_a_word_is_an_integer_of_32_bits(value: object) -> None:
    with refused(f"value must be an integer from 0 to 0xffffffff, not {value!r}"):
        word_of(value)
    assert word_of(np.uint32(7)) == 7
