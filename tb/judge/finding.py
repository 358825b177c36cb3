"""Findings as data: check, cycle, layer and detail."""

from __future__ import annotations

from enum import Enum

import msgspec

from tb.judge.detail import (
    AnyDetail,
    BadAccess,
    CsbViolation,
    EarlyInterrupt,
    GoldenMismatch,
    HandshakeViolation,
    Hang,
    MissingInterrupt,
    NoAnswer,
    Note,
    PollExpired,
    PortViolation,
    TooManyOutstanding,
    UnexpectedInterrupt,
    UnfairTurns,
    UnknownPin,
    WrongCounter,
    WrongLine,
    WrongRegister,
)
from tb.judge.layer_id import LayerId


class Check(Enum):
    """The check that failed; the value names it in reports."""

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
    CRASH = "crash"
    TIMEOUT = "timeout"
    EXPLANATION = "explanation"
    BENCH = "bench"
    BUILD = "build"
    LOST = "lost worker"


BYTES = (Check.VALUE, Check.MISSING, Check.STRAY, Check.DOUBLE, Check.LATE)
"""The checks of bytes that the DUT wrote or should have written."""


class Finding(msgspec.Struct, frozen=True):
    """One thing that is wrong.

    Attributes:
        check: the check.
        detail: detail of the fault.
        cycle: clock cycle at which it was seen, None where there is no such.
        layer: the layer that it is about, None when it is about none.
    """

    check: Check
    detail: AnyDetail
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


def _cause(detail: AnyDetail) -> tuple[str, ...]:
    """Return the part of a detail that two findings of one cause share."""
    match detail:
        case GoldenMismatch():
            return (detail.file_name,)
        case BadAccess():
            return (*_direction(detail), "outside" if detail.outside else "poison")
        case TooManyOutstanding():
            return _direction(detail)
        case UnfairTurns():
            return (*_direction(detail), str(detail.axi_id))
        case PortViolation():
            return (detail.ram.value, str(detail.rule))
        case CsbViolation():
            return ("CSB", str(detail.rule))
        case HandshakeViolation():
            return ("handshake", str(detail.rule))
        case WrongLine():
            return ("line", "high" if detail.must else "low")
        case UnknownPin():
            return ("CSB" if detail.ram is None else detail.ram.value, detail.pin)
        case UnexpectedInterrupt() | EarlyInterrupt() | MissingInterrupt():
            return (detail.name,)
        case WrongRegister() | WrongCounter() | PollExpired():
            return (detail.register,)
        case NoAnswer():
            return ("no answer" if detail.accepted else "not accepted",)
        case Hang():
            return (*detail.waiting_for, *(f"{unit.unit} {'/'.join(unit.states)}" for unit in detail.units))
        case Note():
            return (detail.message.split("\n", 1)[0],)
        case _:
            return ()


def _direction(detail: BadAccess | TooManyOutstanding | UnfairTurns) -> tuple[str, str]:
    return detail.ram.value, "read" if detail.reading else "write"
