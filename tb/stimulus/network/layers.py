"""The layers of networks: which operations each consists of, and how it is found again among those that were seen."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tb.judge.predictor import Expectation
from tb.stimulus.network.descriptors import EngineId, Event
from tb.stimulus.network.network import HardwareTask, Operation, Span
from tb.stimulus.network.scenario import Run

_LAST_UNITS = {EngineId.RUBIK: "RBK"}


@dataclass(frozen=True)
class NetworkLayer:
    """One layer of one run.

    Attributes:
        run: Number of the run.
        name: Its operations, such as ``conv0+sdp0``.
        engine: The engines that run it.
        shape: (C, H, W) of what it writes.
        reads: Bytes that it may read.
        writes: Bytes that it may write.
        waits: Operations of other layers whose end it waits for.
        key: The unit that ends it, and how many layers that unit has ended before: units take layers in their
            order, while those of different units may begin in any.
    """

    run: int
    name: str
    engine: str
    shape: tuple[int, int, int]
    key: tuple[str, int]
    reads: tuple[Span, ...] = ()
    writes: tuple[Span, ...] = ()
    waits: tuple[str, ...] = ()


def flows(layers: Sequence[NetworkLayer]) -> list[tuple[int, int]]:
    """Return which layers take what which others have written last, as (number, number), each pair once."""
    found: dict[tuple[int, int], None] = {}
    for number, layer in enumerate(layers):
        for span in layer.reads:
            writers = (n for n in range(number - 1, -1, -1) if any(span.overlaps(w) for w in layers[n].writes))
            writer = next(writers, None)
            if writer is not None:
                found[writer, number] = None
    return list(found)


def layers_of(runs: Sequence[Run]) -> list[NetworkLayer]:
    """Return the layers of all runs in the order of their tasks' operations."""
    ended: dict[str, int] = defaultdict(int)
    layers = []
    for number, run in enumerate(runs):
        for task in run.hardware:
            found = [layer for chain in task.chains.values() for layer in _of_chain(task, chain)]
            for last, operations in sorted(found, key=lambda layer: layer[0]):
                copies = len(operations[-1].copies) or 1
                name = "+".join(operation.name for operation in operations)
                engine = "-".join(operation.engine.name for operation in operations)
                unit = _LAST_UNITS.get(operations[-1].engine, operations[-1].engine.name)
                for copy in range(copies):
                    label = name if copies == 1 else f"{name}.{copy}"
                    key = unit, _place(ended, unit)
                    reads = tuple(span for operation in operations for span in operation.reads)
                    writes = tuple(span for operation in operations for span in operation.writes)
                    shape = task.operations[last].shape
                    waits = _waits(task, operations)
                    layers.append(NetworkLayer(number, label, engine, shape, key, reads, writes, waits))
    return layers


def _waits(task: HardwareTask, operations: Sequence[Operation]) -> tuple[str, ...]:
    names = (
        task.operations[edge.producer].name
        for operation in operations
        for edge in operation.edges
        if edge.event is Event.COMPLETED and task.operations[edge.producer] not in operations
    )
    return tuple(dict.fromkeys(names))


def _place(ended: dict[str, int], unit: str) -> int:
    ended[unit] += 1
    return ended[unit] - 1


def _of_chain(task: HardwareTask, chain: Iterable[int]) -> Iterator[tuple[int, tuple[Operation, ...]]]:
    """Yield the layers that the operations of an engine end: number of the last operation, and all of them."""
    parents = {operation.parent for operation in task.operations}
    for last in chain:
        if last in parents:
            continue
        operations: list[Operation] = []
        number: int | None = last
        while number is not None:
            operations.insert(0, task.operations[number])
            number = task.operations[number].parent
        yield last, tuple(operations)


def by_key(expectations: Iterable[Expectation]) -> dict[tuple[str, int], Expectation]:
    """Return predicted layers by the keys of network layers."""
    ended: dict[str, int] = defaultdict(int)
    found = {}
    for expectation in sorted(expectations, key=lambda e: e.started.index):
        unit = expectation.started.layer.unit
        found[unit, _place(ended, unit)] = expectation
    return found
