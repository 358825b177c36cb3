"""The field table of SDP: SDP_RDMA and SDP."""

from __future__ import annotations

from models.sdp import AluOp
from tb.nvdla.program.common import AXES, PRECISION, RAM, halves, surface_rows
from tb.nvdla.program.lut import lut_rows
from tb.nvdla.program.table import FLAG, INVERTED_FLAG, MINUS_ONE, SIGNED, Fixed, LowBits, Named, Row, Table, View, row

_ALU_OPS = ((AluOp.MAX, 0), (AluOp.MIN, 1), (AluOp.SUM, 2))
_X_ALU_OP = Named(_ALU_OPS)
_Y_ALU_OP = Named((*_ALU_OPS, (AluOp.EQUAL, 3)))
_COMPONENTS = Named(((("mul",), 0), (("alu",), 1), (("alu", "mul"), 2)))
_SHIFT = LowBits(6)
_COMPONENT_BYTES = Named(((1, 0), (2, 1)))


def _source_rows(stage: str, name: str, component: str) -> tuple[Row, ...]:
    """Return the rows of where an ALU's or a multiplier's operand comes from; a register holds FP16 as it is."""
    active = f"{stage}.has_alu" if component == "alu" else f"{stage}.mul"
    low, unit = name.lower(), f"SDP.D_DP_{name}_{component.upper()}"
    register = f"{unit}_SRC_VALUE.{low}_{component}_operand"
    from_register = f"{active} & !{stage}.{component}_from_memory"
    return (
        row(f"{stage}.{component}_from_memory", f"{unit}_CFG.{low}_{component}_src", codec=FLAG, when=active),
        row(f"{stage}.{component}_register", register, codec=SIGNED, when=f"{from_register} & !float"),
        row(f"{stage}.{component}_register", register, when=f"{from_register} & float"),
    )


def _memory_rows(stage: str, name: str, rdma: str) -> tuple[Row, ...]:
    """Return the rows of a stage's operands in memory."""
    low = name.lower()
    rdma_cfg = f"SDP_RDMA.D_{rdma}_CFG.{rdma.lower()}"
    memory, element = f"{stage}.memory", f"{stage}.memory.per_element"
    return (
        row(memory, f"{rdma_cfg}_disable", codec=INVERTED_FLAG),
        row(f"{memory}.components", f"{rdma_cfg}_data_use", codec=_COMPONENTS, when=memory),
        row(f"{memory}.component_bytes", f"{rdma_cfg}_data_size", codec=_COMPONENT_BYTES, when=memory),
        row(element, f"{rdma_cfg}_data_mode", codec=FLAG, when=memory),
        row(f"{memory}.ram", f"{rdma_cfg}_ram_type", codec=RAM, when=memory),
        row(f"{memory}.address", *halves(f"SDP_RDMA.D_{name}_BASE_ADDR_{{}}"), when=memory),
        row(f"{memory}.line_stride_bytes", f"SDP_RDMA.D_{name}_LINE_STRIDE.{low}_line_stride", when=element),
        row(f"{memory}.surface_stride_bytes", f"SDP_RDMA.D_{name}_SURFACE_STRIDE.{low}_surface_stride", when=element),
    )


def _x_rows(stage: str, name: str, rdma: str) -> tuple[Row, ...]:
    """Return the rows of X1 (``BS``, ``BRDMA``) or X2 (``BN``, ``NRDMA``)."""
    low, unit = name.lower(), f"SDP.D_DP_{name}"
    cfg = f"{unit}_CFG.{low}"
    return (
        row(stage, f"{cfg}_bypass", codec=INVERTED_FLAG),
        row(f"{stage}.has_alu", f"{cfg}_alu_bypass", codec=INVERTED_FLAG, when=stage),
        row(f"{stage}.alu", f"{cfg}_alu_algo", codec=_X_ALU_OP, when=f"{stage}.has_alu"),
        row(f"{stage}.mul", f"{cfg}_mul_bypass", codec=INVERTED_FLAG, when=stage),
        row(f"{stage}.mul_prelu", f"{cfg}_mul_prelu", codec=FLAG, when=f"{stage}.mul"),
        row(f"{stage}.relu", f"{cfg}_relu_bypass", codec=INVERTED_FLAG, when=stage),
        *_source_rows(stage, name, "alu"),
        row(f"{stage}.alu_shift", f"{unit}_ALU_CFG.{low}_alu_shift_value", when=f"{stage}.has_alu & !float"),
        *_source_rows(stage, name, "mul"),
        row(f"{stage}.mul_shift", f"{unit}_MUL_CFG.{low}_mul_shift_value", codec=_SHIFT, when=f"{stage} & !float"),
        *_memory_rows(stage, name, rdma),
    )


def _operand_converter_rows(component: str) -> tuple[Row, ...]:
    """Return the rows of the converter of Y's operands from memory."""
    unit, converter = f"SDP.D_DP_EW_{component.upper()}", f"y.{component}_converter"
    fetched = f"y.{component}_from_memory & !float"
    return (
        row(converter, f"{unit}_CFG.ew_{component}_cvt_bypass", codec=INVERTED_FLAG, when=fetched),
        row(f"{converter}.offset", f"{unit}_CVT_OFFSET_VALUE.ew_{component}_cvt_offset", codec=SIGNED, when=converter),
        row(f"{converter}.scale", f"{unit}_CVT_SCALE_VALUE.ew_{component}_cvt_scale", codec=SIGNED, when=converter),
        row(f"{converter}.shift", f"{unit}_CVT_TRUNCATE_VALUE.ew_{component}_cvt_truncate", when=converter),
    )


def _y_rows() -> tuple[Row, ...]:
    """Return the rows of Y (``EW``, ``ERDMA``) and its lookup tables."""
    cfg = "SDP.D_DP_EW_CFG.ew"
    return (
        row("y", f"{cfg}_bypass", codec=INVERTED_FLAG),
        row("y.has_alu", f"{cfg}_alu_bypass", codec=INVERTED_FLAG, when="y"),
        row("y.alu", f"{cfg}_alu_algo", codec=_Y_ALU_OP, when="y.has_alu"),
        row("y.mul", f"{cfg}_mul_bypass", codec=INVERTED_FLAG, when="y"),
        row("y.mul_prelu", f"{cfg}_mul_prelu", codec=FLAG, when="y.mul"),
        row("y.has_lut", f"{cfg}_lut_bypass", codec=INVERTED_FLAG, when="y"),
        *_source_rows("y", "EW", "alu"),
        *_operand_converter_rows("alu"),
        *_source_rows("y", "EW", "mul"),
        *_operand_converter_rows("mul"),
        row("y.truncate", "SDP.D_DP_EW_TRUNCATE_VALUE.ew_truncate", when="y.mul & !float"),
        *_memory_rows("y", "EW", "ERDMA"),
        *lut_rows("SDP", when="y.has_lut"),
    )


TABLE: Table = (
    Fixed("SDP.D_FEATURE_MODE_CFG.flying_mode", 0, "SDP alone takes its input from memory"),
    Fixed("SDP_RDMA.D_FEATURE_MODE_CFG.flying_mode", 0, "SDP takes its input from memory"),
    Fixed("SDP.D_FEATURE_MODE_CFG.output_dst", 0, "the output goes to memory"),
    Fixed("SDP.D_FEATURE_MODE_CFG.winograd", 0, "Winograd is not modelled"),
    Fixed("SDP_RDMA.D_FEATURE_MODE_CFG.winograd", 0, "Winograd is not modelled"),
    Fixed("SDP.D_FEATURE_MODE_CFG.batch_number", 0, "batches from memory are not modelled"),
    Fixed("SDP_RDMA.D_FEATURE_MODE_CFG.batch_number", 0, "batches from memory are not modelled"),
    *(
        row(f"shape.{axis}", f"{unit}.D_DATA_CUBE_{axis.upper()}.{axis}", codec=MINUS_ONE)
        for axis in AXES
        for unit in ("SDP_RDMA", "SDP")
    ),
    row("input_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.in_precision", codec=PRECISION),
    row("processing_precision", "SDP.D_DATA_FORMAT.proc_precision", codec=PRECISION),
    row("processing_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.proc_precision", codec=PRECISION),
    View("float", "SDP.D_DATA_FORMAT.proc_precision", lambda bits: bits == 2),
    row("output_precision", "SDP.D_DATA_FORMAT.out_precision", codec=PRECISION),
    row("output_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.out_precision", codec=PRECISION),
    row("nan_to_zero", "SDP.D_FEATURE_MODE_CFG.nan_to_zero", codec=FLAG, when="float"),
    *surface_rows("src", "SDP_RDMA", "SRC", "D_SRC_DMA_CFG.src_ram_type"),
    *surface_rows("dst", "SDP", "DST", "D_DST_DMA_CFG.dst_ram_type"),
    *_x_rows("x1", "BS", "BRDMA"),
    *_x_rows("x2", "BN", "NRDMA"),
    *_y_rows(),
    row("converter.offset", "SDP.D_CVT_OFFSET.cvt_offset", codec=SIGNED, when="!float"),
    row("converter.scale", "SDP.D_CVT_SCALE.cvt_scale", codec=SIGNED, when="!float"),
    row("converter.shift", "SDP.D_CVT_SHIFT.cvt_shift", when="!float"),
)
