"""SDP layers from entries of plans, and the stages that SDP on the fly has too, with their operands."""

from __future__ import annotations

from collections.abc import Sequence

from nvdla_models.converter import ConverterEncoding
from nvdla_models.layout import OperandLayout
from nvdla_models.lut import LutUnit
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams, SdpStage, YStage, output_converter
from nvdla_tb.nvdla.layers import Layer, SdpLayer, StageSource, processing_precision
from nvdla_tb.stimulus.generate.errors import PlanError, of_key
from nvdla_tb.stimulus.generate.layers.entries import (
    ElementWiseEntry,
    OperandsEntry,
    ProcessedEntry,
    SdpEntry,
    StageEntry,
)
from nvdla_tb.stimulus.generate.layers.tables import hybrid_lut
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, converter_if, destination, numbers_of, source

_Y_REGISTER_BITS = 32


def build_sdp(shop: Workshop, name: str, entry: SdpEntry, earlier: Sequence[Layer]) -> SdpLayer:
    """Return the SDP layer that an entry asks for."""
    src = source(shop, name, entry, earlier)
    shape, precision = src.layout.shape, src.layout.precision
    output = entry.output_precision or precision
    dst = destination(shop, name, entry, shape, output)
    return SdpLayer(src, dst, *processing(shop, name, entry, shape, precision, output))


def processing(
    shop: Workshop,
    name: str,
    entry: ProcessedEntry,
    shape: tuple[int, int, int],
    precision: Precision,
    output: Precision,
) -> tuple[SdpParams, StageSource | None, StageSource | None, StageSource | None]:
    """Return SDP's processing of a cube: parameters, and the sources of the operands of X1, X2 and Y.

    Args:
        shop: Configuration, memory and randomness.
        name: Prefix of the allocations' names.
        entry: What a plan says of the layer.
        shape: (C, H, W) of the cube.
        precision: Precision of the input.
        output: Precision of the output.
    """
    inside = processing_precision(precision, output)
    with of_key("x1"):
        x1, x1_source = _stage(shop, f"{name}_x1", entry.x1, shape, inside)
    with of_key("x2"):
        x2, x2_source = _stage(shop, f"{name}_x2", entry.x2, shape, inside)
    with of_key("y"):
        y, y_source = _element_wise(shop, f"{name}_y", entry.y, shape, inside)
    converter = output_converter(*entry.converter)
    params = SdpParams(x1, x2, converter, precision, output, y, entry.nan_to_zero)
    return params, x1_source, x2_source, y_source


def _stage(
    shop: Workshop, name: str, entry: StageEntry | None, shape: tuple[int, int, int], precision: Precision
) -> tuple[SdpStage | None, StageSource | None]:
    if entry is None:
        return None, None
    fetched = _operands(shop, name, entry, shape, precision)
    stage = SdpStage(
        alu=entry.alu,
        alu_shift=entry.alu_shift,
        mul=entry.mul,
        mul_prelu=entry.prelu,
        mul_shift=entry.mul_shift,
        relu=entry.relu,
    )
    return stage, fetched


def _element_wise(
    shop: Workshop, name: str, entry: ElementWiseEntry | None, shape: tuple[int, int, int], precision: Precision
) -> tuple[YStage | None, StageSource | None]:
    """Return the processing of Y and the source of its operands; None without an entry."""
    if entry is None:
        return None, None
    fetched = _operands(shop, name, entry, shape, precision, _Y_REGISTER_BITS)
    stage = YStage(
        alu=entry.alu,
        mul=entry.mul,
        mul_prelu=entry.prelu,
        truncate=entry.truncate,
        alu_converter=converter_if(entry.alu_converter, ConverterEncoding.SDP_OPERAND),
        mul_converter=converter_if(entry.mul_converter, ConverterEncoding.SDP_OPERAND),
        lut=None if entry.lut is None else hybrid_lut(shop, entry.lut, LutUnit.SDP, precision),
    )
    return stage, fetched


def _operands(
    shop: Workshop,
    name: str,
    entry: OperandsEntry,
    shape: tuple[int, int, int],
    precision: Precision,
    register_bits: int = 16,
) -> StageSource | None:
    """Return where a stage takes its operands from, None when it needs none; in FP16 registers hold patterns."""
    low, high = (0, 1 << register_bits) if precision is Precision.FP16 else (-(1 << 15), 1 << 15)
    registers: dict[str, int] = {}
    memory: dict[str, str] = {}
    for component, works, operand, register in (
        ("alu", entry.alu is not None, entry.alu_operand, entry.alu_register),
        ("mul", entry.mul, entry.mul_operand, entry.mul_register),
    ):
        if not works:
            entry.leave_out(f"without {component}", f"{component}_operand", f"{component}_register")
        elif operand in (None, "register"):
            # Drawn even where the entry says it, so that it changes nothing else.
            drawn = int(shop.rng.integers(low, high))
            registers[component] = drawn if register is None else register
        else:
            entry.leave_out("of an operand in memory", f"{component}_register")
            memory[component] = operand
    numbers = numbers_of(entry.numbers, precision)
    if len(set(memory.values())) > 1:
        alu, mul = memory.values()
        raise PlanError(f"mul_operand must be {alu} as alu_operand is, not {mul}")
    placed = None
    if memory:
        per_element = "element" in memory.values()
        size = shape if per_element else (shape[0], 1, 1)
        nbytes = precision.nbytes if entry.operand_bytes is None else entry.operand_bytes
        layout = OperandLayout.packed(shop.config, precision, size, tuple(memory), nbytes)
        layout = _spread(layout, entry.operand_gaps) if per_element else layout
        placed = shop.place_operands(f"{name}_operands", layout, numbers)
    source = StageSource(registers.get("alu"), registers.get("mul"), placed)
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
