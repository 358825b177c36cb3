"""The memory ports, DBB and CVSRAM: a passive monitor that rebuilds bursts from the pins and judges both sides.

The port is a subset of AXI4: 4-bit len, no size, burst, lock or response pins; every beat is as wide
as the bus. Measured on the public nv_small RTL: data can be accepted before its address.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import First, RisingEdge

from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.csb_rules import RESTING_EDGES
from nvdla_tb.judge.detail import BadAccess, PortViolation, UnknownPin, Unmatched
from nvdla_tb.judge.port_rules import CHANNELS, PortRule, PortRules
from nvdla_tb.nvdla.memory import BadByte, MemoryImage, Ram
from nvdla_tb.sim.buses import DbbBus
from nvdla_tb.sim.clocking import HIGH, known
from nvdla_tb.sim.cycles import Cycles
from nvdla_tb.sim.monitor import Monitor


@dataclass(frozen=True)
class ReadRequest:
    """One accepted AR: ``beats`` bus words from ``address``."""

    axi_id: int
    address: int
    beats: int
    cycle: int


@dataclass(frozen=True)
class WriteBurst:
    """One complete write: ``beats`` of (data, strobe, cycle) from ``address``."""

    axi_id: int
    address: int
    beats: tuple[tuple[bytes, int, int], ...]
    cycle: int


class DbbMonitor(Monitor[ReadRequest | WriteBurst]):
    """Watches one memory port: a ``ReadRequest`` for each read, a ``WriteBurst`` for each write with all its data.

    ::

        bus = DbbBus.from_prefix(dut, "nvdla_core2dbb")
        monitor = DbbMonitor(bus, dut.dla_core_clk, dut.dla_reset_rstn)
        monitor.add_callback(print)

    It judges the rules of the port, whichever slave there is. With the image of memory, it judges each access as well
    (``MemoryImage``), and compares the data of reads. ``DbbMemory`` has a monitor of its own.

    It samples every clock edge while something is valid, and sleeps otherwise.

    Attributes:
        ram: Which memory it is.
        bus_bytes: Bytes of a beat.
        handshakes: Accepted addresses and write beats.
        read_requests: Accepted reads.
    """

    def __init__(
        self,
        bus: DbbBus,
        clock: SimHandleBase,
        reset: SimHandleBase,
        memory: MemoryImage | None = None,
        *,
        ram: Ram = Ram.MC,
        atom_bytes: int | None = None,
        judges_ids: bool = True,
        reset_active_level: bool = False,
        cycles: Cycles | None = None,
    ) -> None:
        """Bind the monitor.

        Args:
            bus: The pins of the port.
            clock: Their clock.
            reset: The reset of the device.
            memory: What the memory behind the port holds; accesses and the data of reads are not judged without it.
            ram: Which memory it is.
            atom_bytes: ``memory_atomic_bytes`` of the configuration, when beats are wider: a beat that is read need
                hold one atom alone.
            judges_ids: Whether ids must be those of NVDLA's clients, which a wrapper may change.
            reset_active_level: The level of the reset while it is on.
            cycles: What counts cycles; the edges of the clock when it is left out.
        """
        super().__init__(clock, reset, reset_active_level=reset_active_level, cycles=cycles)
        self.bus, self.bus_bytes, self.memory, self.ram = bus, bus.bus_bytes, memory, ram
        self._atom_bytes = atom_bytes or self.bus_bytes
        self._unanswered: dict[int, deque[int]] = {}
        self.handshakes = self.read_requests = 0
        self._addresses: deque[tuple[int, int, int, int]] = deque()
        self._beats: deque[tuple[bytes, int, int, bool]] = deque()
        self._rules = PortRules(lambda rule: self._violate(PortViolation(ram, rule)), judges_ids=judges_ids)
        self._open, self._most = [0, 0], [0, 0]
        self.reset.call(self.flush)
        cocotb.start_soon(self._see_requests())
        cocotb.start_soon(self._see_answers())
        self._must_be_known(bus.arvalid, bus.awvalid, bus.wvalid, bus.rready, bus.bready)

    def unmatched(self) -> Unmatched | None:
        """Return how many write addresses lack data and data an address, or None when all have matched."""
        if not self._addresses and not self._beats:
            return None
        return Unmatched(self.ram, len(self._addresses), len(self._beats))

    def flush(self) -> None:
        """Forget half-seen bursts, as a reset of the DUT does."""
        self._addresses.clear()
        self._beats.clear()
        self._rules.flush()
        self._unanswered.clear()
        self._open = [0, 0]

    async def _see_requests(self) -> None:
        seen = {"ar": self._see_read, "aw": self._see_address, "w": self._see_data}
        await self._follow(seen, self._see_reset)

    async def _follow(self, seen: Mapping[str, Callable[[], None]], in_reset: Callable[[], Awaitable[None]]) -> None:
        """Judge channels at every edge, whoever drives them, and sleep while none is valid.

        Args:
            seen: By channel, what sees a transfer.
            in_reset: What ends with a reset of the DUT.
        """
        edge, reset, released = RisingEdge(self.clock), self.reset.signal, self.reset.released
        pairs = {name: tuple(getattr(self.bus, pin) for pin in CHANNELS[name][:2]) for name in seen}
        wake = [RisingEdge(valid) for valid, _ in pairs.values()]
        while True:
            await edge
            if reset.value != released:
                await in_reset()
                continue
            self._judge_offers(pairs)
            idle = True
            for channel, (valid, ready) in pairs.items():
                if valid.value == HIGH:
                    idle = False
                    if ready.value == HIGH:
                        seen[channel]()
            if idle:
                await First(*wake)

    def take_most_outstanding(self) -> tuple[int, int]:
        """Return the most beats of reads and writes that waited at a time since the last call."""
        most, self._most = tuple(self._most), list(self._open)
        return most[0], most[1]

    def _count(self, kind: int, change: int) -> None:
        self._open[kind] += change
        self._most[kind] = max(self._most[kind], self._open[kind])

    async def _see_reset(self) -> None:
        """Judge what is offered in reset, until that ends: a DUT asks for nothing then, and may take back an offer."""
        self._rules.flush()
        bus, edge, edges = self.bus, RisingEdge(self.clock), 0
        valids = (bus.arvalid, bus.awvalid, bus.wvalid)
        while not self.reset.is_over:
            await edge
            edges += 1
            if edges > RESTING_EDGES and any(valid.value == HIGH for valid in valids) and not self.reset.is_over:
                self._rules.broken(PortRule.IN_RESET)

    async def _see_answers(self) -> None:
        """Judge read data and write responses."""

        async def reset_ends() -> None:
            await self.reset.ends

        await self._follow({"r": self._see_read_answer, "b": self._see_write_answer}, reset_ends)

    def _see_read_answer(self) -> None:
        self._count(0, -1)
        last = self._number("rlast") == 1
        self._rules.read_answer(self._number("rid"), self._number("rdata"), last=last)

    def _see_write_answer(self) -> None:
        self._count(1, -1)
        axi_id = self._number("bid")
        self._rules.write_answer(axi_id)
        written = self._unanswered.get(axi_id)
        if written:
            self._events.see_answers(self.ram, np.array([axi_id]), np.array([written.popleft()]))

    def _see_read(self) -> None:
        self.handshakes += 1
        self.read_requests += 1
        request = ReadRequest(
            self._number("arid"), self._number("araddr"), self._number("arlen") + 1, self.cycles.now()
        )
        self._count(0, request.beats)
        width = self.bus_bytes
        start = request.address // width * width
        words = [self._word(start + n * width) for n in range(request.beats)]
        self._rules.read(request.axi_id, words)
        seen = (np.array([number]) for number in (request.cycle, request.beats, request.axi_id))
        self._events.see_reads(self.ram, *seen)
        nbytes = request.beats * width
        self._judge(request, nbytes, self._bad_read(start, nbytes))
        self._publish(request)

    def _see_address(self) -> None:
        self.handshakes += 1
        self._count(1, 1)
        at = self.cycles.now()
        self._addresses.append((self._number("awid"), self._number("awaddr"), self._number("awlen") + 1, at))
        self._match()

    def _see_data(self) -> None:
        self.handshakes += 1
        data = self._number("wdata").to_bytes(self.bus_bytes, "little")
        self._beats.append((data, self._number("wstrb"), self.cycles.now(), self._number("wlast") == 1))
        self._match()

    def _match(self) -> None:
        """Publish the oldest write whose address and beats have all been seen."""
        while self._addresses and len(self._beats) >= self._addresses[0][2]:
            axi_id, address, count, at = self._addresses.popleft()
            beats = [self._beats.popleft() for _ in range(count)]
            if [last for _, _, _, last in beats] != [False] * (count - 1) + [True]:
                self._rules.broken(PortRule.LAST)
            self._rules.write(axi_id)
            self._unanswered.setdefault(axi_id, deque()).append(beats[-1][2])
            self._see_write(WriteBurst(axi_id, address, tuple(beat[:3] for beat in beats), at))

    def _see_write(self, burst: WriteBurst) -> None:
        width = self.bus_bytes
        start = burst.address // width * width
        bad = (self._bad_write(start + number * width, strobe) for number, (_, strobe, _) in enumerate(burst.beats))
        first = next((byte for byte in bad if byte is not None), None)
        self._judge(burst, len(burst.beats) * width, first)
        for number, (data, strobe, at) in enumerate(burst.beats):
            beat = Beats.of(self.ram, start + number * width, data, strobe, at, burst.axi_id)
            self._events.see_writes(beat)
        self._publish(burst)

    def _bad_read(self, start: int, nbytes: int) -> BadByte | None:
        """Return the first byte that a read must not touch; of a word wider than an atom, one atom may be enough."""
        memory, atom, width = self.memory, self._atom_bytes, self.bus_bytes
        if memory is None:
            return None
        bad = memory.first_bad_byte(start, nbytes, reading=True)
        if bad is None or width <= atom:
            return bad
        for word in range(start, start + nbytes, width):
            if all(memory.first_bad_byte(at, atom, reading=True) is not None for at in range(word, word + width, atom)):
                return memory.first_bad_byte(word, width, reading=True)
        return None

    def _bad_write(self, address: int, strobe: int) -> BadByte | None:
        """Return the first byte that a beat must not touch, from the first with its strobe set to the last."""
        if not strobe or self.memory is None:
            return None
        first = (strobe & -strobe).bit_length() - 1
        return self.memory.first_bad_byte(address + first, strobe.bit_length() - first, reading=False)

    def _judge(self, request: ReadRequest | WriteBurst, nbytes: int, bad: BadByte | None) -> None:
        if bad is not None:
            reading = isinstance(request, ReadRequest)
            access = BadAccess(
                self.ram, reading, nbytes, request.address, request.axi_id, bad.address, bad.outside, bad.place
            )
            self._events.see_bad_access(access, request.cycle)

    def _judge_offers(self, pairs: Mapping[str, tuple[SimHandleBase, ...]]) -> None:
        """Judge the channels that have to wait, and those that had to at the last edge."""
        for channel, (valid, ready) in pairs.items():
            offered = valid.value == HIGH
            taken = ready.value == HIGH
            if (offered and not taken) or self._rules.is_waiting(channel):
                payload = tuple(self._number(name) for name in CHANNELS[channel][2]) if offered else None
                self._rules.offer(channel, payload, taken=taken)

    def _word(self, address: int) -> int | None:
        """Return the bytes of memory, or None when it is not known."""
        return None if self.memory is None else int.from_bytes(self.memory.read(address, self.bus_bytes), "little")

    def _number(self, name: str) -> int:
        """Return a payload signal as a number; X and Z on a valid payload are a violation and read as 0."""
        value = getattr(self.bus, name).value
        try:
            return int(value)
        except ValueError:
            self._violate(UnknownPin(self.ram, name, str(value)))
            return known(value)
