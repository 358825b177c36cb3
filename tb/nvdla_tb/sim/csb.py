"""CSB: the register port's driver and its passive monitor."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import cocotb
from cocotb.triggers import First, Lock, RisingEdge, Timer, ValueChange
from cocotb_bus.drivers import BusDriver
from cocotb_bus.monitors import BusMonitor

from nvdla_tb.judge.csb_rules import RESTING_EDGES, CsbRules
from nvdla_tb.judge.detail import AnyDetail, CsbViolation, NoAnswer, PollExpired, UnknownPin
from nvdla_tb.judge.judge import Access
from nvdla_tb.nvdla.program.ops import Poll, RegRead
from nvdla_tb.nvdla.registers import Register, Where
from nvdla_tb.sim.clocking import HIGH, csb_clock, csb_clock_is_low, cycle, known
from nvdla_tb.sim.draws import Draws, Stream
from nvdla_tb.sim.pins import Events, Pins
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


class CsbDriver(BusDriver):  # type: ignore[misc]  # cocotb-bus has no types
    """Plays writes and reads: ``perform`` with as many outstanding as the settings say, all others one at a time.

    Addresses are bytes; the pins carry word addresses.

    Attributes:
        accesses: Accesses that were accepted, but for those that serve interrupts.
        writes: Writes that were accepted.
        last_write: The last of them.
    """

    _signals: ClassVar[dict[str, str]] = {
        "valid": "csb2nvdla_valid",
        "ready": "csb2nvdla_ready",
        "addr": "csb2nvdla_addr",
        "wdat": "csb2nvdla_wdat",
        "write": "csb2nvdla_write",
        "nposted": "csb2nvdla_nposted",
        "answer_valid": "nvdla2csb_valid",
        "answer_data": "nvdla2csb_data",
        "write_complete": "nvdla2csb_wr_complete",
    }

    def __init__(self, pins: Pins) -> None:
        """Bind the driver."""
        super().__init__(pins.dut, None, csb_clock(pins.dut), case_insensitive=False)
        self.registers = pins.registers
        self._deadline = answer_deadline_cycles(pins.settings.csb_period)
        self._answers_all = pins.answers_all
        self._edge = RisingEdge(self.clock)
        self._stall = pins.settings.csb_stall
        self._most_outstanding = pins.settings.csb_outstanding
        self._draws = Draws(pins.seed)
        self._lock = Lock()
        self._flying: deque[_Flight] = deque()
        self._requesting: str | None = None
        self._resets = 0
        self._serving = False
        self.accesses = self.writes = 0
        self.last_write: Access | None = None
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
            CsbTimeout: when the request or its completion does not come through.
        """
        async with self._lock:
            await self._alone(self.registers.find(where), value, posted=posted)

    async def read(self, where: Where) -> int:
        """Read one register and return its 32-bit word.

        Args:
            where: The register, its name, or its byte address, which need not be that of a register.

        Raises:
            CsbTimeout: when the request or its answer does not come through.
        """
        async with self._lock:
            return await self._alone(self.registers.find(where))

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

    async def _poll(self, poll: Poll, register: Register, deadline_cycles: int) -> int | None:
        """Read until a poll holds, or return what it compared last when that takes too long."""
        deadline = cycle() + deadline_cycles
        while True:
            value = poll.taken(await self.read(register), register)
            if poll.comparison.holds(value, poll.value):
                return None
            if cycle() > deadline:
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
        if value is not None:
            self.writes += 1
            address = self.registers.address(register)
            self.last_write = Access(self.registers.at(address), address, value, is_write=True, cycle=cycle())
        flight = _Flight(name, is_write, value=None if owes else 0)
        if owes:
            self._flying.append(flight)
        await self._land(self._most_outstanding - 1)
        return flight

    async def _request(self, name: str, address: int, write: bool, value: int, nposted: bool) -> None:
        bus, resets = self.bus, self._resets
        self._requesting = name
        # Who comes from an edge of the core's clock may be ahead of CSB's edge of the same time, which is not his.
        await Timer(1, unit="step")
        while self._stall and self._draws.chance(Stream.CSB_STALL, cycle(), self._stall):
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
                flight.cycle = cycle()
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


class CsbMonitor(BusMonitor):  # type: ignore[misc]  # cocotb-bus has no types
    """Watches CSB and publishes a ``Access`` per write accepted and per read answered.

    So does it with what breaks a rule of the port, and with each change of the interrupt line. Sleeps while nothing is
    requested, answered or owed.
    """

    _signals: ClassVar[dict[str, str]] = CsbDriver._signals

    def __init__(self, pins: Pins, events: Events) -> None:
        """Bind the monitor."""
        self.registers = pins.registers
        self.writes = 0
        self._reads: list[int] = []
        self._events = events
        self._rules = CsbRules(lambda rule: self._violate(CsbViolation(rule)))
        self._level = False
        super().__init__(pins.dut, None, csb_clock(pins.dut), case_insensitive=False)
        self.add_callback(events.see_access)
        cocotb.start_soon(self._see_reset())
        cocotb.start_soon(self._see_line())
        cocotb.start_soon(self._see_clock_of_line())

    def flush(self) -> None:
        """Forget requests whose answer a reset has swallowed, and the level of the line."""
        self._reads.clear()
        self._rules.flush()
        self._level = False

    async def _monitor_recv(self) -> None:
        bus, edge = self.bus, RisingEdge(self.clock)
        reset_n = self.entity.dla_reset_rstn
        wake = [RisingEdge(signal) for signal in (bus.valid, bus.answer_valid, bus.write_complete)]
        while True:
            moving = any(signal.value == HIGH for signal in (bus.valid, bus.answer_valid, bus.write_complete))
            if not moving and not self._rules.waits:
                await First(*wake)
            await edge
            if reset_n.value != HIGH:
                continue
            answered = bus.answer_valid.value == HIGH
            self._rules.answers(read=answered, write=bus.write_complete.value == HIGH)
            if answered and self._reads:
                self._publish(self._reads.pop(0), self._word(), is_write=False)
            if bus.valid.value != HIGH or bus.ready.value != HIGH:
                continue
            address = int(bus.addr.value) << 2
            is_write = bus.write.value == HIGH
            self._rules.accept(is_write=is_write, posted=bus.nposted.value != HIGH)
            if is_write:
                self._publish(address, int(bus.wdat.value), is_write=True)
            else:
                self._reads.append(address)

    async def _see_reset(self) -> None:
        """Judge what is high while the DUT is held in reset."""
        bus, edge, reset_n, line = self.bus, RisingEdge(self.clock), self.entity.dla_reset_rstn, self.entity.dla_intr
        while True:
            edges = 0
            while reset_n.value != HIGH:
                await edge
                edges += 1
                if edges > RESTING_EDGES:
                    self._rules.in_reset(
                        read=bus.answer_valid.value == HIGH,
                        write=bus.write_complete.value == HIGH,
                        line=line.value == HIGH,
                    )
            await ValueChange(reset_n)

    async def _see_line(self) -> None:
        """Publish the level of the interrupt line at edges, when it differs from that before."""
        line, edge, reset_n = self.entity.dla_intr, RisingEdge(self.clock), self.entity.dla_reset_rstn
        while True:
            level = line.value == HIGH
            if level == self._level or reset_n.value != HIGH:
                await First(ValueChange(line), RisingEdge(reset_n))
                await edge
                continue
            self._level = level
            self._events.see_line(level, cycle())

    async def _see_clock_of_line(self) -> None:
        """Judge when the interrupt line changes."""
        line, reset_n = self.entity.dla_intr, self.entity.dla_reset_rstn
        while True:
            await ValueChange(line)
            if reset_n.value == HIGH:
                self._rules.line(clock_is_low=csb_clock_is_low())

    def _word(self) -> int:
        """Return the data of an answer; X and Z are a violation and read as 0."""
        value = self.bus.answer_data.value
        if not value.is_resolvable:
            self._violate(UnknownPin(None, "nvdla2csb_data", str(value)))
        return known(value)

    def _violate(self, detail: AnyDetail) -> None:
        self._events.see_violation(detail, cycle())

    def _publish(self, address: int, value: int, *, is_write: bool) -> None:
        self.writes += is_write
        self._recv(Access(self.registers.at(address), address, value, is_write, cycle()))
