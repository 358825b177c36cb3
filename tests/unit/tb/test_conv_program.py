"""Convolution programs: golden words by hand, and every refusal with register, field and rule."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest

from models.config import HwConfig
from models.converter import Converter, ConverterEncoding
from models.layout import FeatureLayout, ImageWeightLayout, OperandLayout, PixelConversion, PixelLayout, WeightLayout
from models.precision import Precision
from tb.layers import ConvLayer, StageSource, Surface
from tb.memory import Ram
from tb.program.codec import decode, encode, engine_of
from tb.program.ops import InterruptNotify, Poll, RegWrite
from tb.surfaces import CbufUse, ImageSurface, OperandSurface, WeightSurface
from tests.unit.tb.conv_samples import CONVERTER, biased_conv, conv_params, image_conv, planar_conv, small_conv
from tests.unit.tb.registers_helper import check_refused, decode_with, words_of
from tests.unit.tb.samples import FULL, SMALL, surface

PIPELINE = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
INT8, INT16 = Precision.INT8, Precision.INT16


def test_a_convolution_has_the_words_that_the_register_manual_gives() -> None:
    words = words_of(small_conv(), SMALL)
    cdma, csc, cacc, sdp = words["CDMA"], words["CSC"], words["CACC"], words["SDP"]
    assert [words[unit]["D_MISC_CFG"] for unit in PIPELINE] == [0] * 5
    assert (cdma["D_DATAIN_SIZE_0"], cdma["D_DATAIN_SIZE_1"]) == (3 << 16 | 4, 9)
    assert (csc["D_DATAIN_SIZE_EXT_0"], csc["D_DATAIN_SIZE_EXT_1"]) == (3 << 16 | 4, 9)
    assert (cdma["D_DAIN_ADDR_LOW_0"], cdma["D_LINE_STRIDE"], cdma["D_SURF_STRIDE"]) == (0x1000, 40, 160)
    assert (cdma["D_DAIN_MAP"], cdma["D_DAIN_RAM_TYPE"], cdma["D_FETCH_GRAIN"]) == (1 << 16 | 1, 1, 0)
    assert (cdma["D_WEIGHT_ADDR_LOW"], cdma["D_WEIGHT_BYTES"], csc["D_WEIGHT_BYTES"]) == (0x3000, 640, 640)
    assert (cdma["D_WEIGHT_SIZE_0"], cdma["D_WEIGHT_SIZE_1"]) == (59, 8)
    assert (csc["D_WEIGHT_SIZE_EXT_0"], csc["D_WEIGHT_SIZE_EXT_1"]) == (1 << 16 | 2, 8 << 16 | 9)
    assert (cdma["D_CONV_STRIDE"], csc["D_CONV_STRIDE_EXT"], csc["D_DILATION_EXT"]) == (1, 1, 0)
    assert (cdma["D_ZERO_PADDING"], csc["D_ZERO_PADDING"]) == (0x01010101, 0x00010001)
    assert (cdma["D_ZERO_PADDING_VALUE"], csc["D_ZERO_PADDING_VALUE"]) == (0xF9, 0xF9)
    assert (cdma["D_ENTRY_PER_SLICE"], csc["D_ENTRY_PER_SLICE"]) == (9, 9)
    assert (cdma["D_BANK"], csc["D_BANK"], csc["D_RELEASE"]) == (1 << 16, 1 << 16, 3)
    assert (csc["D_DATAOUT_SIZE_0"], csc["D_DATAOUT_SIZE_1"], csc["D_ATOMICS"]) == (4 << 16 | 2, 8, 14)
    assert (cacc["D_DATAOUT_SIZE_0"], cacc["D_DATAOUT_SIZE_1"], cacc["D_CLIP_CFG"]) == (4 << 16 | 2, 8, 0)
    assert [sdp[f"D_DATA_CUBE_{axis}"] for axis in ("WIDTH", "HEIGHT", "CHANNEL")] == [2, 4, 8]
    assert (sdp["D_FEATURE_MODE_CFG"], sdp["D_DST_BASE_ADDR_LOW"]) == (1, 0x2000)


def test_an_image_has_format_offset_converter_and_mean() -> None:
    words = words_of(image_conv(line_group=1), SMALL)
    cdma, csc = words["CDMA"], words["CSC"]
    assert (cdma["D_DATAIN_FORMAT"], csc["D_DATAIN_FORMAT"]) == (1 << 20 | 12 << 8 | 1, 1)
    assert (cdma["D_PIXEL_OFFSET"], cdma["D_DAIN_ADDR_LOW_0"], cdma["D_LINE_STRIDE"]) == (1, 0x1000, 24)
    assert (cdma["D_CVT_CFG"], cdma["D_CVT_OFFSET"], cdma["D_CVT_SCALE"]) == (2 << 4 | 1, 0xFFFD, 5)
    assert (cdma["D_MEAN_FORMAT"], cdma["D_MEAN_GLOBAL_0"], cdma["D_MEAN_GLOBAL_1"]) == (1, 0xFFFE0001, 0xFFFC0003)
    assert (csc["D_WEIGHT_SIZE_EXT_0"], csc["D_WEIGHT_SIZE_EXT_1"]) == (1 << 16, 1 << 16 | 7)
    assert (csc["D_POST_Y_EXTENSION"], csc["D_ENTRY_PER_SLICE"]) == (0, 2)


def test_a_semi_planar_image_has_two_addresses_and_strides() -> None:
    cdma = words_of(planar_conv(), SMALL)["CDMA"]
    assert (cdma["D_DATAIN_FORMAT"], cdma["D_CVT_CFG"], cdma["D_MEAN_FORMAT"]) == (28 << 8 | 1, 0, 0)
    assert (cdma["D_DAIN_ADDR_LOW_0"], cdma["D_DAIN_ADDR_LOW_1"]) == (0x1000, 0x1800)
    assert (cdma["D_LINE_STRIDE"], cdma["D_LINE_UV_STRIDE"]) == (8, 8)


def test_the_program_waits_for_the_flush_and_enables_from_the_end_of_the_pipeline() -> None:
    ops = encode(small_conv(), SMALL, 1, sync_id="done")
    units = ("SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
    assert ops[-8:] == (
        Poll("CDMA.S_CBUF_FLUSH_STATUS", 1),
        *(RegWrite(f"{unit}.D_OP_ENABLE", 1) for unit in units),
        InterruptNotify("SDP", 1, "done"),
    )


def test_rdma_takes_part_only_for_operands_in_memory() -> None:
    assert engine_of(small_conv()).units == ("SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
    assert engine_of(biased_conv()).units == ("SDP_RDMA", "SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
    assert decode_with(biased_conv(), SMALL, {}) == biased_conv()


def test_units_may_be_in_different_groups() -> None:
    groups = {"SDP": 1, "CACC": 0, "CMAC_A": 1, "CMAC_B": 0, "CSC": 1, "CDMA": 0}
    ops = encode(small_conv(), SMALL, groups, sync_id="done")
    pointers = {op.register: op.value for op in ops if isinstance(op, RegWrite) and op.register.endswith("S_POINTER")}
    assert pointers == {f"{unit}.S_POINTER": group for unit, group in groups.items()}
    assert ops[-1] == InterruptNotify("SDP", 1, "done")


def test_the_high_byte_of_the_padding_does_not_matter_for_int8() -> None:
    changes = {f"{unit}.D_ZERO_PADDING_VALUE.pad_value": 0x97F9 for unit in ("CDMA", "CSC")}
    assert decode_with(small_conv(), SMALL, changes) == small_conv()


def test_int16_has_the_words_of_its_precision() -> None:
    layer = small_conv(FULL, INT16)
    words = words_of(layer, FULL)
    assert words["CDMA"]["D_MISC_CFG"] == 1 << 12 | 1 << 8
    assert words["CACC"]["D_MISC_CFG"] == 1 << 12
    assert (words["CDMA"]["D_ZERO_PADDING_VALUE"], words["CDMA"]["D_WEIGHT_SIZE_0"]) == (0xFFF9, 119)
    assert decode_with(layer, FULL, {}) == layer


MISC = {unit: f"{unit}.D_MISC_CFG" for unit in PIPELINE}
Refusal = tuple[ConvLayer, dict[str, int], str]
REUSE = "reuse of what lies in the convolution buffer is not modelled"


def agreeing(first: str, second: str, value: int, shown: object, new: object, layer: ConvLayer) -> dict[str, Refusal]:
    """Return the refusal of a field that must hold what another holds."""
    return {second: (layer, {second: value}, f"{second} must agree with {first} ({shown}), not {new}")}


REFUSALS: dict[str, Refusal] = {
    **{
        f"Winograd {unit}": (
            small_conv(),
            {f"{MISC[unit]}.conv_mode": 1},
            f"{MISC[unit]}.conv_mode must be 0, not 1: Winograd is not modelled",
        )
        for unit in PIPELINE
    },
    **{
        f"{what} reuse {unit}": (
            small_conv(),
            {f"{MISC[unit]}.{what}_reuse": 1},
            f"{MISC[unit]}.{what}_reuse must be 0, not 1: {REUSE}",
        )
        for unit in ("CDMA", "CSC")
        for what in ("data", "weight")
    },
    **{
        f"batches {unit}": (
            small_conv(),
            {f"{unit}.D_BATCH_NUMBER.batches": 3},
            f"{unit}.D_BATCH_NUMBER.batches must be 0, not 3: batches are not modelled",
        )
        for unit in ("CDMA", "CSC", "CACC")
    },
    **{
        f"compression {unit}": (
            small_conv(),
            {f"{unit}.D_WEIGHT_FORMAT.weight_format": 1},
            f"{unit}.D_WEIGHT_FORMAT.weight_format must be 0, not 1: compressed weights are not modelled",
        )
        for unit in ("CDMA", "CSC")
    },
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
    "FP16": (
        small_conv(FULL),
        {f"{MISC[unit]}.proc_precision": 2 for unit in PIPELINE},
        "CDMA.D_MISC_CFG.proc_precision must be INT8 or INT16, not FP16: FP16 convolution is not modelled",
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
        "CDMA.D_WEIGHT_BYTES.weight_bytes: must be the 640 bytes of all kernels, not 540",
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
    "left over": (
        small_conv(),
        {"CDMA.D_ZERO_PADDING.pad_right": 2},
        "CDMA.D_DATAIN_SIZE_0.datain_width: width with padding minus the dilated kernel's 3 must be a multiple of the "
        "stride 2, not 5",
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
    with refused(
        "CDMA.D_DATAIN_FORMAT.pixel_format: pixel format must be one of T_R8, T_A8B8G8R8, T_Y8___U8V8_N444, "
        "T_Y8___V8U8_N444 for few, not T_A8R8G8B8"
    ):
        decode(engine_of(image_conv()), words, config)


def refused(message: str) -> pytest.RaisesExc[ValueError]:
    return pytest.raises(ValueError, match=rf"^{re.escape(message)}$")


def cbuf(**changes: Any) -> CbufUse:
    return replace(CbufUse(1, 2, release_slices=4), **changes)


OPERANDS = OperandSurface(OperandLayout.packed(SMALL, INT8, (9, 1, 1), ("mul",), 1), 0x5000)
LAYERS: dict[str, tuple[ConvLayer, dict[str, Any], str]] = {
    "shape": (small_conv(), {"dst": surface((9, 5, 4), 0x2000)}, "dst must have the shape (9, 5, 3), not (9, 5, 4)"),
    "channels": (
        small_conv(),
        {"weights": WeightSurface(WeightLayout(SMALL, INT8, (9, 8, 2, 3)), 0x3000)},
        "weights must have the 10 channels of src, not 8",
    ),
    "configuration": (
        small_conv(),
        {"dst": surface((9, 5, 3), 0x2000, FULL)},
        "dst must be laid out for nv_small as src, not nv_full",
    ),
    "precision of src": (
        small_conv(FULL),
        {"src": surface((10, 4, 5), 0x1000, FULL, INT16)},
        "src must have the precision INT8, not INT16",
    ),
    "precision of weights": (
        small_conv(FULL),
        {"weights": WeightSurface(WeightLayout(FULL, INT16, (9, 10, 2, 3)), 0x3000)},
        "weights must have the precision INT8, not INT16",
    ),
    "precision of SDP": (
        small_conv(FULL),
        {"sdp": small_conv(FULL, INT16).sdp},
        "sdp.input_precision must have the precision INT8, not INT16",
    ),
    "precision of dst": (
        small_conv(FULL),
        {"dst": surface((9, 5, 3), 0x2000, FULL, INT16)},
        "dst must have the precision INT8, not INT16",
    ),
    "padding channels": (
        small_conv(FULL),
        {
            "dst": surface((9, 5, 3), 0x2000, FULL, INT16),
            "sdp": replace(small_conv(FULL).sdp, output_precision=INT16),
        },
        "dst must have the 32 channels of SDP with padding, not 16",
    ),
    "precision of operands": (
        replace(small_conv(FULL)),
        {
            "sdp": replace(small_conv(FULL).sdp, x1=biased_conv().sdp.x1),
            "x1": StageSource(memory=OperandSurface(OperandLayout.packed(FULL, INT16, (9, 1, 1), ("alu",), 2), 0x5000)),
        },
        "x1.memory must have the processing precision INT8, not INT16",
    ),
    "operand of a bypassed stage": (
        small_conv(),
        {"x2": StageSource(memory=OPERANDS)},
        "x2 must be None, because the stage is bypassed",
    ),
    "image weights of a cube": (
        small_conv(),
        {"weights": WeightSurface(ImageWeightLayout(SMALL, INT8, (9, 10, 2, 3)), 0x3000)},
        "weights must be laid out for direct convolution, because src is a feature cube",
    ),
    "pixel conversion of a cube": (
        small_conv(),
        {"conversion": PixelConversion(INT8)},
        "conversion must be a Converter of CDMA or None, because src is a feature cube",
    ),
    "another unit's converter": (
        small_conv(),
        {"conversion": Converter(0, 1, 0, ConverterEncoding.SDP_OUTPUT)},
        "conversion must be a Converter of CDMA or None, because src is a feature cube",
    ),
    "fetch of lines with gaps": (
        small_conv(),
        {
            "src": Surface(FeatureLayout(SMALL, INT8, (10, 4, 5), 48, 192), 0x1000),
            "cbuf": cbuf(fetch_slices=2),
        },
        "fetch_slices must be 1, because lines are not packed, not 2",
    ),
    "no fetch": (
        small_conv(),
        {"cbuf": cbuf(fetch_slices=0)},
        "fetch_slices must be at least 1, not 0",
    ),
    "fetch of image lines": (
        image_conv(),
        {"cbuf": CbufUse(1, 1, fetch_slices=2)},
        "fetch_slices must be 1 for image input, not 2",
    ),
    "weights of an image": (
        image_conv(),
        {"weights": WeightSurface(WeightLayout(SMALL, INT8, (2, 4, 2, 2)), 0x3000)},
        "weights must be laid out for image input, because src is an image",
    ),
    "conversion of an image": (
        image_conv(),
        {"conversion": CONVERTER},
        "conversion must be a PixelConversion, because src is an image",
    ),
    "precision of the conversion": (
        image_conv(),
        {"conversion": PixelConversion(INT16, CONVERTER)},
        "conversion must have the precision INT8, not INT16",
    ),
    "dilated image": (
        image_conv(),
        {"params": conv_params(dilation_x=3)},
        "dilation must be 1 for image input, not 3 along W and 1 along H",
    ),
    "stride with post-extension": (
        image_conv(),
        {
            "params": conv_params(stride_x=2),
            "weights": WeightSurface(ImageWeightLayout(SMALL, INT8, (2, 4, 2, 1), 2), 0x3000),
        },
        "stride_x times channels must be at most 4 with 2-line post-extension, not 8",
    ),
    "strides of one pixel": (
        small_conv(),
        {
            "src": surface((10, 1, 1), 0x1000),
            "dst": Surface(FeatureLayout(SMALL, INT8, (9, 1, 1), 16, 16), 0x2000),
            "params": conv_params(),
            "weights": WeightSurface(WeightLayout(SMALL, INT8, (9, 10, 1, 1)), 0x3000),
            "cbuf": CbufUse(1, 1),
        },
        "dst must have strides of 8 bytes, because SDP ignores those of a 1 x 1 cube, not 16 and 16",
    ),
    "input beyond its banks": (
        small_conv(),
        {
            "src": surface((10, 4, 71), 0x1000),
            "dst": surface((9, 5, 36), 0x2000),
        },
        "data_banks must hold 4 slices of 142 entries, not 1 banks of 512 entries",
    ),
    "group beyond its banks": (
        small_conv(),
        {
            "src": surface((150, 4, 5), 0x1000),
            "weights": WeightSurface(WeightLayout(SMALL, INT8, (9, 150, 2, 3)), 0x3000),
            "cbuf": cbuf(weight_banks=1),
        },
        "weight_banks must hold 7328 bytes, not 1 banks of 4096",
    ),
    "kept weights beyond their banks": (
        small_conv(),
        {
            "weights": WeightSurface(WeightLayout(SMALL, INT8, (140, 10, 2, 3)), 0x3000),
            "dst": surface((140, 5, 3), 0x2000),
            "cbuf": cbuf(skip_weight_release=True),
        },
        "weight_banks must hold 8448 bytes, not 2 banks of 4096",
    ),
    "no banks for data": (small_conv(), {"cbuf": cbuf(data_banks=0)}, "data_banks must be 1 to 31, not 0"),
    "no banks for weights": (
        small_conv(),
        {"cbuf": cbuf(weight_banks=0)},
        "weight_banks must be 1 to 31 of 32 banks, not 0",
    ),
    "release": (
        small_conv(),
        {"cbuf": cbuf(release_slices=0)},
        "release_slices must be 1 to the 4 lines of src, not 0",
    ),
}


@pytest.mark.parametrize(("layer", "changes", "message"), LAYERS.values(), ids=LAYERS)
def test_a_layer_that_does_not_fit_is_refused(layer: ConvLayer, changes: dict[str, Any], message: str) -> None:
    with refused(message):
        replace(layer, **changes)


def test_an_image_has_as_many_addresses_as_planes() -> None:
    with refused("addresses must be 2 for T_Y8___U8V8_N444, not 1"):
        replace(planar_conv().src, addresses=(0x1000,))
    with refused("address must be a multiple of the 8-byte atom, not 0x1804"):
        replace(planar_conv().src, addresses=(0x1000, 0x1804))


@pytest.mark.parametrize("address", [-256, 128])
def test_weights_start_at_a_multiple_of_256_bytes(address: int) -> None:
    with refused(f"address must be a multiple of 256 bytes, not {address:#x}"):
        WeightSurface(WeightLayout(SMALL, INT8, (9, 10, 2, 3)), address)


def test_weights_leave_no_address_space() -> None:
    with refused("address must leave room for 640 bytes in the 32-bit address space of nv_small, not 0xffffff00"):
        WeightSurface(WeightLayout(SMALL, INT8, (9, 10, 2, 3)), 0xFFFFFF00, Ram.MC)


def test_encode_refuses_a_convolution_of_another_configuration() -> None:
    with refused("layer must be laid out for nv_large, not nv_small"):
        encode(image_conv(), HwConfig.load("nv_large"))
