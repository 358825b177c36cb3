"""Programs of sample layers: their register words with single fields replaced, and a tracker that follows them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import pytest

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.judge.tracker import LayerTracker, StartedLayer
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.program.codec import decode, encode
from nvdla_tb.nvdla.program.ops import Op, RegWrite
from nvdla_tb.nvdla.program.state import RegisterState
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.registers import RegisterMap, with_field
from tests.unit.nvdla.samples import SMALL

NO_CVSRAM = " must be MC, not CV: nv_small has no secondary memory interface"


def refused(message: str, error: type[InputError] = InputError) -> pytest.RaisesExc[InputError]:
    """Expect a refusal with exactly this message."""
    return pytest.raises(error, match=rf"^{re.escape(message)}$")


def config_of(layer: Layer) -> HwConfig:
    return layer.dst.layout.config


def state_after(layer: Layer) -> RegisterState:
    """Return the registers after the layer's program for group 0."""
    state = RegisterState(RegisterMap.of(config_of(layer)))
    for op in encode(layer, config_of(layer)):
        if isinstance(op, RegWrite):
            state.write(state.registers.parse(op.register), op.value)
    return state


def words_of(layer: Layer) -> dict[str, dict[str, int]]:
    """Return the words of group 0 after the layer's program, by unit and register."""
    state = state_after(layer)
    return {unit: dict(state.words(unit, 0)) for unit in chain_of(layer).units}


def decode_with(layer: Layer, changes: Mapping[str, int]) -> Layer:
    """Decode the layer's program with ``UNIT.REGISTER.field`` values replaced."""
    words, config, chain = words_of(layer), config_of(layer), chain_of(layer)
    for name, value in changes.items():
        register, field = RegisterMap.of(config).field(name)
        of_unit = words[register.unit]
        of_unit[register.name] = with_field(register, of_unit[register.name], field.name, value)
    return decode(chain, words, config, state_after(layer).lut(chain.lut_unit))


def check_refused(layer: Layer, changes: Mapping[str, int], message: str) -> None:
    """Expect that the changed program is refused with exactly this message."""
    with refused(message, Refused):
        decode_with(layer, changes)


def cases(layer: Layer, *changed: tuple[str | tuple[str, ...], int, str]) -> list[Any]:
    """Return parameters for ``check_refused``.

    Args:
        layer: The layer.
        changed: The field, or fields, that hold another value in its program, the value, and the message; one that
            begins with a space or a colon goes on after the name of the first field.
    """
    found = []
    for fields, value, message in changed:
        names = (fields,) if isinstance(fields, str) else fields
        whole = names[0] + message if message[0] in " :" else message
        found.append(pytest.param(layer, dict.fromkeys(names, value), whole, id=f"{names[0]}={value}"))
    return found


def misfits(layer: Layer, *changed: tuple[dict[str, Any], str]) -> list[Any]:
    """Return parameters for a layer with parts that do not fit: it, other parts, and the message."""
    return [pytest.param(layer, parts, message, id=message) for parts, message in changed]


class Tracked:
    """A tracker that is fed by name."""

    def __init__(self, config: HwConfig = SMALL) -> None:
        self.tracker = LayerTracker(config)

    def ops(self, *ops: Op) -> list[StartedLayer]:
        """Play register writes."""
        return [started for op in ops if isinstance(op, RegWrite) for started in self.write(op.register, op.value)]

    def program(
        self, layer: Layer, group: int | Mapping[str, int] = 0, *, but: tuple[str, ...] = ()
    ) -> list[StartedLayer]:
        """Play a layer's program without enabling the units of ``but``."""
        left_out = {f"{unit}.D_OP_ENABLE" for unit in but}
        ops = encode(layer, self.tracker.config, group)
        return self.ops(*(op for op in ops if getattr(op, "register", "") not in left_out))

    def write(self, name: str, value: int) -> list[StartedLayer]:
        return list(self.tracker.write(self.tracker.state.registers.parse(name), value))

    def read(self, name: str, value: int) -> list[StartedLayer]:
        return self.tracker.read(self.tracker.state.registers.parse(name), value)

    def enabled(self, *units: str) -> list[bool]:
        return [self.tracker.state.enabled(unit, 0) for unit in units]
