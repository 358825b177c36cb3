"""Register accesses as programs: what every register must read, whatever was written before, to it or to others.

Expectations come from the facts in ``registers.json`` and from the same mirror of all register files that follows
software elsewhere, so that a kind of program says only what it accesses and in which order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla import configrom
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import CheckNothing, Op, Poll, RegRead, RegWrite, SyncWait
from nvdla_tb.nvdla.program.state import GROUPS, RegisterState
from nvdla_tb.nvdla.registers import UNIT_BYTES, Register, RegisterMap
from nvdla_tb.stimulus.generate.errors import PlanError

WORD = 0xFFFF_FFFF
_SPECIAL = ("S_POINTER", "D_OP_ENABLE", "S_LUT_ACCESS_CFG", "S_LUT_ACCESS_DATA")
"""Registers whose writes do something else than to be kept."""

_SPECIAL_OF = {
    "GLB": ("S_INTR_MASK", "S_INTR_SET", "S_INTR_STATUS"),
    "BDMA": ("CFG_OP", "CFG_LAUNCH0", "CFG_LAUNCH1", "CFG_STATUS"),
}
_UNSTEADY = ("S_LUT_ACCESS_DATA", "S_CBUF_FLUSH_STATUS", "S_INTR_SET")
"""Registers whose value after reset depends on time or on nothing."""

_TOUCHED = 3
"""Registers of a unit that are written while it runs, besides all that are read."""

_ENTRY_NUMBERS = 1 << 10
"""Numbers of entries that S_LUT_ACCESS_CFG can hold."""

_READS_OF_ENTRIES = 0.05
"""Of the writes of a table: those after which its data register is read."""

_READS_AT_RANDOM = 48
"""Unmapped words of a unit that are read besides those close to its registers."""


class Accesses:
    """Collects accesses after a reset, of random values in random orders, and knows what each read must return."""

    def __init__(self, config: HwConfig, rng: np.random.Generator) -> None:
        self.config, self.rng = config, rng
        self.registers = RegisterMap.of(config)
        self.ops: list[Op] = []
        self._state = RegisterState(self.registers)
        self._rom = configrom.encode(config) if "CFGROM" in self.registers.units else []

    def see_read(self, register: Register) -> None:
        """Follow a read whose value may be any."""
        self._state.see_read(register)

    def write(self, register: Register, value: int) -> None:
        """Write a register, posted or not as it comes."""
        self._state.write(register, value)
        self.ops.append(RegWrite(register.full_name, value, posted=bool(self.rng.random() < 0.5)))

    def read(self, register: Register) -> None:
        """Read a register and expect what it must hold."""
        self.ops.append(RegRead(register.full_name, self.expected(register)))

    def expected(self, register: Register) -> int:
        """Return the word that a register must read, in the group that its unit's producer pointer selects."""
        unit, state = register.unit, self._state
        if unit == "CFGROM":
            return self._rom[register.offset // configrom.WORD_BYTES]
        if register.name == "S_POINTER":
            return state.producer(unit) | state.consumer(unit) << 16
        group = state.producer(unit) if register.is_grouped else 0
        if register.name == "D_OP_ENABLE":
            return int(state.enabled(unit, group))
        return state.words(unit, group)[register.name] & register.readable

    def tables(self, unit: str) -> tuple[tuple[int, ...], ...]:
        """Return the entries of a unit's lookup tables, nothing for a unit without tables."""
        entries = self._state.lut(unit)
        if entries is None or (unit == "SDP" and not self.config.sdp_lut_enable):
            return ()
        return entries

    def follow(self, program: Sequence[Op]) -> None:
        """Add a program whose writes count."""
        for op in program:
            if isinstance(op, RegWrite):
                self._state.write(self.registers.parse(op.register), op.value)
        self.ops += program

    def finish(self, groups: Mapping[str, int]) -> None:
        """Take note that a layer is done in the groups of its units."""
        for unit, group in groups.items():
            self._state.finish(unit, group)

    def scramble(self, register: Register) -> None:
        """Write any word to a register."""
        self.write(register, int(self.rng.integers(0, 1 << 32)))

    def select(self, unit: str, group: int) -> None:
        """Point a unit's producer at a group."""
        self.write(self.registers.register(unit, "S_POINTER"), group)

    def shuffled(self, registers: Sequence[Register]) -> list[Register]:
        """Return registers in any order."""
        return [registers[int(n)] for n in self.rng.permutation(len(registers))]

    def in_groups(self, unit: str, registers: Sequence[Register]) -> Iterator[list[Register]]:
        """Yield the registers of a unit that are there once, and then those of each group, selected before."""
        yield [register for register in registers if not register.is_grouped]
        grouped = [register for register in registers if register.is_grouped]
        if grouped:
            for group in self.rng.permutation(GROUPS):
                self.select(unit, int(group))
                yield grouped


def kept(registers: RegisterMap, unit: str) -> list[Register]:
    """Return the registers of a unit that keep what is written to them and do nothing else."""
    special = (*_SPECIAL, *_SPECIAL_OF.get(unit, ()))
    return [r for r in registers.of_unit(unit).values() if r.writable & r.readable and r.name not in special]


def _reset(accesses: Accesses, units: Sequence[str]) -> None:
    """Read every register of both groups after reset."""
    for unit in units:
        steady = [r for r in accesses.registers.of_unit(unit).values() if r.name not in _UNSTEADY]
        for part in accesses.in_groups(unit, steady):
            for register in part:
                accesses.read(register)


def _bits(accesses: Accesses, units: Sequence[str]) -> None:
    """Walk a one and a zero over the bits of every register; what cannot be written stays, as in the ConfigROM."""
    for unit in units:
        special = (*_SPECIAL, *_UNSTEADY, *_SPECIAL_OF.get(unit, ()))
        plain = [r for r in accesses.registers.of_unit(unit).values() if r.name not in special]
        for part in accesses.in_groups(unit, plain):
            for register in part:
                bits = [1 << bit for bit in range(32) if register.writable >> bit & 1]
                for word in (WORD, 0, *bits, *(WORD & ~bit for bit in bits)):
                    accesses.write(register, word)
                    accesses.read(register)


def _distinct(accesses: Accesses, units: Sequence[str]) -> None:
    """Write all registers of both groups, each with a value of its own, and read them all afterwards."""
    for inverted in (0, WORD):
        for unit in units:
            for part in accesses.in_groups(unit, kept(accesses.registers, unit)):
                for register in accesses.shuffled(part):
                    accesses.write(register, int(accesses.rng.integers(0, 1 << 32)) ^ inverted)
        _read_all(accesses, units)


def _read_all(accesses: Accesses, units: Sequence[str]) -> None:
    for unit in accesses.rng.permutation(list(units)):
        for part in accesses.in_groups(str(unit), kept(accesses.registers, str(unit))):
            for register in accesses.shuffled(part):
                accesses.read(register)


def _unmapped(accesses: Accesses, units: Sequence[str]) -> None:
    """Read and write where no register is; no register may change by that."""
    registers = accesses.registers
    for unit in units:
        for part in accesses.in_groups(unit, kept(registers, unit)):
            for register in part:
                accesses.scramble(register)
    addresses: set[int] = set()
    limit = 1 << max(base + UNIT_BYTES - 1 for base in registers.bases.values()).bit_length()
    for unit in units:
        base = registers.bases[unit]
        for register in registers.of_unit(unit).values():
            at = base + register.offset
            addresses.update(at ^ 1 << bit for bit in range(2, limit.bit_length() - 1))
            addresses.update((max(at - 4, 0), at + 4))
        last = base + UNIT_BYTES - 4
        addresses.update(address for address in (base - 4, base, last, last + 4) if address >= 0)
        addresses.update(int(word) for word in base + 4 * accesses.rng.integers(0, UNIT_BYTES // 4, _READS_AT_RANDOM))
    free = [address for address in sorted(addresses) if address < limit and registers.at(address) is None]
    for address in accesses.rng.permutation(free):
        place = f"{address:#x}"
        accesses.ops += [RegRead(place, 0), RegWrite(place, WORD, posted=bool(accesses.rng.random() < 0.5))]
    _read_all(accesses, units)


def _tables(accesses: Accesses, units: Sequence[str]) -> None:
    """Fill lookup tables, write after their last entries, and read them."""
    for unit in units:
        tables = accesses.tables(unit)
        for table, entries in enumerate(tables):
            _write_entries(accesses, unit, table, 0, len(entries))
        for table, entries in enumerate(tables):
            _write_entries(accesses, unit, table, len(entries), _ENTRY_NUMBERS)
        for table, entries in enumerate(accesses.tables(unit)):
            _read_entries(accesses, unit, table, entries)


def _write_entries(accesses: Accesses, unit: str, table: int, first: int, end: int) -> None:
    registers = accesses.registers.of_unit(unit)
    data = registers["S_LUT_ACCESS_DATA"]
    accesses.write(registers["S_LUT_ACCESS_CFG"], 1 << 17 | table << 16 | first)
    for _ in range(first, end):
        accesses.write(data, int(accesses.rng.integers(0, 1 << 16)))
        if accesses.rng.random() < _READS_OF_ENTRIES:
            # While entries are written, a read gives any. Some units move on, once for a write and a read that follow
            # each other in two clocks, so that nothing may be close to the read.
            rests = Poll(registers["S_LUT_ACCESS_CFG"].full_name, table, field="lut_table_id")
            accesses.ops += [rests, RegRead(data.full_name), rests]
            accesses.see_read(data)


def _read_entries(accesses: Accesses, unit: str, table: int, entries: Sequence[int]) -> None:
    registers = accesses.registers.of_unit(unit)
    accesses.write(registers["S_LUT_ACCESS_CFG"], table << 16)
    # The word follows its address by a clock: a read right after a posted write would see the one before.
    accesses.read(registers["S_LUT_ACCESS_CFG"])
    accesses.ops += [RegRead(registers["S_LUT_ACCESS_DATA"].full_name, entry) for entry in entries]


def _pending(accesses: Accesses, units: Sequence[str]) -> None:
    """Enable the group that is not next: it waits, ignores writes, and the other group takes them."""
    for unit in units:
        registers = accesses.registers.of_unit(unit)
        if "D_OP_ENABLE" not in registers:
            continue
        mine = [register for register in kept(accesses.registers, unit) if register.is_grouped]
        enable, status = registers["D_OP_ENABLE"], registers["S_STATUS"]
        for group in range(GROUPS):
            accesses.select(unit, group)
            for register in mine:
                accesses.scramble(register)
        accesses.write(enable, 1)
        accesses.read(enable)
        accesses.ops.append(RegRead(status.full_name, status.field("status_1").values["PENDING"] << 16))
        for register in mine:
            accesses.scramble(register)
        accesses.write(enable, 0)
        for register in (*mine, enable):
            accesses.read(register)
        accesses.select(unit, 0)
        for register in mine:
            accesses.scramble(register)
        for group in range(GROUPS):
            accesses.select(unit, group)
            for register in mine:
                accesses.read(register)


def running_program(layers: Sequence[Layer], config: HwConfig, rng: np.random.Generator) -> tuple[Op, ...]:
    """Return a program that accesses the registers of units while layers run, which must not notice.

    Of each unit, the registers of the group that runs are read and written, which changes nothing, and those of the
    other group are written, read and restored. First of all the states of all units are read. The layers run one after
    the other, and must take some thousand cycles.
    """
    accesses = Accesses(config, rng)
    runs: dict[str, int] = {}
    for number, layer in enumerate(layers):
        units = chain_of(layer).units
        groups = {unit: runs.get(unit, 0) % GROUPS for unit in units}
        runs |= {unit: runs.get(unit, 0) + 1 for unit in units}
        name = f"layer_{number}"
        accesses.follow(encode(layer, config, groups, sync_id=name))
        accesses.ops += _states_while_running(accesses, groups)
        grouped = {unit: [r for r in kept(accesses.registers, unit) if r.is_grouped] for unit in units}
        mine = {unit: accesses.shuffled(registers)[:_TOUCHED] for unit, registers in grouped.items()}
        for unit in units:
            for register in kept(accesses.registers, unit):
                accesses.read(register)
        for unit in accesses.rng.permutation(list(units)):
            for register in mine[str(unit)]:
                accesses.read(register)
                accesses.scramble(register)
                accesses.read(register)
        for unit in accesses.rng.permutation(list(units)):
            _use_other_group(accesses, mine[str(unit)], 1 - groups[str(unit)])
        accesses.ops += [SyncWait(unit, name) for unit in accesses.registers.units]
        accesses.ops.append(CheckNothing(name))
        accesses.finish(groups)
    return tuple(accesses.ops)


def _states_while_running(accesses: Accesses, groups: Mapping[str, int]) -> Iterator[Op]:
    """Yield reads of the states of units that run: RUNNING in their group, IDLE in the other."""
    for unit, group in groups.items():
        status = accesses.registers.of_unit(unit).get("S_STATUS")
        if status is not None:
            field = status.field(f"status_{group}")
            yield RegRead(status.full_name, field.values["RUNNING"] << field.lsb)


def _use_other_group(accesses: Accesses, registers: Sequence[Register], group: int) -> None:
    """Write registers of the group that rests, and restore them."""
    accesses.select(registers[0].unit, group)
    for register in registers:
        before = accesses.expected(register)
        accesses.scramble(register)
        accesses.read(register)
        accesses.write(register, before)
        accesses.read(register)


Kind = Literal["reset", "bits", "distinct", "unmapped", "pending", "tables"]
"""Kinds of programs, as plans call them; ``unmapped`` accesses addresses without a register on purpose."""

_KINDS: dict[Kind, Callable[[Accesses, Sequence[str]], None]] = {
    "reset": _reset,
    "bits": _bits,
    "distinct": _distinct,
    "unmapped": _unmapped,
    "pending": _pending,
    "tables": _tables,
}

_OF_ROM = ("reset", "bits")
"""Those that access the ConfigROM, too."""


def register_program(kind: Kind, config: HwConfig, rng: np.random.Generator, units: Sequence[str]) -> tuple[Op, ...]:
    """Return a program of register accesses.

    Args:
        kind: What is accessed.
        config: The configuration whose registers are accessed.
        rng: Random numbers for values and orders.
        units: Units to access, or none for all that the configuration has.

    Raises:
        PlanError: for a unit that the configuration lacks.
    """
    accesses = Accesses(config, rng)
    have = tuple(unit for unit in accesses.registers.units if kind in _OF_ROM or unit != "CFGROM")
    for unit in units:
        if unit not in have:
            raise PlanError(f"units must be of {', '.join(have)}, not {unit}")
    _KINDS[kind](accesses, units or have)
    return tuple(accesses.ops)
