"""Whose writes are whose, where layers are played again for each frame and write to the same places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tb.explain.memory import Patch
from tb.judge.beats import Beats


def owners(results: Sequence[Patch], beats: Beats) -> NDArray[np.int64]:
    """Return the layer that wrote each beat: of those with a result there, each in its turn.

    A write where no layer has a result any more is of the layer that runs: the one that wrote last, or the next one
    when that has all of its result.

    Args:
        results: what each layer must write, in the order in which they run.
        beats: writes of their port, oldest first.
    """
    width = beats.data.shape[1]
    wanted: dict[int, list[int]] = {}
    left = [len(patch.data) for patch in results]
    for number, patch in enumerate(results):
        for address in range(patch.address - patch.address % width, patch.end, width):
            wanted.setdefault(address, []).append(number)
    running, found = 0, []
    for address, nbytes in zip(beats.address.tolist(), beats.strobe.sum(axis=1).tolist(), strict=True):
        there = wanted.get(address)
        if there:
            running = there.pop(0)
            left[running] -= nbytes
        elif left[running] <= 0 and running + 1 < len(results):
            running += 1
        found.append(running)
    return np.array(found, dtype=np.int64)
