"""Plays a program on a bench: register accesses over CSB, memory operations on the images, checks when due."""

from __future__ import annotations

from collections.abc import Sequence

import cocotb
import numpy as np
from cocotb.task import Task
from cocotb.triggers import Event

from nvdla_tb.judge.detail import CrcMismatch, GoldenMismatch, ShortGolden, WrongRegister
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.judge import Judge
from nvdla_tb.nvdla.program.ops import (
    CheckCrc,
    CheckFile,
    CheckOp,
    InterruptNotify,
    LineWait,
    MemInit,
    MemLoad,
    Poll,
    Program,
    RegWrite,
    SyncNotify,
)
from nvdla_tb.sim.backend import Backend
from nvdla_tb.sim.clocking import cycle
from nvdla_tb.sim.csb import PollTimeout, ReadBack
from nvdla_tb.sim.line import InterruptLine
from nvdla_tb.stimulus.dumps import Dumps
from nvdla_tb.stimulus.player import Accesses, Player, RegisterOp, Stalled
from nvdla_tb.stimulus.scenario import apply_memory_op
from nvdla_tb.stimulus.settings import BenchSettings

LINE_REGISTERS = ("GLB.S_INTR_STATUS", "GLB.S_INTR_MASK", "GLB.S_INTR_SET")


class SimulationPlayer:
    """Carries out the steps of one program in a simulation."""

    def __init__(
        self,
        program: Program,
        backend: Backend,
        judge: Judge,
        settings: BenchSettings,
        line: InterruptLine,
        dumps: Dumps | None = None,
    ) -> None:
        """Bind the player to what it plays on."""
        self._dumps = dumps
        self._player = Player(program)
        self._backend, self._judge, self._line = backend, judge, line
        self._deadline_cycles, self._goes_on = settings.poll_deadline_cycles, settings.continue_on_fail
        self._news = Event()
        self._waiting_for: dict[str, str] = {}
        self._notifying: list[Task[None]] = []

    @property
    def waiting_for(self) -> tuple[str, ...]:
        """The interrupts, such as ``SDP_1``, that the program waits for: all that are owed when it awaits the line."""
        owed = self._judge.interrupts_owed if self._line.is_awaited else ()
        return tuple(sorted({*self._waiting_for.values(), *owed}))

    @property
    def awaits_line(self) -> bool:
        """Whether the program waits for the interrupt line itself."""
        return self._line.is_awaited

    async def play(self) -> None:
        """Play to the end, interrupts and checks included.

        Raises:
            CsbTimeout: when a request or its answer does not come through.
            PollTimeout: for a poll that never ends.
            ScenarioError: for a sync id that nothing raises.
        """
        for step in self._player.steps():
            match step:
                case Accesses():
                    await self._access(step)
                case Stalled():
                    await self._wait_for_news(step)
                case InterruptNotify():
                    self._waiting_for[step.sync_id] = f"{step.unit}_{step.group}"
                    self._notifying.append(cocotb.start_soon(self._notify(step)))
                case SyncNotify():
                    self._raise(step.sync_id)
                case LineWait():
                    await self._line.until_high()
                case MemInit() | MemLoad():
                    apply_memory_op(self._backend.memories, step)
        while self._waiting_for:
            self._news.clear()
            await self._news.wait()
        self._player.end()

    def cancel(self) -> None:
        """Wait for no interrupt any more."""
        for task in self._notifying:
            task.cancel()

    async def _access(self, accesses: Accesses) -> None:
        """Play accesses back to back and compare what was read."""
        rest = accesses.ops
        while rest:
            failed: PollTimeout | None = None
            try:
                answers: Sequence[ReadBack] = await self._backend.csb.perform(rest, self._deadline_cycles)
            except PollTimeout as error:
                if not self._goes_on:
                    raise
                failed, answers = error, error.answers
            played = rest if failed is None else rest[: failed.index]
            self._compare(played, answers)
            if failed is not None:
                self._judge.report(Check.REGISTER, failed.detail, cycle())
            rest = rest[len(played) + 1 :]
        if any(isinstance(op, RegWrite) and op.register in LINE_REGISTERS for op in accesses.ops):
            self._line.status_written()

    def _compare(self, played: Sequence[RegisterOp], answers: Sequence[ReadBack]) -> None:
        """Count accesses that were played, and compare what was read."""
        for answer in answers:
            op = answer.op
            if op.expected is not None:
                self._judge.verdict.registers += 1
            if op.expected is not None and answer.value != op.expected:
                register = self._judge.tracker.state.registers.parse(op.register)
                wrong = WrongRegister.of(register, op.expected, answer.value)
                self._judge.report(Check.REGISTER, wrong, answer.cycle)
        self._judge.verdict.registers += sum(isinstance(op, Poll) for op in played)

    async def _wait_for_news(self, stalled: Stalled) -> None:
        """Wait until something is raised; what was raised since the last wait may be what the program waits for."""
        if not self._waiting_for and not self._news.is_set():
            raise stalled.error()
        await self._news.wait()
        self._news.clear()

    async def _notify(self, op: InterruptNotify) -> None:
        await self._backend.interrupts.next(op.unit, op.group)
        del self._waiting_for[op.sync_id]
        self._raise(op.sync_id)

    def _raise(self, sync_id: str) -> None:
        for check in self._player.raises(sync_id):
            self._check(check)
        self._news.set()

    def _check(self, check: CheckOp) -> None:
        verdict = self._judge.verdict
        if self._dumps is not None:
            self._dumps.at_check(check)
        match check:
            case CheckCrc():
                crc, holes = self._backend.memories[check.ram].checksum(check.address, check.nbytes)
                if crc == check.crc:
                    verdict.crc_passed += 1
                    self._count_written(check)
                    return
                verdict.crc_failed += 1
                self._judge.report(Check.GOLDEN, CrcMismatch(check.address, check.nbytes, check.crc, crc, holes))
            case CheckFile():
                self._check_file(check)

    def _check_file(self, check: CheckFile) -> None:
        """Compare memory with golden bytes, but for those that a tolerance judges: they may differ."""
        verdict = self._judge.verdict
        for offset, data in check.chunks:
            address = check.address + offset
            got = self._backend.memories[check.ram].read_array(address, len(data))
            differs = got != np.frombuffer(data, dtype=np.uint8)
            differs &= ~self._judge.board.tolerated_bytes(check.ram, address, len(data))
            if differs.any():
                at = int(np.flatnonzero(differs)[0])
                verdict.crc_failed += 1
                wrong = GoldenMismatch(check.file_name, address + at, data[at], int(got[at]))
                self._judge.report(Check.GOLDEN, wrong)
                return
        lacks = self._count_written(check)
        if lacks is None:
            verdict.crc_passed += 1
        else:
            verdict.crc_failed += 1
            self._judge.report(Check.GOLDEN, lacks)

    def _count_written(self, check: CheckCrc | CheckFile) -> ShortGolden | None:
        """Count what an equal golden result says of a program that nothing predicts.

        Returns:
            The bytes of its check that the DUT wrote and its file does not hold, or None.
        """
        verdict = self._judge.verdict
        if not verdict.unpredicted:
            return None
        written = self._judge.board.unpredicted_bytes(check.ram, check.address, check.nbytes)
        verdict.golden_bytes += int(np.count_nonzero(written))
        if isinstance(check, CheckCrc):
            return None
        for offset, data in check.chunks:
            written[offset : offset + len(data)] = False
        lacks = np.flatnonzero(written)
        return ShortGolden(check.file_name, len(lacks), check.address + int(lacks[0])) if len(lacks) else None
