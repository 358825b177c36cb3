"""Convolution: from its descriptors to CACC, CMAC, CSC and CDMA, as the public driver writes them."""

from __future__ import annotations

from nvdla_networks.errors import NetworkError
from nvdla_networks.tables import LOW, PATTERN, RAM
from nvdla_tb.nvdla.program.common import halves
from nvdla_tb.nvdla.program.table import FLAG, MINUS_ONE, SIGNED, Flat, Row, Table, row

UNITS = ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
"""In the order in which the driver enables them."""

_FEATURE = 36
_REUSE = ("data_reuse", "weight_reuse", "skip_data_rls", "skip_weight_rls")
_PADS = ("pad_left", "pad_right", "pad_top", "pad_bottom")


def _misc(unit: str, in_precision: str) -> tuple[Row, ...]:
    return (
        row("conv_mode", f"{unit}.D_MISC_CFG.conv_mode", codec=FLAG),
        row(in_precision, f"{unit}.D_MISC_CFG.in_precision"),
        row("out_precision", f"{unit}.D_MISC_CFG.proc_precision"),
        *(row(name, f"{unit}.D_MISC_CFG.{name}", codec=FLAG) for name in _REUSE),
    )


def _extended(unit: str) -> tuple[Row, ...]:
    register = f"{unit}.D_DATAIN_SIZE_EXT_0"
    return tuple(
        row(f"input_{axis}_csc", f"{register}.datain_{axis}_ext", codec=MINUS_ONE) for axis in ("width", "height")
    )


def _banks(unit: str) -> tuple[Row, ...]:
    return (
        row("data_bank", f"{unit}.D_BANK.data_bank", codec=MINUS_ONE),
        row("weight_bank", f"{unit}.D_BANK.weight_bank", codec=MINUS_ONE),
        row("entry_per_slice", f"{unit}.D_ENTRY_PER_SLICE.entries", codec=MINUS_ONE),
        row("weight_format", f"{unit}.D_WEIGHT_FORMAT.weight_format", codec=FLAG),
        row("at.weight.size", f"{unit}.D_WEIGHT_BYTES.weight_bytes"),
        row("pad_val", f"{unit}.D_ZERO_PADDING_VALUE.pad_value", codec=PATTERN),
        row("batch", f"{unit}.D_BATCH_NUMBER.batches", codec=MINUS_ONE),
    )


TABLE: Table = (
    *(
        entry
        for unit in ("CACC", "CMAC_A", "CMAC_B")
        for entry in (
            row("conv_mode", f"{unit}.D_MISC_CFG.conv_mode", codec=FLAG),
            row("out_precision", f"{unit}.D_MISC_CFG.proc_precision"),
        )
    ),
    row("at.dst.width", "CACC.D_DATAOUT_SIZE_0.dataout_width", codec=MINUS_ONE),
    row("at.dst.height", "CACC.D_DATAOUT_SIZE_0.dataout_height", codec=MINUS_ONE),
    row("at.dst.channel", "CACC.D_DATAOUT_SIZE_1.dataout_channel", codec=MINUS_ONE),
    row("at.dst.address", "CACC.D_DATAOUT_ADDR.dataout_addr", codec=LOW),
    row("batch", "CACC.D_BATCH_NUMBER.batches", codec=MINUS_ONE),
    row("at.dst.line_stride", "CACC.D_LINE_STRIDE.line_stride"),
    row("at.dst.surf_stride", "CACC.D_SURF_STRIDE.surf_stride"),
    row("one_pixel", "CACC.D_DATAOUT_MAP.line_packed", codec=FLAG),
    row("one_pixel", "CACC.D_DATAOUT_MAP.surf_packed", codec=FLAG),
    row("out_cvt.truncate", "CACC.D_CLIP_CFG.clip_truncate"),
    *_misc("CSC", "out_precision"),
    row("image", "CSC.D_DATAIN_FORMAT.datain_format", codec=FLAG),
    *_extended("CSC"),
    row("input_channel_csc", "CSC.D_DATAIN_SIZE_EXT_1.datain_channel_ext", codec=MINUS_ONE),
    row("post_extension", "CSC.D_POST_Y_EXTENSION.y_extension"),
    *_banks("CSC"),
    row("kernel_width_csc", "CSC.D_WEIGHT_SIZE_EXT_0.weight_width_ext", codec=MINUS_ONE),
    row("kernel_height_csc", "CSC.D_WEIGHT_SIZE_EXT_0.weight_height_ext", codec=MINUS_ONE),
    row("kernel_channel_csc", "CSC.D_WEIGHT_SIZE_EXT_1.weight_channel_ext", codec=MINUS_ONE),
    row("at.dst.channel", "CSC.D_WEIGHT_SIZE_EXT_1.weight_kernel", codec=MINUS_ONE),
    row("at.wmb.size", "CSC.D_WMB_BYTES.wmb_bytes"),
    row("output_width_cmac", "CSC.D_DATAOUT_SIZE_0.dataout_width", codec=MINUS_ONE),
    row("output_height_cmac", "CSC.D_DATAOUT_SIZE_0.dataout_height", codec=MINUS_ONE),
    row("at.dst.channel", "CSC.D_DATAOUT_SIZE_1.dataout_channel", codec=MINUS_ONE),
    row("atomics", "CSC.D_ATOMICS.atomics", codec=MINUS_ONE),
    row("release", "CSC.D_RELEASE.rls_slices", codec=MINUS_ONE),
    row("slide.stride_x", "CSC.D_CONV_STRIDE_EXT.conv_x_stride_ext", codec=MINUS_ONE),
    row("slide.stride_y", "CSC.D_CONV_STRIDE_EXT.conv_y_stride_ext", codec=MINUS_ONE),
    row("dilation_x", "CSC.D_DILATION_EXT.x_dilation_ext", codec=MINUS_ONE),
    row("dilation_y", "CSC.D_DILATION_EXT.y_dilation_ext", codec=MINUS_ONE),
    row("slide.pad_left", "CSC.D_ZERO_PADDING.pad_left"),
    row("slide.pad_top", "CSC.D_ZERO_PADDING.pad_top"),
    row("pra_truncate", "CSC.D_PRA_CFG.pra_truncate"),
    *_misc("CDMA", "in_precision"),
    row("image", "CDMA.D_DATAIN_FORMAT.datain_format", codec=FLAG),
    row("pixel_format", "CDMA.D_DATAIN_FORMAT.pixel_format"),
    row("pixel_mapping", "CDMA.D_DATAIN_FORMAT.pixel_mapping"),
    row("pixel_override", "CDMA.D_DATAIN_FORMAT.pixel_sign_override", codec=FLAG),
    row("at.src.width", "CDMA.D_DATAIN_SIZE_0.datain_width", codec=MINUS_ONE),
    row("at.src.height", "CDMA.D_DATAIN_SIZE_0.datain_height", codec=MINUS_ONE),
    row("at.src.channel", "CDMA.D_DATAIN_SIZE_1.datain_channel", codec=MINUS_ONE),
    *_extended("CDMA"),
    row("at.src.type", "CDMA.D_DAIN_RAM_TYPE.datain_ram_type", codec=RAM),
    row("at.src.address", "CDMA.D_DAIN_ADDR_LOW_0.datain_addr_low_0", "CDMA.D_DAIN_ADDR_HIGH_0.datain_addr_high_0"),
    row("second_plane", "CDMA.D_DAIN_ADDR_LOW_1.datain_addr_low_1", "CDMA.D_DAIN_ADDR_HIGH_1.datain_addr_high_1"),
    row("at.src.line_stride", "CDMA.D_LINE_STRIDE.line_stride"),
    row("at.src.surf_stride", "CDMA.D_SURF_STRIDE.surf_stride"),
    row("at.second_line_stride", "CDMA.D_LINE_UV_STRIDE.uv_line_stride"),
    row("line_packed", "CDMA.D_DAIN_MAP.line_packed", codec=FLAG),
    row("surf_packed", "CDMA.D_DAIN_MAP.surf_packed", codec=FLAG),
    row("batch_stride", "CDMA.D_BATCH_STRIDE.batch_stride"),
    row("fetch_grain", "CDMA.D_FETCH_GRAIN.grains", codec=MINUS_ONE),
    *_banks("CDMA"),
    row("bytes_per_kernel", "CDMA.D_WEIGHT_SIZE_0.byte_per_kernel", codec=MINUS_ONE),
    row("at.dst.channel", "CDMA.D_WEIGHT_SIZE_1.weight_kernel", codec=MINUS_ONE),
    row("at.weight.type", "CDMA.D_WEIGHT_RAM_TYPE.weight_ram_type", codec=RAM),
    row("at.weight.address", *halves("CDMA.D_WEIGHT_ADDR_{}")),
    row("at.wgs.address", *halves("CDMA.D_WGS_ADDR_{}"), when="weight_format"),
    row("at.wmb.address", *halves("CDMA.D_WMB_ADDR_{}"), when="weight_format"),
    row("at.wmb.size", "CDMA.D_WMB_BYTES.wmb_bytes", when="weight_format"),
    row("mean_format", "CDMA.D_MEAN_FORMAT.mean_format", codec=FLAG),
    *(
        row(f"mean_{name}", f"CDMA.D_MEAN_GLOBAL_{number // 2}.mean_{name}", codec=SIGNED, when="mean_format")
        for number, name in enumerate(("ry", "gu", "bv", "ax"))
    ),
    row("in_cvt.enable", "CDMA.D_CVT_CFG.cvt_en", codec=FLAG),
    row("in_cvt.truncate", "CDMA.D_CVT_CFG.cvt_truncate", when="in_cvt.enable"),
    row("in_cvt.offset", "CDMA.D_CVT_OFFSET.cvt_offset", codec=SIGNED, when="in_cvt.enable"),
    row("in_cvt.scale", "CDMA.D_CVT_SCALE.cvt_scale", codec=SIGNED, when="in_cvt.enable"),
    row("stride_x", "CDMA.D_CONV_STRIDE.conv_x_stride", codec=MINUS_ONE),
    row("stride_y", "CDMA.D_CONV_STRIDE.conv_y_stride", codec=MINUS_ONE),
    *(row(name, f"CDMA.D_ZERO_PADDING.{name}") for name in _PADS),
)


def derive(flat: Flat) -> Flat:
    """Return the values that the table takes beside the descriptors themselves.

    Raises:
        NetworkError: for what the driver refuses.
    """
    if (flat["out_cvt.scale"], flat["out_cvt.offset"]) != (1, 0):
        raise NetworkError(
            "out_cvt of a convolution must have scale 1 and offset 0, "
            f"not {flat['out_cvt.scale']} and {flat['out_cvt.offset']}"
        )
    line = flat["at.src.width"] * flat["atom_bytes"]
    image = flat["data_format"] < _FEATURE
    if flat["data_format"] > _FEATURE:
        raise NetworkError(f"data_format must be 0 to {_FEATURE}, not {flat['data_format']}")
    slide = {name: flat[name] for name in ("stride_x", "stride_y", "pad_left", "pad_top")}
    if flat["conv_mode"]:
        slide = {"stride_x": 1, "stride_y": 1, "pad_left": 0, "pad_top": 0}
    return {
        "image": image,
        "pixel_format": flat["data_format"] if image else 0,
        "one_pixel": (flat["at.dst.width"], flat["at.dst.height"]) == (1, 1),
        "atomics": flat["at.dst.width"] * flat["at.dst.height"],
        "line_packed": flat["at.src.line_stride"] == line,
        "surf_packed": flat["at.src.surf_stride"] == flat["at.src.height"] * line,
        "second_plane": flat["at.src.address"] + flat["at.second_plane"],
        **{f"slide.{name}": value for name, value in slide.items()},
    }
