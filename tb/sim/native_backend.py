"""The compiled back end: the harness plays, serves and logs; Python wakes at events and reads in bulk."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cocotb
from cocotb.handle import SimHandleBase
from cocotb.triggers import ValueChange

from models.config import HwConfig
from tb.memory import MemoryImage, Ram
from tb.registers import RegisterMap
from tb.settings import BenchSettings
from tb.sim.backend import latency_cycles, rams_of
from tb.sim.native import OUTSIDE
from tb.sim.native_csb import NativeCsb, NativeInterrupts
from tb.sim.native_port import NativePages, NativePort
from tb.sim.port_rules import violation

if TYPE_CHECKING:
    from tb.sim.bench import Bench


class NativeBackend:
    """Agents that are compiled into the model.

    The harness wakes Python when a program or a register access it waits for is over, before a layer
    starts, when an interrupt was served, and when a log runs full.
    """

    def __init__(
        self,
        dut: SimHandleBase,
        clock: SimHandleBase,
        config: HwConfig,
        settings: BenchSettings,
        registers: RegisterMap,
        seed: int,
        bench: Bench,
    ) -> None:
        """Configure the harness; the bench hears of accesses and faults."""
        self._bench = bench
        widths = {Ram.MC: config.primary_memif_width_bytes, Ram.CVSRAM: config.secondary_memif_width_bytes}
        self.csb = NativeCsb(registers, settings.csb_stall, seed)
        self.slaves = {
            ram: NativePort(
                ram,
                widths[ram],
                config.memory_atomic_bytes,
                settings.port,
                latency_cycles(ram, config, settings),
                seed + n,
                log_reads=bench.traffic is not None,
            )
            for n, ram in enumerate(rams_of(config), start=1)
        }
        self.monitors = self.slaves
        limit = 1 << config.memif_address_width_bits
        self.memories = {ram: MemoryImage(limit=limit, store=NativePages(ram)) for ram in self.slaves}
        self.interrupts = NativeInterrupts(dut, clock, self.csb)
        self._listener = cocotb.start_soon(self._listen(ValueChange(dut.harness_wake)))

    @property
    def accesses(self) -> int:
        """Accesses seen on CSB."""
        return self.csb.accesses

    def flush(self) -> None:
        """Drop what is owed, half seen or requested: a reset of the DUT begins."""
        self.csb.idle()
        for port in self.slaves.values():
            port.flush()

    def catch_up(self, until_cycle: int | None = None) -> None:
        """Let the scoreboard have every write up to a cycle, or all, and the bench every fault and violation."""
        for ram, port in self.slaves.items():
            for record in port.take_faults().tolist():
                at, address, nbytes, byte, axi_id, reading, kind, _ = record
                what = "read" if reading else "write"
                fault = self.memories[ram].describe_fault(byte, outside=kind == OUTSIDE)
                self._bench.report_fault(ram, what, nbytes, address, axi_id, at, fault)
            for at, rule, _ in port.take_violations().tolist():
                self._bench.complain(violation(ram, rule, at))
            if self._bench.traffic is not None:
                self._bench.traffic.see_reads(ram, *port.take_reads())
            beats = port.take_writes(until_cycle)
            if beats is not None:
                self._bench.scoreboard.write_beats(beats)

    def look(self) -> None:
        """Let the bench have everything that was seen by now."""
        self._follow_csb()
        self.catch_up()

    def close(self) -> None:
        """Stop listening, for good."""
        self._listener.cancel()

    async def _listen(self, called: ValueChange) -> None:
        while True:
            await called
            self._follow_csb()
            if any(port.is_filling for port in self.slaves.values()):
                self.catch_up()
            self.interrupts.take_events()
            self.csb.take_results()

    def _follow_csb(self) -> None:
        for access in self.csb.take_accesses():
            self._bench.see_csb(access)
