"""SDP layers from descriptions, and the stages that SDP on the fly has too, with their operands."""

from __future__ import annotations

from collections.abc import Sequence

from nvdla_models.converter import ConverterEncoding
from nvdla_models.layout import OperandLayout
from nvdla_models.lut import LutUnit
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, SdpStage, YStage, output_converter
from nvdla_tb.nvdla.layers import Layer, SdpLayer, StageSource, processing_precision
from nvdla_tb.stimulus.generate.describe import PlanError, Table
from nvdla_tb.stimulus.generate.layers.tables import take_lut
from nvdla_tb.stimulus.generate.layers.workshop import (
    Workshop,
    take_converter_if,
    take_destination,
    take_numbers,
    take_precision,
    take_source,
)

_SOURCES = ("register", "channel", "element")
_Y_REGISTER_BITS = 32


def build_sdp(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> SdpLayer:
    """Return the SDP layer that a description asks for."""
    src = take_source(shop, name, table, earlier)
    shape, precision = src.layout.shape, src.layout.precision
    output = take_precision(table, "output_precision", precision)
    dst = take_destination(shop, name, table, shape, output)
    return SdpLayer(src, dst, *take_processing(shop, name, table, shape, precision, output))


def take_processing(
    shop: Workshop,
    name: str,
    table: Table,
    shape: tuple[int, int, int],
    precision: Precision,
    output: Precision,
) -> tuple[SdpParams, StageSource | None, StageSource | None, StageSource | None]:
    """Return SDP's processing of a cube: parameters, and the sources of the operands of X1, X2 and Y.

    Args:
        shop: Configuration, memory and randomness.
        name: Prefix of the allocations' names.
        table: The description of the layer.
        shape: (C, H, W) of the cube.
        precision: Precision of the input.
        output: Precision of the output.
    """
    stages = [
        _stage(shop, f"{name}_{stage}", table.table(stage), shape, processing_precision(precision, output))
        for stage in ("x1", "x2")
    ]
    y, y_source = _element_wise(shop, f"{name}_y", table.table("y"), shape, processing_precision(precision, output))
    offset, scale, shift = table.integers("converter", 3, (0, 1, 0))
    converter = output_converter(offset, scale, shift)
    flush = table.take("nan_to_zero", bool, False)
    params = SdpParams(stages[0][0], stages[1][0], converter, precision, output, y, flush)
    return params, stages[0][1], stages[1][1], y_source


def _stage(
    shop: Workshop, name: str, table: Table | None, shape: tuple[int, int, int], precision: Precision
) -> tuple[SdpStage | None, StageSource | None]:
    if table is None:
        return None, None
    alu = table.choice("alu", AluOp)
    mul = table.take("mul", bool, False)
    fetched = _operands(shop, name, table, (alu is not None, mul), shape, precision)
    stage = SdpStage(
        alu=alu,
        alu_shift=table.take("alu_shift", int, 0),
        mul=mul,
        mul_prelu=table.take("prelu", bool, False),
        mul_shift=table.take("mul_shift", int, 0),
        relu=table.take("relu", bool, False),
    )
    table.done()
    return stage, fetched


def _element_wise(
    shop: Workshop, name: str, table: Table | None, shape: tuple[int, int, int], precision: Precision
) -> tuple[YStage | None, StageSource | None]:
    """Return the processing of Y and the source of its operands; None without a description."""
    if table is None:
        return None, None
    alu, mul = table.choice("alu", AluOp), table.take("mul", bool, False)
    source = _operands(shop, name, table, (alu is not None, mul), shape, precision, _Y_REGISTER_BITS)
    lut = table.table("lut")
    stage = YStage(
        alu=alu,
        mul=mul,
        mul_prelu=table.take("prelu", bool, False),
        truncate=table.take("truncate", int, 0),
        alu_converter=take_converter_if(table, "alu_converter", ConverterEncoding.SDP_OPERAND),
        mul_converter=take_converter_if(table, "mul_converter", ConverterEncoding.SDP_OPERAND),
        lut=take_lut(shop, lut, LutUnit.SDP, precision) if lut is not None else None,
    )
    table.done()
    return stage, source


def _operands(
    shop: Workshop,
    name: str,
    table: Table,
    active: tuple[bool, bool],
    shape: tuple[int, int, int],
    precision: Precision,
    register_bits: int = 16,
) -> StageSource | None:
    """Return where a stage takes its operands from, None when it needs none; in FP16 registers hold patterns."""
    sources = {
        component: table.one_of(f"{component}_operand", _SOURCES, "register")
        for component, works in zip(("alu", "mul"), active, strict=True)
        if works
    }
    nbytes = table.take("operand_bytes", int, precision.nbytes)
    gaps = table.integers("operand_gaps", 2, (0, 0))
    low, high = (0, 1 << register_bits) if precision is Precision.FP16 else (-(1 << 15), 1 << 15)
    registers = {
        component: table.take(f"{component}_register", int, int(shop.rng.integers(low, high)))
        for component, source in sources.items()
        if source == "register"
    }
    numbers = take_numbers(table, precision)
    fetched = tuple(component for component, source in sources.items() if source in ("channel", "element"))
    if len({sources[component] for component in fetched}) > 1:
        raise PlanError(f"{table.where}: both operands from memory must be per channel or both per element")
    memory = None
    if fetched:
        per_element = sources[fetched[0]] == "element"
        layout = OperandLayout.packed(
            shop.config, precision, shape if per_element else (shape[0], 1, 1), fetched, nbytes
        )
        memory = shop.place_operands(f"{name}_operands", _spread(layout, gaps) if per_element else layout, numbers)
    source = StageSource(registers.get("alu"), registers.get("mul"), memory)
    return None if source == StageSource() else source


def _spread(layout: OperandLayout, gaps_atoms: tuple[int, ...]) -> OperandLayout:
    """Return a packed layout with gaps of so many of its own atoms after lines and surfaces."""
    _, height, width = layout.shape
    atom = layout.line_stride_bytes // width
    line = (width + gaps_atoms[0]) * atom
    surface = height * line + gaps_atoms[1] * atom
    return OperandLayout(
        layout.config, layout.precision, layout.shape, layout.components, layout.component_bytes, line, surface
    )
