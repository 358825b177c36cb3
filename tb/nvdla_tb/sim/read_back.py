"""Reads registers back after a failure: what a unit holds and nobody wrote points at the way to its registers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nvdla_tb.nvdla.program.state import GROUPS, RegisterState
from nvdla_tb.nvdla.registers import Register, RegisterMap
from nvdla_tb.sim.backend import Backend
from nvdla_tb.sim.csb import CsbTimeout

_POINTER, _STATUS = "S_POINTER", "S_STATUS"


@dataclass(frozen=True)
class Misheld:
    """A register that holds another word than the one that was written.

    Attributes:
        register: The register.
        group: The group that it is of.
        written: The word that software wrote, or its reset value.
        held: The word that it reads.
    """

    register: Register
    group: int
    written: int
    held: int

    def __str__(self) -> str:
        """Return both words in one line."""
        name = f"{self.register.full_name} of group {self.group}"
        return f"{name} holds {self.held:#x}, and {self.written:#x} was written"


async def read_back(backend: Backend, state: RegisterState) -> list[Misheld]:
    """Return the registers of layers that hold what nobody wrote, at the end of a failure.

    A group that still runs a layer that should have ended holds what that layer has; nothing is wrong with it. Where
    CSB does not answer any more, what was found until then.

    Args:
        backend: Has the register port.
        state: The registers as they were written.
    """
    registers, found = state.registers, list[Misheld]()
    try:
        for unit in registers.units:
            grouped = [register for register in registers.of_unit(unit).values() if register.is_grouped]
            for group in range(GROUPS) if grouped else ():
                words = state.words(unit, group)
                if all(words[register.name] == register.reset for register in grouped):
                    continue
                await backend.csb.write(registers.register(unit, _POINTER), group)
                backend.look()
                first = len(found)
                for register in grouped:
                    written = state.read(register)
                    if written is None:
                        continue
                    held = await backend.csb.read(register) & register.readable
                    if held != written:
                        found.append(Misheld(register, group, written, held))
                here = found[first:]
                if here and await _runs(backend, registers, unit, group) and _is_of_a_layer_before(state, here):
                    del found[first:]
    except CsbTimeout:
        pass
    return found


async def _runs(backend: Backend, registers: RegisterMap, unit: str, group: int) -> bool:
    """Return whether a group of a unit runs a layer."""
    register = registers.register(unit, _STATUS)
    status = register.field(f"status_{group}")
    return await backend.csb.read(register) >> status.lsb & 3 == status.values["RUNNING"]


def _is_of_a_layer_before(state: RegisterState, misheld: Sequence[Misheld]) -> bool:
    """Return whether registers of a group hold what they were enabled with before: all that have changed since."""
    unit, group = misheld[0].register.unit, misheld[0].group
    held = {each.register.name: each.held for each in misheld}
    for words in state.begun(unit, group):
        now = state.words(unit, group)
        changed = {name for name in words if words[name] != now[name]}
        if len(changed) > 1 and changed == held.keys() and all(words[name] == held[name] for name in changed):
            return True
    return False
