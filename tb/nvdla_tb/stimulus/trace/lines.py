"""Memory files of ``input.txn`` (``.dat``): lines of bytes between headers of any kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from nvdla_models.limits import DATA_BYTES, MEMORY_BYTES
from nvdla_models.reading import opened, shown
from nvdla_tb.stimulus.trace.data import Chunks, read_data
from nvdla_tb.stimulus.trace.errors import TraceError

LINE_BYTES = 32
"""Bytes of each line of data; the last one may have fewer."""

_LINE_CHARACTERS = 1 << 16
_SNIFFED_BYTES = 1 << 16
_BEGINS = re.compile(rb"[ \t]*0x")
_PAIRS = re.compile(rb"[ \t]*0x[0-9a-fA-F]{2}(?:[ \t]+0x[0-9a-fA-F]{2})*+[ \t]*\r?\n?")
_FIRST_LINE = re.compile(rb"^[ \t]*0x[0-9a-fA-F]{2}[ \t\r\n]", re.MULTILINE)


def read_lines(path: Path, most: int = MEMORY_BYTES) -> bytes:
    """Read a memory file whose data lines begin with ``0x``, up to a number of bytes.

    Args:
        path: The file.
        most: How many bytes are read at most; what follows is not looked at.

    Raises:
        TraceError: with file and line, for a line of data that is not pairs of hexadecimal digits, or is shorter or
            longer than the format says; and for a file without data.

    Source: converter of the public project's default branch (``inp_txn_to_hexdump.pl``): every line of data has 32
        bytes, and what does not begin with ``0x`` is a header.
    """
    data = bytearray()
    short: int | None = None
    with opened(path, DATA_BYTES, TraceError) as file:
        number = 0
        while len(data) < most and (line := file.readline(_LINE_CHARACTERS)):
            number += 1
            if not _BEGINS.match(line):
                # The rest of a header that is longer than any line of data.
                while len(line) == _LINE_CHARACTERS and not line.endswith(b"\n"):
                    line = file.readline(_LINE_CHARACTERS)
                continue
            if not _PAIRS.fullmatch(line):
                text = shown(line[:60].decode("ascii", "backslashreplace").strip())
                raise TraceError.at(path, number, f"a line of data must be bytes such as 0x00 0x1f, not {text}")
            found = bytes.fromhex(line.replace(b"0x", b"").decode("ascii"))
            if short is not None:
                raise TraceError.at(path, short, f"a line of data before the last must have {LINE_BYTES} bytes")
            if len(found) > LINE_BYTES:
                raise TraceError.at(
                    path, number, f"a line of data must have at most {LINE_BYTES} bytes, not {len(found)}"
                )
            short = number if len(found) < LINE_BYTES else None
            data += found
    if not data:
        raise TraceError(f"{path}: the file must hold lines of data such as 0x00 0x1f, not headers alone")
    return bytes(data[:most])


def read_memory_file(path: Path) -> Chunks:
    """Read a ``.dat`` of either kind of trace: packets with their offsets, or lines of bytes from offset 0.

    Raises:
        TraceError: with file and line, for anything else.
    """
    with opened(path, DATA_BYTES, TraceError) as file:
        begin = file.read(_SNIFFED_BYTES)
    # A packet begins with a brace, and none of its lines with a number.
    if begin.lstrip()[:1] != b"{" and _FIRST_LINE.search(begin):
        return ((0, read_lines(path)),)
    return read_data(path)


def headers(path: Path) -> Iterator[str]:
    """Yield the headers before the first line of data of a file of lines, without blank ones; none of one of packets.

    Raises:
        TraceError: when the file cannot be read.
    """
    with opened(path, DATA_BYTES, TraceError) as file:
        while (line := file.readline(_LINE_CHARACTERS)) and not _BEGINS.match(line):
            text = line.decode("ascii", "backslashreplace").strip()
            if text.startswith("{"):
                return
            if text:
                yield text
