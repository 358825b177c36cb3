"""From networks with their inputs to one scenario, and from what was played to what came out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_networks import software
from nvdla_networks.errors import NetworkError
from nvdla_networks.network import HardwareTask, Network, SoftwareTask, overlap
from nvdla_networks.order import Order, as_one
from nvdla_networks.program import Programmer, until
from nvdla_networks.tensors import Tensor
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.text import complaint
from nvdla_tb.nvdla.memory import MemoryImage, Ram, Range, load_ranges
from nvdla_tb.nvdla.program.ops import (
    CheckNothing,
    MemInit,
    MemLoad,
    Op,
)
from nvdla_tb.nvdla.registers import RegisterMap
from nvdla_tb.stimulus.model import Played, play_model
from nvdla_tb.stimulus.scenario import Scenario, apply_memory_op, empty_memories

Memories = dict[Ram, MemoryImage]

Results = list[tuple[NDArray[Any], ...]]
"""The outputs of each run."""


@dataclass(frozen=True)
class Run:
    """One network with one input: what it finds in memory, and what software makes of what hardware leaves.

    Attributes:
        network: The network, in memory of its own.
        hardware: The tasks that hardware runs.
        after: Software that comes after all hardware.
        is_whole: Whether all of the network runs, so that it has results.
    """

    network: Network
    hardware: tuple[HardwareTask, ...]
    after: tuple[SoftwareTask, ...]
    is_whole: bool = True

    @property
    def observed(self) -> tuple[Tensor, ...]:
        """Tensors that hardware leaves and results are made of."""
        if not self.is_whole:
            return ()
        sources = (
            tensor for task in self.after for operation in task.operations for tensor in software.taken(operation)
        )
        return (*sources, *(output for output in self.network.outputs if isinstance(output, Tensor)))

    def results(self, memories: Memories) -> tuple[NDArray[Any], ...]:
        """Return the outputs that memory holds when all hardware has ended; software runs on that memory first."""
        if not self.is_whole:
            return ()
        made: dict[str, NDArray[Any]] = {}
        for task in self.after:
            made |= software.run(task, memories)
        return tuple(
            read(output, memories) if isinstance(output, Tensor) else made[output.name]
            for output in self.network.outputs
        )


@dataclass(frozen=True)
class NetworkScenario:
    """Networks as one scenario, and their runs in its order."""

    scenario: Scenario
    runs: tuple[Run, ...]
    order: Order = Order.APART

    @property
    def runs_layers(self) -> bool:
        """Whether hardware has anything to do."""
        return any(run.hardware for run in self.runs)


def read(tensor: Tensor, memories: Memories) -> NDArray[Any]:
    """Return a tensor out of memory, shape (C, H, W)."""
    return tensor.unpack(memories[tensor.ram].read_array(tensor.address, tensor.nbytes))


def why_incomplete(played: Played) -> str | None:
    """Return why the model has not run all layers of a program, None where it has."""
    if played.verdict.refused is not None:
        return f"refused: {played.verdict.refused}"
    stops = (finding for finding in played.verdict.findings if finding.check is Check.PROGRAM)
    return next((f"the model stops: {complaint(finding)}" for finding in stops), None)


def memories_after(ops: Sequence[Op], expectations: Iterable[Expectation], config: HwConfig) -> Memories:
    """Return memory as a program's loads and the layers that it runs leave it."""
    memories = empty_memories(config)
    for op in ops:
        if isinstance(op, MemInit | MemLoad):
            apply_memory_op(memories, op)
    _leave(expectations, memories)
    return memories


def _leave(expectations: Iterable[Expectation], memories: Memories) -> None:
    """Write what layers leave."""
    for expectation in expectations:
        image = memories[expectation.ram]
        there = image.read_array(expectation.address, len(expectation.data))
        image.write(expectation.address, np.where(expectation.must_write, expectation.data, there))


def play_networks(
    name: str,
    networks: Sequence[Network],
    inputs: Sequence[Sequence[NDArray[Any] | None]],
    *,
    last: str | None = None,
    counts: bool = False,
    order: Order = Order.APART,
) -> NetworkScenario:
    """Return the scenario that plays networks.

    Args:
        name: Name of the scenario.
        networks: The networks, each in memory of its own.
        inputs: For each network a value for each of its inputs; None leaves it zero.
        last: Name of the operation to end with; what it does not need is not run.
        counts: Whether to read statistics after each operation.
        order: When a network begins that is not the first; but for ``APART`` all are the same one with other inputs.

    Raises:
        NetworkError: for inputs that do not fit, for software whose result hardware would overwrite, and for layers
            that cannot be taken in the order.
    """
    config = networks[0].config
    writer = _Writer(name, config, counts, last, order)
    pairs = enumerate(zip(networks, inputs, strict=True))
    runs = tuple(writer.add(f"n{number}", network, values) for number, (network, values) in pairs)
    if order is not Order.APART and any(run.hardware for run in runs):
        writer.add_at_once([run.hardware for run in runs])
    return NetworkScenario(writer.scenario(), runs, order)


def left_by_model(name: str, network: Network, values: Sequence[NDArray[Any] | None]) -> tuple[Run, Memories]:
    """Return the run of one network, and memory as the reference model leaves it; each task is played once.

    Raises:
        NetworkError: for inputs that do not fit, and for layers that the bench refuses.
    """
    writer = _Writer(name, network.config, counts=False, last=None, order=Order.APART)
    run = writer.add("n0", network, values)
    return run, writer.computing.memories()


class _Writer:
    """Collects the loads and the program of one network after the other."""

    def __init__(self, name: str, config: HwConfig, counts: bool, last: str | None, order: Order) -> None:
        self._name, self._config, self._last, self._order = name, config, last, order
        self._loads: list[Op] = []
        self._program: list[Op] = []
        self._programmer = Programmer(RegisterMap.of(config), counts)

    def scenario(self) -> Scenario:
        """Return all that was added; it ends with the last event."""
        ends = [CheckNothing(event) for event in self._programmer.barrier]
        return Scenario(self._name, self._config.name, (*self._loads, *self._program, *ends), seed=0)

    def add_at_once(self, runs: Sequence[Sequence[HardwareTask]]) -> None:
        """Add the program of all networks."""
        self._program += self._programmer.write(as_one(runs, self._order, self._config), self._order.value)

    def add(self, prefix: str, network: Network, values: Sequence[NDArray[Any] | None]) -> Run:
        """Add a network with its inputs; the names of its events and files begin with ``prefix``."""
        self._load_constants(network, prefix)
        self._load_inputs(network, values, prefix)
        tasks, cut = _cut(network, self._last)
        hardware = [number for number, task in enumerate(tasks) if isinstance(task, HardwareTask)]
        last = max(hardware, default=-1)
        self.computing = computing = _Computing(self._name, self._config, self._loads)
        after = []
        for number, task in enumerate(tasks):
            if isinstance(task, HardwareTask):
                if self._order is Order.APART:
                    self._program += self._programmer.write(task, f"{prefix}_t{number}")
                computing.wait_for(task)
            elif number < last:
                self._loads += computing.loads(task, f"{prefix}_t{number}")
            elif not cut:
                after.append(task)
        ran = tuple(task for task in tasks if isinstance(task, HardwareTask))
        return Run(network, ran, tuple(after), is_whole=not cut)

    def _load_constants(self, network: Network, prefix: str) -> None:
        for allocation in network.allocations:
            self._loads.append(MemInit(allocation.ram, allocation.address, allocation.nbytes))
            if allocation.chunks:
                name = f"{prefix}_{allocation.name}.dat"
                self._loads.append(MemLoad(allocation.ram, allocation.address, allocation.chunks, name))

    def _load_inputs(self, network: Network, values: Sequence[NDArray[Any] | None], prefix: str) -> None:
        if len(values) != len(network.inputs):
            raise NetworkError(f"{network.name} must get {len(network.inputs)} inputs, not {len(values)}")
        for number, (tensor, value) in enumerate(zip(network.inputs, values, strict=True)):
            if value is not None:
                data = np.zeros(tensor.nbytes, dtype=np.uint8)
                tensor.place(data, value)
                name = f"{prefix}_input{number}.dat"
                self._loads.append(MemLoad(tensor.ram, tensor.address, ((0, data.tobytes()),), name))


class _Computing:
    """Computes what software makes before and between hardware, from what the model says hardware leaves.

    Memory is loaded before the program begins, so no earlier layer may use what software writes.
    """

    def __init__(self, name: str, config: HwConfig, loads: Sequence[Op]) -> None:
        self._name, self._config, self._loads = name, config, loads
        self._waiting: list[HardwareTask] = []
        self._memories: Memories | None = None
        self._used: list[Range] = []

    def wait_for(self, task: HardwareTask) -> None:
        """Note a task that comes before the next software."""
        self._waiting.append(task)
        self._used += [span for operation in task.operations for span in (*operation.reads, *operation.writes)]

    def loads(self, task: SoftwareTask, prefix: str) -> list[Op]:
        """Return the loads of what software makes."""
        memories = self.memories()
        software.run(task, memories)
        loads: list[Op] = []
        tensors = [tensor for operation in task.operations for tensor in software.written(operation)]
        for number, dst in enumerate(tensors):
            there = Range(dst.ram, dst.address, dst.nbytes)
            if any(overlap(there, span) for span in self._used):
                raise NetworkError(f"{dst.name} must be memory that no earlier layer uses")
            data = memories[dst.ram].read(dst.address, dst.nbytes)
            loads.append(MemLoad(dst.ram, dst.address, ((0, data),), f"{prefix}_{number}.dat"))
        return loads

    def memories(self) -> Memories:
        """Return memory after the tasks so far; each is played once."""
        if self._memories is None:
            self._memories = memories_after(self._loads, (), self._config)
        programmer = Programmer(RegisterMap.of(self._config), counts=False)
        program = [op for n, task in enumerate(self._waiting) for op in programmer.write(task, f"t{n}")]
        self._waiting = []
        if program:
            inits = [op for op in self._loads if isinstance(op, MemInit)]
            there = [
                MemLoad(ram, address, ((0, data),), f"{ram.name}_{address:x}.dat")
                for ram, image in self._memories.items()
                for address, data in image.runs()
            ]
            scenario = Scenario(self._name, self._config.name, (*inits, *there, *program), seed=0)
            played = play_model(scenario, self._config)
            if (why := why_incomplete(played)) is not None:
                raise NetworkError(why)
            _leave(played.expectations, self._memories)
        return self._memories


def _cut(network: Network, last: str | None) -> tuple[tuple[HardwareTask | SoftwareTask, ...], bool]:
    """Return the tasks up to an operation, and whether that leaves any out."""
    if last is None:
        return network.tasks, False
    for number, task in enumerate(network.tasks):
        if isinstance(task, HardwareTask) and any(operation.name == last for operation in task.operations):
            return (*network.tasks[:number], until(task, last)), True
    names = ", ".join(op.name for task in network.tasks if isinstance(task, HardwareTask) for op in task.operations)
    raise NetworkError(f"the last layer must be one of {names}, not {last}")


def results_of(played: Played, networks: NetworkScenario, dump: Path | None = None) -> Results:
    """Return the outputs of each run, as the reference model leaves them.

    With ``dump``, they are those of a device that has saved there what results are made of.
    """
    config = networks.runs[0].network.config
    memories = memories_after(networks.scenario.ops, played.expectations, config)
    if dump is not None:
        load_ranges(dump, memories)
    return [run.results(memories) for run in networks.runs]
