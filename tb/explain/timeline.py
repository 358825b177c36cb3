"""The write timeline of a layer as SVG: which address was written when, and which writes were wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tb.explain.evidence import Evidence
from tb.explain.where import bad_beats
from tb.markup import render

_MOST_POINTS = 1500
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP = 900, 240, 110, 34, 12


def timeline(evidence: Evidence) -> str:
    """Return the timeline, or nothing when only memory is known."""
    beats = evidence.beats
    if beats is None or not len(beats):
        return ""
    bad = bad_beats(evidence)
    first, lowest = beats.cycle.min(), beats.address.min()
    cycle, address = (beats.cycle - first).astype(np.float64), (beats.address - lowest).astype(np.float64)
    cycles, nbytes = max(cycle.max(), 1.0), max(address.max(), 1.0)
    x = _LEFT + cycle / cycles * (_WIDTH - _LEFT - 12)
    y = _HEIGHT - _BOTTOM - address / nbytes * (_HEIGHT - _BOTTOM - _TOP)
    size = max(1.5, min(5.0, 700 / len(beats)))
    return render(
        "timeline.html",
        width=_WIDTH,
        height=_HEIGHT,
        left=_LEFT,
        top=_TOP,
        floor=_HEIGHT - _BOTTOM,
        marks=[
            (kind, _dots(x[which], y[which], size)) for kind, which in (("right", ~bad), ("wrong", bad)) if which.any()
        ],
        low=f"{int(lowest):#x}",
        high=f"{int(lowest) + int(nbytes):#x}",
        first=f"cycle {int(first)}",
        last=f"cycle {int(first) + int(cycles)}",
    )


def _dots(x: NDArray[np.float64], y: NDArray[np.float64], size: float) -> str:
    """Return squares around points, evenly chosen when there are too many."""
    step = -(-len(x) // _MOST_POINTS)
    return "".join(
        f"M{at - size / 2:.1f} {height - size / 2:.1f}h{size:.1f}v{size:.1f}h-{size:.1f}z"
        for at, height in zip(x[::step].tolist(), y[::step].tolist(), strict=True)
    )
