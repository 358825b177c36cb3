"""Cubes in memory, as the models take and return them: FP16 as patterns, padding channels as channels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.precision import Precision
from tb.judge.counters import Counts
from tb.judge.predictor.expectation import Expectation, ReadMemory
from tb.judge.tolerance import Tolerated
from tb.judge.tracker import StartedLayer
from tb.nvdla.surfaces import Surface


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
