"""CSB: the register port's master."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from cocotb.handle import SimHandleBase
from cocotb.triggers import Lock, RisingEdge, Timer

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.judge.detail import NoAnswer, PollExpired
from nvdla_tb.nvdla.program.ops import Poll, RegRead
from nvdla_tb.nvdla.registers import Register, RegisterMap, Where, word_of
from nvdla_tb.sim.buses import CsbBus
from nvdla_tb.sim.clocking import HIGH, known
from nvdla_tb.sim.cycles import CountedCycles, Cycles, Reset
from nvdla_tb.sim.pauses import Channel, Pause
from nvdla_tb.stimulus.player import RegisterOp

ANSWER_DEADLINE_CYCLES = 400
"""Measured on the public nv_small RTL: an answer takes 18 to 19 cycles; more means that it was lost."""


def answer_deadline_cycles(csb_period: float) -> int:
    """Return how many cycles of CSB's clock an answer may take: many of them when the core's clock is slow."""
    return math.ceil(ANSWER_DEADLINE_CYCLES * max(1.0, 1.0 / csb_period))


class CsbTimeout(RuntimeError):
    """A request that CSB did not accept or answer in time; ``detail`` names it."""

    def __init__(self, access: str, *, accepted: bool, deadline_cycles: int = ANSWER_DEADLINE_CYCLES) -> None:
        """Take the access in words, whether it was accepted at least, and how long it was waited for."""
        super().__init__(access)
        self.detail = NoAnswer(access, accepted, deadline_cycles)


class CsbReset(Exception):
    """A request that a reset of the DUT has swallowed."""


@dataclass(frozen=True)
class ReadBack:
    """The word that a ``RegRead`` of a program returned."""

    op: RegRead
    value: int
    cycle: int


class PollTimeout(RuntimeError):
    """A poll that never saw what it waits for; ``detail`` tells.

    Attributes:
        index: its place among the accesses that were played together; none after it went out.
        answers: what those before it have read.
    """

    def __init__(
        self, poll: Poll, value: int, deadline_cycles: int, index: int = 0, answers: Sequence[ReadBack] = ()
    ) -> None:
        """Take the poll, what it compared last, its duration, its place and the reads before it."""
        super().__init__(poll.subject)
        self.detail = PollExpired(poll.subject, poll.comparison.value, poll.value, value, deadline_cycles)
        self.index, self.answers = index, tuple(answers)


@dataclass(eq=False)
class _Flight:
    """An access that was accepted and has yet to be answered."""

    name: str
    is_write: bool
    waited_cycles: int = 0
    value: int | None = None
    cycle: int = 0


class CsbMaster:
    """Writes and reads registers over CSB, in the order of the calls.

    ::

        csb = CsbMaster(CsbBus.from_prefix(dut, "csb2nvdla"), dut.dla_csb_clk, dut.dla_reset_rstn)
        await csb.write(0x9004, 1)                      # posted: returns when it is accepted
        await csb.write(0x9004, 1, posted=False)        # returns when the device has completed it
        word = await csb.read(0x9004)
        csb.request.set_pause_generator(itertools.cycle([1, 0]))

    Addresses are bytes; the pins carry word addresses. A reset cancels accesses that are under way. ``perform`` may
    have several accesses outstanding; all others have one at a time.

    Attributes:
        request: The channel of requests, which can be held back.
        registers: The registers of the configuration; none without one.
        accesses: Accesses that were accepted, but for those that serve interrupts.
    """

    def __init__(
        self,
        bus: CsbBus,
        clock: SimHandleBase,
        reset: SimHandleBase,
        config: HwConfig | None = None,
        *,
        reset_active_level: bool = False,
        outstanding: int = 1,
        answers_all: bool = False,
        deadline_cycles: int = ANSWER_DEADLINE_CYCLES,
        cycles: Cycles | None = None,
        pause: Pause | None = None,
    ) -> None:
        """Bind the master to its pins without driving a request.

        Args:
            bus: Pins of CSB.
            clock: Clock of the pins.
            reset: Reset of the device.
            config: Configuration whose registers may be named; without one, use addresses.
            reset_active_level: Level of the active reset.
            outstanding: Number of reads and non-posted writes of ``perform`` that may wait for their answers at once.
            answers_all: Whether the device answers posted writes, too.
            deadline_cycles: Longest duration of a request and its answer.
            cycles: Counter of cycles; by default it counts the edges of the clock.
            pause: When requests are held back.
        """
        self.bus, self.clock = bus, clock
        self.registers = RegisterMap({}, {}) if config is None else RegisterMap.of(config)
        self._deadline, self._answers_all, self._most_outstanding = deadline_cycles, answers_all, outstanding
        self._edge = RisingEdge(clock)
        self._cycles = cycles or CountedCycles.of(clock)
        self.request = Channel(self._cycles, pause)
        self._lock = Lock()
        self._flying: deque[_Flight] = deque()
        self._requesting: str | None = None
        self._resets = 0
        self._serving = False
        self.accesses = 0
        self._reset = Reset(reset, active_level=reset_active_level)
        self._reset.call(self.idle)
        self.idle()

    @property
    def pending(self) -> str | None:
        """The access that has been under way for longest."""
        return self._flying[0].name if self._flying else self._requesting

    def idle(self) -> None:
        """Drive no request, and give up those that are under way."""
        self._resets += 1
        self._flying.clear()
        self._requesting = None
        self.bus.valid.value = 0
        self.bus.addr.value = 0
        self.bus.wdat.value = 0
        self.bus.write.value = 0
        self.bus.nposted.value = 0

    async def write(self, where: Where, value: int, *, posted: bool = True) -> None:
        """Write one register.

        Args:
            where: The register, its name, or its byte address.
            value: 32-bit word.
            posted: False waits for the DUT's completion.

        Raises:
            InputError: for a register that the configuration lacks or that is named without one, or another value.
            CsbTimeout: when the request or its completion does not come through.
        """
        async with self._lock:
            await self._alone(self.find(where), word_of(value), posted=posted)

    async def read(self, where: Where) -> int:
        """Read one register and return its 32-bit word.

        Args:
            where: The register, its name, or its byte address, which need not be that of a register.

        Raises:
            CsbTimeout: when the request or its answer does not come through.
        """
        async with self._lock:
            return await self._alone(self.find(where))

    async def perform(self, ops: Sequence[RegisterOp], poll_deadline_cycles: int) -> list[ReadBack]:
        """Play accesses one after the other and return what was read.

        Args:
            ops: Writes, reads and polls.
            poll_deadline_cycles: How long each poll may last.

        Raises:
            CsbTimeout: when a request, its answer or its completion does not come through.
            PollTimeout: for a poll that never ends.
        """
        sent: list[tuple[RegisterOp, _Flight]] = []
        for index, op in enumerate(ops):
            register = self.registers.parse(op.register)
            if isinstance(op, Poll):
                value = await self._poll(op, register, poll_deadline_cycles)
                if value is not None:
                    raise PollTimeout(op, value, poll_deadline_cycles, index, _read_back(sent))
                continue
            async with self._lock:
                if isinstance(op, RegRead):
                    flight = await self._send(register)
                else:
                    flight = await self._send(register, op.value, posted=op.posted)
            sent.append((op, flight))
        if any(flight.value is None for _, flight in sent):
            async with self._lock:
                await self._land()
        return _read_back(sent)

    async def serve_interrupt(self, status: Register) -> int:
        """Read GLB's status, clear exactly the bits that it held, and return them.

        Raises:
            CsbTimeout: when a request does not come through.
        """
        async with self._lock:
            self._serving = True
            try:
                bits = await self._alone(status)
                if bits:
                    await self._alone(status, bits, posted=False)
                return bits
            finally:
                self._serving = False

    def find(self, where: Where) -> Register:
        """Return a register by itself, its ``UNIT.NAME`` or its byte address.

        Raises:
            InputError: for a register that the configuration lacks, or that is named without one.
        """
        if isinstance(where, str) and not self.registers.units:
            raise InputError(f"config must be given to CsbMaster, so that {where} is found by name")
        return self.registers.find(where)

    async def _poll(self, poll: Poll, register: Register, deadline_cycles: int) -> int | None:
        """Read until a poll holds, or return what it compared last when that takes too long."""
        deadline = self._cycles.now() + deadline_cycles
        while True:
            value = poll.taken(await self.read(register), register)
            if poll.comparison.holds(value, poll.value):
                return None
            if self._cycles.now() > deadline:
                return value

    async def _alone(self, register: Register, value: int | None = None, *, posted: bool = True) -> int:
        """Write a value, or read, with nothing else outstanding at the end, and return the word that was read."""
        if value is None:
            await self._land()
        flight = await self._send(register, value, posted=posted)
        await self._land()
        return _answer(flight)

    async def _send(self, register: Register, value: int | None = None, *, posted: bool = True) -> _Flight:
        """Have a write of a value, or a read, accepted, and wait until another access may be outstanding."""
        is_write, owes = value is not None, value is None or not posted or self._answers_all
        name = f"read of {register.full_name}" if value is None else f"write of {value:#x} to {register.full_name}"
        await self._request(name, self.registers.address(register), is_write, value or 0, is_write and owes)
        self.accesses += not self._serving
        flight = _Flight(name, is_write, value=None if owes else 0)
        if owes:
            self._flying.append(flight)
        await self._land(self._most_outstanding - 1)
        return flight

    async def _request(self, name: str, address: int, write: bool, value: int, nposted: bool) -> None:
        self._requesting = name
        while not self._reset.is_over:
            await self._edge
        bus, resets = self.bus, self._resets
        # Who comes from an edge of the core's clock may be ahead of CSB's edge of the same time, which is not his.
        await Timer(1, unit="step")
        while self.request.is_paused:
            await self._next_edge(resets)
        bus.valid.value = 1
        bus.addr.value = address >> 2
        bus.wdat.value = value
        bus.write.value = write
        bus.nposted.value = nposted
        for _ in range(self._deadline):
            await self._next_edge(resets)
            if bus.ready.value == HIGH:
                bus.valid.value = 0
                self._requesting = None
                return
        self.idle()
        raise CsbTimeout(name, accepted=False, deadline_cycles=self._deadline)

    async def _land(self, most: int = 0) -> None:
        """Wait until no more than so many accesses are outstanding."""
        resets = self._resets
        while len(self._flying) > most:
            await self._next_edge(resets)

    async def _next_edge(self, resets: int) -> None:
        """Wait for CSB's next edge, and take the answers that come with it."""
        await self._edge
        if resets != self._resets:
            raise CsbReset
        if not self._flying:
            return
        for signal, is_write in ((self.bus.answer_valid, False), (self.bus.write_complete, True)):
            flight = next((flight for flight in self._flying if flight.is_write == is_write), None)
            if flight and signal.value == HIGH:
                # The monitor reports X.
                flight.value = 0 if is_write else known(self.bus.answer_data.value)
                flight.cycle = self._cycles.now()
                self._flying.remove(flight)
        for flight in self._flying:
            flight.waited_cycles += 1
            if flight.waited_cycles == self._deadline:
                self._flying.clear()
                raise CsbTimeout(flight.name, accepted=True, deadline_cycles=self._deadline)


def _answer(flight: _Flight) -> int:
    """Return the word of an answered read."""
    if flight.value is None:
        raise CsbTimeout(flight.name, accepted=True)
    return flight.value


def _read_back(sent: Sequence[tuple[RegisterOp, _Flight]]) -> list[ReadBack]:
    """Return what the reads among accesses that are all answered have read."""
    return [ReadBack(op, _answer(flight), flight.cycle) for op, flight in sent if isinstance(op, RegRead)]
