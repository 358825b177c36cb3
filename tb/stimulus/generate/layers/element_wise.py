"""SDP's stage Y from descriptions."""

from __future__ import annotations

from models.converter import ConverterEncoding
from models.lut import LutUnit
from models.precision import Precision
from models.sdp import AluOp, YStage
from tb.nvdla.layers import StageSource
from tb.stimulus.generate.describe import Table
from tb.stimulus.generate.layers.operands import take_operands
from tb.stimulus.generate.layers.tables import take_lut
from tb.stimulus.generate.layers.workshop import Workshop, take_converter_if

_REGISTER_BITS = 32


def take_element_wise(
    shop: Workshop, name: str, table: Table | None, shape: tuple[int, int, int], precision: Precision
) -> tuple[YStage | None, StageSource | None]:
    """Return the processing of Y and the source of its operands; None without a description.

    Args:
        shop: Configuration, memory and randomness.
        name: Prefix of the allocations' names.
        table: The description of the stage.
        shape: (C, H, W) of the cube.
        precision: The one that SDP computes in.
    """
    if table is None:
        return None, None
    alu, mul = table.choice("alu", AluOp), table.take("mul", bool, False)
    source = take_operands(shop, name, table, (alu is not None, mul), shape, precision, _REGISTER_BITS)
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
