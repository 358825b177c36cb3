"""PDP programs: golden words by hand, and every refusal with register, field and rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import PdpLayer, WidthSplit
from nvdla_tb.nvdla.program.codec import encode
from tests.unit.nvdla.registers_helper import (
    NO_CVSRAM,
    cases,
    check_refused,
    decode_with,
    misfits,
    refused,
    words_of,
)
from tests.unit.nvdla.samples import FULL, small_pdp, surface

SPLIT = WidthSplit(3, 2, 2, 2, 1, 1, 1)


def test_an_average_layer_has_the_words_that_the_register_manual_gives() -> None:
    params = PdpParams(
        PoolMethod.AVERAGE, 3, 4, 1, 2, 2, 1, 3, 0, (-1, 2, 3, 4, 5, 6, -262144), 0x5555, 0x4000, Precision.INT8
    )
    layer = PdpLayer(surface((9, 5, 6), 0x1000), surface((9, 3, 7), 0x2000), params)
    words = words_of(layer)
    rdma, pdp = words["PDP_RDMA"], words["PDP"]
    for unit in (rdma, pdp):
        assert [unit[f"D_DATA_CUBE_IN_{axis}"] for axis in ("WIDTH", "HEIGHT", "CHANNEL")] == [5, 4, 8]
        assert (unit["D_SRC_BASE_ADDR_LOW"], unit["D_SRC_LINE_STRIDE"], unit["D_SRC_SURFACE_STRIDE"]) == (
            0x1000,
            48,
            240,
        )
        assert unit["D_DATA_FORMAT"] == 0
    assert [pdp[f"D_DATA_CUBE_OUT_{axis}"] for axis in ("WIDTH", "HEIGHT", "CHANNEL")] == [6, 2, 8]
    assert (pdp["D_DST_BASE_ADDR_LOW"], pdp["D_DST_LINE_STRIDE"], pdp["D_DST_SURFACE_STRIDE"]) == (0x2000, 56, 168)
    assert pdp["D_OPERATION_MODE_CFG"] == 1 << 4
    assert pdp["D_POOLING_KERNEL_CFG"] == 1 << 20 | 0 << 16 | 3 << 8 | 2
    assert rdma["D_POOLING_KERNEL_CFG"] == 2
    assert pdp["D_POOLING_PADDING_CFG"] == 0 << 12 | 1 << 8 | 3 << 4 | 2
    assert pdp["D_POOLING_PADDING_VALUE_1_CFG"] == 0x7FFFF
    assert pdp["D_POOLING_PADDING_VALUE_7_CFG"] == 0x40000
    assert (pdp["D_RECIP_KERNEL_WIDTH"], pdp["D_RECIP_KERNEL_HEIGHT"]) == (0x5555, 0x4000)
    assert (rdma["D_FLYING_MODE"], rdma["D_SRC_RAM_CFG"], pdp["D_DST_RAM_CFG"]) == (1, 1, 1)


def test_a_split_layer_has_the_partial_widths_in_both_units() -> None:
    split = WidthSplit(4, 4, 2, 6, 2, 1, 3)
    words = words_of(small_pdp((3, 4, 14), split))
    assert words["PDP"]["D_OPERATION_MODE_CFG"] == 3 << 8 | 1 << 4 | 1
    assert words["PDP_RDMA"]["D_OPERATION_MODE_CFG"] == 3
    widths_in = 1 << 20 | 5 << 10 | 3
    assert [words[unit]["D_PARTIAL_WIDTH_IN"] for unit in ("PDP", "PDP_RDMA")] == [widths_in, widths_in]
    assert words["PDP"]["D_PARTIAL_WIDTH_OUT"] == 0 << 20 | 2 << 10 | 1


def test_two_parts_have_no_middle() -> None:
    split = WidthSplit(2, 4, 0, 2, 2, 0, 1)
    changes = {"PDP.D_PARTIAL_WIDTH_IN.partial_width_in_mid": 77}
    assert decode_with(small_pdp(split=split), changes) == small_pdp(split=split)


def test_the_flying_mode_of_rdma_means_nothing() -> None:
    assert decode_with(small_pdp(), {"PDP_RDMA.D_FLYING_MODE.flying_mode": 0}) == small_pdp()


REFUSALS = (
    *cases(
        small_pdp(),
        ("PDP.D_DATA_CUBE_OUT_CHANNEL.cube_out_channel", 3, ": must be the 3 channels in, not 4"),
        ("PDP.D_DATA_CUBE_OUT_HEIGHT.cube_out_height", 0, ": must be 2, not 1"),
        ("PDP.D_DATA_CUBE_OUT_WIDTH.cube_out_width", 1, ": must be 3, not 2"),
        (
            "PDP.D_POOLING_PADDING_CFG.pad_left",
            1,
            "PDP_RDMA.D_DATA_CUBE_IN_WIDTH.cube_in_width: width with padding minus the kernel's 2 must be a "
            "multiple of the stride 2, not 5",
        ),
        ("PDP.D_POOLING_PADDING_CFG.pad_bottom", 2, ": pad_bottom must be less than the kernel_height of 2, not 2"),
        ("PDP.D_POOLING_KERNEL_CFG.kernel_height", 8, ": kernel_height must be an integer from 1 to 8, not 9"),
        ("PDP.D_OPERATION_MODE_CFG.pooling_method", 3, ": must be one of 0, 1, 2, not 3"),
        (("PDP.D_DATA_FORMAT.input_data", "PDP_RDMA.D_DATA_FORMAT.input_data"), 2, " must be INT8, not FP16: nv_small"),
        ("PDP_RDMA.D_SRC_RAM_CFG.src_ram_type", 0, NO_CVSRAM),
        ("PDP.D_DST_RAM_CFG.dst_ram_type", 0, NO_CVSRAM),
        (
            "PDP_RDMA.D_SRC_LINE_STRIDE.src_line_stride",
            60,
            ": line_stride_bytes must be a multiple of the 8-byte atom, not 60",
        ),
        (
            "PDP.D_DST_SURFACE_STRIDE.dst_surface_stride",
            40,
            ": surface_stride_bytes must be at least the 48 bytes of a surface, not 40",
        ),
        (
            "PDP.D_DST_BASE_ADDR_LOW.dst_base_addr_low",
            0x2001,
            ": address must be a multiple of the 8-byte atom, not 0x2001",
        ),
    ),
    *cases(
        small_pdp(split=SPLIT),
        (
            ("PDP.D_PARTIAL_WIDTH_IN.partial_width_in_first", "PDP_RDMA.D_PARTIAL_WIDTH_IN.partial_width_in_first"),
            0,
            "PDP.D_OPERATION_MODE_CFG.split_num: split must add up to the widths 6 in and 3 out, not 5 and 3",
        ),
        (
            "PDP.D_PARTIAL_WIDTH_OUT.partial_width_out_mid",
            1,
            "PDP.D_OPERATION_MODE_CFG.split_num: split must add up to the widths 6 in and 3 out, not 6 and 4",
        ),
    ),
)


@pytest.mark.parametrize(("layer", "changes", "message"), REFUSALS)
def test_nv_small_refuses(layer: PdpLayer, changes: dict[str, int], message: str) -> None:
    check_refused(layer, changes, message)


@pytest.mark.parametrize(
    ("layer", "changes", "message"),
    [
        *misfits(
            small_pdp(),
            ({"dst": surface((3, 2, 4), 0x2000)}, "dst must have the shape (3, 2, 3), not (3, 2, 4)"),
            ({"split": WidthSplit(2, 4, 0, 2, 2, 0, 2)}, "split must add up to the widths 6 in and 3 out, not 6 and 4"),
        ),
        *misfits(
            small_pdp(config=FULL),
            ({"dst": surface((3, 2, 3), 0, FULL, Precision.INT16)}, "dst must have the precision INT8, not INT16"),
        ),
    ],
)
def test_a_layer_that_does_not_fit_is_refused(layer: PdpLayer, changes: dict[str, Any], message: str) -> None:
    with refused(message):
        replace(layer, **changes)


def test_a_part_of_a_split_that_begins_in_the_padding_is_refused() -> None:
    params = replace(small_pdp().params, kernel_width=3, pad_left=2, stride_x=1)
    pieces = {"src": surface((3, 4, 6), 0x1000), "dst": surface((3, params.output_height(4), 6), 0x2000)}
    assert PdpLayer(**pieces, params=params, split=WidthSplit(2, 2, 0, 4, 2, 0, 4)).split is not None
    with refused(
        "split must begin every part inside the cube: its first 1 output columns with the stride of 1 do not pass "
        "the left padding of 2"
    ):
        PdpLayer(**pieces, params=params, split=WidthSplit(2, 1, 0, 5, 1, 0, 5))


@pytest.mark.parametrize("parts", [1, 257])
def test_a_split_has_2_to_256_parts(parts: int) -> None:
    with refused(f"parts must be 2 to 256, not {parts}"):
        WidthSplit(parts, 1, 1, 1, 1, 1, 1)


def test_a_split_of_two_parts_has_no_middle() -> None:
    with refused("middle_in must be 0 with 2 parts, not 1"):
        WidthSplit(2, 3, 1, 3, 2, 0, 1)


def test_a_part_wider_than_its_field_is_refused() -> None:
    layer = small_pdp((1, 2, 2052), WidthSplit(2, 1026, 0, 1026, 513, 0, 513), FULL)
    with refused("PDP.D_PARTIAL_WIDTH_IN.partial_width_in_first: must be 1 to 1024, not 1026"):
        encode(layer, FULL)


def test_a_part_that_the_line_buffer_of_nv_small_cannot_hold_is_refused() -> None:
    assert small_pdp((1, 2, 256)).dst.layout.shape[2] == 128
    message = (
        "split must leave parts of at most 128 output columns, which the line buffer of nv_small holds "
        "for this pooling, not 129"
    )
    with refused(message):
        small_pdp((1, 2, 258))
    assert small_pdp((1, 2, 258), WidthSplit(2, 4, 0, 254, 2, 0, 127)).split is not None
