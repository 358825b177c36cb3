"""What a layer will write: from the layer and the memory it reads to the bytes it must leave behind."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from models import cdp, pdp, sdp
from models.layout import FeatureLayout
from tb.layers import CdpLayer, ConvLayer, PdpLayer, SdpLayer, Surface
from tb.predictor.conv import convolve
from tb.predictor.expectation import Expectation, ReadMemory
from tb.predictor.operands import read_operands
from tb.tracker import StartedLayer

__all__ = ["Expectation", "ReadMemory", "predict"]


def predict(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return what a layer must write.

    Padding channels are predicted like any other: hardware computes and writes them. All but CDP take the
    bytes that lie in memory behind the last channel; SDP on the fly takes zeros, but operands that lie in
    memory at their places.

    Args:
        started: The layer.
        read: How to read memory as the layer will find it.
    """
    layer = started.layer
    match layer:
        case SdpLayer():
            cube = _read_cube(layer.src, read)
            result = sdp.run(
                layer.params,
                cube,
                read_operands(layer.x1, layer.params.x1, read),
                read_operands(layer.x2, layer.params.x2, read),
            )
        case PdpLayer():
            result = pdp.run(layer.params, _read_cube(layer.src, read))
        case ConvLayer():
            result = sdp.run(
                layer.sdp,
                convolve(layer, read),
                read_operands(layer.x1, layer.sdp.x1, read),
                read_operands(layer.x2, layer.sdp.x2, read),
            )
        case CdpLayer():
            result = cdp.run(layer.params, _read_cube(layer.src, read), layer.src.layout.shape[0])
    dst = layer.dst
    padded = _whole_atoms(dst.layout)
    return Expectation(started, dst.ram, dst.address, dst.layout, padded.pack(result), padded.written_mask())


def _whole_atoms(layout: FeatureLayout) -> FeatureLayout:
    """Return the layout of the same bytes with the padding channels as channels."""
    shape = (layout.padded_channels, *layout.shape[1:])
    return FeatureLayout(layout.config, layout.precision, shape, layout.line_stride_bytes, layout.surface_stride_bytes)


def _read_cube(surface: Surface, read: ReadMemory) -> NDArray[np.int16] | NDArray[np.int8]:
    return surface.layout.unpack_padded(read(surface.ram, surface.address, surface.layout.nbytes))
