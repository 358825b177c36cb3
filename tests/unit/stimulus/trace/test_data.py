"""Memory surface files."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from nvdla_tb.stimulus.trace import TraceError, data
from nvdla_tb.stimulus.trace.data import format_data, read_data, split

PACKET = "{offset:0x0, size:4, payload:0x00 0x10 0x20 0x30}"


@pytest.fixture
def dat(tmp_path: Path) -> Path:
    return tmp_path / "x.dat"


@pytest.mark.parametrize(
    "text",
    [
        "{\n{offset:0x20, size:4, payload:0x00 0x10 0x20 0x30} ,\n{offset:0x60, size:2, payload:0xa7 0xFF}\n}\n",
        "{\n{offset:0x20, size:4, payload:0x00 0x10 0x20 0x30} ,\n{offset:0x60, size:2, payload:0xa7 0xFF} ,\n}\n",
        "{offset:32, size:0x4, payload: 0x0 0x10 0x20 0x30},\n\n{ offset : 96 ,size:2,payload:0xA7\t0xfF }",
        "{offset:0x20, size:4, payload:0x00 0x10 0x20 0x30},\r\n{offset:0x60, size:2, payload:0xa7 0xff},\r\n",
        "{ {offset:0x20, size:2, payload:0x00 0x10} , {offset:0x22, size:2, payload:0x20 0x30},"
        "{offset:0x60, size:2, payload:0xa7 0xff} }",
    ],
)
def test_every_layout_of_packets_reads_the_same(text: str, dat: Path) -> None:
    dat.write_bytes(text.encode())
    assert read_data(dat) == ((0x20, b"\x00\x10\x20\x30"), (0x60, b"\xa7\xff"))


def test_a_file_of_holes_is_refused_after_its_first_blocks(dat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    take = data._Reader.check_size

    def counted(reader: data._Reader, rest: bytes) -> None:
        sizes.append(len(rest))
        take(reader, rest)

    monkeypatch.setattr(data._Reader, "check_size", counted)
    with dat.open("wb") as file:
        file.truncate(700 << 20)
    message = f"{dat}:1: a packet must have at most 16777216 bytes of text, not " + r"\\x00" * 60 + "..."
    with pytest.raises(TraceError, match=f"^{message}$"):
        read_data(dat)
    assert sizes == [n << 22 for n in range(1, 6)]


@pytest.mark.parametrize("text", [" ", "\n"])
def test_blanks_are_not_kept(text: str, dat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_BLOCK_BYTES", 64)
    monkeypatch.setattr(data, "_PACKET_BYTES", 128)
    dat.write_text(text * 1000 + "x")
    line = 1 + (text * 1000).count("\n")
    message = f"{dat}:{line}: before the first packet must stand nothing or {{, not x"
    if text == " ":
        message = f"{dat}:1: a packet must have at most 128 bytes of text, not nothing..."
    with pytest.raises(TraceError, match=f"^{re.escape(message)}$"):
        read_data(dat)


def test_text_that_is_no_packet_is_not_kept(dat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_BLOCK_BYTES", 64)
    monkeypatch.setattr(data, "_PACKET_BYTES", 128)
    dat.write_text("x\n" * 1000)
    message = f"{dat}:1: before the first packet must stand nothing or {{, not " + "x" * 60
    with pytest.raises(TraceError, match=f"^{re.escape(message)}$"):
        read_data(dat)


@pytest.mark.parametrize(("limit", "most"), [("PIECES", 3), ("MEMORY_BYTES", 7)])
def test_more_packets_than_memory_holds_are_refused(
    limit: str, most: int, dat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, limit, most)
    dat.write_text(",".join(f"{{offset:{4 * n}, size:2, payload:0x0 0x1}}" for n in range(4)))
    bounds = f"{data.MEMORY_BYTES} bytes in {data.PIECES} pieces"
    message = f"{dat}: packets must have at most {bounds} that do not continue one another"
    with pytest.raises(TraceError, match=f"^{re.escape(message)}$"):
        read_data(dat)


def test_overlapping_packets_keep_their_order(dat: Path) -> None:
    dat.write_text("{offset:4, size:1, payload:0x1},{offset:0, size:1, payload:0x2},{offset:4, size:1, payload:0x3}")
    assert read_data(dat) == ((4, b"\x01"), (0, b"\x02"), (4, b"\x03"))


def test_a_file_without_packets_but_with_braces_is_empty(dat: Path) -> None:
    dat.write_text("".join(format_data(())))
    assert dat.read_text() == "{\n}\n"
    assert read_data(dat) == ()


def test_the_written_form_is_that_of_the_guide() -> None:
    text = "".join(format_data(((0x20, bytes(range(33))), (0x60, b"\xff"))))
    assert text == (
        "{\n{offset:0x20, size:32, payload:" + " ".join(f"0x{i:02x}" for i in range(32)) + "} ,\n"
        "{offset:0x40, size:1, payload:0x20} ,\n{offset:0x60, size:1, payload:0xff}\n}\n"
    )


@pytest.mark.parametrize("block_bytes", [1, 100, 5000])
def test_block_borders_leave_no_trace(block_bytes: int, dat: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "_BLOCK_BYTES", block_bytes)
    rng = np.random.default_rng(11)
    chunks = tuple((i << 12, rng.integers(0, 256, int(n), np.uint8).tobytes()) for i, n in enumerate((1, 32, 700, 64)))
    dat.write_text("".join(format_data(chunks)))
    assert read_data(dat) == chunks


def test_a_megabyte_of_random_bytes_survives(dat: Path) -> None:
    chunks = ((0x100, np.random.default_rng(5).integers(0, 256, 1 << 20, np.uint8).tobytes()),)
    dat.write_text("".join(format_data(chunks)))
    assert read_data(dat) == chunks


SHAPE = "a packet must be like {offset:0x0, size:4, payload:0x00 0x10 0x20 0x30} on one line, not "

MALFORMED = [
    ("", ": the file must hold packets like {offset:0x0, size:4, payload:0x00 0x10 0x20 0x30}, not nothing"),
    ("{\n", ": the file must hold packets like {offset:0x0, size:4, payload:0x00 0x10 0x20 0x30}, not nothing"),
    ("\n\nhello", ":3: before the first packet must stand nothing or {, not hello"),
    ("{\n{\n" + PACKET, ":1: before the first packet must stand nothing or {, not {{"),
    ("{\n" + PACKET + "\n", ":2: after a packet must stand } or ,}, not nothing"),
    (PACKET + "\n}\n", ":2: after a packet must stand nothing or ,, not }"),
    (PACKET + "\n" + PACKET, ":1: after a packet must stand ,, not nothing"),
    (PACKET + ",,\n" + PACKET, ":1: after a packet must stand ,, not ,,"),
    (PACKET + ",\n\n// why\n" + PACKET, ":1: after a packet must stand ,, not ,//why"),
    ("{\n{offset:0x0, size:4, payload:0x00 0x10 0x20}\n}", ":2: size must be the number of payload bytes, 3, not 4"),
    (f"{PACKET},\n{{offset:4, size:0x1, payload:0x0 0x1}}", ":2: size must be the number of payload bytes, 2, not 0x1"),
    (PACKET + ",\n{offset:0x4, payload:0x00}", ":2: " + SHAPE + "{offset:0x4, payload:0x00}"),
    ("{\n{offset:0x4, size:1, payload:0x100}\n}", ":2: " + SHAPE + "{offset:0x4, size:1, payload:0x100}"),
    ("{offset:0x4, size:1, payload:10}", ":1: " + SHAPE + "{offset:0x4, size:1, payload:10}"),
    ("{offset:-4, size:1, payload:0x10}", ":1: " + SHAPE + "{offset:-4, size:1, payload:0x10}"),
    ("{offset:4, size:0, payload:}", ":1: " + SHAPE + "{offset:4, size:0, payload:}"),
    (PACKET + ",\n{offset:4, size:2,\npayload:0x10 0x1}", ":2: " + SHAPE + "{offset:4, size:2,"),
    (PACKET + ",\n{offset:4, size:1, payload:0x10", ":2: " + SHAPE + "{offset:4, size:1, payload:0x10"),
    (f"{PACKET},\nofset\n{PACKET},", ":1: after a packet must stand ,, not ,ofset"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
@pytest.mark.parametrize("block_bytes", [1, 1 << 22])
def test_a_malformed_file_is_refused_with_its_line(
    text: str, message: str, block_bytes: int, dat: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data, "_BLOCK_BYTES", block_bytes)
    dat.write_text(text)
    with pytest.raises(TraceError, match=f"^{re.escape(str(dat) + message)}$"):
        read_data(dat)


def test_what_was_read_can_be_cut_only_where_the_bytes_agree() -> None:
    read = ((0, b"abcd"), (8, b"e"))
    assert split(read, [(0, 1), (1, 3), (5, 0), (8, 1)]) == ((0, b"a"), (1, b"bcd"), (5, b""), (8, b"e"))
    assert split(read, [(0, 4)]) is None
    assert split(read, [(0, 5), (8, 1)]) is None
    assert split(read, [(8, 1), (0, 4)]) is None


def test_a_file_beyond_the_limit_is_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "large.dat"
    with path.open("wb") as file:
        file.truncate((1 << 33) + 1)
    with pytest.raises(TraceError, match=r"large\.dat: the file must have at most 8589934592 bytes$"):
        read_data(path)
