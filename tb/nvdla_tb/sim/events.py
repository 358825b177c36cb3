"""What monitors see, passed on to a judge."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.detail import AnyDetail, BadAccess
from nvdla_tb.judge.finding import Check, Finding
from nvdla_tb.judge.judge import Access, Judge
from nvdla_tb.judge.text import complaint
from nvdla_tb.nvdla.memory import Ram


class Events:
    """Passes on what monitors see to a judge; a subclass may override what it listens to."""

    judge: Judge

    def see_access(self, access: Access) -> None:
        """Pass on a finished register access."""
        self.judge.csb(access)

    def see_writes(self, beats: Beats) -> None:
        """Pass on write beats of one memory port."""
        self.judge.writes(beats)

    def see_reads(self, ram: Ram, cycles: NDArray[np.int64], beats: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Pass on accepted reads of one memory port: their cycles, how many beats they ask for, and their ids."""
        self.judge.reads(ram, cycles, ids)

    def see_answers(self, ram: Ram, ids: NDArray[np.int64], written: NDArray[np.int64]) -> None:
        """Pass on accepted answers to writes of one memory port: ids, and when each write's last beat was."""
        self.judge.answers(ram, ids, written)

    def see_bad_access(self, access: BadAccess, at: int) -> None:
        """Pass on an access that memory refuses, and its cycle."""
        self.judge.bad_access(access, at)

    def see_violation(self, detail: AnyDetail, at: int) -> None:
        """Pass on a broken rule of a port, and its cycle."""
        self.judge.report(Check.PROTOCOL, detail, at)

    def see_line(self, level: bool, at: int) -> None:
        """Pass on a change of the interrupt line, and its cycle."""
        self.judge.line(at, level=level)


class Unjudged(Events):
    """What a monitor without a judge sees: its test fails when a rule is broken or memory refuses an access."""

    def see_access(self, access: Access) -> None:
        """Do nothing: nobody predicts layers."""

    def see_writes(self, beats: Beats) -> None:
        """Do nothing."""

    def see_reads(self, ram: Ram, cycles: NDArray[np.int64], beats: NDArray[np.int64], ids: NDArray[np.int64]) -> None:
        """Do nothing."""

    def see_answers(self, ram: Ram, ids: NDArray[np.int64], written: NDArray[np.int64]) -> None:
        """Do nothing."""

    def see_bad_access(self, access: BadAccess, at: int) -> None:
        """Fail.

        Raises:
            AssertionError: naming the access.
        """
        raise AssertionError(complaint(Finding(Check.MEMORY, access, at)))

    def see_violation(self, detail: AnyDetail, at: int) -> None:
        """Fail.

        Raises:
            AssertionError: naming the rule.
        """
        raise AssertionError(complaint(Finding(Check.PROTOCOL, detail, at)))

    def see_line(self, level: bool, at: int) -> None:
        """Do nothing."""
