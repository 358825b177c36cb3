"""Cubes in memory, as the models take and return them: FP16 as patterns, padding channels as channels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.layout import FeatureLayout
from models.precision import Precision
from tb.predictor.expectation import ReadMemory
from tb.surfaces import Surface


def whole_atoms(layout: FeatureLayout) -> FeatureLayout:
    """Return the layout of the same bytes with the padding channels as channels."""
    shape = (layout.padded_channels, *layout.shape[1:])
    return FeatureLayout(layout.config, layout.precision, shape, layout.line_stride_bytes, layout.surface_stride_bytes)


def read_patterns(surface: Surface, read: ReadMemory) -> NDArray[Any]:
    """Return a cube with its padding channels: (C, H, W), int8, int16 or uint16 FP16 patterns."""
    layout = surface.layout
    cube = layout.unpack_padded(read(surface.ram, surface.address, layout.nbytes))
    return cube.view(np.uint16) if layout.precision is Precision.FP16 else cube


def pack_patterns(layout: FeatureLayout, cube: NDArray[Any]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the bytes of a cube with its padding channels, and which of them are not in a stride gap.

    Args:
        layout: Of the cube in memory.
        cube: (padded channels, H, W) as :func:`read_patterns` returns it.
    """
    padded = whole_atoms(layout)
    elements = cube.view(layout.precision.dtype) if layout.precision is Precision.FP16 else cube
    return padded.pack(elements), padded.written_mask()
