"""The values inside a layer that is right: what each site of its arithmetic takes, element by element."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from models.arithmetic import Rules, Site, Step, limits
from models.errors import InputError
from tb.explain.evidence import Evidence
from tb.explain.run import Run

_MOST_ELEMENTS = 1 << 15
"""The models compute so many elements at once, so that each site is seen with all of them."""


@dataclass(frozen=True, eq=False)
class Event:
    """The values that a site takes.

    Attributes:
        site: where.
        step: what happens to them.
        values: int64, (C, lines, W) with padding channels, or with an axis of 1 where all share them.
        amount: shift, bits of the result, or last index of the table.
    """

    site: Site
    step: Step
    values: NDArray[np.int64]
    amount: int

    @property
    def acts(self) -> NDArray[np.bool_]:
        """Which values the step changes: those with bits to drop, or out of range."""
        if self.step is Step.SHIFT_RIGHT:
            acts: NDArray[np.bool_] = (self.values & ((1 << self.amount) - 1)) != 0
            return acts
        low, high = (0, self.amount - 1) if self.step is Step.INDEX else limits(self.amount)
        outside: NDArray[np.bool_] = (self.values < low) | (self.values > high)
        return outside


@dataclass(frozen=True, eq=False)
class Watched:
    """The events of some lines of a layer, in their order."""

    rows: slice
    events: tuple[Event, ...] = field(default=())


@lru_cache(maxsize=2)
def watched(evidence: Evidence, run: Run) -> Watched:
    """Return what happens to the lines of a layer around the one with most wrong bytes; no events of FP16.

    Args:
        evidence: What is known of the layer.
        run: How it should have run.
    """
    shape = evidence.cube.shape
    rows = evidence.worst_lines(_MOST_ELEMENTS // (shape[0] * shape[2]))
    events: list[Event] = []

    def watch(site: Site | None, step: Step, values: NDArray[np.int64], amount: int) -> None:
        if site is not None:
            events.append(Event(site, step, np.array(values), amount))

    try:
        run.engine.compute(evidence.memory, rows, Rules(watch=watch))
    except InputError:
        return Watched(rows)
    return Watched(rows, tuple(events))
