"""The field table of convolution: CDMA, CSC, CMAC_A, CMAC_B and CACC, with SDP on the fly.

SDP_RDMA takes part only when a stage of SDP takes an operand from memory, so there are two tables.
"""

from __future__ import annotations

from nvdla_models.layout import PACKED_NAMES, SEMI_PLANAR_NAMES
from nvdla_tb.nvdla.program import sdp
from nvdla_tb.nvdla.program.common import PRECISION, RAM, halves
from nvdla_tb.nvdla.program.table import (
    FLAG,
    MINUS_ONE,
    SIGNED,
    Codec,
    Fixed,
    LowBits,
    Named,
    Row,
    Table,
    View,
    row,
    rows,
)

_PIPELINE = ("CDMA", "CSC", "CMAC_A", "CMAC_B", "CACC")
_FIRST_PLANAR = len(PACKED_NAMES)
_FIRST_OF_FOUR_CHANNELS = PACKED_NAMES.index("T_A16B16G16R16")
_PIXEL_FORMAT = Named(tuple((name, bits) for bits, name in enumerate(PACKED_NAMES + SEMI_PLANAR_NAMES)))
_LOW_BYTE = LowBits(8, SIGNED, extended=False)
_LINE_GROUP = Named(((1, 0), (2, 1), (4, 2)))
MEANS = ("ry", "gu", "bv", "ax")
CBUF = (
    *("data_banks", "weight_banks", "release_slices"),
    *("skip_data_release", "skip_weight_release", "reuse_data", "reuse_weights"),
)
PADS = ("pad_left", "pad_right", "pad_top", "pad_bottom")


def _both(attribute: str, name: str, codec: Codec, when: str = "") -> tuple[Row, ...]:
    """Return the rows of a value that CDMA and CSC hold under one name."""
    return rows(attribute, f"CDMA.{name}", f"CSC.{name}", codec=codec, when=when)


def _mean_rows() -> tuple[Row, ...]:
    """Return the rows of the mean; a format has the first, the first three or all of the channels."""
    conditions = ("mean", "mean & !one_channel", "mean & !one_channel", "mean & four_channels")
    return tuple(
        row(f"mean.{name}", f"CDMA.D_MEAN_GLOBAL_{n // 2}.mean_{name}", codec=SIGNED, when=conditions[n])
        for n, name in enumerate(MEANS)
    )


_CONV_TABLE: Table = (
    *(row("winograd", f"{unit}.D_MISC_CFG.conv_mode", codec=FLAG) for unit in _PIPELINE),
    row("winograd", "SDP.D_FEATURE_MODE_CFG.winograd", codec=FLAG),
    *_both("reuse_data", "D_MISC_CFG.data_reuse", FLAG),
    *_both("reuse_weights", "D_MISC_CFG.weight_reuse", FLAG),
    *(row("batch.cubes", f"{unit}.D_BATCH_NUMBER.batches", codec=MINUS_ONE) for unit in ("CDMA", "CSC", "CACC")),
    row("batch.cubes", "SDP.D_FEATURE_MODE_CFG.batch_number", codec=MINUS_ONE),
    View("batch", "CDMA.D_BATCH_NUMBER.batches", lambda bits: bits > 0),
    row("batch.src_stride_bytes", "CDMA.D_BATCH_STRIDE.batch_stride", when="batch"),
    row("batch.dst_stride_bytes", "SDP.D_DST_BATCH_STRIDE.dst_batch_stride", when="batch"),
    *_both("compressed", "D_WEIGHT_FORMAT.weight_format", FLAG),
    *_both("conversion_precision", "D_MISC_CFG.in_precision", PRECISION),
    *(row("input_precision", f"{unit}.D_MISC_CFG.proc_precision", codec=PRECISION) for unit in _PIPELINE),
    View("int8", "CDMA.D_MISC_CFG.proc_precision", lambda bits: bits == 0),
    View("float", "CDMA.D_MISC_CFG.proc_precision", lambda bits: bits == 2),
    row("flush_nan", "CDMA.D_NAN_FLUSH_TO_ZERO.nan_to_zero", codec=FLAG, when="float"),
    *_both("image", "D_DATAIN_FORMAT.datain_format", FLAG),
    row("format", "CDMA.D_DATAIN_FORMAT.pixel_format", codec=_PIXEL_FORMAT, when="image"),
    View("planar", "CDMA.D_DATAIN_FORMAT.pixel_format", lambda bits: bits >= _FIRST_PLANAR),
    View("one_channel", "CDMA.D_DATAIN_FORMAT.pixel_format", lambda bits: bits < _FIRST_OF_FOUR_CHANNELS),
    View(
        "four_channels",
        "CDMA.D_DATAIN_FORMAT.pixel_format",
        lambda bits: _FIRST_OF_FOUR_CHANNELS <= bits < _FIRST_PLANAR,
    ),
    Fixed("CDMA.D_DATAIN_FORMAT.pixel_mapping", 0, "other mappings than pitch-linear are reserved", when="image"),
    Fixed("CDMA.D_PIXEL_OFFSET.pixel_y_offset", 0, "an image starts at its first line", when="image"),
    row("src.x_offset", "CDMA.D_PIXEL_OFFSET.pixel_x_offset", when="image"),
    row("width", "CDMA.D_DATAIN_SIZE_0.datain_width", codec=MINUS_ONE),
    row("width", "CSC.D_DATAIN_SIZE_EXT_0.datain_width_ext", codec=MINUS_ONE, when="!winograd"),
    row("extended.width", "CSC.D_DATAIN_SIZE_EXT_0.datain_width_ext", codec=MINUS_ONE, when="winograd"),
    row("extended.width", "CDMA.D_DATAIN_SIZE_EXT_0.datain_width_ext", codec=MINUS_ONE, when="winograd"),
    row("width", "CDMA.D_DATAIN_SIZE_EXT_0.datain_width_ext", codec=MINUS_ONE, when="!winograd", significant=False),
    row("height", "CDMA.D_DATAIN_SIZE_0.datain_height", codec=MINUS_ONE),
    row("height", "CSC.D_DATAIN_SIZE_EXT_0.datain_height_ext", codec=MINUS_ONE, when="!winograd & !reuse_data"),
    row("lines", "CSC.D_DATAIN_SIZE_EXT_0.datain_height_ext", codec=MINUS_ONE, when="!winograd & reuse_data"),
    row("extended.height", "CSC.D_DATAIN_SIZE_EXT_0.datain_height_ext", codec=MINUS_ONE, when="winograd"),
    row("extended.height", "CDMA.D_DATAIN_SIZE_EXT_0.datain_height_ext", codec=MINUS_ONE, when="winograd"),
    row("height", "CDMA.D_DATAIN_SIZE_EXT_0.datain_height_ext", codec=MINUS_ONE, when="!winograd", significant=False),
    row("channels", "CDMA.D_DATAIN_SIZE_1.datain_channel", codec=MINUS_ONE),
    row("channels", "CSC.D_DATAIN_SIZE_EXT_1.datain_channel_ext", codec=MINUS_ONE, when="!winograd"),
    row("extended.channels", "CSC.D_DATAIN_SIZE_EXT_1.datain_channel_ext", codec=MINUS_ONE, when="winograd"),
    row("src.ram", "CDMA.D_DAIN_RAM_TYPE.datain_ram_type", codec=RAM),
    row("src.address", "CDMA.D_DAIN_ADDR_LOW_0.datain_addr_low_0", "CDMA.D_DAIN_ADDR_HIGH_0.datain_addr_high_0"),
    row(
        "src.second_address",
        "CDMA.D_DAIN_ADDR_LOW_1.datain_addr_low_1",
        "CDMA.D_DAIN_ADDR_HIGH_1.datain_addr_high_1",
        when="image & planar",
    ),
    row("src.line_stride_bytes", "CDMA.D_LINE_STRIDE.line_stride"),
    row("src.second_line_stride_bytes", "CDMA.D_LINE_UV_STRIDE.uv_line_stride", when="image & planar"),
    row("src.surface_stride_bytes", "CDMA.D_SURF_STRIDE.surf_stride", when="!image"),
    row("line_packed", "CDMA.D_DAIN_MAP.line_packed", codec=FLAG, when="!image"),
    row("surf_packed", "CDMA.D_DAIN_MAP.surf_packed", codec=FLAG, when="!image"),
    row("fetch_slices", "CDMA.D_FETCH_GRAIN.grains", codec=MINUS_ONE, when="!image & line_packed"),
    row("cvt", "CDMA.D_CVT_CFG.cvt_en", codec=FLAG),
    row("cvt.shift", "CDMA.D_CVT_CFG.cvt_truncate", when="cvt"),
    row("cvt.offset", "CDMA.D_CVT_OFFSET.cvt_offset", codec=SIGNED, when="cvt"),
    row("cvt.scale", "CDMA.D_CVT_SCALE.cvt_scale", codec=SIGNED, when="cvt"),
    row("signed", "CDMA.D_DATAIN_FORMAT.pixel_sign_override", codec=FLAG, when="image & cvt"),
    row("mean", "CDMA.D_MEAN_FORMAT.mean_format", codec=FLAG, when="image & cvt"),
    *_mean_rows(),
    *_both("entries", "D_ENTRY_PER_SLICE.entries", MINUS_ONE),
    *_both("data_banks", "D_BANK.data_bank", MINUS_ONE),
    *_both("weight_banks", "D_BANK.weight_bank", MINUS_ONE),
    *_both("skip_data_release", "D_MISC_CFG.skip_data_rls", FLAG),
    *_both("skip_weight_release", "D_MISC_CFG.skip_weight_rls", FLAG),
    row("release_slices", "CSC.D_RELEASE.rls_slices", codec=MINUS_ONE),
    row("weights.address", *halves("CDMA.D_WEIGHT_ADDR_{}")),
    row("weights.ram", "CDMA.D_WEIGHT_RAM_TYPE.weight_ram_type", codec=RAM),
    *_both("weights.nbytes", "D_WEIGHT_BYTES.weight_bytes", Codec()),
    row("mask.address", *halves("CDMA.D_WMB_ADDR_{}"), when="compressed"),
    *_both("mask.nbytes", "D_WMB_BYTES.wmb_bytes", Codec(), when="compressed"),
    row("sizes.address", *halves("CDMA.D_WGS_ADDR_{}"), when="compressed"),
    row("kernel.nbytes", "CDMA.D_WEIGHT_SIZE_0.byte_per_kernel", codec=MINUS_ONE),
    row("kernel.height", "CSC.D_WEIGHT_SIZE_EXT_0.weight_height_ext", codec=MINUS_ONE),
    row("kernel.width", "CSC.D_WEIGHT_SIZE_EXT_0.weight_width_ext", codec=MINUS_ONE, when="!image"),
    Fixed("CSC.D_WEIGHT_SIZE_EXT_0.weight_width_ext", 0, "the columns of a line are channels", when="image"),
    row("kernel.channels", "CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext", codec=MINUS_ONE),
    row("line_group", "CSC.D_POST_Y_EXTENSION.y_extension", codec=_LINE_GROUP, when="image"),
    Fixed("CSC.D_POST_Y_EXTENSION.y_extension", 0, "post-extension is for images", when="!image"),
    *rows("stride_x", "CSC.D_CONV_STRIDE_EXT.conv_x_stride_ext", "CDMA.D_CONV_STRIDE.conv_x_stride", codec=MINUS_ONE),
    *rows("stride_y", "CSC.D_CONV_STRIDE_EXT.conv_y_stride_ext", "CDMA.D_CONV_STRIDE.conv_y_stride", codec=MINUS_ONE),
    row("dilation_x", "CSC.D_DILATION_EXT.x_dilation_ext", codec=MINUS_ONE, when="!image & !winograd"),
    Fixed("CSC.D_DILATION_EXT.x_dilation_ext", 0, "Winograd does not dilate", when="winograd"),
    row("dilation_y", "CSC.D_DILATION_EXT.y_dilation_ext", codec=MINUS_ONE, when="!image & !winograd"),
    Fixed("CSC.D_DILATION_EXT.y_dilation_ext", 0, "Winograd does not dilate", when="winograd"),
    *(row(name, f"CDMA.D_ZERO_PADDING.{name}") for name in PADS),
    *(row(name, f"CSC.D_ZERO_PADDING.{name}") for name in ("pad_left", "pad_top")),
    *_both("pad_value", "D_ZERO_PADDING_VALUE.pad_value", _LOW_BYTE, when="int8"),
    *_both("pad_value", "D_ZERO_PADDING_VALUE.pad_value", SIGNED, when="!int8 & !float"),
    *_both("pad_value", "D_ZERO_PADDING_VALUE.pad_value", Codec(), when="float"),
    row("truncate", "CACC.D_CLIP_CFG.clip_truncate", when="!float"),
    row("pre_truncate", "CSC.D_PRA_CFG.pra_truncate", when="winograd & !float"),
    row("shape.channel", "CSC.D_DATAOUT_SIZE_1.dataout_channel", codec=MINUS_ONE),
    row("shape.channel", "CACC.D_DATAOUT_SIZE_1.dataout_channel", codec=MINUS_ONE),
    row("shape.channel", "CSC.D_WEIGHT_SIZE_EXT_1.weight_kernel", codec=MINUS_ONE),
    row("shape.channel", "CDMA.D_WEIGHT_SIZE_1.weight_kernel", codec=MINUS_ONE),
    *(
        row(f"shape.{axis}", f"{unit}.D_DATAOUT_SIZE_0.dataout_{axis}", codec=MINUS_ONE)
        for axis in ("height", "width")
        for unit in ("CSC", "CACC")
    ),
    row("atomics", "CSC.D_ATOMICS.atomics", codec=MINUS_ONE),
    Fixed("SDP.D_FEATURE_MODE_CFG.flying_mode", 1, "SDP takes its input from the convolution core"),
)


def _sdp_rows(unit: str) -> Table:
    """Return SDP's rows of one unit, apart from what says where the input lies in memory."""
    return tuple(
        entry
        for entry in sdp.TABLE
        if (entry.fields[0] if isinstance(entry, Row) else entry.field).startswith(f"{unit}.")
        and not (isinstance(entry, Fixed) and entry.field.endswith(("flying_mode", "winograd", "batch_number")))
        and not (isinstance(entry, Row) and entry.attribute.startswith(("src.", "input_precision")))
    )


TABLE: Table = (*_CONV_TABLE, *_sdp_rows("SDP"))
TABLE_WITH_OPERANDS: Table = (
    *TABLE,
    Fixed("SDP_RDMA.D_FEATURE_MODE_CFG.flying_mode", 1, "SDP takes its input from the convolution core"),
    row("winograd", "SDP_RDMA.D_FEATURE_MODE_CFG.winograd", codec=FLAG),
    row("batch.cubes", "SDP_RDMA.D_FEATURE_MODE_CFG.batch_number", codec=MINUS_ONE),
    *_sdp_rows("SDP_RDMA"),
)
