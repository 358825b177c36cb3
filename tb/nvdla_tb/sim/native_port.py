"""A memory port whose slave and monitor are compiled: pages, bulk logs and counts."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import Outstanding, Unmatched
from nvdla_tb.judge.port_rules import READ_CLIENTS, WRITE_CLIENTS
from nvdla_tb.nvdla.memory import Allocation, PageStore, Ram
from nvdla_tb.nvdla.pages import PAGE_BYTES, Page
from nvdla_tb.sim.native import (
    ANSWER_RECORD,
    FAULT_RECORD,
    OUTSTANDING_RECORD,
    READ_RECORD,
    VIOLATION_RECORD,
    WRITE_RECORD,
    Lease,
    PortSettingsRecord,
    RecordLog,
    library,
)
from nvdla_tb.sim.ports import bus_bytes, is_wrapped, latency_cycles, port_seed
from nvdla_tb.stimulus.settings import CHANNELS, PortSettings

_NUMBER = {Ram.MC: 0, Ram.CVSRAM: 1}


class NativePages(PageStore):
    """The pages that the harness reads and writes itself, as memory of this process."""

    def __init__(self, ram: Ram, lease: Lease) -> None:
        """Bind the pages of one port; they live as long as the lease of the harness."""
        super().__init__()
        self._lease = lease
        self._number = _NUMBER[ram]
        self._library = library()
        self._is_telling = False

    def find(self, number: int) -> Page | None:
        """Return a page, or None when nothing was ever written to it.

        Raises:
            InputError: when another bench has the harness.
        """
        self._lease.check()
        return self.pages.get(number) or self._adopt(number, create=False)

    def create(self, number: int) -> Page:
        """Return a new, poisoned page.

        Raises:
            InputError: when another bench has the harness.
        """
        self._lease.check()
        page = self._adopt(number, create=True)
        if page is None:
            raise MemoryError(f"no memory for page {number:#x}")
        return page

    def allocated(self, allocations: Sequence[Allocation]) -> None:
        """Tell the harness which accesses are legal, when the task that allocates next waits.

        No time passes until then, and a scenario has thousands of allocations, of which each would repeat all.
        """
        if not self._is_telling:
            self._is_telling = True
            cocotb.start_soon(self._tell(allocations))

    async def _tell(self, allocations: Sequence[Allocation]) -> None:
        self._is_telling = False
        if self._lease.is_held:
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
        self, dut: SimHandleBase, config: HwConfig, settings: PortSettings, seed: int, ram: Ram, *, log_reads: bool
    ) -> None:
        """Configure the harness's slave; its memory becomes empty."""
        self.ram = ram
        self.bus_bytes = bus_bytes(dut, config, ram)
        self._number = _NUMBER[ram]
        self._library = library()
        latency = latency_cycles(config, settings, ram)
        # No wrapper changes the ids of clients.
        judges_ids = not is_wrapped(dut, ram)
        record = PortSettingsRecord(
            port_seed(seed, ram) & (1 << 64) - 1,
            settings.ready_stall,
            settings.valid_stall,
            self.bus_bytes,
            max(latency, 1),
            settings.jitter_cycles,
            settings.reorder,
            log_reads,
            config.memory_atomic_bytes,
            max(latency if settings.write_latency_cycles is None else settings.write_latency_cycles, 1),
            settings.pause_cycles,
            settings.pause_period_cycles,
            sum(1 << CHANNELS.index(channel) for channel in settings.pauses),
            READ_CLIENTS if judges_ids else 0,
            WRITE_CLIENTS if judges_ids else 0,
        )
        self._library.nvb_port_configure(self._number, ctypes.byref(record))
        self._writes = RecordLog(WRITE_RECORD, self._library.nvb_port_writes, self._number)
        self._reads = RecordLog(READ_RECORD, self._library.nvb_port_reads, self._number)
        self._answers = RecordLog(ANSWER_RECORD, self._library.nvb_port_answers, self._number)
        self.faults = RecordLog(FAULT_RECORD, self._library.nvb_port_faults, self._number)
        self.violations = RecordLog(VIOLATION_RECORD, self._library.nvb_port_violations, self._number)

    @property
    def handshakes(self) -> int:
        """Accepted addresses and write beats."""
        return int(self._library.nvb_port_handshakes(self._number))

    @property
    def read_requests(self) -> int:
        """Accepted reads."""
        return int(self._library.nvb_port_read_requests(self._number))

    def unmatched(self) -> Unmatched | None:
        """Return how many write addresses lack data and data an address, or None when all have matched."""
        addresses = self._library.nvb_port_addresses_waiting(self._number)
        beats = self._library.nvb_port_beats_waiting(self._number)
        return Unmatched(self.ram, addresses, beats) if addresses or beats else None

    @property
    def is_filling(self) -> bool:
        """Whether a log holds so much that it should be emptied."""
        return any(log.is_filling for log in (self._writes, self._reads, self._answers, self.faults))

    def outstanding(self) -> list[Outstanding]:
        """Return the requests that have not been answered yet."""
        count = self._library.nvb_port_outstanding(self._number, None, 0)
        records = np.zeros(count, dtype=OUTSTANDING_RECORD)
        self._library.nvb_port_outstanding(self._number, records.ctypes.data, count)
        return [Outstanding(self.ram, bool(reading), address, axi_id) for address, axi_id, reading in records.tolist()]

    def take_most_outstanding(self) -> tuple[int, int]:
        """Return the most beats of reads and writes that waited at a time since the last call."""
        reads, writes = ctypes.c_uint32(), ctypes.c_uint32()
        self._library.nvb_port_most_outstanding(self._number, ctypes.byref(reads), ctypes.byref(writes))
        return reads.value, writes.value

    def log_reads(self) -> None:
        """Keep every read from now on, for ``take_reads``."""
        self._library.nvb_port_log_reads(self._number)

    def flush(self) -> None:
        """Drop every answer that is owed and every half-seen burst."""
        self._library.nvb_port_flush(self._number)

    def fetch_writes(self) -> None:
        """Take all writes and answers by now from the harness; ``take_writes`` and ``take_answers`` hand them out."""
        self._writes.fetch()
        self._answers.fetch()

    def take_writes(self, until_cycle: int | None = None) -> Beats | None:
        """Return the fetched beats of writes that were complete by a cycle, if any; each is taken once."""
        records = self._writes.take("seen", until_cycle)
        if not len(records):
            return None
        width = self.bus_bytes
        strobe = np.unpackbits(records["strobe"][:, : width // 8], axis=1, bitorder="little").astype(np.bool_)
        cycle, axi_id = records["cycle"].astype(np.int64), records["id"].astype(np.int64)
        return Beats(self.ram, records["address"], records["data"][:, :width], strobe, cycle, axi_id)

    def take_answers(self, until_cycle: int | None = None) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
        """Return the fetched answers to writes that were accepted by a cycle, if any; each is taken once.

        Returns:
            Ids, and cycles of the last beats of the writes.
        """
        records = self._answers.take("cycle", until_cycle)
        if not len(records):
            return None
        return records["id"].astype(np.int64), records["written"].astype(np.int64)

    def take_reads(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return cycles, beats and ids of the reads since the last call."""
        records = self._reads.drain()
        return tuple(records[name].astype(np.int64) for name in ("cycle", "beats", "id"))  # type: ignore[return-value]
