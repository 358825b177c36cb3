"""Files from outside: opened, read up to a stated limit and parsed; whatever is wrong with one is an ``InputError``.

Whoever writes a file may have put a FIFO, a device or a loop of links in its place, so that every reader opens files
with ``opened``.
"""

from __future__ import annotations

import json
import os
import stat
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from nvdla_models.errors import InputError, printable
from nvdla_models.limits import NESTING, NUMBER_BITS, TEXT_BYTES

_BLOCK_BYTES = 1 << 20


_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
}


@contextmanager
def opened(path: Path, most: int = TEXT_BYTES, error: type[InputError] = InputError) -> Iterator[BinaryIO]:
    """Open a file for the time of the block, which reads it.

    Args:
        path: the file; symbolic links to it are followed.
        most: bytes that it may have; holes of a sparse file count.
        error: type of the exceptions to raise.

    Raises:
        InputError: of the type ``error``, when it is no regular file, is larger, or cannot be opened or read.
    """
    name = str(path)
    try:
        if "\0" in name:
            raise error(f"{shown(name)}: cannot be read: embedded null byte")
        with open(name, "rb", opener=_without_waiting) as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                kind = _KINDS.get(stat.S_IFMT(found.st_mode), "of another kind")
                raise error(f"{shown(name)}: must be a regular file, not {kind}")
            if found.st_size > most:
                raise error(f"{shown(name)}: the file must have at most {most} bytes")
            yield file
    except OSError as why:
        raise error(f"{shown(name)}: cannot be read: {why.strerror or why}") from why


def _without_waiting(name: str, flags: int) -> int:
    """Open a file, but neither wait for the writer of a FIFO nor take a terminal for that of this process."""
    return os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY)


def read_bytes(path: Path, most: int = TEXT_BYTES, error: type[InputError] = InputError) -> bytes:
    """Return the content of a file.

    Args:
        path: the file.
        most: bytes that it may have.
        error: type of the exceptions to raise.

    Raises:
        InputError: of the type ``error``, when it is no regular file, cannot be read or is larger.
    """
    with opened(path, most, error) as file:
        # Block by block: a read of many bytes takes room for all of them at once.
        data = bytearray()
        while len(data) <= most and (block := file.read(_BLOCK_BYTES)):
            data += block
    if len(data) > most:  # it has grown meanwhile, or is one of those that say they are empty, as below /proc
        raise error(f"{shown(path)}: the file must have at most {most} bytes")
    return bytes(data)


def read_text(path: Path, most: int = TEXT_BYTES, error: type[InputError] = InputError) -> str:
    """Return the content of a UTF-8 file; see ``read_bytes``.

    Raises:
        InputError: of the type ``error``, when it cannot be read, is larger, or is no UTF-8.
    """
    raw = read_bytes(path, most, error)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as why:
        line = raw.count(b"\n", 0, why.start) + 1
        raise error(f"{shown(path)}:{line}: text must be UTF-8, not byte {raw[why.start]:#04x}") from why


def read_toml(path: Path, error: type[InputError] = InputError) -> dict[str, Any]:
    """Return the table that a TOML file holds.

    Raises:
        InputError: of the type ``error``, when it cannot be read, is no TOML, or nests or counts beyond the limits.
    """
    table: dict[str, Any] = _parsed(tomllib.loads, read_text(path, error=error), shown(path), "", error)
    return table


def parse_json(text: str, where: str, error: type[InputError] = InputError) -> Any:
    """Return the content of a JSON text.

    Args:
        text: the text.
        where: its name in messages.
        error: type of the exceptions to raise.

    Raises:
        InputError: of the type ``error``, when it is no JSON, or nests or counts beyond the limits.
    """
    return _parsed(json.loads, text, where, " must be JSON", error)


def read_json(path: Path) -> Any:
    """Return the content of a JSON file.

    Raises:
        InputError: when it cannot be read, is no JSON, or nests or counts beyond the limits.
    """
    return parse_json(read_text(path), shown(path))


def resolved(path: Path) -> Path:
    """Return the absolute path without symbolic links; of a path that leads nowhere, as far as it leads.

    ``Path.resolve`` raises for a loop of links. Whoever opens such a path says what is wrong with it.
    """
    return path if "\0" in str(path) else Path(os.path.realpath(path))


def shown(value: object) -> str:
    """Return a value from outside as a message shows it: on one line, printable, and not endless."""
    try:
        text = str(value)
    except ValueError:  # an integer of thousands of digits
        return "a number of thousands of digits"
    return printable(text, _SHOWN)


_SHOWN = 500


def _parsed(load: Callable[[str], Any], text: str, where: str, rule: str, error: type[InputError]) -> Any:
    try:
        raw = load(text)
    except RecursionError as why:
        raise error(f"{where}: tables and lists must nest at most {NESTING} deep") from why
    except ValueError as why:  # a syntax error, and what Python says of an integer of thousands of digits
        raise error(f"{where}{rule}: {why}") from why
    _check(raw, where, error)
    return raw


def _check(raw: Any, where: str, error: type[InputError]) -> None:
    """Refuse what nests too deep, integers that no register or address holds, and halves of characters."""
    waiting = [(raw, 0)]
    while waiting:
        value, depth = waiting.pop()
        if depth > NESTING:
            raise error(f"{where}: tables and lists must nest at most {NESTING} deep")
        if isinstance(value, dict):
            waiting += [(entry, depth + 1) for item in value.items() for entry in item]
        elif isinstance(value, list):
            waiting += [(entry, depth + 1) for entry in value]
        elif isinstance(value, str) and any("\ud800" <= c <= "\udfff" for c in value):
            raise error(f"{where}: text must be of whole characters, not {shown(value)}")
        elif isinstance(value, int) and value.bit_length() > NUMBER_BITS:
            raise error(f"{where}: a number must have at most {NUMBER_BITS} bits, not {value.bit_length()}")
