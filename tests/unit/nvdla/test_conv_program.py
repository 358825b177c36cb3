"""Convolution programs: golden words by hand."""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.program.codec import encode
from nvdla_tb.nvdla.program.ops import InterruptNotify, Poll, RegWrite
from tests.unit.nvdla.conv_samples import biased_conv, image_conv, planar_conv, small_conv
from tests.unit.nvdla.registers_helper import decode_with, refused, words_of
from tests.unit.nvdla.samples import FULL, SMALL

PIPELINE = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
INT8, INT16 = Precision.INT8, Precision.INT16


def test_a_convolution_has_the_words_that_the_register_manual_gives() -> None:
    words = words_of(small_conv())
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
    words = words_of(image_conv(line_group=1))
    cdma, csc = words["CDMA"], words["CSC"]
    assert (cdma["D_DATAIN_FORMAT"], csc["D_DATAIN_FORMAT"]) == (1 << 20 | 12 << 8 | 1, 1)
    assert (cdma["D_PIXEL_OFFSET"], cdma["D_DAIN_ADDR_LOW_0"], cdma["D_LINE_STRIDE"]) == (1, 0x1000, 24)
    assert (cdma["D_CVT_CFG"], cdma["D_CVT_OFFSET"], cdma["D_CVT_SCALE"]) == (2 << 4 | 1, 0xFFFD, 5)
    assert (cdma["D_MEAN_FORMAT"], cdma["D_MEAN_GLOBAL_0"], cdma["D_MEAN_GLOBAL_1"]) == (1, 0xFFFE0001, 0xFFFC0003)
    assert (csc["D_WEIGHT_SIZE_EXT_0"], csc["D_WEIGHT_SIZE_EXT_1"]) == (1 << 16, 1 << 16 | 7)
    assert (csc["D_POST_Y_EXTENSION"], csc["D_ENTRY_PER_SLICE"]) == (0, 2)


def test_a_semi_planar_image_has_two_addresses_and_strides() -> None:
    cdma = words_of(planar_conv())["CDMA"]
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
    assert chain_of(small_conv()).units == ("SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
    assert chain_of(biased_conv()).units == ("SDP_RDMA", "SDP", "CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
    assert decode_with(biased_conv(), {}) == biased_conv()


def test_units_may_be_in_different_groups() -> None:
    groups = {"SDP": 1, "CACC": 0, "CMAC_A": 1, "CMAC_B": 0, "CSC": 1, "CDMA": 0}
    ops = encode(small_conv(), SMALL, groups, sync_id="done")
    pointers = {op.register: op.value for op in ops if isinstance(op, RegWrite) and op.register.endswith("S_POINTER")}
    assert pointers == {f"{unit}.S_POINTER": group for unit, group in groups.items()}
    assert ops[-1] == InterruptNotify("SDP", 1, "done")


def test_the_high_byte_of_the_padding_does_not_matter_for_int8() -> None:
    changes = {f"{unit}.D_ZERO_PADDING_VALUE.pad_value": 0x97F9 for unit in ("CDMA", "CSC")}
    assert decode_with(small_conv(), changes) == small_conv()


def test_int16_has_the_words_of_its_precision() -> None:
    layer = small_conv(FULL, INT16)
    words = words_of(layer)
    assert words["CDMA"]["D_MISC_CFG"] == 1 << 12 | 1 << 8
    assert words["CACC"]["D_MISC_CFG"] == 1 << 12
    assert (words["CDMA"]["D_ZERO_PADDING_VALUE"], words["CDMA"]["D_WEIGHT_SIZE_0"]) == (0xFFF9, 119)
    assert decode_with(layer, {}) == layer


def test_encode_refuses_a_convolution_of_another_configuration() -> None:
    with refused("layer must be laid out for nv_large, not nv_small"):
        encode(image_conv(), HwConfig.load("nv_large"))
