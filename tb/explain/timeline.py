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
    cycle, address = beats.cycle.astype(np.float64), beats.address.astype(np.float64)
    spans = [(values.min(), max(values.max(), values.min() + 1)) for values in (cycle, address)]
    x = _LEFT + (cycle - spans[0][0]) / (spans[0][1] - spans[0][0]) * (_WIDTH - _LEFT - 12)
    y = _HEIGHT - _BOTTOM - (address - spans[1][0]) / (spans[1][1] - spans[1][0]) * (_HEIGHT - _BOTTOM - _TOP)
    size = max(1.5, min(5.0, 700 / len(beats)))
    left, right = (f"cycle {int(value)}" for value in spans[0])
    low, high = (f"{int(value):#x}" for value in spans[1])
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
        low=low,
        high=high,
        first=left,
        last=right,
    )


def _dots(x: NDArray[np.float64], y: NDArray[np.float64], size: float) -> str:
    """Return squares around points, evenly chosen when there are too many."""
    step = -(-len(x) // _MOST_POINTS)
    return "".join(
        f"M{at - size / 2:.1f} {height - size / 2:.1f}h{size:.1f}v{size:.1f}h-{size:.1f}z"
        for at, height in zip(x[::step].tolist(), y[::step].tolist(), strict=True)
    )
