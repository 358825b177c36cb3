"""Ends a simulation in which nothing moves any more, or memory does in vain, and says what was outstanding."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event

from nvdla_tb.judge.detail import Hang, UnitState
from nvdla_tb.judge.judge import Judge, Ports
from nvdla_tb.nvdla.layers import convolution_of
from nvdla_tb.nvdla.performance import silent_cycles
from nvdla_tb.sim.backend import Backend
from nvdla_tb.sim.clocking import HIGH, wait_cycles
from nvdla_tb.sim.csb import CsbTimeout
from nvdla_tb.sim.dbb_memory import REST_CYCLES
from nvdla_tb.stimulus.settings import BenchSettings

_CHECKS_PER_DEADLINE = 4
_LOOK_CYCLES = 1000
_LEAST_ATOM_BYTES = 8
_ACCESSES_OF_A_BYTE = 4
_LEAST_ACCESSES = 1 << 14
_TIMES_AS_SILENT = 2
"""Margin of the time without accesses that a convolution is granted."""


class Stuck(NamedTuple):
    """How a device stands still.

    Attributes:
        cycles: how long nothing has moved, or has in vain.
        in_vain: requests and write beats in that time, 0 when nothing moved.
    """

    cycles: int
    in_vain: int = 0


class Watchdog:
    """Watches the agents of one bench."""

    def __init__(
        self, dut: SimHandleBase, settings: BenchSettings, backend: Backend, ports: Ports, judge: Judge
    ) -> None:
        """Bind the watchdog."""
        self._backend, self._ports, self._judge = backend, ports, judge
        self._registers, self._settings = backend.csb.registers, settings
        self._clock, self._line = dut.dla_core_clk, dut.dla_intr

    async def stuck(self, steps: Callable[[], int] | None = None) -> Stuck:
        """Return once CSB and the memory ports have been idle for long enough, or memory moves in vain.

        What the bench does to serve the line counts for nothing: a line that stays high keeps it busy for ever.

        Args:
            steps: Returns a count of what takes a program further; that of its accesses when it is left out.
        """
        counted = steps or (lambda: self._backend.accesses)
        step = max(self._settings.hang_cycles // _CHECKS_PER_DEADLINE, 1)
        quiet, accesses = 0, counted()
        last = accesses + self._moves
        judged, before, since = self._judged, last, 0
        while quiet < self._settings.hang_cycles or quiet < self._patience:
            await wait_cycles(self._clock, step)
            now, activity = counted(), counted() + self._moves
            quiet = quiet + step if activity == last else 0
            last = activity
            since += step
            if now != accesses:
                accesses, before, since = now, last, 0
            if last - before <= _LEAST_ACCESSES or last - before <= self._most_accesses:
                continue
            if self._judged == judged:
                return Stuck(since, last - before)
            judged, before, since = self._judged, last, 0
        return Stuck(quiet)

    @property
    def _patience(self) -> int:
        """How long nothing may move: a convolution that adds up many products for few outputs is silent."""
        self._backend.look()
        silent = sum(
            silent_cycles(started.layer)
            for started in self._judge.tracker.running
            if convolution_of(started.layer) is not None
        )
        return self._settings.hang_cycles + _TIMES_AS_SILENT * silent

    @property
    def _moves(self) -> int:
        """A count that changes whenever something moves on a memory port, or a layer's interrupt is seen."""
        return self._ports.handshakes + self._judge.interrupts_seen

    @property
    def _judged(self) -> int:
        """How many bytes that a layer lacked were written, right or wrong; where nothing is predicted, any."""
        self.judge_written()
        verdict = self._judge.verdict
        return verdict.written_bytes if verdict.unpredicted else verdict.judged_bytes

    @property
    def _most_accesses(self) -> int:
        """Accesses that no layer needs before it writes: of each byte several times, an atom at a time."""
        memories = self._backend.memories.values()
        nbytes = sum(allocation.nbytes for memory in memories for allocation in memory.allocations)
        return _LEAST_ACCESSES + _ACCESSES_OF_A_BYTE * nbytes // _LEAST_ATOM_BYTES

    async def memory_rests(self) -> bool:
        """Return True once no memory port has moved or owed anything for a while, False when that never comes."""
        for _ in range(0, self._settings.hang_cycles, REST_CYCLES):
            last, owes = self._ports.handshakes, self._owes
            await wait_cycles(self._clock, REST_CYCLES)
            if self._ports.handshakes == last and not owes and not self._owes:
                return True
        return False

    @property
    def _owes(self) -> bool:
        """Whether a memory port has yet to answer; what follows from its last answer takes a while."""
        return any(slave.outstanding() for slave in self._backend.slaves.values())

    async def first_mismatch(self) -> int:
        """Return soon after the first wrong byte, if that shall end the scenario; else never."""
        if not self._settings.stop_at_first:
            await Event().wait()
        while not self._judge.verdict.wrong_bytes:
            await wait_cycles(self._clock, _LOOK_CYCLES)
            self.judge_written()
        return 0

    def judge_written(self) -> None:
        """Judge everything that was written until now."""
        self._backend.look()
        self._judge.board.judge_pending()

    async def hang(self, stuck: Stuck, waiting_for: tuple[str, ...], *, awaits_line: bool = False) -> Hang:
        """Return everything outstanding: interrupts, CSB, memory requests, and units that are not idle."""
        unmatched = [monitor.unmatched() for monitor in self._backend.monitors.values()]
        outstanding = [slave.outstanding() for slave in self._backend.slaves.values()]
        hang = Hang(
            quiet_cycles=stuck.cycles,
            waiting_for=waiting_for,
            csb=self._backend.csb.pending,
            running=tuple(started.id for started in self._judge.tracker.running),
            requests=tuple(request for port in outstanding for request in port),
            unmatched=tuple(halves for halves in unmatched if halves is not None),
            units=(),
            in_vain=stuck.in_vain,
            awaits_line=awaits_line,
        )
        return await self._with_states(hang)

    async def _with_states(self, hang: Hang) -> Hang:
        units: list[UnitState] = []
        unanswered = status = None
        try:
            if self._line.value == HIGH:
                status = await self._backend.csb.read(self._registers.register("GLB", "S_INTR_STATUS"))
            for unit in self._registers.units:
                if "S_STATUS" in self._registers.of_unit(unit):
                    state = await self._state(unit)
                    units += [] if state.states == ("IDLE", "IDLE") else [state]
        except CsbTimeout as error:
            unanswered = error.detail
        return msgspec.structs.replace(hang, units=tuple(units), unanswered=unanswered, interrupt_status=status)

    async def _state(self, unit: str) -> UnitState:
        register = self._registers.register(unit, "S_STATUS")
        word = await self._backend.csb.read(register)
        names = {value: name for name, value in register.field("status_0").values.items()}
        first, second = (names.get(register.field(f"status_{n}").extract(word), "?") for n in (0, 1))
        return UnitState(unit, (first, second))
