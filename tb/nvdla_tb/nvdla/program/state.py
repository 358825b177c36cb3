"""The register files of all units, mirrored from the CSB writes that are seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from nvdla_tb.nvdla.program.lut import LutEntries, LutMemory
from nvdla_tb.nvdla.registers import Register, RegisterMap

GROUPS = 2

_MOVED_BY_HARDWARE = "GLB.S_INTR_"
_MOVED_TABLES = "S_LUT_ACCESS_"
_FLUSHED = "CDMA.S_CBUF_FLUSH_STATUS"
"""Reads 1 once the convolution buffer was flushed after a reset, and does not change any more.

Source: measured on the public nv_small RTL.
"""


@dataclass
class _Unit:
    shared: dict[str, int]
    groups: list[dict[str, int]]
    enabled: list[bool] = field(default_factory=lambda: [False] * GROUPS)
    producer: int = 0
    consumer: int = 0
    lut: LutMemory | None = None
    # By group, the words that it was enabled with, the last two times; oldest first.
    begun: list[tuple[dict[str, int], ...]] = field(default_factory=lambda: [()] * GROUPS)


class RegisterState:
    """The registers of every unit, both groups, as software programmed them.

    Measured on the public nv_small RTL: the producer pointer selects the group that a ``D_`` write
    goes to; writes to an enabled group are ignored; OP_ENABLE clears itself when the layer is done.
    """

    def __init__(self, registers: RegisterMap) -> None:
        """Start from the reset values of ``registers``."""
        self.registers = registers
        self._units: dict[str, _Unit] = {}

    def reset(self) -> None:
        """Return every register to its reset value."""
        self._units = {}

    def _unit(self, name: str) -> _Unit:
        """Return a unit, which holds reset values when it is first asked for: most programs use few units."""
        if name not in self._units:
            unit = self._units[name] = _Unit({}, [{} for _ in range(GROUPS)])
            for register in self.registers.of_unit(name).values():
                files = unit.groups if register.is_grouped else [unit.shared]
                for words in files:
                    words[register.name] = register.reset
                if register.name == "S_LUT_ACCESS_DATA":
                    unit.lut = LutMemory(name)
        return self._units[name]

    def write(self, register: Register, value: int) -> int | None:
        """Apply one CSB write of a 32-bit word.

        Returns:
            The group that the write enabled, or None when it enabled nothing.
        """
        unit = self._unit(register.unit)
        value &= register.writable
        if register.name == "S_POINTER":
            unit.producer = value & 1
        if not register.is_grouped:
            kept = unit.shared[register.name] & ~register.writable
            unit.shared[register.name] = kept | value
            if unit.lut is not None:
                unit.lut.write(register, value, unit.shared["S_LUT_ACCESS_CFG"])
            return None
        group = unit.producer
        if unit.enabled[group]:
            return None
        if register.name == "D_OP_ENABLE":
            unit.enabled[group] = bool(value & 1)
            if not unit.enabled[group]:
                return None
            unit.begun[group] = (*unit.begun[group][-1:], dict(unit.groups[group]))
            return group
        unit.groups[group][register.name] = value
        return None

    def read(self, register: Register) -> int | None:
        """Return the word that a CSB read returns once the hardware rests, None where that is not known.

        Known are registers that software alone changes, and what an idle unit shows. Source: measured on the public
        nv_small RTL: the producer pointer selects the group that reads back.
        """
        name, unit = register.full_name, self._unit(register.unit)
        if name == _FLUSHED:
            return 1
        if register.name == "S_STATUS":
            return None if any(unit.enabled) else 0
        if register.name == "S_POINTER":
            return None if any(unit.enabled) else unit.producer | unit.consumer << register.field("consumer").lsb
        if register.name == "D_OP_ENABLE":
            return None if unit.enabled[unit.producer] else 0
        moved = name.startswith(_MOVED_BY_HARDWARE) or register.name.startswith(_MOVED_TABLES)
        if moved or any(field.access != "rw" for field in register.fields):
            return None
        words = unit.groups[unit.producer] if register.is_grouped else unit.shared
        return words[register.name] & register.readable

    def see_read(self, register: Register) -> None:
        """Follow one CSB read: that of an entry of a table moves on to the next one."""
        unit = self._unit(register.unit)
        if unit.lut is not None and register.name == "S_LUT_ACCESS_DATA":
            unit.lut.read(unit.shared["S_LUT_ACCESS_CFG"])

    def enabled(self, unit: str, group: int) -> bool:
        """Return whether a unit's group waits for its turn or runs."""
        return self._unit(unit).enabled[group]

    def finish(self, unit: str, group: int) -> None:
        """Note that a unit's layer is done: OP_ENABLE clears and the consumer moves on.

        Layers may be seen to end in another order than they ran: SDP waits for the answers to its writes, and the layer
        behind, which PDP takes from it, has none.
        """
        self._unit(unit).enabled[group] = False
        self._unit(unit).consumer ^= 1

    def producer(self, unit: str) -> int:
        """Return the group whose registers software sees."""
        return self._unit(unit).producer

    def consumer(self, unit: str) -> int:
        """Return the group that the unit runs next or is running."""
        return self._unit(unit).consumer

    def lut(self, unit: str) -> LutEntries | None:
        """Return the entries of a unit's lookup tables, or None when it has none."""
        memory = self._unit(unit).lut
        return None if memory is None else memory.entries

    def begun(self, unit: str, group: int) -> Sequence[Mapping[str, int]]:
        """Return the words that a group was enabled with, by register name, the last two times; oldest first."""
        return self._unit(unit).begun[group]

    def words(self, unit: str, group: int) -> Mapping[str, int]:
        """Return all register words that a layer of ``unit`` in ``group`` sees, by register name."""
        return {**self._unit(unit).shared, **self._unit(unit).groups[group]}
