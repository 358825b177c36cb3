"""Memory that a test has altered for the device alone: the model goes on to read what was there."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_tb.nvdla.memory import MemoryImage, Ram


class Alterations:
    """What was altered in some memories."""

    def __init__(self, memories: Mapping[Ram, MemoryImage]) -> None:
        """Begin with memories of which the model reads every byte."""
        self._memories = memories
        self._before: list[tuple[Ram, int, NDArray[np.uint8]]] = []

    def alter(self, ram: Ram, address: int, data: NDArray[np.uint8]) -> None:
        """Change bytes that the device reads.

        Raises:
            InputError: for a memory that the device lacks, anything but an array of uint8, or bytes that lie outside of
                all allocations or were never written: no layer could read them.
        """
        if ram not in self._memories:
            raise InputError(f"ram must be {' or '.join(map(str, self._memories))}, not {ram!r}")
        if not isinstance(data, np.ndarray) or data.ndim != 1 or data.dtype != np.uint8:
            kind = f"{data.dtype} of the shape {data.shape}" if isinstance(data, np.ndarray) else type(data).__name__
            raise InputError(f"data must be a numpy array of uint8 with one axis, not {kind}")
        bad = self._memories[ram].first_bad_byte(address, len(data), reading=True)
        if bad is not None:
            why = f"is {bad.place}" if bad.outside else "was never written"
            raise InputError(f"address must be that of bytes which the device can read: {bad.address:#x} {why}")
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
