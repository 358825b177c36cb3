"""The back ends between the DUT's pins and the bench: agents in Python, or the compiled harness.

Both behave alike cycle by cycle, and push what they see to the bench as events, in the order in which it happened.
The coroutines are the reference, and the only ones on Icarus.
"""

from __future__ import annotations

import cocotb
import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import First, RisingEdge, ValueChange

from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import BadAccess, CsbViolation, PortViolation, UnknownPin
from nvdla_tb.judge.port_rules import PORT_PREFIX
from nvdla_tb.judge.wrapped_rules import BROKEN, Broken
from nvdla_tb.nvdla.memory import BadByte, MemoryImage, Ram
from nvdla_tb.sim.clocking import HIGH, csb_clock, cycle, known
from nvdla_tb.sim.csb import CsbDriver, CsbMonitor
from nvdla_tb.sim.interrupts import InterruptAgent
from nvdla_tb.sim.memory_port import MemoryPortMonitor, ReadRequest, WriteBurst
from nvdla_tb.sim.memory_slave import MemorySlave
from nvdla_tb.sim.native_backend import NativeBackend
from nvdla_tb.sim.pins import Events, Pins

_CSB_CONTROLS = ("csb2nvdla_ready", "nvdla2csb_valid", "nvdla2csb_wr_complete", "dla_intr")
_PORT_CONTROLS = ("ar_arvalid", "aw_awvalid", "w_wvalid", "r_rready", "b_bready")
"""Outputs that say when others count, so that they must always be known out of reset."""


class CoroutineBackend:
    """Agents that sample and drive pins themselves, and push everything as they see it."""

    def __init__(self, pins: Pins, events: Events) -> None:
        """Bind all agents."""
        self._events = events
        self._atom_bytes = pins.config.memory_atomic_bytes
        dut, clock, registers_clock = pins.dut, pins.dut.dla_core_clk, csb_clock(pins.dut)
        limit = 1 << pins.config.memif_address_width_bits
        self.memories = {ram: MemoryImage(limit=limit) for ram in pins.rams}
        self.csb = CsbDriver(pins)
        self.csb_monitor = CsbMonitor(pins, events)
        self.monitors = {ram: MemoryPortMonitor(pins, ram, events) for ram in pins.rams}
        for ram, monitor in self.monitors.items():
            monitor.add_callback(lambda request, ram=ram: self._see_memory(ram, request))
        self.slaves = {ram: MemorySlave(pins, self.monitors[ram], self.memories[ram]) for ram in pins.rams}
        self.interrupts = InterruptAgent(dut, registers_clock, self.csb)
        prefixes = [PORT_PREFIX[ram] for ram in pins.rams]
        for name in (*_CSB_CONTROLS, *(f"{prefix}_{pin}" for prefix in prefixes for pin in _PORT_CONTROLS)):
            cocotb.start_soon(self._watch(dut.dla_reset_rstn, getattr(dut, name), name))
        for name, broken in BROKEN.items():
            if hasattr(dut, name):
                at = registers_clock if broken.ram is None else clock
                cocotb.start_soon(self._watch_rules(at, getattr(dut, name), broken))

    @property
    def accesses(self) -> int:
        """Accesses played on CSB, but for those that serve interrupts."""
        return self.csb.accesses

    def flush(self) -> None:
        """Drop what is owed, half seen or requested: a reset of the DUT begins."""
        self.csb.idle()
        self.csb_monitor.flush()
        self.csb.writes = self.csb_monitor.writes
        for ram, slave in self.slaves.items():
            slave.flush()
            self.monitors[ram].flush()

    def look(self) -> None:
        """Do nothing: everything is pushed as it is seen."""

    def end(self) -> None:
        """Push the last write of a test that ends with it, in whose cycle the monitor is not asked any more."""
        if self.csb.writes > self.csb_monitor.writes and self.csb.last_write is not None:
            self._events.see_access(self.csb.last_write)

    def watch_reads(self) -> None:
        """Do nothing: reads are always pushed."""

    def close(self) -> None:
        """Refuse: a simulator that knows X shall not find what an earlier scenario left in RAM.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("only the native back end lets another bench take up the DUT")

    async def _watch(self, reset_n: SimHandleBase, pin: SimHandleBase, name: str) -> None:
        """Report an output that says when others count, and is X or Z out of reset; once."""
        while True:
            if reset_n.value == HIGH and not pin.value.is_resolvable:
                self._events.see_violation(UnknownPin(None, name, str(pin.value)), cycle())
                return
            await First(ValueChange(pin), RisingEdge(reset_n))

    async def _watch_rules(self, clock: SimHandleBase, pin: SimHandleBase, broken: Broken) -> None:
        """Report the rules that a shim finds broken, each once."""
        edge, moved, seen = RisingEdge(clock), ValueChange(pin), 0
        while True:
            if not known(pin.value):
                await moved
                continue
            await edge
            fresh = known(pin.value) & ~seen
            seen |= fresh
            for rule in (broken.first + bit for bit in range(broken.rules) if fresh >> bit & 1):
                detail = CsbViolation(rule) if broken.ram is None else PortViolation(broken.ram, rule)
                self._events.see_violation(detail, cycle())

    def _see_memory(self, ram: Ram, request: ReadRequest | WriteBurst) -> None:
        width = self.monitors[ram].bus_bytes
        start = request.address // width * width
        if isinstance(request, ReadRequest):
            seen = (np.array([number]) for number in (request.cycle, request.beats, request.axi_id))
            self._events.see_reads(ram, *seen)
            nbytes = request.beats * width
            self._report(ram, request, nbytes, self._bad_read(ram, start, nbytes, width))
            return
        bad = (
            self._bad_write(ram, start + number * width, strobe) for number, (_, strobe, _) in enumerate(request.beats)
        )
        first = next((byte for byte in bad if byte is not None), None)
        self._report(ram, request, len(request.beats) * width, first)
        for number, (data, strobe, at) in enumerate(request.beats):
            self._events.see_writes(Beats.of(ram, start + number * width, data, strobe, at, request.axi_id))

    def _bad_read(self, ram: Ram, start: int, nbytes: int, width: int) -> BadByte | None:
        """Return the first byte that a read must not touch; of a word wider than an atom, one atom may be enough."""
        memory, atom = self.memories[ram], self._atom_bytes
        bad = memory.first_bad_byte(start, nbytes, reading=True)
        if bad is None or width <= atom:
            return bad
        for word in range(start, start + nbytes, width):
            if all(memory.first_bad_byte(at, atom, reading=True) is not None for at in range(word, word + width, atom)):
                return memory.first_bad_byte(word, width, reading=True)
        return None

    def _bad_write(self, ram: Ram, address: int, strobe: int) -> BadByte | None:
        """Return the first byte that a beat must not touch, from the first with its strobe set to the last."""
        if not strobe:
            return None
        first = (strobe & -strobe).bit_length() - 1
        return self.memories[ram].first_bad_byte(address + first, strobe.bit_length() - first, reading=False)

    def _report(self, ram: Ram, request: ReadRequest | WriteBurst, nbytes: int, bad: BadByte | None) -> None:
        if bad is not None:
            reading = isinstance(request, ReadRequest)
            access = BadAccess(
                ram, reading, nbytes, request.address, request.axi_id, bad.address, bad.outside, bad.place
            )
            self._events.see_bad_access(access, request.cycle)


Backend = CoroutineBackend | NativeBackend
"""The agents of one bench."""
