"""Plays the operations of a program in the order, and with the synchronisation, of the trace format."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

import cocotb
import numpy as np
from cocotb.triggers import Event

from tb.program.ops import (
    CheckCrc,
    CheckFile,
    CheckNothing,
    CheckOp,
    InterruptNotify,
    MemInit,
    MemLoad,
    Op,
    Program,
    SyncNotify,
    SyncWait,
    target_of,
)
from tb.scenario import ScenarioError, apply_memory_op
from tb.sim.csb import CsbOp

if TYPE_CHECKING:
    from tb.sim.bench import Bench


class Player:
    """Plays one program on a bench.

    Operations go out in file order; ``SyncWait`` holds back only those of its own target. Checks run
    when their sync id is raised, before anything that waits for it goes on.
    """

    def __init__(self, bench: Bench) -> None:
        """Bind the player to a ``Bench``."""
        self._bench = bench
        self._raised: set[str] = set()
        self._checks: dict[str, list[CheckOp]] = defaultdict(list)
        self._news = Event()
        self.waiting_for: dict[str, str] = {}

    async def play(self, program: Program) -> None:
        """Play to the end, interrupts and checks included.

        Raises:
            ScenarioError: for a poll that never ends or a sync id that nothing raises.
        """
        for op in program:
            if isinstance(op, CheckCrc | CheckFile | CheckNothing):
                self._checks[op.sync_id].append(op)
        rest = [op for op in program if not isinstance(op, CheckCrc | CheckFile | CheckNothing)]
        while rest:
            # What is raised during the pass may be what an operation that was passed over waits for.
            self._news.clear()
            rest = await self._pass_over(rest)
            if rest:
                await self._wait_for_news(rest)
        while self.waiting_for:
            self._news.clear()
            await self._news.wait()
        missing = sorted(set(self._checks) - self._raised)
        if missing:
            raise ScenarioError(f"check waits for sync id {missing[0]}, which nothing raises")

    async def _pass_over(self, ops: list[Op]) -> list[Op]:
        """Play what can be played now and return what has to wait."""
        held: list[Op] = []
        blocked: set[str] = set()
        batch: list[CsbOp] = []
        for op in ops:
            target = target_of(op)
            if target in blocked:
                held.append(op)
                continue
            if isinstance(op, CsbOp):
                batch.append(op)
                continue
            # What was raised by now depends on how long the accesses before have taken.
            await self._access(batch)
            batch = []
            if isinstance(op, SyncWait) and op.sync_id not in self._raised:
                blocked.add(op.target)
                held.append(op)
            else:
                self._execute(op)
        await self._access(batch)
        return held

    async def _access(self, batch: list[CsbOp]) -> None:
        """Play accesses back to back and compare what was read."""
        if not batch:
            return
        bench = self._bench
        for answer in await bench.csb.perform(batch, bench.settings.poll_deadline_cycles):
            op = answer.op
            if op.expected is not None and answer.value != op.expected:
                bench.complain(
                    f"{op.register} must read {op.expected:#x}, not {answer.value:#x} (cycle {answer.cycle})"
                )

    async def _wait_for_news(self, rest: list[Op]) -> None:
        if not self.waiting_for and not self._news.is_set():
            first = next(op for op in rest if isinstance(op, SyncWait))
            raise ScenarioError(f"{first.target} waits for sync id {first.sync_id}, which nothing raises")
        await self._news.wait()

    def _execute(self, op: Op) -> None:
        match op:
            case InterruptNotify():
                event = f"{op.unit}_{op.group}"
                self.waiting_for[op.sync_id] = event
                cocotb.start_soon(self._notify(op))
            case SyncNotify():
                self._raise(op.sync_id)
            case MemInit() | MemLoad():
                apply_memory_op(self._bench.memories, op)
            case SyncWait():
                pass

    async def _notify(self, op: InterruptNotify) -> None:
        await self._bench.interrupts.wait(op.unit, op.group)
        del self.waiting_for[op.sync_id]
        self._raise(op.sync_id)

    def _raise(self, sync_id: str) -> None:
        self._raised.add(sync_id)
        for check in self._checks[sync_id]:
            self._check(check)
        self._news.set()

    def _check(self, check: CheckOp) -> None:
        bench, verdict = self._bench, self._bench.verdict
        match check:
            case CheckCrc():
                image = bench.memories[check.ram]
                crc, holes = image.checksum(check.address, check.nbytes)
                if crc == check.crc:
                    verdict.crc_passed += 1
                    return
                verdict.crc_failed += 1
                note = f", {holes} bytes were never written" if holes else ""
                bench.complain(
                    f"CRC-32 of {check.address:#x} + {check.nbytes:#x} must be {check.crc:#010x}, not {crc:#010x}{note}"
                )
            case CheckFile():
                self._check_file(check)
            case CheckNothing():
                pass

    def _check_file(self, check: CheckFile) -> None:
        """Compare memory with golden bytes, but for those that a tolerance judges: they may differ."""
        bench = self._bench
        for offset, data in check.chunks:
            address = check.address + offset
            got = bench.memories[check.ram].read_array(address, len(data))
            differs = got != np.frombuffer(data, dtype=np.uint8)
            differs &= ~bench.scoreboard.tolerated_bytes(check.ram, address, len(data))
            if differs.any():
                at = int(np.flatnonzero(differs)[0])
                bench.verdict.crc_failed += 1
                bench.complain(
                    f"{check.file_name}: address {address + at:#x} must hold {data[at]:#04x}, not {int(got[at]):#04x}"
                )
                return
        bench.verdict.crc_passed += 1
