"""The bench: agents, monitors, predictor and scoreboard around one DUT."""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event, RisingEdge, select
from numpy.typing import NDArray

from models.config import HwConfig
from tb.counters import CounterBoard
from tb.interrupt_rules import InterruptRules
from tb.memory import MemoryImage, Ram
from tb.predictor import predict
from tb.program.codec import encode, engine_of
from tb.program.ops import Program
from tb.program.table import Refused
from tb.registers import RegisterMap
from tb.scenario import ScenarioError
from tb.scoreboard import Scoreboard
from tb.settings import BenchSettings
from tb.sim import watchdog
from tb.sim.backend import Backend, CoroutineBackend
from tb.sim.clocking import cycle, start_clocks, wait_cycles
from tb.sim.csb import CsbAccess, CsbTimeout
from tb.sim.native import is_native
from tb.sim.native_backend import NativeBackend
from tb.sim.player import Player
from tb.sim.scope import WaveScope
from tb.sim.traffic import VARIABLE as TRAFFIC
from tb.sim.traffic import Traffic
from tb.timing import LayerTimes
from tb.tracker import LayerTracker
from tb.verdict import Verdict

if TYPE_CHECKING:
    from tb.layers import Layer

RESET_CYCLES = 20
QUIET_CYCLES = 16
"""Measured on the public nv_small RTL: requests in the first 0 to 6 cycles behind reset are lost."""

_TIED_LOW = (
    "global_clk_ovr_on",
    "tmc2slcg_disable_clock_gating",
    "test_mode",
    "nvdla_pwrbus_ram_c_pd",
    "nvdla_pwrbus_ram_ma_pd",
    "nvdla_pwrbus_ram_mb_pd",
    "nvdla_pwrbus_ram_p_pd",
    "nvdla_pwrbus_ram_o_pd",
    "nvdla_pwrbus_ram_a_pd",
)
_MAX_FAULTS = 5


class Bench:
    """Everything around one DUT.

    Every check is passive: layers are rebuilt from the CSB traffic that the monitor sees, whoever
    causes it, and every byte written is judged.
    """

    def __init__(self, dut: SimHandleBase, config: HwConfig, settings: BenchSettings, seed: int) -> None:
        """Build the agents; ``start`` also resets the DUT."""
        self.dut, self.config, self.settings = dut, config, settings
        self.clock = dut.dla_core_clk
        self._seed = seed
        self.registers = RegisterMap.of(config)
        self.tracker = LayerTracker(config)
        self.scoreboard = Scoreboard(settings.exact)
        self.counters = CounterBoard()
        self.times = LayerTimes()
        self.verdict: Verdict = self.scoreboard.verdict
        self._interrupt_rules = InterruptRules()
        self._idle_handshakes: int | None = None
        self._refused = Event()
        self._faults = 0
        self._stopped = False
        self._unaltered: list[tuple[Ram, int, NDArray[np.uint8]]] = []

        self.traffic = Traffic(self) if TRAFFIC in os.environ else None
        backend = NativeBackend if is_native(dut) else CoroutineBackend
        self.backend: Backend = backend(dut, self.clock, config, settings, self.registers, seed, self)
        self.memories, self.csb = self.backend.memories, self.backend.csb
        self.monitors, self.slaves = self.backend.monitors, self.backend.slaves
        self.interrupts = self.backend.interrupts
        self.scope = WaveScope(self) if WaveScope.exists(dut) else None
        self.watch = None
        if "NVDLA_STAGES" in os.environ:
            # Only runs that watch stages pay for loading it.
            from tb.sim.stages import StageWatch

            self.watch = StageWatch.from_env(dut, self.clock)

    @classmethod
    async def start(
        cls, dut: SimHandleBase, config: HwConfig, settings: BenchSettings | None = None, seed: int = 0
    ) -> Bench:
        """Return a bench whose DUT is out of reset and ready for requests.

        Args:
            dut: The top, with the canonical port names.
            config: The configuration of the RTL.
            settings: Latencies, stalls and strictness.
            seed: Of all randomness.
        """
        bench = cls(dut, config, settings or BenchSettings(), seed)
        start_clocks(dut)
        for name in _TIED_LOW:
            if hasattr(dut, name):
                getattr(dut, name).value = 0
        # Before the first edge: what an earlier bench left running must find nothing to ask of this one.
        bench._drive_resets(0)
        # From right behind an edge, so that every bench sees the same cycles, whatever ran before it.
        await RisingEdge(bench.clock)
        await bench.reset()
        bench.interrupts.start()
        if bench.scope is not None:
            bench.scope.start()
        if bench.watch is not None:
            bench.watch.start()
        return bench

    @staticmethod
    def config_from_env() -> HwConfig:
        """Return the configuration that the launcher names in ``NVDLA_CONFIG``."""
        return HwConfig.load(os.environ["NVDLA_CONFIG"])

    async def reset(self) -> None:
        """Reset the DUT, flush all agents, and wait until CSB accepts requests."""
        self.backend.flush()
        self._drive_resets(0)
        await wait_cycles(self.clock, RESET_CYCLES)
        self.backend.flush()
        self._drive_resets(1)
        self.tracker.reset()
        self.scoreboard.abandon()
        self.counters.reset()
        self._interrupt_rules.reset()
        self._idle_handshakes = self._handshakes
        await wait_cycles(self.clock, QUIET_CYCLES)

    def _drive_resets(self, value: int) -> None:
        for name in ("dla_reset_rstn", "direct_reset_"):
            getattr(self.dut, name).value = value

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random numbers for a test, of the bench's seed."""
        return np.random.default_rng(self._seed)

    @property
    def memory(self) -> MemoryImage:
        """The image behind the primary memory port."""
        return self.memories[Ram.MC]

    @property
    def activity(self) -> int:
        """A count that changes whenever something moves on CSB or a memory port."""
        return self.backend.accesses + self._handshakes

    @property
    def _handshakes(self) -> int:
        """Accepted addresses and write beats of all memory ports."""
        return sum(monitor.handshakes for monitor in self.monitors.values())

    def alter(self, ram: Ram, address: int, data: NDArray[np.uint8]) -> None:
        """Change bytes that the DUT reads; the model goes on to read what was there."""
        self._unaltered.append((ram, address, self.memories[ram].read_array(address, len(data))))
        self.memories[ram].write(address, data)

    def complain(self, problem: str) -> None:
        """Fail the scenario with a message."""
        self.verdict.problems.append(problem)

    async def run(self, *layers: Layer) -> None:
        """Run layers one after the other, each in the register groups that its units run next."""
        for number, layer in enumerate(layers):
            groups = {unit: self.tracker.state.consumer(unit) for unit in engine_of(layer).units}
            await self.play(encode(layer, self.config, groups, sync_id=f"run_{self.tracker.layers_seen}_{number}"))

    async def play(self, program: Program) -> None:
        """Play a program to its end; a hang or a refusal ends it early and is part of the verdict."""
        player = Player(self)
        try:
            ended, quiet = await select(
                player.play(program), watchdog.nothing_moves(self), self._refused.wait(), watchdog.first_mismatch(self)
            )
        except (ScenarioError, CsbTimeout) as error:
            self.complain(str(error))
            return
        if ended in (2, 3):
            self._stopped = True
            self.scoreboard.abandon()
        elif ended == 1:
            self.complain(await watchdog.report(self, quiet, sorted(set(player.waiting_for.values()))))

    async def settle(self) -> None:
        """See what comes late, behind a program that was played to its end: writes, and interrupts."""
        if self._stopped or self.verdict.problems:
            return
        self.verdict.cycles = cycle()
        if not await watchdog.memory_rests(self):
            self.complain(f"memory must rest when all layers are done, but it is still accessed (cycle {cycle()})")
        self.look()
        if self._interrupt_rules.owed:
            # Those that are masked show up when they are read.
            await self.csb.read(self.registers.register("GLB", "S_INTR_STATUS"))
            self.look()
        for name in self._interrupt_rules.owed:
            self.complain(f"interrupt {name} of a layer that was started must be raised by its end")

    def finish(self) -> Verdict:
        """Judge what is left and return the verdict."""
        self.backend.catch_up()
        for ram, monitor in self.monitors.items():
            if not self._stopped and not monitor.is_balanced:
                self.complain(f"{ram.value}: {monitor.unmatched}")
        if self._faults > _MAX_FAULTS:
            self.complain(f"{self._faults - _MAX_FAULTS} more memory faults")
        self.scoreboard.finish()
        self.verdict.cycles = self.verdict.cycles or cycle()
        return self.verdict

    def look(self) -> None:
        """Judge everything that was written by now."""
        self.backend.look()
        self.scoreboard.judge()

    def close(self) -> None:
        """Let go of the DUT, so that another bench may take it up; only the native back end can."""
        self.backend.close()

    def check(self) -> None:
        """Judge everything so far.

        Raises:
            AssertionError: with every complaint, when the scenario failed or compared nothing.
        """
        verdict = self.finish()
        complaints = verdict.complaints()
        if complaints:
            raise AssertionError("\n".join(complaints))
        if verdict.refused is not None:
            raise AssertionError(f"refused: {verdict.refused}")

    def see_csb(self, access: CsbAccess) -> None:
        """Follow one access: a write may start layers, a read may show that one ended."""
        register = access.register
        if register is None:
            return
        if not access.is_write:
            for name in self._interrupt_rules.read(register, access.value):
                self.complain(
                    f"protocol: interrupt {name} must be that of a layer that was started (cycle {access.cycle})"
                )
            for ended in self.tracker.read(register, access.value):
                self.backend.catch_up(access.cycle)
                self.scoreboard.end_layer(ended.index)
                self.counters.end(ended.index)
                self.times.end(ended.index, access.cycle)
                if self.scope is not None:
                    self.scope.see_end()
            group = self.tracker.state.producer(register.unit)
            if register.is_grouped and not register.writable:
                self.times.see_counter(register.unit, group, register.full_name, access.value)
            complaint = self.counters.check(register.unit, register.name, group, access.value)
            self.verdict.counters = self.counters.judged
            if complaint is not None:
                self.complain(f"{complaint} (cycle {access.cycle})")
            return
        self._interrupt_rules.write(register, access.value)
        if register.name == "D_OP_ENABLE":
            # RDMA fetches as soon as it is enabled, before the last unit of its layer is.
            self._check_quiet(access.cycle)
            group = self.tracker.state.producer(register.unit)
            if access.value and not self.tracker.state.enabled(register.unit, group):
                self._interrupt_rules.enable(register.unit, group)
        try:
            for started in self.tracker.write(register, access.value):
                self._check_quiet(access.cycle)
                self._interrupt_rules.start(self.tracker.interrupts_of(started))
                self.backend.catch_up(access.cycle)
                expectation = predict(started, self._read_memory)
                self.scoreboard.expect(expectation)
                self.counters.start(started, expectation.counts)
                self.times.start(started, int(np.count_nonzero(expectation.must_write)), access.cycle)
                if self.scope is not None:
                    self.scope.see_start(started)
        except Refused as error:
            self.verdict.refused = str(error)
            self._refused.set()

    def _check_quiet(self, at: int) -> None:
        """Complain when memory was accessed behind a reset before any unit was enabled."""
        if self._idle_handshakes not in (None, self._handshakes):
            self.complain(f"protocol: memory must not be accessed before the first layer (before cycle {at})")
        self._idle_handshakes = None

    def _read_memory(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        data = self.memories[ram].read_array(address, nbytes)
        for other, start, right in self._unaltered:
            first, end = max(start, address), min(start + len(right), address + nbytes)
            if other is ram and first < end:
                data[first - address : end - address] = right[first - start : end - start]
        return self.scoreboard.overlay(ram, address, data)

    def report_fault(self, ram: Ram, what: str, nbytes: int, address: int, axi_id: int, at: int, fault: str) -> None:
        """Count an access that memory refuses, and complain of the first few.

        Args:
            ram: Port of the access.
            what: ``read`` or ``write``.
            nbytes: Its bytes.
            address: Where it was sent.
            axi_id: Its id.
            at: Its cycle.
            fault: What is wrong with it.
        """
        strictness = self.settings.stray_accesses if fault.startswith("outside") else self.settings.poison_reads
        self.verdict.memory_faults += 1
        if strictness == "error":
            self._faults += 1
            if self._faults <= _MAX_FAULTS:
                self.complain(
                    f"{ram.value}: {what} of {nbytes} bytes at {address:#x} with id {axi_id} at cycle {at}: {fault}"
                )
