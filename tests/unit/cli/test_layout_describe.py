"""``describe`` of files of memory; that of layouts is tested with each format."""

from __future__ import annotations

import zlib
from pathlib import Path

import pytest

from nvdla_tb.cli.main import main
from tests.unit.stimulus.trace.txn_files import DATA, lines


def described(path: Path, text: str | bytes, capsys: pytest.CaptureFixture[str], *options: str) -> list[str]:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert main(["describe", str(path), *options]) == 0
    return capsys.readouterr().out.splitlines()


def test_a_file_of_lines_shows_its_size_and_its_headers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.dat"
    assert described(path, f"W = 8\n\x1b[2J\n{lines(DATA)}", capsys) == [
        f"{path}: {len(DATA)} bytes, CRC-32 {zlib.crc32(DATA):#010x}",
        "  W = 8",
        r"  \x1b[2J",
        "  dumped memory,start_address=0x0 size=0xc0",
        "  ====",
    ]


def test_a_file_of_packets_shows_where_its_bytes_lie(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.dat"
    text = "{offset:0x20, size:2, payload:0x01 0x02},{offset:0x40, size:1, payload:0x03}"
    crc = zlib.crc32(b"\x01\x02\x03")
    assert described(path, text, capsys) == [
        f"{path}: 3 bytes, CRC-32 {crc:#010x}",
        "  0x20: 2 bytes",
        "  0x40: 1 byte",
    ]


def test_a_file_is_described_after_its_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.bin"
    found = described(path, DATA, capsys, "--format", "feature", "--precision", "int8", "--shape", "32,2,3")
    assert found[0].startswith("feature")
    assert found[-1] == f"{path}: {len(DATA)} bytes, CRC-32 {zlib.crc32(DATA):#010x}"


def test_a_file_that_is_no_memory_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "in.txt"
    assert main(["describe", str(path)]) == 2
    assert capsys.readouterr().err == f"error: {path}: the file must be .bin or .dat, not .txt\n"
