"""Stages of SDP and their operands: from layers to the attributes of the field table, and back."""

from __future__ import annotations

from models.config import HwConfig
from models.converter import Converter, ConverterEncoding
from models.layout import OperandLayout
from models.precision import Precision
from models.sdp import SdpStage, YStage
from tb.nvdla.layers import OperandSurface, StageSource, is_per_channel, strides_are_ignored
from tb.nvdla.program.common import check_ram, field_of
from tb.nvdla.program.lut import build_lut, flatten_lut
from tb.nvdla.program.sdp_table import CONVERTER_PARTS, TABLE
from tb.nvdla.program.table import Flat, Refused, blame_attributes

_COMPONENTS = ("alu", "mul")


def flatten_stage(name: str, stage: SdpStage | YStage | None, source: StageSource | None) -> Flat:
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
            f"{name}.memory.ram": memory.ram,
            f"{name}.memory.address": memory.address,
            f"{name}.memory.line_stride_bytes": memory.layout.line_stride_bytes,
            f"{name}.memory.surface_stride_bytes": memory.layout.surface_stride_bytes,
        }
    return flat


def _flatten_y(stage: YStage) -> Flat:
    flat: Flat = {"y.truncate": stage.truncate, "y.has_lut": stage.lut is not None}
    for component in _COMPONENTS:
        name = f"{component}_converter"
        converter: Converter | None = getattr(stage, name)
        flat[f"y.{name}"] = converter is not None
        if converter is not None:
            flat |= {f"y.{name}.{part}": getattr(converter, part) for part in CONVERTER_PARTS}
    return flat if stage.lut is None else flat | flatten_lut(stage.lut)


def build_x(
    config: HwConfig, flat: Flat, name: str, shape: tuple[int, int, int]
) -> tuple[SdpStage | None, StageSource | None]:
    """Return X1 or X2 from decoded attributes.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    memory = _build_memory(config, flat, name, shape)
    if not flat[name]:
        return None, None
    if not (config.sdp_bs_enable if name == "x1" else config.sdp_bn_enable):
        raise Refused(f"{field_of(TABLE, name)} must be YES, not NO: {config.name} has no {name.upper()}")
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


def build_y(config: HwConfig, flat: Flat, shape: tuple[int, int, int]) -> tuple[YStage | None, StageSource | None]:
    """Return Y from decoded attributes; a configuration without Y may leave it on without work.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    if not config.sdp_ew_enable:
        reason = f"{config.name} has no Y (element-wise and LUT)"
        if flat["y"] and (flat["y.has_alu"] or flat["y.mul"] or flat["y.has_lut"]):
            raise Refused(f"{field_of(TABLE, 'y')} must be YES, not NO: {reason}")
        if flat.get("y.memory"):
            raise Refused(f"{field_of(TABLE, 'y.memory')} must be YES, not NO: {reason}")
        return None, None
    memory = _build_memory(config, flat, "y", shape)
    if not flat["y"]:
        return None, None
    if flat["y.has_lut"] and not config.sdp_lut_enable:
        raise Refused(f"{field_of(TABLE, 'y.has_lut')} must be YES, not NO: {config.name} has no lookup tables in Y")
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
    return Converter(
        **{part: flat[f"{name}.{part}"] for part in CONVERTER_PARTS}, encoding=ConverterEncoding.SDP_OPERAND
    )


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
