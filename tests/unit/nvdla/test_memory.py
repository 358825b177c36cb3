"""The memory image: sparse pages, guards, poison, faults and files."""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nvdla_tb.nvdla.memory import GUARD_BYTES, Allocation, BadByte, MemoryFault, MemoryImage
from nvdla_tb.nvdla.pages import PAGE_BYTES, POISON


def refused(message: str) -> pytest.RaisesExc[MemoryFault]:
    return pytest.raises(MemoryFault, match=rf"^{re.escape(message)}$")


@pytest.fixture
def image() -> MemoryImage:
    return MemoryImage()


def test_bytes_that_were_never_written_read_as_poison(image: MemoryImage) -> None:
    image.write(0x101, b"\x01")
    assert image.read(0x100, 3) == bytes([POISON, 1, POISON])
    assert image.read(0x7_0000, 2) == bytes([POISON, POISON])
    assert image.written(0x100, 3).tolist() == [False, True, False]
    assert image.written(0x7_0000, 2).tolist() == [False, False]


@pytest.mark.parametrize("start", [PAGE_BYTES - 1, PAGE_BYTES, 3 * PAGE_BYTES - 5, (1 << 64) - PAGE_BYTES - 3])
def test_accesses_cross_page_borders(image: MemoryImage, start: int) -> None:
    data = np.random.default_rng(start).integers(0, 256, PAGE_BYTES + 2, dtype=np.uint8)
    image.write(start, data)
    assert image.read(start, len(data)) == data.tobytes()
    assert image.read(start - 1, 3) == bytes([POISON]) + data[:2].tobytes()
    assert image.written(start, len(data)).all()
    assert not image.written(start - 1, 1).any()


def test_the_last_byte_of_64_bits_is_memory_and_the_next_is_not(image: MemoryImage) -> None:
    image.write((1 << 64) - 1, b"\x07")
    assert image.read((1 << 64) - 1, 1) == b"\x07"
    limit = "0x10000000000000000"
    with refused(f"access must lie in 0..{limit}, not 0xffffffffffffffff + 0x2"):
        image.write((1 << 64) - 1, b"\x07\x08")
    with refused(f"access must lie in 0..{limit}, not {limit} + 0x1"):
        image.read(1 << 64, 1)


def test_a_refused_write_changes_nothing() -> None:
    image = MemoryImage(limit=0x1000)
    with refused("access must lie in 0..0x1000, not 0xfff + 0x2"):
        image.write(0xFFF, b"\x01\x02")
    assert not image.written(0xFFF, 1).any()


@pytest.mark.parametrize("call", ["read", "written", "fill"])
def test_negative_addresses_are_refused(image: MemoryImage, call: str) -> None:
    arguments = (-1, 4, 0) if call == "fill" else (-1, 4)
    with refused("access must lie in 0..0x10000000000000000, not -0x1 + 0x4"):
        getattr(image, call)(*arguments)


def test_an_array_is_written_as_it_lies(image: MemoryImage) -> None:
    image.write(0, np.array([[1, -2], [3, 4]], dtype="<i2").T)
    assert image.read(0, 8) == bytes([1, 0, 3, 0, 0xFE, 0xFF, 4, 0])


def test_read_array_is_a_copy(image: MemoryImage) -> None:
    image.write(0, b"\x01\x02")
    image.read_array(0, 2)[0] = 9
    assert image.read(0, 2) == b"\x01\x02"


@pytest.mark.parametrize("strobe", [0, 0b1, 0b10000000, 0b01010110, 0xFF])
def test_a_strobe_selects_bytes_from_the_lowest_bit(image: MemoryImage, strobe: int) -> None:
    image.write_masked(PAGE_BYTES - 3, bytes(range(8)), strobe)
    expected = [lane if strobe >> lane & 1 else POISON for lane in range(8)]
    assert list(image.read(PAGE_BYTES - 3, 8)) == expected
    assert image.written(PAGE_BYTES - 3, 8).tolist() == [bool(strobe >> lane & 1) for lane in range(8)]


def test_a_strobe_longer_than_the_data_is_refused() -> None:
    with refused("strobe must have 8 bits, one a byte, not 0x1ff"):
        MemoryImage().write_masked(0, bytes(8), 0x1FF)


def test_allocations_keep_guards_on_both_sides_and_their_alignment() -> None:
    image = MemoryImage(base=0x1000)
    first = image.allocate(1, "first", 4096)
    second = image.allocate(5, "second", 1)
    third = image.allocate(1, "third", 64)
    assert first % 4096 == 0
    assert first >= 0x1000 + GUARD_BYTES
    assert second == first + 1 + GUARD_BYTES
    assert third % 64 == 0
    assert third >= second + 5 + GUARD_BYTES
    assert image.allocations == (
        Allocation("first", first, 1),
        Allocation("second", second, 5),
        Allocation("third", third, 1),
    )


def test_allocate_goes_on_behind_claimed_ranges() -> None:
    image = MemoryImage(base=0)
    image.allocate_at("code", 0x10_0000, 16)
    assert image.allocate(16, "data") >= 0x10_0010 + GUARD_BYTES


@pytest.mark.parametrize(
    ("nbytes", "alignment", "message"),
    [
        (0, 32, "allocation src must have at least 1 byte, not 0"),
        (8, 0, "alignment_bytes must be a power of two, not 0"),
        (8, 24, "alignment_bytes must be a power of two, not 24"),
    ],
)
def test_allocations_without_sense_are_refused(nbytes: int, alignment: int, message: str) -> None:
    with refused(message):
        MemoryImage().allocate(nbytes, "src", alignment)


class Looked(list[Allocation]):
    """Allocations that count how often one is looked at."""

    count = 0

    def __getitem__(self, at: Any) -> Any:
        self.count += 1
        return super().__getitem__(at)

    def __iter__(self) -> Iterator[Allocation]:
        self.count += len(self)
        return super().__iter__()


@pytest.mark.parametrize("way", ["allocate", "wanted", "merged"])
def test_an_allocation_is_compared_with_its_neighbours_alone(way: str) -> None:
    image = MemoryImage(base=0)
    image._allocations = looked = Looked()
    for number in range(500):
        address = 0x1000 * number
        if way == "merged":
            image.allocate_merged("m", address, 16)
        else:
            image.allocate(16, "a", 32, [address + 0x1000] if way == "wanted" else [])
    assert len(looked) == 500
    assert looked.count <= 3 * 500


RANGES = st.lists(
    st.tuples(st.sampled_from(("fresh", "wanted", "at", "merged")), st.integers(0, 3000), st.integers(1, 400))
)


@settings(max_examples=200, deadline=None)
@given(RANGES)
def test_allocations_are_those_of_a_search_through_all(ranges: list[tuple[str, int, int]]) -> None:
    image, kept = MemoryImage(base=0), list[tuple[int, int]]()
    for way, address, nbytes in ranges:
        end = address + nbytes
        if way == "merged":
            alike = [(start, stop) for start, stop in kept if start <= end and address <= stop]
            kept = [each for each in kept if each not in alike]
            kept.append((min([address, *(a for a, _ in alike)]), max([end, *(b for _, b in alike)])))
            image.allocate_merged("m", address, nbytes)
        elif way == "at":
            if any(start < end and address < stop for start, stop in kept):
                with pytest.raises(MemoryFault, match=r"^allocation a at .* overlaps"):
                    image.allocate_at("a", address, nbytes)
                continue
            image.allocate_at("a", address, nbytes)
            kept.append((address, end))
        else:
            found = image.allocate(nbytes, "f", 32, [address] if way == "wanted" else [])
            near = [s for s in kept if s[0] < found + nbytes + GUARD_BYTES and found - GUARD_BYTES < s[1]]
            free = address >= GUARD_BYTES and address % 32 == 0
            free &= all(stop <= address - GUARD_BYTES or end + GUARD_BYTES <= start for start, stop in kept)
            assert not near
            assert (found == address) >= (way == "wanted" and free)
            kept.append((found, found + nbytes))
        assert [(a.address, a.end) for a in image.allocations] == sorted(kept)


def test_a_full_address_space_is_refused() -> None:
    with refused("allocation src must lie in 0..0x1000, not 0xf00 + 0x101"):
        MemoryImage(base=0xE00, limit=0x1000).allocate(0x101, "src")


@pytest.mark.parametrize(("address", "nbytes"), [(0x0FF, 2), (0x10F, 1), (0x100, 16), (0, 0x1000), (0x104, 4)])
def test_overlapping_claims_are_refused(image: MemoryImage, address: int, nbytes: int) -> None:
    image.allocate_at("src", 0x100, 16)
    with refused(f"allocation dst at {address:#x} + {nbytes:#x} overlaps src at 0x100 + 0x10"):
        image.allocate_at("dst", address, nbytes)


def test_touching_claims_are_neighbours(image: MemoryImage) -> None:
    for name, address in (("middle", 0x100), ("below", 0xF0), ("above", 0x110)):
        image.allocate_at(name, address, 16)
    assert [a.name for a in image.allocations] == ["below", "middle", "above"]
    assert image.first_bad_byte(0x10C, 8, reading=False) is None


def test_extend_merges_what_it_overlaps_or_touches(image: MemoryImage) -> None:
    image.allocate_at("low", 0x100, 16)
    image.allocate_at("high", 0x140, 16)
    image.allocate_at("far", 0x1000, 16)
    image.allocate_merged("bridge", 0x110, 0x34)
    assert image.allocations == (Allocation("low", 0x100, 0x50), Allocation("far", 0x1000, 16))
    image.allocate_merged("new", 0x2000, 4)
    assert image.allocations[-1] == Allocation("new", 0x2000, 4)


def test_a_refused_extend_keeps_the_allocations() -> None:
    image = MemoryImage(limit=0x1000)
    image.allocate_at("src", 0xFF0, 16)
    with refused("allocation more must lie in 0..0x1000, not 0xff8 + 0x10"):
        image.allocate_merged("more", 0xFF8, 16)
    assert image.allocations == (Allocation("src", 0xFF0, 16),)


@pytest.fixture
def two_ranges() -> MemoryImage:
    image = MemoryImage()
    image.allocate_at("src", 0x100, 0x20)
    image.allocate_at("dst", 0x200, 0x20)
    return image


@pytest.mark.parametrize(
    ("address", "nbytes", "reading", "expected"),
    [
        (0x100, 0x20, False, None),
        (0x11F, 1, False, None),
        (0x120, 8, False, BadByte(0x120, outside=True, place="0x0 past the end of src")),
        (0x11C, 8, False, BadByte(0x120, outside=True, place="0x0 past the end of src")),
        (0x130, 8, True, BadByte(0x130, outside=True, place="0x10 past the end of src")),
        (0x0F8, 8, True, BadByte(0xF8, outside=True, place="0x8 below src")),
        (0x0F8, 16, True, BadByte(0xF8, outside=True, place="0x8 below src")),
        (0x1FF, 1, True, BadByte(0x1FF, outside=True, place="0xdf past the end of src")),
        (0x100, 8, True, BadByte(0x100, outside=False, place="src+0x0")),
    ],
)
def test_faults_say_where_the_first_bad_byte_lies(
    two_ranges: MemoryImage, address: int, nbytes: int, reading: bool, expected: BadByte | None
) -> None:
    assert two_ranges.first_bad_byte(address, nbytes, reading=reading) == expected


def test_one_unwritten_byte_is_named(two_ranges: MemoryImage) -> None:
    two_ranges.write(0x200, bytes(13))
    two_ranges.write(0x20E, bytes(2))
    assert two_ranges.first_bad_byte(0x208, 8, reading=True) == BadByte(0x20D, outside=False, place="dst+0xd")
    assert two_ranges.first_bad_byte(0x208, 8, reading=False) is None
    two_ranges.write(0x20D, b"\x00")
    assert two_ranges.first_bad_byte(0x200, 16, reading=True) is None


def test_unwritten_bytes_across_a_page_border_are_found(image: MemoryImage) -> None:
    image.allocate_at("src", PAGE_BYTES - 16, 32)
    image.write(PAGE_BYTES - 16, bytes(31))
    border = PAGE_BYTES - 4
    assert image.first_bad_byte(border, 8, reading=True) is None
    assert image.first_bad_byte(border, 20, reading=True) == BadByte(PAGE_BYTES + 15, outside=False, place="src+0x1f")


def test_an_image_without_allocations_refuses_everything() -> None:
    assert MemoryImage().first_bad_byte(0, 1, reading=False) == BadByte(0x0, outside=True, place="no allocation at all")


def test_fill_writes_every_byte(image: MemoryImage) -> None:
    image.fill(PAGE_BYTES - 2, PAGE_BYTES + 4, 0xAB)
    assert image.read(PAGE_BYTES - 3, 2) == bytes([POISON, 0xAB])
    assert set(image.read(PAGE_BYTES - 2, PAGE_BYTES + 4)) == {0xAB}
    assert image.written(PAGE_BYTES - 2, PAGE_BYTES + 4).all()


@pytest.mark.parametrize(("start", "nbytes"), [(0, 1), (3, 9), (0, 4 * PAGE_BYTES), (PAGE_BYTES - 1, 2), (5, 0)])
def test_a_checksum_is_that_of_what_would_be_read(image: MemoryImage, start: int, nbytes: int) -> None:
    image.fill(2, 5, 0x11)
    image.fill(PAGE_BYTES - 1, 7, 0x22)
    image.fill(3 * PAGE_BYTES, PAGE_BYTES, 0x33)
    holes = int(np.count_nonzero(~image.written(start, nbytes)))
    assert image.checksum(start, nbytes) == (zlib.crc32(image.read(start, nbytes)), holes)


def test_runs_are_the_written_bytes_of_allocations(two_ranges: MemoryImage) -> None:
    two_ranges.write(0x102, b"ab")
    two_ranges.write(0x104, b"c")
    two_ranges.write(0x11F, b"d")
    two_ranges.write(0x150, b"outside")
    two_ranges.write(0x200, b"e")
    assert list(two_ranges.runs()) == [(0x102, b"abc"), (0x11F, b"d"), (0x200, b"e")]


ADDRESSES = st.one_of(
    st.integers(0, 300), st.integers(PAGE_BYTES - 20, PAGE_BYTES + 20), st.integers((1 << 64) - 300, (1 << 64) - 40)
)
WRITES = st.lists(st.tuples(ADDRESSES, st.binary(max_size=20), st.integers(0, (1 << 20) - 1)), max_size=12)


@settings(max_examples=100, deadline=None)
@given(WRITES, st.lists(st.tuples(ADDRESSES, st.integers(0, 40)), max_size=8))
def test_the_image_agrees_with_a_dictionary_of_bytes(
    writes: list[tuple[int, bytes, int]], reads: list[tuple[int, int]]
) -> None:
    image = MemoryImage()
    oracle: dict[int, int] = {}
    for address, data, strobe in writes:
        strobe &= (1 << len(data)) - 1
        image.write_masked(address, data, strobe)
        oracle |= {address + lane: byte for lane, byte in enumerate(data) if strobe >> lane & 1}
    for address, nbytes in reads:
        assert list(image.read(address, nbytes)) == [oracle.get(address + n, POISON) for n in range(nbytes)]
        assert image.written(address, nbytes).tolist() == [address + n in oracle for n in range(nbytes)]
        assert image.read_array(address, nbytes).tobytes() == image.read(address, nbytes)
