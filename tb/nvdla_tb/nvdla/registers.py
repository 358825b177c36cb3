"""Registers and fields by name, with their address in each configuration.

Source: register manual of the architecture documentation; addresses of the scalable
configurations from the ConfigROM's address-space layout.

The facts lie in ``registers.json``, one line a register: byte offset within the unit, then each field as
``name[msb:lsb] access reset``, followed by ``NAME=value`` pairs where values are named. Offsets and fields are
the same in every configuration; the bases differ, and a configuration may say that registers have fewer bits or other
values after reset. (JSON, because every simulation reads it when it starts:
the same as TOML takes 20 times as long.)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache, cached_property
from pathlib import Path

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError

UNIT_BYTES = 0x1000
ADDRESS_LIMIT = 1 << 18
"""CSB has 16 bits of word addresses."""

WORD_LIMIT = 1 << 32

INTR_STATUS = "GLB.S_INTR_STATUS"
"""The register in which done interrupts are seen and cleared."""

_ADDRESS = re.compile(r"0x[0-9a-f]+")
_DATA = Path(__file__).with_suffix(".json")
_FIELD = re.compile(
    r"(?P<name>\w+)\[(?P<msb>\d+):(?P<lsb>\d+)\] (?P<access>r|w|rw) (?P<reset>0x[0-9a-f]+)(?P<values>.*)"
)
_DONE = re.compile(r"(\w+)_done_status([01])")


class RegisterError(InputError):
    """A register, field or value that does not exist or is not allowed."""


@dataclass(frozen=True)
class Field:
    """One bit field: ``lsb`` to ``msb`` inclusive, ``access`` as software sees it (r, w, rw)."""

    name: str
    lsb: int
    msb: int
    access: str
    reset: int
    values: Mapping[str, int]

    @property
    def width(self) -> int:
        """Bits of the field."""
        return self.msb - self.lsb + 1

    @property
    def mask(self) -> int:
        """The field's bits in place."""
        return ((1 << self.width) - 1) << self.lsb

    def extract(self, word: int) -> int:
        """Return the field's value in a 32-bit register word."""
        return (word & self.mask) >> self.lsb


@dataclass(frozen=True)
class Register:
    """One 32-bit register of a unit; ``offset`` in bytes from the unit's base, fields as the data file spells them.

    Attributes:
        bits: The bits that the register has; the fields' others read 0 and keep nothing.
        reset_word: The word after reset, None for that of the fields.
    """

    unit: str
    name: str
    offset: int
    spelt_fields: tuple[str, ...]
    bits: int = 0xFFFF_FFFF
    reset_word: int | None = None

    @property
    def is_mapped(self) -> bool:
        """Whether it is a register; a place without one has no unit, and its address as its name."""
        return bool(self.unit)

    @cached_property
    def full_name(self) -> str:
        """``UNIT.NAME``, as traces and messages spell it, or the address of a place where no register is."""
        return f"{self.unit}.{self.name}" if self.is_mapped else self.name

    @cached_property
    def fields(self) -> tuple[Field, ...]:
        """The fields; a simulation takes those of few registers apart."""
        return tuple(_field(text) for text in self.spelt_fields)

    @cached_property
    def reset(self) -> int:
        """The word after reset."""
        if self.reset_word is not None:
            return self.reset_word
        return sum(field.reset << field.lsb for field in self.fields)

    @cached_property
    def writable(self) -> int:
        """Mask of the bits that a CSB write can change."""
        return self._mask("w")

    @cached_property
    def readable(self) -> int:
        """Mask of the bits that a CSB read returns."""
        return self._mask("r")

    def _mask(self, access: str) -> int:
        return sum(field.mask for field in self.fields if access in field.access) & self.bits

    @property
    def is_grouped(self) -> bool:
        """True for ``D_`` registers, which exist once per register group."""
        return self.name.startswith("D_")

    def field(self, name: str) -> Field:
        """Return the field called ``name``.

        Raises:
            RegisterError: when there is none, listing those that exist.
        """
        for field in self.fields:
            if field.name == name:
                return field
        known = ", ".join(f.name for f in self.fields)
        raise RegisterError(f"{self.full_name} has no field {name}; it has {known}")


Where = Register | str | int
"""How a register may be named: itself, ``UNIT.NAME``, or its byte address."""


def word_of(value: object) -> int:
    """Return a value that a register can be written with.

    Raises:
        RegisterError: for anything but an integer of 32 bits.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or not 0 <= value < WORD_LIMIT:
        raise RegisterError(f"value must be an integer from 0 to {WORD_LIMIT - 1:#x}, not {value!r}")
    return int(value)


class RegisterMap:
    """All registers of one configuration, by name and by address."""

    def __init__(self, bases: Mapping[str, int], units: Mapping[str, Mapping[str, Register]]) -> None:
        """Bind the registers of ``units`` to the byte addresses ``bases``."""
        self.bases = dict(bases)
        self._units = {unit: units[unit] for unit in bases if unit in units}
        self._by_address = {
            bases[unit] + register.offset: register
            for unit, registers in self._units.items()
            for register in registers.values()
        }

    @classmethod
    def of(cls, config: HwConfig) -> RegisterMap:
        """Return the register map of ``config``, without the units it lacks."""
        return _map_of(config)

    @property
    def units(self) -> tuple[str, ...]:
        """Names of the units that have registers."""
        return tuple(self._units)

    def __iter__(self) -> Iterator[Register]:
        """Iterate over all registers in address order."""
        return (self._by_address[address] for address in sorted(self._by_address))

    def of_unit(self, unit: str) -> Mapping[str, Register]:
        """Return the registers of a unit by name.

        Raises:
            RegisterError: for a unit that this configuration lacks.
        """
        if unit not in self._units:
            raise RegisterError(f"unit must be one of {', '.join(self._units)}, not {unit}")
        return self._units[unit]

    def register(self, unit: str, name: str) -> Register:
        """Return one register by name.

        Raises:
            RegisterError: for a unit or a register that this configuration lacks.
        """
        try:
            return self.of_unit(unit)[name]
        except KeyError:
            near = get_close_matches(name, self.of_unit(unit), 1)
            meant = f"; did you mean {near[0]}?" if near else ""
            raise RegisterError(f"unit {unit} has no register {name}{meant}") from None

    def find(self, where: Where) -> Register:
        """Return a register by itself, its ``UNIT.NAME`` or its byte address, or the place without a register there.

        Raises:
            RegisterError: for an unknown name or an impossible address.
        """
        if isinstance(where, Register):
            return where
        if isinstance(where, str):
            return self.parse(where)
        return self.at(where) or self._free(where)

    def parse(self, full_name: str) -> Register:
        """Return the register spelt ``UNIT.NAME``, or the place without a register that a byte address names.

        Raises:
            RegisterError: for a malformed or unknown name, and for an address that cannot be or has a register.
        """
        if _ADDRESS.fullmatch(full_name):
            return self._free(int(full_name, 16))
        unit, dot, name = full_name.partition(".")
        if not dot:
            raise RegisterError(f"register must be spelt UNIT.NAME, not {full_name}")
        return self.register(unit, name)

    def field(self, name: str) -> tuple[Register, Field]:
        """Return what is spelt ``UNIT.REGISTER.field``.

        Raises:
            RegisterError: for an unknown name.
        """
        unit, register_name, field_name = name.split(".")
        register = self.register(unit, register_name)
        return register, register.field(field_name)

    def address(self, register: Register) -> int:
        """Byte address of ``register`` on CSB."""
        if not register.is_mapped:
            return register.offset
        return self.bases[register.unit] + register.offset

    def _free(self, address: int) -> Register:
        if address % 4 or address >= ADDRESS_LIMIT:
            raise RegisterError(f"address must be a multiple of 4 below {ADDRESS_LIMIT:#x}, not {address:#x}")
        if address in self._by_address:
            raise RegisterError(f"address {address:#x} must be spelt {self._by_address[address].full_name}")
        return Register("", f"{address:#x}", address, ())

    def in_rom(self, address: int) -> bool:
        """Return whether a byte address lies in the ConfigROM, which software reads on after its last word."""
        base = self.bases["CFGROM"]
        return base <= address < base + UNIT_BYTES

    def at(self, address: int) -> Register | None:
        """Return the register at a byte address, or None where nothing is mapped."""
        return self._by_address.get(address)


def with_field(register: Register, word: int, name: str, value: int) -> int:
    """Return ``word`` with one field of ``register`` replaced.

    Raises:
        RegisterError: for an unknown field, or a value that does not fit or needs bits that the register lacks.
    """
    field = register.field(name)
    if not 0 <= value < 1 << field.width:
        raise RegisterError(f"{register.full_name}.{name} must fit in {field.width} bits, not {value}")
    if value << field.lsb & ~register.bits:
        has = register.bits & field.mask
        raise RegisterError(
            f"{register.full_name}.{name} must have only the bits {has >> field.lsb:#x} of this build, not {value:#x}"
        )
    return word & ~field.mask | value << field.lsb


@cache
def _data() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, Register]]]:
    raw = json.loads(_DATA.read_text(encoding="ascii"))
    bases = {layout: {unit: int(base, 16) for unit, base in of.items()} for layout, of in raw["base"].items()}
    units = {
        unit: {
            name: Register(unit, name, int(offset, 16), tuple(fields)) for name, (offset, *fields) in registers.items()
        }
        for unit, registers in raw["unit"].items()
    }
    return bases, units


def _field(text: str) -> Field:
    match = _FIELD.fullmatch(text)
    if match is None:
        raise RegisterError(f"malformed field in {_DATA.name}: {text}")
    values = {name: int(value) for name, _, value in (pair.partition("=") for pair in match["values"].split())}
    return Field(match["name"], int(match["lsb"]), int(match["msb"]), match["access"], int(match["reset"], 16), values)


@cache
def _map_of(config: HwConfig) -> RegisterMap:
    bases, units = _data()
    absent = {
        unit
        for unit, present in (
            ("BDMA", config.bdma_enable),
            ("RBK", config.rubik_enable),
            ("CVIF", config.secondary_memif_enable),
            ("PDP", config.pdp_enable),
            ("PDP_RDMA", config.pdp_enable),
            ("CDP", config.cdp_enable),
            ("CDP_RDMA", config.cdp_enable),
        )
        if not present
    }
    of_map = bases[config.register_map]
    built = _as_built(config, {unit: units[unit] for unit in of_map if unit in units})
    return RegisterMap({unit: base for unit, base in of_map.items() if unit not in absent}, built)


def _as_built(config: HwConfig, units: Mapping[str, Mapping[str, Register]]) -> Mapping[str, Mapping[str, Register]]:
    """Return the registers with the bits and reset values of the build.

    Raises:
        RegisterError: for a register that the map lacks, and for bits that the register there lacks.
    """
    built = {unit: dict(registers) for unit, registers in units.items()}
    for full_name, bits in config.register_bits:
        register = _register_of(built, f"{config.name}: register_bits", full_name, bits)
        built[register.unit][register.name] = replace(register, bits=bits)
    for full_name, word in config.register_resets:
        register = _register_of(built, f"{config.name}: register_resets", full_name, word)
        built[register.unit][register.name] = replace(register, reset_word=word)
    return built


def _register_of(units: Mapping[str, Mapping[str, Register]], where: str, full_name: str, word: int) -> Register:
    """Return a register that a configuration names, and refuse bits that it lacks."""
    unit, _, name = full_name.partition(".")
    register = units.get(unit, {}).get(name)
    if register is None:
        raise RegisterError(f"{where} must name registers of the register map, not {full_name}")
    allowed = register.readable | register.writable
    if word & ~allowed:
        raise RegisterError(f"{where}: {full_name} must be bits of {allowed:#x}, not {word:#x}")
    return register


@cache
def done_bits() -> Mapping[tuple[str, int], int]:
    """Return the bits of done interrupts in GLB's mask, set and status registers, by what raises them and its group."""
    fields = _data()[1]["GLB"]["S_INTR_STATUS"].fields
    matches = ((_DONE.fullmatch(field.name), field.lsb) for field in fields)
    return {(match[1].upper(), int(match[2])): bit for match, bit in matches if match is not None}
