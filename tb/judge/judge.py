"""The judge: takes what monitors see of one DUT and yields findings."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from models.config import HwConfig
from tb.judge.answers import AnswerRule
from tb.judge.arbitration import ArbitrationRule
from tb.judge.beats import Beats
from tb.judge.board import Board
from tb.judge.counters import CounterBoard
from tb.judge.detail import AnyDetail, BadAccess, EarlyAccess, MoreBadAccesses, UnexpectedInterrupt, WrongLine
from tb.judge.finding import Check, Finding
from tb.judge.interrupts import InterruptRules
from tb.judge.layer_id import LayerId
from tb.judge.line import LINE_CYCLES, LineRule
from tb.judge.outstanding import MostOutstanding, OutstandingRule, limits_outstanding
from tb.judge.predictor import BufferContents, Expectation, predict
from tb.judge.tracker import LayerTracker, StartedLayer
from tb.judge.verdict import Verdict
from tb.nvdla.memory import Ram
from tb.nvdla.program.table import Refused
from tb.nvdla.registers import Register


@dataclass(frozen=True)
class Strictness:
    """Whether accesses that memory refuses are findings; else they are only counted.

    Attributes:
        poison_reads: reads of bytes that were never written.
        stray_accesses: accesses outside every allocation.
    """

    poison_reads: bool = True
    stray_accesses: bool = True


MOST_BAD_ACCESSES = 5
"""How many accesses that memory refuses get a finding of their own."""

ReadMemory = Callable[[Ram, int, int], NDArray[np.uint8]]
"""Returns the bytes of a memory from an address on."""


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


class Watcher(Protocol):
    """A listener to the starts and ends of layers."""

    def started(self, layer: StartedLayer, expectation: Expectation, cycle: int | None) -> None:
        """Hear of a layer that starts, and of what it should write."""

    def ended(self, layer: StartedLayer, cycle: int | None) -> None:
        """Hear of a layer whose end was seen."""


class Judge:
    """Rebuilds layers from register accesses, predicts what they write, and judges what is written.

    ::

        judge = Judge(config, Scoreboard(), read_memory)
        judge.writes(beats)     # what was written before the next access
        judge.csb(access)
        verdict = judge.finish()

    Events come in the order in which they happened: no layer is credited with what was written before it began.
    """

    def __init__(
        self,
        config: HwConfig,
        board: Board[Expectation],
        read_memory: ReadMemory,
        strictness: Strictness | None = None,
        *,
        handshakes: Callable[[], int] = lambda: 0,
        most_outstanding: MostOutstanding = dict,
        line_cycles: int = LINE_CYCLES,
        saturated: tuple[Sequence[int], Sequence[int]] = ((), ()),
        wrapped: Collection[Ram] = (),
        latency_cycles: Mapping[Ram, int] | None = None,
        watch_reads: Callable[[], None] = lambda: None,
    ) -> None:
        """Start without layers.

        Args:
            config: The configuration of the DUT.
            board: Comparison of expectations with memory.
            read_memory: Returns what the DUT finds in memory.
            strictness: Towards accesses of memory; everything is a finding when it is left out.
            handshakes: Returns a count that grows whenever a memory port moves.
            most_outstanding: Returns the most requests that waited at a time since it was called last.
            line_cycles: How long the interrupt line may lag behind the registers.
            saturated: Ids of clients that always have reads, and of those that always have writes.
            wrapped: Memory ports that are those of a wrapper, which may change ids and answer writes early.
            latency_cycles: From a read to its first answer at least, by port; 0 where ids are not known.
            watch_reads: Called when reads are needed from now on.
        """
        self._strictness = strictness or Strictness()
        self.tracker = LayerTracker(config)
        self.board = board
        self.verdict = self.board.verdict
        self.watchers: list[Watcher] = []
        self._counters = CounterBoard(latency_cycles)
        self._watch_reads = watch_reads
        self._interrupts = InterruptRules()
        self._line = LineRule(line_cycles)
        self._answers = AnswerRule(board.last_write, line_cycles, wrapped)
        self._outstanding = OutstandingRule(self.tracker.state.registers, most_outstanding)
        self._arbitration = ArbitrationRule(self.tracker.state.registers, *saturated, wrapped=Ram.MC in wrapped)
        self._buffer = BufferContents()
        self._read_memory = read_memory
        self._handshakes = handshakes
        self._handshakes_at_reset: int | None = None
        self._bad_accesses = 0

    def reset(self) -> None:
        """Follow a reset of the DUT: registers, running layers and counters are gone, and memory must rest."""
        self.tracker.reset()
        self.board.abandon()
        self._counters.reset()
        self._interrupts.reset()
        self._line.reset()
        self._answers.reset()
        self._outstanding.reset()
        self._arbitration.reset()
        self._buffer = BufferContents()
        self._handshakes_at_reset = self._handshakes()

    def csb(self, access: Access) -> None:
        """Follow one access: a write may start layers, a read may show that one ended.

        Raises:
            Refused: when a layer that starts is illegal or not modelled; the verdict says so, too.
        """
        if access.register is None:
            return
        if not access.is_write:
            self._read(access.register, access)
        else:
            try:
                self._write(access.register, access)
            except Refused as error:
                self.verdict.refused = str(error)
                self._line.stop()
                raise
        if access.cycle is not None:
            owed = self._interrupts.possible
            self._find_line(
                self._line.access(access.register, access.value, owed, access.cycle, is_write=access.is_write),
                access.cycle,
            )

    def line(self, cycle: int, *, level: bool) -> None:
        """Take a change of the interrupt line."""
        self._find_line(self._line.line(cycle, level=level), cycle)
        self._answers.line(cycle, level=level)

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
        is_finding = self._strictness.stray_accesses if access.outside else self._strictness.poison_reads
        self.verdict.memory_faults += 1
        if not is_finding:
            return
        self._bad_accesses += 1
        if self._bad_accesses <= MOST_BAD_ACCESSES:
            self.find(Check.MEMORY, access, cycle)

    def done(self, unit: str, group: int, cycle: int | None = None) -> None:
        """Take note that a unit's register group is done, as its interrupt says."""
        self._end(self.tracker.finish(unit, group), cycle)

    def find(self, check: Check, detail: AnyDetail, cycle: int | None = None, layer: LayerId | None = None) -> None:
        """Add a finding."""
        self.verdict.add(Finding(check, detail, cycle, layer))

    @property
    def interrupts_owed(self) -> list[str]:
        """The names, such as ``SDP_1``, of done interrupts that were not seen since they were owed last."""
        return self._interrupts.owed

    def look(self) -> None:
        """Judge everything that was written by now."""
        self.board.judge()

    def finish(self, cycle: int | None = None) -> Verdict:
        """Judge what is left, at a cycle if any are counted, and return the verdict."""
        if cycle is not None:
            self._find_line(self._line.finish(cycle), cycle)
        for many in self._outstanding.judge():
            self.find(Check.MEMORY, many, cycle)
        for unfair in self._arbitration.judge():
            self.find(Check.MEMORY, unfair, cycle)
        if self._bad_accesses > MOST_BAD_ACCESSES:
            self.find(Check.MEMORY, MoreBadAccesses(self._bad_accesses - MOST_BAD_ACCESSES))
        return self.board.finish()

    def _write(self, register: Register, access: Access) -> None:
        self._interrupts.write(register, access.value)
        self._answers.write(register, access.value, access.cycle)
        self._arbitration.write(register, access.value)
        if limits_outstanding(register):
            busy = bool(self.tracker.running)
            for detail in self._outstanding.write(register, access.value, busy=busy):
                self.find(Check.MEMORY, detail, access.cycle)
        if register.full_name == "CDMA.D_PERF_ENABLE" and access.value:
            self._watch_reads()
        if register.name == "D_OP_ENABLE":
            # RDMA fetches as soon as it is enabled, before the last unit of its layer is.
            self._expect_quiet(access.cycle)
            group = self.tracker.state.producer(register.unit)
            if access.value and not self.tracker.state.enabled(register.unit, group):
                waits = self.tracker.state.consumer(register.unit) != group
                self._interrupts.enable(register.unit, group, waits=waits)
                self._counters.timed.enable(register.unit, group, access.cycle)
        for started in self.tracker.write(register, access.value):
            self._expect_quiet(access.cycle)
            events = self.tracker.interrupts_of(started)
            self._interrupts.start(events)
            self._answers.start(started.id, events)
            expectation = predict(started, self._found, self._buffer)
            self.board.expect(expectation)
            self._counters.start(started, expectation.counts)
            for watcher in self.watchers:
                watcher.started(started, expectation, access.cycle)

    def _read(self, register: Register, access: Access) -> None:
        if register.full_name == "GLB.S_INTR_STATUS":
            fresh = self._interrupts.fresh(access.value)
            for layer, early, cycle in self._answers.read(access.value, fresh, access.cycle):
                self.find(Check.UNANSWERED, early, cycle, layer)
        for name in self._interrupts.read(register, access.value):
            self.find(Check.INTERRUPT, UnexpectedInterrupt(name), access.cycle)
        self._end(self.tracker.read(register, access.value), access.cycle)
        group = self.tracker.state.producer(register.unit)
        wrong = self._counters.check(register.unit, register.name, group, access.value, access.cycle)
        self.verdict.counters = self._counters.judged
        if wrong is not None:
            counted, detail = wrong
            self.find(Check.COUNTER, detail, access.cycle, counted)

    def _end(self, ended: Iterable[StartedLayer], cycle: int | None) -> None:
        for started in ended:
            self.board.end_layer(started.index)
            self._counters.end(started.index, cycle)
            for watcher in self.watchers:
                watcher.ended(started, cycle)

    def _find_line(self, wrong: WrongLine | None, cycle: int) -> None:
        if wrong is not None:
            self.find(Check.INTERRUPT, wrong, cycle)

    def _expect_quiet(self, cycle: int | None) -> None:
        """Find accesses to memory after a reset and before any unit was enabled."""
        if self._handshakes_at_reset not in (None, self._handshakes()):
            self.find(Check.PROTOCOL, EarlyAccess(), cycle)
        self._handshakes_at_reset = None

    def _found(self, ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        """Return the memory that a layer which starts now finds once all before it have written."""
        return self.board.overlay(ram, address, self._read_memory(ram, address, nbytes))
