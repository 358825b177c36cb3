"""What the predictor hands to the scoreboard, and how it reads memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models.layout import FeatureLayout
from tb.memory import Ram
from tb.tracker import StartedLayer

ReadMemory = Callable[[Ram, int, int], NDArray[np.uint8]]
"""(ram, address, nbytes) to the bytes as the layer will find them."""


@dataclass(frozen=True)
class Expectation:
    """The bytes that one layer must write.

    ``data`` and ``must_write`` have the length of the surface, stride gaps included; only bytes with
    ``must_write`` count, any other write into the range is stray.
    """

    started: StartedLayer
    ram: Ram
    address: int
    layout: FeatureLayout
    data: NDArray[np.uint8]
    must_write: NDArray[np.bool_]

    @property
    def end(self) -> int:
        """First address behind the surface."""
        return self.address + len(self.data)
