"""One element through the SDP in plain Python integers, written apart from the model as its oracle."""

from __future__ import annotations

from fractions import Fraction

from nvdla_models.converter import Converter
from nvdla_models.sdp import AluOp, SdpStage, YStage
from tests.unit.models.precision import oracle

INT32_MIN, INT32_MAX = -(2**31), 2**31 - 1


def half_away(value: int, shift: int) -> int:
    """Divide by a power of two as a fraction and round half away from zero."""
    return oracle.half_away(Fraction(value, 2**shift))


def clipped(value: int, low: int, high: int) -> int:
    """Saturate by comparison."""
    if value > high:
        return high
    if value < low:
        return low
    return value


def stage(params: SdpStage | None, data: int, alu_operand: int | None, mul_operand: int | None) -> int:
    """Pass one element through X1 or X2."""
    if params is None:
        return data
    if params.alu is not None:
        assert alu_operand is not None
        operand = clipped(alu_operand * 2**params.alu_shift, INT32_MIN, INT32_MAX)
        if params.alu is AluOp.SUM:
            data = data + operand
        elif (data > operand) != (params.alu is AluOp.MAX):
            data = operand
    if params.mul and params.mul_prelu and data >= 0:
        passed = data % 2**32
        data = passed if passed <= INT32_MAX else passed - 2**32
    else:
        if params.mul:
            assert mul_operand is not None
            data = data * mul_operand
        data = clipped(half_away(data, params.mul_shift), INT32_MIN, INT32_MAX)
    if params.relu and data < 0:
        data = 0
    return data


def y_operand(converter: Converter | None, operand: int, from_memory: bool) -> int:
    """Pass one operand of Y through its converter; one from a register passes as it is."""
    if converter is None or not from_memory:
        return operand
    scaled = half_away((operand - converter.offset) * converter.scale, converter.shift)
    return clipped(scaled, INT32_MIN, INT32_MAX)


def y_stage(params: YStage | None, data: int, alu_operand: int | None, mul_operand: int | None) -> int:
    """Pass one element through Y without its tables; operands are converted."""
    if params is None:
        return data
    if params.mul and not (params.mul_prelu and data >= 0):
        assert mul_operand is not None
        data = clipped(half_away(data * mul_operand, params.truncate), INT32_MIN, INT32_MAX)
    if params.alu is not None:
        assert alu_operand is not None
        if params.alu is AluOp.SUM:
            data = clipped(data + alu_operand, INT32_MIN, INT32_MAX)
        elif (data > alu_operand) != (params.alu is AluOp.MAX):
            data = alu_operand
    return data


def convert(converter: Converter, data: int, bits: int) -> int:
    """Pass one element through the output converter, the step to 17 bits included."""
    narrow = half_away((data - converter.offset) * converter.scale, converter.shift)
    narrow = clipped(narrow, -(2**16), 2**16 - 1)
    return clipped(narrow, -(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
