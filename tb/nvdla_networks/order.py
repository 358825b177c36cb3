"""The order in which several runs of a network share the hardware: as one graph, by image or by layer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import Enum
from itertools import pairwise
from typing import TypeVar

from nvdla_models.cbuf import bank_bytes
from nvdla_models.config import HwConfig
from nvdla_networks.descriptors import EngineId, Event
from nvdla_networks.errors import NetworkError
from nvdla_networks.network import Edge, HardwareTask, Operation, Words
from nvdla_tb.nvdla.registers import RegisterMap, with_field

_T = TypeVar("_T")

_WEIGHTS = ("D_WEIGHT_ADDR_LOW", "D_WEIGHT_ADDR_HIGH", "D_WEIGHT_RAM_TYPE", "D_WEIGHT_BYTES", "D_BANK")
"""Registers of CDMA that decide which weights lie where in the convolution buffer."""


class Order(Enum):
    """When a run begins that is not the first."""

    APART = "apart"
    """When the one before has ended."""

    IMAGE = "image"
    """When engines are free: each run goes through all layers before the next one in every engine's queue."""

    LAYER = "layer"
    """All runs go through a layer before the next one, with weights that stay in the convolution buffer."""

    def merged(self, runs: Iterable[Sequence[_T]]) -> Iterator[_T]:
        """Yield what each run has, in this order; by layer, all runs have as many."""
        if self is Order.LAYER:
            for group in zip(*runs, strict=True):
                yield from group
        else:
            for run in runs:
                yield from run


def as_one(runs: Sequence[Sequence[HardwareTask]], order: Order, config: HwConfig) -> HardwareTask:
    """Return the tasks of several runs of a network as one task.

    Operations of different runs wait for nothing of each other but their engine, so runs must have memory of their own.
    A later task of a run waits for the ends of the task before, whose results the host takes.

    Args:
        runs: Tasks of each run.
        order: By image or by layer.
        config: The configuration.

    Raises:
        NetworkError: by layer, for a convolution that goes on with lines that the one before has left.
    """
    owned = [
        [(run, number, at) for number, task in enumerate(tasks) for at in range(len(task.operations))]
        for run, tasks in enumerate(runs)
    ]
    places = {key: at for at, key in enumerate(order.merged(owned))}
    operations = [_moved(runs[run], (run, number, at), places) for run, number, at in places]
    queues = [_queues(tasks, run) for run, tasks in enumerate(runs)]
    chains: dict[EngineId, tuple[int, ...]] = {}
    for engine in dict.fromkeys(engine for queue in queues for engine in queue):
        chains[engine] = tuple(places[key] for key in order.merged(queue[engine] for queue in queues))
    if order is Order.LAYER:
        _keep_weights(operations, chains.get(EngineId.CONV, ()), config)
    return HardwareTask(tuple(operations), chains, counts=any(task.counts for tasks in runs for task in tasks))


_Key = tuple[int, int, int]
"""Numbers of a run, of its task and of an operation."""


def _moved(tasks: Sequence[HardwareTask], key: _Key, places: Mapping[_Key, int]) -> Operation:
    """Return an operation with a name of its own and the new numbers of all that it refers to."""
    run, number, at = key
    operation = tasks[number].operations[at]
    edges = [replace(edge, producer=places[run, number, edge.producer]) for edge in operation.edges]
    if number:
        before = tasks[number - 1].chains.values()
        edges += [Edge(places[run, number - 1, chain[-1]], Event.COMPLETED) for chain in before]
    parent = None if operation.parent is None else places[run, number, operation.parent]
    return replace(operation, name=f"n{run}_t{number}_{operation.name}", edges=tuple(edges), parent=parent)


def _queues(tasks: Sequence[HardwareTask], run: int) -> dict[EngineId, list[_Key]]:
    """Return what each engine has to do in a run."""
    found: dict[EngineId, list[_Key]] = {}
    for number, task in enumerate(tasks):
        for engine, chain in task.chains.items():
            found.setdefault(engine, []).extend((run, number, at) for at in chain)
    return found


def _keep_weights(operations: list[Operation], chain: Sequence[int], config: HwConfig) -> None:
    """Change the flags of convolutions to what the buffer holds now that others run between them.

    Lines that one leaves for the next of its run are fetched again. Weights are kept where all of them fit.
    """
    registers = RegisterMap.of(config)

    def field(operation: Operation, unit: str, register: str, name: str) -> int:
        found = registers.register(unit, register).field(name)
        return (operation.words[unit][register] & found.mask) >> found.lsb

    def kept(one: Operation, other: Operation) -> bool:
        weights = [operation.words["CDMA"] for operation in (one, other)]
        room = bank_bytes(config, field(one, "CDMA", "D_BANK", "weight_bank") + 1)
        whole = weights[0]["D_WEIGHT_BYTES"] <= room and not weights[0]["D_WEIGHT_FORMAT"]
        return whole and all(weights[0][name] == weights[1][name] for name in _WEIGHTS)

    for number in chain:
        operation = operations[number]
        lines = field(operation, "CSC", "D_DATAIN_SIZE_EXT_0", "datain_height_ext")
        if field(operation, "CDMA", "D_DATAIN_SIZE_0", "datain_height") != lines:
            raise NetworkError(f"--schedule must be image: {operation.name} goes on with lines of the layer before")
        flags = dict.fromkeys(("data_reuse", "weight_reuse", "skip_data_rls", "skip_weight_rls"), 0)
        operations[number] = _flagged(operation, flags, registers)
    for before, number in pairwise(chain):
        if kept(operations[before], operations[number]):
            operations[before] = _flagged(operations[before], {"skip_weight_rls": 1}, registers)
            operations[number] = _flagged(operations[number], {"weight_reuse": 1}, registers)


def _flagged(operation: Operation, flags: Mapping[str, int], registers: RegisterMap) -> Operation:
    """Return a convolution with fields of ``D_MISC_CFG`` in both units that have them."""
    words: dict[str, Words] = dict(operation.words)
    for unit in ("CDMA", "CSC"):
        register, word = registers.register(unit, "D_MISC_CFG"), words[unit]["D_MISC_CFG"]
        for name, value in flags.items():
            word = with_field(register, word, name, value)
        words[unit] = {**words[unit], "D_MISC_CFG": word}
    return replace(operation, words=words)
