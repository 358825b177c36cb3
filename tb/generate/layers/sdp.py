"""SDP layers from descriptions, and the stages that SDP on the fly has too."""

from __future__ import annotations

from collections.abc import Sequence

from models.layout import OperandLayout
from models.precision import Precision
from models.sdp import AluOp, SdpParams, SdpStage, output_converter
from tb.generate.describe import PlanError, Table
from tb.generate.layers.workshop import Workshop, take_destination, take_source
from tb.layers import Layer, SdpLayer, StageSource

_SOURCES = ("register", "channel", "element")


def build_sdp(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> SdpLayer:
    """Return the SDP layer that a description asks for."""
    src = take_source(shop, name, table, earlier)
    dst = take_destination(shop, name, table, src.layout.shape)
    params, x1, x2 = take_processing(shop, name, table, src.layout.shape)
    return SdpLayer(src, dst, params, x1, x2)


def take_processing(
    shop: Workshop, name: str, table: Table, shape: tuple[int, int, int]
) -> tuple[SdpParams, StageSource | None, StageSource | None]:
    """Return what SDP does to a cube: parameters, and where X1 and X2 take their operands from.

    Args:
        shop: Configuration, memory and randomness.
        name: Prefix of the allocations' names.
        table: The description of the layer.
        shape: (C, H, W) of the cube.
    """
    x1, x1_source = _stage(shop, f"{name}_x1", table.table("x1"), shape)
    x2, x2_source = _stage(shop, f"{name}_x2", table.table("x2"), shape)
    offset, scale, shift = table.integers("converter", 3, (0, 1, 0))
    params = SdpParams(x1, x2, output_converter(offset, scale, shift), Precision.INT8, Precision.INT8)
    return params, x1_source, x2_source


def _stage(
    shop: Workshop, name: str, table: Table | None, shape: tuple[int, int, int]
) -> tuple[SdpStage | None, StageSource | None]:
    if table is None:
        return None, None
    alu = table.choice("alu", AluOp)
    mul = table.take("mul", bool, False)
    sources = {
        "alu": table.one_of("alu_operand", _SOURCES, "register") if alu else None,
        "mul": table.one_of("mul_operand", _SOURCES, "register") if mul else None,
    }
    nbytes = table.take("operand_bytes", int, 1)
    gaps = table.integers("operand_gaps", 2, (0, 0))
    stage = SdpStage(
        alu=alu,
        alu_shift=table.take("alu_shift", int, 0),
        mul=mul,
        mul_prelu=table.take("prelu", bool, False),
        mul_shift=table.take("mul_shift", int, 0),
        relu=table.take("relu", bool, False),
    )
    registers = {
        component: table.take(f"{component}_register", int, int(shop.rng.integers(-(1 << 15), 1 << 15)))
        if source == "register"
        else None
        for component, source in sources.items()
    }
    table.done()
    fetched = tuple(component for component, source in sources.items() if source in ("channel", "element"))
    if len({sources[component] for component in fetched}) > 1:
        raise PlanError(f"{table.where}: both operands from memory must be per channel or both per element")
    memory = None
    if fetched:
        per_element = sources[fetched[0]] == "element"
        layout = OperandLayout.packed(
            shop.config, Precision.INT8, shape if per_element else (shape[0], 1, 1), fetched, nbytes
        )
        memory = shop.place_operands(f"{name}_operands", _spread(layout, gaps) if per_element else layout)
    source = StageSource(registers["alu"], registers["mul"], memory)
    return stage, None if source == StageSource() else source


def _spread(layout: OperandLayout, gaps_atoms: tuple[int, ...]) -> OperandLayout:
    """Return a packed layout with gaps of so many of its own atoms behind lines and surfaces."""
    _, height, width = layout.shape
    atom = layout.line_stride_bytes // width
    line = (width + gaps_atoms[0]) * atom
    surface = height * line + gaps_atoms[1] * atom
    return OperandLayout(
        layout.config, layout.precision, layout.shape, layout.components, layout.component_bytes, line, surface
    )
