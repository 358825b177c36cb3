"""What stands between the DUT's pins and the bench: agents in Python, or the compiled harness.

Both behave alike cycle by cycle. The coroutines are the reference, and the only ones on Icarus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np
from cocotb.handle import SimHandleBase

from models.config import HwConfig
from tb.memory import MemoryImage, Ram
from tb.registers import RegisterMap
from tb.settings import BenchSettings
from tb.sim.csb import CsbDriver, CsbMonitor
from tb.sim.interrupts import InterruptAgent
from tb.sim.memory_port import MemoryPortMonitor, ReadRequest, WriteBurst
from tb.sim.memory_slave import MemorySlave

if TYPE_CHECKING:
    from tb.sim.bench import Bench
    from tb.sim.native_csb import NativeCsb
    from tb.sim.native_port import NativePort


class Backend(Protocol):
    """The agents of one bench."""

    csb: CsbDriver | NativeCsb
    interrupts: InterruptAgent
    memories: dict[Ram, MemoryImage]
    monitors: dict[Ram, MemoryPortMonitor] | dict[Ram, NativePort]
    slaves: dict[Ram, MemorySlave] | dict[Ram, NativePort]

    @property
    def accesses(self) -> int:
        """Accesses seen on CSB."""

    def flush(self) -> None:
        """Drop what is owed, half seen or requested: a reset of the DUT begins."""

    def catch_up(self, until_cycle: int | None = None) -> None:
        """Let the scoreboard have every write up to a cycle, or all."""

    def look(self) -> None:
        """Let the bench have everything that was seen by now."""

    def close(self) -> None:
        """Stop listening, for good, so that another bench may take up the DUT.

        Raises:
            RuntimeError: for agents that cannot stop.
        """


def rams_of(config: HwConfig) -> tuple[Ram, ...]:
    """Return the memories that a configuration has ports for."""
    return (Ram.MC, Ram.CVSRAM) if config.secondary_memif_enable else (Ram.MC,)


def latency_cycles(ram: Ram, config: HwConfig, settings: BenchSettings) -> int:
    """Return the latency of a port: the one that is set, or the configuration's published one."""
    if settings.port.latency_cycles is not None:
        return settings.port.latency_cycles
    if ram is Ram.MC:
        return config.primary_memif_latency_cycles
    return config.secondary_memif_latency_cycles


class CoroutineBackend:
    """Agents that sample and drive pins themselves."""

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
        """Bind all agents; the bench hears of accesses, faults and violations."""
        self._bench = bench
        rams = rams_of(config)
        self.memories = {ram: MemoryImage(limit=1 << config.memif_address_width_bits) for ram in rams}
        self.csb = CsbDriver(dut, clock, registers, settings.csb_stall, seed)
        self.csb_monitor = CsbMonitor(dut, clock, registers)
        self.csb_monitor.add_callback(bench.see_csb)
        self.monitors = {ram: MemoryPortMonitor(dut, clock, ram, bench.complain) for ram in rams}
        for ram, monitor in self.monitors.items():
            monitor.add_callback(lambda request, ram=ram: self._see_memory(ram, request))
        self.slaves = {
            ram: MemorySlave(
                dut,
                clock,
                self.monitors[ram],
                self.memories[ram],
                settings.port,
                latency_cycles(ram, config, settings),
                seed + n,
            )
            for n, ram in enumerate(rams, start=1)
        }
        self.interrupts = InterruptAgent(dut, clock, self.csb)

    @property
    def accesses(self) -> int:
        """Accesses seen on CSB."""
        return self.csb_monitor.accesses

    def flush(self) -> None:
        """Drop what is owed, half seen or requested: a reset of the DUT begins."""
        self.csb.idle()
        self.csb_monitor.flush()
        for ram, slave in self.slaves.items():
            slave.flush()
            self.monitors[ram].flush()

    def catch_up(self, until_cycle: int | None = None) -> None:
        """Do nothing: the scoreboard has every write as it is seen."""

    def look(self) -> None:
        """Do nothing: the bench has everything as it is seen."""

    def close(self) -> None:
        """Refuse: a simulator that knows X shall not find what an earlier scenario left in RAM.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("only the native back end lets another bench take up the DUT")

    def _see_memory(self, ram: Ram, request: ReadRequest | WriteBurst) -> None:
        width = self.monitors[ram].bus_bytes
        start = request.address // width * width
        if isinstance(request, ReadRequest):
            if self._bench.traffic is not None:
                self._bench.traffic.see_reads(ram, np.array([request.cycle]), np.array([request.beats]))
            nbytes = request.beats * width
            self._report(ram, request, "read", nbytes, self._read_fault(ram, start, nbytes, width))
            return
        faults = (
            self._write_fault(ram, start + number * width, strobe)
            for number, (_, strobe, _) in enumerate(request.beats)
        )
        fault = next((fault for fault in faults if fault is not None), None)
        self._report(ram, request, "write", len(request.beats) * width, fault)
        for number, (data, strobe, at) in enumerate(request.beats):
            self._bench.scoreboard.write(ram, start + number * width, data, strobe, at, request.axi_id)

    def _read_fault(self, ram: Ram, start: int, nbytes: int, width: int) -> str | None:
        """Say what is wrong with a read, or None; of a word wider than an atom the DUT may use one atom alone."""
        memory, atom = self.memories[ram], self._bench.config.memory_atomic_bytes
        fault = memory.fault(start, nbytes, reading=True)
        if fault is None or width <= atom:
            return fault
        for word in range(start, start + nbytes, width):
            if all(memory.fault(at, atom, reading=True) is not None for at in range(word, word + width, atom)):
                return memory.fault(word, width, reading=True)
        return None

    def _write_fault(self, ram: Ram, address: int, strobe: int) -> str | None:
        """Say what is wrong with the bytes of a beat from the first with its strobe set to the last, or None."""
        first = (strobe & -strobe).bit_length() - 1
        return self.memories[ram].fault(address + first, strobe.bit_length() - first, reading=False) if strobe else None

    def _report(self, ram: Ram, request: ReadRequest | WriteBurst, what: str, nbytes: int, fault: str | None) -> None:
        if fault is not None:
            self._bench.report_fault(ram, what, nbytes, request.address, request.axi_id, request.cycle, fault)
