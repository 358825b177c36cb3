"""Flatbuffers: what the builder wrote comes back, and no offset of a hostile file is followed out of it."""

from __future__ import annotations

import struct
from contextlib import suppress

import pytest

from nvdla_networks.errors import NetworkError
from nvdla_networks.flat import BYTES, I16, STRING, U16, U32, U64, Table, Vector, read_root
from tests.unit.networks.loadables import flat_file

INNER = Table("inner", {"number": I16, "text": STRING})
OUTER = Table(
    "outer",
    {
        "version": "<3B",
        "size": U64,
        "words": Vector(U32),
        "names": Vector(STRING),
        "inner": Vector(INNER),
        "data": BYTES,
        "absent": U16,
    },
)
RECORD = {
    "version": (1, 2, 3),
    "size": 1 << 40,
    "words": (7, 0xFFFFFFFF),
    "names": ("a", "", "zwölf"),
    "inner": ({"number": -2, "text": "x"}, {"number": 3, "text": "y"}),
    "data": bytes(range(10)),
}


def test_every_slot_comes_back_and_those_left_out_are_zero_or_empty() -> None:
    assert read_root(flat_file(OUTER, RECORD), OUTER) == {**RECORD, "absent": 0}
    assert read_root(flat_file(OUTER, {}), OUTER) == {
        **{"version": (0, 0, 0), "size": 0, "words": (), "names": (), "inner": (), "data": b"", "absent": 0}
    }


def test_a_file_that_ends_early_is_refused_wherever_it_ends() -> None:
    data = flat_file(OUTER, RECORD)
    for length in range(len(data) - 4):
        with pytest.raises(NetworkError, match="must lie within the"):
            read_root(data[:length], OUTER)


def test_an_empty_file_is_refused_with_its_size() -> None:
    with pytest.raises(NetworkError, match=r"^outer must lie within the 0 bytes of the file, not 0 \+ 4$"):
        read_root(b"", OUTER)


def test_no_offset_of_any_word_leads_out_of_the_file() -> None:
    data = flat_file(OUTER, RECORD)
    for at in range(0, len(data) - 3):
        for word in (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, len(data)):
            changed = data[:at] + struct.pack("<I", word) + data[at + 4 :]
            # Anything but a refusal by name fails the test.
            with suppress(NetworkError):
                read_root(changed, OUTER)


def test_a_vtable_of_an_odd_size_is_refused() -> None:
    data = bytearray(flat_file(OUTER, RECORD))
    root = struct.unpack_from("<I", data)[0]
    vtable = root - struct.unpack_from("<i", data, root)[0]
    struct.pack_into("<H", data, vtable, 5)
    with pytest.raises(NetworkError, match=r"^vtable of outer must have an even number of at least 4 bytes, not 5$"):
        read_root(bytes(data), OUTER)


def test_text_that_is_not_utf_8_is_refused() -> None:
    data = flat_file(OUTER, RECORD).replace("zwölf".encode(), b"zw\xff\xfflf")
    with pytest.raises(NetworkError, match=r"^outer\.names\[2\] must be text in UTF-8: "):
        read_root(data, OUTER)


def shared_lists(links: int, words: int) -> bytes:
    """Return a table with a vector of links to one other table, which has a vector of words."""
    vtable = struct.pack("<4H", 6, 8, 4, 0)
    inner = 24 + 4 * links
    return b"".join(
        (
            struct.pack("<I", 12),
            vtable,
            struct.pack("<iII", 12 - 4, 4, links),
            b"".join(struct.pack("<I", inner - (24 + 4 * n)) for n in range(links)),
            struct.pack("<iII", inner - 4, 4, words),
            bytes(4 * words),
        )
    )


def test_a_small_file_whose_entries_all_share_one_large_part_is_refused() -> None:
    table = Table("lists", {"lists": Vector(Table("list", {"words": Vector(U32)}))})
    assert read_root(shared_lists(1, 1000), table) == {"lists": ({"words": (0,) * 1000},)}
    with pytest.raises(NetworkError, match=r"must not share the bytes of other tables without end$"):
        read_root(shared_lists(1000, 1000), table)
