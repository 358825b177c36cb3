"""CSB and the interrupt line played by the compiled harness: whole programs are handed over at once."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator, Sequence
from enum import IntEnum
from functools import cached_property

import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event

from nvdla_models.config import HwConfig
from nvdla_tb.judge.judge import Access
from nvdla_tb.judge.outstanding import limits_outstanding
from nvdla_tb.nvdla.program.bdma import LAUNCHES
from nvdla_tb.nvdla.program.ops import Comparison, Poll, RegRead, RegWrite
from nvdla_tb.nvdla.registers import Register, RegisterMap, Where, word_of
from nvdla_tb.sim.csb import CsbReset, CsbTimeout, PollTimeout, ReadBack, answer_deadline_cycles
from nvdla_tb.sim.interrupts import Interrupts
from nvdla_tb.sim.native import (
    ACCESS_RECORD,
    OP_RECORD,
    RESULT_RECORD,
    VIOLATION_RECORD,
    CsbSettingsRecord,
    Lease,
    RecordLog,
    library,
)
from nvdla_tb.sim.ports import is_wrapped
from nvdla_tb.stimulus.player import RegisterOp
from nvdla_tb.stimulus.settings import BenchSettings

_WORD = 0xFFFF_FFFF
_STARTS = frozenset({"D_OP_ENABLE", *LAUNCHES})
"""Registers whose writes start layers."""

_COMPARISONS = list(Comparison)
"""Their places are the numbers that the harness knows them by."""


class _Kind(IntEnum):
    WRITE = 0
    READ = 1
    POLL = 2


class _Status(IntEnum):
    DONE = 0
    NOT_ACCEPTED = 1
    NOT_ANSWERED = 2
    POLL_EXPIRED = 3


class _Batch:
    """Accesses that were handed over together: their records, names, answers, and whether all is over."""

    def __init__(self, number: int, count: int) -> None:
        self.number = number
        self.records = np.zeros(count, dtype=OP_RECORD)
        self.records["batch"] = number
        self.records["mask"] = _WORD
        self.records["wake"][-1] = 1
        self.names = [""] * count
        self.answers: dict[int, tuple[int, int]] = {}
        self.failed: tuple[int, _Status, int] | None = None
        self.dropped = False
        self.over = Event()

    @cached_property
    def due(self) -> int:
        """How many of its accesses give a result; all are put by then."""
        return int(np.count_nonzero((self.records["kind"] == _Kind.READ) | (self.records["wake"] == 1)))

    def put(self, index: int, kind: _Kind, address: int, name: str) -> None:
        self.records["kind"][index] = kind
        self.records["address"][index] = address
        self.names[index] = name


class NativeCsb:
    """The same face as ``CsbMaster``; accesses of one call go out back to back without Python."""

    def __init__(self, dut: SimHandleBase, config: HwConfig, settings: BenchSettings, seed: int, lease: Lease) -> None:
        """Configure the harness's player, which plays for the bench that has the lease."""
        self._lease = lease
        self.registers = RegisterMap.of(config)
        self._answers_all = is_wrapped(dut, None)
        self._library = library()
        self._deadline = answer_deadline_cycles(settings.csb_period)
        seed &= (1 << 64) - 1
        record = CsbSettingsRecord(seed, settings.csb_stall, self._deadline, settings.csb_outstanding)
        self._library.nvb_csb_configure(ctypes.byref(record))
        self._accesses = RecordLog(ACCESS_RECORD, self._library.nvb_csb_accesses)
        self.violations = RecordLog(VIOLATION_RECORD, self._library.nvb_csb_violations)
        self._results = RecordLog(RESULT_RECORD, self._library.nvb_csb_results)
        self._batches: dict[int, _Batch] = {}
        self._count = 0

    @property
    def accesses(self) -> int:
        """Finished accesses, but for those that serve interrupts."""
        return int(self._library.nvb_csb_access_count())

    @property
    def pending(self) -> str | None:
        """The access that is under way."""
        batch, index = ctypes.c_uint32(), ctypes.c_uint32()
        if not self._library.nvb_csb_pending(ctypes.byref(batch), ctypes.byref(index)):
            return None
        running = self._batches.get(batch.value)
        return running.names[index.value] if running else None

    def idle(self) -> None:
        """Drive no request, and give up those that are under way."""
        self._library.nvb_csb_drop_all()
        for batch in self._batches.values():
            batch.dropped = True
            batch.over.set()

    async def write(self, where: Where, value: int, *, posted: bool = True) -> None:
        """Write one register; see ``CsbMaster``."""
        batch = self._new(1)
        self._put_write(batch, 0, self.registers.find(where), word_of(value), posted=posted)
        await self._run(batch)

    async def read(self, where: Where) -> int:
        """Read one register; see ``CsbMaster``."""
        register = self.registers.find(where)
        batch = self._new(1)
        batch.put(0, _Kind.READ, self.registers.address(register), f"read of {register.full_name}")
        await self._run(batch)
        return batch.answers[0][0]

    async def perform(self, ops: Sequence[RegisterOp], poll_deadline_cycles: int) -> list[ReadBack]:
        """Play accesses one after the other and return what was read; see ``CsbMaster``."""
        batch = self._new(len(ops))
        for index, op in enumerate(ops):
            register = self.registers.parse(op.register)
            match op:
                case RegWrite():
                    self._put_write(batch, index, register, op.value, posted=op.posted)
                case RegRead():
                    batch.put(index, _Kind.READ, self.registers.address(register), f"read of {register.full_name}")
                case Poll():
                    self._put_poll(batch, index, register, op, poll_deadline_cycles)
        await self._run(batch)
        if batch.failed is not None:
            index, _, value = batch.failed
            op = ops[index]
            assert isinstance(op, Poll)
            value = op.taken(value, self.registers.parse(op.register))
            raise PollTimeout(op, value, poll_deadline_cycles, index, _read_back(ops[:index], batch))
        return _read_back(ops, batch)

    def take_accesses(self) -> Iterator[tuple[int, Access | bool]]:
        """Yield the accesses finished since the last call and the new levels of the interrupt line, with cycles."""
        for at, address, value, is_write, is_line in self._accesses.drain().tolist():
            access = Access(self.registers.at(address), address, value, bool(is_write), at)
            yield at, bool(value) if is_line else access

    def take_results(self) -> None:
        """Hand finished accesses to those who wait for them."""
        for at, number, index, status, value in self._results.drain().tolist():
            batch = self._batches.get(number)
            if batch is None:
                continue
            batch.answers[index] = value, at
            if status != _Status.DONE and batch.failed is None:
                batch.failed = index, _Status(status), value
            if batch.failed or len(batch.answers) == batch.due:
                batch.over.set()

    def _new(self, count: int) -> _Batch:
        self._count += 1
        batch = self._batches[self._count] = _Batch(self._count, count)
        return batch

    def _put_write(self, batch: _Batch, index: int, register: Register, value: int, *, posted: bool) -> None:
        name = f"write of {value:#x} to {register.full_name}"
        batch.put(index, _Kind.WRITE, self.registers.address(register), name)
        record = batch.records[index]
        record["value"], record["nonposted"] = value, not posted or self._answers_all
        # What the layer will find in memory is looked up before anything goes on.
        if register.name in _STARTS or limits_outstanding(register):
            record["wake"] = 1

    def _put_poll(self, batch: _Batch, index: int, register: Register, poll: Poll, deadline_cycles: int) -> None:
        batch.put(index, _Kind.POLL, self.registers.address(register), f"read of {register.full_name}")
        record = batch.records[index]
        record["value"], record["comparison"] = poll.value, _COMPARISONS.index(poll.comparison)
        record["deadline_cycles"] = deadline_cycles
        if poll.field is not None:
            field = register.field(poll.field)
            record["mask"], record["shift"] = field.mask, field.lsb
        elif poll.mask is not None:
            record["mask"] = poll.mask

    async def _run(self, batch: _Batch) -> None:
        """Play accesses; a poll that expired is left in ``failed``."""
        self._lease.check()
        self._library.nvb_csb_submit(batch.records.ctypes.data, len(batch.records))
        try:
            await batch.over.wait()
        finally:
            # Also reached when the one who waits is cancelled: the rest must not go out.
            self._library.nvb_csb_cancel(batch.number)
            del self._batches[batch.number]
        if batch.dropped:
            raise CsbReset
        if batch.failed is None or batch.failed[1] is _Status.POLL_EXPIRED:
            return
        index, status, _ = batch.failed
        accepted = status is not _Status.NOT_ACCEPTED
        raise CsbTimeout(batch.names[index], accepted=accepted, deadline_cycles=self._deadline)


def _read_back(ops: Sequence[RegisterOp], batch: _Batch) -> list[ReadBack]:
    """Return what the reads among the first accesses of a batch, which are all answered, have read."""
    return [ReadBack(op, *batch.answers[index]) for index, op in enumerate(ops) if isinstance(op, RegRead)]


class NativeInterrupts(Interrupts):
    """The harness serves the line: it reads and clears the status."""

    def __init__(self, csb: NativeCsb) -> None:
        """Start without events."""
        super().__init__(csb.registers)
        self._library = library()
        self._seen = [0] * 32
        self._status_name = ""

    def start(self) -> None:
        """Begin to serve the line."""
        status = self._registers.register("GLB", "S_INTR_STATUS")
        self._status_name = status.full_name
        self._library.nvb_csb_serve_interrupts(self._registers.address(status))

    def take_events(self) -> None:
        """Count the events that were served since the last call."""
        if self._library.nvb_csb_service_failed() and self.failure is None:
            self._fail(CsbTimeout(f"service of {self._status_name}", accepted=True))
        fired = self._library.nvb_csb_fired()[0:32]
        if fired != self._seen:
            for bit, (now, before) in enumerate(zip(fired, self._seen, strict=True)):
                for _ in range(now - before):
                    self._count(1 << bit)
            self._seen = fired
