"""Findings as data: check, cycle, layer and detail."""

from __future__ import annotations

from enum import Enum

import msgspec

from nvdla_tb.judge import detail as details
from nvdla_tb.judge.layer_id import LayerId


class Check(Enum):
    """Kind of a finding; the value names it in reports.

    ::

        bench.expect_findings(Check.VALUE, Check.STRAY)
    """

    VALUE = "wrong value"
    MISSING = "missing write"
    STRAY = "stray write"
    DOUBLE = "double write with another value"
    LATE = "done before its data"
    UNANSWERED = "done before its answers"
    GOLDEN = "golden result"
    MEMORY = "memory access"
    PROTOCOL = "protocol"
    INTERRUPT = "interrupt"
    REGISTER = "register"
    COUNTER = "counter"
    HANG = "hang"
    PROGRAM = "program"
    EMPTY = "nothing compared"
    INPUT = "input"
    TEST = "test"
    RAISED = "test error"
    CRASH = "crash"
    TIMEOUT = "timeout"
    EXPLANATION = "explanation"
    BENCH = "bench"
    BUILD = "build"
    LOST = "lost worker"
    NOT_PLAYED = "not played"


BYTES = (Check.VALUE, Check.MISSING, Check.STRAY, Check.DOUBLE, Check.LATE)
"""The checks of bytes that the DUT wrote or should have written."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong.

    ::

        verdict.add(Finding(Check.TEST, Note("the interrupt came twice"), cycle=1200))

    Attributes:
        check: Kind of the finding.
        detail: Typed detail, from which text is made.
        cycle: Clock cycle at which it was seen; None where nothing counts cycles.
        layer: Layer that it concerns, if any.
    """

    check: Check
    detail: details.AnyDetail
    cycle: int | None = None
    layer: LayerId | None = None

    @property
    def signature(self) -> tuple[str, ...]:
        """The signature that findings of one cause share: check, engine, register group and the detail's part."""
        where = () if self.layer is None else (self.layer.engine, f"group {self.layer.group}")
        return (self.check.value, *where, *_cause(self.detail))

    @property
    def kind(self) -> tuple[str, ...]:
        """The signature without the register group."""
        where = () if self.layer is None else (self.layer.engine,)
        return (self.check.value, *where, *_cause(self.detail))


def _cause(detail: details.AnyDetail) -> tuple[str, ...]:
    """Return the part of a detail that two findings of one cause share."""
    match detail:
        case details.GoldenMismatch() | details.ShortGolden():
            return (detail.file_name,)
        case details.BadAccess():
            return (*_direction(detail), "outside" if detail.outside else "poison")
        case details.UnmappedAccess():
            return ("no register", "write" if detail.is_write else "read")
        case details.WrongOutstanding():
            return _direction(detail)
        case details.UnfairTurns():
            return (*_direction(detail), str(detail.axi_id))
        case details.PortViolation():
            return (detail.ram.value, str(detail.rule))
        case details.CsbViolation():
            return ("CSB", str(detail.rule))
        case details.HandshakeViolation():
            return ("handshake", str(detail.rule))
        case details.WrongLine():
            return ("line", "high" if detail.must else "low")
        case details.UnknownPin():
            return ("CSB" if detail.ram is None else detail.ram.value, detail.pin)
        case details.UnexpectedInterrupt() | details.EarlyInterrupt() | details.MissingInterrupt():
            return (detail.name,)
        case details.WrongRegister() | details.WrongCounter() | details.PollExpired() | details.PollNeverHolds():
            return (detail.register,)
        case details.NoAnswer():
            return ("no answer" if detail.accepted else "not accepted",)
        case details.LineNeverRises():
            return ("dla_intr",)
        case details.Hang():
            return (*detail.waiting_for, *(f"{unit.unit} {'/'.join(unit.states)}" for unit in detail.units))
        case details.StandStill():
            return ("time",)
        case details.DriverFault():
            return (detail.driver, detail.kind.value)
        case details.Raised():
            return (detail.kind, detail.message.split("\n", 1)[0])
        case details.Note():
            return (detail.message.split("\n", 1)[0],)
        case _:
            return ()


def _direction(detail: details.BadAccess | details.WrongOutstanding | details.UnfairTurns) -> tuple[str, str]:
    return detail.ram.value, "read" if detail.reading else "write"
