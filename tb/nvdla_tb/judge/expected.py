"""The bytes that a layer of some system must write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import Element
from nvdla_tb.judge.detail import Mismatch
from nvdla_tb.judge.layer_id import LayerId, Started
from nvdla_tb.judge.verdict import Margin
from nvdla_tb.nvdla.memory import Ram


class Meter(Protocol):
    """The bytes that were written of one expectation, judged by a tolerance.

    Attributes:
        bytes: those written first, 0 where none were.
    """

    bytes: NDArray[np.uint8]

    def write(self, offsets: NDArray[np.int64], values: NDArray[np.uint8]) -> NDArray[np.bool_]:
        """Take bytes, and return which are of an element that is whole now and wrong."""

    def explain(self, element: Element) -> str:
        """Return the value of a wrong element, the expected one, and the rule that it breaks."""

    @property
    def margin(self) -> Margin | None:
        """The largest part of an allowance used so far, or None before the first whole element."""


@dataclass(frozen=True, eq=False)
class Expected(ABC):
    """The bytes that one layer must write.

    Attributes:
        started: the layer.
        ram: the port that writes them.
        address: the first address.
        layout: what they consist of.
        data: the bytes, gaps included.
        must_write: which of them count; any other write there is stray.
    """

    started: Started[Any]
    ram: Ram
    address: int
    layout: Any
    data: NDArray[np.uint8]
    must_write: NDArray[np.bool_]

    @property
    def id(self) -> LayerId:
        """The identity of the layer in findings."""
        return self.started.id

    @property
    def slack(self) -> float:
        """How far singles may be from the expected ones; 0 where bytes are compared, or a meter knows more."""
        return 0.0

    @property
    def end(self) -> int:
        """The first address after them."""
        return self.address + len(self.data)

    def overlap(self, ram: Ram, address: int, nbytes: int) -> tuple[slice, slice]:
        """Return the part of them that lies in a range, and the same part of the range; both may be empty."""
        start, stop = max(address, self.address), min(address + nbytes, self.end)
        if self.ram is not ram or start >= stop:
            return slice(0, 0), slice(0, 0)
        return slice(start - self.address, stop - self.address), slice(start - address, stop - address)

    def mismatch(
        self,
        offsets: NDArray[np.int64],
        first: int,
        got: int | None = None,
        axi_id: int | None = None,
        rule: str | None = None,
    ) -> Mismatch:
        """Return the detail of wrong bytes.

        Args:
            offsets: int64 (n,), where they are.
            first: offset of the one that was wrong first.
            got: what it is, None when it was never written.
            axi_id: id of its beat, None when there is none.
            rule: what its element holds and should hold, when a tolerance judged it.
        """
        return Mismatch(
            nbytes=len(offsets),
            elements=len(np.unique(offsets // self.element_bytes)),
            ram=self.ram,
            address=self.address + first,
            element=self.element_at(first),
            expected=int(self.data[first]),
            got=got,
            axi_id=axi_id,
            rule=rule,
        )

    @property
    @abstractmethod
    def element_bytes(self) -> int:
        """Bytes of one element."""

    @abstractmethod
    def meter(self) -> Meter | None:
        """Return a new meter of what is written, or None when bytes must be equal."""

    @abstractmethod
    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element that a byte belongs to, or None in padding."""
