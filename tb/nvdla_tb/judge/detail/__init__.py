"""Details of findings: what exactly is wrong, as data. Their words are in ``judge.text``."""

from nvdla_tb.judge.detail.base import (
    Detail,
)
from nvdla_tb.judge.detail.ending import (
    Call,
    DriverFault,
    DriverFaultKind,
    Hang,
    NoAnswer,
    Note,
    Nothing,
    Outstanding,
    Raised,
    StandStill,
    UnitState,
)
from nvdla_tb.judge.detail.memory import (
    BadAccess,
    CrcMismatch,
    EarlyAccess,
    GoldenMismatch,
    Mismatch,
    MoreBadAccesses,
    NothingRead,
    Restless,
    ShortGolden,
    UnpredictedGolden,
)
from nvdla_tb.judge.detail.ports import (
    CsbViolation,
    HandshakeViolation,
    PortViolation,
    UnfairTurns,
    UnknownPin,
    Unmatched,
    WrongOutstanding,
)
from nvdla_tb.judge.detail.registers import (
    EarlyInterrupt,
    LineNeverRises,
    MissingInterrupt,
    MoreUnmappedAccesses,
    PollExpired,
    PollNeverHolds,
    UnexpectedInterrupt,
    UnmappedAccess,
    WrongCounter,
    WrongLine,
    WrongRegister,
)

__all__ = [
    "AnyDetail",
    "BadAccess",
    "Call",
    "CrcMismatch",
    "CsbViolation",
    "Detail",
    "DriverFault",
    "DriverFaultKind",
    "EarlyAccess",
    "EarlyInterrupt",
    "GoldenMismatch",
    "HandshakeViolation",
    "Hang",
    "LineNeverRises",
    "Mismatch",
    "MissingInterrupt",
    "MoreBadAccesses",
    "MoreUnmappedAccesses",
    "NoAnswer",
    "Note",
    "Nothing",
    "NothingRead",
    "Outstanding",
    "PollExpired",
    "PollNeverHolds",
    "PortViolation",
    "Raised",
    "Restless",
    "ShortGolden",
    "StandStill",
    "UnexpectedInterrupt",
    "UnfairTurns",
    "UnitState",
    "UnknownPin",
    "UnmappedAccess",
    "Unmatched",
    "UnpredictedGolden",
    "WrongCounter",
    "WrongLine",
    "WrongOutstanding",
    "WrongRegister",
]

AnyDetail = (
    Mismatch
    | CrcMismatch
    | GoldenMismatch
    | UnpredictedGolden
    | BadAccess
    | MoreBadAccesses
    | UnmappedAccess
    | MoreUnmappedAccesses
    | Nothing
    | NothingRead
    | PortViolation
    | CsbViolation
    | HandshakeViolation
    | WrongLine
    | WrongOutstanding
    | UnfairTurns
    | UnknownPin
    | Unmatched
    | EarlyAccess
    | Restless
    | UnexpectedInterrupt
    | EarlyInterrupt
    | MissingInterrupt
    | WrongRegister
    | WrongCounter
    | PollExpired
    | PollNeverHolds
    | LineNeverRises
    | ShortGolden
    | Hang
    | StandStill
    | NoAnswer
    | DriverFault
    | Raised
    | Note
)
