"""Pages of a memory image: bytes, and which of them were written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

PAGE_BYTES = 1 << 16
POISON = 0xDB
"""The value of a byte that was never written."""

POISON_PAGE = bytes([POISON]) * PAGE_BYTES
_ALL_WRITTEN = bytes([0xFF]) * (PAGE_BYTES // 8)


@dataclass(frozen=True)
class Page:
    """The bytes of one page, and a bit per byte, least significant first: 1 once written."""

    data: memoryview
    valid: memoryview

    @classmethod
    def poisoned(cls) -> Page:
        """Return a page that nobody has written."""
        return cls(memoryview(bytearray(POISON_PAGE)), memoryview(bytearray(PAGE_BYTES // 8)))

    def mark(self, start: int, stop: int) -> None:
        """Mark the bytes from ``start`` to before ``stop`` as written."""
        first, last = start // 8, (stop - 1) // 8
        head, tail = 0xFF << start % 8 & 0xFF, 0xFF >> 7 - (stop - 1) % 8
        if first == last:
            self.valid[first] |= head & tail
            return
        self.valid[first] |= head
        self.valid[first + 1 : last] = _ALL_WRITTEN[: last - first - 1]
        self.valid[last] |= tail

    def written(self, start: int, stop: int) -> NDArray[np.bool_]:
        """Return which of the bytes from ``start`` to before ``stop`` were written, shape (stop - start,) bool."""
        covering = np.frombuffer(self.valid, dtype=np.uint8)[start // 8 : -(-stop // 8)]
        return np.unpackbits(covering, bitorder="little")[start % 8 : start % 8 + stop - start].astype(np.bool_)

    def has_whole(self, first: int, count: int) -> bool:
        """Return whether all bytes of ``count`` groups of eight, from group ``first`` on, were written."""
        return self.valid[first : first + count] == _ALL_WRITTEN[:count]
