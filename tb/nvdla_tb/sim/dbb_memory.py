"""The memory behind a port: answers reads and writes from a ``MemoryImage``, as slowly as it is told."""

from __future__ import annotations

from dataclasses import dataclass

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event, RisingEdge

from nvdla_tb.judge.detail import Outstanding
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.sim.buses import DbbBus
from nvdla_tb.sim.clocking import HIGH
from nvdla_tb.sim.cycles import CountedCycles, Cycles
from nvdla_tb.sim.dbb_monitor import DbbMonitor, ReadRequest, WriteBurst
from nvdla_tb.sim.draws import Draws, Stream
from nvdla_tb.sim.pauses import Channel, Pause
from nvdla_tb.stimulus.settings import CHANNELS, PortSettings

REST_CYCLES = 256
"""How long a memory port must be still to be taken for one that rests."""


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


class DbbMemory:
    """Serves a memory port from a ``MemoryImage``.

    ::

        image = MemoryImage()
        bus = DbbBus.from_prefix(dut, "nvdla_core2dbb")
        memory = DbbMemory(bus, dut.dla_core_clk, dut.dla_reset_rstn, image, settings=PortSettings(latency_cycles=40))
        memory.r.set_pause_generator(itertools.cycle([1, 1, 0]))

    Reads see the memory as it is when the request is accepted. A reset drops every answer that is owed: one that is
    given after it hangs the device. The memory runs only while it owes answers or plays stalls.

    Attributes:
        ar, aw, w, r, b: The channels, each of which can be held back.
        image: The memory.
        monitor: The monitor of the port, through which it hears of requests.
        ram: Which memory it is.
    """

    def __init__(
        self,
        bus: DbbBus,
        clock: SimHandleBase,
        reset: SimHandleBase,
        image: MemoryImage,
        *,
        ram: Ram = Ram.MC,
        settings: PortSettings | None = None,
        seed: int = 0,
        atom_bytes: int | None = None,
        judges_ids: bool = True,
        reset_active_level: bool = False,
        cycles: Cycles | None = None,
    ) -> None:
        """Bind the memory to a port.

        Args:
            bus: Pins of the port.
            clock: Clock of the pins.
            reset: Reset of the device.
            image: Content of the memory.
            ram: Memory port.
            settings: Latency, jitter and stalls; by default each answer comes in the next cycle.
            seed: Seed of the random latencies and stalls.
            atom_bytes: See ``DbbMonitor``.
            judges_ids: See ``DbbMonitor``.
            reset_active_level: The level of the reset while it is on.
            cycles: What counts cycles; the edges of the clock when it is left out.
        """
        self.bus, self.image, self.ram = bus, image, ram
        self._cycles = cycles or CountedCycles.of(clock)
        self.monitor = DbbMonitor(
            bus,
            clock,
            reset,
            image,
            ram=ram,
            atom_bytes=atom_bytes,
            judges_ids=judges_ids,
            reset_active_level=reset_active_level,
            cycles=self._cycles,
        )
        self._edge = RisingEdge(clock)
        self._settings = settings = settings or PortSettings()
        self._latency = max(settings.latency_cycles or 0, 1)
        self._write_latency = (
            self._latency if settings.write_latency_cycles is None else max(settings.write_latency_cycles, 1)
        )
        self._draws = Draws(seed)
        self._bus_bytes = self.monitor.bus_bytes
        self._reads = _ResponseQueue(Stream.READ_CHOICE, self._draws, reorder=settings.reorder)
        self._writes = _ResponseQueue(Stream.WRITE_CHOICE, self._draws, reorder=settings.reorder)
        self._flushes = 0
        self._begun: dict[bool, _Response] = {}
        self._wake_reads, self._wake_writes = Event(), Event()
        self._drive_idle()
        self.monitor.reset.call(self.flush)
        self.monitor.add_callback(self._serve)
        cocotb.start_soon(self._answer_reads())
        cocotb.start_soon(self._answer_writes())
        ready_stall, valid_stall = settings.ready_stall, settings.valid_stall
        self.ar = Channel(self._cycles, self._pause("ar", Stream.AR, ready_stall), bus.arready)
        self.aw = Channel(self._cycles, self._pause("aw", Stream.AW, ready_stall), bus.awready)
        self.w = Channel(self._cycles, self._pause("w", Stream.W, ready_stall), bus.wready)
        self.r = Channel(self._cycles, self._pause("r", Stream.READ_STALL, valid_stall))
        self.b = Channel(self._cycles, self._pause("b", Stream.WRITE_STALL, valid_stall))

    async def rests(self) -> None:
        """Return once the port has neither moved nor owed an answer for a while, so that nothing comes late."""
        while True:
            before = self.monitor.handshakes
            await self._cycles.wait(REST_CYCLES)
            if self.monitor.handshakes == before and not self.outstanding():
                return

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
            beats = [self.image.read(start + n * width, width) for n in range(request.beats)]
            queue, wake, latency, jitter = self._reads, self._wake_reads, self._latency, Stream.READ_JITTER
        else:
            for number, (data, strobe, _) in enumerate(request.beats):
                self.image.write_masked(start + number * width, data, strobe)
            beats = [b""]
            queue, wake, latency, jitter = self._writes, self._wake_writes, self._write_latency, Stream.WRITE_JITTER
        due = (
            self._cycles.now()
            + latency
            + self._draws.below(jitter, self._cycles.now(), self._settings.jitter_cycles + 1)
        )
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
                await self._stall(self.r, bus.rvalid)
                bus.rdata.value = int.from_bytes(beat, "little")
                bus.rlast.value = number + 1 == len(response.beats)
                await self._handshake(bus.rvalid, bus.rready)
            self._begun.pop(True, None)
            if not self._reads or self._reads.next_due() > self._cycles.now():
                bus.rvalid.value = 0

    async def _answer_writes(self) -> None:
        bus = self.bus
        while True:
            response = await self._next(self._writes, self._wake_writes)
            self._begun[False] = response
            bus.bid.value = response.axi_id
            await self._stall(self.b, bus.bvalid)
            await self._handshake(bus.bvalid, bus.bready)
            self._begun.pop(False, None)
            if not self._writes or self._writes.next_due() > self._cycles.now():
                bus.bvalid.value = 0

    async def _next(self, queue: _ResponseQueue, wake: Event) -> _Response:
        """Wait until an answer is due and return it; called right after a rising edge."""
        while True:
            response = queue.take(self._cycles.now())
            if response is not None:
                return response
            if not queue:
                wake.clear()
                await wake.wait()
            elif self._settings.reorder and self._settings.jitter_cycles:
                # A request that is yet to come may be due before all that wait.
                await self._edge
            else:
                await self._cycles.wait(max(queue.next_due() - self._cycles.now(), 1))

    async def _stall(self, channel: Channel, valid: SimHandleBase) -> None:
        while channel.is_paused:
            valid.value = 0
            await self._edge

    async def _handshake(self, valid: SimHandleBase, ready: SimHandleBase) -> None:
        flushes = self._flushes
        valid.value = 1
        await self._edge
        while ready.value != HIGH and flushes == self._flushes:
            await self._edge

    def _pause(self, channel: str, stream: Stream, probability: float) -> Pause | None:
        """Return when the settings hold a channel back: at random, or for a while in each period."""
        settings, draws = self._settings, self._draws
        paused = self._standstill(channel) if settings.pause_cycles else None
        if not probability:
            return paused
        if paused is None:
            return lambda cycle: draws.chance(stream, cycle, probability)
        return lambda cycle: paused(cycle) or draws.chance(stream, cycle, probability)

    def _standstill(self, channel: str) -> Pause:
        """Return when a channel makes a pause."""
        settings, draws = self._settings, self._draws
        pause, period, number = settings.pause_cycles, settings.pause_period_cycles, CHANNELS.index(channel)

        def paused(cycle: int) -> bool:
            if cycle % period >= pause:
                return False
            if settings.pauses:
                return channel in settings.pauses
            return bool(draws.below(Stream.PAUSE, cycle // period * len(CHANNELS) + number, 2))

        return paused
