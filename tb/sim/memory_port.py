"""The memory ports, DBB and CVSRAM: a passive monitor that rebuilds bursts from the pins.

The port is a subset of AXI4: 4-bit len, no size, burst, lock or response pins; every beat is as wide
as the bus. Measured on the public nv_small RTL: data can be accepted before its address.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from cocotb.handle import SimHandleBase
from cocotb.triggers import First, RisingEdge
from cocotb_bus.monitors import BusMonitor

from tb.memory import Ram
from tb.sim.clocking import HIGH, cycle
from tb.sim.port_rules import CHANGED, CHANNELS, DROPPED, LAST, violation

PORT_PREFIX = {Ram.MC: "nvdla_core2dbb", Ram.CVSRAM: "nvdla_core2cvsram"}

_CHANNELS = {
    "aw": ("valid", "ready", "id", "len", "addr"),
    "w": ("valid", "ready", "data", "strb", "last"),
    "b": ("valid", "ready", "id"),
    "ar": ("valid", "ready", "id", "len", "addr"),
    "r": ("valid", "ready", "id", "last", "data"),
}


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


class MemoryPortMonitor(BusMonitor):
    """Samples one memory port on every clock edge while something is valid, and sleeps otherwise.

    Callbacks receive ``ReadRequest`` and ``WriteBurst``; ``complain`` receives protocol violations.
    """

    _signals: ClassVar[dict[str, str]] = {
        f"{channel}{signal}": f"{channel}_{channel}{signal}"
        for channel, signals in _CHANNELS.items()
        for signal in signals
    }

    def __init__(self, entity: SimHandleBase, clock: SimHandleBase, ram: Ram, complain: Callable[[str], None]) -> None:
        """Bind the monitor to the port of ``ram``."""
        self.ram = ram
        self.handshakes = 0
        self._complain = complain
        self._addresses: deque[tuple[int, int, int, int]] = deque()
        self._beats: deque[tuple[bytes, int, int, bool]] = deque()
        self._offers: dict[str, tuple[int, ...]] = {}
        self._broken: set[int] = set()
        super().__init__(entity, PORT_PREFIX[ram], clock, case_insensitive=False)
        self.bus_bytes = len(self.bus.wdata) // 8

    @property
    def unmatched(self) -> str:
        """Say which write addresses lack data and which data lack an address."""
        return f"{len(self._addresses)} write addresses without all data, {len(self._beats)} beats without address"

    @property
    def is_balanced(self) -> bool:
        """Whether every write address has found its data and the other way round."""
        return not self._addresses and not self._beats

    def flush(self) -> None:
        """Forget half-seen bursts, as a reset of the DUT does."""
        self._addresses.clear()
        self._beats.clear()
        self._offers.clear()

    async def _monitor_recv(self) -> None:
        bus, edge = self.bus, RisingEdge(self.clock)
        arvalid, awvalid, wvalid = bus.arvalid, bus.awvalid, bus.wvalid
        arready, awready, wready = bus.arready, bus.awready, bus.wready
        pairs = {name: (getattr(bus, valid), getattr(bus, ready)) for name, (valid, ready, _) in CHANNELS.items()}
        wake = [RisingEdge(signal) for signal in (arvalid, awvalid, wvalid)]
        reset_n = self.entity.dla_reset_rstn
        while True:
            await edge
            if reset_n.value != HIGH:
                # A DUT that is held in reset asks for nothing, and may take back what it offered.
                self._offers.clear()
                await RisingEdge(reset_n)
                continue
            for channel, (valid, ready) in pairs.items():
                waits = valid.value == HIGH and ready.value != HIGH
                if waits or channel in self._offers:
                    self._judge_offer(channel, valid.value == HIGH, waits)
            idle = True
            if arvalid.value == HIGH:
                idle = False
                if arready.value == HIGH:
                    self._see_read()
            if awvalid.value == HIGH:
                idle = False
                if awready.value == HIGH:
                    self._see_address()
            if wvalid.value == HIGH:
                idle = False
                if wready.value == HIGH:
                    self._see_data()
            if idle:
                await First(*wake)

    def _see_read(self) -> None:
        self.handshakes += 1
        self._recv(ReadRequest(self._number("arid"), self._number("araddr"), self._number("arlen") + 1, cycle()))

    def _see_address(self) -> None:
        self.handshakes += 1
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
                self._violate(LAST)
            self._recv(WriteBurst(axi_id, address, tuple(beat[:3] for beat in beats), at))

    def _judge_offer(self, channel: str, valid: bool, waits: bool) -> None:
        """Compare what a channel offers with what it offered while it had to wait."""
        held = self._offers.pop(channel, None)
        number = 2 * list(CHANNELS).index(channel)
        if not valid:
            self._violate(number + DROPPED)
            return
        offered = tuple(self._number(name) for name in CHANNELS[channel][2])
        if held is not None and held != offered:
            self._violate(number + CHANGED)
        if waits:
            self._offers[channel] = offered

    def _violate(self, rule: int) -> None:
        """Complain of a rule, once."""
        if rule not in self._broken:
            self._broken.add(rule)
            self._complain(violation(self.ram, rule, cycle()))

    def _number(self, name: str) -> int:
        """Return a payload signal as a number; X and Z on a valid payload are a violation and read as 0."""
        value = getattr(self.bus, name).value
        try:
            return int(value)
        except ValueError:
            self._complain(f"{self.ram.value}: {name} is {value} while valid, at cycle {cycle()}")
            return int(str(value).translate(str.maketrans("XZUWxzuw-", "000000000")), 2)
