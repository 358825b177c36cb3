"""The integer pipeline of SDP.

The widths of the hardware make int64 exact everywhere: data have 32 bits, the ALU of X1 and X2 adds one, a
16-bit multiplier makes 49 of 33, and so does the converter. Only Y multiplies 32 by 32 bits; the one product
of 2**62 is beyond what a rounding shift takes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from nvdla_models import lut_integer
from nvdla_models.arithmetic import (
    MAX_SHIFT,
    Point,
    Rules,
    Site,
    saturate,
    shift_left_saturating,
    shift_right_rounded,
    wrap,
)
from nvdla_models.converter import INTERMEDIATE_BITS, Converter, to_memory
from nvdla_models.lut import LutCounts, LutUnit
from nvdla_models.precision import Precision
from nvdla_models.sdp.params import DATA_BITS, AluOp, Operands, SdpParams, SdpStage, YStage

_LARGEST_SHIFTED = (1 << 62) - 1

_X1 = (Site.X1_OPERAND, Site.X1), (Point.X1_ALU, Point.X1_PRODUCT, Point.X1)
_X2 = (Site.X2_OPERAND, Site.X2), (Point.X2_ALU, Point.X2_PRODUCT, Point.X2)


class Saturated(NamedTuple):
    """Outputs beyond the converter's 17 bits: all of them, and those more than one beyond before rounding.

    nv_small counts the first, nv_full the second.
    """

    beyond: int
    beyond_by_more_than_one: int


def process(
    params: SdpParams, cube: NDArray[Any], x1: Operands | None, x2: Operands | None, y: Operands | None, *, rules: Rules
) -> tuple[NDArray[Any], Saturated, LutCounts | None]:
    """Pass some channels through all stages and the output converter.

    Args:
        params: the layer.
        cube: (C, H, W) integers of at most 32 bits.
        x1: operands of X1.
        x2: operands of X2.
        y: operands of Y.
        rules: rules of rounding and saturation.

    Returns:
        (C, H, W) of the output precision, FP16 as uint16 patterns; how many outputs were saturated to the
        converter's 17 bits; statistics of the tables.
    """
    data = cube.astype(np.int64)
    for stage, operands, sites, points in ((params.x1, x1, *_X1), (params.x2, x2, *_X2)):
        if stage is not None and operands is not None:
            data = _x_stage(stage, data, operands, rules.at(sites[0]), rules.at(sites[1]), points)
    counts = None
    if params.y is not None and y is not None:
        data = _y_stage(params.y, data, y, rules)
        if params.y.lut is not None:
            found = lut_integer.lookup(params.y.lut, data, LutUnit.SDP, rules)
            counts = LutCounts.measured(params.y.lut, found.le_place, found.lo_place)
            data = found.values
    if params.compares:
        return data.astype(params.output_precision.dtype), Saturated(0, 0), None
    result, saturated = _convert(params.converter, params.output_precision, data, rules.at(Site.SDP_OUTPUT))
    rules.hand_on(Point.SDP_RESULT, result)
    return result, saturated, counts


def _x_stage(
    stage: SdpStage,
    data: NDArray[np.int64],
    operands: Operands,
    of_operand: Rules,
    rules: Rules,
    points: tuple[Point, Point, Point],
) -> NDArray[np.int64]:
    if stage.alu is not None and operands.alu is not None:
        operand = shift_left_saturating(operands.alu, stage.alu_shift, DATA_BITS, of_operand)
        # A sum is not saturated here: the hardware keeps the 33rd bit for the multiplier.
        data = _alu(stage.alu, data, operand, rules)
    rules.hand_on(points[0], data)
    product = data if operands.mul is None else data * operands.mul.astype(np.int64)
    prelu = stage.mul and stage.mul_prelu
    rules.hand_on(points[1], np.where(data < 0, product, data) if prelu else product)
    result = saturate(shift_right_rounded(product, stage.mul_shift, rules), DATA_BITS, rules)
    if prelu:
        # A positive number skips the truncation with its saturation: the low 32 of its 33 bits pass.
        positive = wrap(data, DATA_BITS)
        if rules.prelu_truncates:
            positive = saturate(shift_right_rounded(data, stage.mul_shift, rules), DATA_BITS, rules)
        result = np.where(data < 0, result, positive)
    result = np.maximum(result, 0) if stage.relu else result
    rules.hand_on(points[2], result)
    return result


def _y_stage(stage: YStage, data: NDArray[np.int64], operands: Operands, rules: Rules) -> NDArray[np.int64]:
    if operands.mul is not None:
        product = data * _converted(stage.mul_converter, operands.mul, rules.at(Site.Y_OPERAND))
        shifted = _truncate(product, stage.truncate, rules.at(Site.Y))
        data = np.where(data < 0, shifted, data) if stage.mul_prelu else shifted
    if stage.alu is not None and operands.alu is not None:
        operand = _converted(stage.alu_converter, operands.alu, rules.at(Site.Y_OPERAND))
        data = saturate(_alu(stage.alu, data, operand, rules), DATA_BITS, rules.at(Site.Y))
    return data


def _converted(converter: Converter | None, operand: NDArray[Any], rules: Rules) -> NDArray[np.int64]:
    """Return operands as Y takes them: only those from memory pass the converter."""
    if converter is None or operand.ndim == 0:
        return operand.astype(np.int64)
    return converter.to_width(operand, DATA_BITS, rules)


def _truncate(product: NDArray[np.int64], shift: int, rules: Rules) -> NDArray[np.int64]:
    """Shift a product of 64 bits right, rounded half away from zero, and saturate to 32 bits."""
    if shift > MAX_SHIFT:
        return np.zeros_like(product)
    if shift == MAX_SHIFT:
        return (product > _LARGEST_SHIFTED).astype(np.int64)
    # The largest product is 2**62; one less is rounded to the same number by any shift from 1 to 62.
    return saturate(shift_right_rounded(np.minimum(product, _LARGEST_SHIFTED), shift, rules), DATA_BITS, rules)


def _alu(operation: AluOp, data: NDArray[np.int64], operand: NDArray[np.int64], rules: Rules) -> NDArray[np.int64]:
    match operation:
        case AluOp.MAX | AluOp.MIN if rules.unsigned[operation is AluOp.MIN]:
            larger = _as_unsigned(data) > _as_unsigned(operand)
            return np.where(larger == (operation is AluOp.MAX), data, operand)
        case AluOp.MAX:
            result: NDArray[np.int64] = np.maximum(data, operand)
        case AluOp.MIN:
            result = np.minimum(data, operand)
        case AluOp.SUM:
            result = data + operand
        case AluOp.EQUAL:
            result = (data != operand).astype(np.int64)
    return result


def _convert(
    converter: Converter, target: Precision, data: NDArray[np.int64], rules: Rules
) -> tuple[NDArray[Any], Saturated]:
    scaled = converter.scaled(data, rules)
    middle = saturate(scaled, INTERMEDIATE_BITS, rules)
    saturated = Saturated(int(np.count_nonzero(scaled != middle)), int(np.count_nonzero(converter.exceeds(data))))
    return to_memory(middle, target, rules), saturated


def _as_unsigned(values: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return numbers as an unsigned comparison sees them, of whatever width: negative ones are the largest."""
    return values.astype(np.uint64)
