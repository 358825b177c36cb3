"""The bytes that a layer of some system must write."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from models.layout import Element
from tb.judge.layer_id import LayerId, Started
from tb.nvdla.memory import Ram

Y = TypeVar("Y", covariant=True)


@dataclass(frozen=True, eq=False)
class Expected(ABC, Generic[Y]):
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
    layout: Y
    data: NDArray[np.uint8]
    must_write: NDArray[np.bool_]

    @property
    def id(self) -> LayerId:
        """The identity of the layer in findings."""
        return self.started.id

    @property
    def end(self) -> int:
        """The first address after them."""
        return self.address + len(self.data)

    @property
    @abstractmethod
    def element_bytes(self) -> int:
        """Bytes of one element."""

    @property
    @abstractmethod
    def is_tolerated(self) -> bool:
        """Whether elements may differ from the bytes by a tolerance."""

    @abstractmethod
    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element that a byte belongs to, or None in padding."""
