"""Findings as data: check, cycle, layer and detail."""

from __future__ import annotations

from enum import Enum

import msgspec

from tb.judge.detail import AnyDetail
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
        return (self.check.value, *where, *self.detail.cause)

    @property
    def kind(self) -> tuple[str, ...]:
        """The signature without the register group."""
        where = () if self.layer is None else (self.layer.engine,)
        return (self.check.value, *where, *self.detail.cause)
