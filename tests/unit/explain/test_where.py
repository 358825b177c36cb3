"""Where bytes are wrong, in words: parts of a pooling that is cut."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from nvdla_tb.explain.text import explain
from nvdla_tb.nvdla.layers import PdpLayer, WidthSplit
from tests.unit.explain import cases

WHOLE = cases.pdp_layer()
IN_TWO, IN_FOUR = (
    replace(WHOLE, split=WidthSplit(2, 5, 0, 4, 3, 0, 2)),
    replace(WHOLE, split=WidthSplit(4, 4, 2, 1, 2, 1, 1)),
)


@pytest.mark.parametrize(
    ("layer", "columns", "said"),
    [
        (IN_TWO, [3, 4], "parts of the width: only number 1, of 2"),
        (IN_TWO, [0], "parts of the width: only number 0, of 2"),
        (IN_TWO, [2, 3], "parts of the width: all 2"),
        (IN_FOUR, [2, 4], "parts of the width: 1, 3 of 4"),
        (WHOLE, [2, 4], None),
    ],
)
def test_a_pooling_in_parts_says_which_are_wrong(layer: PdpLayer, columns: list[int], said: str | None) -> None:
    def change(cube: NDArray[np.int8]) -> NDArray[np.int8]:
        cube = cube.copy()
        cube[:, :, columns] ^= 1
        return cube

    where = explain(cases.recast(layer, cases.memory_for(3), change), causes=()).where
    assert [line for line in where if line.startswith("parts")] == ([] if said is None else [said])
