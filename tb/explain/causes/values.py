"""Causes that change single values on their way: bits, bytes, signs; of the output, the input and the operands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from models.errors import InputError
from tb.explain.cause import Cause, Way
from tb.explain.causes import reach
from tb.explain.evidence import Evidence
from tb.explain.run import Run
from tb.explain.walk import Cube, WildWalk, in_atoms

Change = Callable[[Cube], Cube]


def _bits(cube: Cube) -> Cube:
    """View a cube as unsigned numbers of its size."""
    bits: Cube = np.ascontiguousarray(cube).view(f"<u{cube.itemsize}")
    return bits


def _mask(bit: int, bits: Cube) -> np.unsignedinteger[Any]:
    """Return a bit as a number of the elements' type.

    Raises:
        InputError: when they have no such bit, as in a pair with a cause that changes the size of elements.
    """
    if bit >= 8 * bits.itemsize:
        raise InputError(f"bit must be below {8 * bits.itemsize}, not {bit}")
    mask: np.unsignedinteger[Any] = bits.dtype.type(1 << bit)
    return mask


def _stuck(bit: int, one: bool, cube: Cube) -> Cube:
    bits = _bits(cube)
    mask = _mask(bit, bits)
    changed: Cube = np.bitwise_or(bits, mask) if one else np.bitwise_and(bits, ~mask)
    return changed.view(cube.dtype)


def _flipped(bit: int, cube: Cube) -> Cube:
    bits = _bits(cube)
    changed: Cube = np.bitwise_xor(bits, _mask(bit, bits))
    return changed.view(cube.dtype)


def _stuck_lane(lane: int, per_atom: int, cube: Cube) -> Cube:
    changed = cube.copy()
    in_atoms(changed, per_atom)[:, lane] = 0
    return changed


def _low_byte(cube: Cube) -> Cube:
    return _bits(cube).astype(np.uint8).view(np.int8).astype(cube.dtype)


def _nibbles(cube: Cube) -> Cube:
    raw = np.ascontiguousarray(cube).view(np.uint8)
    return ((raw << 4) | (raw >> 4)).view(cube.dtype)


def _reversed_bits(cube: Cube) -> Cube:
    raw = np.ascontiguousarray(cube).view(np.uint8)
    bits = np.unpackbits(raw[..., np.newaxis], axis=-1)[..., ::-1]
    return np.packbits(bits, axis=-1)[..., 0].view(cube.dtype)


def _shifted(step: int, cube: Cube) -> Cube:
    moved: Cube = _bits(cube) + np.array(step, dtype=np.int64).astype(f"<u{cube.itemsize}")
    return moved.view(cube.dtype)


def _negated(cube: Cube) -> Cube:
    if cube.dtype.kind == "f":
        return _flipped(8 * cube.itemsize - 1, cube)
    return (-cube.astype(np.int64)).astype(cube.dtype)


def _maps(itemsize: int, per_atom: int) -> Iterator[tuple[str, str, Change]]:
    """Yield (kind, detail, change) for elements of so many bytes."""
    if itemsize > 1:
        yield "byte-order", "bytes of an element swapped", lambda cube: cube.byteswap()
        yield "narrow", "the low byte alone", _low_byte
    yield "bit-order", "bits of a byte reversed", _reversed_bits
    yield "bit-order", "halves of a byte swapped", _nibbles
    yield "negated", "every element negated", _negated
    yield "negated", "every bit inverted", lambda cube: (~_bits(cube)).view(cube.dtype)
    yield "sign-bit", "sign bit inverted, as of unsigned numbers with an offset", partial(_flipped, 8 * itemsize - 1)
    for step, what in ((1, "one too large"), (-1, "one too small")):
        yield "off-by-one", f"every element {what}", partial(_shifted, step)
    for bit in range(8 * itemsize):
        for one in (False, True):
            yield "stuck-bit", f"bit {bit} of every element stuck at {int(one)}", partial(_stuck, bit, one)
        yield "flipped-bit", f"bit {bit} of every element inverted", partial(_flipped, bit)
    yield "zero", "every element 0", np.zeros_like
    for lane in range(per_atom):
        yield "stuck-lane", f"channel {lane} of every atom 0", partial(_stuck_lane, lane, per_atom)


def _output(kind: str, evidence: Evidence, run: Run) -> Iterator[Way]:
    for found, detail, change in _maps(run.dst.dtype.itemsize, run.dst.atom_elements):
        if found == kind:
            yield Way(detail, partial(replace, run, values=(*run.values, change)))


def _read(walks: Callable[[Run], reach.Named], kind: str, evidence: Evidence, run: Run) -> Iterator[Way]:
    for name, walk in walks(run):
        for found, detail, change in _maps(walk.value.dtype.itemsize, walk.value.atom_elements):
            if found == kind:
                yield Way(reach.said(name, detail), walk.other(twist=change))


def _constant(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield a constant difference, taken from the most frequent one."""
    got, walk = evidence.got, run.dst
    if walk.dtype.kind == "f" or not got.mask.any() or walk.shape != evidence.walk.shape:
        return
    try:
        there = walk.read_patch(got)
    except WildWalk:
        return
    difference = (_bits(there).astype(np.int64) - _bits(evidence.cube)).ravel()
    values, counts = np.unique(difference[difference != 0], return_counts=True)
    if len(values):
        step = int(values[counts.argmax()])
        half = 1 << (8 * walk.dtype.itemsize - 1)
        signed = (step + half) % (2 * half) - half
        yield Way(f"by {signed}", partial(replace, run, values=(*run.values, partial(_shifted, signed))), 8.0)


_KINDS = {
    "byte-order": "wrong byte order",
    "narrow": "wrong element size",
    "bit-order": "wrong bit order",
    "negated": "wrong sign",
    "sign-bit": "wrong sign",
    "off-by-one": "off by one",
    "zero": "zeros",
    "stuck-bit": "stuck bit",
    "flipped-bit": "inverted bit",
    "stuck-lane": "stuck lane",
}

_ZERO_BITS = 7.9
"""Memory that nobody wrote is a simpler reason than an address at which there are zeros."""


_LOOKS = frozenset(("off-by-one", "zero", "stuck-bit", "flipped-bit", "stuck-lane"))
"""Kinds that say what values look like: many faults elsewhere leave them so."""


def _catalogue() -> Iterator[Cause]:
    for end, about, ways, bits in (
        ("dst", "output", _output, 9.0),
        ("src", "input", partial(_read, reach.inputs), 9.5),
        ("operand", "operands", partial(_read, reach.operands), 9.5),
    ):
        for kind, fault in _KINDS.items():
            cost = _ZERO_BITS if kind == "zero" and end != "operand" else bits
            name, is_symptom = f"{end}-{kind}", kind in _LOOKS
            yield Cause(name, f"{about}: {fault}", partial(ways, kind), end != "dst", cost, is_symptom)
    yield Cause("dst-constant", "output: a constant too much", _constant, cost_bits=10.0, symptom=True)


CAUSES = tuple(_catalogue())
