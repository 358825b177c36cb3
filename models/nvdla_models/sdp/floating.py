"""The FP16 pipeline of SDP: FP32 between the stages, rounded after every operation.

Shifts, truncation, operand converters and the output converter's offset, scale and shift do nothing here.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import float_ops, lut_fp16
from nvdla_models.fp16 import FP16, FP17, FP32, BitsArray, flush_nan, fp16_to_int16, narrow, widen
from nvdla_models.lut import LutCounts, LutUnit
from nvdla_models.precision import Precision
from nvdla_models.sdp.params import AluOp, Operands, SdpParams, SdpStage

_ALU = {AluOp.MAX: float_ops.maximum, AluOp.MIN: float_ops.minimum, AluOp.SUM: float_ops.add}


def process(
    params: SdpParams, cube: NDArray[Any], x1: Operands | None, x2: Operands | None, y: Operands | None
) -> tuple[NDArray[Any], LutCounts | None]:
    """Pass some channels through all stages and the conversion to the output.

    Args:
        params: the layer.
        cube: (C, H, W) patterns: uint16 of FP16, or uint32 of FP32 straight from the convolution core.
        x1: operands of X1.
        x2: operands of X2.
        y: operands of Y.

    Returns:
        (C, H, W): uint16 FP16 patterns or int16; statistics of the tables.

    Source: formats document, "FP16 Supporting"; measured on the public nv_full RTL; NaN of the convolution
        core and the comparison of patterns from the published C model of the hardware.
    """
    data = _enter(cube, params.nan_to_zero)
    for stage, operands in ((params.x1, x1), (params.x2, x2)):
        if stage is not None and operands is not None:
            data = _x_stage(stage, data, operands, params.nan_to_zero)
    counts = None
    if params.y is not None and y is not None:
        if y.mul is not None:
            data = _multiply(params.y.mul_prelu, data, _enter(y.mul, params.nan_to_zero and y.mul.ndim > 0))
        if params.y.alu is not None and y.alu is not None:
            data = _alu(params.y.alu, data, _enter(y.alu, params.nan_to_zero and y.alu.ndim > 0))
        if params.y.lut is not None:
            found = lut_fp16.lookup(params.y.lut, data, LutUnit.SDP)
            counts = LutCounts.measured(params.y.lut, found.le_place, found.lo_place)
            data = widen(found.values, FP32, FP17)
    if params.compares:
        return data.astype(np.int16 if params.output_precision is Precision.INT16 else np.uint16), None
    result = narrow(data, FP32)
    return (fp16_to_int16(result) if params.output_precision is Precision.INT16 else result), counts


def _enter(bits: BitsArray, flush: bool) -> BitsArray:
    """Return patterns as FP32, NaN flushed if asked for."""
    fmt = FP16 if bits.dtype == FP16.dtype else FP32
    flushed = flush_nan(bits, fmt) if flush else bits
    return widen(flushed, FP32) if fmt is FP16 else flushed


def _x_stage(stage: SdpStage, data: BitsArray, operands: Operands, flush: bool) -> BitsArray:
    if stage.alu is not None and operands.alu is not None:
        data = _alu(stage.alu, data, _enter(operands.alu, flush))
    if operands.mul is not None:
        data = _multiply(stage.mul_prelu, data, _enter(operands.mul, flush))
    return float_ops.relu(data, FP32) if stage.relu else data


def _multiply(prelu: bool, data: BitsArray, operand: BitsArray) -> BitsArray:
    return (float_ops.prelu if prelu else float_ops.multiply)(data, operand, FP32)


def _alu(operation: AluOp, data: BitsArray, operand: BitsArray) -> BitsArray:
    if operation is AluOp.EQUAL:
        unequal: BitsArray = (data != operand).astype(FP32.dtype)
        return unequal
    return _ALU[operation](data, operand, FP32)
