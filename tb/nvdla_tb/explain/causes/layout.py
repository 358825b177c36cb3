"""Causes in how cubes lie in memory: strides, addresses, atoms, order of axes; of the input and of the output."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from math import lgamma, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.explain.build import AnyLayer, OtherLayer
from nvdla_tb.explain.cause import Cause, Way
from nvdla_tb.explain.causes import reach
from nvdla_tb.explain.engines import Run
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.walk import Cube, Walk, WildWalk, in_atoms

Moves = Callable[[Evidence, Run, Walk], Iterator[tuple[str, Walk]]]

_FOUND_BITS = 8.0
"""Bits that a value costs when it comes from the evidence."""

_SMALL = (1, 2, 3, 4, 8)
_MOST_PLACES = 4
_POWERS = (8, 16, 32, 64, 128, 256, 4096)


def _strides(step: int, others: dict[str, int], unit: int) -> dict[int, str]:
    """Return values that a stride may have instead, with what each is."""
    found = {0: "0", **{value: name for name, value in others.items()}}
    for count in _SMALL:
        for sign, word in ((1, "too large"), (-1, "too small")):
            found.setdefault(step + sign * count * unit, f"{count} atom{'s' * (count > 1)} {word}")
    for power in _POWERS:
        found.setdefault(step + power, f"{power} bytes too large")
        found.setdefault(step - power, f"{power} bytes too small")
    found.setdefault(2 * step, "twice as large")
    if step % 2 == 0:
        found.setdefault(step // 2, "half as large")
    found.pop(step, None)
    return {value: name for value, name in found.items() if value >= 0}


def _other_strides(axis: int, evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield walks with other strides of surfaces, axis 0, or of lines, axis 1."""
    if walk.counts[axis] == 1:
        return
    surface, line, atom = walk.steps
    others = {f"that {whose}": other.steps[axis] for whose, other in _earlier_walks(evidence, run, walk)}
    others |= (
        {
            "that of packed surfaces": walk.shape[1] * line,
            "that of packed lines and surfaces": walk.shape[1] * walk.shape[2] * atom,
            "one line too much": surface + line,
            "one line too little": surface - line,
            "the line stride": line,
        },
        {"that of packed lines": walk.shape[2] * atom, "the surface stride": surface},
    )[axis]
    others |= {f"that of {name}": other.steps[axis] for name, other in _other_walks(run, walk)}
    for value, what in _strides(walk.steps[axis], others, atom).items():
        yield f"{value} bytes instead of {walk.steps[axis]}, {what}", walk.with_step(axis, value)


def _bases(evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield walks from other addresses."""
    surface, line, atom = walk.steps
    size = walk.dtype.itemsize
    units = {"element": size, "atom": atom, "line": line, "surface": surface, "byte": 1}
    moves = {sign * value: f"one {name} {word}" for name, value in units.items() for sign, word in _SIGNS}
    for power in (*_POWERS[2:], 512, 1024, 2048):
        for sign, word in _SIGNS:
            moves.setdefault(sign * power, f"{power} bytes {word}")
    for name, other in _other_walks(run, walk):
        moves.setdefault(other.address - walk.address, f"the address of {name}")
    for number, layer in enumerate(reversed(evidence.before[-2:]), start=1):
        for end, address in _addresses(layer):
            moves.setdefault(address - walk.address, f"the {end} of {number} layer{'s' * (number > 1)} before")
    moves.pop(0, None)
    for nbytes, what in moves.items():
        yield f"{walk.address + nbytes:#x} instead of {walk.address:#x}, {what}", walk.moved(nbytes)


def _axes(evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield walks whose axes are swapped."""
    surface, line, atom = walk.steps
    channels, height, width = walk.shape
    size = walk.dtype.itemsize
    area = height * width
    yield "W and H swapped, packed", walk.stepped(surface, atom, height * atom)
    yield "W and H swapped", walk.stepped(surface, atom, line)
    yield "planes of one channel each", replace(walk, atom_elements=1, steps=(area * size, width * size, size))
    whole = channels * size
    yield "all channels of a pixel together", replace(walk, atom_elements=channels, steps=(0, width * whole, whole))
    yield "surfaces side by side in a line", walk.stepped(atom, walk.surfaces * width * atom, walk.surfaces * atom)
    yield "surfaces interleaved by lines", walk.stepped(width * atom, walk.surfaces * width * atom, atom)


def _orders(evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield walks that go backwards."""
    for axis, (name, count) in enumerate(zip(("surfaces", "lines", "columns"), walk.counts, strict=True)):
        if count > 1:
            step = walk.steps[axis]
            yield f"last of the {name} first", walk.moved(step * (count - 1)).with_step(axis, -step)


def _atoms(evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield walks with the atoms of other configurations."""
    _, height, width = walk.shape
    right = walk.atom_bytes
    for nbytes in (8, 16, 32, 64):
        if nbytes != right and nbytes >= walk.dtype.itemsize:
            elements = nbytes // walk.dtype.itemsize
            packed = replace(walk, atom_elements=elements, steps=(height * width * nbytes, width * nbytes, nbytes))
            yield f"{nbytes} bytes instead of {right}", packed
            kept = replace(walk, atom_elements=elements, steps=(*walk.steps[:2], nbytes))
            yield f"{nbytes} bytes instead of {right}, strides as they are", kept


def _columns(evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield walks with another distance of columns."""
    atom = walk.steps[2]
    if walk.shape[2] > 1:
        for value in (0, atom // 2, 2 * atom, atom + 8, atom + 32, walk.dtype.itemsize):
            if value != atom:
                yield f"{value} bytes instead of {atom}", walk.stepped(column=value)


def _sizes(evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield walks through elements of another size."""
    for dtype, name in ((np.dtype("i1"), "1 byte"), (np.dtype("<i2"), "2 bytes")):
        if dtype.itemsize != walk.dtype.itemsize:
            elements = max(1, walk.atom_bytes // dtype.itemsize)
            yield f"{name} an element", replace(walk, dtype=dtype, atom_elements=elements)
            yield f"{name} an element, as many in an atom", replace(walk, dtype=dtype)


def _other_walks(run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    named = [("the output", run.dst), ("the input", reach.source(run))]
    for name, other in [
        *named,
        *((f"the operands of {name.lower()}", part.value) for name, part in reach.operands(run)),
    ]:
        if other is not None and other != walk:
            yield name, other


def _earlier_walks(evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    """Yield the walks of earlier layers, of two with the same strides the nearest last."""
    for whose, other in reversed(list(reach.earlier(evidence))):
        found = other.dst if walk is run.dst else reach.source(other)
        if found is not None:
            yield whose, found


def _addresses(layer: AnyLayer) -> Iterator[tuple[str, int]]:
    if isinstance(layer, OtherLayer):
        yield "result", layer.address
        return
    yield "destination", layer.dst.address
    address = getattr(layer.src, "address", None)
    if address is not None:
        yield "source", address


_SIGNS = ((1, "too far"), (-1, "too early"))


def _padding_of_output(evidence: Evidence, run: Run) -> Iterator[Way]:
    walk, channels = run.dst, evidence.channels
    if channels == walk.shape[0]:
        return
    whole = channels * walk.dtype.itemsize
    real = replace(walk, shape=(channels, *walk.shape[1:]), atom_elements=channels)
    cut = (*run.order, lambda cube: cube[:channels])
    for line, lines in ((walk.shape[2] * whole, ""), (walk.steps[1], ", lines as they are")):
        make = partial(replace, run, dst=replace(real, steps=(0, line, whole)), order=cut)
        yield Way(f"all channels of a pixel together{lines}", make)
    cleared = (*run.order, lambda cube: np.concatenate([cube[:channels], np.zeros_like(cube[channels:])]))
    yield Way("0 instead of the result", partial(replace, run, order=cleared))


def _same_difference(axis: int, evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield the same difference of a stride in the input, the operands and the output."""
    if reach.source(run) is None:
        return
    differences = dict.fromkeys([*(count * run.dst.atom_bytes for count in _SMALL), *_POWERS[1:]])
    # Steps that are too small put elements on each other, which beats tell.
    signs = (1,) if evidence.beats is not None and not evidence.rewritten else (1, -1)
    for difference in (sign * value for value in differences for sign in signs):
        word = "too large" if difference > 0 else "too small"
        yield Way(f"{abs(difference)} bytes {word}", partial(_everywhere, run, axis, difference))


def _everywhere(run: Run, axis: int, difference: int) -> Run:
    for _, walk in [*reach.inputs(run), *reach.operands(run), *reach.output(run)]:
        moved = walk.value.with_step(axis, walk.value.steps[axis] + difference)
        run = reach.changed(run, walk.path, {"steps": moved.steps})
    return run


def _of_output(name: str, moves: Moves, evidence: Evidence, run: Run) -> Iterator[Way]:
    for detail, walk in moves(evidence, run, run.dst):
        yield Way(detail, partial(replace, run, dst=walk))
    if name in _FOUND:
        yield from _FOUND[name](evidence, run)


def _of_input(moves: Moves, evidence: Evidence, run: Run) -> Iterator[Way]:
    for _, walk in reach.inputs(run):
        for detail, other in moves(evidence, run, walk.value):
            yield Way(detail, walk.put(other))


def _found_stride(axis: int, evidence: Evidence, run: Run) -> Iterator[Way]:
    """Look for the second surface or line of the output where it lies now."""
    walk = run.dst
    if walk.shape != evidence.walk.shape or walk.counts[axis] == 1:
        return
    line = walk.shape[2] * walk.atom_bytes
    second = walk.address + walk.steps[axis] - evidence.expected.address
    for address in _places(evidence, evidence.expected.data[second : second + line].tobytes()):
        step = address - walk.address
        make = partial(replace, run, dst=walk.with_step(axis, step))
        yield Way(f"{step} bytes instead of {walk.steps[axis]}", make, _FOUND_BITS)


def _found_base(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Look for the first line of the output where it lies now."""
    walk = run.dst
    if walk.shape != evidence.walk.shape:
        return
    line = walk.shape[2] * walk.atom_bytes
    try:
        needle = walk.rows(slice(0, 1)).write(evidence.cube[:, :1]).data[:line].tobytes()
    except WildWalk:
        return
    for address in _places(evidence, needle):
        moved = partial(replace, run, dst=walk.moved(address - walk.address))
        yield Way(f"{address:#x} instead of {walk.address:#x}", moved, _FOUND_BITS)


_FOUND: dict[str, Callable[[Evidence, Run], Iterator[Way]]] = {
    "surface-stride": partial(_found_stride, 0),
    "line-stride": partial(_found_stride, 1),
    "base": _found_base,
}


def _places(evidence: Evidence, needle: bytes) -> Iterator[int]:
    """Yield addresses at which bytes lie that are no mere repetition."""
    if len(set(needle)) < 4:
        return
    raw, at = evidence.actual.data.tobytes(), -1
    for _ in range(_MOST_PLACES):
        at = raw.find(needle, at + 1)
        if at < 0:
            return
        yield evidence.actual.address_of(at)


def lanes_moved(name: str, per_atom: int, cube: Cube) -> Cube:
    """Return a cube with its channels in other places, as ``LANES`` names them."""
    return LANES[name](cube, per_atom).reshape(cube.shape)


def _twisted(name: str, evidence: Evidence, run: Run, walk: Walk) -> Iterator[tuple[str, Walk]]:
    yield name, replace(walk, twist=partial(lanes_moved, name, walk.atom_elements))


def _lanes(evidence: Evidence, run: Run) -> Iterator[Way]:
    for name in LANES:
        order = (*run.order, partial(lanes_moved, name, run.dst.atom_elements))
        yield Way(name, partial(replace, run, order=order))


def _on_the_bus(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Look for the order of bytes that turns every expected atom, or part of it, into the one that was written."""
    walk, got = run.dst, evidence.got
    if _atoms_of(walk) != _atoms_of(evidence.walk) or not got.mask[evidence.expected.mask].all():
        return
    try:
        there, right = (_raw(cube, walk.atom_elements) for cube in (walk.read_patch(got), evidence.cube))
    except WildWalk:
        return
    for nbytes in (8, 16, 32, 64):
        if walk.atom_bytes % nbytes == 0:
            lanes = _permutation(right.reshape(-1, nbytes), there.reshape(-1, nbytes))
            if lanes is not None:
                detail = f"bytes {' '.join(map(str, lanes))} of every {nbytes} in the places of 0 to {nbytes - 1}"
                order = partial(_permuted, lanes=lanes, per_atom=walk.atom_elements)
                yield Way(detail, partial(replace, run, order=(*run.order, order)), lgamma(nbytes + 1) / log(2))


def _atoms_of(walk: Walk) -> tuple[tuple[int, int, int], int, np.dtype[Any]]:
    return walk.shape, walk.atom_elements, walk.dtype


def _raw(cube: Cube, per_atom: int) -> NDArray[np.uint8]:
    """Return the bytes of all atoms, (surface, line, column, byte)."""
    return np.ascontiguousarray(np.moveaxis(in_atoms(cube, per_atom), 1, 3)).view(np.uint8)


def _permutation(right: NDArray[np.uint8], there: NDArray[np.uint8]) -> tuple[int, ...] | None:
    """Return which byte of every right word lies in each place, or None when no order of bytes makes it so."""
    free = list(range(right.shape[1]))
    lanes = []
    for place in range(right.shape[1]):
        same = [lane for lane in free if np.array_equal(right[:, lane], there[:, place])]
        if not same:
            return None
        lanes.append(place if place in same else same[0])
        free.remove(lanes[-1])
    return tuple(lanes)


def _permuted(cube: Cube, lanes: tuple[int, ...], per_atom: int) -> Cube:
    raw = _raw(cube, per_atom)
    moved = np.ascontiguousarray(raw.reshape(-1, len(lanes))[:, list(lanes)]).reshape(raw.shape).view(cube.dtype)
    return np.moveaxis(moved, 3, 1).reshape(cube.shape)


def _pairs_swapped(atoms: Cube) -> Cube:
    """Swap atoms 2n and 2n + 1 of the last axis; the last of an odd number stays."""
    pairs = atoms.shape[-1] // 2 * 2
    moved = atoms.copy()
    moved[..., 0:pairs:2], moved[..., 1:pairs:2] = atoms[..., 1:pairs:2], atoms[..., 0:pairs:2]
    return moved


LANES: dict[str, Callable[[Cube, int], Cube]] = {
    "channels reversed inside atoms": lambda cube, per_atom: in_atoms(cube, per_atom)[:, ::-1],
    "channels one too far inside atoms": lambda cube, per_atom: np.roll(in_atoms(cube, per_atom), 1, axis=1),
    "channels one too far": lambda cube, _: np.roll(cube, 1, axis=0),
    "neighbouring channels swapped": lambda cube, per_atom: in_atoms(cube, 1 + (per_atom % 2 == 0))[:, ::-1],
    "halves of atoms swapped": lambda cube, per_atom: np.roll(in_atoms(cube, per_atom), per_atom // 2, axis=1),
    "neighbouring atoms of a line swapped": lambda cube, _: _pairs_swapped(cube),
    "neighbouring atoms of a surface swapped": lambda cube, _: _pairs_swapped(cube.reshape(len(cube), -1)),
}
"""Faults of lanes, from a cube and the channels of an atom to its channels, or its atoms, in other places."""

MOVES: dict[str, tuple[str, Moves]] = {
    "line-stride": ("wrong line stride", partial(_other_strides, 1)),
    "surface-stride": ("wrong surface stride", partial(_other_strides, 0)),
    "base": ("wrong start address", _bases),
    "axes": ("wrong order of axes", _axes),
    "order": ("wrong direction", _orders),
    "atom": ("atom of another configuration", _atoms),
    "column-step": ("wrong distance of columns", _columns),
    "element-size": ("wrong element size", _sizes),
}
"""By the end of the names of causes, the fault in words, and what it may make of a walk."""


def _catalogue() -> Iterator[Cause]:
    for key, (about, moves) in MOVES.items():
        yield Cause(f"dst-{key}", f"output: {about}", partial(_of_output, key, moves))
        yield Cause(f"src-{key}", f"input: {about}", partial(_of_input, moves), reruns=True)
    yield Cause("dst-channel-padding", "output: channel padding missing", _padding_of_output)
    yield Cause("dst-lanes", "output", _lanes)
    yield Cause("bus-lanes", "output: byte lanes permuted", _on_the_bus)
    for name in LANES:
        key = "src-lanes-" + name.replace(" ", "-")
        yield Cause(key, "input", partial(_of_input, partial(_twisted, name)), reruns=True, cost_bits=9.0)
    for axis, name in enumerate(("surface", "line")):
        about = f"wrong {name} stride of every cube"
        yield Cause(f"every-{name}-stride", about, partial(_same_difference, axis), reruns=True)


CAUSES = tuple(_catalogue())
