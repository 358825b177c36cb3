"""SDP layers in registers: SDP_RDMA and SDP."""

from __future__ import annotations

from models.config import HwConfig
from models.layout import OperandLayout
from models.precision import Precision
from models.sdp import AluOp, OutputConverter, SdpParams, SdpStage
from tb.layers import (
    OperandSurface,
    SdpLayer,
    StageSource,
    Surface,
    is_per_channel,
    processing_precision,
    strides_are_ignored,
)
from tb.program.common import (
    PRECISION,
    RAM,
    build_surface,
    check_precision,
    check_ram,
    field_of,
    flatten_surface,
    surface_rows,
)
from tb.program.table import (
    FLAG,
    INVERTED_FLAG,
    MINUS_ONE,
    SIGNED,
    Fixed,
    Flat,
    LowBits,
    Named,
    Refused,
    Row,
    Table,
    blame_attributes,
    row,
)

UNITS = ("SDP_RDMA", "SDP")

_ALU_OP = Named(((AluOp.MAX, 0), (AluOp.MIN, 1), (AluOp.SUM, 2)))
_COMPONENTS = Named(((("mul",), 0), (("alu",), 1), (("alu", "mul"), 2)))
_SHIFT = LowBits(6)
_COMPONENT_BYTES = Named(((1, 0), (2, 1)))


def _stage_rows(stage: str, name: str, rdma: str) -> tuple[Row, ...]:
    """Return the rows of X1 (``BS``, ``BRDMA``) or X2 (``BN``, ``NRDMA``)."""
    low, cfg = name.lower(), f"SDP.D_DP_{name}_CFG.{name.lower()}"
    rdma_cfg = f"SDP_RDMA.D_{rdma}_CFG.{rdma.lower()}"
    memory = f"{stage}.memory"
    return (
        row(stage, f"{cfg}_bypass", codec=INVERTED_FLAG),
        row(f"{stage}.has_alu", f"{cfg}_alu_bypass", codec=INVERTED_FLAG, when=stage),
        row(f"{stage}.alu", f"{cfg}_alu_algo", codec=_ALU_OP, when=f"{stage}.has_alu"),
        row(f"{stage}.mul", f"{cfg}_mul_bypass", codec=INVERTED_FLAG, when=stage),
        row(f"{stage}.mul_prelu", f"{cfg}_mul_prelu", codec=FLAG, when=f"{stage}.mul"),
        row(f"{stage}.relu", f"{cfg}_relu_bypass", codec=INVERTED_FLAG, when=stage),
        row(
            f"{stage}.alu_from_memory",
            f"SDP.D_DP_{name}_ALU_CFG.{low}_alu_src",
            codec=FLAG,
            when=f"{stage}.has_alu",
        ),
        row(f"{stage}.alu_shift", f"SDP.D_DP_{name}_ALU_CFG.{low}_alu_shift_value", when=f"{stage}.has_alu"),
        row(
            f"{stage}.alu_register",
            f"SDP.D_DP_{name}_ALU_SRC_VALUE.{low}_alu_operand",
            codec=SIGNED,
            when=f"{stage}.has_alu & !{stage}.alu_from_memory",
        ),
        row(f"{stage}.mul_from_memory", f"SDP.D_DP_{name}_MUL_CFG.{low}_mul_src", codec=FLAG, when=f"{stage}.mul"),
        row(f"{stage}.mul_shift", f"SDP.D_DP_{name}_MUL_CFG.{low}_mul_shift_value", codec=_SHIFT, when=stage),
        row(
            f"{stage}.mul_register",
            f"SDP.D_DP_{name}_MUL_SRC_VALUE.{low}_mul_operand",
            codec=SIGNED,
            when=f"{stage}.mul & !{stage}.mul_from_memory",
        ),
        row(memory, f"{rdma_cfg}_disable", codec=INVERTED_FLAG),
        row(f"{memory}.components", f"{rdma_cfg}_data_use", codec=_COMPONENTS, when=memory),
        row(f"{memory}.component_bytes", f"{rdma_cfg}_data_size", codec=_COMPONENT_BYTES, when=memory),
        row(f"{memory}.per_element", f"{rdma_cfg}_data_mode", codec=FLAG, when=memory),
        row(f"{memory}.ram", f"{rdma_cfg}_ram_type", codec=RAM, when=memory),
        row(
            f"{memory}.address",
            f"SDP_RDMA.D_{name}_BASE_ADDR_LOW.{low}_base_addr_low",
            f"SDP_RDMA.D_{name}_BASE_ADDR_HIGH.{low}_base_addr_high",
            when=memory,
        ),
        row(
            f"{memory}.line_stride_bytes",
            f"SDP_RDMA.D_{name}_LINE_STRIDE.{low}_line_stride",
            when=f"{memory}.per_element",
        ),
        row(
            f"{memory}.surface_stride_bytes",
            f"SDP_RDMA.D_{name}_SURFACE_STRIDE.{low}_surface_stride",
            when=f"{memory}.per_element",
        ),
    )


TABLE: Table = (
    Fixed("SDP.D_FEATURE_MODE_CFG.flying_mode", 0, "SDP alone takes its input from memory"),
    Fixed("SDP_RDMA.D_FEATURE_MODE_CFG.flying_mode", 0, "SDP takes its input from memory"),
    Fixed("SDP.D_FEATURE_MODE_CFG.output_dst", 0, "output to PDP is not modelled"),
    Fixed("SDP.D_FEATURE_MODE_CFG.winograd", 0, "Winograd is not modelled"),
    Fixed("SDP_RDMA.D_FEATURE_MODE_CFG.winograd", 0, "Winograd is not modelled"),
    Fixed("SDP.D_FEATURE_MODE_CFG.batch_number", 0, "batches are not modelled"),
    Fixed("SDP_RDMA.D_FEATURE_MODE_CFG.batch_number", 0, "batches are not modelled"),
    *(
        row(f"shape.{axis}", f"{unit}.D_DATA_CUBE_{axis.upper()}.{axis}", codec=MINUS_ONE)
        for axis in ("channel", "height", "width")
        for unit in UNITS
    ),
    row("input_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.in_precision", codec=PRECISION),
    row("processing_precision", "SDP.D_DATA_FORMAT.proc_precision", codec=PRECISION),
    row("processing_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.proc_precision", codec=PRECISION),
    row("output_precision", "SDP.D_DATA_FORMAT.out_precision", codec=PRECISION),
    row("output_precision", "SDP_RDMA.D_FEATURE_MODE_CFG.out_precision", codec=PRECISION),
    *surface_rows("src", "SDP_RDMA", "SRC", "D_SRC_DMA_CFG.src_ram_type"),
    *surface_rows("dst", "SDP", "DST", "D_DST_DMA_CFG.dst_ram_type"),
    *_stage_rows("x1", "BS", "BRDMA"),
    *_stage_rows("x2", "BN", "NRDMA"),
    row("y", "SDP.D_DP_EW_CFG.ew_bypass", codec=INVERTED_FLAG),
    row("y.alu", "SDP.D_DP_EW_CFG.ew_alu_bypass", codec=INVERTED_FLAG, when="y"),
    row("y.mul", "SDP.D_DP_EW_CFG.ew_mul_bypass", codec=INVERTED_FLAG, when="y"),
    row("y.lut", "SDP.D_DP_EW_CFG.ew_lut_bypass", codec=INVERTED_FLAG, when="y"),
    row("y.memory", "SDP_RDMA.D_ERDMA_CFG.erdma_disable", codec=INVERTED_FLAG),
    row("converter.offset", "SDP.D_CVT_OFFSET.cvt_offset", codec=SIGNED),
    row("converter.scale", "SDP.D_CVT_SCALE.cvt_scale", codec=SIGNED),
    row("converter.shift", "SDP.D_CVT_SHIFT.cvt_shift"),
)


def flatten(layer: SdpLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``."""
    return flatten_surface("src", layer.src) | flatten_processing(layer.params, layer.dst, layer.x1, layer.x2)


def flatten_processing(params: SdpParams, dst: Surface, x1: StageSource | None, x2: StageSource | None) -> Flat:
    """Return the attributes of SDP apart from its source in memory, by the names of ``TABLE``."""
    channel, height, width = dst.layout.shape
    return {
        "shape.channel": channel,
        "shape.height": height,
        "shape.width": width,
        "input_precision": params.input_precision,
        "processing_precision": processing_precision(params.input_precision, params.output_precision),
        "output_precision": params.output_precision,
        **flatten_surface("dst", dst),
        **_flatten_stage("x1", params.x1, x1),
        **_flatten_stage("x2", params.x2, x2),
        "y": False,
        "y.memory": False,
        "converter.offset": params.converter.offset,
        "converter.scale": params.converter.scale,
        "converter.shift": params.converter.shift,
    }


def build(config: HwConfig, flat: Flat) -> SdpLayer:
    """Return the layer that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    input_precision = check_precision(config, TABLE, flat, "input_precision")
    shape = (flat["shape.channel"], flat["shape.height"], flat["shape.width"])
    if strides_are_ignored(shape):
        flat |= {f"src.{name}_stride_bytes": config.memory_atomic_bytes for name in ("line", "surface")}
    params, dst, x1, x2 = build_processing(config, flat)
    src = build_surface(config, TABLE, flat, "src", shape, input_precision)
    with blame_attributes(TABLE, ""):
        return SdpLayer(src, dst, params, x1, x2)


def build_processing(config: HwConfig, flat: Flat) -> tuple[SdpParams, Surface, StageSource | None, StageSource | None]:
    """Return what decoded attributes say of SDP apart from its source: parameters, destination, X1, X2.

    Args:
        config: The configuration.
        flat: Attributes by the names of ``TABLE``; those of units that take no part may be missing.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    _check_y(config, flat)
    check_precision(config, TABLE, flat, "processing_precision")
    output_precision = check_precision(config, TABLE, flat, "output_precision")
    _check_processing(flat)
    shape = (flat["shape.channel"], flat["shape.height"], flat["shape.width"])
    if strides_are_ignored(shape):
        flat |= {f"dst.{name}_stride_bytes": config.memory_atomic_bytes for name in ("line", "surface")}
    dst = build_surface(config, TABLE, flat, "dst", shape, output_precision)
    with blame_attributes(TABLE, "converter"):
        converter = OutputConverter(flat["converter.offset"], flat["converter.scale"], flat["converter.shift"])
    x1, x1_source = _build_stage(config, flat, "x1", shape)
    x2, x2_source = _build_stage(config, flat, "x2", shape)
    with blame_attributes(TABLE, ""):
        params = SdpParams(x1, x2, converter, flat["input_precision"], output_precision)
    return params, dst, x1_source, x2_source


def _check_y(config: HwConfig, flat: Flat) -> None:
    acts = flat["y"] and (flat["y.alu"] or flat["y.mul"] or flat["y.lut"])
    reason = "Y is not modelled" if config.sdp_ew_enable else f"{config.name} has no Y (element-wise and LUT)"
    if acts:
        raise Refused(f"SDP.D_DP_EW_CFG.ew_bypass must be YES, not NO: {reason}")
    if flat.get("y.memory"):
        raise Refused(f"SDP_RDMA.D_ERDMA_CFG.erdma_disable must be YES, not NO: {reason}")


def _check_processing(flat: Flat) -> None:
    source, target, got = (flat[f"{name}_precision"] for name in ("input", "output", "processing"))
    expected = processing_precision(source, target)
    if got is not expected:
        field = field_of(TABLE, "processing_precision")
        raise Refused(f"{field} must be {expected.name} from {source.name} to {target.name}, not {got.name}")


def _check_stage(config: HwConfig, flat: Flat, name: str, memory: OperandSurface | None) -> None:
    """Refuse a stage that the configuration lacks, and an operand from memory that nothing fetches."""
    if not (config.sdp_bs_enable if name == "x1" else config.sdp_bn_enable):
        raise Refused(f"{field_of(TABLE, name)} must be YES, not NO: {config.name} has no {name.upper()}")
    for component in ("alu", "mul"):
        fetched = memory is not None and component in memory.layout.components
        if flat.get(f"{name}.{component}_from_memory") and not fetched:
            field, rdma = field_of(TABLE, f"{name}.{component}_from_memory"), field_of(TABLE, f"{name}.memory")
            raise Refused(
                f"{field} must be REG, not MEM: {rdma.rpartition('.')[0]} fetches no operand of the {component.upper()}"
            )


def _flatten_stage(name: str, stage: SdpStage | None, source: StageSource | None) -> Flat:
    source = source or StageSource()
    memory = source.memory
    flat: Flat = {name: stage is not None, f"{name}.memory": memory is not None}
    if stage is not None:
        flat |= {
            f"{name}.has_alu": stage.alu is not None,
            f"{name}.alu": stage.alu,
            f"{name}.alu_shift": stage.alu_shift,
            f"{name}.alu_from_memory": source.alu is None,
            f"{name}.alu_register": source.alu,
            f"{name}.mul": stage.mul,
            f"{name}.mul_prelu": stage.mul_prelu,
            f"{name}.mul_shift": stage.mul_shift,
            f"{name}.mul_from_memory": source.mul is None,
            f"{name}.mul_register": source.mul,
            f"{name}.relu": stage.relu,
        }
    if memory is not None:
        flat |= {
            f"{name}.memory.components": memory.layout.components,
            f"{name}.memory.component_bytes": memory.layout.component_bytes,
            f"{name}.memory.per_element": not is_per_channel(memory.layout),
            f"{name}.memory.ram": memory.ram,
            f"{name}.memory.address": memory.address,
            f"{name}.memory.line_stride_bytes": memory.layout.line_stride_bytes,
            f"{name}.memory.surface_stride_bytes": memory.layout.surface_stride_bytes,
        }
    return flat


def _build_stage(
    config: HwConfig, flat: Flat, name: str, shape: tuple[int, int, int]
) -> tuple[SdpStage | None, StageSource | None]:
    memory = _build_memory(config, flat, f"{name}.memory", shape)
    if not flat[name]:
        if memory is not None:
            field = field_of(TABLE, f"{name}.memory")
            raise Refused(f"{field} must be YES, not NO: {name} is bypassed and takes no operand")
        return None, None
    _check_stage(config, flat, name, memory)
    with blame_attributes(TABLE, name):
        stage = SdpStage(
            alu=flat.get(f"{name}.alu"),
            alu_shift=flat.get(f"{name}.alu_shift", 0),
            mul=flat[f"{name}.mul"],
            mul_prelu=flat.get(f"{name}.mul_prelu", False),
            mul_shift=flat[f"{name}.mul_shift"],
            relu=flat[f"{name}.relu"],
        )
    source = StageSource(flat.get(f"{name}.alu_register"), flat.get(f"{name}.mul_register"), memory)
    return stage, None if source == StageSource() else source


def _build_memory(config: HwConfig, flat: Flat, name: str, shape: tuple[int, int, int]) -> OperandSurface | None:
    if not flat.get(name):
        return None
    check_ram(config, TABLE, flat, name)
    precision: Precision = flat["processing_precision"]
    channels = shape[0]
    components, component_bytes = flat[f"{name}.components"], flat[f"{name}.component_bytes"]
    with blame_attributes(TABLE, name):
        if flat[f"{name}.per_element"] and not strides_are_ignored(shape):
            layout = OperandLayout(
                config,
                precision,
                shape,
                components,
                component_bytes,
                flat[f"{name}.line_stride_bytes"],
                flat[f"{name}.surface_stride_bytes"],
            )
        else:
            layout = OperandLayout.packed(config, precision, (channels, 1, 1), components, component_bytes)
        return OperandSurface(layout, flat[f"{name}.address"], flat[f"{name}.ram"])
