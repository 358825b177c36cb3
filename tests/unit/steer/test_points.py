"""Points: which are the device's, and how much of each was reached."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_steer.points import Points, named_points
from nvdla_tb.run.errors import LaunchError
from nvdla_tb.stimulus.exchange import FIRST_POINT
from tests.unit.run.regress.test_code_coverage import point

LINE, BRANCH, TOGGLE = 1, 2, 3


def levels(kinds: list[int], counts: list[int]) -> list[int]:
    return list(Points(np.array(kinds, np.uint8)).levels(np.array(counts, np.uint32)).tolist())


def test_a_line_has_a_bit_for_each_power_of_two_of_its_count() -> None:
    counts = [0, 1, 2, 3, 4, 7, 8, 127, 128, 1 << 31]
    assert levels([LINE] * 10, counts) == [0, 1, 2, 2, 4, 4, 8, 64, 128, 128]
    assert levels([BRANCH] * 10, counts) == levels([LINE] * 10, counts)


def test_a_toggle_is_reached_or_not_and_the_harness_never() -> None:
    assert levels([TOGGLE, TOGGLE, TOGGLE, 0, 0], [0, 1, 900, 0, 900]) == [0, 1, 1, 0, 0]


def test_counts_of_another_model_are_refused() -> None:
    with pytest.raises(LaunchError, match=r"^the model must count 2 points, not 3$"):
        levels([LINE, LINE], [1, 2, 3])


def test_points_are_named_by_their_numbers_and_what_shares_a_name_is_as_its_neighbour() -> None:
    numbered = {
        point("line", "a", 1): FIRST_POINT,
        point("toggle", "a", 2): 2 * FIRST_POINT + 1 + 2,  # two of one name
        point("toggle", "a", 3): FIRST_POINT + 3,
        point("branch", "b", 4): FIRST_POINT + 4,
        point("line", "port", 5, "harness/nvdla_harness_port.sv"): FIRST_POINT + 5,
        point("expr", "b", 6): FIRST_POINT + 6,
        point("line", "tb_top", 7): FIRST_POINT + 7,
    }
    assert named_points(numbered, 8).kinds.tolist() == [LINE, LINE, LINE, TOGGLE, BRANCH, 0, 0, 0]


def test_what_was_reached_is_told_by_kind() -> None:
    points = Points(np.array([LINE, LINE, TOGGLE, 0], np.uint8))
    assert points.told(np.array([True, False, True, False])) == "1 of 2 line points, 1 of 1 toggle points"
