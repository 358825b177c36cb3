"""The judge: takes what monitors see of one DUT and yields findings."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import msgspec
import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_tb.judge.answers import AnswerRule
from nvdla_tb.judge.arbitration import ArbitrationRule
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.counters import CounterBoard
from nvdla_tb.judge.detail import (
    AnyDetail,
    BadAccess,
    EarlyAccess,
    MoreBadAccesses,
    MoreUnmappedAccesses,
    UnmappedAccess,
    Unmatched,
)
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.interrupts import InterruptRules
from nvdla_tb.judge.layer_id import LayerId
from nvdla_tb.judge.line import LINE_CYCLES, LineRule
from nvdla_tb.judge.outstanding import OutstandingRule
from nvdla_tb.judge.predictor import BufferContents, Expectation, ReadMemory, predict
from nvdla_tb.judge.reading import ReadRule
from nvdla_tb.judge.rule import Rule
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.tracker import LayerTracker, StartedLayer
from nvdla_tb.judge.verdict import Verdict
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.ops import interrupt_of_unit
from nvdla_tb.nvdla.program.table import Refused
from nvdla_tb.nvdla.registers import Register

MOST_BAD_ACCESSES = 5
"""How many accesses that memory refuses, or that hit no register, get a finding of their own."""


@dataclass(frozen=True)
class Access:
    """One finished register access: a write as it was accepted, a read as it was answered.

    ``cycle`` is None where nothing counts clock cycles.
    """

    register: Register | None
    address: int
    value: int
    is_write: bool
    cycle: int | None = None


class PortMonitor(Protocol):
    """What watches a port."""

    @property
    def handshakes(self) -> int:
        """A count that grows whenever the port moves."""

    @property
    def read_requests(self) -> int:
        """How many reads it has accepted."""

    def take_most_outstanding(self) -> tuple[int, int]:
        """Return the peak of outstanding read beats and write bursts since the last call."""

    def unmatched(self) -> Unmatched | None:
        """Return how many write addresses lack data and data an address, or None when all have matched."""


@dataclass(frozen=True)
class Ports:
    """The memory ports; without monitors nothing moves on them, as on those of the model alone.

    Attributes:
        monitors: what watches each of them.
        wrapped: those of a wrapper, which may change ids and answer writes early.
        latency_cycles: from a read to its first answer at least, by port; 0 where ids are not known.
        watch_reads: is called when reads are needed from now on.
    """

    monitors: Mapping[Ram, PortMonitor] = field(default_factory=dict)
    wrapped: Collection[Ram] = ()
    latency_cycles: Mapping[Ram, int] = field(default_factory=lambda: dict.fromkeys(Ram, 0))
    watch_reads: Callable[[], None] = lambda: None

    @property
    def handshakes(self) -> int:
        """Accepted addresses and write beats of all ports."""
        return sum(monitor.handshakes for monitor in self.monitors.values())

    @property
    def read_requests(self) -> int:
        """Accepted reads of all ports."""
        return sum(monitor.read_requests for monitor in self.monitors.values())

    def take_most_outstanding(self) -> dict[Ram, tuple[int, int]]:
        """Return the peak of outstanding read beats and write bursts since the last call, by port."""
        return {ram: monitor.take_most_outstanding() for ram, monitor in self.monitors.items()}


class Watcher(Protocol):
    """A listener to the starts and ends of layers."""

    def started(self, layer: StartedLayer, expectation: Expectation, cycle: int | None) -> None:
        """Called when a layer starts, with its expectation."""

    def ended(self, layer: StartedLayer, cycle: int | None) -> None:
        """Called when the end of a layer was seen."""


class Judge:
    """Rebuilds layers from register accesses, predicts what they write, and judges what is written.

    ::

        judge = Judge(config, Scoreboard(), read_memory)
        judge.writes(beats)     # what was written before the next access
        judge.csb(access)
        verdict = judge.finish()

    Pass events in the order in which they happened, so that no layer is credited with an earlier write.

    With ``plays_on``, a refused layer does not end the program, unless the configuration lacks a part that it needs.
    Nothing is predicted from then on: only golden results and the rules of the ports judge the rest.

    Attributes:
        tracker: the registers of the DUT and its layers.
        board: comparison of expectations with memory.
        verdict: counts and findings.
        watchers: listeners to the starts and ends of layers.
        enabled: whether any unit was enabled, so that something must have been compared.
    """

    def __init__(
        self,
        config: HwConfig,
        board: Scoreboard,
        read_memory: ReadMemory,
        ports: Ports | None = None,
        *,
        line_cycles: int = LINE_CYCLES,
        saturated: tuple[Sequence[int], Sequence[int]] = ((), ()),
        limits_reached: bool = False,
        poison_reads: bool = True,
        stray_accesses: bool = True,
        unmapped_accesses: bool = True,
    ) -> None:
        """Start without layers.

        Args:
            config: The configuration of the DUT.
            board: Comparison of expectations with memory.
            read_memory: Returns what the DUT finds in memory.
            ports: The memory ports; nothing moves on them when they are left out.
            line_cycles: How long the interrupt line may lag behind the registers.
            saturated: Ids of clients that always have reads, and of those that always have writes.
            limits_reached: Whether the last layer must have had as many reads and writes outstanding as it may.
            poison_reads: Whether reads of bytes that were never written are findings; else they are only counted.
            stray_accesses: Whether accesses outside every allocation are.
            unmapped_accesses: Whether register accesses of addresses without a register are.
        """
        self._poison_reads, self._stray_accesses = poison_reads, stray_accesses
        self._unmapped_accesses = unmapped_accesses
        self.tracker = LayerTracker(config)
        self.board = board
        self.verdict = self.board.verdict
        self.watchers: list[Watcher] = []
        self._ports = ports or Ports()
        state, wrapped = self.tracker.state, self._ports.wrapped
        self._counters = CounterBoard(state.producer, self._ports.latency_cycles)
        self._interrupts = InterruptRules(line_cycles)
        self._line = LineRule(lambda: self._interrupts.possible, line_cycles)
        self._answers = AnswerRule(self._interrupts.fresh, board.last_write, line_cycles, wrapped)
        self._reading = ReadRule((lambda: self._ports.read_requests) if self._ports.monitors else None)
        self._arbitration = ArbitrationRule(state.registers, *saturated, wrapped=Ram.MC in wrapped)
        # Answers ask what interrupts are fresh before those are seen, and the line what is owed after that.
        self._rules: tuple[Rule, ...] = (
            self._answers,
            self._interrupts,
            self._counters,
            self._line,
            OutstandingRule(
                state.registers,
                self._ports.take_most_outstanding,
                lambda: bool(self.tracker.running),
                {ram for ram in Ram if limits_reached and ram not in wrapped},
            ),
            self._arbitration,
            self._reading,
        )
        self._buffer = BufferContents()
        # Done interrupts of layers whose units were seen idle: the memory interface may still hold their last writes.
        self._on_the_way: list[tuple[tuple[str, int], int]] = []
        self._read_memory = read_memory
        self._handshakes_at_reset: int | None = None
        self._bad_accesses = self._more_bad = self._more_unmapped = 0
        # Port, first byte and length of what the registers of layers name, since none ran.
        self._named: list[tuple[Ram, int, int]] = []
        self.enabled = self.plays_on = False

    def reset(self) -> None:
        """Follow a reset of the DUT: registers, running layers and counters are gone, and memory must rest."""
        self.tracker.reset()
        self.board.abandon()
        for rule in self._rules:
            rule.reset()
        self._buffer = BufferContents()
        self._on_the_way.clear()
        self._handshakes_at_reset = self._ports.handshakes

    def csb(self, access: Access) -> None:
        """Follow one access: a write may start layers, a read may show that one ended.

        Raises:
            Refused: when a layer that starts is illegal or not modelled; the verdict says so, too.
        """
        register, value, cycle = access.register, access.value, access.cycle
        if register is None:
            self._unmapped(access)
        elif self.verdict.unpredicted:
            return
        elif access.is_write:
            try:
                self._start(register, value, cycle)
            except Refused as error:
                self.verdict.refused, self.verdict.before_refusal = str(error), len(self.verdict.findings)
                self._line.stop()
                if error.lacking or not self.plays_on:
                    raise
                self.verdict.unpredicted, self._rules = True, ()
                self.board.give_up()
                return
            self._add(rule.write(register, value, cycle) for rule in self._rules)
        else:
            if register.full_name == "GLB.S_INTR_STATUS":
                self._arrived(self._interrupts.fresh(value))
            self._end(self.tracker.read(register, value), cycle, idle=register.name == "S_STATUS")
            self._add(rule.read(register, value, cycle) for rule in self._rules)
            self.verdict.counters = self._counters.judged

    def line(self, cycle: int, *, level: bool) -> None:
        """Take a change of the interrupt line."""
        self._add(rule.line(cycle, level=level) for rule in self._rules)

    def writes(self, beats: Beats) -> None:
        """Take write beats of one port, in the order of the port."""
        self.board.write_beats(beats)
        self._arbitration.see(beats.ram, beats.axi_id, reading=False)

    def answers(self, ram: Ram, ids: NDArray[np.int64], written: NDArray[np.int64]) -> None:
        """Take answers to writes that were accepted: their ids, and when the last beat of each burst was written."""
        self._answers.answers(ram, ids, written)

    def reads(self, ram: Ram, cycles: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Take the cycles and ids of reads that were accepted, in the order of the port."""
        self._arbitration.see(ram, ids, reading=True)
        self._counters.timed.reads(ram, cycles, ids)

    def bad_access(self, access: BadAccess, cycle: int) -> None:
        """Count an access that memory refuses; the first few are findings."""
        is_finding = self._stray_accesses if access.outside else self._poison_reads
        self.verdict.memory_faults += 1
        if not is_finding:
            return
        self._bad_accesses += 1
        if self._bad_accesses <= MOST_BAD_ACCESSES:
            named = access.outside and any(
                ram is access.ram and first <= access.byte < first + nbytes for ram, first, nbytes in self._named
            )
            self.report(Check.MEMORY, msgspec.structs.replace(access, named=named), cycle)
        else:
            self._more_bad += 1

    def _unmapped(self, access: Access) -> None:
        """Count an access that hits no register; the first few are findings."""
        if not access.is_write and self.tracker.state.registers.in_rom(access.address):
            return
        self.verdict.unmapped += 1
        detail = UnmappedAccess(access.address, access.is_write, access.value)
        is_early = self.verdict.unmapped <= MOST_BAD_ACCESSES
        if is_early:
            self.verdict.first_unmapped.append(detail)
        if not self._unmapped_accesses:
            return
        if is_early:
            self.report(Check.REGISTER, detail, access.cycle)
        else:
            self._more_unmapped += 1

    def done(self, unit: str, group: int, cycle: int | None = None) -> None:
        """Take note that a unit's register group is done, as its interrupt says."""
        self._end(self.tracker.finish(unit, group), cycle)

    def report(self, check: Check, detail: AnyDetail, cycle: int | None = None, layer: LayerId | None = None) -> None:
        """Add a finding."""
        self.verdict.add(Finding(check, detail, cycle, layer))

    @property
    def interrupts_owed(self) -> list[str]:
        """The names, such as ``SDP_1``, of done interrupts that were not seen since they were owed last."""
        return [] if self.verdict.unpredicted else self._interrupts.owed

    @property
    def interrupts_seen(self) -> int:
        """How many done interrupts were seen that layers owed."""
        return self._interrupts.seen

    def finish(self, cycle: int | None = None, *, stopped: bool = False) -> Verdict:
        """Judge what is left and return the verdict.

        Args:
            cycle: The cycle, where any are counted.
            stopped: Whether the run was ended before its end, so that what has not come by now is not wrong.
        """
        # What was told once is not told again when a test goes on after its first verdict.
        rules, monitors = ((), ()) if stopped else (self._rules, self._ports.monitors.values())
        halves = [Finding(Check.PROTOCOL, half) for monitor in monitors if (half := monitor.unmatched()) is not None]
        found = itertools.chain(halves, (finding for rule in rules for finding in rule.finish(cycle)))
        self._add([[finding for finding in found if finding not in self.verdict.findings]])
        if self._more_bad:
            self.report(Check.MEMORY, MoreBadAccesses(self._more_bad))
        if self._more_unmapped:
            self.report(Check.REGISTER, MoreUnmappedAccesses(self._more_unmapped))
        self._more_bad = self._more_unmapped = 0
        self.verdict.cycles = self.verdict.cycles or cycle or 0
        return self.board.finish()

    def _start(self, register: Register, value: int, cycle: int | None) -> None:
        """Follow a write that may enable units, and start layers whose last unit it enables."""
        if register.full_name == "CDMA.D_PERF_ENABLE" and value:
            self._ports.watch_reads()
        if register.name == "D_OP_ENABLE":
            # RDMA fetches as soon as it is enabled, before the last unit of its layer is.
            self._expect_quiet(cycle)
            group = self.tracker.state.producer(register.unit)
            self.enabled = self.enabled or bool(value)
            if value and not self.tracker.state.enabled(register.unit, group):
                waits = self.tracker.state.consumer(register.unit) != group
                self._interrupts.enable(register.unit, group, cycle, waits=waits)
                self._counters.timed.enable(register.unit, group, cycle)
                self._reading.enable(register.unit, group)
        idle = not self.tracker.running
        for started in self.tracker.write(register, value):
            if idle:
                self._named.clear()
            self.enabled = True
            self._expect_quiet(cycle)
            events = self.tracker.interrupts_of(started)
            self._interrupts.start(events, cycle)
            self._answers.start(started.id, events)
            expectation = predict(started, self._memory_for_layer, self._buffer)
            self._named.append((expectation.ram, expectation.address, len(expectation.data)))
            self.board.expect(expectation)
            self._counters.start(started, expectation.counts)
            self._reading.start(started)
            for watcher in self.watchers:
                watcher.started(started, expectation, cycle)

    def _end(self, ended: Iterable[StartedLayer], cycle: int | None, *, idle: bool = False) -> None:
        for started in ended:
            event = interrupt_of_unit(started.layer.unit), started.group
            self._on_the_way.append((event, started.index))
            if not idle:
                self._arrived([event])
            self._add([self._reading.end(started, cycle)])
            self._counters.end(started.index, cycle)
            for watcher in self.watchers:
                watcher.ended(started, cycle)

    def _arrived(self, events: Collection[tuple[str, int]]) -> None:
        """Note done interrupts, which come with the answers to the last writes of layers."""
        for index in (index for event, index in self._on_the_way if event in events):
            self.board.end_layer(index)
        self._on_the_way = [each for each in self._on_the_way if each[0] not in events]

    def _add(self, found: Iterable[Iterable[Finding]]) -> None:
        for findings in found:
            for finding in findings:
                self.verdict.add(finding)

    def _expect_quiet(self, cycle: int | None) -> None:
        """Find accesses to memory after a reset and before any unit was enabled."""
        if self._handshakes_at_reset not in (None, self._ports.handshakes):
            self.report(Check.PROTOCOL, EarlyAccess(), cycle)
        self._handshakes_at_reset = None

    def _memory_for_layer(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        """Return the memory that a layer which starts now finds once all before it have written."""
        self._named.append((ram, address, nbytes))
        return self.board.overlay(ram, address, self._read_memory(ram, address, nbytes))
