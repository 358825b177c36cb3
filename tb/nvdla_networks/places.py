"""Where the memory of a loadable lies, and what its tasks find there."""

from __future__ import annotations

from typing import Any

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.layout.raw import round_up
from nvdla_networks.errors import NetworkError
from nvdla_networks.loadable import Address, Loadable, Task, Version
from nvdla_networks.network import Allocation
from nvdla_tb.nvdla.memory import Ram, Range

PAGE_BYTES = 4096
BASE_ADDRESS = 0x8000_0000
"""Where the memory of a network begins; a page stays free between allocations, so that what leaves one is seen."""


class Placer:
    """Gives the memory entries that tasks use an address each, in the order in which they are asked for."""

    def __init__(self, loadable: Loadable, config: HwConfig, free: dict[Ram, int], constants: dict[int, int]) -> None:
        """Start where an earlier placement has ended.

        Args:
            loadable: Whose memory it is.
            config: Decides which RAMs there are, and how far they reach.
            free: First free address of each RAM that has one.
            constants: Addresses of memory that is there already and is never written.
        """
        self.loadable = loadable
        self.free = free
        self.config = config
        self._constants = constants
        self._addresses = dict(constants)
        self._written: set[int] = set()

    def address(self, memory: int) -> int:
        """Return the address of a memory entry.

        Raises:
            NetworkError: when the configuration lacks its RAM, or has no room left.
        """
        if memory not in self._addresses:
            entry = self.loadable.memories[memory]
            if not entry.is_allocated:
                raise NetworkError(f"memory {memory}: flags must hold allocate (1), because a task uses it")
            if entry.ram is Ram.CVSRAM and not self.config.secondary_memif_enable:
                raise NetworkError(f"memory {memory}: domain must be 0 (MC): {self.config.name} has no second memory")
            start = self.free.get(entry.ram, BASE_ADDRESS)
            end = start + round_up(entry.nbytes, PAGE_BYTES)
            if end > 1 << self.config.memif_address_width_bits:
                raise NetworkError(f"memory {memory}: {entry.nbytes} bytes must end in the address space of the ports")
            self._addresses[memory] = start
            self.free[entry.ram] = end + PAGE_BYTES
        return self._addresses[memory]

    def write(self, memory: int) -> None:
        """Note that a task or the application writes to a memory entry."""
        self._written.add(memory)

    def span(self, address: Address, nbytes: int, what: str) -> Range:
        """Return bytes at a place.

        Raises:
            NetworkError: when they leave the pages of their memory.
        """
        entry = self.loadable.memories[address.memory]
        room = round_up(entry.nbytes, PAGE_BYTES) - address.offset
        if nbytes > room:
            raise NetworkError(f"{what} must end within memory {entry.id}, {room} bytes on, not after {nbytes}")
        return Range(entry.ram, self.address(address.memory) + address.offset, max(nbytes, 1))

    def allocations(self) -> tuple[Allocation, ...]:
        """Return the memory that was placed, apart from that which was there already."""
        found = []
        for number, address in self._addresses.items():
            if number not in self._constants:
                entry = self.loadable.memories[number]
                chunks = tuple((at, self.loadable.blobs[name].data) for at, name in entry.contents)
                nbytes, is_constant = round_up(entry.nbytes, PAGE_BYTES), number not in self._written
                found.append(Allocation(f"m{number}", entry.ram, address, nbytes, chunks, is_constant))
        return tuple(found)

    def constants(self) -> dict[int, int]:
        """Return the addresses of what nobody writes to."""
        return {number: address for number, address in self._addresses.items() if number not in self._written}


class Descriptors:
    """The descriptors of one task, out of the blobs that the loadable puts into memory."""

    def __init__(self, task: Task, loadable: Loadable) -> None:
        """Bind them to a task of a loadable."""
        self._loadable = loadable
        self._task = task
        self.what = f"task {task.id}"

    def address(self, position: int, what: str, offset: int = 0) -> Address:
        """Return the place at a position of the task's list.

        Raises:
            NetworkError: for a position that the list does not have.
        """
        places = self._task.addresses
        if not 0 <= position < len(places):
            raise NetworkError(
                f"{self.what}: {what} must be one of the {len(places)} places of its list, not {position}"
            )
        return Address(places[position].memory, places[position].offset + offset)

    def blob_at(self, position: int, what: str) -> tuple[bytes, Version]:
        """Return the bytes of a blob from a place to its end, and the version of the blob.

        Raises:
            NetworkError: when none is loaded there.
        """
        address = self.address(position, what)
        for offset, name in self._loadable.memories[address.memory].contents:
            blob = self._loadable.blobs[name]
            if offset <= address.offset < offset + len(blob.data):
                return blob.data[address.offset - offset :], blob.version
        raise NetworkError(f"{self.what}: {what} must lie where a blob is loaded, not at position {position}")

    def records(self, position: int, what: str, dtype: np.dtype[Any], count: int) -> Any:
        """Return descriptors that lie one after the other at a place.

        Raises:
            NetworkError: when the blob there does not hold as many.
        """
        data, _ = self.blob_at(position, what)
        if len(data) < count * dtype.itemsize:
            raise NetworkError(
                f"{self.what}: {what} must be {count} entries of {dtype.itemsize} bytes, not {len(data)} bytes"
            )
        return np.frombuffer(data, dtype, count)
