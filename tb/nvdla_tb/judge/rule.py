"""Rules that a DUT keeps besides writing the right bytes: what follows them, and how they are numbered."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from typing import Self

from nvdla_tb.judge.finding import Finding
from nvdla_tb.nvdla.registers import Register


class NumberedRule(IntEnum):
    """A rule of an interface, which its ``text`` tells; the numbers count from 0."""

    text: str

    def __new__(cls, text: str) -> Self:
        """Return the next rule."""
        rule = int.__new__(cls, len(cls.__members__))
        rule._value_, rule.text = len(cls.__members__), text
        return rule


class Rule:
    """A rule, which follows what the judge sees; each method returns its findings.

    A rule overrides the methods that it needs. Cycles are None where nothing counts clock cycles.
    """

    def reset(self) -> None:
        """Return to the reset state, as a reset of the DUT does."""

    def write(self, register: Register, value: int, cycle: int | None) -> Iterable[Finding]:
        """Follow a register write, after the layers that it starts."""
        return ()

    def read(self, register: Register, value: int, cycle: int | None) -> Iterable[Finding]:
        """Follow a register read, after the layers that it ends."""
        return ()

    def line(self, cycle: int, *, level: bool) -> Iterable[Finding]:
        """Follow a change of the interrupt line."""
        return ()

    def finish(self, cycle: int | None) -> Iterable[Finding]:
        """Judge the rest, at the end of a run."""
        return ()
