"""A network that is ready to be played: memory, tasks, and the tensors that go in and come out.

This is what a loadable is read into, and what a compiler leaves: registers of each operation with absolute
addresses, what each waits for, and what software computes between them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.host import HostGraph
from nvdla_networks.tensors import ImageTensor, Tensor
from nvdla_tb.nvdla.memory import Ram, Range
from nvdla_tb.nvdla.program.ops import RegWrite

Words = Mapping[str, int]
"""Register words of one unit by register name, in the order in which they are written."""


@dataclass(frozen=True)
class Allocation:
    """Memory of the network: zero but for ``chunks`` of (offset, bytes); constant when no task writes to it."""

    name: str
    ram: Ram
    address: int
    nbytes: int
    chunks: tuple[tuple[int, bytes], ...] = ()
    is_constant: bool = False


def overlap(one: Range, other: Range) -> bool:
    """Return whether a byte belongs to both."""
    begin, end = max(one.address, other.address), min(one.address + one.nbytes, other.address + other.nbytes)
    return one.ram is other.ram and begin < end


@dataclass(frozen=True)
class Edge:
    """An event of another operation of the task that must precede the enable of one."""

    producer: int
    event: Event


@dataclass(frozen=True)
class LutLoad:
    """Tables that an operation takes, as the register writes that load them."""

    unit: str
    writes: tuple[RegWrite, ...]


@dataclass(frozen=True)
class Operation:
    """One operation of one engine.

    Attributes:
        name: Its name in tables, such as ``conv0``.
        engine: Engine that runs it.
        units: Those that are enabled, in that order; an RDMA that has nothing to fetch is not among them.
        words: Register words by unit.
        copies: For BDMA, the words of each copy instead.
        edges: Edges that it waits for.
        parent: The operation that hands its output over in hardware, and so ends before this one.
        lut: Tables that it takes.
        reads: Bytes that it may read.
        writes: Bytes that it may write.
        shape: (C, H, W) of its output.
    """

    name: str
    engine: EngineId
    units: tuple[str, ...]
    words: Mapping[str, Words]
    shape: tuple[int, int, int]
    copies: tuple[Words, ...] = ()
    edges: tuple[Edge, ...] = ()
    parent: int | None = None
    lut: LutLoad | None = None
    reads: tuple[Range, ...] = ()
    writes: tuple[Range, ...] = ()


@dataclass(frozen=True)
class HardwareTask:
    """Operations that one submission runs, and for each engine the order in which it takes them."""

    operations: tuple[Operation, ...]
    chains: Mapping[EngineId, tuple[int, ...]]
    counts: bool = False
    """Whether statistics are enabled and read after each operation."""


@dataclass(frozen=True)
class Power:
    """y = (shift + scale * x) ** power."""

    power: float
    scale: float
    shift: float


@dataclass(frozen=True)
class Softmax:
    """Probabilities over the channels of one pixel."""


@dataclass(frozen=True)
class Largest:
    """The channel of the largest element of one pixel, the first of equals."""


@dataclass(frozen=True)
class SoftwareOperation:
    """A step that the runtime computes on the host, with the scales of tensors of integers.

    ``in_scale`` is one for each channel where a joined cube has several.
    """

    kind: Power | Softmax | Largest
    src: Tensor
    dst: Tensor
    in_scale: float | tuple[float, ...] = 1.0
    out_scale: float = 1.0


@dataclass(frozen=True)
class Source:
    """A cube of the accelerator as real numbers: where it lies, and the scale of its integers, one or by channel."""

    tensor: Tensor
    scale: float | tuple[float, ...]


@dataclass(frozen=True, eq=False)
class HostPart:
    """Nodes that the host computes between parts of the accelerator, in floating point.

    Attributes:
        graph: The nodes; None where cubes are only moved.
        sources: Cubes that they take, by their names in the graph.
        inputs: Inputs of the network that they take.
        targets: Cubes that they make, and where the accelerator takes them from.
        moved: Cubes of one part, and where another takes them from.
        given: Values of the inputs; the network leaves them open.
    """

    graph: HostGraph | None
    sources: Mapping[str, Source]
    inputs: tuple[str, ...] = ()
    targets: Mapping[str, tuple[Tensor, ...]] = field(default_factory=dict)
    moved: tuple[tuple[Source, Tensor], ...] = ()
    given: Mapping[str, NDArray[Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class SoftwareTask:
    """Software operations, one after the other."""

    operations: tuple[SoftwareOperation | HostPart, ...]


Task = HardwareTask | SoftwareTask


@dataclass(frozen=True)
class HostOutput:
    """An output that the host computes, of any shape and type."""

    name: str


@dataclass(frozen=True)
class Network:
    """A network with a place in memory."""

    name: str
    config: HwConfig
    allocations: tuple[Allocation, ...]
    tasks: tuple[Task, ...]
    inputs: tuple[Tensor | ImageTensor, ...]
    outputs: tuple[Tensor | HostOutput, ...]

    def given(self, values: Mapping[str, NDArray[Any]]) -> Network:
        """Return the network with values for the inputs that the host takes."""
        tasks = tuple(
            task
            if isinstance(task, HardwareTask)
            else SoftwareTask(tuple(_given(op, values) for op in task.operations))
            for task in self.tasks
        )
        return replace(self, tasks=tasks)


def _given(operation: SoftwareOperation | HostPart, values: Mapping[str, NDArray[Any]]) -> SoftwareOperation | HostPart:
    return replace(operation, given=values) if isinstance(operation, HostPart) else operation
