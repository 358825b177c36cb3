"""What a failure points at when several parts inside the device seem to be wrong."""

from __future__ import annotations

import pytest

from nvdla_tb.explain.culprit import Culprit
from nvdla_tb.explain.interface import SideResult
from nvdla_tb.explain.units import MEMORY_INTERFACE, READ_SIDE, WRITE_SIDE, Suspect, part
from nvdla_tb.judge.detail import PollExpired
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.sim.failure import Inside, stands_still
from tests.unit.run.regress.tasks import hang, wrong

PDP = Suspect((part("PDP"),), "the first bad hand-over")
BEHIND = Suspect((MEMORY_INTERFACE,), "all that is handed over is right")


def sides(read: str | None, write: str | None) -> list[SideResult]:
    return [SideResult(READ_SIDE, 3, read, is_whole=True), SideResult(WRITE_SIDE, 3, write, is_whole=True)]


@pytest.mark.parametrize(
    ("read", "write", "unit", "said"),
    [
        ("a read", "a write", PDP, "read side of the memory interface: a read"),
        (None, "a write", PDP, "PDP: the first bad hand-over"),
        (None, "a write", BEHIND, "write side of the memory interface: a write"),
        (None, None, BEHIND, "memory interface: all that is handed over is right"),
        (None, "a write", None, "write side of the memory interface: a write"),
    ],
)
def test_the_first_on_the_way_of_the_data_is_suspected(
    read: str | None, write: str | None, unit: Suspect | None, said: str
) -> None:
    culprit = None if unit is None else Culprit(unit)
    assert str(Inside(culprit=culprit, interface=sides(read, write)).suspect) == said


EXPIRED = Finding(Check.REGISTER, PollExpired("GLB.S_INTR_STATUS", "equal", expected=1, got=0, deadline_cycles=500))


@pytest.mark.parametrize(
    ("findings", "still"), [([hang("SDP_0")], True), ([wrong(), EXPIRED], True), ([wrong()], False)]
)
def test_a_poll_that_expires_is_as_good_as_a_hang(findings: list[Finding], still: bool) -> None:
    assert stands_still(findings) == still
