"""The memory behind a port: answers reads and writes from a ``MemoryImage``, as slowly as it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event, RisingEdge
from cocotb_bus.drivers import BusDriver

from nvdla_tb.judge.detail import Outstanding
from nvdla_tb.judge.port_rules import PORT_PREFIX
from nvdla_tb.nvdla.memory import MemoryImage
from nvdla_tb.sim.clocking import HIGH, cycle, wait_cycles
from nvdla_tb.sim.draws import Draws, Stream
from nvdla_tb.sim.memory_port import MemoryPortMonitor, ReadRequest, WriteBurst
from nvdla_tb.sim.pins import Pins
from nvdla_tb.stimulus.settings import CHANNELS


@dataclass(eq=False)
class _Response:
    """One answer: ``beats`` of read data, or a single empty beat for B."""

    axi_id: int
    due: int
    address: int
    beats: list[bytes]


class _ResponseQueue(list[_Response]):
    """Answers that wait for their time: in order within an id, across ids only when reordering is on."""

    def __init__(self, choice: Stream, draws: Draws, *, reorder: bool) -> None:
        super().__init__()
        self._choice, self._draws, self._reorder = choice, draws, reorder

    def _heads(self) -> list[_Response]:
        """Return the answers that may go next: the oldest of each id, or of all."""
        if not self._reorder:
            return self[:1]
        oldest: dict[int, _Response] = {}
        for response in self:
            oldest.setdefault(response.axi_id, response)
        return list(oldest.values())

    def next_due(self) -> int:
        """Return the cycle at which the earliest answer that may go next is due."""
        return min(response.due for response in self._heads())

    def take(self, now: int) -> _Response | None:
        """Take an answer that is due and may go next, if there is one."""
        due = [response for response in self._heads() if response.due <= now]
        if not due:
            return None
        chosen = due[self._draws.below(self._choice, now, len(due))]
        self.remove(chosen)
        return chosen


class MemorySlave(BusDriver):  # type: ignore[misc]  # cocotb-bus has no types
    """Drives the slave side of one memory port.

    It hears of accepted requests through the port's monitor, and runs only while it owes answers or
    plays stalls. Reads see the memory as it is when the request is accepted.
    """

    _signals: ClassVar[dict[str, str]] = MemoryPortMonitor._signals

    def __init__(self, pins: Pins, monitor: MemoryPortMonitor, image: MemoryImage) -> None:
        """Bind the slave to a monitor's port, to serve an image."""
        clock, settings = pins.dut.dla_core_clk, pins.settings.port
        super().__init__(pins.dut, PORT_PREFIX[monitor.ram], clock, case_insensitive=False)
        self._edge = RisingEdge(clock)
        self._image = image
        self._settings = settings
        self._latency = max(pins.latency_cycles(monitor.ram), 1)
        self._write_latency = (
            self._latency if settings.write_latency_cycles is None else max(settings.write_latency_cycles, 1)
        )
        self._draws = Draws(pins.port_seed(monitor.ram))
        self.ram = monitor.ram
        self._bus_bytes = monitor.bus_bytes
        self._reads = _ResponseQueue(Stream.READ_CHOICE, self._draws, reorder=settings.reorder)
        self._writes = _ResponseQueue(Stream.WRITE_CHOICE, self._draws, reorder=settings.reorder)
        self._flushes = 0
        self._begun: dict[bool, _Response] = {}
        self._wake_reads, self._wake_writes = Event(), Event()
        self._drive_idle()
        monitor.memory = image
        monitor.add_callback(self._serve)
        cocotb.start_soon(self._answer_reads())
        cocotb.start_soon(self._answer_writes())
        if settings.ready_stall or settings.pause_cycles:
            for stream in (Stream.AR, Stream.AW, Stream.W):
                ready = getattr(self.bus, f"{stream.name.lower()}ready")
                cocotb.start_soon(self._stall_ready(ready, stream))

    def outstanding(self) -> list[Outstanding]:
        """Return the requests that have not been answered yet."""
        waiting = [(True, response) for response in self._reads] + [(False, response) for response in self._writes]
        all_of_them = [*self._begun.items(), *waiting]
        return [Outstanding(self.ram, reading, answer.address, answer.axi_id) for reading, answer in all_of_them]

    def flush(self) -> None:
        """Drop every answer that is owed: one replayed after a reset hangs the DUT."""
        self._flushes += 1
        self._begun.clear()
        self._reads.clear()
        self._writes.clear()
        self._drive_idle()

    def _drive_idle(self) -> None:
        bus = self.bus
        for signal in (bus.arready, bus.awready, bus.wready):
            signal.value = 1
        for signal in (bus.rvalid, bus.bvalid, bus.rid, bus.bid, bus.rdata, bus.rlast):
            signal.value = 0

    def _serve(self, request: ReadRequest | WriteBurst) -> None:
        width = self._bus_bytes
        start = request.address // width * width
        if isinstance(request, ReadRequest):
            beats = [self._image.read(start + n * width, width) for n in range(request.beats)]
            queue, wake, latency, jitter = self._reads, self._wake_reads, self._latency, Stream.READ_JITTER
        else:
            for number, (data, strobe, _) in enumerate(request.beats):
                self._image.write_masked(start + number * width, data, strobe)
            beats = [b""]
            queue, wake, latency, jitter = self._writes, self._wake_writes, self._write_latency, Stream.WRITE_JITTER
        due = cycle() + latency + self._draws.below(jitter, cycle(), self._settings.jitter_cycles + 1)
        queue.append(_Response(request.axi_id, due, request.address, beats))
        wake.set()

    async def _answer_reads(self) -> None:
        bus = self.bus
        while True:
            response = await self._next(self._reads, self._wake_reads)
            flushes = self._flushes
            self._begun[True] = response
            bus.rid.value = response.axi_id
            for number, beat in enumerate(response.beats):
                if flushes != self._flushes:
                    break
                await self._stall_valid(bus.rvalid, Stream.READ_STALL, "r")
                bus.rdata.value = int.from_bytes(beat, "little")
                bus.rlast.value = number + 1 == len(response.beats)
                await self._handshake(bus.rvalid, bus.rready)
            self._begun.pop(True, None)
            if not self._reads or self._reads.next_due() > cycle():
                bus.rvalid.value = 0

    async def _answer_writes(self) -> None:
        bus = self.bus
        while True:
            response = await self._next(self._writes, self._wake_writes)
            self._begun[False] = response
            bus.bid.value = response.axi_id
            await self._stall_valid(bus.bvalid, Stream.WRITE_STALL, "b")
            await self._handshake(bus.bvalid, bus.bready)
            self._begun.pop(False, None)
            if not self._writes or self._writes.next_due() > cycle():
                bus.bvalid.value = 0

    async def _next(self, queue: _ResponseQueue, wake: Event) -> _Response:
        """Wait until an answer is due and return it; called right after a rising edge."""
        while True:
            response = queue.take(cycle())
            if response is not None:
                return response
            if not queue:
                wake.clear()
                await wake.wait()
            elif self._settings.reorder and self._settings.jitter_cycles:
                # A request that is yet to come may be due before all that wait.
                await self._edge
            else:
                await wait_cycles(self.clock, max(queue.next_due() - cycle(), 1))

    def _stands_still(self, channel: str) -> bool:
        """Return whether a channel makes a pause in this cycle."""
        settings = self._settings
        if not settings.pause_cycles or cycle() % settings.pause_period_cycles >= settings.pause_cycles:
            return False
        if settings.pauses:
            return channel in settings.pauses
        number = cycle() // settings.pause_period_cycles * len(CHANNELS) + CHANNELS.index(channel)
        return bool(self._draws.below(Stream.PAUSE, number, 2))

    async def _stall_valid(self, valid: SimHandleBase, stream: Stream, channel: str) -> None:
        stall = self._settings.valid_stall
        while self._stands_still(channel) or (stall and self._draws.chance(stream, cycle(), stall)):
            valid.value = 0
            await self._edge

    async def _handshake(self, valid: SimHandleBase, ready: SimHandleBase) -> None:
        flushes = self._flushes
        valid.value = 1
        await self._edge
        while ready.value != HIGH and flushes == self._flushes:
            await self._edge

    async def _stall_ready(self, ready: SimHandleBase, stream: Stream) -> None:
        while True:
            await self._edge
            stalls = self._draws.chance(stream, cycle(), self._settings.ready_stall)
            ready.value = not stalls and not self._stands_still(stream.name.lower())
