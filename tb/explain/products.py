"""Products of the extreme numbers in a convolution: where multipliers reach their widest results."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from models.arithmetic import HARDWARE
from models.precision import Precision
from tb.explain.engine_conv import ConvRun, CubeInput
from tb.explain.memory import Bytes
from tb.explain.run import Run
from tb.explain.walk import Cube

_EXTREMES = ((-128, -128), (-128, 127), (127, -128), (127, 127))


@dataclass(frozen=True)
class _Counting:
    """Multipliers that count the products of two numbers.

    Attributes:
        data: one of them.
        weight: the other.
        number: the multiplier that counts, None for all of a cell.
        of: multipliers of a cell; channels go round among them.
    """

    data: int
    weight: int
    number: int | None
    of: int

    def seen(self, cube: Cube, weights: Cube) -> tuple[Cube, Cube]:
        """Return 1 in the places of the numbers, and 0 elsewhere."""
        counted = cube == self.data
        if self.number is not None:
            counted &= (np.arange(len(cube)) % self.of == self.number)[:, np.newaxis, np.newaxis]
        return counted.astype(np.int8), (weights == self.weight).astype(np.int8)


def extreme_products(memory: Bytes, run: Run, rows: slice) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield which sums hold a product of two extreme numbers, in whichever multiplier of a cell and in each.

    Direct convolutions of feature cubes of INT8 alone have them.

    Args:
        memory: What the layer finds.
        run: How it should run.
        rows: Lines of the output.
    """
    engine = run.engine
    if not isinstance(engine, ConvRun) or not isinstance(engine.source, CubeInput):
        return
    if engine.params.precision is not Precision.INT8 or engine.params.winograd:
        return
    # Products are counted, not truncated, and the padding has none.
    plain = replace(engine.params, truncate=0, pad_value=0)
    lanes = engine.weights.layout.config.mac_atomic_c_size
    for data, weight in _EXTREMES:
        for lane in (None, *range(lanes)):
            where = "" if lane is None else f" in multiplier {lane} of {lanes}"
            counting = replace(engine, params=plain, lane=_Counting(data, weight, lane, lanes))
            yield f"a product of {data} and {weight}{where}", counting.sums(memory, rows, HARDWARE) > 0
