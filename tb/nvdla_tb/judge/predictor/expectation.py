"""The message from the predictor to the scoreboard, and the way it reads memory.

Models take and return FP16 as patterns, and padding channels as channels.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16
from nvdla_models.layout import Element, FeatureLayout, LinesLayout, PlanarLayout
from nvdla_models.precision import Precision
from nvdla_models.tolerance import Float64Array, clip_reference, exponent
from nvdla_tb.judge.counters import Counts
from nvdla_tb.judge.expected import Expected
from nvdla_tb.judge.tolerated import Tolerated, ToleratedSurface
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.surfaces import Surface

ReadMemory = Callable[[Ram, int, int], NDArray[np.uint8]]
"""(ram, address, nbytes) to the bytes as the layer will find them."""


def last_place(reference: Float64Array) -> Float64Array:
    """Return 2^(exp(a)-10) of a reference: one unit of its last place as FP16."""
    rounded = FP16.encode(clip_reference(np.where(np.isnan(reference), 0.0, reference)))
    return np.ldexp(1.0, (exponent(rounded) - 10).astype(np.int32))


@dataclass(frozen=True)
class Expectation(Expected):
    """The bytes that one layer of NVDLA must write.

    ``data`` and ``must_write`` have the length of the surface, stride gaps included. ``data`` is what the bit-accurate
    model computes; with ``tolerated`` it is only judged by when exactness is asked for. ``counts`` is what its
    statistics counters must read.

    Raises:
        InputError: when ``tolerated`` is for another surface.
    """

    started: StartedLayer
    layout: FeatureLayout | PlanarLayout | LinesLayout
    tolerated: Tolerated | None = None
    counts: Counts = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.tolerated is None:
            return
        if self.layout.precision not in (Precision.FP16, Precision.INT16):
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

    def meter(self) -> ToleratedSurface | None:
        """Return what judges the elements of a surface by their tolerance, None where bytes are compared."""
        return None if self.tolerated is None else ToleratedSurface(self, self.tolerated)

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the element that a byte belongs to, or None in padding."""
        return self.layout.element_at(offset_bytes)


def read_patterns(surface: Surface, read: ReadMemory) -> NDArray[Any]:
    """Return a cube with its padding channels: (C, H, W), int8, int16 or uint16 FP16 patterns."""
    layout = surface.layout
    cube = layout.unpack_padded(read(surface.ram, surface.address, layout.nbytes))
    return cube.view(np.uint16) if layout.precision is Precision.FP16 else cube


def expect(
    started: StartedLayer,
    dst: Surface,
    cube: NDArray[Any],
    tolerated: Tolerated | None = None,
    counts: Counts | None = None,
    *,
    written: bool = True,
) -> Expectation:
    """Return the expectation of a layer that writes one cube.

    Args:
        started: The layer.
        dst: Where the cube lies.
        cube: (padded channels, H, W) as :func:`read_patterns` returns it.
        tolerated: Measure of an FP16 cube, None when bytes are compared.
        counts: Values that the statistics counters must read.
        written: Whether the layer writes the cube at all.
    """
    layout = dst.layout
    padded = layout.whole_atoms
    elements = cube.view(layout.precision.dtype) if layout.precision is Precision.FP16 else cube
    must_write = padded.written_mask() & written
    data = padded.pack(elements)
    return Expectation(started, dst.ram, dst.address, layout, data, must_write, tolerated, counts or {})
