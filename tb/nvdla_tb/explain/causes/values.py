"""Causes that change single values on their way: bits, bytes, signs; of the output, the input and the operands.

FP16 numbers have their own: denormals, infinities, NaN, signs of zero, rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from nvdla_models.errors import InputError
from nvdla_tb.explain.cause import Cause, Kinds, Way, of_kinds
from nvdla_tb.explain.causes import reach
from nvdla_tb.explain.engines import Run
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.walk import Cube, CubeMap, WildWalk, in_atoms


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


def _with_bit(change: Callable[[Cube, Any], Cube], bit: int, cube: Cube) -> Cube:
    bits = _bits(cube)
    changed: Cube = change(bits, _mask(bit, bits))
    return changed.view(cube.dtype)


_flipped = partial(_with_bit, np.bitwise_xor)
_STUCK: tuple[Callable[[Cube, Any], Cube], ...] = (lambda bits, mask: bits & ~mask, np.bitwise_or)
"""At 0 and at 1."""


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


def _maps(itemsize: int, per_atom: int) -> Iterator[tuple[str, str, CubeMap]]:
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
        for number, stuck in enumerate(_STUCK):
            yield "stuck-bit", f"bit {bit} of every element stuck at {number}", partial(_with_bit, stuck, bit)
        yield "flipped-bit", f"bit {bit} of every element inverted", partial(_flipped, bit)
    yield "zero", "every element 0", np.zeros_like
    for lane in range(per_atom):
        yield "stuck-lane", f"channel {lane} of every atom 0", partial(_stuck_lane, lane, per_atom)


def _ways(walks: Callable[[Run], reach.Named], run: Run) -> Kinds:
    for name, walk in walks(run):
        for kind, detail, change in _maps(walk.value.dtype.itemsize, walk.value.atom_elements):
            is_output = walk.value is run.dst
            output = partial(replace, run, values=(*run.values, change))
            yield kind, reach.said(name, detail), output if is_output else walk.other(twist=change)


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
    for end, about, walks, bits in (
        ("dst", "output", reach.output, 9.0),
        ("src", "input", reach.inputs, 9.5),
        ("operand", "operands", reach.operands, 9.5),
    ):
        kinds = {kind: f"{about}: {fault}" for kind, fault in _KINDS.items()}
        causes = of_kinds(end, kinds, partial(_ways, walks), reruns=end != "dst")
        for kind, cause in zip(kinds, causes, strict=True):
            cost = _ZERO_BITS if kind == "zero" and end != "operand" else bits
            yield replace(cause, cost_bits=cost, symptom=kind in _LOOKS)
    yield Cause("dst-constant", "output: a constant too much", _constant, cost_bits=10.0, symptom=True)


CAUSES = tuple(_catalogue())


_SIGN, _MAGNITUDE, _INFINITY, _LARGEST, _SMALLEST_NORMAL = 0x8000, 0x7FFF, 0x7C00, 0x7BFF, 0x0400


def _patterns(change: CubeMap) -> CubeMap:
    """Make a change of bit patterns one of FP16 numbers."""
    return lambda cube: change(np.ascontiguousarray(cube).view("<u2")).astype("<u2").view(cube.dtype)


def _is_denormal(bits: Cube) -> Cube:
    return (bits & _MAGNITUDE) < _SMALLEST_NORMAL


def _is_nan(bits: Cube) -> Cube:
    return (bits & _MAGNITUDE) > _INFINITY


def _with_magnitude(old: int, new: int, bits: Cube) -> Cube:
    return np.where((bits & _MAGNITUDE) == old, (bits & _SIGN) | new, bits)


_FLUSHED: dict[str, CubeMap] = {
    "flushed to zero": lambda bits: np.where(_is_denormal(bits), bits & _SIGN, bits),
    "flushed to +0": lambda bits: np.where(_is_denormal(bits), 0, bits),
}

_FLOAT_CHANGES: tuple[tuple[str, str, CubeMap], ...] = (
    *(("denormal", detail, change) for detail, change in _FLUSHED.items()),
    ("infinity", "instead of ±65504", partial(_with_magnitude, _LARGEST, _INFINITY)),
    ("infinity", "clipped to ±65504", partial(_with_magnitude, _INFINITY, _LARGEST)),
    ("nan", "replaced by 0", lambda bits: np.where(_is_nan(bits), 0, bits)),
    ("nan", "without payload", lambda bits: np.where(_is_nan(bits), 0x7E00, bits)),
    ("nan", "without sign", lambda bits: np.where(_is_nan(bits), bits & _MAGNITUDE, bits)),
    ("zero", "lost", lambda bits: np.where(bits == _SIGN, 0, bits)),
    ("last-place", "last bit cut off", lambda bits: bits & 0xFFFE),
)


def _float_output(run: Run) -> Kinds:
    if run.dst.dtype.kind == "f":
        for kind, detail, change in _FLOAT_CHANGES:
            yield kind, detail, partial(replace, run, values=(*run.values, _patterns(change)))


def _float_inputs(evidence: Evidence, run: Run) -> Iterator[Way]:
    for detail, change in _FLUSHED.items():
        for name, walk in (*reach.inputs(run), *reach.operands(run)):
            if walk.value.dtype.kind == "f":
                whose = f"operands of {name}" if name else "input"
                yield Way(f"of the {whose} {detail}", walk.other(twist=_patterns(change)))


_FLOAT_KINDS = {
    "denormal": "FP16: denormals",
    "infinity": "FP16: infinity",
    "nan": "FP16: NaN",
    "zero": "FP16: sign of zero",
    "last-place": "FP16: rounding",
}

FLOAT_CAUSES = (
    *of_kinds("fp16", _FLOAT_KINDS, _float_output, reruns=False),
    Cause("fp16-denormal-inputs", "FP16: denormals", _float_inputs, reruns=True),
)
