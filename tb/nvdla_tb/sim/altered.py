"""Memory that a test has altered for the device alone: the model goes on to read what was there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.nvdla.memory import MemoryImage, Ram


class Alterations:
    """What was altered in some memories."""

    def __init__(self, memories: Mapping[Ram, MemoryImage]) -> None:
        """Begin with memories of which the model reads every byte."""
        self._memories = memories
        self._before: list[tuple[Ram, int, NDArray[np.uint8]]] = []

    def alter(self, ram: Ram, address: int, data: NDArray[np.uint8]) -> None:
        """Change bytes that the device reads."""
        self._before.append((ram, address, self._memories[ram].read_array(address, len(data))))
        self._memories[ram].write(address, data)

    def read(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        """Return the memory of the model: its content before it was altered, shape (nbytes,)."""
        data = self._memories[ram].read_array(address, nbytes)
        for other, start, right in self._before:
            first, end = max(start, address), min(start + len(right), address + nbytes)
            if other is ram and first < end:
                data[first - address : end - address] = right[first - start : end - start]
        return data
