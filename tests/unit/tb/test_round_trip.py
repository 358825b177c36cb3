"""Layers to registers and back, through a register file as hardware has it."""

from __future__ import annotations

from functools import cache
from random import Random

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from models.config import HwConfig
from models.pdp import PoolMethod
from models.precision import Precision
from models.sdp import SdpParams
from tb.layers import CdpLayer, ConvLayer, Layer, PdpLayer, SdpLayer, StageSource, is_per_channel
from tb.program.codec import decode, encode, engine_of
from tb.program.ops import InterruptNotify, RegWrite
from tb.program.state import RegisterState
from tb.program.table import Refused
from tb.registers import Field, Register, RegisterMap
from tests.unit.tb.conv_strategies import conv_layers, unused_conv
from tests.unit.tb.samples import small_sdp
from tests.unit.tb.strategies import cdp_layers, configs, layers, pdp_layers, sdp_layers

MANY = settings(max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck))
# A failure names its field; shrinking the layer takes minutes and adds nothing.
FEW = settings(MANY, max_examples=60, phases=(Phase.explicit, Phase.generate))


def play(state: RegisterState, layer: Layer, config: HwConfig, group: int) -> list[tuple[str, int]]:
    """Write a layer's program and return the groups that it enabled, by unit."""
    enabled = []
    for op in encode(layer, config, group):
        if not isinstance(op, RegWrite):
            continue
        register = state.registers.parse(op.register)
        started = state.write(register, op.value)
        if started is not None:
            enabled.append((register.unit, started))
    return enabled


def noisy_state(config: HwConfig, units: tuple[str, ...], seed: int) -> RegisterState:
    """Return a register state whose ``units`` hold random words in both groups, as after other layers."""
    rng = np.random.default_rng(seed)
    state = RegisterState(RegisterMap.of(config))
    for unit in units:
        others = ("S_POINTER", "S_STATUS", "D_OP_ENABLE")
        programmed = [register for register in registers_of(config, unit) if register.name not in others]
        for group in (0, 1):
            state.write(state.registers.register(unit, "S_POINTER"), group)
            for register, word in zip(programmed, rng.integers(1 << 32, size=len(programmed)).tolist(), strict=True):
                state.write(register, word)
    return state


@cache
def registers_of(config: HwConfig, unit: str) -> tuple[Register, ...]:
    return tuple(register for register in RegisterMap.of(config) if register.unit == unit)


def check_round_trip(config: HwConfig, layer: Layer, group: int, seed: int) -> None:
    engine = engine_of(layer)
    units = (*engine.units, "PDP" if engine.name == "CDP" else "CDP")
    state = noisy_state(config, units, seed)
    before = {(unit, g): dict(state.words(unit, g)) for unit in units for g in (0, 1)}
    assert play(state, layer, config, group) == [(unit, group) for unit in engine.units]

    words = {unit: state.words(unit, group) for unit in engine.units}
    lut = state.lut(engine.done_unit)
    assert decode(engine, words, config, lut) == layer

    written = {op.register for op in encode(layer, config, group) if isinstance(op, RegWrite)}
    for (unit, g), old in before.items():
        for name, word in state.words(unit, g).items():
            shared = name.startswith("S_")
            if name == "S_POINTER" and unit in engine.units:
                assert word == group
            elif f"{unit}.{name}" not in written or not (shared or g == group):
                assert word == old[name], f"{unit}.{name} of group {g}"

    rng = np.random.default_rng(seed)
    for field in unused_fields(layer):
        unit, name, field_name = field.split(".")
        register = state.registers.register(unit, name)
        mask = register.field(field_name).mask
        noise = int(rng.integers(1 << 32))
        changed = {**words[unit], name: words[unit][name] & ~mask | noise & mask}
        words = {**words, unit: changed}
    assert decode(engine, words, config, lut) == layer


def unused_fields(layer: Layer) -> list[str]:
    """Name the fields that the register manual gives no meaning in a layer of this kind."""
    match layer:
        case SdpLayer():
            return _unused_sdp(layer.params, layer.x1, layer.x2, layer.dst.layout.shape)
        case PdpLayer():
            return _unused_pdp(layer)
        case CdpLayer():
            return _unused_cdp(layer)
        case ConvLayer():
            sdp = _unused_sdp(layer.sdp, layer.x1, layer.x2, layer.dst.layout.shape)
            return [*unused_conv(layer), *(name for name in sdp if name.split(".")[0] in engine_of(layer).units)]


def used_width(layer: Layer, field: Field) -> int:
    """Return how many low bits of a field the hardware uses."""
    if field.name == "pad_value" and isinstance(layer, ConvLayer):
        return layer.params.precision.bits
    int8 = isinstance(layer, CdpLayer) and layer.params.precision is Precision.INT8
    narrow = {"datin_offset": 8, "datout_offset": 25} if int8 else {}
    return 6 if field.name.endswith("_mul_shift_value") else narrow.get(field.name, field.width)


def _unused_sdp(
    params: SdpParams, x1: StageSource | None, x2: StageSource | None, shape: tuple[int, int, int]
) -> list[str]:
    fields = ["SDP.D_FEATURE_MODE_CFG.nan_to_zero", "SDP.D_DST_BATCH_STRIDE.dst_batch_stride"]
    fields += [f"SDP.D_DP_EW_CFG.ew_{n}" for n in ("alu_bypass", "alu_algo", "mul_bypass", "mul_prelu", "lut_bypass")]
    fields += [f"SDP_RDMA.D_ERDMA_CFG.erdma_{name}" for name in ("data_use", "data_size", "data_mode", "ram_type")]
    stages = (("bs", "brdma", params.x1, x1), ("bn", "nrdma", params.x2, x2))
    for low, rdma, stage, source in stages:
        unit = f"SDP.D_DP_{low.upper()}"
        has_alu, has_mul = stage is not None and stage.alu is not None, stage is not None and stage.mul
        if stage is None:
            fields += [f"{unit}_CFG.{low}_{name}_bypass" for name in ("alu", "mul", "relu")]
            fields.append(f"{unit}_MUL_CFG.{low}_mul_shift_value")
        if not has_alu:
            fields += [f"{unit}_CFG.{low}_alu_algo", f"{unit}_ALU_CFG.{low}_alu_shift_value"]
            fields.append(f"{unit}_ALU_CFG.{low}_alu_src")
        if not has_mul:
            fields += [f"{unit}_CFG.{low}_mul_prelu", f"{unit}_MUL_CFG.{low}_mul_src"]
        source = source or StageSource()
        if not has_alu or source.alu is None:
            fields.append(f"{unit}_ALU_SRC_VALUE.{low}_alu_operand")
        if not has_mul or source.mul is None:
            fields.append(f"{unit}_MUL_SRC_VALUE.{low}_mul_operand")
        base = f"SDP_RDMA.D_{low.upper()}"
        fields.append(f"{base}_BATCH_STRIDE.{low}_batch_stride")
        if source.memory is None:
            names = ("data_use", "data_size", "ram_type")
            fields += [f"SDP_RDMA.D_{rdma.upper()}_CFG.{rdma}_{name}" for name in names]
            fields += [f"{base}_BASE_ADDR_{part}.{low}_base_addr_{part.lower()}" for part in ("LOW", "HIGH")]
        if source.memory is None or shape[1:] == (1, 1):
            fields.append(f"SDP_RDMA.D_{rdma.upper()}_CFG.{rdma}_data_mode")
        if source.memory is None or is_per_channel(source.memory.layout):
            fields += [f"{base}_{axis}_STRIDE.{low}_{axis.lower()}_stride" for axis in ("LINE", "SURFACE")]
    if shape[1:] == (1, 1):
        for unit, end in (("SDP_RDMA", "src"), ("SDP", "dst")):
            fields += [
                f"{unit}.D_{end.upper()}_{axis}_STRIDE.{end}_{axis.lower()}_stride" for axis in ("LINE", "SURFACE")
            ]
    return fields


def _unused_pdp(layer: PdpLayer) -> list[str]:
    fields = ["PDP.D_NAN_FLUSH_TO_ZERO.nan_to_zero", "PDP.D_CYA.cya", "PDP_RDMA.D_CYA.cya"]
    fields += ["PDP_RDMA.D_POOLING_PADDING_CFG.pad_width"]
    fields += [f"PDP.D_SRC_BASE_ADDR_{part}.src_base_addr_{part.lower()}" for part in ("LOW", "HIGH")]
    fields += [f"PDP.D_SRC_{axis}_STRIDE.src_{axis.lower()}_stride" for axis in ("LINE", "SURFACE")]
    if layer.params.method is not PoolMethod.AVERAGE:
        fields += [f"PDP.D_POOLING_PADDING_VALUE_{n}_CFG.pad_value_{n}x" for n in range(1, 8)]
        fields += [f"PDP.D_RECIP_KERNEL_{axis}.recip_kernel_{axis.lower()}" for axis in ("WIDTH", "HEIGHT")]
    unused = {1: ("first", "mid", "last"), 2: ("mid",)}.get(layer.split.parts if layer.split else 1, ())
    for part in unused:
        fields += [f"{unit}.D_PARTIAL_WIDTH_IN.partial_width_in_{part}" for unit in ("PDP", "PDP_RDMA")]
        fields.append(f"PDP.D_PARTIAL_WIDTH_OUT.partial_width_out_{part}")
    return fields


def _unused_cdp(layer: CdpLayer) -> list[str]:
    fields = ["CDP.D_NAN_FLUSH_TO_ZERO.nan_to_zero", "CDP.D_CYA.cya", "CDP_RDMA.D_CYA.cya"]
    if layer.params.local_size is None:
        fields.append("CDP.D_LRN_CFG.normalz_len")
    fields.append(f"CDP.S_LUT_INFO.lut_le_index_{'select' if layer.params.lut.le.exponent else 'offset'}")
    return fields


@MANY
@given(configs().flatmap(lambda c: st.tuples(st.just(c), sdp_layers(c))), st.integers(0, 1), st.integers(0, 99))
def test_an_sdp_layer_survives_registers_of_either_group(
    drawn: tuple[HwConfig, SdpLayer], group: int, seed: int
) -> None:
    check_round_trip(*drawn, group, seed)


@MANY
@given(configs().flatmap(lambda c: st.tuples(st.just(c), pdp_layers(c))), st.integers(0, 1), st.integers(0, 99))
def test_a_pdp_layer_survives_registers_of_either_group(
    drawn: tuple[HwConfig, PdpLayer], group: int, seed: int
) -> None:
    check_round_trip(*drawn, group, seed)


@MANY
@given(configs().flatmap(lambda c: st.tuples(st.just(c), cdp_layers(c))), st.integers(0, 1), st.integers(0, 99))
def test_a_cdp_layer_and_its_tables_survive_registers_of_either_group(
    drawn: tuple[HwConfig, CdpLayer], group: int, seed: int
) -> None:
    check_round_trip(*drawn, group, seed)


def used_registers(layer: Layer, config: HwConfig) -> list[Register]:
    registers = RegisterMap.of(config)
    ops = [op for op in encode(layer, config) if isinstance(op, RegWrite)]
    apart = (".S_POINTER", ".S_LUT_ACCESS_CFG", ".S_LUT_ACCESS_DATA")
    return [registers.parse(op.register) for op in ops if not op.register.endswith(apart)]


def check_every_field(config: HwConfig, layer: Layer, random: Random) -> None:
    """The counterpart of the don't-care fields: nothing that matters is ignored."""
    engine = engine_of(layer)
    state = RegisterState(RegisterMap.of(config))
    play(state, layer, config, 0)
    words = {unit: dict(state.words(unit, 0)) for unit in engine.units}
    unused = set(unused_fields(layer))
    for register in used_registers(layer, config):
        if register.name == "D_OP_ENABLE":
            continue
        for field in register.fields:
            if f"{register.full_name}.{field.name}" in {*unused, "SDP.D_DP_EW_CFG.ew_bypass"}:
                continue  # Y does nothing when only its parts are bypassed
            bit = 1 << random.randint(field.lsb, field.lsb + used_width(layer, field) - 1)
            unit, name = register.unit, register.name
            changed = {**words, unit: {**words[unit], name: words[unit][name] ^ bit}}
            try:
                changed_layer = decode(engine, changed, config, state.lut(engine.done_unit))
            except Refused:
                continue
            assert changed_layer != layer, f"{register.full_name}.{field.name}"


@FEW
@given(configs().flatmap(lambda c: st.tuples(st.just(c), layers(c))), st.randoms())
def test_a_field_that_is_not_unused_changes_the_layer_or_is_refused(
    drawn: tuple[HwConfig, SdpLayer | PdpLayer | CdpLayer], random: Random
) -> None:
    check_every_field(*drawn, random)


@MANY
@given(configs().flatmap(lambda c: st.tuples(st.just(c), conv_layers(c))), st.integers(0, 1), st.integers(0, 99))
def test_a_convolution_survives_registers_of_either_group(
    drawn: tuple[HwConfig, ConvLayer], group: int, seed: int
) -> None:
    check_round_trip(*drawn, group, seed)


@FEW
@given(configs().flatmap(lambda c: st.tuples(st.just(c), conv_layers(c))), st.randoms())
def test_a_field_of_a_convolution_that_is_not_unused_changes_it_or_is_refused(
    drawn: tuple[HwConfig, ConvLayer], random: Random
) -> None:
    check_every_field(*drawn, random)


def test_a_program_points_at_its_group_and_enables_rdma_first() -> None:
    config = HwConfig.load("nv_small")
    ops = encode(small_sdp(), config, 1, sync_id="done")
    assert ops[0] == RegWrite("SDP_RDMA.S_POINTER", 1)
    assert RegWrite("SDP.S_POINTER", 1) in ops
    assert ops[-3:] == (
        RegWrite("SDP_RDMA.D_OP_ENABLE", 1),
        RegWrite("SDP.D_OP_ENABLE", 1),
        InterruptNotify("SDP", 1, "done"),
    )


@pytest.mark.parametrize("group", [-1, 2])
def test_encode_refuses_a_group_that_does_not_exist(group: int) -> None:
    with pytest.raises(ValueError, match=rf"^group must be 0 or 1, not {group}$"):
        encode(small_sdp(), HwConfig.load("nv_small"), group)


def test_encode_refuses_a_layer_of_another_configuration() -> None:
    with pytest.raises(ValueError, match=r"^layer must be laid out for nv_large, not nv_small$"):
        encode(small_sdp(), HwConfig.load("nv_large"))
