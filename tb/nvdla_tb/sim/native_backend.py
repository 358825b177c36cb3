"""The compiled back end: the harness plays, serves and logs; Python wakes at events and reads in bulk."""

from __future__ import annotations

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import ValueChange

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import BadAccess, CsbViolation, PortViolation
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.sim.events import Events
from nvdla_tb.sim.native import OUTSIDE, Lease
from nvdla_tb.sim.native_csb import NativeCsb, NativeInterrupts
from nvdla_tb.sim.native_port import NativePages, NativePort
from nvdla_tb.sim.ports import rams_of
from nvdla_tb.stimulus.settings import BenchSettings


class NativeBackend:
    """Agents that are compiled into the model.

    The harness wakes Python when a program or a register access it waits for is over, before a layer
    starts, when an interrupt was served, and when a log runs full.
    """

    def __init__(
        self,
        dut: SimHandleBase,
        config: HwConfig,
        settings: BenchSettings,
        seed: int,
        events: Events,
        *,
        log_reads: bool,
    ) -> None:
        """Configure the harness.

        Args:
            dut: The top.
            config: The configuration of the RTL.
            settings: Latencies and stalls.
            seed: Seed of all randomness.
            events: The listener to what it sees.
            log_reads: Whether reads are pushed, too.
        """
        self._events, self._log_reads = events, log_reads
        self._lease = Lease()
        self.csb = NativeCsb(dut, config, settings, seed, self._lease)
        self.slaves = {
            ram: NativePort(dut, config, settings.port, seed, ram, log_reads=log_reads) for ram in rams_of(config)
        }
        self.monitors = self.slaves
        limit = 1 << config.memif_address_width_bits
        self.memories = {ram: MemoryImage(limit=limit, store=NativePages(ram, self._lease)) for ram in self.slaves}
        self.interrupts = NativeInterrupts(self.csb)
        self._listener = cocotb.start_soon(self._listen(ValueChange(dut.harness_wake)))

    @property
    def accesses(self) -> int:
        """Accesses played on CSB, but for those that serve interrupts."""
        return self.csb.accesses

    def flush(self) -> None:
        """Drop what is owed, half seen or requested: a reset of the DUT begins.

        Raises:
            InputError: when another bench has the harness.
        """
        self._lease.check()
        self.csb.idle()
        for port in self.slaves.values():
            port.flush()

    def look(self) -> None:
        """Push everything that was seen by now, unless it belongs to another bench."""
        if not self._lease.is_held:
            return
        self._push_accesses()
        self._push_writes()

    def end(self) -> None:
        """Push the last access of a test that ends with it."""
        self.look()

    def watch_reads(self) -> None:
        """Push reads from now on."""
        self._log_reads = True
        for port in self.slaves.values():
            port.log_reads()

    def close(self) -> None:
        """Stop listening, for good."""
        self._listener.cancel()

    async def _listen(self, called: ValueChange) -> None:
        while self._lease.is_held:
            await called
            if not self._lease.is_held:
                return
            self._push_accesses()
            if any(port.is_filling for port in self.slaves.values()):
                self._push_writes()
            self.interrupts.take_events()
            self.csb.take_results()

    def _push_accesses(self) -> None:
        """Push all accesses, each after what was written before it."""
        for ram, port in self.slaves.items():
            self._push_faults(ram, port)
            if self._log_reads:
                self._events.see_reads(ram, *port.take_reads())
            port.fetch_writes()
        for at, rule, _ in self.csb.violations.drain().tolist():
            self._events.see_violation(CsbViolation(rule), at)
        for at, seen in self.csb.take_accesses():
            self._push_writes(at)
            if isinstance(seen, bool):
                self._events.see_line(seen, at)
            else:
                self._events.see_access(seen)

    def _push_writes(self, until_cycle: int | None = None) -> None:
        """Push the fetched writes that were complete by a cycle, or all, and the answers to them."""
        for ram, port in self.slaves.items():
            beats = port.take_writes(until_cycle)
            if beats is not None:
                self._events.see_writes(beats)
            answers = port.take_answers(until_cycle)
            if answers is not None:
                self._events.see_answers(ram, *answers)

    def _push_faults(self, ram: Ram, port: NativePort) -> None:
        for at, address, nbytes, byte, axi_id, reading, kind, _ in port.faults.drain().tolist():
            bad = self.memories[ram].bad_byte(byte, outside=kind == OUTSIDE)
            access = BadAccess(ram, bool(reading), nbytes, address, axi_id, byte, bad.outside, bad.place)
            self._events.see_bad_access(access, at)
        for at, rule, _ in port.violations.drain().tolist():
            self._events.see_violation(PortViolation(ram, rule), at)
