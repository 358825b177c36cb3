"""Causes in what all walks through memory share: the same wrong step in the input, the operands and the output."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from tb.explain.cause import Cause, Way
from tb.explain.causes import reach
from tb.explain.causes.reach import changed
from tb.explain.evidence import Evidence
from tb.explain.run import Run

_ATOMS = (1, 2, 3, 4, 8)
_POWERS = (16, 32, 64, 128, 256, 4096)


def _steps(axis: int, evidence: Evidence, run: Run) -> Iterator[Way]:
    """Yield the same difference of a stride everywhere."""
    if reach.source(run) is None:
        return
    atom = run.dst.atom_bytes
    differences = dict.fromkeys([*(count * atom for count in _ATOMS), *_POWERS])
    # Steps that are too small put elements on each other, which beats tell.
    signs = (1,) if evidence.beats is not None and not evidence.rewritten else (1, -1)
    for difference in (sign * value for value in differences for sign in signs):
        word = "too large" if difference > 0 else "too small"
        yield Way(f"{abs(difference)} bytes {word}", partial(_everywhere, run, axis, difference))


def _everywhere(run: Run, axis: int, difference: int) -> Run:
    for _, walk in [*reach.inputs(run), *reach.operands(run), *reach.output(run)]:
        moved = walk.value.with_step(axis, walk.value.steps[axis] + difference)
        run = changed(run, walk.path, {"steps": moved.steps})
    return run


CAUSES = tuple(
    Cause(f"every-{name}-stride", f"wrong {name} stride of every cube", partial(_steps, axis), True)
    for axis, name in enumerate(("surface", "line"))
)
