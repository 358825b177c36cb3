"""``bench regress``: every task ends once, the table says what it cost, and nonsense is refused."""

from __future__ import annotations

import pytest

from nvdla_score.bench import regress

pytestmark = pytest.mark.slow


def test_tasks_are_played_for_each_number_of_workers() -> None:
    (one,) = regress.measure(25, [1], 0.01)
    assert one.workers == 1
    assert one.seconds > 25 * 0.01
    assert one.driver_bytes > 10 << 20
    assert 0 < one.driver_seconds < one.seconds
    assert one.store_bytes > 25 * 40
