"""The register header that comes with a generated core: names in tests, numbers only there."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from nvdla_models.errors import InputError
from nvdla_models.reading import read_text, shown

_FEWEST = 2
_DEFINE = re.compile(r"^\s*#\s*define\s+(?P<name>\w+)(?P<value>[^\n]*)$", re.MULTILINE)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
_VALUE = re.compile(r"0[xX][0-9a-fA-F]{1,16}|\d{1,16}")
_WORD_BYTES = 4
_ADDRESS_LIMIT = 1 << 16


@dataclass(frozen=True)
class RegisterMap:
    """Offsets of registers in bytes by name; ``registers.offset("inputStart")``. Messages name the source."""

    source: str
    offsets: Mapping[str, int]

    def offset(self, name: str) -> int:
        """Return the offset of a register.

        Raises:
            InputError: when the header has no such register.
        """
        if name not in self.offsets:
            closest = get_close_matches(name, self.offsets)
            meant = f"; closest: {', '.join(closest)}" if closest else ""
            raise InputError(f"{self.source} has no register {shown(name)}{meant}")
        return self.offsets[name]

    @classmethod
    def load(cls, path: Path) -> RegisterMap:
        """Read the header of a core.

        Each ``#define`` with a number is a register. All names end with the core's, before which data registers may
        have ``_Data``; both are left out, so that names are those of the core's report.

        Raises:
            InputError: for an offset that is no multiple of 4 below 64 KiB, a register or offset that comes
                twice, and a header with less than two registers.
        """
        return cls.parse(read_text(path), str(path))

    @classmethod
    def parse(cls, text: str, source: str) -> RegisterMap:
        """Return the registers of a header's text; messages name the source.

        Raises:
            InputError: as ``load`` does.
        """
        defined = [(found["name"], found["value"].strip()) for found in _DEFINE.finditer(_COMMENT.sub("", text))]
        # Those without a value are include guards.
        defined = [(name, value) for name, value in defined if value]
        if len(defined) < _FEWEST:
            raise InputError(f"{source} must define at least {_FEWEST} registers, not {len(defined)}")
        shared = _shared_end([name for name, _ in defined])
        offsets: dict[str, int] = {}
        known: dict[int, str] = {}
        for full, value in defined:
            name = full.removesuffix(shared).removesuffix("_Data")
            offset = _offset(source, name, value)
            if name in offsets:
                raise InputError(f"{source}: {name} must be defined once")
            if offset in known:
                raise InputError(f"{source}: {name} must not have the offset {offset:#x} of {known[offset]}")
            offsets[name], known[offset] = offset, name
        return cls(source, offsets)


def _shared_end(names: Sequence[str]) -> str:
    """Return the words that all names end with, each with the underscore in front of it."""
    words = [name.split("_") for name in names]
    shared = 0
    for ends in zip(*(reversed(parts[1:]) for parts in words), strict=False):
        if len(set(ends)) > 1:
            break
        shared += 1
    return "".join(f"_{word}" for word in words[0][len(words[0]) - shared :])


def _offset(source: str, name: str, value: str) -> int:
    if not _VALUE.fullmatch(value):
        raise InputError(f"{source}: {name} must be a number of at most 16 digits, not {shown(value)}")
    offset = int(value, 16 if value[:2] in ("0x", "0X") else 10)
    if offset % _WORD_BYTES or offset >= _ADDRESS_LIMIT:
        raise InputError(
            f"{source}: {name} must be a multiple of {_WORD_BYTES} below {_ADDRESS_LIMIT:#x}, not {offset:#x}"
        )
    return offset
