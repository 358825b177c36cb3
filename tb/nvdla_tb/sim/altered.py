"""Memory that a test has altered for the device alone: the model goes on to read what was there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_tb.judge.verdict import Altered
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.program.ops import MemInit, MemLoad


class Alterations:
    """What was altered in some memories.

    Attributes:
        memories: those that the device reads.
        places: address and bytes, uint8 (n,), of each alteration, in their order.
    """

    def __init__(self, memories: Mapping[Ram, MemoryImage]) -> None:
        """Begin with memories of which the model reads every byte."""
        self.memories = memories
        self._before: list[tuple[Ram, int, NDArray[np.uint8]]] = []
        self.places: list[tuple[int, NDArray[np.uint8]]] = []

    def alter(self, ram: Ram, address: int, data: NDArray[np.uint8]) -> Altered:
        """Change bytes that the device reads, and return where.

        Raises:
            InputError: for a memory that the device lacks, anything but an array of uint8, or bytes that lie outside of
                all allocations or were never written: no layer could read them.
        """
        if ram not in self.memories:
            raise InputError(f"ram must be {' or '.join(map(str, self.memories))}, not {ram!r}")
        if not isinstance(data, np.ndarray) or data.ndim != 1 or data.dtype != np.uint8:
            kind = f"{data.dtype} of the shape {data.shape}" if isinstance(data, np.ndarray) else type(data).__name__
            raise InputError(f"data must be a numpy array of uint8 with one axis, not {kind}")
        if isinstance(address, bool) or not isinstance(address, int | np.integer):
            raise InputError(f"address must be an integer, such as src.address, not {type(address).__name__}")
        address = int(address)
        bad = self.memories[ram].first_bad_byte(address, len(data), reading=True)
        if bad is not None:
            why = f"is {bad.place}" if bad.outside else "was never written"
            raise InputError(f"address must be that of bytes which the device can read: {bad.address:#x} {why}")
        self._before.append((ram, address, self.memories[ram].read_array(address, len(data))))
        self.memories[ram].write(address, data)
        self.places.append((address, data.copy()))
        return Altered(ram, address, len(data))

    def undone(self, op: MemInit | MemLoad) -> MemInit | MemLoad:
        """Return an operation that loads what the model finds in the place of what was altered."""
        if isinstance(op, MemInit) or not self._before:
            return op
        places = [(offset, self.read(op.ram, op.address + offset, len(data))) for offset, data in op.chunks]
        return replace(op, chunks=tuple((offset, data.tobytes()) for offset, data in places))

    def read(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        """Return the memory of the model: its content before it was altered, shape (nbytes,)."""
        data = self.memories[ram].read_array(address, nbytes)
        for other, start, right in self._before:
            first, end = max(start, address), min(start + len(right), address + nbytes)
            if other is ram and first < end:
                data[first - address : end - address] = right[first - start : end - start]
        return data
