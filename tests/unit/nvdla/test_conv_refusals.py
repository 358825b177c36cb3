"""Convolution programs that are refused, with register, field and rule."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nvdla_models.layout import FeatureLayout, ImageWeightLayout, PixelConversion, PixelLayout
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import ConvLayer, Surface
from nvdla_tb.nvdla.program.codec import decode
from nvdla_tb.nvdla.surfaces import CbufUse, ImageSurface, WeightSurface
from tests.unit.nvdla.conv_samples import CONVERTER, biased_conv, conv_params, image_conv, small_conv
from tests.unit.nvdla.registers_helper import (
    NO_CVSRAM,
    cases,
    check_refused,
    decode_with,
    refused,
    words_of,
)
from tests.unit.nvdla.samples import FULL, SMALL, surface

PIPELINE = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
INT8 = Precision.INT8

BATCHES = (
    *(f"{unit}.D_BATCH_NUMBER.batches" for unit in ("CDMA", "CSC", "CACC")),
    "SDP.D_FEATURE_MODE_CFG.batch_number",
)


def both(field: str) -> tuple[str, ...]:
    """Return the field of CDMA and the one of CSC that hold the same."""
    return (f"CDMA.{field}", f"CSC.{field}")


def pipeline(field: str) -> tuple[str, ...]:
    return tuple(f"{unit}.D_MISC_CFG.{field}" for unit in PIPELINE)


REFUSALS = (
    *cases(
        small_conv(),
        (
            (*pipeline("conv_mode"), "SDP.D_FEATURE_MODE_CFG.winograd"),
            1,
            ": weights must not be for Winograd: nv_small has none",
        ),
        (BATCHES, 3, ": batch.cubes must be 1 on nv_small, which has no batches, not 4"),
        (
            both("D_WEIGHT_FORMAT.weight_format"),
            1,
            ": weights must be uncompressed for nv_small, which cannot decompress",
        ),
        (pipeline("proc_precision"), 1, " must be INT8, not INT16: nv_small"),
        (both("D_MISC_CFG.in_precision"), 2, " must be INT8, not FP16: nv_small"),
        ("CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext", 7, ": must be the 10 of the input, not 8"),
        ("CDMA.D_WEIGHT_SIZE_0.byte_per_kernel", 60, ": must be the 60 bytes of a kernel, not 61"),
        (both("D_WEIGHT_BYTES.weight_bytes"), 540, ": whole_bytes must be a multiple of 8 from 544 to 640, not 540"),
        (
            (
                "CSC.D_DATAOUT_SIZE_0.dataout_height",
                "CACC.D_DATAOUT_SIZE_0.dataout_height",
                "SDP.D_DATA_CUBE_HEIGHT.height",
            ),
            3,
            ": must be the 5 that input, kernel, stride and padding give, not 4",
        ),
        ("CSC.D_ATOMICS.atomics", 15, ": must be the 15 of the output, not 16"),
        (both("D_ENTRY_PER_SLICE.entries"), 10, ": must be the 10 that a line of the input takes, not 11"),
        (both("D_ZERO_PADDING.pad_left"), 3, ": pad_left must be less than the dilated kernel's width of 3, not 3"),
        ("CDMA.D_LINE_STRIDE.line_stride", 41, ": line_stride_bytes must be a multiple of the 8-byte atom, not 41"),
        (
            "CDMA.D_DAIN_ADDR_LOW_0.datain_addr_low_0",
            0x1004,
            ": address must be a multiple of the 8-byte atom, not 0x1004",
        ),
        (
            "CDMA.D_WEIGHT_ADDR_LOW.weight_addr_low",
            0x3084,
            ": address must be a multiple of the 8-byte atom, not 0x3084",
        ),
        ("CDMA.D_DAIN_RAM_TYPE.datain_ram_type", 0, NO_CVSRAM),
        ("CDMA.D_WEIGHT_RAM_TYPE.weight_ram_type", 0, NO_CVSRAM),
        (both("D_BANK.data_bank"), 31, ": data_banks must be 1 to 31, not 32"),
        (both("D_BANK.weight_bank"), 31, ": weight_banks must be 1 to 31 of 32 banks, not 32"),
        ("CSC.D_RELEASE.rls_slices", 4, ": release_slices must be 1 to the 4 lines of src, not 5"),
        ("SDP.D_DATA_FORMAT.out_precision", 1, " must be INT8, not INT16: nv_small"),
    ),
    *cases(
        small_conv(FULL),
        (
            (*both("D_MISC_CFG.data_reuse"), *BATCHES),
            1,
            ": reuse_data and reuse_weights must be False with a batch, which was not measured",
        ),
        (
            (*both("D_MISC_CFG.weight_reuse"), *BATCHES),
            1,
            "CDMA.D_MISC_CFG.data_reuse: reuse_data and reuse_weights must be False with a batch, which was not "
            "measured",
        ),
        (
            both("D_WEIGHT_FORMAT.weight_format"),
            1,
            "CDMA.D_WMB_BYTES.wmb_bytes: must be the 128 bytes of the mask, not 0",
        ),
        (
            both("D_MISC_CFG.in_precision"),
            1,
            " must be INT8, not INT16: conversion of a feature cube to another precision is not modelled",
        ),
        ("SDP.D_DATA_FORMAT.proc_precision", 1, " must be INT8 from INT8 to INT8, not INT16"),
    ),
    *cases(
        biased_conv(),
        (
            "SDP_RDMA.D_BRDMA_CFG.brdma_disable",
            1,
            "SDP.D_DP_BS_ALU_CFG.bs_alu_src must be REG, not MEM: SDP_RDMA.D_BRDMA_CFG fetches no operand of the ALU",
        ),
    ),
    *cases(
        replace(small_conv(), src=Surface(FeatureLayout(SMALL, INT8, (10, 4, 5), 48, 192), 0x1000)),
        ("CDMA.D_DAIN_MAP.line_packed", 1, " must be FALSE, not TRUE, with a stride of 48 bytes"),
    ),
    *cases(
        replace(small_conv(), src=Surface(FeatureLayout(SMALL, INT8, (10, 4, 5), 40, 168), 0x1000)),
        ("CDMA.D_DAIN_MAP.surf_packed", 1, " must be FALSE, not TRUE, with a stride of 168 bytes"),
    ),
    *cases(
        image_conv(),
        ("CDMA.D_DAIN_RAM_TYPE.datain_ram_type", 0, NO_CVSRAM),
        ("CDMA.D_DATAIN_FORMAT.pixel_format", 36, f": must be one of {', '.join(map(str, range(36)))}, not 36"),
        ("CDMA.D_DATAIN_FORMAT.pixel_format", 0, "CDMA.D_DATAIN_SIZE_1.datain_channel: must be the 1 of T_R8, not 4"),
        (
            "CDMA.D_DATAIN_FORMAT.pixel_format",
            20,
            "CDMA.D_MISC_CFG.in_precision: must be the INT16 of T_A2B10G10R10, not INT8",
        ),
        ("CDMA.D_PIXEL_OFFSET.pixel_x_offset", 2, ": x_offset must be 0 to 1, not 2"),
        ("CDMA.D_LINE_STRIDE.line_stride", 16, ": line_stride_bytes must be at least the 24 bytes of a line, not 16"),
        ("CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext", 6, " must be a multiple of the 4 channels, not 7"),
        (
            "CSC.D_POST_Y_EXTENSION.y_extension",
            1,
            "CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext: extended channels must be at most 4 with 2-line "
            "post-extension, not 8",
        ),
        ("CSC.D_POST_Y_EXTENSION.y_extension", 3, ": must be one of 0, 1, 2, not 3"),
    ),
)


@pytest.mark.parametrize(("layer", "changes", "message"), REFUSALS)
def test_a_program_is_refused(layer: ConvLayer, changes: dict[str, int], message: str) -> None:
    check_refused(layer, changes, message)


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
    assert decode_with(layer, {}) == layer
    message = "CDMA.D_CVT_CFG.cvt_en must be ENABLE, not DISABLE: T_R16 is not INT8"
    check_refused(layer, {"CDMA.D_CVT_CFG.cvt_en": 0}, message)


def test_a_format_that_the_build_lacks_is_refused() -> None:
    config = replace(SMALL, name="few", image_formats_packed=("R8", "A8B8G8R8"))
    words = words_of(image_conv())
    words["CDMA"]["D_DATAIN_FORMAT"] ^= (12 ^ 13) << 8
    message = (
        "CDMA.D_DATAIN_FORMAT.pixel_format: pixel format must be one of T_R8, T_A8B8G8R8, T_Y8___U8V8_N444, "
        "T_Y8___V8U8_N444 for few, not T_A8R8G8B8"
    )
    with refused(message):
        decode(chain_of(image_conv()), words, config)
