"""The comparison of expectations with memory, as the judge sees it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from tb.judge.answers import LastWrite
from tb.judge.beats import Beats
from tb.judge.expected import Expected
from tb.judge.verdict import Verdict
from tb.nvdla.memory import Ram

E = TypeVar("E", bound=Expected[Any])


class Board(ABC, Generic[E]):
    """A board on which layers write at once, whose methods one with a DUT overrides.

    Attributes:
        verdict: counts and findings by now.
    """

    def __init__(self) -> None:
        """Start without layers."""
        self.verdict = Verdict()

    @abstractmethod
    def expect(self, expectation: E) -> None:
        """Add what a layer writes; layers come in the order in which they run."""

    def write_beats(self, beats: Beats) -> None:
        """Take write beats of one port, in the order of the port.

        Raises:
            TypeError: when nothing but layers writes here.
        """
        raise TypeError(f"{len(beats)} beats must go to a scoreboard: the model alone writes to memory itself")

    def overlay(self, ram: Ram, address: int, data: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return ``data``, read at ``address``, with all bytes that running layers have yet to write."""
        del ram, address
        return data

    def end_layer(self, index: int) -> None:
        """Note that the layer's end was seen: what it has not written by now is missing."""

    def last_write(self, index: int) -> LastWrite | None:
        """Return the last write by now that is a layer's, None when it has written nothing or is not known."""
        del index
        return None

    def abandon(self) -> None:
        """Give up layers whose end was not seen, as a reset of the DUT does: what they lack is not missing."""

    def judge_pending(self) -> None:
        """Judge everything taken so far."""

    def finish(self) -> Verdict:
        """Judge the rest and return the verdict."""
        return self.verdict
