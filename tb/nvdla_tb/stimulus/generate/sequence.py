"""From layers to one program: register groups in turn, and what has to wait for what."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_tb.nvdla.engines import ENGINES, chain_of
from nvdla_tb.nvdla.layers import CdpLayer, Layer
from nvdla_tb.nvdla.program.codec import encode, uses_lut
from nvdla_tb.nvdla.program.ops import CheckNothing, Comparison, Op, Poll, RegRead, RegWrite, SyncWait
from nvdla_tb.nvdla.program.state import GROUPS
from nvdla_tb.nvdla.timed import TIMED

_COUNTS_CYCLES = 1
"""The bit of ``D_PERF_ENABLE`` that lets any unit count cycles."""

_LAYERS_THAT_COUNT = 2
"""How many layers of a unit count cycles before one that does not."""

_MANY_STALLS = 1000
"""Cycles that a counter must show while memory is rarely ready: a small part of those that the ports see."""

_ENABLES = {unit: word for engine in ENGINES for unit, word in engine.counting.items()}
_COUNTERS = {unit: registers for engine in ENGINES for unit, registers in engine.counters.items()}
"""Registers whose values or bounds are known, by unit."""


def sequence(
    layers: Sequence[Layer],
    config: HwConfig,
    *,
    in_turn: bool,
    counters: bool = False,
    stalls: str = "",
    ignored: np.random.Generator | None = None,
) -> tuple[Op, ...]:
    """Return the program that runs layers; each unit takes turns with its register groups on its own.

    A layer that reads what an earlier one writes is enabled when that one is done.

    Args:
        layers: In the order of their programming.
        config: The configuration they run on.
        in_turn: True programs a layer only when the one before is done; False as soon as the register
            groups of its units are free, so that both groups and several units work at once. A layer with
            lookup tables waits for the one before it on its unit, and the one after it waits, too: both
            groups share the tables and their registers. It waits as others do when these tables are there already.
        counters: Whether to read the statistics of both register groups when a layer has ended, before the next
            one's program. Every third layer of a unit counts no cycles.
        stalls: READ or WRITE, whose stalls must be many after each layer that counts them.
        ignored: What fields hold that a layer does not use; without it their values after reset.
    """
    ops: list[Op] = []
    by_unit: dict[str, list[int]] = {}
    writers: dict[object, int] = {}
    for number, layer in enumerate(layers):
        units = chain_of(layer).units
        groups = {}
        keeps = False
        for unit in units:
            history = by_unit.setdefault(unit, [])
            before = layers[history[-1]] if history else None
            keeps = not in_turn and before is not None and _have_same_tables(before, layer)
            waits = uses_lut(layer) or (before is not None and uses_lut(before))
            depth = 1 if waits and not keeps else GROUPS
            groups[unit] = len(history) % GROUPS
            awaited = number - 1 if in_turn else (history[-depth] if len(history) >= depth else -1)
            if awaited >= 0:
                ops.append(SyncWait(unit, _name(awaited)))
            history.append(number)
        body = encode(layer, config, groups, sync_id=_name(number), loads_tables=not keeps, ignored=ignored)
        producer = writers.get(layer.src)
        writers[layer.dst] = number
        if producer is not None and not in_turn:
            body = _before_enables(body, [SyncWait(unit, _name(producer)) for unit in units])
        if counters:
            counted = [unit for unit in units if unit in _COUNTERS]
            body = _before_enables(body, [_enable(unit, len(by_unit[unit])) for unit in counted if unit in _ENABLES])
            for unit in counted:
                body = (*body, SyncWait(unit, _name(number)), *_reads(unit, groups[unit]))
                if stalls and unit in TIMED and _counts(len(by_unit[unit])):
                    body = (*body, *_polls(unit, groups[unit], layer, stalls))
        ops += [*body, CheckNothing(_name(number))]
    return tuple(ops)


def _have_same_tables(before: Layer, layer: Layer) -> bool:
    """Return whether a layer of CDP keeps the very tables of the one before it."""
    return isinstance(before, CdpLayer) and isinstance(layer, CdpLayer) and before.params.lut is layer.params.lut


def _before_enables(body: tuple[Op, ...], ops: Sequence[Op]) -> tuple[Op, ...]:
    """Return a layer's program with more before its units are enabled."""
    if not ops:
        return body
    first = next(n for n, op in enumerate(body) if isinstance(op, RegWrite) and "D_OP_ENABLE" in op.register)
    return (*body[:first], *ops, *body[first:])


def _name(number: int) -> str:
    """Return the sync id that is raised when a layer is done."""
    return f"layer_{number}"


def _enable(unit: str, layers: int) -> RegWrite:
    """Return the write that lets a unit count for the last of its layers."""
    return RegWrite(f"{unit}.D_PERF_ENABLE", _ENABLES[unit] & ~(0 if _counts(layers) else _COUNTS_CYCLES))


def _counts(layers: int) -> bool:
    """Return whether the last of so many layers of a unit counts cycles."""
    return layers % (_LAYERS_THAT_COUNT + 1) != 0


def _reads(unit: str, group: int) -> Iterator[Op]:
    """Yield reads of what a unit has counted, in the group of the layer that ended and in the other one."""
    for which in (group, 1 - group):
        yield RegWrite(f"{unit}.S_POINTER", which)
        yield from (RegRead(f"{unit}.{register}") for register in _COUNTERS[unit])


def _polls(unit: str, group: int, layer: Layer, stalls: str) -> Iterator[Op]:
    """Yield polls for stalls that a unit has counted in a layer, as far as the layer uses what is counted."""
    yield RegWrite(f"{unit}.S_POINTER", group)
    for register, used in TIMED[unit].registers.items():
        if register.endswith(f"_{stalls}_STALL") and used(layer):
            yield Poll(f"{unit}.{register}", _MANY_STALLS, Comparison.NOT_LESS)
