"""The bench: agents, monitors, predictor and scoreboard around one DUT."""

from __future__ import annotations

import os

import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event, select
from numpy.typing import NDArray

from models.config import HwConfig
from tb.layers import Layer
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
from tb.sim.clocking import cycle, start_clocks, wait_cycles
from tb.sim.csb import CsbAccess, CsbDriver, CsbMonitor, CsbTimeout
from tb.sim.interrupts import InterruptAgent
from tb.sim.memory_port import MemoryPortMonitor, ReadRequest, WriteBurst
from tb.sim.memory_slave import MemorySlave
from tb.sim.player import Player
from tb.tracker import LayerTracker
from tb.verdict import Verdict

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
        self.rng = np.random.default_rng(seed)
        self.registers = RegisterMap.of(config)
        rams = (Ram.MC, Ram.CVSRAM) if config.secondary_memif_enable else (Ram.MC,)
        self.memories = {ram: MemoryImage(limit=1 << config.memif_address_width_bits) for ram in rams}
        self.tracker = LayerTracker(config)
        self.scoreboard = Scoreboard(settings.exact)
        self.verdict: Verdict = self.scoreboard.verdict
        self._refused = Event()
        self._faults = 0

        self.csb = CsbDriver(dut, self.clock, self.registers, settings.csb_stall, seed)
        self.csb_monitor = CsbMonitor(dut, self.clock, self.registers)
        self.csb_monitor.add_callback(self._see_csb)
        self.monitors = {ram: MemoryPortMonitor(dut, self.clock, ram, self.complain) for ram in rams}
        for ram, monitor in self.monitors.items():
            monitor.add_callback(lambda request, ram=ram: self._see_memory(ram, request))
        self.slaves = {
            ram: MemorySlave(
                dut, self.clock, self.monitors[ram], self.memories[ram], settings.port, self._latency(ram), seed + n
            )
            for n, ram in enumerate(rams, start=1)
        }
        self.interrupts = InterruptAgent(dut, self.clock, self.csb)

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
        await bench.reset()
        bench.interrupts.start()
        return bench

    @staticmethod
    def config_from_env() -> HwConfig:
        """Return the configuration that the launcher names in ``NVDLA_CONFIG``."""
        return HwConfig.load(os.environ["NVDLA_CONFIG"])

    async def reset(self) -> None:
        """Reset the DUT, flush all agents, and wait until CSB accepts requests."""
        self.csb.idle()
        self.csb_monitor.flush()
        for ram, slave in self.slaves.items():
            slave.flush()
            self.monitors[ram].flush()
        for name in ("dla_reset_rstn", "direct_reset_"):
            getattr(self.dut, name).value = 0
        await wait_cycles(self.clock, RESET_CYCLES)
        for name in ("dla_reset_rstn", "direct_reset_"):
            getattr(self.dut, name).value = 1
        self.tracker.reset()
        self.scoreboard.abandon()
        await wait_cycles(self.clock, QUIET_CYCLES)

    @property
    def memory(self) -> MemoryImage:
        """The image behind the primary memory port."""
        return self.memories[Ram.MC]

    @property
    def activity(self) -> int:
        """A count that changes whenever something moves on CSB or a memory port."""
        return self.csb_monitor.accesses + sum(monitor.handshakes for monitor in self.monitors.values())

    def complain(self, problem: str) -> None:
        """Fail the scenario with a message."""
        self.verdict.problems.append(problem)

    async def run(self, *layers: Layer) -> None:
        """Run layers one after the other, alternating the register groups of each engine."""
        counts: dict[str, int] = {}
        for number, layer in enumerate(layers):
            name = engine_of(layer).name
            group = (self.tracker.state.consumer(name) + counts.get(name, 0)) % 2
            await self.play(encode(layer, self.config, group, sync_id=f"run_{self.tracker.layers_seen}_{number}"))

    async def play(self, program: Program) -> None:
        """Play a program to its end; a hang or a refusal ends it early and is part of the verdict."""
        player = Player(self)
        try:
            ended, quiet = await select(player.play(program), watchdog.nothing_moves(self), self._refused.wait())
        except (ScenarioError, CsbTimeout) as error:
            self.complain(str(error))
            return
        if ended == 1:
            self.complain(await watchdog.report(self, quiet, sorted(set(player.waiting_for.values()))))

    def finish(self) -> Verdict:
        """Judge what is left and return the verdict."""
        for ram, monitor in self.monitors.items():
            if not monitor.is_balanced:
                self.complain(f"{ram.value}: {monitor.unmatched}")
        if self._faults > _MAX_FAULTS:
            self.complain(f"{self._faults - _MAX_FAULTS} more memory faults")
        self.scoreboard.finish()
        self.verdict.cycles = cycle()
        return self.verdict

    def check(self) -> None:
        """Judge everything so far.

        Raises:
            AssertionError: with every complaint, when the scenario failed or compared nothing.
        """
        verdict = self.finish()
        if verdict.refused is not None:
            raise AssertionError(f"refused: {verdict.refused}")
        complaints = verdict.complaints()
        if complaints:
            raise AssertionError("\n".join(complaints))

    def _latency(self, ram: Ram) -> int:
        if self.settings.port.latency_cycles is not None:
            return self.settings.port.latency_cycles
        if ram is Ram.MC:
            return self.config.primary_memif_latency_cycles
        return self.config.secondary_memif_latency_cycles

    def _see_csb(self, access: CsbAccess) -> None:
        register = access.register
        if register is None:
            return
        if not access.is_write:
            for ended in self.tracker.read(register, access.value):
                self.scoreboard.end_layer(ended.index)
            return
        try:
            for started in self.tracker.write(register, access.value):
                self.scoreboard.expect(predict(started, self._read_memory))
        except Refused as error:
            self.verdict.refused = str(error)
            self._refused.set()

    def _read_memory(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        return self.scoreboard.overlay(ram, address, self.memories[ram].read_array(address, nbytes))

    def _see_memory(self, ram: Ram, request: ReadRequest | WriteBurst) -> None:
        width = self.monitors[ram].bus_bytes
        start = request.address // width * width
        if isinstance(request, ReadRequest):
            self._fault(ram, request, "read", start, request.beats * width)
            return
        self._fault(ram, request, "write", start, len(request.beats) * width)
        for number, (data, strobe, at) in enumerate(request.beats):
            self.scoreboard.write(ram, start + number * width, data, strobe, at, request.axi_id)

    def _fault(self, ram: Ram, request: ReadRequest | WriteBurst, what: str, start: int, nbytes: int) -> None:
        image = self.memories[ram]
        fault = image.fault(start, nbytes, reading=what == "read")
        if fault is None:
            return
        strictness = self.settings.stray_accesses if fault.startswith("outside") else self.settings.poison_reads
        self.verdict.memory_faults += 1
        if strictness == "error":
            self._faults += 1
            if self._faults <= _MAX_FAULTS:
                self.complain(
                    f"{ram.value}: {what} of {nbytes} bytes at {request.address:#x} with id {request.axi_id} "
                    f"at cycle {request.cycle}: {fault}"
                )
