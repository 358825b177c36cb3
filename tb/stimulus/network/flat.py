"""Flatbuffers read by a declared schema, with every offset checked before it is followed.

Example:
    BLOB = Table("Blob", {"name": STRING, "size": U64})
    blob = read_root(data, BLOB)
    blob["name"], blob["size"]
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from flatbuffers import number_types
from flatbuffers.table import Table as Reader

from tb.stimulus.network.errors import NetworkError

Record = Mapping[str, Any]
"""The slots of one table by name; those that the file leaves out hold the default of their type."""

_LINK_BYTES = 4
_VTABLE_HEAD_BYTES = 4
_READS_PER_BYTE = 2
"""How often the bytes of a file may be read: tables that share parts must not make work without end."""


@dataclass(frozen=True)
class Number:
    """A number that stands in the table itself."""

    flags: Any
    default: int = 0

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return int(self.flags.bytewidth)


@dataclass(frozen=True)
class Numbers:
    """A structure of some equal numbers that stands in the table itself."""

    flags: Any
    count: int

    @property
    def nbytes(self) -> int:
        """Bytes in the file."""
        return int(self.flags.bytewidth) * self.count


@dataclass(frozen=True)
class Text:
    """A string."""


@dataclass(frozen=True)
class Vector:
    """Any number of numbers, strings or tables."""

    of: Number | Text | Table


@dataclass(frozen=True)
class Bytes:
    """Any number of bytes, taken as they are."""


Kind = Number | Numbers | Text | Vector | Bytes
"""What a slot of a table holds."""


@dataclass(frozen=True)
class Table:
    """A table: the kinds of its slots by name, in the order of the vtable."""

    name: str
    slots: Mapping[str, Kind]


U8 = Number(number_types.Uint8Flags)
U16 = Number(number_types.Uint16Flags)
I16 = Number(number_types.Int16Flags)
U32 = Number(number_types.Uint32Flags)
I32 = Number(number_types.Int32Flags)
U64 = Number(number_types.Uint64Flags)
STRING = Text()
BYTES = Bytes()


def read_root(data: bytes, table: Table) -> Record:
    """Return the root table of a flatbuffer.

    Args:
        data: The whole file.
        table: What the root is.

    Raises:
        NetworkError: for an offset, size or string that leaves the file or has no meaning.
    """
    file = _File(data)
    return file.table(table, file.link(0, table.name), table.name)


class _File:
    """The bytes of a file, how much of them was read, and the low-level reader."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._reader = Reader(data, 0)
        self._budget = _READS_PER_BYTE * len(data)

    def check(self, at: int, nbytes: int, what: str) -> int:
        """Return a position after which so many bytes lie, or refuse it."""
        if at < 0 or at + nbytes > len(self._data):
            raise NetworkError(f"{what} must lie within the {len(self._data)} bytes of the file, not {at} + {nbytes}")
        self._budget -= nbytes
        if self._budget < 0:
            raise NetworkError(f"{what} must not share the bytes of other tables without end")
        return at

    def link(self, at: int, what: str) -> int:
        """Return the position that the offset at a position points to."""
        self.check(at, _LINK_BYTES, what)
        return self.check(int(self._reader.Indirect(at)), 1, what)

    def table(self, table: Table, at: int, where: str) -> Record:
        """Return the slots of the table at a position.

        The size of the table in its vtable is not looked at: loadables of the public compiler put the version at
        its end, where it says that nothing is.
        """
        self.check(at, _LINK_BYTES, where)
        vtable = at - int(self._reader.Get(number_types.SOffsetTFlags, at))
        self.check(vtable, _VTABLE_HEAD_BYTES, f"vtable of {where}")
        (size,) = struct.unpack_from("<H", self._data, vtable)
        if size < _VTABLE_HEAD_BYTES or size % 2:
            raise NetworkError(f"vtable of {where} must have an even number of at least 4 bytes, not {size}")
        self.check(vtable, size, f"vtable of {where}")
        record: dict[str, Any] = {}
        for number, (slot, kind) in enumerate(table.slots.items()):
            name = f"{where}.{slot}"
            entry = _VTABLE_HEAD_BYTES + 2 * number
            offset = struct.unpack_from("<H", self._data, vtable + entry)[0] if entry < size else 0
            if offset:
                self.check(at + offset, kind.nbytes if isinstance(kind, Number | Numbers) else _LINK_BYTES, name)
                record[slot] = self._value(kind, at + offset, name)
            else:
                record[slot] = _default(kind)
        return record

    def _value(self, kind: Kind, at: int, where: str) -> Any:
        match kind:
            case Number():
                return int(self._reader.Get(kind.flags, at))
            case Numbers():
                step = kind.flags.bytewidth
                return tuple(int(self._reader.Get(kind.flags, at + n * step)) for n in range(kind.count))
            case Text():
                return self._text(at, where)
            case Bytes():
                start, count = self._vector(at, 1, where)
                return self._data[start : start + count]
            case Vector():
                return self._elements(kind.of, at, where)

    def _elements(self, kind: Number | Text | Table, at: int, where: str) -> tuple[Any, ...]:
        step = kind.nbytes if isinstance(kind, Number) else _LINK_BYTES
        start, count = self._vector(at, step, where)
        places = [(start + n * step, f"{where}[{n}]") for n in range(count)]
        match kind:
            case Number():
                return tuple(int(self._reader.Get(kind.flags, place)) for place, _ in places)
            case Text():
                return tuple(self._text(place, name) for place, name in places)
            case Table():
                return tuple(self.table(kind, self.link(place, name), name) for place, name in places)

    def _vector(self, at: int, step: int, where: str) -> tuple[int, int]:
        """Return position and number of a vector's elements."""
        start = self.link(at, where)
        self.check(start, _LINK_BYTES, where)
        count = int(self._reader.Get(number_types.UOffsetTFlags, start))
        return self.check(start + _LINK_BYTES, count * step, where), count

    def _text(self, at: int, where: str) -> str:
        start, count = self._vector(at, 1, where)
        try:
            return self._data[start : start + count].decode("utf-8")
        except UnicodeDecodeError as error:
            raise NetworkError(f"{where} must be text in UTF-8: {error}") from error


def _default(kind: Kind) -> Any:
    match kind:
        case Number():
            return kind.default
        case Numbers():
            return (0,) * kind.count
        case Text():
            return ""
        case Bytes():
            return b""
        case Vector():
            return ()
