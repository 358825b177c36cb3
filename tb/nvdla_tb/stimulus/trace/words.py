"""How registers, memories, interrupts and numbers are spelt in traces, for reading and for writing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache

from nvdla_models.config import HwConfig, builtin_names
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import INTERRUPT_UNITS, Comparison
from nvdla_tb.nvdla.registers import Register, RegisterError, RegisterMap

WORD_LIMIT = 1 << 32
"""First value after a register word."""

ADDRESS_LIMIT = 1 << 64

UNIT_PREFIX, REGISTER_SUFFIX = "NVDLA_", "_0"
"""Decoration of the names of units and registers in traces."""

IDENTIFIER = re.compile(r"\w+", re.ASCII)

MEMORIES: Mapping[str, Ram] = {"pri_mem": Ram.MC, "1": Ram.MC, "sec_mem": Ram.CVSRAM, "0": Ram.CVSRAM}
"""The memory argument: by name, or as the RAM type that the registers hold."""

PATTERNS: Mapping[str, int] = {"ALL_ZERO": 0}
"""The byte value of each pattern; the guide defines no other."""

POLLS: Mapping[str, tuple[Comparison, bool]] = {
    f"poll_{'field' if of_field else 'reg'}_{comparison.value}": (comparison, of_field)
    for of_field in (False, True)
    for comparison in Comparison
}
"""The poll commands: comparison, and whether of one field."""

_NUMBER = re.compile(r"0x[0-9a-fA-F]+|0|[1-9][0-9]*")
_INTERRUPT = re.compile(rf"({'|'.join(INTERRUPT_UNITS)})_([01])")


def number(text: str) -> int | None:
    """Return a decimal or hexadecimal number, or None for anything else."""
    if not _NUMBER.fullmatch(text):
        return None
    # More digits than any 64-bit number has: Python refuses to convert thousands of them.
    return int(text, 0) if len(text) <= 20 else ADDRESS_LIMIT


def unit_name(text: str) -> str:
    """Return a unit's name without the prefix that traces give it."""
    return text.removeprefix(UNIT_PREFIX)


def find_register(registers: RegisterMap, unit: str, name: str) -> Register:
    """Return the register that a trace calls ``name``: the suffix is no part of a register's name.

    Raises:
        RegisterError: for an unknown unit or register.
    """
    try:
        return registers.register(unit, name.removesuffix(REGISTER_SUFFIX))
    except RegisterError:
        # Some names end like the suffix, and a trace may leave the suffix out.
        return registers.register(unit, name)


def interrupt(text: str) -> tuple[str, int] | None:
    """Return (unit, register group) of an interrupt such as ``SDP_0``, or None for an unknown one."""
    match = _INTERRUPT.fullmatch(text.upper())
    return (match[1], int(match[2])) if match else None


@cache
def all_units() -> frozenset[str]:
    """Names of the units of every built-in configuration."""
    return frozenset(unit for name in builtin_names() for unit in RegisterMap.of(HwConfig.load(name)).units)


def golden_complaint(nbytes: int, chunks: Sequence[tuple[int, int]]) -> str | None:
    """Say why golden bytes at (offset, size) do not fit a check of ``nbytes``, or return None."""
    if not any(size for _, size in chunks):
        return "a golden file must hold at least one byte: nothing would be compared"
    end = max(offset + size for offset, size in chunks)
    if end > nbytes:
        return f"a golden file must end within the {nbytes:#x} bytes of its check, not at {end:#x}"
    return None
