"""The program of an SDP layer, and its operands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import check_range, check_shift, limits
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.lut import HybridLut
from nvdla_models.precision import Precision

DATA_BITS = 32
OPERAND_BITS = 16
TRUNCATE_BITS = 10


_CONVERSIONS = {
    Precision.INT8: (Precision.INT8, Precision.INT16),
    Precision.INT16: (Precision.INT8, Precision.INT16, Precision.FP16),
    Precision.FP16: (Precision.INT16, Precision.FP16),
}


class AluOp(Enum):
    """The operation of an ALU on the data and its operand; only Y has ``EQUAL``."""

    MAX = "max"
    MIN = "min"
    SUM = "sum"
    EQUAL = "equal"


@dataclass(frozen=True)
class SdpStage:
    """The steps of X1 or X2 when it is not bypassed: ALU, multiplier, truncation, ReLU, in this order.

    FP16 has neither the shift of the operand nor the truncation.

    Attributes:
        alu: the operation, or None when the ALU is bypassed.
        alu_shift: left shift of the ALU operand, 0 to 63 bits, saturating at 32 bits.
        mul: whether the multiplier works.
        mul_prelu: whether only negative data are multiplied and truncated; without ``mul`` it does nothing.
        mul_shift: right shift after the multiplier, 0 to 63 bits; it acts even when the multiplier is bypassed.
        relu: whether negative results become 0.

    Raises:
        InputError: when a shift is out of range, or for the comparison that only Y has.

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
        if self.alu is AluOp.EQUAL:
            raise InputError("alu must be MAX, MIN or SUM in X1 and X2, not EQUAL")
        check_shift("alu_shift", self.alu_shift)
        check_shift("mul_shift", self.mul_shift)


@dataclass(frozen=True)
class YStage:
    """The steps of Y when it is not bypassed: multiplier, truncation, ALU, lookup tables, in this order.

    Only operands from memory pass the converters. FP16 has neither converters nor truncation.

    Attributes:
        alu: the operation, or None when the ALU is bypassed. ``EQUAL`` ends the layer with one bit, whether
            any element differs from its operand; nothing is written.
        mul: whether the multiplier works.
        mul_prelu: whether only negative data are multiplied and truncated; without ``mul`` it does nothing.
        truncate: right shift after the multiplier, 0 to 1023 bits; it acts on products alone.
        alu_converter: converter of ALU operands from memory; None when it is bypassed.
        mul_converter: converter of multiplier operands from memory; None when it is bypassed.
        lut: the tables that the result is looked up in, or None.

    Raises:
        InputError: when the truncation is out of range, a converter is another's, or a comparison is looked
            up.

    Source: precision document, "Element wise"; unit description, "Single Point Data Processor"; order and
        converters measured on the public nv_full RTL; bypassed multiplier, positive branch of PReLU and
        comparison from the public nv_full RTL.
    """

    alu: AluOp | None
    mul: bool
    mul_prelu: bool = False
    truncate: int = 0
    alu_converter: Converter | None = None
    mul_converter: Converter | None = None
    lut: HybridLut | None = None

    def __post_init__(self) -> None:
        check_range("truncate", self.truncate, 0, (1 << TRUNCATE_BITS) - 1)
        for name in ("alu_converter", "mul_converter"):
            _check_encoding(name, getattr(self, name), ConverterEncoding.SDP_OPERAND)
        if self.alu is AluOp.EQUAL and self.lut is not None:
            raise InputError("lut must be None, because the comparison EQUAL has no result to look up")


@dataclass(frozen=True, eq=False)
class Operands:
    """Operands of one stage.

    Of the shape () they come from a register: 16 bits in X1 and X2, 32 bits in Y. (C, 1, 1) per channel or
    (C, H, W) per element they come from memory, with 16 bits. Integers, or patterns of unsigned dtypes in
    FP16: uint16, and uint32 for Y's registers, which hold FP32.

    Attributes:
        alu: operands of the ALU, None when it is bypassed.
        mul: operands of the multiplier, None when it is bypassed.
    """

    alu: NDArray[Any] | None
    mul: NDArray[Any] | None

    @classmethod
    def of(
        cls,
        stage: SdpStage | YStage,
        alu: int | None,
        mul: int | None,
        fetched: Mapping[str, NDArray[Any]],
        is_float: bool,
    ) -> Operands:
        """Return the operands that a stage takes: from its registers, else from memory.

        Args:
            stage: the stage.
            alu: register of the ALU, None when memory has it or nothing needs it.
            mul: likewise of the multiplier.
            fetched: what lay in memory, by component; FP16 as patterns.
            is_float: whether the layer computes in floating point.

        Raises:
            InputError: when an operand is needed that neither has.
        """
        wide = np.uint32 if isinstance(stage, YStage) else np.uint16
        taken: dict[str, NDArray[Any] | None] = {"alu": None, "mul": None}
        for name, register, active in (("alu", alu, stage.alu is not None), ("mul", mul, stage.mul)):
            if active and register is not None:
                taken[name] = np.array(register, dtype=wide if is_float else np.int64)
            elif active and name in fetched:
                taken[name] = fetched[name] if is_float else fetched[name].astype(np.int64)
            elif active:
                raise InputError(f"{name} operand must come from a register or from memory")
        return cls(**taken)

    def block(self, channels: slice) -> Operands:
        """Return the operands of some channels."""
        return Operands(_part(self.alu, channels), _part(self.mul, channels))


@dataclass(frozen=True)
class SdpParams:
    """One SDP layer.

    Attributes:
        x1: the stage X1, or None when it is bypassed.
        x2: the stage X2, or None when it is bypassed.
        converter: the output converter, with the encoding ``SDP_OUTPUT``; always active, but not in FP16.
        input_precision: precision of the cube in memory; on the fly, the precision the convolution ran in.
        output_precision: precision of the result.
        y: the stage Y, or None when it is bypassed.
        nan_to_zero: whether NaN of the input and of operands counts as +0, except those in Y's registers.

    Raises:
        InputError: for a conversion that the hardware does not have, another converter's encoding, or tables
            of the other kind of entries.

    Source: formats document, Table 30; precision document, "SDP converters".
    """

    x1: SdpStage | None
    x2: SdpStage | None
    converter: Converter
    input_precision: Precision
    output_precision: Precision
    y: YStage | None = None
    nan_to_zero: bool = False

    def __post_init__(self) -> None:
        _check_encoding("converter", self.converter, ConverterEncoding.SDP_OUTPUT)
        check_conversion(self.input_precision, self.output_precision)
        if self.is_float:
            self._check_nothing_is_ignored()
        elif self.nan_to_zero:
            raise InputError(f"nan_to_zero must be False for {self.input_precision.name}, which has no NaN")
        if self.y is not None and self.y.lut is not None:
            wanted = np.dtype(np.uint16 if self.is_float else np.int16)
            got = self.y.lut.le.entries.dtype
            if got != wanted:
                raise InputError(f"y.lut must have {wanted} entries for {self.input_precision.name}, not {got}")

    def _check_nothing_is_ignored(self) -> None:
        """Refuse what FP16 does not have, so that no layer says what the hardware does not do."""
        if self.converter != output_converter(0, 1, 0):
            raise InputError("converter must have offset 0, scale 1 and shift 0 for FP16, which it does not convert")
        for name, fields in (
            ("x1", ("alu_shift", "mul_shift")),
            ("x2", ("alu_shift", "mul_shift")),
            ("y", ("truncate", "alu_converter", "mul_converter")),
        ):
            for field in fields:
                value = getattr(getattr(self, name), field, None)
                if value:
                    raise InputError(f"{name}.{field} must be 0 or None for FP16, which ignores it, not {value}")

    @property
    def is_float(self) -> bool:
        """Whether the stages compute in FP32; they do when the input is FP16, and in 32-bit integers else."""
        return self.input_precision is Precision.FP16

    @property
    def compares(self) -> bool:
        """Whether the layer only compares, and writes nothing."""
        return self.y is not None and self.y.alu is AluOp.EQUAL


def targets_of(source: Precision) -> tuple[Precision, ...]:
    """Return the precisions to which SDP can convert another."""
    return tuple(_CONVERSIONS[source])


def check_conversion(source: Precision, target: Precision) -> None:
    """Refuse a conversion that SDP does not have.

    Raises:
        InputError: naming what is allowed.

    Source: formats document, Table 30.
    """
    if target not in _CONVERSIONS[source]:
        allowed = " or ".join(precision.name for precision in _CONVERSIONS[source])
        raise InputError(
            f"target must be {allowed} for a SDP layer (offline mode) with {source.value} feature data, "
            f"not {target.name} (Table 30)"
        )


def output_converter(offset: int, scale: int, shift: int) -> Converter:
    """Return an output converter; 0, 1, 0 passes its data."""
    return Converter(offset, scale, shift, ConverterEncoding.SDP_OUTPUT)


def checked_operands(
    name: str, stage: SdpStage | YStage | None, operands: Operands | None, shape: tuple[int, ...], is_float: bool
) -> Operands | None:
    """Return a stage's operands, None for a bypassed stage.

    Args:
        name: name of the stage, ``x1``, ``x2`` or ``y``.
        stage: the stage, or None.
        operands: its inputs.
        shape: (C, H, W) of the cube.
        is_float: whether patterns are wanted.

    Raises:
        InputError: when an operand's presence, shape, type or range is wrong.
    """
    if stage is None:
        if operands is not None:
            raise InputError(f"{name}_operands must be None, because {name} is bypassed")
        return None
    operands = operands or Operands(alu=None, mul=None)
    wide = isinstance(stage, YStage)
    _check_operand(f"{name} ALU", stage.alu is not None, operands.alu, shape, is_float, wide)
    _check_operand(f"{name} multiplier", stage.mul, operands.mul, shape, is_float, wide)
    return operands


def _part(operand: NDArray[Any] | None, channels: slice) -> NDArray[Any] | None:
    return operand if operand is None or operand.ndim == 0 else operand[channels]


def _check_encoding(name: str, converter: Converter | None, encoding: ConverterEncoding) -> None:
    if converter is not None and converter.encoding is not encoding:
        raise InputError(f"{name} must have the encoding {encoding.name}, not {converter.encoding.name}")


def _check_operand(
    name: str, wanted: bool, operand: NDArray[Any] | None, shape: tuple[int, ...], is_float: bool, wide: bool
) -> None:
    if operand is None:
        if wanted:
            raise InputError(f"{name} operand must be given, because the {name} is active")
        return
    if not wanted:
        raise InputError(f"{name} operand must be None, because the {name} is bypassed")
    bits = 2 * OPERAND_BITS if wide and operand.ndim == 0 else OPERAND_BITS
    if is_float:
        pattern = np.dtype(f"uint{bits}")
        if operand.dtype != pattern:
            raise InputError(f"{name} operand must be {pattern} patterns, not {operand.dtype}")
    elif operand.dtype.kind != "i":
        raise InputError(f"{name} operand must be of a signed integer dtype, not {operand.dtype}")
    per_channel = (shape[0], 1, 1)
    if operand.shape not in ((), per_channel, shape):
        raise InputError(f"{name} operand must have the shape (), {per_channel} or {shape}, not {operand.shape}")
    if is_float:
        return
    low, high = limits(bits)
    for value in (int(operand.min()), int(operand.max())) if operand.size else ():
        if not low <= value <= high:
            raise InputError(f"{name} operand must be from {low} to {high}, not {value}")
