"""Small convolutions that tests take as their starting point."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nvdla_models.config import HwConfig
from nvdla_models.conv import ConvParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import ImageWeightLayout, OperandLayout, PixelConversion, PixelLayout, WeightLayout
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams
from nvdla_tb.nvdla.layers import ConvLayer, StageSource
from nvdla_tb.nvdla.surfaces import CbufUse, ImageSurface, OperandSurface, WeightSurface
from tests.unit.nvdla.samples import ADD, IDENTITY, SMALL, surface

CONVERTER = Converter(-3, 5, 2, ConverterEncoding.CDMA_INPUT)


def conv_params(precision: Precision = Precision.INT8, **changes: Any) -> ConvParams:
    """Return a convolution without padding, stride or dilation, but for ``changes``."""
    return replace(ConvParams(1, 1, 1, 1, 0, 0, 0, 0, 0, 0, precision), **changes)


def small_conv(config: HwConfig = SMALL, precision: Precision = Precision.INT8) -> ConvLayer:
    """Return nine 2x3 kernels (height x width) over a 10x4x5 cube with padding and stride: out 9x5x3."""
    pad_value = 0xC700 if precision is Precision.FP16 else -7
    params = conv_params(precision, stride_x=2, pad_left=1, pad_right=1, pad_top=1, pad_bottom=1, pad_value=pad_value)
    return ConvLayer(
        surface((10, 4, 5), 0x1000, config, precision),
        WeightSurface(WeightLayout(config, precision, (9, 10, 2, 3)), 0x3000),
        surface((9, 5, 3), 0x2000, config, precision),
        params,
        SdpParams(None, None, IDENTITY, precision, precision),
        CbufUse(1, 2, release_slices=4),
    )


def image_conv(format_name: str = "T_A8B8G8R8", line_group: int = 1) -> ConvLayer:
    """Return two 2x2 kernels over an image of 3 x 5 pixels, with converter and mean: out 2x2x4."""
    layout = PixelLayout.packed(SMALL, format_name, (4, 3, 5), 1)
    mean = (1, -2, 3, -4)
    if layout.format.channels != 4:
        raise ValueError(f"format_name must have four channels, not {format_name}")
    return ConvLayer(
        ImageSurface(layout, (0x1000,)),
        WeightSurface(ImageWeightLayout(SMALL, Precision.INT8, (2, 4, 2, 2), line_group), 0x3000),
        surface((2, 2, 4), 0x2000),
        conv_params(),
        SdpParams(None, None, IDENTITY, Precision.INT8, Precision.INT8),
        CbufUse(1, 1),
        PixelConversion(Precision.INT8, CONVERTER, mean, signed=True),
    )


def planar_conv() -> ConvLayer:
    """Return a 1x1 kernel over a semi-planar image of 2 x 3 pixels, without converter."""
    layout = PixelLayout.packed(SMALL, "T_Y8___U8V8_N444", (3, 2, 3))
    return ConvLayer(
        ImageSurface(layout, (0x1000, 0x1800)),
        WeightSurface(ImageWeightLayout(SMALL, Precision.INT8, (1, 3, 1, 1)), 0x3000),
        surface((1, 2, 3), 0x2000),
        conv_params(),
        SdpParams(None, None, IDENTITY, Precision.INT8, Precision.INT8),
        CbufUse(1, 1),
        PixelConversion(Precision.INT8),
    )


def biased_conv() -> ConvLayer:
    """Return ``small_conv`` with one bias a kernel from memory in X1."""
    layer = small_conv()
    memory = OperandSurface(OperandLayout.packed(SMALL, Precision.INT8, (9, 1, 1), ("alu",), 2), 0x5000)
    return replace(layer, sdp=replace(layer.sdp, x1=ADD), x1=StageSource(memory=memory))
