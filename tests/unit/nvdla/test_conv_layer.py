"""Convolution layers and surfaces that do not fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import FeatureLayout, ImageWeightLayout, OperandLayout, PixelConversion, WeightLayout
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer, StageSource, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.surfaces import CbufUse, Compression, OperandSurface, WeightSurface
from tests.unit.explain.full_cases import winograd_conv
from tests.unit.nvdla.conv_samples import CONVERTER, biased_conv, conv_params, image_conv, planar_conv, small_conv
from tests.unit.nvdla.registers_helper import misfits, refused
from tests.unit.nvdla.samples import FULL, SMALL, surface

INT8, INT16 = Precision.INT8, Precision.INT16


def cbuf(**changes: Any) -> CbufUse:
    return replace(CbufUse(1, 2, release_slices=4), **changes)


OPERANDS = OperandSurface(OperandLayout.packed(SMALL, INT8, (9, 1, 1), ("mul",), 1), 0x5000)
LAYERS = (
    *misfits(
        small_conv(),
        ({"dst": surface((9, 5, 4), 0x2000)}, "dst must have the shape (9, 5, 3), not (9, 5, 4)"),
        (
            {"weights": WeightSurface(WeightLayout(SMALL, INT8, (9, 8, 2, 3)), 0x3000)},
            "weights must have the 10 channels of src, not 8",
        ),
        ({"dst": surface((9, 5, 3), 0x2000, FULL)}, "dst must be laid out for nv_small as src, not nv_full"),
        ({"x2": StageSource(memory=OPERANDS)}, "x2 must be None, because the stage is bypassed"),
        (
            {"weights": WeightSurface(ImageWeightLayout(SMALL, INT8, (9, 10, 2, 3)), 0x3000)},
            "weights must be laid out for direct convolution, because src is a feature cube",
        ),
        (
            {"conversion": PixelConversion(INT8)},
            "conversion must be a Converter of CDMA or None, because src is a feature cube",
        ),
        (
            {"conversion": Converter(0, 1, 0, ConverterEncoding.SDP_OUTPUT)},
            "conversion must be a Converter of CDMA or None, because src is a feature cube",
        ),
        (
            {"src": Surface(FeatureLayout(SMALL, INT8, (10, 4, 5), 48, 192), 0x1000), "cbuf": cbuf(fetch_slices=2)},
            "fetch_slices must be 1, because lines are not packed, not 2",
        ),
        ({"cbuf": cbuf(fetch_slices=0)}, "fetch_slices must be at least 1, not 0"),
        (
            {
                "src": surface((10, 1, 1), 0x1000),
                "dst": Surface(FeatureLayout(SMALL, INT8, (9, 1, 1), 16, 16), 0x2000),
                "params": conv_params(),
                "weights": WeightSurface(WeightLayout(SMALL, INT8, (9, 10, 1, 1)), 0x3000),
                "cbuf": CbufUse(1, 1),
            },
            "dst must have strides of 8 bytes, because SDP ignores those of a 1 x 1 cube, not 16 and 16",
        ),
        (
            {"src": surface((10, 4, 71), 0x1000), "dst": surface((9, 5, 36), 0x2000)},
            "data_banks must hold 4 slices of 142 entries, not 1 banks of 512 entries",
        ),
        (
            {
                "src": surface((150, 4, 5), 0x1000),
                "weights": WeightSurface(WeightLayout(SMALL, INT8, (9, 150, 2, 3)), 0x3000),
                "cbuf": cbuf(weight_banks=1),
            },
            "weight_banks must hold 7328 bytes, not 1 banks of 4096",
        ),
        (
            {
                "weights": WeightSurface(WeightLayout(SMALL, INT8, (140, 10, 2, 3)), 0x3000),
                "dst": surface((140, 5, 3), 0x2000),
                "cbuf": cbuf(skip_weight_release=True),
            },
            "weight_banks must hold 8448 bytes, not 2 banks of 4096",
        ),
        ({"lines": 5}, "lines must be None without reuse of data, not 5"),
        ({"lines": 4, "cbuf": cbuf(reuse_data=True)}, "lines must be at least 1 and not the 4 of src, not 4"),
        ({"lines": 6, "cbuf": cbuf(reuse_data=True)}, "dst must have the shape (9, 7, 3), not (9, 5, 3)"),
        ({"cbuf": cbuf(data_banks=0)}, "data_banks must be 1 to 31, not 0"),
        ({"cbuf": cbuf(weight_banks=0)}, "weight_banks must be 1 to 31 of 32 banks, not 0"),
        ({"cbuf": cbuf(release_slices=0)}, "release_slices must be 1 to the 4 lines of src, not 0"),
    ),
    *misfits(
        small_conv(FULL),
        ({"src": surface((10, 4, 5), 0x1000, FULL, INT16)}, "src must have the precision INT8, not INT16"),
        (
            {"weights": WeightSurface(WeightLayout(FULL, INT16, (9, 10, 2, 3)), 0x3000)},
            "weights must have the precision INT8, not INT16",
        ),
        ({"sdp": small_conv(FULL, INT16).sdp}, "sdp.input_precision must have the precision INT8, not INT16"),
        ({"dst": surface((9, 5, 3), 0x2000, FULL, INT16)}, "dst must have the precision INT8, not INT16"),
        (
            {
                "dst": surface((9, 5, 3), 0x2000, FULL, INT16),
                "sdp": replace(small_conv(FULL).sdp, output_precision=INT16),
            },
            "output_precision must have elements of 8 bits like the convolution's, because other sizes were not "
            "measured after one, not INT16",
        ),
    ),
    *misfits(
        small_conv(FULL),
        (
            {
                "sdp": replace(small_conv(FULL).sdp, x1=biased_conv().sdp.x1),
                "x1": StageSource(
                    memory=OperandSurface(OperandLayout.packed(FULL, INT16, (9, 1, 1), ("alu",), 2), 0x5000)
                ),
            },
            "x1.memory must have the processing precision INT8, not INT16",
        ),
    ),
    *misfits(
        image_conv(),
        ({"cbuf": CbufUse(1, 1, fetch_slices=2)}, "fetch_slices must be 1 for image input, not 2"),
        (
            {"weights": WeightSurface(WeightLayout(SMALL, INT8, (2, 4, 2, 2)), 0x3000)},
            "weights must be laid out for image input, because src is an image",
        ),
        ({"conversion": CONVERTER}, "conversion must be a PixelConversion, because src is an image"),
        ({"conversion": PixelConversion(INT16, CONVERTER)}, "conversion must have the precision INT8, not INT16"),
        ({"params": conv_params(dilation_x=3)}, "dilation must be 1 for image input, not 3 along W and 1 along H"),
        (
            {
                "params": conv_params(stride_x=2),
                "weights": WeightSurface(ImageWeightLayout(SMALL, INT8, (2, 4, 2, 1), 2), 0x3000),
            },
            "stride_x times channels must be at most 4 with 2-line post-extension, not 8",
        ),
    ),
)


@pytest.mark.parametrize(("layer", "changes", "message"), LAYERS)
def test_a_layer_that_does_not_fit_is_refused(layer: ConvLayer, changes: dict[str, Any], message: str) -> None:
    with refused(message):
        replace(layer, **changes)


def test_an_image_has_as_many_addresses_as_planes() -> None:
    with refused("addresses must be 2 for T_Y8___U8V8_N444, not 1"):
        replace(planar_conv().src, addresses=(0x1000,))
    with refused("address must be a multiple of the 8-byte atom, not 0x1804"):
        replace(planar_conv().src, addresses=(0x1000, 0x1804))


@pytest.mark.parametrize("address", [8, 0x40, 0x3F8, 0x80002708])
def test_weights_start_at_any_atom(address: int) -> None:
    assert WeightSurface(WeightLayout(SMALL, INT8, (9, 10, 2, 3)), address).address == address


@pytest.mark.parametrize("address", [-8, 4, 0x104])
def test_weights_that_start_inside_an_atom_are_refused(address: int) -> None:
    with refused(f"address must be a multiple of the 8-byte atom, not {address:#x}"):
        WeightSurface(WeightLayout(SMALL, INT8, (9, 10, 2, 3)), address)


@pytest.mark.parametrize("name", ["mask_address", "sizes_address"])
def test_masks_and_sizes_of_compressed_weights_start_at_an_atom(name: str) -> None:
    layout = WeightLayout(FULL, INT8, (9, 10, 2, 3))
    places = {"mask_address": 0x20, "sizes_address": 0x60, "weight_bytes": 128}
    assert WeightSurface(layout, 0x1020, compression=Compression(**places)).fetched_bytes == 128
    with refused(f"{name} must be a multiple of the 32-byte atom, not 0x30"):
        WeightSurface(layout, 0x1020, compression=Compression(**places | {name: 0x30}))


def test_weights_leave_no_address_space() -> None:
    with refused("address must leave room for 640 bytes in the 32-bit address space of nv_small, not 0xffffff00"):
        WeightSurface(WeightLayout(SMALL, INT8, (9, 10, 2, 3)), 0xFFFFFF00, Ram.MC)


def test_other_precisions_out_of_winograd_are_refused() -> None:
    layer = winograd_conv(INT16)
    dst = Surface(FeatureLayout.packed(FULL, Precision.FP16, layer.dst.layout.shape), layer.dst.address)
    message = (
        "output_precision must be the INT16 of the convolution in Winograd, whose conversions were not measured, "
        "not FP16"
    )
    with refused(message):
        replace(layer, dst=dst, sdp=replace(layer.sdp, output_precision=Precision.FP16))
