"""Memory files of ``input.txn``: lines of bytes between headers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from nvdla_tb.stimulus.trace import TraceError
from nvdla_tb.stimulus.trace.lines import read_lines, read_memory_file

ROW = "0x" + bytes(range(32)).hex(" ").replace(" ", " 0x")
BYTES = bytes(range(32))


@pytest.fixture
def dat(tmp_path: Path) -> Path:
    return tmp_path / "x.dat"


@pytest.mark.parametrize(
    "text",
    [
        f"{ROW}\n{ROW}\n",
        f"# W=0x8\nprecision 0x5\n {ROW}\n\n{ROW}",
        f" {ROW} \r\n\t{ROW}\r\ndump done\r\n",
        f"{ROW.upper().replace('0X', '0x')}\n==== 0x00\n{ROW}\n====\n",
        f"{'h' * 70_000}\n{ROW}\n{ROW}\n",
    ],
    ids=["bare", "headers", "blanks and returns", "capitals", "a header longer than any line of data"],
)
def test_lines_of_data_are_read_between_headers_of_any_kind(text: str, dat: Path) -> None:
    dat.write_bytes(text.encode())
    assert read_lines(dat) == 2 * BYTES


def test_reading_stops_at_the_size_that_is_asked_for(dat: Path) -> None:
    dat.write_text(f"{ROW}\n{ROW}\n0x00 nonsense\n")
    assert read_lines(dat, 40) == (2 * BYTES)[:40]


def test_the_last_line_may_have_fewer_bytes(dat: Path) -> None:
    dat.write_text(f"{ROW}\n0x01 0x02\n====\n")
    assert read_lines(dat) == BYTES + b"\x01\x02"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0x01 0x2\n", ":1: a line of data must be bytes such as 0x00 0x1f, not 0x01 0x2"),
        ("W=8\n0x01,0x02\n", ":2: a line of data must be bytes such as 0x00 0x1f, not 0x01,0x02"),
        ("0x0102\n", ":1: a line of data must be bytes such as 0x00 0x1f, not 0x0102"),
        (f"0x01\n{ROW}\n", ":1: a line of data before the last must have 32 bytes"),
        (f"{ROW} 0x20\n", ":1: a line of data must have at most 32 bytes, not 33"),
        ("W=8\n", ": the file must hold lines of data such as 0x00 0x1f, not headers alone"),
        ("", ": the file must hold lines of data such as 0x00 0x1f, not headers alone"),
    ],
)
def test_what_is_no_line_of_data_is_refused(text: str, message: str, dat: Path) -> None:
    dat.write_text(text)
    with pytest.raises(TraceError, match=rf"^{re.escape(f'{dat}{message}')}$"):
        read_lines(dat)


def test_a_memory_file_of_either_kind_is_read(dat: Path) -> None:
    dat.write_text(f"W=8\n{ROW}\n")
    assert read_memory_file(dat) == ((0, BYTES),)
    dat.write_text("{offset:0x20, size:2, payload:0x00 0x10}\n")
    assert read_memory_file(dat) == ((0x20, b"\x00\x10"),)


def test_a_file_of_neither_kind_is_refused_as_one_of_packets(dat: Path) -> None:
    dat.write_text("W=8\n")
    with pytest.raises(TraceError, match=rf"^{re.escape(str(dat))}:1: before the first packet must stand nothing or "):
        read_memory_file(dat)
