"""Convolution programs that are refused, with register, field and rule."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from models.errors import InputError
from models.layout import FeatureLayout, ImageWeightLayout, PixelConversion, PixelLayout
from models.precision import Precision
from tb.nvdla.engines import chain_of
from tb.nvdla.layers import ConvLayer, Surface
from tb.nvdla.program.codec import decode
from tb.nvdla.surfaces import CbufUse, ImageSurface, WeightSurface
from tests.unit.nvdla.conv_samples import CONVERTER, biased_conv, conv_params, image_conv, small_conv
from tests.unit.nvdla.registers_helper import check_refused, decode_with, words_of
from tests.unit.nvdla.samples import FULL, SMALL, surface

PIPELINE = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
INT8 = Precision.INT8

MISC = {unit: f"{unit}.D_MISC_CFG" for unit in PIPELINE}
BATCHES = (
    *(f"{unit}.D_BATCH_NUMBER.batches" for unit in ("CDMA", "CSC", "CACC")),
    "SDP.D_FEATURE_MODE_CFG.batch_number",
)
Refusal = tuple[ConvLayer, dict[str, int], str]


def agreeing(first: str, second: str, value: int, shown: object, new: object, layer: ConvLayer) -> dict[str, Refusal]:
    """Return the refusal of a field that must hold what another holds."""
    return {second: (layer, {second: value}, f"{second} must agree with {first} ({shown}), not {new}")}


REFUSALS: dict[str, Refusal] = {
    **{
        f"Winograd {unit}": (
            small_conv(),
            {f"{MISC[unit]}.conv_mode": 1},
            f"{MISC[unit]}.conv_mode must agree with CDMA.D_MISC_CFG.conv_mode (False), not True",
        )
        for unit in PIPELINE
        if unit != "CDMA"
    },
    "Winograd SDP": (
        small_conv(),
        {"SDP.D_FEATURE_MODE_CFG.winograd": 1},
        "SDP.D_FEATURE_MODE_CFG.winograd must agree with CDMA.D_MISC_CFG.conv_mode (False), not True",
    ),
    "Winograd of a build without": (
        small_conv(),
        {**{f"{MISC[unit]}.conv_mode": 1 for unit in PIPELINE}, "SDP.D_FEATURE_MODE_CFG.winograd": 1},
        "CDMA.D_MISC_CFG.conv_mode: weights must not be for Winograd: nv_small has none",
    ),
    **{
        f"{what} reuse {unit}": (
            small_conv(),
            {f"{MISC[unit]}.{what}_reuse": 1},
            f"{MISC['CSC']}.{what}_reuse must agree with {MISC['CDMA']}.{what}_reuse ({unit == 'CDMA'}), "
            f"not {unit == 'CSC'}",
        )
        for unit in ("CDMA", "CSC")
        for what in ("data", "weight")
    },
    **{
        f"{what} reuse of a batch": (
            small_conv(FULL),
            {**dict.fromkeys(BATCHES, 1), **{f"{MISC[unit]}.{what}_reuse": 1 for unit in ("CDMA", "CSC")}},
            "CDMA.D_MISC_CFG.data_reuse: reuse_data and reuse_weights must be False with a batch, which was not "
            "measured",
        )
        for what in ("data", "weight")
    },
    "batches of a build without": (
        small_conv(),
        dict.fromkeys(BATCHES, 3),
        f"{BATCHES[0]}: batch.cubes must be 1 on nv_small, which has no batches, not 4",
    ),
    **{
        f"batches {field.split('.')[0]}": (
            small_conv(FULL),
            {field: 3},
            f"{field} must agree with {BATCHES[0]} (1), not 4",
        )
        for field in BATCHES[1:]
    },
    "compression CSC": (
        small_conv(),
        {"CSC.D_WEIGHT_FORMAT.weight_format": 1},
        "CSC.D_WEIGHT_FORMAT.weight_format must agree with CDMA.D_WEIGHT_FORMAT.weight_format (False), not True",
    ),
    "compression of a build without": (
        small_conv(),
        {f"{unit}.D_WEIGHT_FORMAT.weight_format": 1 for unit in ("CDMA", "CSC")},
        "CDMA.D_WEIGHT_FORMAT.weight_format: weights must be uncompressed for nv_small, which cannot decompress",
    ),
    "compression without a mask": (
        small_conv(FULL),
        {f"{unit}.D_WEIGHT_FORMAT.weight_format": 1 for unit in ("CDMA", "CSC")},
        "CDMA.D_WMB_BYTES.wmb_bytes: must be the 128 bytes of the mask, not 0",
    ),
    **{
        f"precision {unit}": (
            small_conv(),
            {f"{MISC[unit]}.proc_precision": 1},
            f"{MISC[unit]}.proc_precision must agree with CDMA.D_MISC_CFG.proc_precision (INT8), not INT16",
        )
        for unit in PIPELINE[1:]
    },
    **agreeing(f"{MISC['CDMA']}.in_precision", f"{MISC['CSC']}.in_precision", 2, "INT8", "FP16", small_conv()),
    **agreeing("CDMA.D_DATAIN_FORMAT.datain_format", "CSC.D_DATAIN_FORMAT.datain_format", 1, False, True, small_conv()),
    **agreeing("CDMA.D_DATAIN_SIZE_0.datain_width", "CSC.D_DATAIN_SIZE_EXT_0.datain_width_ext", 7, 5, 8, small_conv()),
    **agreeing(
        "CDMA.D_DATAIN_SIZE_0.datain_height", "CSC.D_DATAIN_SIZE_EXT_0.datain_height_ext", 7, 4, 8, small_conv()
    ),
    **agreeing(
        "CDMA.D_DATAIN_SIZE_1.datain_channel", "CSC.D_DATAIN_SIZE_EXT_1.datain_channel_ext", 7, 10, 8, small_conv()
    ),
    **agreeing("CDMA.D_ENTRY_PER_SLICE.entries", "CSC.D_ENTRY_PER_SLICE.entries", 11, 10, 12, small_conv()),
    **agreeing("CDMA.D_BANK.data_bank", "CSC.D_BANK.data_bank", 1, 1, 2, small_conv()),
    **agreeing("CDMA.D_BANK.weight_bank", "CSC.D_BANK.weight_bank", 2, 2, 3, small_conv()),
    **agreeing("CDMA.D_WEIGHT_BYTES.weight_bytes", "CSC.D_WEIGHT_BYTES.weight_bytes", 540, 640, 540, small_conv()),
    **agreeing("CSC.D_CONV_STRIDE_EXT.conv_x_stride_ext", "CDMA.D_CONV_STRIDE.conv_x_stride", 2, 2, 3, small_conv()),
    **agreeing("CSC.D_CONV_STRIDE_EXT.conv_y_stride_ext", "CDMA.D_CONV_STRIDE.conv_y_stride", 2, 1, 3, small_conv()),
    **agreeing("CDMA.D_ZERO_PADDING.pad_left", "CSC.D_ZERO_PADDING.pad_left", 2, 1, 2, small_conv()),
    **agreeing("CDMA.D_ZERO_PADDING.pad_top", "CSC.D_ZERO_PADDING.pad_top", 0, 1, 0, small_conv()),
    **agreeing("CDMA.D_ZERO_PADDING_VALUE.pad_value", "CSC.D_ZERO_PADDING_VALUE.pad_value", 5, -7, 5, small_conv()),
    **agreeing("CSC.D_DATAOUT_SIZE_1.dataout_channel", "CACC.D_DATAOUT_SIZE_1.dataout_channel", 9, 9, 10, small_conv()),
    **agreeing("CSC.D_DATAOUT_SIZE_1.dataout_channel", "CSC.D_WEIGHT_SIZE_EXT_1.weight_kernel", 9, 9, 10, small_conv()),
    **agreeing("CSC.D_DATAOUT_SIZE_1.dataout_channel", "CDMA.D_WEIGHT_SIZE_1.weight_kernel", 9, 9, 10, small_conv()),
    **agreeing("CSC.D_DATAOUT_SIZE_1.dataout_channel", "SDP.D_DATA_CUBE_CHANNEL.channel", 9, 9, 10, small_conv()),
    **agreeing("CSC.D_DATAOUT_SIZE_0.dataout_width", "CACC.D_DATAOUT_SIZE_0.dataout_width", 9, 3, 10, small_conv()),
    **agreeing("CSC.D_DATAOUT_SIZE_0.dataout_height", "SDP.D_DATA_CUBE_HEIGHT.height", 9, 5, 10, small_conv()),
    **agreeing("CSC.D_DATAOUT_SIZE_0.dataout_width", "SDP_RDMA.D_DATA_CUBE_WIDTH.width", 9, 3, 10, biased_conv()),
    "precision of the build": (
        small_conv(),
        {f"{MISC[unit]}.proc_precision": 1 for unit in PIPELINE},
        "CDMA.D_MISC_CFG.proc_precision must be INT8, not INT16: nv_small",
    ),
    "input precision of the build": (
        small_conv(),
        {f"{MISC[unit]}.in_precision": 2 for unit in ("CDMA", "CSC")},
        "CDMA.D_MISC_CFG.in_precision must be INT8, not FP16: nv_small",
    ),
    "converted cube": (
        small_conv(FULL),
        {f"{MISC[unit]}.in_precision": 1 for unit in ("CDMA", "CSC")},
        "CDMA.D_MISC_CFG.in_precision must be INT8, not INT16: conversion of a feature cube to another precision is "
        "not modelled",
    ),
    "kernel channels": (
        small_conv(),
        {"CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext": 7},
        "CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext: must be the 10 of the input, not 8",
    ),
    "kernel bytes": (
        small_conv(),
        {"CDMA.D_WEIGHT_SIZE_0.byte_per_kernel": 60},
        "CDMA.D_WEIGHT_SIZE_0.byte_per_kernel: must be the 60 bytes of a kernel, not 61",
    ),
    "weight bytes": (
        small_conv(),
        {f"{unit}.D_WEIGHT_BYTES.weight_bytes": 540 for unit in ("CDMA", "CSC")},
        "CDMA.D_WEIGHT_BYTES.weight_bytes: whole_bytes must be a multiple of 8 from 544 to 640, not 540",
    ),
    "output height": (
        small_conv(),
        {
            "CSC.D_DATAOUT_SIZE_0.dataout_height": 3,
            "CACC.D_DATAOUT_SIZE_0.dataout_height": 3,
            "SDP.D_DATA_CUBE_HEIGHT.height": 3,
        },
        "CSC.D_DATAOUT_SIZE_0.dataout_height: must be the 5 that input, kernel, stride and padding give, not 4",
    ),
    "atomics": (
        small_conv(),
        {"CSC.D_ATOMICS.atomics": 15},
        "CSC.D_ATOMICS.atomics: must be the 15 of the output, not 16",
    ),
    "entries": (
        small_conv(),
        {f"{unit}.D_ENTRY_PER_SLICE.entries": 10 for unit in ("CDMA", "CSC")},
        "CDMA.D_ENTRY_PER_SLICE.entries: must be the 10 that a line of the input takes, not 11",
    ),
    "padding": (
        small_conv(),
        {f"{unit}.D_ZERO_PADDING.pad_left": 3 for unit in ("CDMA", "CSC")},
        "CDMA.D_ZERO_PADDING.pad_left: pad_left must be less than the dilated kernel's width of 3, not 3",
    ),
    "post-extension of a cube": (
        small_conv(),
        {"CSC.D_POST_Y_EXTENSION.y_extension": 1},
        "CSC.D_POST_Y_EXTENSION.y_extension must be 0, not 1: post-extension is for images",
    ),
    "line packed": (
        replace(small_conv(), src=Surface(FeatureLayout(SMALL, INT8, (10, 4, 5), 48, 192), 0x1000)),
        {"CDMA.D_DAIN_MAP.line_packed": 1},
        "CDMA.D_DAIN_MAP.line_packed must be FALSE, not TRUE, with a stride of 48 bytes",
    ),
    "surface packed": (
        replace(small_conv(), src=Surface(FeatureLayout(SMALL, INT8, (10, 4, 5), 40, 168), 0x1000)),
        {"CDMA.D_DAIN_MAP.surf_packed": 1},
        "CDMA.D_DAIN_MAP.surf_packed must be FALSE, not TRUE, with a stride of 168 bytes",
    ),
    "unaligned line stride": (
        small_conv(),
        {"CDMA.D_LINE_STRIDE.line_stride": 41},
        "CDMA.D_LINE_STRIDE.line_stride: line_stride_bytes must be a multiple of the 8-byte atom, not 41",
    ),
    "unaligned source": (
        small_conv(),
        {"CDMA.D_DAIN_ADDR_LOW_0.datain_addr_low_0": 0x1004},
        "CDMA.D_DAIN_ADDR_LOW_0.datain_addr_low_0: address must be a multiple of the 8-byte atom, not 0x1004",
    ),
    "unaligned weights": (
        small_conv(),
        {"CDMA.D_WEIGHT_ADDR_LOW.weight_addr_low": 0x3080},
        "CDMA.D_WEIGHT_ADDR_LOW.weight_addr_low: address must be a multiple of 256 bytes, not 0x3080",
    ),
    "source in CVSRAM": (
        small_conv(),
        {"CDMA.D_DAIN_RAM_TYPE.datain_ram_type": 0},
        "CDMA.D_DAIN_RAM_TYPE.datain_ram_type must be MC, not CV: nv_small has no secondary memory interface",
    ),
    "image in CVSRAM": (
        image_conv(),
        {"CDMA.D_DAIN_RAM_TYPE.datain_ram_type": 0},
        "CDMA.D_DAIN_RAM_TYPE.datain_ram_type must be MC, not CV: nv_small has no secondary memory interface",
    ),
    "weights in CVSRAM": (
        small_conv(),
        {"CDMA.D_WEIGHT_RAM_TYPE.weight_ram_type": 0},
        "CDMA.D_WEIGHT_RAM_TYPE.weight_ram_type must be MC, not CV: nv_small has no secondary memory interface",
    ),
    "all banks for data": (
        small_conv(),
        {f"{unit}.D_BANK.data_bank": 31 for unit in ("CDMA", "CSC")},
        "CDMA.D_BANK.data_bank: data_banks must be 1 to 31, not 32",
    ),
    "too many banks": (
        small_conv(),
        {f"{unit}.D_BANK.weight_bank": 31 for unit in ("CDMA", "CSC")},
        "CDMA.D_BANK.weight_bank: weight_banks must be 1 to 31 of 32 banks, not 32",
    ),
    "release": (
        small_conv(),
        {"CSC.D_RELEASE.rls_slices": 4},
        "CSC.D_RELEASE.rls_slices: release_slices must be 1 to the 4 lines of src, not 5",
    ),
    "flying mode of SDP": (
        small_conv(),
        {"SDP.D_FEATURE_MODE_CFG.flying_mode": 0},
        "SDP.D_FEATURE_MODE_CFG.flying_mode must be 1, not 0: SDP takes its input from the convolution core",
    ),
    "flying mode of RDMA": (
        biased_conv(),
        {"SDP_RDMA.D_FEATURE_MODE_CFG.flying_mode": 0},
        "SDP_RDMA.D_FEATURE_MODE_CFG.flying_mode must be 1, not 0: SDP takes its input from the convolution core",
    ),
    "RDMA disabled": (
        biased_conv(),
        {"SDP_RDMA.D_BRDMA_CFG.brdma_disable": 1},
        "SDP.D_DP_BS_ALU_CFG.bs_alu_src must be REG, not MEM: SDP_RDMA.D_BRDMA_CFG fetches no operand of the ALU",
    ),
    "processing precision": (
        small_conv(FULL),
        {"SDP.D_DATA_FORMAT.proc_precision": 1},
        "SDP.D_DATA_FORMAT.proc_precision must be INT8 from INT8 to INT8, not INT16",
    ),
    "output precision": (
        small_conv(),
        {"SDP.D_DATA_FORMAT.out_precision": 1},
        "SDP.D_DATA_FORMAT.out_precision must be INT8, not INT16: nv_small",
    ),
    "unknown pixel format": (
        image_conv(),
        {"CDMA.D_DATAIN_FORMAT.pixel_format": 36},
        f"CDMA.D_DATAIN_FORMAT.pixel_format: must be one of {', '.join(map(str, range(36)))}, not 36",
    ),
    "pixel format of other channels": (
        image_conv(),
        {"CDMA.D_DATAIN_FORMAT.pixel_format": 0},
        "CDMA.D_DATAIN_SIZE_1.datain_channel: must be the 1 of T_R8, not 4",
    ),
    "pixel format of another precision": (
        image_conv(),
        {"CDMA.D_DATAIN_FORMAT.pixel_format": 20},
        "CDMA.D_MISC_CFG.in_precision: must be the INT16 of T_A2B10G10R10, not INT8",
    ),
    "pixel mapping": (
        image_conv(),
        {"CDMA.D_DATAIN_FORMAT.pixel_mapping": 1},
        "CDMA.D_DATAIN_FORMAT.pixel_mapping must be 0, not 1: other mappings than pitch-linear are reserved",
    ),
    "Y offset": (
        image_conv(),
        {"CDMA.D_PIXEL_OFFSET.pixel_y_offset": 2},
        "CDMA.D_PIXEL_OFFSET.pixel_y_offset must be 0, not 2: an image starts at its first line",
    ),
    "X offset": (
        image_conv(),
        {"CDMA.D_PIXEL_OFFSET.pixel_x_offset": 2},
        "CDMA.D_PIXEL_OFFSET.pixel_x_offset: x_offset must be 0 to 1, not 2",
    ),
    "image line stride": (
        image_conv(),
        {"CDMA.D_LINE_STRIDE.line_stride": 16},
        "CDMA.D_LINE_STRIDE.line_stride: line_stride_bytes must be at least the 24 bytes of a line, not 16",
    ),
    "columns of an image kernel": (
        image_conv(),
        {"CSC.D_WEIGHT_SIZE_EXT_0.weight_width_ext": 1},
        "CSC.D_WEIGHT_SIZE_EXT_0.weight_width_ext must be 0, not 1: the columns of a line are channels",
    ),
    "channels of an image kernel": (
        image_conv(),
        {"CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext": 6},
        "CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext must be a multiple of the 4 channels, not 7",
    ),
    "post-extension": (
        image_conv(),
        {"CSC.D_POST_Y_EXTENSION.y_extension": 1},
        "CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext: extended channels must be at most 4 with 2-line post-extension, "
        "not 8",
    ),
    "unknown post-extension": (
        image_conv(),
        {"CSC.D_POST_Y_EXTENSION.y_extension": 3},
        "CSC.D_POST_Y_EXTENSION.y_extension: must be one of 0, 1, 2, not 3",
    ),
}


@pytest.mark.parametrize(("layer", "changes", "message"), REFUSALS.values(), ids=REFUSALS)
def test_a_program_is_refused(layer: ConvLayer, changes: dict[str, int], message: str) -> None:
    check_refused(layer, layer.dst.layout.config, changes, message)


def test_pixels_of_another_precision_need_the_converter() -> None:
    layout = PixelLayout.packed(FULL, "T_R16", (1, 3, 5))
    layer = ConvLayer(
        ImageSurface(layout, (0x1000,)),
        WeightSurface(ImageWeightLayout(FULL, INT8, (2, 1, 2, 2)), 0x3000),
        surface((2, 2, 4), 0x2000, FULL),
        conv_params(),
        small_conv(FULL).sdp,
        CbufUse(1, 1),
        PixelConversion(INT8, CONVERTER),
    )
    assert decode_with(layer, FULL, {}) == layer
    message = "CDMA.D_CVT_CFG.cvt_en must be ENABLE, not DISABLE: T_R16 is not INT8"
    check_refused(layer, FULL, {"CDMA.D_CVT_CFG.cvt_en": 0}, message)


def test_a_format_that_the_build_lacks_is_refused() -> None:
    config = replace(SMALL, name="few", image_formats_packed=("R8", "A8B8G8R8"))
    words = words_of(image_conv(), SMALL)
    words["CDMA"]["D_DATAIN_FORMAT"] ^= (12 ^ 13) << 8
    message = (
        "CDMA.D_DATAIN_FORMAT.pixel_format: pixel format must be one of T_R8, T_A8B8G8R8, T_Y8___U8V8_N444, "
        "T_Y8___V8U8_N444 for few, not T_A8R8G8B8"
    )
    with pytest.raises(InputError, match=rf"^{re.escape(message)}$"):
        decode(chain_of(image_conv()), words, config)
