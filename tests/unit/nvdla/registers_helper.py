"""Register words of a sample layer, with single fields replaced."""

from __future__ import annotations

import re
from collections.abc import Mapping

import pytest

from models.config import HwConfig
from tb.nvdla.engines import chain_of
from tb.nvdla.layers import Layer
from tb.nvdla.program.codec import decode, encode
from tb.nvdla.program.ops import RegWrite
from tb.nvdla.program.state import RegisterState
from tb.nvdla.program.table import Refused
from tb.nvdla.registers import RegisterMap, with_field


def state_after(layer: Layer, config: HwConfig) -> RegisterState:
    """Return the registers after the layer's program for group 0."""
    state = RegisterState(RegisterMap.of(config))
    for op in encode(layer, config):
        if isinstance(op, RegWrite):
            state.write(state.registers.parse(op.register), op.value)
    return state


def words_of(layer: Layer, config: HwConfig) -> dict[str, dict[str, int]]:
    """Return the words of group 0 after the layer's program, by unit and register."""
    state = state_after(layer, config)
    return {unit: dict(state.words(unit, 0)) for unit in chain_of(layer).units}


def decode_with(layer: Layer, config: HwConfig, changes: Mapping[str, int]) -> Layer:
    """Decode the layer's program with ``UNIT.REGISTER.field`` values replaced."""
    words = words_of(layer, config)
    registers = RegisterMap.of(config)
    for name, value in changes.items():
        unit, register, field = name.split(".")
        words[unit][register] = with_field(registers.register(unit, register), words[unit][register], field, value)
    engine = chain_of(layer)
    return decode(engine, words, config, state_after(layer, config).lut(engine.lut_unit))


def check_refused(layer: Layer, config: HwConfig, changes: Mapping[str, int], message: str) -> None:
    """Expect that the changed program is refused with exactly this message."""
    with pytest.raises(Refused, match=rf"^{re.escape(message)}$"):
        decode_with(layer, config, changes)
