"""Reads registers back after a failure: what a unit holds and nobody wrote points at the way to its registers."""

from __future__ import annotations

from dataclasses import dataclass

from nvdla_tb.nvdla.program.state import GROUPS, RegisterState
from nvdla_tb.nvdla.registers import Register
from nvdla_tb.sim.backend import Backend
from nvdla_tb.sim.csb import CsbTimeout

_POINTER = "S_POINTER"


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

    Where CSB does not answer any more, what was found until then.

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
                for register in grouped:
                    written = state.read(register)
                    if written is None:
                        continue
                    held = await backend.csb.read(register) & register.readable
                    if held != written:
                        found.append(Misheld(register, group, written, held))
    except CsbTimeout:
        pass
    return found
