"""Operands of SDP's stages from descriptions."""

from __future__ import annotations

from models.layout import OperandLayout
from models.precision import Precision
from tb.nvdla.layers import StageSource
from tb.stimulus.generate.describe import PlanError, Table
from tb.stimulus.generate.layers.workshop import Workshop, take_numbers

_SOURCES = ("register", "channel", "element")


def take_operands(
    shop: Workshop,
    name: str,
    table: Table,
    active: tuple[bool, bool],
    shape: tuple[int, int, int],
    precision: Precision,
    register_bits: int = 16,
) -> StageSource | None:
    """Return where a stage takes its operands from, None when it needs none.

    Args:
        shop: Configuration, memory and randomness.
        name: Prefix of the allocations' names.
        table: The description of the stage.
        active: Whether ALU and multiplier work.
        shape: (C, H, W) of the cube.
        precision: The one that SDP computes in.
        register_bits: Bits of an operand in a register; of FP16, those of its pattern.
    """
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
    numbers = take_numbers(table)
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
