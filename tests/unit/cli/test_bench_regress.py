"""``bench regress``: every task ends once, the table says what it cost, and nonsense is refused."""

from __future__ import annotations

import pytest

from tb.cli import bench_regress
from tests.unit.cli.conftest import Run


def test_tasks_are_played_for_each_number_of_workers() -> None:
    (one,) = bench_regress.measure(25, [1], 0.01)
    assert one.workers == 1
    assert one.seconds > 25 * 0.01
    assert one.driver_bytes > 10 << 20


@pytest.mark.parametrize("options", ["--tasks 0", "--workers 0", "--seconds=-1"])
def test_numbers_that_make_no_sense_are_refused(tb: Run, options: str) -> None:
    ran = tb(f"bench regress {options}")
    assert ran.code == 2
    assert ran.err == "error: tasks and workers must be at least 1, and seconds at least 0\n"
