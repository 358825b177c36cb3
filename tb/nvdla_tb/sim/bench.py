"""The bench: the agents of one DUT, wired to a judge."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Coroutine, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import msgspec
import numpy as np
from cocotb.handle import SimHandleBase
from cocotb.triggers import Event, RisingEdge, select
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_tb.judge.detail import MissingInterrupt, Note, Restless
from nvdla_tb.judge.finding import BYTES, Check, Finding
from nvdla_tb.judge.judge import Access
from nvdla_tb.judge.layer_facts import LayerTimes, Traffic
from nvdla_tb.judge.line import LINE_CYCLES
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.text import complaint
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import Layer
from nvdla_tb.nvdla.memory import MemoryImage, Ram
from nvdla_tb.nvdla.placing import Placing
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import Program
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.sim.altered import Alterations
from nvdla_tb.sim.answer import stage_watch
from nvdla_tb.sim.backend import CoroutineBackend, backend_of, ports_of
from nvdla_tb.sim.clocking import (
    QUIET_CYCLES,
    RESET_CYCLES,
    cycle,
    drive_inputs,
    drive_resets,
    has_one_clock,
    wait_cycles,
)
from nvdla_tb.sim.csb import CsbTimeout, PollTimeout
from nvdla_tb.sim.driver.player import CHECKS, DriverPlayer
from nvdla_tb.sim.ending import Begun, judge_at_end, judge_before_another
from nvdla_tb.sim.interrupts import HangError
from nvdla_tb.sim.judging import Judging, checked_name, judge_with
from nvdla_tb.sim.line import InterruptLine
from nvdla_tb.sim.player import SimulationPlayer
from nvdla_tb.sim.scope import LAYER_SCOPE, WaveScope
from nvdla_tb.sim.transactions import Played, transactions
from nvdla_tb.sim.watchdog import Stuck, Watchdog
from nvdla_tb.stimulus.dumps import Dumps
from nvdla_tb.stimulus.exchange import ACCESSES_FILE, ENTRY, Driver, Request
from nvdla_tb.stimulus.scenario import ScenarioError
from nvdla_tb.stimulus.settings import BenchSettings


class Bench(Judging, Placing):
    """The bench around one DUT: agents on its pins, memories, and the judge of everything that the pins show.

    ::

        bench = await Bench.start(dut)
        src = bench.place(bench.rng.integers(-128, 128, (33, 4, 5), dtype=np.int8))
        await bench.run(Sdp(src, bench.reserve((33, 4, 5)), relu=True))
        bench.check()           # raises with every finding

    Every test is judged when it ends, whether or not it calls ``check`` or catches its exception. It fails with any
    finding, and when nothing was compared, unless it only accessed registers and enabled no unit. A test that provokes
    findings declares them with ``expect_findings``.

    A subclass may override ``see_access``, ``see_writes``, ``see_bad_access`` and ``see_violation``.
    """

    def __init__(
        self, dut: SimHandleBase, config: HwConfig, settings: BenchSettings, seed: int, request: Request
    ) -> None:
        """Build the agents; ``start`` also resets the DUT."""
        if has_one_clock(dut):
            settings = msgspec.structs.replace(settings, csb_period=1.0, csb_phase=0.0)
        self.dut, self.config, self.settings, self._seed, self._request = dut, config, settings, seed, request
        self.clock = dut.dla_core_clk
        self.scoreboard = Scoreboard(settings.exact)
        log_reads = request.traffic or bool(settings.saturated_reads)
        self.backend = backend_of(dut, config, settings, seed, self, log_reads=log_reads)
        self.registers = self.backend.csb.registers
        self.alterations, ports = Alterations(self.backend.memories), ports_of(dut, config, settings, self.backend)
        self.judge = judge_with(config, settings, self.scoreboard, self.alterations.read, ports)
        self.times, self.verdict = LayerTimes(), self.judge.verdict
        self.judge.watchers.append(self.times)
        self._refused = Event()
        self.stopped = self.cut = self._csb_is_dead = False
        self.accesses: list[Access] = []
        self.began = time.process_time(), 0
        self.memories, self.csb, self.interrupts = self.backend.memories, self.backend.csb, self.backend.interrupts
        self.monitors, self.slaves = self.backend.monitors, self.backend.slaves
        widths = {ram: monitor.bus_bytes for ram, monitor in self.monitors.items()}
        self.traffic = Traffic(widths, self.scoreboard) if request.traffic else None
        self.dumps = None if request.dumps is None else Dumps(Path(request.dumps), self.memories)
        self._begun = Begun()
        self._is_test = request.scenario is None
        # A test in Python that is asked for an answer; a scenario's is left by whoever plays it.
        self._played = Played(self.alterations, request) if self._is_test and request.result is not None else None
        self._watchdog = Watchdog(dut, settings, self.backend, ports, self.judge)
        self.interrupts.watch = self._watch
        self.scope = None
        if isinstance(self.backend, CoroutineBackend) and hasattr(dut, LAYER_SCOPE):
            self.scope = WaveScope(dut, self.backend.monitors, self.scoreboard, request.waves_from)
        self.watch = stage_watch(dut, request)

    @classmethod
    async def start(
        cls,
        dut: SimHandleBase,
        config: HwConfig | None = None,
        settings: BenchSettings | None = None,
        seed: int = 0,
        request: Request | None = None,
    ) -> Self:
        """Start clocks and agents, reset the DUT, and return its bench.

        Args:
            dut: Top-level handle with the canonical port names.
            config: Configuration of the RTL; by default the one that the launcher names.
            settings: Latencies, stalls and strictness of the bench.
            seed: Seed of the bench's random number generator.
            request: Message of the launcher; by default the one in the environment. A caller that passes one must
                judge the run itself.
        """
        ends_judged = request is None
        judge_before_another()
        request = request or Request.from_env(checked_name(config, settings))
        bench = cls(dut, config or HwConfig.load(request.config), settings or BenchSettings(), seed, request)
        drive_inputs(dut, bench.settings.csb_period, bench.settings.csb_phase)
        # From right after an edge, so that every bench sees the same cycles, whatever ran before it.
        await RisingEdge(bench.clock)
        await bench.reset()
        if bench.settings.serve_interrupts:
            bench.interrupts.start()
        if bench.scope is not None:
            bench.judge.watchers.append(bench.scope)
            bench.scope.start()
        if bench.watch is not None:
            bench.watch.start()
        bench.began = time.process_time(), cycle()
        if ends_judged:
            await judge_at_end(bench.conclude)
        return bench

    async def reset(self) -> None:
        """Reset the DUT, flush all agents, and wait until CSB accepts requests."""
        if self.watch is not None and self.watch.is_started:
            # What a reset cuts off was handed over in part, and there is nothing to compare it with.
            self.watch = None
        self.backend.flush()
        drive_resets(self.dut, 0)
        await wait_cycles(self.clock, self.settings.slower_cycles(RESET_CYCLES))
        self.backend.flush()
        drive_resets(self.dut, 1)
        # What happened before it is judged by what the registers held then.
        self.backend.look()
        self.judge.reset()
        self.times.reset()
        await wait_cycles(self.clock, self.settings.slower_cycles(QUIET_CYCLES))

    @cached_property
    def rng(self) -> np.random.Generator:
        """Random number generator for the test, seeded by the bench."""
        return np.random.default_rng(self._seed)

    @property
    def memory(self) -> MemoryImage:
        """Image of the primary memory port."""
        return self.memories[Ram.MC]

    def alter(self, ram: Ram, address: int, data: NDArray[np.uint8]) -> None:
        """Inject a fault: change bytes that the DUT reads, while the model keeps the old ones.

        ::

            bench.alter(Ram.MC, src.address, np.array([99], dtype=np.uint8))

        Args:
            ram: Memory port.
            address: Byte address of the first byte to change, such as ``src.address``.
            data: New bytes, (n,) of uint8.

        Raises:
            InputError: for a memory that the DUT lacks, other data, or an address at which nothing was placed.
        """
        self.verdict.altered.append(self.alterations.alter(ram, address, data))

    def _find_dead_csb(self, error: CsbTimeout) -> None:
        """Take a port that takes no requests, or answers none, for a hang of the DUT; the first time counts."""
        if not self._csb_is_dead:
            self._csb_is_dead = True
            self.judge.report(Check.HANG, error.detail, cycle())

    async def _watch(self, waiting_for: str) -> None:
        """Raise once a test waits in vain, which is a finding."""
        stuck, at = await self._watchdog.stuck(), cycle()
        found = Finding(Check.HANG, await self._watchdog.hang(stuck, (waiting_for,)), at)
        self.verdict.add(found)
        raise HangError(complaint(found))

    def run(self, *layers: Layer) -> Coroutine[Any, Any, None]:
        """Run layers in sequence, each in the register groups that its units run next, and wait until the DUT is idle.

        Await the result; a test that does not fails at its end.

        Raises:
            InputError: without layers.
        """
        if not layers:
            raise InputError("layers must be at least one: bench.run was given none, so that nothing would be played")
        return self._begun.take("run", self._run(layers))

    async def _run(self, layers: Sequence[Layer]) -> None:
        tracker = self.judge.tracker
        self.check_placed(layers)
        for number, layer in enumerate(layers):
            groups = {unit: tracker.state.consumer(unit) for unit in chain_of(layer).units}
            await self._play(encode(layer, self.config, groups, sync_id=f"run_{tracker.layers_seen}_{number}"))
        await self.settle()

    def play(self, program: Program) -> Coroutine[Any, Any, None]:
        """Play a program to its end. A hang or a refusal ends it early and becomes part of the verdict.

        Await the result; a test that does not fails at its end.
        """
        return self._begun.take("play", self._play(program))

    async def _play(self, program: Program) -> None:
        if self._played is not None:
            self._played.before(program)
        player = self._player(program)
        try:
            stuck = await self._carry_out(player.play(), self._watchdog.stuck())
            if stuck is not None:
                at = cycle()
                hang = await self._watchdog.hang(stuck, player.waiting_for, awaits_line=player.awaits_line)
                self.judge.report(Check.HANG, hang, at)
        finally:
            if self._played is not None:
                self._played.after()

    async def drive(self, driver: Driver | Path | str, entry: str = ENTRY) -> None:
        """Run a driver in C or C++ to its end and wait until the DUT is idle. Its faults become part of the verdict.

        ::

            bench = await Bench.start(dut, settings=BenchSettings(serve_interrupts=False))
            await bench.drive("build/driver.so")

        Args:
            driver: Shared library of the driver, compiled with ``nvdla_tb.h``; or what a launcher says of a driver.
            entry: Name of the library's function to call.

        Raises:
            InputError: when the bench serves the interrupts that the driver waits for.
        """
        if not isinstance(driver, Driver):
            driver = Driver(str(Path(driver).resolve()), entry)
        if self.settings.serve_interrupts:
            raise InputError("a driver serves interrupts itself: serve_interrupts of the settings must be False")
        result = self._request.result
        record = None if result is None else Path(result).with_name(ACCESSES_FILE)
        player = DriverPlayer(
            driver, self.dut, self.settings, self.backend, self.settings.slower_cycles(LINE_CYCLES), record
        )
        stuck = await self._carry_out(player.play(), self._watchdog.stuck(lambda: self.judge.tracker.layers_seen))
        fault, at = player.fault_at_end(stuck is not None), cycle()
        if fault is not None:
            self.judge.report(CHECKS[fault.kind], fault, at)
        if stuck is not None:
            self.judge.report(Check.HANG, await self._watchdog.hang(stuck, ()), at)
        await self.settle()

    async def _carry_out(self, playing: Awaitable[None], stuck: Awaitable[Stuck]) -> Stuck | None:
        """Wait until what is played ends, however it does, and return how the DUT stands still if it is that."""
        waiters = {
            "end": playing,
            "hang": stuck,
            "refusal": self._refused.wait(),
            "mismatch": self._watchdog.first_mismatch(),
            "dead interrupts": self.interrupts.failed.wait(),
        }
        try:
            number, ended_by = await select(*waiters.values())
        except CsbTimeout as error:
            self._find_dead_csb(error)
        except PollTimeout as error:
            self.judge.report(Check.REGISTER, error.detail, cycle())
        except ScenarioError as error:
            self.judge.report(Check.PROGRAM, Note(str(error)), cycle())
        else:
            if list(waiters)[number] in ("refusal", "mismatch"):
                self.stopped = self.cut = True
                self.scoreboard.abandon()
            elif isinstance(ended_by, Stuck):
                return ended_by
        return None

    async def interrupted(self, program: Program, after_cycles: int) -> None:
        """Play a program and reset the DUT after ``after_cycles``; the bench judges everything until then."""
        player = self._player(program)
        try:
            await select(player.play(), wait_cycles(self.clock, after_cycles), self._refused.wait())
        except CsbTimeout as error:
            self._find_dead_csb(error)
        finally:
            player.cancel()
        self.interrupts.forget()
        await self.reset()

    def _player(self, program: Program) -> SimulationPlayer:
        line = InterruptLine(self.dut, self.settings.slower_cycles(LINE_CYCLES))
        return SimulationPlayer(program, self.backend, self.judge, self.settings, line, self.dumps)

    async def settle(self) -> None:
        """Wait for late writes and interrupts after a program that was played to its end."""
        if self.stopped:
            return
        checks = {finding.check for finding in self.verdict.findings}
        if not checks.issubset(BYTES):
            # After any fault but wrong bytes, a hang for one, what is late or missing would only tell of it again.
            # Reads that are open because the program ended there are no fault inside the device.
            self.cut = Check.HANG not in checks and not await self._watchdog.memory_rests()
            return
        self.verdict.cycles = cycle()
        if not await self._watchdog.memory_rests():
            self.judge.report(Check.PROTOCOL, Restless(), cycle())
        self._watchdog.judge_written()
        if self.judge.interrupts_owed:
            # Those that are masked show up when they are read.
            try:
                await self.csb.read(self.registers.register("GLB", "S_INTR_STATUS"))
            except CsbTimeout as error:
                self._find_dead_csb(error)
                return
            self._watchdog.judge_written()
        for name in self.judge.interrupts_owed:
            self.judge.report(Check.INTERRUPT, MissingInterrupt(name))

    def finish(self) -> Verdict:
        """Close all open expectations and return the verdict."""
        self.backend.look()
        if self.interrupts.failure is not None:
            self._find_dead_csb(self.interrupts.failure)
        return self.judge.finish(cycle(), stopped=self.stopped)

    def close(self) -> None:
        """Release the DUT for another bench; only the native back end can."""
        self.backend.close()

    def conclude(self) -> list[str]:
        """Judge the test at its end and return the reasons why it must not pass; none if it may.

        A test that accessed registers and enabled no unit checks by itself.
        """
        for unfinished in self._begun.unfinished():
            self.verdict.add(Finding(Check.TEST, Note(unfinished)))
        self.backend.end()
        self.verdict.self_checking = not self.judge.enabled and self.backend.accesses > 0
        return super().conclude()

    def leave(self) -> None:
        """Leave the answer of a test that is asked for one."""
        if self._played is not None:
            self._played.leave(self, self.transactions())

    def transactions(self) -> Iterator[str]:
        """Yield a line for each register access and write beat so far, by cycle; only the last beats of a long test."""
        return transactions(self.accesses, self.scoreboard.history)

    def see_access(self, access: Access) -> None:
        """Pass on a finished register access; a layer that must be refused ends the program."""
        if self._is_test:
            self.accesses.append(access)
        try:
            super().see_access(access)
        except Refused:
            self._refused.set()
        register = access.register
        if register is not None and not access.is_write and register.is_grouped and not register.writable:
            group = self.judge.tracker.state.producer(register.unit)
            self.times.see_counter(register.unit, group, register.full_name, access.value)

    def see_reads(self, ram: Ram, cycles: NDArray[np.int64], beats: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Judge reads that were accepted, and keep them when traffic is recorded."""
        super().see_reads(ram, cycles, beats, ids)
        if self.traffic is not None:
            self.traffic.see_reads(ram, cycles, beats)
