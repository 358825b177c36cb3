"""Programs that write fewer registers than a layer needs, each more than once, or writes that wait for an answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from nvdla_tb.nvdla.program.ops import Op, RegRead, RegWrite
from nvdla_tb.nvdla.program.state import GROUPS

_POINTER, _ENABLE = "S_POINTER", "D_OP_ENABLE"
_READ = "GLB.S_INTR_MASK"
"""A register that every device has, and that may be read at any time."""


def without_kept(ops: Sequence[Op]) -> Iterator[Op]:
    """Yield a program without the writes of registers whose group has the value already, from a layer before."""
    groups: dict[str, int] = {}
    held: dict[tuple[str, int], int] = {}
    for op in ops:
        if isinstance(op, RegWrite) and _is_pointer(op):
            groups[_unit(op)] = op.value
        elif isinstance(op, RegWrite) and _is_of_a_group(op):
            place = op.register, groups.get(_unit(op), 0)
            if held.get(place) == op.value:
                continue
            held[place] = op.value
        yield op


def with_other_words_before(ops: Sequence[Op], rng: np.random.Generator) -> Iterator[Op]:
    """Yield a program that writes any words to registers before it writes what a layer needs.

    Both groups of all units begin with such words, so that one differs from the other in every register while the
    first layer runs. Later layers have theirs written while the other group may run.
    """
    bodies = _bodies(ops)
    firsts: dict[str, dict[int, list[str]]] = {}
    for at, registers in bodies.items():
        pointer = ops[at]
        assert isinstance(pointer, RegWrite)
        firsts.setdefault(_unit(pointer), {}).setdefault(pointer.value, registers)
    start = min(bodies, default=0)
    begun: set[tuple[str, int]] = set()
    for at, op in enumerate(ops):
        if at == start:
            for unit, of_group in firsts.items():
                for group in range(GROUPS):
                    yield RegWrite(f"{unit}.{_POINTER}", group)
                    yield from _words(of_group.get(group, next(iter(of_group.values()))), rng)
        yield op
        if at in bodies and isinstance(op, RegWrite):
            place = _unit(op), op.value
            if place in begun:
                yield from _words(bodies[at], rng)
            begun.add(place)


def with_answers(ops: Sequence[Op], share: float, rng: np.random.Generator) -> Iterator[Op]:
    """Yield a program in which this share of the writes are not posted, and as many follow a read at once."""
    for op in ops:
        if isinstance(op, RegWrite):
            if rng.random() < share:
                yield RegRead(_READ)
            yield replace(op, posted=bool(rng.random() >= share))
        else:
            yield op


def _bodies(ops: Sequence[Op]) -> dict[int, list[str]]:
    """Return the registers that are written right after each pointer of a unit, by the place of the pointer."""
    found = {}
    for at, op in enumerate(ops):
        if isinstance(op, RegWrite) and _is_pointer(op):
            unit = _unit(op)
            own = takewhile(lambda each: isinstance(each, RegWrite) and not _is_pointer(each), ops[at + 1 :])
            registers = [
                each.register
                for each in own
                if isinstance(each, RegWrite) and _is_of_a_group(each) and _unit(each) == unit
            ]
            if registers:
                found[at] = registers
    return found


def _words(registers: Sequence[str], rng: np.random.Generator) -> Iterator[RegWrite]:
    for register in registers:
        yield RegWrite(register, int(rng.integers(0, 1 << 32)))


def _unit(op: RegWrite) -> str:
    return op.register.partition(".")[0]


def _is_pointer(op: RegWrite) -> bool:
    return op.register.endswith(f".{_POINTER}")


def _is_of_a_group(op: RegWrite) -> bool:
    name = op.register.partition(".")[2]
    return name.startswith("D_") and name != _ENABLE
