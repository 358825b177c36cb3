"""From the tasks of a network to the operations of a program, as the public driver would carry them out.

Dependencies become waits of units for named events, so that the hardware's own pace decides what runs when.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.network import HardwareTask, Operation
from nvdla_networks.schedule import Action, Step, Turns, needed, schedule
from nvdla_tb.nvdla.program.bdma import LAUNCHES
from nvdla_tb.nvdla.program.ops import Comparison, InterruptNotify, Op, Poll, RegRead, RegWrite, SyncNotify, SyncWait
from nvdla_tb.nvdla.registers import Register, RegisterMap

_IDS = {
    Event.COMPLETED: "done",
    Event.PROGRAMMED: "programmed",
    Event.ENABLED: "enabled",
    Event.WEIGHTS_DONE: "weights",
    Event.DATA_DONE: "data",
}
_CDMA_INTERRUPTS = {Event.WEIGHTS_DONE: "CDMA_WT", Event.DATA_DONE: "CDMA_DAT"}
_STATISTICS = "D_PERF_ENABLE"
_COUNTER = re.compile(r"D_(PERF_(?!ENABLE)\w+|(\w+_)?(NAN|INF)_\w+_NUM|OUT_SATURATION)")


@dataclass
class Programmer:
    """Writes the programs of tasks that run one after the other.

    Attributes:
        registers: Those of the configuration.
        counts: Whether to read statistics after each operation, whatever the task says.
        turns: Whose turn it is; kept from task to task.
        barrier: Events that the first operations of the next task wait for.
    """

    registers: RegisterMap
    counts: bool
    turns: Turns = field(default_factory=Turns)
    barrier: tuple[str, ...] = ()

    def write(self, task: HardwareTask, prefix: str) -> Iterator[Op]:
        """Yield the program of a task, the names of whose events begin with ``prefix``."""
        writer = _TaskWriter(self, task, prefix)
        for action in schedule(task, self.turns):
            yield from writer.carry_out(action)
        self.barrier = writer.last_events


def counters_of(registers: RegisterMap, unit: str) -> tuple[Register, ...]:
    """Return the statistics that a unit counts for each layer."""
    return tuple(r for r in registers.of_unit(unit).values() if _COUNTER.fullmatch(r.name) and not r.writable)


def until(task: HardwareTask, last: str) -> HardwareTask:
    """Return a task that ends with an operation, and runs nothing that it does not need."""
    number = next(n for n, operation in enumerate(task.operations) if operation.name == last)
    kept = needed(task, number)
    at = {old: new for new, old in enumerate(kept)}
    operations = tuple(
        replace(
            operation,
            edges=tuple(replace(edge, producer=at[edge.producer]) for edge in operation.edges),
            parent=None if operation.parent is None else at[operation.parent],
        )
        for operation in (task.operations[old] for old in kept)
    )
    chains = {engine: tuple(at[n] for n in chain if n in at) for engine, chain in task.chains.items()}
    return replace(task, operations=operations, chains={e: chain for e, chain in chains.items() if chain})


class _TaskWriter:
    def __init__(self, programmer: Programmer, task: HardwareTask, prefix: str) -> None:
        self._operations, self._prefix = task.operations, prefix
        self._registers, self._barrier = programmer.registers, programmer.barrier
        self._counts = task.counts or programmer.counts
        self._before = {
            number: (chain[at - 1] if at else None, chain[at - 2] if at > 1 else None)
            for chain in task.chains.values()
            for at, number in enumerate(chain)
        }
        self._chains = task.chains
        events = {edge.event for operation in task.operations for edge in operation.edges}
        self._cdma_events = sorted(events & _CDMA_INTERRUPTS.keys())

    @property
    def last_events(self) -> tuple[str, ...]:
        """The events after which all of the task has happened."""
        return tuple(self._id(chain[-1], Event.COMPLETED) for chain in self._chains.values())

    def carry_out(self, action: Action) -> Iterator[Op]:
        """Yield the operations of one step."""
        operation = self._operations[action.number]
        match action.step:
            case Step.PROGRAM:
                yield from self._program(action, operation)
            case Step.ENABLE:
                yield from self._enable(action, operation)
            case Step.END:
                yield from self._end(action, operation)

    def _id(self, number: int, event: Event) -> str:
        return f"{self._prefix}_{self._operations[number].name}_{_IDS[event]}"

    def _program(self, action: Action, operation: Operation) -> Iterator[Op]:
        last, before_last = self._before[action.number]
        events = self._barrier if before_last is None else (self._id(before_last, Event.COMPLETED),)
        if action.loads_lut and last is not None:
            events = (*events, self._id(last, Event.COMPLETED))
        yield from _waits(operation.units, events)
        if action.loads_lut and operation.lut is not None:
            yield from operation.lut.writes
        for copy in operation.copies:
            yield Poll("BDMA.STATUS", 0, Comparison.GREATER, "free_slot")
            yield from (RegWrite(f"BDMA.{register}", value) for register, value in copy.items())
            yield RegWrite("BDMA.CFG_OP", 1)
        for unit, words in operation.words.items():
            yield RegWrite(f"{unit}.S_POINTER", action.groups[unit])
            yield from (RegWrite(f"{unit}.{register}", value) for register, value in words.items())
        yield SyncNotify(operation.units[-1], self._id(action.number, Event.PROGRAMMED))

    def _enable(self, action: Action, operation: Operation) -> Iterator[Op]:
        yield from _waits(operation.units, [self._id(edge.producer, edge.event) for edge in operation.edges])
        if operation.engine is EngineId.BDMA:
            yield RegWrite(f"BDMA.{LAUNCHES[action.groups['BDMA']]}", 1)
        else:
            if operation.engine is EngineId.CONV:
                yield Poll("CDMA.S_CBUF_FLUSH_STATUS", 1)
            for unit in operation.units:
                yield RegWrite(f"{unit}.S_POINTER", action.groups[unit])
                if self._counts and _STATISTICS in self._registers.of_unit(unit):
                    statistics = self._registers.register(unit, _STATISTICS)
                    yield RegWrite(statistics.full_name, statistics.writable)
            for unit in operation.units:
                yield RegWrite(f"{unit}.D_OP_ENABLE", 1)
        yield SyncNotify(operation.units[-1], self._id(action.number, Event.ENABLED))

    def _end(self, action: Action, operation: Operation) -> Iterator[Op]:
        # The done interrupt that the driver takes for the end of an operation, and its unit.
        interrupt, unit = operation.engine.name, operation.units[-1]
        if operation.engine is EngineId.CONV:
            interrupt = unit = "CACC"
            for event in self._cdma_events:
                group = action.groups["CDMA"]
                yield InterruptNotify(_CDMA_INTERRUPTS[event], group, self._id(action.number, event))
        done = self._id(action.number, Event.COMPLETED)
        yield InterruptNotify(interrupt, action.groups[unit], done)
        if self._counts and operation.engine is not EngineId.BDMA:
            yield from _waits(operation.units, (done,))
            for counting in operation.units:
                counters = counters_of(self._registers, counting)
                if counters:
                    yield RegWrite(f"{counting}.S_POINTER", action.groups[counting])
                    yield from (RegRead(counter.full_name) for counter in counters)


def _waits(units: Sequence[str], events: Sequence[str]) -> Iterator[Op]:
    """Yield the waits of all units one after the other, so that all are let go at once."""
    return (SyncWait(unit, event) for event in events for unit in units)
