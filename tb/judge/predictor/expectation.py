"""The message from the predictor to the scoreboard, and the way it reads memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.errors import InputError
from models.fp16 import FP16
from models.layout import Element, FeatureLayout, LinesLayout, PlanarLayout
from models.precision import Precision
from models.tolerance import Float64Array, Tolerance, clip_reference, exponent
from tb.judge.counters import Counts
from tb.judge.expected import Expected
from tb.judge.tracker import StartedLayer
from tb.nvdla.memory import Ram

ReadMemory = Callable[[Ram, int, int], NDArray[np.uint8]]
"""(ram, address, nbytes) to the bytes as the layer will find them."""


@dataclass(frozen=True, eq=False)
class Tolerated:
    """The measure of the elements of an FP16 surface, unless bytes are compared exactly.

    Attributes:
        reference: (padded channels, H, W), float64 and not clipped, or uint16 patterns when the rule allows
            no difference.
        tolerance: the rule, with an allowance for each of these elements.
    """

    reference: NDArray[Any]
    tolerance: Tolerance


def last_place(reference: Float64Array) -> Float64Array:
    """Return 2^(exp(a)-10) of a reference: one unit of its last place as FP16."""
    rounded = FP16.encode(clip_reference(np.where(np.isnan(reference), 0.0, reference)))
    return np.ldexp(1.0, (exponent(rounded) - 10).astype(np.int32))


@dataclass(frozen=True)
class Expectation(Expected[FeatureLayout | PlanarLayout | LinesLayout]):
    """The bytes that one layer of NVDLA must write.

    ``data`` and ``must_write`` have the length of the surface, stride gaps included. ``data`` is what the bit-accurate
    model computes; with ``tolerated`` it is only judged by when exactness is asked for. ``counts`` is what its
    statistics counters must read.

    Raises:
        InputError: when ``tolerated`` is for another surface.
    """

    started: StartedLayer
    tolerated: Tolerated | None = None
    counts: Counts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tolerated is None:
            return
        if self.layout.precision is not Precision.FP16:
            raise InputError(f"tolerated must be None for {self.layout.precision.name}, which is compared exactly")
        if not isinstance(self.layout, FeatureLayout):
            raise InputError("tolerated must be None for data that are only moved")
        shape = (self.layout.padded_channels, *self.layout.shape[1:])
        allowance = self.tolerated.tolerance.allowance
        for name, array in (("reference", self.tolerated.reference), ("allowance", allowance)):
            if array is not None and array.shape != shape:
                raise InputError(f"{name} must have the shape {shape} with padding channels, not {array.shape}")

    @property
    def element_bytes(self) -> int:
        """Bytes of one element."""
        return self.layout.precision.nbytes

    @property
    def is_tolerated(self) -> bool:
        """Whether elements may differ from ``data`` by a tolerance."""
        return self.tolerated is not None

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element that a byte belongs to, or None in padding."""
        return self.layout.element_at(offset_bytes)
