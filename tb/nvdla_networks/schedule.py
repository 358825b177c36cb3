"""The order in which the public driver programs and enables the operations of a task.

Groups are taken in turn, an operation is programmed as soon as one is free, and enabled when all that it waits for
has happened. Here the hardware takes no time: what is enabled ends as soon as nothing else can be done.

Source: the public driver's scheduler; NVIDIA's documents do not describe it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.errors import NetworkError
from nvdla_networks.network import Edge, HardwareTask, LutLoad, Operation

_GROUPS = 2


class Step(Enum):
    """A step of the driver for an operation."""

    PROGRAM = "program"
    ENABLE = "enable"
    END = "end"


@dataclass(frozen=True)
class Action:
    """One step of one operation, and the register group of each of its units."""

    step: Step
    number: int
    groups: dict[str, int]
    loads_lut: bool = False


@dataclass
class Turns:
    """Whose turn it is: the next register group of each unit, and the tables that each unit holds.

    They outlast a task: the hardware's pointers do, too.
    """

    groups: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    luts: dict[str, LutLoad] = field(default_factory=dict)

    def take(self, operation: Operation) -> dict[str, int]:
        """Return the groups of an operation's units; the next operation gets the others."""
        taken = {unit: self.groups[unit] for unit in operation.units}
        for unit, group in taken.items():
            self.groups[unit] = 1 - group
        return taken


def schedule(task: HardwareTask, turns: Turns) -> Iterator[Action]:
    """Yield the steps for the operations of a task, in an order in which all can happen; moves ``turns`` on.

    Raises:
        NetworkError: when operations wait for each other.
    """
    yield from _Schedule(task, turns).run()


def needed(task: HardwareTask, last: int) -> tuple[int, ...]:
    """Return the operations that have to run for one of them to end: what it waits for, and what is fused with it."""
    parents = {number: op.parent for number, op in enumerate(task.operations) if op.parent is not None}
    before = {number: chain[at - 1] for chain in task.chains.values() for at, number in enumerate(chain) if at}
    found: set[int] = set()
    rest = [last]
    while rest:
        number = rest.pop()
        if number in found:
            continue
        found.add(number)
        rest += [edge.producer for edge in task.operations[number].edges]
        rest += [other[number] for other in (parents, before) if number in other]
        rest += [child for child, parent in parents.items() if parent == number]
    return tuple(sorted(found))


class _Schedule:
    def __init__(self, task: HardwareTask, turns: Turns) -> None:
        self._operations = task.operations
        self._waiting = {engine: list(chain) for engine, chain in task.chains.items()}
        self._slots: dict[EngineId, list[int]] = {engine: [] for engine in task.chains}
        self._turns = turns
        self._groups: dict[int, dict[str, int]] = {}
        self._enabled: set[int] = set()
        self._running: dict[int, None] = {}
        self._happened: set[Edge] = set()
        self._ended: set[int] = set()

    def run(self) -> Iterator[Action]:
        while len(self._ended) < len(self._operations):
            for step in (self._enable, self._program, self._end):
                done = list(step())
                yield from done
                if done:
                    break
            else:
                stuck = next(n for n in range(len(self._operations)) if n not in self._ended)
                edge = next((e for e in self._operations[stuck].edges if e not in self._happened), None)
                on = f" for {edge.event.name} of {self._operations[edge.producer].name}" if edge else ""
                raise NetworkError(f"{self._operations[stuck].name} waits{on}, which never happens")

    def _enable(self) -> Iterator[Action]:
        """Enable what waits for nothing any more, each engine's operations in their turn."""
        for slots in self._slots.values():
            for number in slots:
                if number in self._enabled:
                    continue
                if not self._happened.issuperset(self._operations[number].edges):
                    break
                self._enabled.add(number)
                self._running[number] = None
                self._happened.add(Edge(number, Event.ENABLED))
                yield Action(Step.ENABLE, number, self._groups[number])

    def _program(self) -> Iterator[Action]:
        for engine, slots in self._slots.items():
            if self._waiting[engine] and self._is_free(engine):
                number = self._waiting[engine].pop(0)
                operation = self._operations[number]
                self._groups[number] = self._turns.take(operation)
                slots.append(number)
                self._happened.add(Edge(number, Event.PROGRAMMED))
                loads = self._loads(operation)
                if operation.lut is not None:
                    self._turns.luts[operation.lut.unit] = operation.lut
                yield Action(Step.PROGRAM, number, self._groups[number], loads)

    def _is_free(self, engine: EngineId) -> bool:
        """Return whether the next operation of an engine finds a group, and tables that nobody else uses.

        Tables are loaded after the end of the operation before, which must be enabled for that.
        """
        slots = self._slots[engine]
        if len(slots) == _GROUPS:
            return False
        if engine is EngineId.BDMA and any(number not in self._enabled for number in slots):
            return False
        if not self._loads(self._operations[self._waiting[engine][0]]):
            return True
        return all(self._operations[number].lut is None and number in self._enabled for number in slots)

    def _loads(self, operation: Operation) -> bool:
        """Return whether an operation takes other tables than its unit holds."""
        return operation.lut is not None and self._turns.luts.get(operation.lut.unit) != operation.lut

    def _end(self) -> Iterator[Action]:
        """End the operation that was enabled first, of those that get nothing from one that still runs."""
        for number in self._running:
            parent = self._operations[number].parent
            if parent is None or parent in self._ended:
                self._ended.add(number)
                del self._running[number]
                for slots in self._slots.values():
                    if number in slots:
                        slots.remove(number)
                for event in (Event.COMPLETED, Event.WEIGHTS_DONE, Event.DATA_DONE):
                    self._happened.add(Edge(number, event))
                yield Action(Step.END, number, self._groups[number])
                return
