"""How many outputs of a layer break a rule, and how far the worst one goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.tolerance import Tolerance, parts_used


@dataclass(frozen=True)
class Compared:
    """The outcome: numbers of elements, the largest part of an allowance, and the place of the first failure."""

    compared: int
    failed: int
    worst: float
    first_failed_at: tuple[int, ...] | None

    @property
    def passed(self) -> bool:
        return self.failed == 0


def compare(expected: NDArray[Any], actual: NDArray[np.uint16], tolerance: Tolerance) -> Compared:
    """Compare outputs as the judge does."""
    assert actual.size, "nothing would be compared"
    assert expected.shape == actual.shape
    assert tolerance.allowance is None or tolerance.allowance.shape == actual.shape
    used = parts_used(expected, actual, tolerance)
    failed = used > 1.0
    return Compared(
        actual.size,
        int(np.count_nonzero(failed)),
        float(used.max()),
        tuple(np.argwhere(failed)[0].tolist()) if failed.any() else None,
    )
