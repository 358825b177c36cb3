"""SDP layers in registers: SDP_RDMA and SDP."""

from __future__ import annotations

from nvdla_models.config import HwConfig
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import OperandLayout
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, SdpStage, YStage, check_conversion, output_converter
from nvdla_tb.nvdla.layers import (
    ConvLayer,
    OperandSurface,
    SdpLayer,
    StageSource,
    Surface,
    is_per_channel,
    processing_precision,
    strides_are_ignored,
)
from nvdla_tb.nvdla.program.common import (
    AXES,
    NEUTRAL,
    PRECISION,
    RAM,
    build_surface,
    check_precision,
    check_ram,
    field_of,
    flatten_surface,
    halves,
    surface_rows,
)
from nvdla_tb.nvdla.program.lut import build_lut, flatten_lut, lut_rows
from nvdla_tb.nvdla.program.table import (
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
    View,
    blame,
    blame_attributes,
    row,
)

_COMPONENTS = ("alu", "mul")
_ALU_OPS = ((AluOp.MAX, 0), (AluOp.MIN, 1), (AluOp.SUM, 2))
_X_ALU_OP = Named(_ALU_OPS)
_Y_ALU_OP = Named((*_ALU_OPS, (AluOp.EQUAL, 3)))
_COMPONENTS_IN_MEMORY = Named(((("mul",), 0), (("alu",), 1), (("alu", "mul"), 2)))
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
        row(f"{memory}.components", f"{rdma_cfg}_data_use", codec=_COMPONENTS_IN_MEMORY, when=memory),
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


def flatten(layer: SdpLayer) -> Flat:
    """Return a layer's attributes by the names of ``TABLE``."""
    return flatten_surface("src", layer.src) | flatten_processing(layer.params, layer)


def flatten_processing(params: SdpParams, layer: SdpLayer | ConvLayer) -> Flat:
    """Return the attributes of SDP apart from its source in memory, by the names of ``TABLE``."""
    return {
        **{f"shape.{axis}": size for axis, size in zip(AXES, layer.dst.layout.shape, strict=True)},
        "input_precision": params.input_precision,
        "processing_precision": processing_precision(params.input_precision, params.output_precision),
        "output_precision": params.output_precision,
        "nan_to_zero": params.nan_to_zero,
        **flatten_surface("dst", layer.dst),
        **_flatten_stage("x1", params.x1, layer.x1),
        **_flatten_stage("x2", params.x2, layer.x2),
        **_flatten_stage("y", params.y, layer.y),
        **{f"converter.{part}": getattr(params.converter, part) for part in NEUTRAL},
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
    params, dst, *sources = build_processing(config, flat)
    src = build_surface(config, TABLE, flat, "src", shape, input_precision)
    with blame_attributes(TABLE, ""):
        return SdpLayer(src, dst, params, *sources)


def build_processing(
    config: HwConfig, flat: Flat
) -> tuple[SdpParams, Surface, StageSource | None, StageSource | None, StageSource | None]:
    """Return SDP's parameters, its destination and the operands of X1, X2 and Y, from decoded attributes.

    Attributes of units that take no part may be missing.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    shape = (flat["shape.channel"], flat["shape.height"], flat["shape.width"])
    y, y_source = _build_y(config, flat, shape)
    check_precision(config, TABLE, flat, "processing_precision")
    output_precision = check_precision(config, TABLE, flat, "output_precision")
    _check_processing(flat)
    if strides_are_ignored(shape):
        flat |= {f"dst.{name}_stride_bytes": config.memory_atomic_bytes for name in ("line", "surface")}
    dst = build_surface(config, TABLE, flat, "dst", shape, output_precision)
    x1, x1_source = _build_x(config, flat, "x1", shape)
    x2, x2_source = _build_x(config, flat, "x2", shape)
    converter = {part: flat.get(f"converter.{part}", neutral) for part, neutral in NEUTRAL.items()}
    with blame_attributes(TABLE, ""):
        params = SdpParams(
            x1,
            x2,
            output_converter(**converter),
            flat["input_precision"],
            output_precision,
            y,
            flat.get("nan_to_zero", False),
        )
    return params, dst, x1_source, x2_source, y_source


def _check_processing(flat: Flat) -> None:
    source, target, got = (flat[f"{name}_precision"] for name in ("input", "output", "processing"))
    with blame(field_of(TABLE, "output_precision")):
        check_conversion(source, target)
    expected = processing_precision(source, target)
    if got is not expected:
        field = field_of(TABLE, "processing_precision")
        raise Refused(f"{field} must be {expected.name} from {source.name} to {target.name}, not {got.name}")


def _flatten_stage(name: str, stage: SdpStage | YStage | None, source: StageSource | None) -> Flat:
    """Return the attributes of a stage and its operands by the names of the field table."""
    source = source or StageSource()
    memory = source.memory
    flat: Flat = {name: stage is not None, f"{name}.memory": memory is not None}
    if stage is not None:
        flat |= {
            f"{name}.has_alu": stage.alu is not None,
            f"{name}.alu": stage.alu,
            f"{name}.alu_from_memory": stage.alu is not None and source.alu is None,
            f"{name}.alu_register": source.alu,
            f"{name}.mul": stage.mul,
            f"{name}.mul_prelu": stage.mul_prelu,
            f"{name}.mul_from_memory": stage.mul and source.mul is None,
            f"{name}.mul_register": source.mul,
        }
    if isinstance(stage, SdpStage):
        flat |= {f"{name}.{field}": getattr(stage, field) for field in ("alu_shift", "mul_shift", "relu")}
    elif stage is not None:
        flat |= _flatten_y(stage)
    if memory is not None:
        flat |= {
            f"{name}.memory.components": memory.layout.components,
            f"{name}.memory.component_bytes": memory.layout.component_bytes,
            f"{name}.memory.per_element": not is_per_channel(memory.layout),
            **flatten_surface(f"{name}.memory", memory),
        }
    return flat


def _flatten_y(stage: YStage) -> Flat:
    flat: Flat = {"y.truncate": stage.truncate, "y.has_lut": stage.lut is not None}
    for component in _COMPONENTS:
        name = f"{component}_converter"
        converter: Converter | None = getattr(stage, name)
        flat[f"y.{name}"] = converter is not None
        if converter is not None:
            flat |= {f"y.{name}.{part}": getattr(converter, part) for part in NEUTRAL}
    return flat if stage.lut is None else flat | flatten_lut(stage.lut)


def _build_x(
    config: HwConfig, flat: Flat, name: str, shape: tuple[int, int, int]
) -> tuple[SdpStage | None, StageSource | None]:
    """Return X1 or X2 from decoded attributes."""
    memory = _build_memory(config, flat, name, shape)
    if not flat[name]:
        return None, None
    if not (config.sdp_bs_enable if name == "x1" else config.sdp_bn_enable):
        message = f"{field_of(TABLE, name)} must be YES, not NO: {config.name} has no {name.upper()}"
        raise Refused(message, lacking=True)
    _check_fetched(flat, name, memory)
    with blame_attributes(TABLE, name):
        stage = SdpStage(
            alu=flat.get(f"{name}.alu"),
            alu_shift=flat.get(f"{name}.alu_shift", 0),
            mul=flat[f"{name}.mul"],
            mul_prelu=flat.get(f"{name}.mul_prelu", False),
            mul_shift=flat.get(f"{name}.mul_shift", 0),
            relu=flat[f"{name}.relu"],
        )
    return stage, _source(flat, name, memory)


def _build_y(config: HwConfig, flat: Flat, shape: tuple[int, int, int]) -> tuple[YStage | None, StageSource | None]:
    """Return Y from decoded attributes; a configuration without Y may leave it on without work."""
    if not config.sdp_ew_enable:
        reason = f"{config.name} has no Y (element-wise and LUT)"
        if flat["y"] and (flat["y.has_alu"] or flat["y.mul"] or flat["y.has_lut"]):
            raise Refused(f"{field_of(TABLE, 'y')} must be YES, not NO: {reason}", lacking=True)
        if flat.get("y.memory"):
            raise Refused(f"{field_of(TABLE, 'y.memory')} must be YES, not NO: {reason}", lacking=True)
        return None, None
    memory = _build_memory(config, flat, "y", shape)
    if not flat["y"]:
        return None, None
    if flat["y.has_lut"] and not config.sdp_lut_enable:
        message = f"{field_of(TABLE, 'y.has_lut')} must be YES, not NO: {config.name} has no lookup tables in Y"
        raise Refused(message, lacking=True)
    _check_fetched(flat, "y", memory)
    with blame_attributes(TABLE, "y"):
        stage = YStage(
            alu=flat.get("y.alu"),
            mul=flat["y.mul"],
            mul_prelu=flat.get("y.mul_prelu", False),
            truncate=flat.get("y.truncate", 0),
            alu_converter=_operand_converter(flat, "alu"),
            mul_converter=_operand_converter(flat, "mul"),
            lut=build_lut(flat) if flat["y.has_lut"] else None,
        )
    return stage, _source(flat, "y", memory)


def _operand_converter(flat: Flat, component: str) -> Converter | None:
    name = f"y.{component}_converter"
    if not flat.get(name):
        return None
    return Converter(**{part: flat[f"{name}.{part}"] for part in NEUTRAL}, encoding=ConverterEncoding.SDP_OPERAND)


def _source(flat: Flat, name: str, memory: OperandSurface | None) -> StageSource | None:
    source = StageSource(flat.get(f"{name}.alu_register"), flat.get(f"{name}.mul_register"), memory)
    return None if source == StageSource() else source


def _check_fetched(flat: Flat, name: str, memory: OperandSurface | None) -> None:
    """Refuse an operand from memory that nothing fetches."""
    for component in _COMPONENTS:
        fetched = memory is not None and component in memory.layout.components
        if flat.get(f"{name}.{component}_from_memory") and not fetched:
            field, rdma = field_of(TABLE, f"{name}.{component}_from_memory"), field_of(TABLE, f"{name}.memory")
            raise Refused(
                f"{field} must be REG, not MEM: {rdma.rpartition('.')[0]} fetches no operand of the {component.upper()}"
            )


def _build_memory(config: HwConfig, flat: Flat, stage: str, shape: tuple[int, int, int]) -> OperandSurface | None:
    name = f"{stage}.memory"
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
        surface = OperandSurface(layout, flat[f"{name}.address"], flat[f"{name}.ram"])
    if not flat[stage]:
        raise Refused(f"{field_of(TABLE, name)} must be YES, not NO: {stage} is bypassed and takes no operand")
    return surface
