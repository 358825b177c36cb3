"""Sparse external memory with allocations, guard bytes and poison."""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.layout.raw import round_up
from nvdla_models.limits import DRAWN_BYTES
from nvdla_tb.nvdla.pages import PAGE_BYTES, POISON_PAGE, Page

GUARD_BYTES = 256

DUMP_FILE = "dump.npz"
"""The file beside a run's result."""


class MemoryFault(InputError):
    """An access that the memory image refuses: the message names address, length and rule."""


class Ram(Enum):
    """Memory port of an address: NVDLA's two, or those of the second system.

    ::

        src = bench.place(cube, ram=Ram.CVSRAM)
    """

    MC = "MC"
    CVSRAM = "CVSRAM"
    ACTIVATION = "activation data"
    WEIGHT = "weight data"
    DEBUG = "debug"


@dataclass(frozen=True)
class Allocation:
    """A named address range that scenarios and the DUT may touch."""

    name: str
    address: int
    nbytes: int

    @property
    def end(self) -> int:
        """First address after the range."""
        return self.address + self.nbytes


@dataclass(frozen=True)
class BadByte:
    """A byte that an access must not touch: outside every allocation, or read and never written.

    ``place`` is where it lies, relative to the nearest allocation.
    """

    address: int
    outside: bool
    place: str


class PageStore:
    """Where the pages of an image lie: in this process's own memory."""

    def __init__(self) -> None:
        """Start without pages."""
        self.pages: dict[int, Page] = {}

    def find(self, number: int) -> Page | None:
        """Return a page, or None when nothing was ever written to it."""
        return self.pages.get(number)

    def create(self, number: int) -> Page:
        """Return a new, poisoned page."""
        page = self.pages[number] = Page.poisoned()
        return page

    def allocated(self, allocations: Sequence[Allocation]) -> None:
        """Called with the allocations, in address order, whenever they change.

        The sequence is the image's own, which shows later changes, too.
        """


class MemoryImage:
    """The bytes behind one memory port: mutable, sparse, 64-bit addresses.

    ::

        memory = MemoryImage()
        address = memory.allocate(64, "src")
        memory.write(address, np.arange(64, dtype=np.uint8))

    Bytes that nobody has written are poisoned, and addresses outside every allocation are forbidden: the bench reports
    a device that reads the former or touches the latter.
    """

    def __init__(self, base: int = 0x8000_0000, limit: int = 1 << 64, store: PageStore | None = None) -> None:
        """Start an empty image.

        Args:
            base: First address that ``allocate`` hands out.
            limit: First address after the addressable space.
            store: Store of its pages; None for the memory of this process.
        """
        self._store = PageStore() if store is None else store
        self._allocations: list[Allocation] = []
        self._starts: list[int] = []
        self._next_free = base
        self._allocated_bytes = 0
        self._limit = limit

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        """All allocations in address order."""
        return tuple(self._allocations)

    def allocate(self, nbytes: int, name: str, alignment_bytes: int = 32, wanted: Iterable[int] = ()) -> int:
        """Reserve a fresh range with guard bytes on both sides and return its address.

        Args:
            nbytes: Size of the range; its bytes stay poisoned until written.
            name: Name of the range in messages.
            alignment_bytes: Power of two that the address is a multiple of.
            wanted: Preferred addresses; the first free one is taken.

        Raises:
            MemoryFault: for an impossible size or alignment, or when no room is left.
        """
        if nbytes < 1:
            raise MemoryFault(f"allocation {name} must have at least 1 byte, not {nbytes}")
        self._allocated_bytes += nbytes
        if self._allocated_bytes > DRAWN_BYTES:
            raise MemoryFault(
                f"allocations must have at most {DRAWN_BYTES} bytes together, not {self._allocated_bytes} with {name}"
            )
        if alignment_bytes < 1 or alignment_bytes & (alignment_bytes - 1):
            raise MemoryFault(f"alignment_bytes must be a power of two, not {alignment_bytes}")
        for address in wanted:
            if address % alignment_bytes == 0 and self._is_free(address, nbytes):
                # Not by allocate_at: what comes next does not follow a wanted place, which may be the end of memory.
                self._add(name, address, nbytes)
                return address
        address = round_up(self._next_free + GUARD_BYTES, alignment_bytes)
        # Allocations never overlap, so that of those below the address only the last can be in the way.
        for number in range(max(bisect_right(self._starts, address) - 1, 0), len(self._allocations)):
            other = self._allocations[number]
            if other.address - GUARD_BYTES >= address + nbytes:
                break
            if address < other.end + GUARD_BYTES:
                address = round_up(other.end + GUARD_BYTES, alignment_bytes)
        self.allocate_at(name, address, nbytes)
        return address

    def allocate_at(self, name: str, address: int, nbytes: int) -> None:
        """Make a range at a given address accessible.

        Raises:
            MemoryFault: when it overlaps an allocation or leaves the address space.
        """
        self._check_range(name, address, nbytes)
        at = bisect_right(self._starts, address)
        for other in self._allocations[max(at - 1, 0) : at + 1]:
            if address < other.end and other.address < address + nbytes:
                raise MemoryFault(
                    f"allocation {name} at {address:#x} + {nbytes:#x} overlaps {other.name} "
                    f"at {other.address:#x} + {other.nbytes:#x}"
                )
        self._add(name, address, nbytes)
        self._next_free = max(self._next_free, address + nbytes)

    def allocate_merged(self, name: str, address: int, nbytes: int) -> None:
        """Make a range accessible, and merge it with ranges that it overlaps or touches.

        Raises:
            MemoryFault: when it leaves the address space; nothing changes then.
        """
        self._check_range(name, address, nbytes)
        last = bisect_right(self._starts, address + nbytes)
        first = bisect_right(self._starts, address)
        # Allocations may touch, so that two below the address can end at it.
        while first > 0 and self._allocations[first - 1].end >= address:
            first -= 1
        merged = self._allocations[first:last]
        start = min([address, *(a.address for a in merged)])
        end = max([address + nbytes, *(a.end for a in merged)])
        del self._allocations[first:last], self._starts[first:last]
        self.allocate_at(merged[0].name if merged else name, start, end - start)

    def allocation_at(self, address: int) -> Allocation | None:
        """Return the allocation that holds ``address``, if any."""
        at = bisect_right(self._starts, address) - 1
        if at >= 0 and address < self._allocations[at].end:
            return self._allocations[at]
        return None

    def describe(self, address: int) -> str:
        """Say where an address lies: ``src+0x40``, or the nearest allocation below or above."""
        inside = self.allocation_at(address)
        if inside:
            return f"{inside.name}+{address - inside.address:#x}"
        if not self._allocations:
            return "no allocation at all"
        at = bisect_right(self._starts, address) - 1
        if at < 0:
            nearest = self._allocations[0]
            return f"{nearest.address - address:#x} below {nearest.name}"
        nearest = self._allocations[at]
        return f"{address - nearest.end:#x} past the end of {nearest.name}"

    def write(self, address: int, data: bytes | bytearray | memoryview | NDArray[Any]) -> None:
        """Store bytes, or an array as it lies in memory (C order), as written; the range need not be allocated.

        Raises:
            MemoryFault: outside the address space.
        """
        raw = memoryview(data.tobytes() if isinstance(data, np.ndarray) else data)
        self._bounds(address, len(raw))
        position = 0
        for page, start, stop in self._spans(address, len(raw), create=True):
            assert page is not None
            count = stop - start
            page.data[start:stop] = raw[position : position + count]
            page.mark(start, stop)
            position += count

    def write_masked(self, address: int, data: bytes, strobe: int) -> None:
        """Store the bytes of ``data`` whose bit in ``strobe`` (LSB first) is set.

        Raises:
            MemoryFault: for a strobe of more bits than bytes, or outside the address space.
        """
        if strobe >> len(data):
            raise MemoryFault(f"strobe must have {len(data)} bits, one a byte, not {strobe:#x}")
        if strobe == (1 << len(data)) - 1:
            self.write(address, data)
            return
        for lane in range(len(data)):
            if strobe >> lane & 1:
                self.write(address + lane, data[lane : lane + 1])

    def fill(self, address: int, nbytes: int, value: int) -> None:
        """Write ``nbytes`` copies of one byte value."""
        self._bounds(address, nbytes)
        for page, start, stop in self._spans(address, nbytes, create=True):
            assert page is not None
            page.data[start:stop] = bytes([value]) * (stop - start)
            page.mark(start, stop)

    def read(self, address: int, nbytes: int) -> bytes:
        """Return bytes as they are; those never written read as ``POISON``.

        Raises:
            MemoryFault: outside the address space.
        """
        self._bounds(address, nbytes)
        offset = address % PAGE_BYTES
        if offset + nbytes <= PAGE_BYTES:
            page = self._store.find(address // PAGE_BYTES)
            return bytes(page.data[offset : offset + nbytes]) if page else POISON_PAGE[:nbytes]
        return b"".join(
            bytes(page.data[start:stop]) if page else POISON_PAGE[start:stop]
            for page, start, stop in self._spans(address, nbytes, create=False)
        )

    def read_array(self, address: int, nbytes: int) -> NDArray[np.uint8]:
        """Return a copy of the bytes, shape (nbytes,) uint8."""
        return np.frombuffer(self.read(address, nbytes), dtype=np.uint8).copy()

    def written(self, address: int, nbytes: int) -> NDArray[np.bool_]:
        """Return which bytes were ever written, shape (nbytes,) bool."""
        self._bounds(address, nbytes)
        parts = [
            page.written(start, stop) if page else np.zeros(stop - start, dtype=np.bool_)
            for page, start, stop in self._spans(address, nbytes, create=False)
        ]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.bool_)

    def checksum(self, address: int, nbytes: int) -> tuple[int, int]:
        """Return zlib's CRC-32 of a range, and how many of its bytes were never written.

        Raises:
            MemoryFault: outside the address space.
        """
        self._bounds(address, nbytes)
        crc, holes = 0, 0
        for page, start, stop in self._spans(address, nbytes, create=False):
            if page is None:
                crc, holes = zlib.crc32(POISON_PAGE[start:stop], crc), holes + stop - start
                continue
            crc = zlib.crc32(page.data[start:stop], crc)
            holes += stop - start - int(np.count_nonzero(page.written(start, stop)))
        return crc, holes

    def first_bad_byte(self, address: int, nbytes: int, *, reading: bool) -> BadByte | None:
        """Return the first byte that an access must not touch, or None; a read must not touch unwritten ones either."""
        reached = address
        while reached < address + nbytes:
            inside = self.allocation_at(reached)
            if inside is None:
                return self.bad_byte(reached, outside=True)
            reached = inside.end
        if not reading:
            return None
        offset = address % PAGE_BYTES
        page = self._store.find(address // PAGE_BYTES)
        whole_groups = offset + nbytes <= PAGE_BYTES and offset % 8 == nbytes % 8 == 0
        if page and whole_groups and page.has_whole(offset // 8, nbytes // 8):
            return None
        holes = np.flatnonzero(~self.written(address, nbytes))
        if len(holes):
            return self.bad_byte(address + int(holes[0]), outside=False)
        return None

    def bad_byte(self, address: int, *, outside: bool) -> BadByte:
        """Return the byte at ``address`` as one that must not be touched."""
        return BadByte(address, outside, self.describe(address))

    def runs(self) -> Iterator[tuple[int, bytes]]:
        """Yield the written bytes of all allocations as (address, bytes), longest runs possible."""
        for allocation in self._allocations:
            yield from self.runs_in(allocation.address, allocation.nbytes)

    def runs_in(self, address: int, nbytes: int) -> Iterator[tuple[int, bytes]]:
        """Yield the written bytes of a range as (address, bytes), longest runs possible."""
        written = np.concatenate(([False], self.written(address, nbytes), [False]))
        edges = np.flatnonzero(written[1:] != written[:-1])
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            yield address + int(start), self.read(address + int(start), int(stop - start))

    def _is_free(self, address: int, nbytes: int) -> bool:
        """Return whether a range and the guards around it lie in the address space and in no allocation."""
        start, end = address - GUARD_BYTES, address + nbytes + GUARD_BYTES
        if start < 0 or end > self._limit:
            return False
        below = bisect_left(self._starts, end)
        return below == 0 or self._allocations[below - 1].end <= start

    def _add(self, name: str, address: int, nbytes: int) -> None:
        at = bisect_right(self._starts, address)
        self._starts.insert(at, address)
        self._allocations.insert(at, Allocation(name, address, nbytes))
        self._store.allocated(self._allocations)

    def _check_range(self, name: str, address: int, nbytes: int) -> None:
        if address < 0 or nbytes < 1 or address + nbytes > self._limit:
            raise MemoryFault(f"allocation {name} must lie in 0..{self._limit:#x}, not {address:#x} + {nbytes:#x}")

    def _bounds(self, address: int, nbytes: int) -> None:
        if address < 0 or nbytes < 0 or address + nbytes > self._limit:
            raise MemoryFault(f"access must lie in 0..{self._limit:#x}, not {address:#x} + {nbytes:#x}")

    def _spans(self, address: int, nbytes: int, *, create: bool) -> Iterator[tuple[Page | None, int, int]]:
        """Split a range at page borders into (page, start, stop) with offsets in the page."""
        while nbytes > 0:
            number, start = divmod(address, PAGE_BYTES)
            count = min(nbytes, PAGE_BYTES - start)
            page = self._store.find(number)
            if page is None and create:
                page = self._store.create(number)
            yield page, start, start + count
            address += count
            nbytes -= count


class Range(msgspec.Struct, frozen=True):
    """A range of memory."""

    ram: Ram
    address: int
    nbytes: int


def save_ranges(ranges: Iterable[Range], memories: Mapping[Ram, MemoryImage], path: Path) -> None:
    """Save what memory holds in some ranges."""
    arrays = {f"{r.ram.value}_{r.address:x}": memories[r.ram].read_array(r.address, r.nbytes) for r in ranges}
    np.savez_compressed(path, allow_pickle=False, **arrays)


def load_ranges(path: Path, memories: Mapping[Ram, MemoryImage]) -> None:
    """Write saved ranges into memory images."""
    with np.load(path) as file:
        for name in file.files:
            ram, address = name.split("_")
            memories[Ram(ram)].write(int(address, 16), file[name])
