"""Bytes of a few address ranges, and which of them are known: what a layer found, and what it left behind."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_tb.judge.beats import Beats
from nvdla_tb.nvdla.pages import POISON

ByteArray = NDArray[np.uint8]
MaskArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Patch:
    """A run of bytes at an address, and which of them count.

    Attributes:
        address: address of the first byte.
        data: uint8 (n,).
        mask: bool (n,), which bytes are there.
    """

    address: int
    data: ByteArray
    mask: MaskArray

    @classmethod
    def whole(cls, address: int, data: ByteArray) -> Patch:
        """Return a run of which every byte counts."""
        return cls(address, data, np.ones(len(data), np.bool_))

    @property
    def end(self) -> int:
        """First address after the run."""
        return self.address + len(self.data)


@dataclass(frozen=True, eq=False)
class Bytes:
    """Bytes of address ranges in ascending order that do not overlap, one after the other in ``data``.

    Attributes:
        starts: first address of each range.
        sizes: bytes of each range.
        data: uint8, the bytes of all ranges.
        known: bool, which of them were written.
    """

    starts: tuple[int, ...]
    sizes: tuple[int, ...]
    data: ByteArray
    known: MaskArray

    @classmethod
    def blank(cls, ranges: Iterable[tuple[int, int]]) -> Bytes:
        """Return unknown bytes for ranges of (first, end) in any order; ranges that overlap or touch are merged."""
        merged: list[list[int]] = []
        for first, behind in sorted(ranges):
            if merged and first <= merged[-1][1]:
                merged[-1][1] = max(merged[-1][1], behind)
            else:
                merged.append([first, behind])
        sizes = tuple(behind - first for first, behind in merged)
        total = sum(sizes)
        data = np.full(total, POISON, dtype=np.uint8)
        return cls(tuple(first for first, _ in merged), sizes, data, np.zeros(total, dtype=np.bool_))

    @classmethod
    def of(cls, patches: Sequence[Patch]) -> Bytes:
        """Return the bytes of patches; a later one overwrites an earlier one."""
        bytes_ = cls.blank((patch.address, patch.end) for patch in patches)
        for patch in patches:
            bytes_.paint(patch)
        return bytes_

    def like(self) -> Bytes:
        """Return unknown bytes for the same ranges."""
        return Bytes(self.starts, self.sizes, np.full_like(self.data, POISON), np.zeros_like(self.known))

    def cuts(self, address: int, nbytes: int) -> Iterator[tuple[slice, slice]]:
        """Yield the overlap of a range with each of ours: the slice of ``data``, and that of the range."""
        at = 0
        for start, size in zip(self.starts, self.sizes, strict=True):
            first, behind = max(start, address), min(start + size, address + nbytes)
            if first < behind:
                yield slice(at + first - start, at + behind - start), slice(first - address, behind - address)
            at += size

    def paint(self, patch: Patch) -> int:
        """Write the bytes of a patch that lie in our ranges, and return how many lie outside."""
        inside = 0
        for ours, theirs in self.cuts(patch.address, len(patch.data)):
            mask = patch.mask[theirs]
            if mask.all():
                self.data[ours] = patch.data[theirs]
                self.known[ours] = True
                inside += len(mask)
                continue
            self.data[ours][mask] = patch.data[theirs][mask]
            self.known[ours] |= mask
            inside += int(np.count_nonzero(mask))
        return int(np.count_nonzero(patch.mask)) - inside

    def write(self, beats: Beats) -> None:
        """Write the bytes of beats that lie in our ranges, in their order."""
        lanes = np.arange(beats.data.shape[1], dtype=np.uint64)
        places, inside = self._find(np.add(beats.address[:, np.newaxis], lanes, dtype=np.uint64))
        inside &= beats.strobe
        self.data[places[inside]] = beats.data[inside]
        self.known[places[inside]] = True

    def read(self, address: int, nbytes: int) -> Patch:
        """Return a run of bytes; what lies in no range is unknown."""
        patch = Patch(address, np.full(nbytes, POISON, dtype=np.uint8), np.zeros(nbytes, dtype=np.bool_))
        for ours, theirs in self.cuts(address, nbytes):
            patch.data[theirs] = self.data[ours]
            patch.mask[theirs] = self.known[ours]
        return patch

    def gather(self, addresses: NDArray[np.uint64]) -> tuple[ByteArray, MaskArray]:
        """Return the bytes of single addresses, and which of them are known.

        Args:
            addresses: addresses of any shape, anywhere.

        Returns:
            uint8 and bool of the same shape.
        """
        data = np.full(addresses.shape, POISON, dtype=np.uint8)
        known = np.zeros(addresses.shape, dtype=np.bool_)
        places, inside = self._find(addresses)
        data[inside], known[inside] = self.data[places[inside]], self.known[places[inside]]
        return data, known

    def positions(self, addresses: NDArray[np.uint64]) -> NDArray[np.int64]:
        """Return the indices of ``data`` of addresses that all lie in our ranges."""
        return self._find(addresses)[0]

    def _find(self, addresses: NDArray[np.uint64]) -> tuple[NDArray[np.int64], MaskArray]:
        """Return the indices of ``data`` of addresses, and which addresses lie in our ranges; others have none."""
        if not self.starts:
            return np.zeros(addresses.shape, dtype=np.int64), np.zeros(addresses.shape, dtype=np.bool_)
        starts, sizes = np.array(self.starts, dtype=np.uint64), np.array(self.sizes, dtype=np.int64)
        which = np.maximum(np.searchsorted(starts, addresses, side="right") - 1, 0)
        # An address below the first range wraps to a huge offset.
        offsets = addresses - starts[which]
        inside: MaskArray = offsets < sizes[which].astype(np.uint64)
        return offsets.astype(np.int64) + (np.cumsum(sizes) - sizes)[which], inside

    def address_of(self, position: int) -> int:
        """Return the address of an index of ``data``.

        Raises:
            InputError: for an index that does not exist.
        """
        rest = position
        for start, size in zip(self.starts, self.sizes, strict=True):
            if 0 <= rest < size:
                return start + rest
            rest -= size
        raise InputError(f"position must be 0 to {len(self.data) - 1}, not {position}")
