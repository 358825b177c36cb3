"""The memory ports, DBB and CVSRAM: a passive monitor that rebuilds bursts from the pins and judges both sides.

The port is a subset of AXI4: 4-bit len, no size, burst, lock or response pins; every beat is as wide
as the bus. Measured on the public nv_small RTL: data can be accepted before its address.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import First, RisingEdge
from cocotb_bus.monitors import BusMonitor

from nvdla_tb.judge.csb_rules import RESTING_EDGES
from nvdla_tb.judge.detail import AnyDetail, PortViolation, UnknownPin, Unmatched
from nvdla_tb.judge.port_rules import CHANNELS, PORT_PREFIX, PortRule, PortRules
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.sim.clocking import HIGH, cycle, known
from nvdla_tb.sim.pins import Events, Pins, is_wrapped


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


class MemoryPortMonitor(BusMonitor):  # type: ignore[misc]  # cocotb-bus has no types
    """Samples one memory port on every clock edge while something is valid, and sleeps otherwise.

    Callbacks receive ``ReadRequest`` and ``WriteBurst``; events are answers to writes, and what breaks the protocol,
    whichever slave there is. Read data are compared with ``memory``, which a slave sets to the image that it serves.
    """

    _signals: ClassVar[dict[str, str]] = {
        pin: f"{channel}_{pin}"
        for channel, (valid, ready, payload) in CHANNELS.items()
        for pin in (valid, ready, *payload)
    }

    def __init__(self, pins: Pins, ram: Ram, events: Events) -> None:
        """Bind the monitor to the port of ``ram``."""
        self.ram = ram
        self._events = events
        self._unanswered: dict[int, deque[int]] = {}
        self.handshakes = self.read_requests = 0
        self._addresses: deque[tuple[int, int, int, int]] = deque()
        self._beats: deque[tuple[bytes, int, int, bool]] = deque()
        self._rules = PortRules(
            # No wrapper changes the ids of clients.
            lambda rule: self._violate(PortViolation(ram, rule)),
            judges_ids=not is_wrapped(pins.dut, ram),
        )
        self.memory: MemoryImage | None = None
        self._open, self._most = [0, 0], [0, 0]
        super().__init__(pins.dut, PORT_PREFIX[ram], pins.dut.dla_core_clk, case_insensitive=False)
        self.bus_bytes = len(self.bus.wdata) // 8
        cocotb.start_soon(self._see_answers())

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

    async def _monitor_recv(self) -> None:
        seen = {"ar": self._see_read, "aw": self._see_address, "w": self._see_data}
        await self._follow(seen, self._see_reset)

    async def _follow(self, seen: Mapping[str, Callable[[], None]], in_reset: Callable[[], Awaitable[None]]) -> None:
        """Judge channels at every edge, whoever drives them, and sleep while none is valid.

        Args:
            seen: By channel, what sees a transfer.
            in_reset: What ends with a reset of the DUT.
        """
        edge, reset_n = RisingEdge(self.clock), self.entity.dla_reset_rstn
        pairs = {name: tuple(getattr(self.bus, pin) for pin in CHANNELS[name][:2]) for name in seen}
        wake = [RisingEdge(valid) for valid, _ in pairs.values()]
        while True:
            await edge
            if reset_n.value != HIGH:
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
        bus, edge, reset_n, edges = self.bus, RisingEdge(self.clock), self.entity.dla_reset_rstn, 0
        valids = (bus.arvalid, bus.awvalid, bus.wvalid)
        while reset_n.value != HIGH:
            await edge
            edges += 1
            if edges > RESTING_EDGES and any(valid.value == HIGH for valid in valids) and reset_n.value != HIGH:
                self._rules.broken(PortRule.IN_RESET)

    async def _see_answers(self) -> None:
        """Judge read data and write responses."""

        async def reset_ends() -> None:
            await RisingEdge(self.entity.dla_reset_rstn)

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
        request = ReadRequest(self._number("arid"), self._number("araddr"), self._number("arlen") + 1, cycle())
        self._count(0, request.beats)
        width = self.bus_bytes
        start = request.address // width * width
        words = [self._word(start + n * width) for n in range(request.beats)]
        self._rules.read(request.axi_id, words)
        self._recv(request)

    def _see_address(self) -> None:
        self.handshakes += 1
        self._count(1, 1)
        self._addresses.append((self._number("awid"), self._number("awaddr"), self._number("awlen") + 1, cycle()))
        self._match()

    def _see_data(self) -> None:
        self.handshakes += 1
        data = self._number("wdata").to_bytes(self.bus_bytes, "little")
        self._beats.append((data, self._number("wstrb"), cycle(), self._number("wlast") == 1))
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
            self._recv(WriteBurst(axi_id, address, tuple(beat[:3] for beat in beats), at))

    def _judge_offers(self, pairs: Mapping[str, tuple[SimHandleBase, ...]]) -> None:
        """Judge the channels that have to wait, and those that had to at the last edge."""
        for channel, (valid, ready) in pairs.items():
            offered = valid.value == HIGH
            taken = ready.value == HIGH
            if (offered and not taken) or self._rules.is_waiting(channel):
                payload = tuple(self._number(name) for name in CHANNELS[channel][2]) if offered else None
                self._rules.offer(channel, payload, taken=taken)

    def _violate(self, detail: AnyDetail) -> None:
        self._events.see_violation(detail, cycle())

    def _word(self, address: int) -> int | None:
        """Return the bytes of memory, or None when no memory was named."""
        return None if self.memory is None else int.from_bytes(self.memory.read(address, self.bus_bytes), "little")

    def _number(self, name: str) -> int:
        """Return a payload signal as a number; X and Z on a valid payload are a violation and read as 0."""
        value = getattr(self.bus, name).value
        try:
            return int(value)
        except ValueError:
            self._violate(UnknownPin(self.ram, name, str(value)))
            return known(value)
