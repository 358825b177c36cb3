"""Causes in control and the memory system: lost, doubled, reordered and partial writes; answers out of order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.explain.cause import Cause, Way
from nvdla_tb.explain.causes import reach
from nvdla_tb.explain.engines import Run, Touch
from nvdla_tb.explain.evidence import Evidence
from nvdla_tb.explain.memory import MaskArray
from nvdla_tb.explain.walk import Cube, CubeMap, in_atoms

Shape = tuple[int, int, int]

_FEWEST_BITS = 3
"""Of a size: fewer would be a fault that every layer shows."""


def _but(axis: int, cut: slice, per: int, shape: Shape) -> MaskArray:
    """Return all elements but those of some runs of ``per`` places along an axis."""
    kept = np.ones(-(-shape[axis] // per), dtype=np.bool_)
    kept[cut] = False
    along = np.repeat(kept, per)[: shape[axis]]
    return np.broadcast_to(along.reshape([-1 if number == axis else 1 for number in range(3)]), shape)


def _lost(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield regular parts of the surface that are not written, unless what is missing went to another place."""
    if _went_elsewhere(evidence, run):
        return
    per_atom = run.dst.atom_elements
    for axis, name, per in ((0, "surface", per_atom), (1, "line", 1), (2, "column", 1)):
        cuts = {f"last {name}": slice(-1, None), f"first {name}": slice(0, 1)}
        if axis:
            cuts |= {f"even {name}s": slice(0, None, 2), f"odd {name}s": slice(1, None, 2)}
        for what, cut in cuts.items():
            yield _without(f"{what} never written", run, partial(_but, axis, cut, per))
    yield _without("nothing written", run, partial(_but, 0, slice(None), 1))
    yield _without("last atom never written", run, partial(_atoms_but, [-1], per_atom))
    yield _without("first atom never written", run, partial(_atoms_but, [0], per_atom))


def _narrow(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield sizes of the output of which too few bits are kept, so that the rest of the surface is not written."""
    if _went_elsewhere(evidence, run):
        return
    for axis, name, per in ((0, "surface", run.dst.atom_elements), (1, "line", 1), (2, "column", 1)):
        count = -(-run.dst.shape[axis] // per)
        found: set[int] = {0}
        for bits in reversed(range(_FEWEST_BITS, (count - 1).bit_length())):
            # Registers hold one less than a size; counters may hold the size itself.
            for kept in {((count - 1) & ((1 << bits) - 1)) + 1, count & ((1 << bits) - 1)} - found:
                found.add(kept)
                detail = f"{kept} of {count} {name}s written, as if {bits} bits of their number were kept"
                yield _without(detail, run, partial(_but, axis, slice(kept, None), per))


def _without(detail: str, run: Run, touch: Touch) -> Way:
    return Way(detail, partial(replace, run, touch=touch))


def _went_elsewhere(evidence: Evidence, run: Run) -> bool:
    """Return whether what is missing may have been written to another place, which the run does not say, or later."""
    return evidence.cut or evidence.rewritten or (evidence.strayed and run.dst == evidence.walk)


def _stuck(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield surfaces, or lines, of which all after the second go to its place: the last one stays there."""
    for axis, name, per in ((0, "surface", run.dst.atom_elements), (1, "line", 1)):
        if run.dst.shape[axis] // per > 2:
            touch = partial(_but, axis, slice(2, None), per)
            moved: CubeMap = partial(_overwritten, axis, per)
            written = partial(replace, run, order=(*run.order, moved), touch=touch)
            yield Way(f"every {name} after the second goes to its place", written)


def _overwritten(axis: int, count: int, cube: Cube) -> Cube:
    """Return a cube whose last ``count`` places along an axis lie at its second ones, too."""
    written = np.moveaxis(cube.copy(), axis, 0)
    written[count : 2 * count] = written[len(written) - count :]
    moved: Cube = np.moveaxis(written, 0, axis)
    return moved


def _atoms_but(lost: Sequence[int] | NDArray[np.intp], per_atom: int, shape: Shape) -> MaskArray:
    """Return all elements but those of some atoms, by their number in the order surface, line, column."""
    surfaces = -(-shape[0] // per_atom)
    atoms = np.ones(surfaces * shape[1] * shape[2], dtype=np.bool_)
    atoms[lost] = False
    return np.repeat(atoms.reshape(surfaces, *shape[1:]), per_atom, axis=0)[: shape[0]]


def _singles(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield exactly the atoms that are missing, when there are few: each must be said."""
    if _went_elsewhere(evidence, run):
        return
    walk = evidence.walk
    missing = walk.write(np.zeros(walk.shape, walk.dtype)).mask & ~evidence.got.mask
    atoms = walk.marks(missing).any(axis=3)
    total = atoms.size
    numbers = np.flatnonzero(atoms)
    if 0 < len(numbers) <= total // 2:
        runs = 1 + np.count_nonzero(np.diff(numbers) != 1)
        cost = float(runs * (np.log2(total) + 4.0))
        words = f"{len(numbers)} of {total} atoms never written"
        if runs > 1:
            words += f", in {runs} places"
        yield Way(words, partial(replace, run, touch=partial(_atoms_but, numbers, walk.atom_elements)), cost)


def _strobes(evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield lanes of every atom that are not written."""
    per_atom = run.dst.atom_elements
    half = per_atom // 2
    lanes = {"upper half": range(half, per_atom), "lower half": range(half)}
    lanes |= {f"lane {n}": range(n, n + 1) for n in range(per_atom)}
    lanes |= {f"lanes from {n}": range(n, per_atom) for n in range(1, per_atom)}
    for name, chosen in lanes.items():
        touch = partial(_lanes_but, tuple(chosen), per_atom)
        yield _without(f"{name} of every atom never written", run, touch)
    real = evidence.channels
    if real % per_atom:
        yield _without("padding channels never written", run, partial(_but, 0, slice(real, None), 1))


def _lanes_but(lost: tuple[int, ...], per_atom: int, shape: Shape) -> MaskArray:
    lane = np.ones(per_atom, dtype=np.bool_)
    lane[list(lost)] = False
    lanes = np.tile(lane, -(-shape[0] // per_atom))[: shape[0]]
    return np.broadcast_to(lanes[:, np.newaxis, np.newaxis], shape)


_ALONG = {"surface by surface": (0, 2, 3, 1), "line by line": (2, 0, 3, 1), "pixel by pixel": (2, 3, 0, 1)}
"""Orders in which atoms are moved: axes of surfaces, lines and columns, and then that of an atom's elements."""


def _resequenced(cube: Cube, per_atom: int, along: str, change: CubeMap) -> Cube:
    """Return a cube after a change of the sequence of its atoms, (atoms, elements)."""
    axes = _ALONG[along]
    atoms = in_atoms(cube, per_atom).transpose(axes)
    moved = change(atoms.reshape(-1, per_atom)).reshape(atoms.shape)
    return np.ascontiguousarray(moved.transpose(np.argsort(axes)).reshape(cube.shape))


def _swapped(atoms: Cube) -> Cube:
    even = len(atoms) // 2 * 2
    pairs = atoms[:even].reshape(-1, 2, atoms.shape[1])[:, ::-1].reshape(even, atoms.shape[1])
    return np.concatenate([pairs, atoms[even:]])


_CHANGES: dict[str, CubeMap] = {
    "each atom holds what belongs to the one before": lambda atoms: np.concatenate([atoms[:1], atoms[:-1]]),
    "each atom holds what belongs to the next one": lambda atoms: np.concatenate([atoms[1:], atoms[-1:]]),
    "every second atom repeats the one before": lambda atoms: np.repeat(atoms[::2], 2, axis=0)[: len(atoms)],
    "neighbouring atoms swapped": _swapped,
    "every atom holds the first": lambda atoms: np.broadcast_to(atoms[:1], atoms.shape),
}


def _orders(per_atom: int) -> Iterator[tuple[str, CubeMap]]:
    """Yield what may become of a sequence of atoms, in words and as a change of the cube."""
    for along in _ALONG:
        for name, change in _CHANGES.items():
            yield f"{name}, {along}", partial(_resequenced, per_atom=per_atom, along=along, change=change)


def _reordered(walks: Callable[[Run], reach.Named], evidence: Evidence, run: Run) -> Iterator[Way]:
    for name, walk in walks(run):
        is_output = walk.value is run.dst
        for detail, order in _orders(walk.value.atom_elements) if is_output or run.dst.shape[1] <= _MOST_LINES else ():
            output = partial(replace, run, order=(*run.order, order))
            yield Way(reach.said(name, detail), output if is_output else walk.other(twist=order))


_MOST_LINES = 1 << 9
"""Lines of a surface up to which the order of whole inputs is looked at."""

CAUSES = (
    Cause("dst-narrow-size", "output: its size is kept in too few bits", _narrow),
    Cause("lost-part", "writes lost", _lost, cost_bits=9.0, symptom=True),
    Cause("dst-stuck", "output: the address does not move on", _stuck, cost_bits=9.0),
    Cause("strobe", "partial strobe", _strobes, cost_bits=9.0),
    Cause("lost-write", "writes lost", _singles, cost_bits=10.0, symptom=True),
    Cause("write-order", "output out of order", partial(_reordered, reach.output), False, 9.5, symptom=True),
    Cause("read-order", "input out of order", partial(_reordered, reach.inputs), True, 9.5, symptom=True),
    Cause("operand-order", "operands out of order", partial(_reordered, reach.operands), True, 9.5, symptom=True),
)
