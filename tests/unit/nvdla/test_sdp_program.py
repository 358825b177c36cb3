"""SDP programs: golden words by hand, and every refusal with register, field and rule."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from nvdla_models.config import HwConfig
from nvdla_models.layout import FeatureLayout, OperandLayout
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams, SdpStage
from nvdla_tb.nvdla.layers import OperandSurface, SdpLayer, StageSource, Surface
from nvdla_tb.nvdla.memory import Ram
from tests.unit.nvdla.registers_helper import (
    NO_CVSRAM,
    cases,
    check_refused,
    decode_with,
    misfits,
    refused,
    words_of,
)
from tests.unit.nvdla.samples import ADD, FULL, IDENTITY, SCALE, SMALL, bias_sdp, small_sdp, surface

CLAMP = SdpStage(None, 0, mul=False, mul_prelu=False, mul_shift=0, relu=True)
FM, RFM = "SDP.D_FEATURE_MODE_CFG", "SDP_RDMA.D_FEATURE_MODE_CFG"


def pair_sdp() -> SdpLayer:
    """Return ``bias_sdp`` with a multiplier that takes its operand from memory, too."""
    layer = bias_sdp()
    memory = OperandSurface(OperandLayout.packed(SMALL, Precision.INT8, (3, 2, 2), ("alu", "mul"), 1), 0x3000)
    return replace(layer, params=replace(layer.params, x1=replace(ADD, mul=True)), x1=StageSource(memory=memory))


def test_a_bias_layer_has_the_words_that_the_register_manual_gives() -> None:
    words = words_of(bias_sdp((3, 2, 5)))
    rdma, sdp = words["SDP_RDMA"], words["SDP"]
    for unit in (rdma, sdp):
        assert [unit[f"D_DATA_CUBE_{axis}"] for axis in ("WIDTH", "HEIGHT", "CHANNEL")] == [4, 1, 2]
    assert (rdma["D_SRC_BASE_ADDR_LOW"], rdma["D_SRC_BASE_ADDR_HIGH"]) == (0x1000, 0)
    assert (rdma["D_SRC_LINE_STRIDE"], rdma["D_SRC_SURFACE_STRIDE"]) == (40, 80)
    assert (sdp["D_DST_BASE_ADDR_LOW"], sdp["D_DST_LINE_STRIDE"], sdp["D_DST_SURFACE_STRIDE"]) == (0x2000, 40, 80)
    assert rdma["D_BRDMA_CFG"] == 0b110010  # MC, per element, one byte, ALU, enabled
    assert (rdma["D_BS_BASE_ADDR_LOW"], rdma["D_BS_LINE_STRIDE"], rdma["D_BS_SURFACE_STRIDE"]) == (0x3000, 40, 80)
    assert rdma["D_NRDMA_CFG"] & 1 == 1
    assert rdma["D_ERDMA_CFG"] & 1 == 1
    assert rdma["D_FEATURE_MODE_CFG"] == 0
    assert (rdma["D_SRC_DMA_CFG"], sdp["D_DST_DMA_CFG"]) == (1, 1)
    assert sdp["D_DP_BS_CFG"] & 0b1011111 == 0b1011000  # SUM; multiplier and ReLU bypassed
    assert sdp["D_DP_BS_ALU_CFG"] == 1
    assert sdp["D_DP_BN_CFG"] & 1 == 1
    assert sdp["D_DP_EW_CFG"] & 1 == 1
    assert (sdp["D_CVT_OFFSET"], sdp["D_CVT_SCALE"], sdp["D_CVT_SHIFT"]) == (0, 1, 0)


def test_negative_numbers_stand_in_twos_complement() -> None:
    layer = small_sdp()
    stage = replace(ADD, alu_shift=63)
    converter = replace(IDENTITY, offset=-1, scale=-32768)
    params = replace(layer.params, x2=stage, converter=converter)
    words = words_of(replace(layer, params=params, x2=StageSource(alu=-2)))["SDP"]
    assert words["D_DP_BN_ALU_SRC_VALUE"] == 0xFFFE
    assert words["D_DP_BN_ALU_CFG"] == 63 << 8
    assert (words["D_CVT_OFFSET"], words["D_CVT_SCALE"]) == (0xFFFFFFFF, 0x8000)


def test_addresses_above_4_gib_use_the_high_word() -> None:
    words = words_of(small_sdp(src=0x12_3456_7000, config=FULL))["SDP_RDMA"]
    assert (words["D_SRC_BASE_ADDR_LOW"], words["D_SRC_BASE_ADDR_HIGH"]) == (0x3456_7000, 0x12)


@pytest.mark.parametrize(
    ("source", "target", "processing"),
    [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 1, 1)],
    ids=["8 to 8", "8 to 16", "16 to 8", "16 to 16"],
)
def test_conversions_are_processed_as_int8(source: int, target: int, processing: int) -> None:
    precisions = (Precision.INT8, Precision.INT16)
    params = SdpParams(None, None, IDENTITY, precisions[source], precisions[target])
    shape = (32, 1, 1)
    src, dst = surface(shape, 0, FULL, precisions[source]), surface(shape, 0x1000, FULL, precisions[target])
    words = words_of(SdpLayer(src, dst, params))
    assert words["SDP"]["D_DATA_FORMAT"] == target << 2 | processing
    assert words["SDP_RDMA"]["D_FEATURE_MODE_CFG"] == target << 6 | processing << 4 | source << 2


def test_strides_of_a_1_x_1_cube_are_ignored() -> None:
    layer = bias_sdp((20, 1, 1))
    strides = {
        "SDP_RDMA.D_SRC_SURFACE_STRIDE.src_surface_stride": 64,
        "SDP.D_DST_LINE_STRIDE.dst_line_stride": 24,
        "SDP.D_DST_SURFACE_STRIDE.dst_surface_stride": 4096,
    }
    assert decode_with(layer, strides) == layer


def test_a_1_x_1_cube_with_stride_gaps_is_refused() -> None:
    layer = bias_sdp((20, 1, 1))
    layout = FeatureLayout(SMALL, Precision.INT8, (20, 1, 1), 8, 64)
    with refused("dst must have strides of 8 bytes, because SDP ignores those of a 1 x 1 cube, not 8 and 64"):
        replace(layer, dst=replace(layer.dst, layout=layout))


def test_the_hardware_uses_six_bits_of_the_multiplier_shift() -> None:
    layer = bias_sdp()
    shift = words_of(layer)["SDP"]["D_DP_BS_MUL_CFG"] >> 8 & 0xFF
    assert decode_with(layer, {"SDP.D_DP_BS_MUL_CFG.bs_mul_shift_value": shift | 0xC0}) == layer


def test_y_that_is_not_bypassed_but_does_nothing_is_a_pass_through() -> None:
    assert decode_with(small_sdp(), {"SDP.D_DP_EW_CFG.ew_bypass": 0}) == small_sdp()


REFUSALS = (
    *cases(
        small_sdp(),
        ("SDP_RDMA.D_FEATURE_MODE_CFG.in_precision", 1, " must be INT8, not INT16: nv_small"),
        (
            ("SDP.D_DATA_FORMAT.out_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.out_precision"),
            2,
            " must be INT8, not FP16: nv_small",
        ),
        ("SDP_RDMA.D_FEATURE_MODE_CFG.in_precision", 3, ": must be one of 0, 1, 2, not 3"),
        ("SDP_RDMA.D_SRC_DMA_CFG.src_ram_type", 0, NO_CVSRAM),
        ("SDP.D_DST_DMA_CFG.dst_ram_type", 0, NO_CVSRAM),
        (
            "SDP_RDMA.D_SRC_BASE_ADDR_LOW.src_base_addr_low",
            0x1004,
            ": address must be a multiple of the 8-byte atom, not 0x1004",
        ),
        (
            "SDP.D_DST_BASE_ADDR_HIGH.dst_base_addr_high",
            1,
            "SDP.D_DST_BASE_ADDR_LOW.dst_base_addr_low: address must leave room for 32 bytes in the 32-bit "
            "address space of nv_small, not 0x100002000",
        ),
        (
            "SDP_RDMA.D_SRC_LINE_STRIDE.src_line_stride",
            20,
            ": line_stride_bytes must be a multiple of the 8-byte atom, not 20",
        ),
        (
            "SDP_RDMA.D_SRC_LINE_STRIDE.src_line_stride",
            8,
            ": line_stride_bytes must be at least the 16 bytes of a line, not 8",
        ),
        (
            "SDP.D_DST_SURFACE_STRIDE.dst_surface_stride",
            24,
            ": surface_stride_bytes must be at least the 32 bytes of a surface, not 24",
        ),
        (
            ("SDP.D_DP_EW_CFG.ew_bypass", "SDP.D_DP_EW_CFG.ew_lut_bypass"),
            0,
            " must be YES, not NO: nv_small has no Y (element-wise and LUT)",
        ),
        ("SDP_RDMA.D_ERDMA_CFG.erdma_disable", 0, " must be YES, not NO: nv_small has no Y (element-wise and LUT)"),
    ),
    *cases(
        bias_sdp(),
        ("SDP_RDMA.D_BRDMA_CFG.brdma_ram_type", 0, NO_CVSRAM),
        (
            "SDP.D_DP_BS_CFG.bs_bypass",
            1,
            "SDP_RDMA.D_BRDMA_CFG.brdma_disable must be YES, not NO: x1 is bypassed and takes no operand",
        ),
        (
            "SDP.D_DP_BS_ALU_CFG.bs_alu_src",
            0,
            "SDP_RDMA.D_BRDMA_CFG.brdma_disable: x1.memory must be None, because no unit takes its operand from memory",
        ),
        (
            "SDP_RDMA.D_BRDMA_CFG.brdma_disable",
            1,
            "SDP.D_DP_BS_ALU_CFG.bs_alu_src must be REG, not MEM: SDP_RDMA.D_BRDMA_CFG fetches no operand of the ALU",
        ),
        ("SDP.D_DP_BS_CFG.bs_alu_algo", 3, ": must be one of 0, 1, 2, not 3"),
        ("SDP_RDMA.D_BRDMA_CFG.brdma_data_use", 3, ": must be one of 0, 1, 2, not 3"),
        (
            "SDP_RDMA.D_BS_BASE_ADDR_LOW.bs_base_addr_low",
            0x3001,
            ": address must be a multiple of the 8-byte atom, not 0x3001",
        ),
        (
            "SDP_RDMA.D_BS_LINE_STRIDE.bs_line_stride",
            17,
            ": line_stride_bytes must be a multiple of the 8-byte atom, not 17",
        ),
    ),
    (
        bias_sdp(),
        {"SDP.D_DP_BS_CFG.bs_mul_bypass": 0, "SDP.D_DP_BS_MUL_CFG.bs_mul_src": 1},
        "SDP.D_DP_BS_MUL_CFG.bs_mul_src must be REG, not MEM: SDP_RDMA.D_BRDMA_CFG fetches no operand of the MUL",
    ),
    *cases(
        pair_sdp(),
        (
            "SDP.D_DP_BS_MUL_CFG.bs_mul_src",
            0,
            "SDP_RDMA.D_BRDMA_CFG.brdma_disable: x1.memory must hold alu alone, because nothing takes the other "
            "operand",
        ),
        (
            "SDP.D_DP_BS_CFG.bs_alu_bypass",
            1,
            "SDP_RDMA.D_BRDMA_CFG.brdma_disable: x1.memory must hold mul alone, because nothing takes the other "
            "operand",
        ),
    ),
)


@pytest.mark.parametrize(("layer", "changes", "message"), REFUSALS)
def test_nv_small_refuses(layer: SdpLayer, changes: dict[str, int], message: str) -> None:
    check_refused(layer, changes, message)


def test_conversions_that_hardware_lacks_or_never_ends_are_refused() -> None:
    changes = {f"{RFM}.in_precision": 2, f"{RFM}.proc_precision": 0, "SDP.D_DATA_FORMAT.proc_precision": 0}
    message = (
        "SDP.D_DATA_FORMAT.out_precision: target must be INT16 or FP16 for a SDP layer (offline mode) "
        "with fp16 feature data, not INT8 (Table 30)"
    )
    check_refused(small_sdp(config=FULL), changes, message)
    changes = {f"{RFM}.out_precision": 0, "SDP.D_DATA_FORMAT.out_precision": 0}
    message = "SDP.D_DATA_FORMAT.proc_precision must be INT8 from INT16 to INT8, not INT16"
    check_refused(small_sdp((32, 1, 1), config=FULL, precision=Precision.INT16), changes, message)


@pytest.mark.parametrize(("stage", "low"), [("x1", "bs"), ("x2", "bn")])
def test_a_stage_that_the_configuration_lacks_is_refused(stage: str, low: str) -> None:
    layer = small_sdp(config=replace(SMALL, **{f"sdp_{low}_enable": False, f"sdp_{low}_throughput": 0}))
    message = f"SDP.D_DP_{low.upper()}_CFG.{low}_bypass must be YES, not NO: nv_small has no {stage.upper()}"
    check_refused(replace(layer, params=replace(layer.params, **{stage: CLAMP})), {}, message)


def operands(
    shape: tuple[int, int, int], config: HwConfig = SMALL, precision: Precision = Precision.INT8
) -> OperandSurface:
    return OperandSurface(OperandLayout.packed(config, precision, shape, ("alu",), 2), 0)


STRIDED = OperandSurface(OperandLayout(SMALL, Precision.INT8, (20, 1, 1), ("alu",), 1, 8, 64), 0)
WIDE = operands((3, 2, 2), FULL, Precision.INT16)


@pytest.mark.parametrize(
    ("layer", "changes", "message"),
    [
        *misfits(
            small_sdp(),
            ({"dst": surface((3, 2, 3), 0x2000)}, "dst must have the shape (3, 2, 2) of src, not (3, 2, 3)"),
            ({"dst": surface((3, 2, 2), 0x2000, FULL)}, "dst must be laid out for nv_small as src, not nv_full"),
        ),
        *misfits(
            small_sdp((9, 1, 1), config=FULL),
            (
                {"src": surface((9, 1, 1), 0, FULL, Precision.INT16)},
                "src must have the precision INT8 of params, not INT16",
            ),
            (
                {
                    "src": surface((9, 1, 1), 0, FULL, Precision.INT16),
                    "params": SdpParams(None, None, IDENTITY, Precision.INT16, Precision.INT8),
                },
                "dst must have the 16 channels of src with padding, not 32",
            ),
        ),
        *misfits(
            small_sdp((20, 2, 2)),
            (
                {"params": replace(small_sdp().params, x1=ADD), "x1": StageSource(memory=STRIDED)},
                "x1.memory must be packed per channel, not with surfaces 64 bytes apart",
            ),
        ),
        *misfits(
            small_sdp(config=FULL),
            (
                {"params": replace(small_sdp().params, x1=ADD), "x1": StageSource(memory=WIDE)},
                "x1.memory must have the processing precision INT8, not INT16",
            ),
        ),
    ],
)
def test_a_layer_that_does_not_fit_is_refused(layer: SdpLayer, changes: dict[str, Any], message: str) -> None:
    with refused(message):
        replace(layer, **changes)


@pytest.mark.parametrize(
    ("stage", "source", "message"),
    [
        (None, StageSource(alu=1), "x1 must be None, because the stage is bypassed"),
        (ADD, None, "x1.alu must come from a register or from memory"),
        (SCALE, None, "x1.mul must come from a register or from memory"),
        (ADD, StageSource(alu=1, mul=1), "x1.mul must be None, because the unit is bypassed"),
        (SCALE, StageSource(alu=1, mul=1), "x1.alu must be None, because the unit is bypassed"),
        (SCALE, StageSource(memory=operands((3, 2, 2))), "x1.mul must come from a register or from memory"),
        (
            ADD,
            StageSource(alu=1, memory=operands((3, 2, 2))),
            "x1.memory must be None, because no unit takes its operand from memory",
        ),
        (
            ADD,
            StageSource(memory=operands((3, 2, 1))),
            "x1.memory must have the shape (3, 1, 1) or (3, 2, 2), not (3, 2, 1)",
        ),
    ],
)
def test_operands_that_do_not_fit_the_stage_are_refused(
    stage: SdpStage | None, source: StageSource | None, message: str
) -> None:
    layer = small_sdp()
    with refused(message):
        SdpLayer(layer.src, layer.dst, replace(layer.params, x1=stage), source)


@pytest.mark.parametrize("address", [-8, 4, 7])
def test_surfaces_start_at_atoms(address: int) -> None:
    layout = FeatureLayout.packed(SMALL, Precision.INT8, (1, 1, 1))
    with refused(f"address must be a multiple of the 8-byte atom, not {address:#x}"):
        Surface(layout, address)


def test_the_last_atom_of_the_address_space_holds_a_surface() -> None:
    layout = FeatureLayout.packed(SMALL, Precision.INT8, (1, 1, 1))
    assert Surface(layout, 0xFFFF_FFF8, Ram.MC).address == 0xFFFF_FFF8
    message = "address must leave room for 8 bytes in the 32-bit address space of nv_small, not 0x100000000"
    with refused(message):
        Surface(layout, 1 << 32)


def test_a_surface_that_is_too_large_to_be_computed_is_refused() -> None:
    shape = (8, 8192, 8192)
    layer = SdpLayer(
        surface(shape, 0), surface(shape, 0x40000000), SdpParams(None, None, IDENTITY, Precision.INT8, Precision.INT8)
    )
    check_refused(layer, {}, "SDP: the input must have at most 268435456 bytes, not 536870912")
