"""Golden traces: features, weights, operands and images unpack and repack to the same bytes, and mean what they should.

Repacking alone only shows a permutation. The convolutions here are computed from the unpacked arrays,
and the CRC-32 of the packed result is the one that the hardware wrote: a layout that is wrong by one
element cannot reach it.
"""

from __future__ import annotations

import zlib

import numpy as np
import numpy.typing as npt
import pytest

from models.config import HwConfig
from models.converter import Converter, ConverterEncoding
from models.layout import (
    PACKED_NAMES,
    FeatureLayout,
    ImageWeightLayout,
    OperandLayout,
    PixelConversion,
    PixelLayout,
    WeightLayout,
)
from models.precision import Precision
from tests.unit.models.hardware_files import Trace

SMALL = HwConfig.load("nv_small")
INT8 = Precision.INT8

# Their SDP stage is not bypassed, so the reference here does not cover their output.
WITH_SDP_STAGE = {"dc_1x1x8_1x1x8x1_int8_0"}


def field(trace: Trace, register: str, lsb: int = 0, bits: int = 32, signed: bool = False) -> int:
    """Return one field of a trace's register."""
    value = trace.registers[register] >> lsb & ((1 << bits) - 1)
    return value - (1 << bits) if signed and value >> (bits - 1) else value


def size(trace: Trace, register: str, lsb: int = 0, bits: int = 13) -> int:
    """Return a field that holds a size minus one."""
    return field(trace, register, lsb, bits) + 1


def weight_layout(trace: Trace) -> WeightLayout:
    """Return the layout of the weights as the hardware sees them: extended for images."""
    shape = (
        size(trace, "CSC.D_WEIGHT_SIZE_EXT_1", 16),
        size(trace, "CSC.D_WEIGHT_SIZE_EXT_1"),
        size(trace, "CSC.D_WEIGHT_SIZE_EXT_0", 16, 5),
        size(trace, "CSC.D_WEIGHT_SIZE_EXT_0", 0, 5),
    )
    return WeightLayout(SMALL, INT8, shape)


def input_features(trace: Trace) -> tuple[FeatureLayout, npt.NDArray[np.uint8]]:
    """Return layout and bytes of the input cube of a convolution."""
    shape = (
        size(trace, "CDMA.D_DATAIN_SIZE_1"),
        size(trace, "CDMA.D_DATAIN_SIZE_0", 16),
        size(trace, "CDMA.D_DATAIN_SIZE_0"),
    )
    strides = (field(trace, "CDMA.D_LINE_STRIDE"), field(trace, "CDMA.D_SURF_STRIDE"))
    layout = FeatureLayout(SMALL, INT8, shape, *strides)
    return layout, trace.images[field(trace, "CDMA.D_DAIN_ADDR_LOW_0")]


def accumulate(trace: Trace, cube: npt.NDArray[np.int8], kernels: npt.NDArray[np.int8]) -> npt.NDArray[np.int64]:
    """Convolve as the registers say, to the 32-bit accumulators."""
    stride_x, stride_y = size(trace, "CSC.D_CONV_STRIDE_EXT", 0, 3), size(trace, "CSC.D_CONV_STRIDE_EXT", 16, 3)
    dilation_x, dilation_y = size(trace, "CSC.D_DILATION_EXT", 0, 5), size(trace, "CSC.D_DILATION_EXT", 16, 5)
    left, right = field(trace, "CDMA.D_ZERO_PADDING", 0, 5), field(trace, "CDMA.D_ZERO_PADDING", 8, 6)
    top, bottom = field(trace, "CDMA.D_ZERO_PADDING", 16, 5), field(trace, "CDMA.D_ZERO_PADDING", 24, 6)
    fill = field(trace, "CDMA.D_ZERO_PADDING_VALUE", 0, 8, signed=True)
    padded = np.pad(cube.astype(np.int64), ((0, 0), (top, bottom), (left, right)), constant_values=fill)
    width, height = size(trace, "CSC.D_DATAOUT_SIZE_0"), size(trace, "CSC.D_DATAOUT_SIZE_0", 16)
    total = np.zeros((kernels.shape[0], height, width), dtype=np.int64)
    for r in range(kernels.shape[2]):
        for s in range(kernels.shape[3]):
            rows = slice(r * dilation_y, r * dilation_y + (height - 1) * stride_y + 1, stride_y)
            columns = slice(s * dilation_x, s * dilation_x + (width - 1) * stride_x + 1, stride_x)
            total += np.einsum("kc,chw->khw", kernels[:, :, r, s].astype(np.int64), padded[:, rows, columns])
    shift = field(trace, "CACC.D_CLIP_CFG", 0, 5)
    rounded = np.sign(total) * ((np.abs(total) + ((1 << shift) >> 1)) >> shift)
    clipped: npt.NDArray[np.int64] = np.clip(rounded, -(2**31), 2**31 - 1)
    return clipped


def output_crc(trace: Trace, total: npt.NDArray[np.int64]) -> int:
    """Return the CRC-32 of the checked region when SDP only converts."""
    converter = Converter(
        field(trace, "SDP.D_CVT_OFFSET", 0, 32, signed=True),
        field(trace, "SDP.D_CVT_SCALE", 0, 16, signed=True),
        field(trace, "SDP.D_CVT_SHIFT", 0, 6),
        ConverterEncoding.SDP_OUTPUT,
    )
    strides = (field(trace, "SDP.D_DST_LINE_STRIDE"), field(trace, "SDP.D_DST_SURFACE_STRIDE"))
    layout = FeatureLayout(SMALL, INT8, (total.shape[0], total.shape[1], total.shape[2]), *strides)
    _, nbytes, _ = trace.checks[0]
    region = np.zeros(nbytes, dtype=np.uint8)
    padded = np.zeros((layout.padded_channels, *total.shape[1:]), dtype=np.int64)
    padded[: total.shape[0]] = total
    whole = FeatureLayout(SMALL, INT8, (padded.shape[0], padded.shape[1], padded.shape[2]), *strides)
    region[: whole.nbytes] = whole.pack(converter.convert(padded, INT8))
    return zlib.crc32(region.tobytes())


def convolutions(traces: list[Trace], prefix: str) -> list[Trace]:
    """Return the traces of a kind; there must be some."""
    chosen = [trace for trace in traces if trace.name.startswith(prefix)]
    assert chosen
    return chosen


def test_features_and_weights_repack_to_identical_bytes(traces: list[Trace]) -> None:
    for trace in convolutions(traces, "dc_"):
        features, data = input_features(trace)
        repacked = features.pack(features.unpack(data))
        keep = ~features.padding_mask()
        np.testing.assert_array_equal(repacked[keep], data[: features.nbytes][keep], strict=True, err_msg=trace.name)
        padded = features.unpack_padded(data)
        full = FeatureLayout(SMALL, INT8, (features.padded_channels, *features.shape[1:]), *strides_of(features))
        np.testing.assert_array_equal(full.pack(padded), data[: features.nbytes], strict=True, err_msg=trace.name)
        weights = weight_layout(trace)
        raw = trace.images[field(trace, "CDMA.D_WEIGHT_ADDR_LOW")]
        np.testing.assert_array_equal(weights.pack(weights.unpack(raw)), raw[: weights.nbytes], strict=True)
        assert weights.nbytes == field(trace, "CDMA.D_WEIGHT_BYTES"), trace.name
        assert weights.kernel_elements == size(trace, "CDMA.D_WEIGHT_SIZE_0", 0, 18), trace.name


def strides_of(layout: FeatureLayout) -> tuple[int, int]:
    """Return line and surface stride."""
    return layout.line_stride_bytes, layout.surface_stride_bytes


def test_unpacked_convolutions_reach_the_crc_of_the_hardware(traces: list[Trace]) -> None:
    proven = 0
    for trace in convolutions(traces, "dc_"):
        if trace.name in WITH_SDP_STAGE:
            continue
        features, data = input_features(trace)
        weights = weight_layout(trace)
        kernels = weights.unpack(trace.images[field(trace, "CDMA.D_WEIGHT_ADDR_LOW")])
        total = accumulate(trace, features.unpack(data), kernels)
        assert output_crc(trace, total) == trace.checks[0][2], trace.name
        proven += 1
    assert proven == 5


def test_a_weight_order_of_one_channel_block_misses_the_crc(traces: list[Trace]) -> None:
    (trace,) = (trace for trace in traces if trace.name == "dc_13x15x64_5x3x64x16_int8_0")
    features, data = input_features(trace)
    layout = weight_layout(trace)
    raw = trace.images[field(trace, "CDMA.D_WEIGHT_ADDR_LOW")]
    large = HwConfig.load("nv_large")
    wrong = WeightLayout(large, INT8, layout.shape).unpack(raw)
    assert output_crc(trace, accumulate(trace, features.unpack(data), wrong)) != trace.checks[0][2]


def image_of(trace: Trace) -> tuple[PixelLayout, npt.NDArray[np.uint8]]:
    """Return layout and bytes of the image of a trace."""
    name = PACKED_NAMES[field(trace, "CDMA.D_DATAIN_FORMAT", 8, 6)]
    shape = (
        size(trace, "CDMA.D_DATAIN_SIZE_1"),
        size(trace, "CDMA.D_DATAIN_SIZE_0", 16),
        size(trace, "CDMA.D_DATAIN_SIZE_0"),
    )
    x_offset = field(trace, "CDMA.D_PIXEL_OFFSET", 0, 5)
    layout = PixelLayout(SMALL, name, shape, (field(trace, "CDMA.D_LINE_STRIDE"),), x_offset)
    return layout, trace.images[field(trace, "CDMA.D_DAIN_ADDR_LOW_0")]


def test_images_and_their_weights_repack_to_identical_bytes(traces: list[Trace]) -> None:
    for trace in convolutions(traces, "measured_img"):
        layout, data = image_of(trace)
        repacked = layout.pack(layout.unpack(data))
        read = np.zeros(layout.nbytes, dtype=bool)
        for h in range(layout.shape[1]):
            read[h * layout.line_stride_bytes[0] :][: layout.shape[2] * 4] = True
        np.testing.assert_array_equal(repacked[read], data[: layout.nbytes][read], strict=True, err_msg=trace.name)
        weights = image_weights(trace, layout)
        raw = trace.images[field(trace, "CDMA.D_WEIGHT_ADDR_LOW")]
        extended = weights.pre_extend(weights.original(weights.unpack(raw)))
        np.testing.assert_array_equal(weights.pack(extended), raw[: weights.nbytes], strict=True)
        assert weights.nbytes == field(trace, "CDMA.D_WEIGHT_BYTES"), trace.name


def image_weights(trace: Trace, pixels: PixelLayout) -> ImageWeightLayout:
    """Return the layout of the weights of an image layer, from the extended sizes."""
    extended = weight_layout(trace)
    channels = pixels.shape[0]
    shape = (extended.shape[0], channels, extended.shape[2], extended.shape[1] // channels)
    return ImageWeightLayout(SMALL, INT8, shape)


def conversion_of(trace: Trace) -> PixelConversion:
    """Return what the input side does with the pixels."""
    converter = Converter(
        field(trace, "CDMA.D_CVT_OFFSET", 0, 16, signed=True),
        field(trace, "CDMA.D_CVT_SCALE", 0, 16, signed=True),
        field(trace, "CDMA.D_CVT_CFG", 4, 6),
        ConverterEncoding.CDMA_INPUT,
    )
    mean = None
    if field(trace, "CDMA.D_MEAN_FORMAT", 0, 1):
        mean = tuple(
            field(trace, f"CDMA.D_MEAN_GLOBAL_{word}", lsb, 16, signed=True) for word in (0, 1) for lsb in (0, 16)
        )
    signed = bool(field(trace, "CDMA.D_DATAIN_FORMAT", 20, 1))
    return PixelConversion(INT8, converter if field(trace, "CDMA.D_CVT_CFG", 0, 1) else None, mean, signed)


@pytest.mark.parametrize("number", range(6))
def test_unpacked_images_reach_the_crc_of_the_hardware(traces: list[Trace], number: int) -> None:
    trace = convolutions(traces, "measured_img")[number]
    layout, data = image_of(trace)
    image = conversion_of(trace).apply(layout.format, layout.unpack(data))
    weights = image_weights(trace, layout)
    kernels = weights.original(weights.unpack(trace.images[field(trace, "CDMA.D_WEIGHT_ADDR_LOW")]))
    assert output_crc(trace, accumulate(trace, image, kernels)) == trace.checks[0][2], trace.name


def test_operands_repack_to_identical_bytes(traces: list[Trace]) -> None:
    proven = 0
    for trace in convolutions(traces, "sdp_"):
        shape = tuple(size(trace, f"SDP_RDMA.D_DATA_CUBE_{axis}") for axis in ("CHANNEL", "HEIGHT", "WIDTH"))
        for stage, engine in (("BS", "B"), ("BN", "N")):
            config = f"SDP_RDMA.D_{engine}RDMA_CFG"
            address = field(trace, f"SDP_RDMA.D_{stage}_BASE_ADDR_LOW")
            if field(trace, config, 0, 1) or address not in trace.images:
                continue
            components = (("mul",), ("alu",), ("alu", "mul"))[field(trace, config, 1, 2)]
            component_bytes = 1 + field(trace, config, 3, 1)
            if field(trace, config, 4, 1):
                strides = [field(trace, f"SDP_RDMA.D_{stage}_{kind}_STRIDE") for kind in ("LINE", "SURFACE")]
                cube = (shape[0], shape[1], shape[2])
                layout = OperandLayout(SMALL, INT8, cube, components, component_bytes, strides[0], strides[1])
            else:
                layout = OperandLayout.packed(SMALL, INT8, (shape[0], 1, 1), components, component_bytes)
            data = trace.images[address]
            padded = layout.unpack_padded(data)
            wide = next(iter(padded.values())).shape
            whole = OperandLayout(
                SMALL,
                INT8,
                (wide[0], wide[1], wide[2]),
                components,
                component_bytes,
                layout.line_stride_bytes,
                layout.surface_stride_bytes,
            )
            atoms = layout.written_mask()
            repacked, given = whole.pack(padded), data[: layout.nbytes]
            np.testing.assert_array_equal(repacked[atoms], given[atoms], strict=True, err_msg=trace.name)
            proven += 1
    assert proven >= 2
