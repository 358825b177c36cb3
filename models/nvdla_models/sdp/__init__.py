"""Single-point data processor: X1, X2, Y and the conversion to the output, integer and FP16.

Every element passes on its own through ALU, multiplier, truncation and ReLU of X1, then of X2, then
through multiplier, truncation, ALU and lookup tables of Y, then through the output converter.

Padding channels: the hardware processes whole atoms. The channels between C and the end of the last
atom are read from memory like any other, take the operands that lie in memory at their places (or the
registers), and are written. So pass a cube padded to whole atoms, with the bytes as they are in memory,
and operands padded the same way, to get every byte that is written. On the fly, the convolution core
supplies zeros for them (measured on the public nv_full RTL).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import HARDWARE, Rules, channel_blocks
from nvdla_models.converter import saturated_fp16
from nvdla_models.fp16 import count_infinity, count_nan
from nvdla_models.lut import LutCounts
from nvdla_models.precision import Precision, check_cube_array
from nvdla_models.sdp import floating, integer
from nvdla_models.sdp.params import (
    AluOp,
    Operands,
    SdpParams,
    SdpStage,
    YStage,
    check_conversion,
    checked_operands,
    output_converter,
)


@dataclass(frozen=True)
class SdpCounts:
    """The statistics registers after a layer, if counting is enabled.

    Attributes:
        nan_input: NaN in an FP16 cube from memory, before any flush.
        infinity_input: infinities there.
        nan_output: NaN among FP16 outputs.
        saturation: outputs beyond the converter's 17 bits, or FP16 outputs of magnitude 65504; 0 from FP16
            to INT16.
        saturation_full: the same as nv_full counts it: of integers those beyond by more than one before rounding.
        lut: where the inputs of the tables lay, None without a lookup.
        unequal: whether any element differed, in a layer that compares.

    Source: precision document, "Converter statistics"; measured on the public nv_full RTL.
    """

    nan_input: int
    infinity_input: int
    nan_output: int
    saturation: int
    saturation_full: int
    lut: LutCounts | None
    unequal: bool


@dataclass(frozen=True, eq=False)
class SdpResult:
    """The result of one layer.

    Attributes:
        cube: (C, H, W), int8, int16 or uint16 FP16 patterns; what a layer that compares would write.
        counts: its statistics.
    """

    cube: NDArray[Any]
    counts: SdpCounts


def run(params: SdpParams, cube: NDArray[Any], *operands: Operands | None, rules: Rules = HARDWARE) -> NDArray[Any]:
    """Compute what the SDP writes for one cube; see :func:`compute`."""
    return compute(params, cube, *operands, rules=rules).cube


def compute(
    params: SdpParams,
    cube: NDArray[Any],
    x1_operands: Operands | None = None,
    x2_operands: Operands | None = None,
    y_operands: Operands | None = None,
    *,
    rules: Rules = HARDWARE,
) -> SdpResult:
    """Compute what the SDP writes and counts for one cube.

    Args:
        params: the layer.
        cube: (C, H, W) as in memory: int8, int16 or uint16 FP16 patterns; or straight from the convolution
            core: int32, or uint32 FP32 patterns. C may include padding channels; see the module's
            description.
        x1_operands: operands of X1, None when X1 is bypassed.
        x2_operands: operands of X2, None when X2 is bypassed.
        y_operands: operands of Y, None when Y is bypassed.
        rules: rules of integer arithmetic.

    Raises:
        InputError: when the cube's type or shape, or an operand's presence, shape, type or range is wrong.

    Source: precision document, "SDP converters" and "Converter"; measured on the public nv_small and
        nv_full RTL.
    """
    on_the_fly = np.dtype(np.uint32 if params.is_float else np.int32)
    check_cube_array(cube, params.input_precision.pattern_dtype, on_the_fly)
    operands = [
        checked_operands("x1", params.x1, x1_operands, cube.shape, params.is_float),
        checked_operands("x2", params.x2, x2_operands, cube.shape, params.is_float),
        checked_operands("y", params.y, y_operands, cube.shape, params.is_float),
    ]
    result = np.empty(cube.shape, params.output_precision.pattern_dtype)
    saturation = integer.Saturated(0, 0)
    lut: LutCounts | None = None
    for block in channel_blocks(cube.shape):
        taken = [operand.block(block) if operand else None for operand in operands]
        if params.is_float:
            result[block], counted = floating.process(params, cube[block], *taken)
        else:
            result[block], saturated, counted = integer.process(params, cube[block], *taken, rules=rules)
            saturation = integer.Saturated(*np.add(saturation, saturated).tolist())
        if counted is not None:
            lut = counted if lut is None else lut + counted
    from_memory = cube.dtype == np.uint16
    fp16_output = params.output_precision is Precision.FP16 and not params.compares
    counts = SdpCounts(
        nan_input=count_nan(cube) if from_memory else 0,
        infinity_input=count_infinity(cube) if from_memory else 0,
        nan_output=count_nan(result) if fp16_output else 0,
        saturation=saturated_fp16(result) if fp16_output else saturation.beyond,
        saturation_full=saturated_fp16(result) if fp16_output else saturation.beyond_by_more_than_one,
        lut=lut,
        unequal=params.compares and bool(result.any()),
    )
    return SdpResult(result, counts)
