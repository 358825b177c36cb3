"""What the judge asks of a run that came to its end, and not of one that was stopped."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_tb.judge.detail import WrongOutstanding
from nvdla_tb.judge.judge import Judge, Ports
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.nvdla.memory import Ram
from tests.unit.nvdla.samples import SMALL


class Resting:
    """A port on which nothing has moved."""

    handshakes = read_requests = 0

    def take_most_outstanding(self) -> tuple[int, int]:
        return 0, 0

    def unmatched(self) -> None:
        return None


def judge() -> Judge:
    """Return a judge of a scenario whose last layer must reach the limits of the memory interface."""
    ports = Ports({Ram.MC: Resting()})
    return Judge(SMALL, Scoreboard(), lambda *where: np.zeros(0, np.uint8), ports, limits_reached=True)


@pytest.mark.parametrize(("stopped", "found"), [(False, 2), (True, 0)])
def test_limits_need_not_be_reached_in_a_run_that_was_stopped(stopped: bool, found: int) -> None:
    findings = judge().finish(100, stopped=stopped).findings
    assert [type(finding.detail) for finding in findings] == [WrongOutstanding] * found


def test_a_second_verdict_tells_nothing_twice() -> None:
    asked = judge()
    first = list(asked.finish(100).findings)
    assert asked.finish(120).findings == first
