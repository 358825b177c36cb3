"""What the judge asks of a run that came to its end, and not of one that was stopped; when a layer has written all."""

from __future__ import annotations

import numpy as np
import pytest

from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import WrongOutstanding
from nvdla_tb.judge.finding import Check
from nvdla_tb.judge.judge import Access, Judge, Ports
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import RegWrite, done_bit
from tests.unit.nvdla.samples import SMALL, small_sdp


class Resting:
    """A port on which nothing has moved."""

    handshakes = read_requests = 0

    def take_most_outstanding(self) -> tuple[int, int]:
        return 1, 0

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


class Seen:
    """A layer of SDP that writes two atoms of zeros at 0x2000, as a judge without ports sees it."""

    def __init__(self) -> None:
        self.judge = Judge(SMALL, Scoreboard(), lambda ram, address, nbytes: np.zeros(nbytes, np.uint8))
        for op in encode(small_sdp((8, 1, 2)), SMALL):
            if isinstance(op, RegWrite):
                self.access(op.register, op.value, is_write=True)

    def access(self, name: str, value: int, *, is_write: bool = False) -> None:
        register = self.judge.tracker.state.registers.parse(name)
        self.judge.csb(Access(register, 0, value, is_write, 50))

    def writes(self, atom: int) -> None:
        self.judge.writes(Beats.of(Ram.MC, 0x2000 + 8 * atom, bytes(8), 0xFF, 60, 1))

    def interrupt(self) -> None:
        self.access("GLB.S_INTR_STATUS", 1 << done_bit("SDP", 0))

    @property
    def found(self) -> set[Check]:
        """What is wrong with when the layer has written."""
        return {finding.check for finding in self.judge.finish(100).findings} & {Check.LATE, Check.MISSING}


def test_a_unit_may_be_idle_before_its_last_write_reaches_the_port() -> None:
    seen = Seen()
    seen.writes(0)
    seen.access("SDP.S_STATUS", 0)
    seen.writes(1)
    seen.interrupt()
    assert seen.found == set()


@pytest.mark.parametrize("idle", [False, True])
def test_all_has_been_written_when_the_interrupt_comes(idle: bool) -> None:
    seen = Seen()
    seen.writes(0)
    if idle:
        seen.access("SDP.S_STATUS", 0)
    seen.interrupt()
    seen.writes(1)
    assert seen.found == {Check.LATE}


def test_what_an_idle_unit_never_writes_is_missing() -> None:
    seen = Seen()
    seen.writes(0)
    seen.access("SDP.S_STATUS", 0)
    assert seen.found == {Check.MISSING}
