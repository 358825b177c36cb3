"""Single-point data processor: the integer path of X1, X2 and the output converter.

Every element passes on its own through ALU, multiplier, truncation and ReLU of X1, then of X2, then
through the output converter. The widths of the hardware make int64 exact everywhere: data have 32
bits, the ALU adds one, a 16-bit multiplier makes 49 of 33, and so does the converter.

Padding channels: the hardware processes whole atoms. The channels between C and the end of the last
atom are read from memory like any other, take the operands that lie in memory at their places (or the
registers), and are written. So pass a cube padded to whole atoms, with the bytes as they are in memory,
and operands padded the same way, to get every byte that is written. On the fly, the convolution core
supplies zeros for them (measured on the public nv_full RTL).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models.arithmetic import (
    channel_blocks,
    check_range,
    check_shift,
    limits,
    saturate,
    shift_left_saturating,
    shift_right_rounded,
    wrap,
)
from models.precision import Precision

DATA_BITS = 32
OPERAND_BITS = 16

_OUTPUT_BITS = {Precision.INT8: 8, Precision.INT16: 16}


class AluOp(Enum):
    """What the ALU of X1 or X2 does with the data and its operand."""

    MAX = "max"
    MIN = "min"
    SUM = "sum"


@dataclass(frozen=True)
class SdpStage:
    """What X1 or X2 does when it is not bypassed: ALU, multiplier, truncation, ReLU, in this order.

    Attributes:
        alu: the operation, or None when the ALU is bypassed.
        alu_shift: left shift of the ALU operand, 0 to 63 bits, saturating at 32 bits.
        mul: whether the multiplier works.
        mul_prelu: whether only negative data are multiplied and truncated; without ``mul`` it does nothing.
        mul_shift: right shift after the multiplier, 0 to 63 bits; it acts even when the multiplier is bypassed.
        relu: whether negative results become 0.

    Raises:
        ValueError: when a shift is out of range.

    Source: precision document, "SDP converters"; unit description, "Single Point Data Processor";
        order, widths and the truncation of a bypassed multiplier measured on the public nv_small RTL.
    """

    alu: AluOp | None
    alu_shift: int
    mul: bool
    mul_prelu: bool
    mul_shift: int
    relu: bool

    def __post_init__(self) -> None:
        check_shift("alu_shift", self.alu_shift)
        check_shift("mul_shift", self.mul_shift)


@dataclass(frozen=True)
class Operands:
    """The 16-bit operands of one stage, each broadcastable to the cube (C, H, W).

    A register is a scalar, a per-channel operand (C, 1, 1), a per-element operand (C, H, W).

    Attributes:
        alu: integers, or None when the ALU is bypassed.
        mul: integers, or None when the multiplier is bypassed.
    """

    alu: NDArray[Any] | None
    mul: NDArray[Any] | None


@dataclass(frozen=True)
class OutputConverter:
    """``(x - offset) * scale >> shift``, rounded half away from zero and saturated.

    Attributes:
        offset: signed, 32 bits.
        scale: signed, 16 bits.
        shift: right shift, 0 to 63 bits (the register has six bits, the precision document says five).

    Raises:
        ValueError: when a value does not fit its register.

    Source: precision document, "Converter programming"; the width of the shift from the register map.
    """

    offset: int
    scale: int
    shift: int

    def __post_init__(self) -> None:
        check_range("offset", self.offset, *limits(32))
        check_range("scale", self.scale, *limits(16))
        check_shift("shift", self.shift)


@dataclass(frozen=True)
class SdpParams:
    """One SDP layer.

    Attributes:
        x1: the stage X1, or None when it is bypassed.
        x2: the stage X2, or None when it is bypassed.
        converter: the output converter; it is always active.
        input_precision: of the cube in memory; on the fly, the precision the convolution ran in.
        output_precision: of the result.

    Raises:
        ValueError: for FP16.
    """

    x1: SdpStage | None
    x2: SdpStage | None
    converter: OutputConverter
    input_precision: Precision
    output_precision: Precision

    def __post_init__(self) -> None:
        for name in ("input_precision", "output_precision"):
            precision = getattr(self, name)
            if precision not in _OUTPUT_BITS:
                raise ValueError(
                    f"{name} must be INT8 or INT16, not {precision.name}: the SDP model does not support it"
                )


def run(
    params: SdpParams,
    cube: NDArray[Any],
    x1_operands: Operands | None = None,
    x2_operands: Operands | None = None,
) -> NDArray[Any]:
    """Compute what the SDP writes for one cube.

    Args:
        params: the layer.
        cube: (C, H, W) of the input precision's dtype, or int32 straight from the convolution core.
            C may include padding channels; see the module's description.
        x1_operands: operands of X1, None when X1 is bypassed.
        x2_operands: operands of X2, None when X2 is bypassed.

    Returns:
        (C, H, W) in the output precision's dtype.

    Raises:
        ValueError: when the cube's type or shape, or an operand's presence, shape or range is wrong.

    Source: precision document, "SDP converters" and "Converter"; measured on the public nv_small RTL.
    """
    if cube.dtype not in (params.input_precision.dtype, np.dtype(np.int32)):
        raise ValueError(f"cube must be {params.input_precision.dtype} or int32, not {cube.dtype}")
    if cube.ndim != 3:
        raise ValueError(f"cube must have the axes (C, H, W), not {cube.ndim} axes")
    stages = [
        _Stage.checked("x1", params.x1, x1_operands, cube.shape),
        _Stage.checked("x2", params.x2, x2_operands, cube.shape),
    ]
    result = np.empty(cube.shape, params.output_precision.dtype)
    for block in channel_blocks(cube.shape):
        data = cube[block].astype(np.int64)
        for stage in stages:
            if stage is not None:
                data = stage.run(data, block)
        result[block] = _convert(params, data)
    return result


@dataclass(frozen=True)
class _Stage:
    """A stage with its checked operands: scalars, (C, 1, 1) or (C, H, W)."""

    params: SdpStage
    alu_operand: NDArray[Any] | None
    mul_operand: NDArray[Any] | None

    @classmethod
    def checked(
        cls, name: str, params: SdpStage | None, operands: Operands | None, shape: tuple[int, ...]
    ) -> _Stage | None:
        """Return None for a bypassed stage.

        Raises:
            ValueError: when an operand's presence, shape or range is wrong.
        """
        if params is None:
            if operands is not None:
                raise ValueError(f"{name}_operands must be None, because {name} is bypassed")
            return None
        operands = operands or Operands(alu=None, mul=None)
        _check_operand(f"{name} ALU", params.alu is not None, operands.alu, shape)
        _check_operand(f"{name} multiplier", params.mul, operands.mul, shape)
        return cls(params, operands.alu, operands.mul)

    def run(self, data: NDArray[np.int64], block: slice) -> NDArray[np.int64]:
        """Process one block of channels."""
        if self.alu_operand is not None:
            operand = shift_left_saturating(_part(self.alu_operand, block), self.params.alu_shift, DATA_BITS)
            if self.params.alu is AluOp.MAX:
                data = np.maximum(data, operand)
            elif self.params.alu is AluOp.MIN:
                data = np.minimum(data, operand)
            else:
                data = data + operand  # not saturated here: the hardware keeps the 33rd bit for the multiplier

        product = data if self.mul_operand is None else data * _part(self.mul_operand, block).astype(np.int64)
        result = saturate(shift_right_rounded(product, self.params.mul_shift), DATA_BITS)
        if self.params.mul and self.params.mul_prelu:
            # A positive number skips the truncation with its saturation: the low 32 of its 33 bits pass.
            result = np.where(data < 0, result, wrap(data, DATA_BITS))
        return np.maximum(result, 0) if self.params.relu else result


def _part(operand: NDArray[Any], block: slice) -> NDArray[Any]:
    return operand if operand.ndim == 0 else operand[block]


def _check_operand(name: str, wanted: bool, operand: NDArray[Any] | None, shape: tuple[int, ...]) -> None:
    if operand is None:
        if wanted:
            raise ValueError(f"{name} operand must be given, because the {name} is active")
        return
    if not wanted:
        raise ValueError(f"{name} operand must be None, because the {name} is bypassed")
    if operand.dtype.kind != "i":
        raise ValueError(f"{name} operand must be of a signed integer dtype, not {operand.dtype}")
    per_channel = (shape[0], 1, 1)
    if operand.shape not in ((), per_channel, shape):
        raise ValueError(f"{name} operand must have the shape (), {per_channel} or {shape}, not {operand.shape}")
    low, high = limits(OPERAND_BITS)
    for value in (int(operand.min()), int(operand.max())) if operand.size else ():
        if not low <= value <= high:
            raise ValueError(f"{name} operand must be from {low} to {high}, not {value}")


def _convert(params: SdpParams, data: NDArray[np.int64]) -> NDArray[Any]:
    """Apply the output converter.

    The hardware saturates to 17 bits first and to the output after; for 8 and 16 bits one step is the same.
    """
    converter = params.converter
    scaled = (data - converter.offset) * converter.scale
    bits = _OUTPUT_BITS[params.output_precision]
    result = saturate(shift_right_rounded(scaled, converter.shift), bits)
    return result.astype(params.output_precision.dtype)
