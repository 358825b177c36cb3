"""Causes in what all walks through memory share: the same wrong step in the input, the operands and the output."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from tb.explain.cause import Cause, Family, Variant, attempt
from tb.explain.causes import reach
from tb.explain.evidence import Evidence
from tb.explain.run import Run
from tb.explain.walk import Walk

_ATOMS = (1, 2, 3, 4, 8)
_POWERS = (16, 32, 64, 128, 256, 4096)


def _steps(axis: int, evidence: Evidence, run: Run) -> Iterator[Variant]:
    """Yield the same difference of a stride everywhere."""
    if reach.source(run) is None:
        return
    atom = run.dst.atom_bytes
    differences = dict.fromkeys([*(count * atom for count in _ATOMS), *_POWERS])
    # Steps that are too small put elements on each other, which beats tell.
    signs = (1,) if evidence.beats is not None and not evidence.rewritten else (1, -1)
    for difference in (sign * value for value in differences for sign in signs):
        word = "too large" if difference > 0 else "too small"
        yield from attempt(f"{abs(difference)} bytes {word}", partial(_everywhere, run, axis, difference))


def _everywhere(run: Run, axis: int, difference: int) -> Run:
    source = reach.source(run)
    assert source is not None
    changed = reach.with_source(run, _moved(source, axis, difference))
    for name, part in reach.stages(run):
        if part.walk is not None:
            changed = reach.with_stage(changed, name, replace(part, walk=_moved(part.walk, axis, difference)))
    return replace(changed, dst=_moved(run.dst, axis, difference))


def _moved(walk: Walk, axis: int, difference: int) -> Walk:
    steps = [step + difference * (number == axis) for number, step in enumerate(walk.steps)]
    return replace(walk, steps=(steps[0], steps[1], steps[2]))


CAUSES = tuple(
    Cause(f"every-{name}-stride", f"wrong {name} stride of every cube", Family.LAYOUT, partial(_steps, axis), True)
    for axis, name in enumerate(("surface", "line"))
)
