"""The layers of networks: which operations each consists of, and how it is found again among those that were seen."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from nvdla_networks.descriptors import Event
from nvdla_networks.network import HardwareTask, HostPart, Operation, Power, SoftwareTask, overlap
from nvdla_networks.order import Order
from nvdla_networks.scenario import Run
from nvdla_networks.software import taken, written
from nvdla_tb.nvdla.memory import Range


@dataclass(frozen=True)
class NetworkLayer:
    """One layer of one run.

    Attributes:
        run: Number of the run.
        name: Its operations, such as ``conv0+sdp0``.
        engine: The engines that run it.
        shape: (C, H, W) of what it writes.
        unit: The unit that ends it.
        reads: Bytes that it may read.
        writes: Bytes that it may write.
        waits: Operations of other layers whose end it waits for.
        operations: What the driver programs for it.
        task: Number of the task in its run.
    """

    run: int
    name: str
    engine: str
    shape: tuple[int, int, int]
    unit: str
    reads: tuple[Range, ...] = ()
    writes: tuple[Range, ...] = ()
    waits: tuple[str, ...] = ()
    operations: tuple[Operation, ...] = ()
    task: int = 0


@dataclass(frozen=True)
class HostStep:
    """What the host does at one point of a run: nodes, bytes read and written, and cubes moved from part to part."""

    run: int
    nodes: tuple[str, ...]
    reads: tuple[Range, ...]
    writes: tuple[Range, ...]
    moved: int = 0


def flows(layers: Sequence[NetworkLayer | HostStep]) -> list[tuple[int, int]]:
    """Return which layers take what which others have written last, as (number, number), each pair once."""
    found: dict[tuple[int, int], None] = {}
    for number, layer in enumerate(layers):
        for span in layer.reads:
            writers = (n for n in range(number - 1, -1, -1) if any(overlap(span, w) for w in layers[n].writes))
            writer = next(writers, None)
            if writer is not None:
                found[writer, number] = None
    return list(found)


def layers_of(runs: Sequence[Run], order: Order = Order.APART) -> list[NetworkLayer]:
    """Return the layers of all runs in the order of their tasks' operations."""
    return [step for step in steps_of(runs, order) if isinstance(step, NetworkLayer)]


def steps_of(runs: Sequence[Run], order: Order = Order.APART) -> list[NetworkLayer | HostStep]:
    """Return the layers of all runs, and what the host does before, between and after them."""
    return list(order.merged(_of_run(number, run) for number, run in enumerate(runs)))


def _of_run(number: int, run: Run) -> list[NetworkLayer | HostStep]:
    steps: list[NetworkLayer | HostStep] = []
    left = list(enumerate(run.hardware))
    for task in run.network.tasks:
        if isinstance(task, SoftwareTask):
            steps += _of_host(number, task)
        elif left:
            steps += _of_task(number, *left.pop(0))
        if not left and not run.is_whole:
            break
    return steps


def _of_host(run: int, task: SoftwareTask) -> Iterator[HostStep]:
    """Yield what the host does but for making real numbers of results."""
    for operation in task.operations:
        if isinstance(operation, HostPart):
            nodes, moved = () if operation.graph is None else operation.graph.nodes, len(operation.moved)
        elif operation.kind == Power(1.0, 1.0, 0.0):
            continue
        else:
            nodes, moved = (f"{type(operation.kind).__name__} {operation.dst.name}",), 0
        reads, writes = (
            tuple(Range(tensor.ram, tensor.address, tensor.nbytes) for tensor in tensors)
            for tensors in (taken(operation), written(operation))
        )
        yield HostStep(run, nodes, reads, writes, moved)


def _of_task(run: int, task_number: int, task: HardwareTask) -> Iterator[NetworkLayer]:
    parents = {operation.parent for operation in task.operations}
    for number, last in enumerate(task.operations):
        if number in parents:
            continue
        operations = [last]
        while operations[0].parent is not None:
            operations.insert(0, task.operations[operations[0].parent])
        name = "+".join(operation.name for operation in operations)
        labels = [f"{name}.{copy}" for copy in range(len(last.copies))] if len(last.copies) > 1 else [name]
        for label in labels:
            yield NetworkLayer(
                run,
                label,
                "-".join(operation.engine.name for operation in operations),
                last.shape,
                last.units[-1],
                tuple(span for operation in operations for span in operation.reads),
                tuple(span for operation in operations for span in operation.writes),
                _waits(task, operations),
                tuple(operations),
                task_number,
            )


def _waits(task: HardwareTask, operations: Sequence[Operation]) -> tuple[str, ...]:
    names = (
        task.operations[edge.producer].name
        for operation in operations
        for edge in operation.edges
        if edge.event is Event.COMPLETED and task.operations[edge.producer] not in operations
    )
    return tuple(dict.fromkeys(names))


def keys(units: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield for each layer the unit that ends it, and how many layers that unit has ended before.

    Units take layers in their order, while those of different units may begin in any.
    """
    ended: Counter[str] = Counter()
    for unit in units:
        yield unit, ended[unit]
        ended[unit] += 1
