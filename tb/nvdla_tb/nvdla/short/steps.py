"""The steps of SDP on each element, dealt out to its stages X1, X2 and Y."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import NoneType
from typing import Any

import numpy as np

from nvdla_models.arithmetic import check_range, check_shift, limits
from nvdla_models.config import HwConfig
from nvdla_models.converter import ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16
from nvdla_models.lut import HybridLut
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, SdpStage, YStage, output_converter
from nvdla_models.sdp.params import OPERAND_BITS, targets_of
from nvdla_tb.nvdla.layers import OperandSurface, StageSource, Surface, processing_precision
from nvdla_tb.nvdla.short.given import check_flags, check_kind, check_operand, checked_conversion, plain
from nvdla_tb.nvdla.surfaces import cube_operand

Operand = int | float | OperandSurface
"""One number for all elements, from a register, or operands in memory, one for each channel or each element."""

LARGEST = 65504
"""The largest finite number of FP16."""

_PARTS = ("alu", "mul", "relu")
"""The parts of a stage in the order in which data pass them."""


@dataclass(frozen=True)
class Steps:
    """The steps of SDP on each element; the arguments of ``Sdp`` say what each means."""

    bias: Operand | None
    scale: Operand | None
    shift: int
    residual: Surface | None
    relu: bool
    prelu: Operand | None
    prelu_shift: int
    lut: HybridLut | None
    convert: tuple[int, int, int]
    nan_to_zero: bool


@dataclass(frozen=True)
class Processing:
    """The parameters of SDP, and where X1 and X2 take their operands from."""

    params: SdpParams
    x1: StageSource | None
    x2: StageSource | None


def dealt(
    config: HwConfig, steps: Steps, source: Precision, target: Precision, shape: tuple[int, int, int]
) -> Processing:
    """Return the stages that do the steps.

    A step goes to the first stage, from that of the step before on, whose part is still free. So as few stages work as
    possible, in the order of the steps.

    Args:
        config: The build; it decides which stages there are.
        steps: The steps.
        source: Precision of the elements that come in.
        target: Precision of those that go out.
        shape: (C, H, W) of the cube.

    Raises:
        InputError: for more steps than the stages can do, an operand that does not fit, or what FP16 does not have.
    """
    is_float = source is Precision.FP16
    _check(steps, config, shape, is_float=is_float)
    if target not in targets_of(source):
        allowed = " or ".join(precision.name for precision in targets_of(source))
        raise InputError(
            f"dst must have the precision {allowed} after {source.name}, not {target.name}: "
            f"reserve(shape, Precision.{source.name})"
        )
    dealer = _Dealer(config, processing_precision(source, target), shape, is_float=is_float)
    if steps.bias is not None:
        dealer.deal("bias", "alu", steps.bias, alu=AluOp.SUM)
    if steps.scale is not None:
        dealer.deal("scale", "mul", steps.scale, mul=True, mul_shift=steps.shift)
    elif steps.shift:
        # The shift acts when the multiplier is bypassed, too.
        dealer.deal("shift", "mul", None, mul_shift=steps.shift)
    if steps.residual is not None:
        dealer.deal("residual", "alu", cube_operand(steps.residual), alu=AluOp.SUM)
    if steps.prelu is not None:
        dealer.deal("prelu", "mul", steps.prelu, mul=True, mul_prelu=True, mul_shift=steps.prelu_shift)
    if steps.relu:
        dealer.deal("relu", "relu", None, relu=True)
    y = None if steps.lut is None else YStage(alu=None, mul=False, lut=steps.lut)
    x1, x2 = dealer.stages
    params = SdpParams(
        x1.stage, x2.stage, output_converter(*map(plain, steps.convert)), source, target, y, steps.nan_to_zero
    )
    return Processing(params, x1.source, x2.source)


def pattern(name: str, value: float) -> int:
    """Return the FP16 bits of the number that is nearest to a value.

    Raises:
        InputError: calling the argument ``name``, for what no finite FP16 number is near to.
    """
    if not isinstance(value, int | float | np.number) or not abs(float(value)) <= LARGEST:
        raise InputError(f"{name} must be a number from {-LARGEST} to {LARGEST} for FP16, not {value!r}")
    return int(FP16.encode(np.array([value], np.float64))[0])


def whole(name: str, value: float, precision: Precision, low: int, high: int) -> int:
    """Return a number that must be an integer, because the precision is one of integers.

    Raises:
        InputError: calling the argument ``name``, when it is none or out of its range.
    """
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} must be an integer for {precision.name}, not {value!r}")
    check_range(name, int(value), low, high)
    return int(value)


def _check(steps: Steps, config: HwConfig, shape: tuple[int, int, int], *, is_float: bool) -> None:
    checked_conversion("convert", steps.convert, ConverterEncoding.SDP_OUTPUT)
    check_flags(relu=steps.relu, nan_to_zero=steps.nan_to_zero)
    for name, operand in (("bias", steps.bias), ("scale", steps.scale), ("prelu", steps.prelu)):
        check_operand(name, operand)
    check_kind("residual", steps.residual, Surface, NoneType)
    check_kind("lut", steps.lut, HybridLut, NoneType)
    check_shift("shift", steps.shift)
    check_shift("prelu_shift", steps.prelu_shift)
    if steps.residual is not None and steps.residual.shape != shape:
        raise InputError(f"residual must have the shape {shape} of the output, not {steps.residual.shape}")
    if steps.prelu is None and steps.prelu_shift:
        raise InputError(f"prelu_shift must be 0 without prelu, not {steps.prelu_shift}")
    if steps.relu and steps.prelu is not None:
        raise InputError("relu must be False with prelu, which keeps negative values")
    if steps.lut is not None and not config.sdp_lut_enable:
        raise InputError(f"lut must be None: SDP of {config.name} has no lookup tables")
    if is_float:
        for name, neutral in (("shift", 0), ("prelu_shift", 0), ("convert", (0, 1, 0))):
            if getattr(steps, name) != neutral:
                raise InputError(f"{name} must be {neutral} for FP16, which has none, not {getattr(steps, name)}")


@dataclass
class _Stage:
    """A stage that is being filled: fields, registers and memory of its operands, and its last part in use."""

    fields: dict[str, Any] = field(default_factory=dict)
    registers: dict[str, int] = field(default_factory=dict)
    memory: OperandSurface | None = None
    last: int = -1

    def takes(self, part: int, memory: OperandSurface | None) -> bool:
        """Return whether a part is free, and its operands lie in memory where those of the other part do."""
        return part > self.last and (memory is None or self.memory in (None, memory))

    @property
    def stage(self) -> SdpStage | None:
        """The stage as SDP is programmed; None when it has nothing to do."""
        idle = {"alu": None, "alu_shift": 0, "mul": False, "mul_prelu": False, "mul_shift": 0, "relu": False}
        return SdpStage(**(idle | self.fields)) if self.fields else None

    @property
    def source(self) -> StageSource | None:
        """Where its operands come from; None when it needs none."""
        source = StageSource(self.registers.get("alu"), self.registers.get("mul"), self.memory)
        return None if source == StageSource() else source


class _Dealer:
    """Gives steps to stages, one after the other."""

    def __init__(self, config: HwConfig, precision: Precision, shape: tuple[int, int, int], *, is_float: bool) -> None:
        self._config, self._precision, self._shape, self._is_float = config, precision, shape, is_float
        self.stages = (_Stage(), _Stage())
        there = (config.sdp_bs_enable, config.sdp_bn_enable)
        self._left = [stage for stage, has in zip(self.stages, there, strict=True) if has]
        self._names: list[str] = []

    def deal(self, name: str, part: str, operand: Operand | None, **fields: Any) -> None:
        """Give a step to the first stage that can still take it."""
        self._names.append(name)
        memory = self._in_memory(name, part, operand) if isinstance(operand, OperandSurface) else None
        at = _PARTS.index(part)
        while self._left and not self._left[0].takes(at, memory):
            del self._left[0]
        if not self._left:
            raise InputError(
                f"{', '.join(self._names)} must fit the stages of {self._config.name}: X1 and X2 have an adder, a "
                f"multiplier and ReLU each, in this order, and one surface of operands; {name} is left over"
                + ("" if memory is None or name == "residual" else ", and as one number it would need no surface")
            )
        stage = self._left[0]
        stage.last = at
        stage.fields |= fields
        if memory is not None:
            stage.memory = memory
        elif operand is not None:
            assert not isinstance(operand, OperandSurface)
            stage.registers[part] = self._in_register(name, operand)

    def _in_memory(self, name: str, part: str, operand: OperandSurface) -> OperandSurface:
        """Return operands as those of the part that takes them; a pair is for both."""
        layout = operand.layout
        if name == "residual" and layout.precision is not self._precision:
            raise InputError(f"residual must be a cube of {self._precision.name}, not of {layout.precision.name}")
        is_float = self._precision is Precision.FP16
        if (layout.precision is Precision.FP16) != is_float:
            kinds = "float16" if is_float else "int8 or int16"
            raise InputError(f"{name} must be placed from {kinds} here, as SDP computes in {self._precision.name}")
        if layout.precision is not self._precision:
            raise InputError(
                f"{name} must be placed for {self._precision.name}, in which SDP computes here, "
                f"not for {layout.precision.name}: place_operands(..., precision=Precision.{self._precision.name})"
            )
        channels = (self._shape[0], 1, 1)
        if layout.shape not in (channels, self._shape):
            raise InputError(
                f"{name} must have an operand for each of the {self._shape[0]} channels or for each element of "
                f"{self._shape}, not the shape {layout.shape}"
            )
        if len(layout.components) > 1:
            return operand
        return OperandSurface(replace(layout, components=(part,)), operand.address, operand.ram)

    def _in_register(self, name: str, operand: float) -> int:
        if self._is_float:
            return pattern(name, operand)
        return whole(name, operand, self._precision, *limits(OPERAND_BITS))
