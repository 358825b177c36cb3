"""SDP layers from descriptions, and the stages that SDP on the fly has too."""

from __future__ import annotations

from collections.abc import Sequence

from models.precision import Precision
from models.sdp import AluOp, SdpParams, SdpStage, output_converter
from tb.nvdla.layers import Layer, SdpLayer, StageSource, processing_precision
from tb.stimulus.generate.describe import Table
from tb.stimulus.generate.layers.element_wise import take_element_wise
from tb.stimulus.generate.layers.operands import take_operands
from tb.stimulus.generate.layers.workshop import Workshop, take_destination, take_precision, take_source


def build_sdp(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> SdpLayer:
    """Return the SDP layer that a description asks for."""
    src = take_source(shop, name, table, earlier)
    shape, precision = src.layout.shape, src.layout.precision
    output = take_precision(table, "output_precision") if "output_precision" in table else precision
    dst = take_destination(shop, name, table, shape, output)
    return SdpLayer(src, dst, *take_processing(shop, name, table, shape, precision, output))


def take_processing(
    shop: Workshop,
    name: str,
    table: Table,
    shape: tuple[int, int, int],
    precision: Precision = Precision.INT8,
    output: Precision = Precision.INT8,
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
    y, y_source = take_element_wise(shop, f"{name}_y", table.table("y"), shape, processing_precision(precision, output))
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
    fetched = take_operands(shop, name, table, (alu is not None, mul), shape, precision)
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
