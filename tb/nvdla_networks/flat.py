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

from nvdla_networks.errors import NetworkError

Record = Mapping[str, Any]
"""The slots of one table by name; those that the file leaves out hold the default of their type."""

_LINK_BYTES = 4
_VTABLE_HEAD_BYTES = 4
_READS_PER_BYTE = 2
"""How often the bytes of a file may be read: tables that share parts must not make work without end."""

U8, U16, I16, U32, I32, U64 = "<B", "<H", "<h", "<I", "<i", "<Q"
"""Numbers that stand in the table itself, as ``struct`` spells them; so does a structure of some, such as ``<3B``."""

STRING, BYTES = "string", "bytes"
"""Any number of bytes: text in UTF-8, and bytes that are taken as they are."""

_EMPTY: Mapping[str, str | bytes] = {STRING: "", BYTES: b""}


@dataclass(frozen=True)
class Table:
    """A table: the kinds of its slots by name, in the order of the vtable."""

    name: str
    slots: Mapping[str, Kind]


@dataclass(frozen=True)
class Vector:
    """Any number of numbers, strings or tables."""

    of: str | Table


Kind = str | Vector
"""What a slot of a table holds."""


def read_root(data: bytes, table: Table) -> Record:
    """Return the root table of a flatbuffer file.

    Raises:
        NetworkError: for an offset, size or string that leaves the file or has no meaning.
    """
    file = _File(data)
    return file.table(table, file.link(0, table.name), table.name)


class _File:
    """The bytes of a file, and how much of them was read."""

    def __init__(self, data: bytes) -> None:
        self._data = data
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
        return self.check(at + self._number(U32, at), 1, what)

    def table(self, table: Table, at: int, where: str) -> Record:
        """Return the slots of the table at a position.

        The size of the table in its vtable is not looked at: loadables of the public compiler put the version at
        its end, where it says that nothing is.
        """
        self.check(at, _LINK_BYTES, where)
        vtable = at - self._number(I32, at)
        self.check(vtable, _VTABLE_HEAD_BYTES, f"vtable of {where}")
        size = self._number(U16, vtable)
        if size < _VTABLE_HEAD_BYTES or size % 2:
            raise NetworkError(f"vtable of {where} must have an even number of at least 4 bytes, not {size}")
        self.check(vtable, size, f"vtable of {where}")
        record: dict[str, Any] = {}
        for number, (slot, kind) in enumerate(table.slots.items()):
            name = f"{where}.{slot}"
            entry = _VTABLE_HEAD_BYTES + 2 * number
            offset = self._number(U16, vtable + entry) if entry < size else 0
            if offset:
                self.check(at + offset, _nbytes(kind), name)
                record[slot] = self._value(kind, at + offset, name)
            else:
                record[slot] = _default(kind)
        return record

    def _number(self, kind: str, at: int) -> Any:
        return _one_or_all(struct.unpack_from(kind, self._data, at))

    def _value(self, kind: Kind, at: int, where: str) -> Any:
        if isinstance(kind, Vector):
            return self._elements(kind.of, at, where)
        if kind not in _EMPTY:
            return self._number(kind, at)
        start, count = self._vector(at, 1, where)
        data = self._data[start : start + count]
        if kind == BYTES:
            return data
        try:
            return data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise NetworkError(f"{where} must be text in UTF-8: {error}") from error

    def _elements(self, kind: str | Table, at: int, where: str) -> tuple[Any, ...]:
        step = _LINK_BYTES if isinstance(kind, Table) else _nbytes(kind)
        start, count = self._vector(at, step, where)
        places = [(start + n * step, f"{where}[{n}]") for n in range(count)]
        if isinstance(kind, Table):
            return tuple(self.table(kind, self.link(place, name), name) for place, name in places)
        return tuple(self._value(kind, place, name) for place, name in places)

    def _vector(self, at: int, step: int, where: str) -> tuple[int, int]:
        """Return position and number of a vector's elements."""
        start = self.link(at, where)
        self.check(start, _LINK_BYTES, where)
        count = self._number(U32, start)
        return self.check(start + _LINK_BYTES, count * step, where), count


def _nbytes(kind: Kind) -> int:
    """Return the bytes that stand in the table itself."""
    return _LINK_BYTES if isinstance(kind, Vector) or kind in _EMPTY else struct.calcsize(kind)


def _default(kind: Kind) -> Any:
    if isinstance(kind, Vector):
        return ()
    return _EMPTY[kind] if kind in _EMPTY else _one_or_all(struct.unpack(kind, bytes(struct.calcsize(kind))))


def _one_or_all(values: tuple[int, ...]) -> Any:
    return values[0] if len(values) == 1 else values
