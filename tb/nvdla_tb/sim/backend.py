"""The back ends between the DUT's pins and the bench: agents in Python, or the compiled harness.

Both behave alike cycle by cycle, and push what they see to the bench as events, in the order in which it happened.
The coroutines are the reference, and the only ones on Icarus.
"""

from __future__ import annotations

import cocotb
import msgspec
from cocotb.handle import SimHandleBase
from cocotb.triggers import RisingEdge, ValueChange

from nvdla_models.config import HwConfig
from nvdla_tb.judge.detail import CsbViolation, PortViolation
from nvdla_tb.judge.judge import Ports
from nvdla_tb.judge.port_rules import PORT_PREFIX
from nvdla_tb.judge.wrapped_rules import BROKEN, Broken
from nvdla_tb.nvdla.memory import MemoryImage
from nvdla_tb.sim.buses import CsbBus, DbbBus
from nvdla_tb.sim.clocking import DrivenCycles, csb_clock, known
from nvdla_tb.sim.csb import CsbMaster, answer_deadline_cycles
from nvdla_tb.sim.csb_monitor import CsbMonitor, InterruptMonitor
from nvdla_tb.sim.dbb_memory import DbbMemory
from nvdla_tb.sim.draws import Draws, Stream
from nvdla_tb.sim.events import Events
from nvdla_tb.sim.interrupts import InterruptAgent
from nvdla_tb.sim.native import is_native
from nvdla_tb.sim.native_backend import NativeBackend
from nvdla_tb.sim.ports import is_wrapped, latency_cycles, port_seed, rams_of
from nvdla_tb.stimulus.settings import BenchSettings


class CoroutineBackend:
    """Agents that sample and drive pins themselves, and push everything as they see it."""

    def __init__(
        self, dut: SimHandleBase, config: HwConfig, settings: BenchSettings, seed: int, events: Events
    ) -> None:
        """Bind all agents.

        Args:
            dut: The top, with the canonical port names.
            config: The configuration of the RTL.
            settings: Latencies and stalls.
            seed: Seed of all randomness.
            events: The listener to what they see.
        """
        self._events, self._cycles = events, DrivenCycles(dut.dla_core_clk)
        clock, registers_clock, reset = dut.dla_core_clk, csb_clock(dut), dut.dla_reset_rstn
        bus, draws, stall = CsbBus.from_prefix(dut, "csb2nvdla"), Draws(seed), settings.csb_stall
        self.csb = CsbMaster(
            bus,
            registers_clock,
            reset,
            config,
            outstanding=settings.csb_outstanding,
            answers_all=is_wrapped(dut, None),
            deadline_cycles=answer_deadline_cycles(settings.csb_period),
            cycles=self._cycles,
            pause=(lambda cycle: draws.chance(Stream.CSB_STALL, cycle, stall)) if stall else None,
        )
        self.csb_monitor = CsbMonitor(bus, registers_clock, reset, config, cycles=self._cycles)
        line = InterruptMonitor(dut.dla_intr, registers_clock, reset, cycles=self._cycles)
        limit = 1 << config.memif_address_width_bits
        self.memories = {ram: MemoryImage(limit=limit) for ram in rams_of(config)}
        self.slaves = {
            ram: DbbMemory(
                DbbBus.from_prefix(dut, PORT_PREFIX[ram]),
                clock,
                reset,
                image,
                ram=ram,
                settings=msgspec.structs.replace(
                    settings.port, latency_cycles=latency_cycles(config, settings.port, ram)
                ),
                seed=port_seed(seed, ram),
                atom_bytes=config.memory_atomic_bytes,
                # No wrapper changes the ids of clients.
                judges_ids=not is_wrapped(dut, ram),
                cycles=self._cycles,
            )
            for ram, image in self.memories.items()
        }
        self.monitors = {ram: slave.monitor for ram, slave in self.slaves.items()}
        self.csb_monitor.attach(events, self._cycles)
        line.attach(events, self._cycles)
        for monitor in self.monitors.values():
            monitor.attach(events, self._cycles)
        self.interrupts = InterruptAgent(dut.dla_intr, self.csb)
        for name, broken in BROKEN.items():
            if hasattr(dut, name):
                at = registers_clock if broken.ram is None else clock
                cocotb.start_soon(self._watch_rules(at, getattr(dut, name), broken))

    @property
    def accesses(self) -> int:
        """Accesses played on CSB, but for those that serve interrupts."""
        return self.csb.accesses

    def flush(self) -> None:
        """Do nothing: agents see a reset themselves."""

    def look(self) -> None:
        """Do nothing: everything is pushed as it is seen."""

    def end(self) -> None:
        """Push the last access of a test that ends with it."""
        self.csb_monitor.end()

    def watch_reads(self) -> None:
        """Do nothing: reads are always pushed."""

    def close(self) -> None:
        """Refuse: a simulator that knows X shall not find what an earlier scenario left in RAM.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("only the native back end lets another bench take up the DUT")

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
                self._events.see_violation(detail, self._cycles.now())


Backend = CoroutineBackend | NativeBackend
"""The agents of one bench."""


def backend_of(
    dut: SimHandleBase, config: HwConfig, settings: BenchSettings, seed: int, events: Events, *, log_reads: bool
) -> Backend:
    """Return the back end that the model was built with; see ``CoroutineBackend`` and ``NativeBackend``."""
    if is_native(dut):
        return NativeBackend(dut, config, settings, seed, events, log_reads=log_reads)
    return CoroutineBackend(dut, config, settings, seed, events)


def ports_of(dut: SimHandleBase, config: HwConfig, settings: BenchSettings, backend: Backend) -> Ports:
    """Return the memory ports of a back end as the judge asks for them."""
    wrapped = [ram for ram in backend.memories if is_wrapped(dut, ram)]
    latencies = {ram: 0 if ram in wrapped else latency_cycles(config, settings.port, ram) for ram in backend.memories}
    return Ports(backend.monitors, wrapped, latencies, backend.watch_reads)
