"""The memory behind the three AXI4 masters of a core, each with a prefix for reads and one for writes.

The ports are our own to serve and not cocotbext-axi's: with two int8 values a beat, ``WDATA`` has 32 bits, ``WSTRB``
has 2, and a beat carries its two bytes in the low lanes, whatever its address. That is no legal AXI4, and a library
refuses it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, ClassVar

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import First, RisingEdge

from dlhdl_tb.judge import DlhdlJudge
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.port_rules import PortRule, PortRules
from nvdla_tb.judge.wrapped_rules import AXI4_RULES
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.sim.clocking import HIGH, cycle, known
from nvdla_tb.sim.draws import Draws, Stream
from nvdla_tb.stimulus.settings import PortSettings

MASTERS = {
    Ram.ACTIVATION: "AXI4_Master_Activation_Data",
    Ram.WEIGHT: "AXI4_Master_Weight_Data",
    Ram.DEBUG: "AXI4_Master_Debug",
}
"""What the ports of each master begin with."""

_DEPTH = 4
"""Requests of a port that wait at a time."""

_LATENCY_CYCLES = 8
_BORDER = 4096
_INCR = 1


class _Rule(IntEnum):
    """Places of a channel's rules in ``AXI4_RULES``; those of writes come after those of reads."""

    SIZE = 0
    BURST = 1
    BORDER = 2
    LOCK = 3
    STAYS = 5


@dataclass(frozen=True)
class Request:
    """An address that was accepted: ``beats`` of ``width`` bytes."""

    axi_id: int
    address: int
    beats: int
    width: int
    cycle: int

    @property
    def nbytes(self) -> int:
        """Bytes of all beats."""
        return self.beats * self.width


class Port(ABC):
    """One half of a master: its pins, the rules that they keep, and when it is ready.

    A coroutine looks at each clock edge while something moves, and sleeps otherwise.
    """

    half: ClassVar[str]
    address_channel: ClassVar[str]
    valids: ClassVar[tuple[str, ...]]
    """Names of the pins whose rise wakes the port."""

    first_rule: ClassVar[int]
    """Where the rules of its address channel begin in ``wrapped_rules.MEMORY_RULES``."""

    width: int
    """Bytes of a beat."""

    def __init__(self, dut: SimHandleBase, ram: Ram, judge: DlhdlJudge, settings: PortSettings, draws: Draws) -> None:
        """Bind the port of a master; ``start`` begins to serve it, and the judge hears of what is seen."""
        self.handshakes = 0
        self._dut, self._ram, self._judge, self._settings, self._draws = dut, ram, judge, settings, draws
        self._prefix = f"{MASTERS[ram]}_{self.half}_"
        self._rules = PortRules(lambda rule: judge.broken(ram, rule, cycle()))
        self._details: tuple[int, ...] | None = None

    def start(self) -> None:
        """Serve the port from now on."""
        cocotb.start_soon(self._run())

    @property
    @abstractmethod
    def is_idle(self) -> bool:
        """Whether it owes nothing."""

    def _pin(self, name: str) -> SimHandleBase:
        return getattr(self._dut, self._prefix + name.upper())

    def _show(self, **values: int) -> None:
        """Drive pins."""
        for name, value in values.items():
            self._pin(name).value = value

    def _number(self, name: str) -> int:
        value = self._pin(name).value
        try:
            return int(value)
        except ValueError:
            self._judge.unknown(self._ram, self._prefix + name.upper(), str(value), cycle())
            return known(value)

    @abstractmethod
    def _rest(self) -> None:
        """Drive what a port in reset and an idle one shows."""

    @abstractmethod
    def _step(self) -> None:
        """Look at the pins at an edge, and drive what follows."""

    async def _run(self) -> None:
        edge, reset_n = RisingEdge(self._dut.clk), self._dut.reset_n
        valids = [self._pin(name) for name in self.valids]
        wake = [RisingEdge(valid) for valid in valids]
        self._rest()
        while True:
            await edge
            if reset_n.value != HIGH:
                if any(valid.value == HIGH for valid in valids):
                    self._rules.broken(PortRule.IN_RESET)
                self._rules.flush()
                self._details = None
                self._rest()
                continue
            self._step()
            if self.is_idle and not any(valid.value == HIGH for valid in valids):
                self._rest()
                await First(*wake, RisingEdge(reset_n))

    def _is_ready(self, stream: Stream) -> bool:
        return not self._draws.chance(stream, cycle(), self._settings.ready_stall)

    def _due(self, stream: Stream) -> int:
        latency = self._settings.latency_cycles
        jitter = self._draws.below(stream, cycle(), self._settings.jitter_cycles + 1)
        return cycle() + (_LATENCY_CYCLES if latency is None else latency) + jitter

    def _address(self, *, taken: bool) -> Request | None:
        """Judge the address channel, whose ready may be high, and return the request if one was taken."""
        channel, first = self.address_channel, self.first_rule
        if self._pin(f"{channel}valid").value != HIGH:
            self._rules.offer(channel, None, taken=taken)
            self._details = None
            return None
        payload = tuple(self._number(f"{channel}{name}") for name in ("addr", "id", "len"))
        self._rules.offer(channel, payload, taken=taken)
        details = tuple(self._number(f"{channel}{name}") for name in ("size", "burst", "lock", "cache", "prot"))
        if self._details is not None and self._details != details:
            self._rules.broken(first + _Rule.STAYS)
        self._details = None if taken else details
        if not taken:
            return None
        request = Request(payload[1], payload[0], payload[2] + 1, self.width, cycle())
        if 1 << details[0] != self.width:
            self._rules.broken(first + _Rule.SIZE)
        if details[1] != _INCR:
            self._rules.broken(first + _Rule.BURST)
        if request.address // _BORDER != (request.address + request.nbytes - 1) // _BORDER:
            self._rules.broken(first + _Rule.BORDER)
        if details[2]:
            self._rules.broken(first + _Rule.LOCK)
        self.handshakes += 1
        return request


class ReadPort(Port):
    """Answers reads from the judge's memory image, in order."""

    half, address_channel, valids, first_rule = "Rd", "ar", ("arvalid",), len(PortRule)

    def __init__(self, *arguments: Any, width: int) -> None:
        """Bind the port; see ``Port``. A beat has so many bytes."""
        super().__init__(*arguments)
        self.width = width
        self._waiting: deque[tuple[Request, int]] = deque()
        self._ready = self._valid = False
        self._beat = 0

    @property
    def is_idle(self) -> bool:
        """Whether no read waits for its data."""
        return not self._waiting

    def _rest(self) -> None:
        self._waiting.clear()
        # Ready may be low at rest: it waits for valid then.
        self._beat, self._ready, self._valid = 0, self._is_ready(Stream.AR), False
        self._show(arready=self._ready, rvalid=0, rresp=0)

    def _step(self) -> None:
        if self._valid and self._pin("rready").value == HIGH:
            self.handshakes += 1
            self._valid = False
            self._beat += 1
            if self._beat == self._waiting[0][0].beats:
                self._waiting.popleft()
                self._beat = 0
        request = self._address(taken=self._ready)
        if request is not None:
            self._judge.reads(self._ram, request.address, request.nbytes, request.axi_id, request.cycle)
            self._waiting.append((request, self._due(Stream.READ_JITTER)))
        self._ready = len(self._waiting) < _DEPTH and self._is_ready(Stream.AR)
        stalled = self._draws.chance(Stream.READ_STALL, cycle(), self._settings.valid_stall)
        if not self._valid and self._waiting and self._waiting[0][1] <= cycle() and not stalled:
            self._valid = True
            request = self._waiting[0][0]
            data = self._judge.image.read(request.address + self._beat * request.width, request.width)
            # The low lanes, also where the bus is wider than a beat.
            rdata, rlast = int.from_bytes(data, "little"), self._beat == request.beats - 1
            self._show(rdata=rdata, rid=request.axi_id, rlast=rlast)
        self._show(arready=self._ready, rvalid=self._valid)


class WritePort(Port):
    """Takes writes, tells the judge of each whole burst, and answers."""

    half, address_channel, valids, first_rule = "Wr", "aw", ("awvalid", "wvalid"), len(PortRule) + len(AXI4_RULES) // 2

    def __init__(self, *arguments: Any) -> None:
        """Bind the port; see ``Port``. A beat has as many bytes as ``WSTRB`` has bits."""
        super().__init__(*arguments)
        self.width = len(self._pin("wstrb"))
        self._addresses: deque[Request] = deque()
        self._beats: deque[tuple[bytes, int, int, bool]] = deque()
        self._answers: deque[tuple[int, int]] = deque()
        self._ready_aw = self._ready_w = self._valid = False

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for its other half or its answer."""
        return not (self._addresses or self._beats or self._answers)

    def unmatched(self) -> tuple[int, int]:
        """Return addresses without all of their data, and data without an address."""
        return len(self._addresses), len(self._beats)

    def _rest(self) -> None:
        for queue in (self._addresses, self._beats, self._answers):
            queue.clear()
        self._ready_aw, self._ready_w, self._valid = self._is_ready(Stream.AW), self._is_ready(Stream.W), False
        self._show(awready=self._ready_aw, wready=self._ready_w, bvalid=0, bresp=0)

    def _step(self) -> None:
        if self._valid and self._pin("bready").value == HIGH:
            self._answers.popleft()
            self._valid = False
        request = self._address(taken=self._ready_aw)
        if request is not None:
            self._addresses.append(request)
        self._data()
        while self._addresses and len(self._beats) >= self._addresses[0].beats:
            self._whole(self._addresses.popleft())
        self._ready_aw = len(self._addresses) + len(self._answers) < _DEPTH and self._is_ready(Stream.AW)
        self._ready_w = self._is_ready(Stream.W)
        stalled = self._draws.chance(Stream.WRITE_STALL, cycle(), self._settings.valid_stall)
        if not self._valid and self._answers and self._answers[0][1] <= cycle() and not stalled:
            self._valid = True
            self._show(bid=self._answers[0][0])
        self._show(awready=self._ready_aw, wready=self._ready_w, bvalid=self._valid)

    def _data(self) -> None:
        """Take a beat of data if one is there."""
        if self._pin("wvalid").value != HIGH:
            self._rules.offer("w", None, taken=self._ready_w)
            return
        data, strobe, last = (self._number(name) for name in ("wdata", "wstrb", "wlast"))
        self._rules.offer("w", (data, strobe, last), taken=self._ready_w)
        if self._ready_w:
            self.handshakes += 1
            low = data & (1 << 8 * self.width) - 1
            self._beats.append((low.to_bytes(self.width, "little"), strobe, cycle(), bool(last)))

    def _whole(self, request: Request) -> None:
        """Store a burst whose beats are all there."""
        beats = [self._beats.popleft() for _ in range(request.beats)]
        if [beat[3] for beat in beats] != [False] * (request.beats - 1) + [True]:
            self._rules.broken(PortRule.LAST)
        parts = []
        for number, (data, strobe, at, _) in enumerate(beats):
            address = request.address + number * self.width
            self._judge.image.write_masked(address, data, strobe)
            parts.append(Beats.of(self._ram, address, data, strobe, at, request.axi_id))
        self._judge.writes(Beats.joined(parts))
        self._answers.append((request.axi_id, self._due(Stream.WRITE_JITTER)))


class Masters:
    """The memory behind all masters of a core."""

    def __init__(self, dut: SimHandleBase, judge: DlhdlJudge, settings: PortSettings, seed: int) -> None:
        """Bind all ports; ``start`` begins to serve them."""
        seeds = np.random.default_rng(seed).integers(0, 1 << 63, 2 * len(MASTERS))
        draws = [Draws(int(value)) for value in seeds]
        self._writes = [
            WritePort(dut, ram, judge, settings, draw) for ram, draw in zip(MASTERS, draws[: len(MASTERS)], strict=True)
        ]
        # A beat of reads is as wide as one of writes, whatever the pins of data are.
        self._reads = [
            ReadPort(dut, ram, judge, settings, draw, width=write.width)
            for ram, draw, write in zip(MASTERS, draws[len(MASTERS) :], self._writes, strict=True)
        ]

    def start(self) -> None:
        """Serve all ports from now on."""
        for port in (*self._reads, *self._writes):
            port.start()

    @property
    def handshakes(self) -> int:
        """A count that changes whenever something moves."""
        return sum(port.handshakes for port in (*self._reads, *self._writes))

    @property
    def are_idle(self) -> bool:
        """Whether no port owes anything."""
        return all(port.is_idle for port in (*self._reads, *self._writes))

    def state(self) -> str:
        """Return what is outstanding, in words."""
        texts = []
        for ram, read, write in zip(MASTERS, self._reads, self._writes, strict=True):
            addresses, beats = write.unmatched()
            if addresses or beats:
                halves = f"{addresses} write addresses without all data, {beats} beats without address"
                texts.append(f"{ram.value}: {halves}")
            if not read.is_idle:
                texts.append(f"{ram.value}: a read is not finished")
        return "; ".join(texts) or "no memory request is outstanding"
