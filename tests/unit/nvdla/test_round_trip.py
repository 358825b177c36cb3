"""Layers to registers and back, through a register file as hardware has it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st

from nvdla_models.config import HwConfig
from nvdla_models.limits import SURFACE_BYTES
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.program.codec import decode, encode
from nvdla_tb.nvdla.program.ops import InterruptNotify, RegWrite
from nvdla_tb.nvdla.program.state import RegisterState
from nvdla_tb.nvdla.program.table import Refused, ignored_bits
from nvdla_tb.nvdla.registers import Register, RegisterMap
from tests.unit.nvdla.conv_strategies import conv_layers
from tests.unit.nvdla.layer_strategies import cdp_layers, layers, pooled_layers
from tests.unit.nvdla.registers_helper import refused
from tests.unit.nvdla.samples import small_sdp
from tests.unit.nvdla.sdp_strategies import sdp_layers
from tests.unit.nvdla.strategies import configs, pdp_layers
from tests.unit.nvdla.unused import unused_fields, used_width

pytestmark = pytest.mark.slow

MANY = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
# A failure names its field; shrinking the layer takes minutes and adds nothing.
SOME = settings(MANY, max_examples=20, phases=(Phase.explicit, Phase.generate))
FEW = settings(SOME, max_examples=20)
FEWEST = settings(SOME, max_examples=6)

Drawn = tuple[HwConfig, Layer]
GROUP, SEED = st.integers(0, 1), st.integers(0, 99)


def of(strategy: Callable[[HwConfig], st.SearchStrategy[Any]]) -> st.SearchStrategy[Drawn]:
    """Draw a configuration and one of its layers."""
    return configs().flatmap(lambda config: st.tuples(st.just(config), strategy(config)))


def play(
    state: RegisterState, layer: Layer, config: HwConfig, group: int, ignored: np.random.Generator | None = None
) -> list[tuple[str, int]]:
    """Write a layer's program and return the groups that it enabled, by unit."""
    enabled = []
    for op in encode(layer, config, group, ignored=ignored):
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


def ignored_fields(layer: Layer, config: HwConfig) -> set[str]:
    """Return the fields of which a program may hold anything."""
    coding, registers = chain_of(layer).coding, RegisterMap.of(config)
    return {
        f"{unit}.{name}.{field.name}"
        for unit, of_unit in ignored_bits(coding.table, coding.flatten(layer), registers).items()
        for name, bits in of_unit.items()
        for field in registers.register(unit, name).fields
        if field.mask & bits
    }


def check_round_trip(config: HwConfig, layer: Layer, group: int, seed: int) -> None:
    assume(all(surface.layout.nbytes <= SURFACE_BYTES for surface in (layer.src, layer.dst)))
    engine = chain_of(layer)
    units = (*engine.units, "PDP" if engine.name == "CDP" else "CDP")
    state = noisy_state(config, units, seed)
    before = {(unit, g): dict(state.words(unit, g)) for unit in units for g in (0, 1)}
    assert play(state, layer, config, group) == [(unit, group) for unit in engine.units]

    words = {unit: state.words(unit, group) for unit in engine.units}
    lut = state.lut(engine.lut_unit)
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
    assert ignored_fields(layer, config) <= set(unused_fields(layer))
    any_words = RegisterState(state.registers)
    play(any_words, layer, config, group, rng)
    assert decode(engine, {unit: any_words.words(unit, group) for unit in engine.units}, config, lut) == layer
    for field in unused_fields(layer):
        unit, name, field_name = field.split(".")
        register = state.registers.register(unit, name)
        mask = register.field(field_name).mask
        noise = int(rng.integers(1 << 32))
        changed = {**words[unit], name: words[unit][name] & ~mask | noise & mask}
        words = {**words, unit: changed}
    assert decode(engine, words, config, lut) == layer


@MANY
@given(of(sdp_layers), GROUP, SEED)
def test_an_sdp_layer_survives_registers_of_either_group(drawn: Drawn, group: int, seed: int) -> None:
    check_round_trip(*drawn, group, seed)


@MANY
@given(of(pdp_layers), GROUP, SEED)
def test_a_pdp_layer_survives_registers_of_either_group(drawn: Drawn, group: int, seed: int) -> None:
    check_round_trip(*drawn, group, seed)


@MANY
@given(of(cdp_layers), GROUP, SEED)
def test_a_cdp_layer_and_its_tables_survive_registers_of_either_group(drawn: Drawn, group: int, seed: int) -> None:
    check_round_trip(*drawn, group, seed)


def used_registers(layer: Layer, config: HwConfig) -> list[Register]:
    registers = RegisterMap.of(config)
    ops = [op for op in encode(layer, config) if isinstance(op, RegWrite)]
    apart = (".S_POINTER", ".S_LUT_ACCESS_CFG", ".S_LUT_ACCESS_DATA")
    return [registers.parse(op.register) for op in ops if not op.register.endswith(apart)]


def check_every_field(config: HwConfig, layer: Layer, random: Random) -> None:
    """The counterpart of the don't-care fields: nothing that matters is ignored."""
    engine = chain_of(layer)
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
                changed_layer = decode(engine, changed, config, state.lut(engine.lut_unit))
            except Refused:
                continue
            assert changed_layer != layer, f"{register.full_name}.{field.name}"


@FEW
@given(of(layers), st.randoms())
def test_a_field_that_is_not_unused_changes_the_layer_or_is_refused(drawn: Drawn, random: Random) -> None:
    check_every_field(*drawn, random)


@MANY
@given(of(conv_layers), GROUP, SEED)
def test_a_convolution_survives_registers_of_either_group(drawn: Drawn, group: int, seed: int) -> None:
    check_round_trip(*drawn, group, seed)


@FEW
@given(of(conv_layers), st.randoms())
def test_a_field_of_a_convolution_that_is_not_unused_changes_it_or_is_refused(drawn: Drawn, random: Random) -> None:
    check_every_field(*drawn, random)


@SOME
@given(of(pooled_layers), GROUP, SEED)
def test_a_layer_pooled_on_the_fly_survives_registers_of_either_group(drawn: Drawn, group: int, seed: int) -> None:
    check_round_trip(*drawn, group, seed)


@FEWEST
@given(of(pooled_layers), st.randoms())
def test_a_field_of_a_pooled_layer_that_is_not_unused_changes_it_or_is_refused(drawn: Drawn, random: Random) -> None:
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
    with refused(f"group must be 0 or 1, not {group}"):
        encode(small_sdp(), HwConfig.load("nv_small"), group)


def test_encode_refuses_a_layer_of_another_configuration() -> None:
    with refused("layer must be laid out for nv_large, not nv_small"):
        encode(small_sdp(), HwConfig.load("nv_large"))
