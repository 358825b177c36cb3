"""A memory port whose slave and monitor are compiled: pages, bulk logs and counts."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tb.beats import Beats
from tb.memory import PAGE_BYTES, Allocation, Page, PageStore, Ram
from tb.settings import PortSettings
from tb.sim.native import (
    FAULT_RECORD,
    OUTSTANDING_RECORD,
    READ_RECORD,
    VIOLATION_RECORD,
    WRITE_RECORD,
    PortSettingsRecord,
    RecordLog,
    library,
)

_NUMBER = {Ram.MC: 0, Ram.CVSRAM: 1}


class NativePages(PageStore):
    """The pages that the harness reads and writes itself, as memory of this process."""

    def __init__(self, ram: Ram) -> None:
        """Bind the pages of one port; they live until the port is configured anew."""
        super().__init__()
        self._number = _NUMBER[ram]
        self._library = library()

    def find(self, number: int) -> Page | None:
        """Return a page, or None when nothing was ever written to it."""
        return self.pages.get(number) or self._adopt(number, create=False)

    def create(self, number: int) -> Page:
        """Return a new, poisoned page."""
        page = self._adopt(number, create=True)
        if page is None:
            raise MemoryError(f"no memory for page {number:#x}")
        return page

    def allocated(self, allocations: Sequence[Allocation]) -> None:
        """Tell the harness which accesses are legal."""
        ranges = np.array([(a.address, a.end - 1) for a in allocations], dtype=np.uint64)
        self._library.nvb_port_allocate(self._number, ranges.ctypes.data, len(ranges))

    def _adopt(self, number: int, *, create: bool) -> Page | None:
        address = self._library.nvb_port_page(self._number, number, create)
        if address is None:
            return None
        data = (ctypes.c_uint8 * PAGE_BYTES).from_address(address)
        valid = (ctypes.c_uint8 * (PAGE_BYTES // 8)).from_address(address + PAGE_BYTES)
        page = self.pages[number] = Page(memoryview(data).cast("B"), memoryview(valid).cast("B"))
        return page


class NativePort:
    """Monitor and slave of one memory port."""

    def __init__(
        self,
        ram: Ram,
        bus_bytes: int,
        atom_bytes: int,
        settings: PortSettings,
        latency_cycles: int,
        seed: int,
        *,
        log_reads: bool = False,
    ) -> None:
        """Configure the harness's slave; its memory becomes empty.

        Args:
            ram: Which port.
            bus_bytes: Width of its data.
            atom_bytes: What the DUT needs of a word that it reads, at least.
            settings: Stalls, jitter and reordering.
            latency_cycles: From a request to its first answer.
            seed: Of all randomness.
            log_reads: Whether to keep every read, for ``take_reads``.
        """
        self.ram = ram
        self.bus_bytes = bus_bytes
        self._number = _NUMBER[ram]
        self._library = library()
        record = PortSettingsRecord(
            seed & (1 << 64) - 1,
            settings.ready_stall,
            settings.valid_stall,
            bus_bytes,
            max(latency_cycles, 1),
            settings.jitter_cycles,
            settings.reorder,
            log_reads,
            atom_bytes=atom_bytes,
        )
        self._library.nvb_port_configure(self._number, ctypes.byref(record))
        self._writes = RecordLog(WRITE_RECORD, self._library.nvb_port_writes, self._number)
        self._reads = RecordLog(READ_RECORD, self._library.nvb_port_reads, self._number)
        self._faults = RecordLog(FAULT_RECORD, self._library.nvb_port_faults, self._number)
        self._violations = RecordLog(VIOLATION_RECORD, self._library.nvb_port_violations, self._number)
        self._rest = np.zeros(0, dtype=WRITE_RECORD)

    @property
    def handshakes(self) -> int:
        """Accepted addresses and write beats."""
        return int(self._library.nvb_port_handshakes(self._number))

    @property
    def is_balanced(self) -> bool:
        """Whether every write address has found its data and the other way round."""
        return self._waiting() == (0, 0)

    @property
    def unmatched(self) -> str:
        """Say which write addresses lack data and which data lack an address."""
        addresses, beats = self._waiting()
        return f"{addresses} write addresses without all data, {beats} beats without address"

    @property
    def is_filling(self) -> bool:
        """Whether a log holds so much that it should be emptied."""
        return any(log.is_filling for log in (self._writes, self._reads, self._faults))

    def outstanding(self) -> list[str]:
        """Say which requests have not been answered yet."""
        count = self._library.nvb_port_outstanding(self._number, None, 0)
        records = np.zeros(count, dtype=OUTSTANDING_RECORD)
        self._library.nvb_port_outstanding(self._number, records.ctypes.data, count)
        return [
            f"{'read' if record['reading'] else 'write response'} of {record['address']:#x} with id {record['id']}"
            for record in records
        ]

    def flush(self) -> None:
        """Drop every answer that is owed and every half-seen burst."""
        self._library.nvb_port_flush(self._number)

    def take_writes(self, until_cycle: int | None = None) -> Beats | None:
        """Return the beats of writes that were complete by a cycle and were not taken before, if any.

        Args:
            until_cycle: The cycle, or None for all.
        """
        fresh = self._writes.drain()
        records = np.concatenate([self._rest, fresh]) if len(self._rest) else fresh
        count = len(records)
        if until_cycle is not None:
            count = int(np.searchsorted(records["seen"], until_cycle, side="right"))
        self._rest, records = records[count:], records[:count]
        if not count:
            return None
        width = self.bus_bytes
        strobe = np.unpackbits(records["strobe"][:, : width // 8], axis=1, bitorder="little").astype(np.bool_)
        cycle, axi_id = records["cycle"].astype(np.int64), records["id"].astype(np.int64)
        return Beats(self.ram, records["address"], records["data"][:, :width], strobe, cycle, axi_id)

    def take_reads(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return cycles and beats of the reads since the last call."""
        records = self._reads.drain()
        return records["cycle"].astype(np.int64), records["beats"].astype(np.int64)

    def take_faults(self) -> NDArray[np.void]:
        """Return the accesses outside allocations and the reads of poison since the last call."""
        return self._faults.drain()

    def take_violations(self) -> NDArray[np.void]:
        """Return the first violations of rules since the last call."""
        return self._violations.drain()

    def _waiting(self) -> tuple[int, int]:
        return (
            self._library.nvb_port_addresses_waiting(self._number),
            self._library.nvb_port_beats_waiting(self._number),
        )
