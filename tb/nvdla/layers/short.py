"""Layers in their simplest form, for tests that are written by hand."""

from __future__ import annotations

from models.sdp import SdpParams, SdpStage, output_converter
from tb.nvdla.layers.sdp import SdpLayer
from tb.nvdla.surfaces import Surface


def Sdp(src: Surface, dst: Surface, *, relu: bool = False) -> SdpLayer:  # noqa: N802
    """Return the SDP layer that copies a cube, converting its precision.

    ::

        await bench.run(Sdp(src, dst, relu=True))

    Named like a class because it stands for one; ``SdpLayer`` takes everything that SDP can do.

    Args:
        src: The cube that is read.
        dst: The cube that is written, of the same shape.
        relu: Whether negative values become 0, which X1 does.

    Raises:
        InputError: when the cubes do not fit each other.
    """
    stage = SdpStage(alu=None, alu_shift=0, mul=False, mul_prelu=False, mul_shift=0, relu=True)
    ends = src.layout.precision, dst.layout.precision
    return SdpLayer(src, dst, SdpParams(stage if relu else None, None, output_converter(0, 1, 0), *ends))
