"""Numbers for a network: what SDP does to keep the scales of values.

What one step makes has one scale and zero; the parts of a joined cube keep theirs, so that a small branch beside a
large one loses nothing, and whoever reads the cube takes the scale of each channel into account. The accumulator of a
convolution has the scale of its input times that of its weights; where 32 bits have no room for sums of INT16, it
loses bits. X1 adds the bias, takes the zeros of the input away and brings every channel to one fine scale, X2 works in
that, and the output converter makes the integer of the result.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.activation import Tables, tables
from nvdla_models.errors import InputError
from nvdla_models.fixed_point import OPERAND_MOST, multipliers, shifted
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, SdpStage, YStage, output_converter
from nvdla_networks.compiler.fuse import Compute
from nvdla_networks.compiler.graph import Clip, Conv, Floats, PRelu, Table, floats, taken_channels
from nvdla_networks.compiler.scales import Scales
from nvdla_networks.compiler.target import Target

_FINE_BITS = 12
"""Bits that the scale between X1 and the converter is finer than that of a value."""

_LEAST_WEIGHT_SCALE = 2.0**-8
"""Of the largest weight scale of a layer: below it, multipliers of 16 bits lose more than small weights gain."""

_LEAST_RATIO = 16
"""Steps of the accumulator that a step of a result whose zero is not 0 must have."""

_BEYOND = 1 / 16
"""Part of what the samples reach by which tables go beyond at either side."""

_LEAST_RANGE = 2.0**-6

_MOST_HALF = float(np.finfo(np.float16).max)
_BIAS_BITS = 22
_ACCUMULATOR_BITS = 31

Operand = NDArray[np.int16] | NDArray[np.uint16] | int | None


@dataclass(frozen=True, eq=False)
class Operands:
    """Operands of a stage: a number for a register, (C,) one for each channel, None where the unit is idle."""

    alu: Operand = None
    mul: Operand = None


@dataclass(frozen=True, eq=False)
class Arithmetic:
    """A step in integers.

    Attributes:
        weights: (K, C of a group, R, S) of the network's precision, None without a convolution.
        truncate: Bits that the accumulator loses.
        pad_value: What stands for 0 around the input.
        params: What SDP does; an ALU of X2 whose operand is None adds the other cube.
        x1: Operands of X1.
        x2: Operands of X2.
    """

    weights: NDArray[Any] | None
    params: SdpParams
    x1: Operands
    x2: Operands
    truncate: int = 0
    pad_value: int = 0


def arithmetic(step: Compute, scales: Scales, target: Target, *, per_channel: bool) -> Arithmetic:
    """Return a step in integers by the scales of values, or in FP16; ``per_channel`` gives each kernel its own."""
    if target.is_float:
        return _halves(step, target)
    if step.multiplies:
        assert step.other is not None
        product = scales.scale(step.src) * scales.scale(step.other)
        units = product, scales.scale(step.output)
        away = -scales.zero(step.src)
        x1 = stage(AluOp.SUM if away else None, mul=True)
        params = _params(target, x1, None, units, scales.zero(step.output))
        return Arithmetic(None, params, Operands(away or None), Operands())
    weights, unit, bias = _weighted(step, scales, target, per_channel)
    truncate = 0 if weights is None else _truncated_bits(weights, bias, target)
    unit, bias = unit * 2.0**truncate, bias * 2.0**-truncate
    out, zero = scales.scale(step.output), scales.zero(step.output)
    others = None if step.other is None else (scales.scale(step.other), scales.zero(step.other))
    if step.conv is not None and others is not None:
        bias = bias - floats(others[0] * others[1]) / unit
    clip = step.activation if isinstance(step.activation, Clip) else None
    relu = clip is not None and clip.least == 0
    bound = None if clip is None else _bound(clip, out, zero, target)
    slopes = step.activation.slope if isinstance(step.activation, PRelu) else None
    alu, alu_shift = shifted(bias) if bias.any() else (None, 0)
    adds = None if alu is None else AluOp.SUM
    uniform = bool(np.ptp(unit) == 0) and (unit[0] > 0 or not relu)
    # The converter takes the zero away in steps of the accumulator, which must be fine enough.
    table = step.activation if isinstance(step.activation, Table) else None
    uniform &= table is None and (not zero or 0 < abs(float(unit[0])) * _LEAST_RATIO <= out)
    # Around channels of several zeros there is no padding.
    pad_value = int(scales.zeros[step.src][0])
    if uniform and not (step.shift.any() or step.other or bound or slopes is not None):
        params = _params(target, stage(adds, alu_shift, relu=relu), None, (float(unit[0]), out), zero)
        return Arithmetic(weights, params, Operands(folded(alu)), Operands(), truncate, pad_value)
    coarse = out if others is None else others[0]
    if table is not None:
        found = _tables(table, step, scales, float(np.abs(unit).max()) / OPERAND_MOST)
        fine, bits, result = found.step, 0, found.unit
    else:
        found, (fine, bits) = None, _fine_scale(unit, coarse)
        result = fine
    mul, mul_shift = multipliers(unit / fine)
    operand, operand_shift, operation = None, 0, None
    if step.other is not None:
        operand_shift, operation = bits, AluOp.SUM
    elif bound is not None:
        operation, limit = bound
        operand, operand_shift = shifted(np.full(1, limit / fine))
    elif step.shift.any():
        (operand, operand_shift), operation = shifted(step.shift / fine), AluOp.SUM
    slope, slope_shift = (None, 0) if slopes is None else multipliers(slopes)
    prelu = slope is not None
    is_idle = operation is None and not prelu
    first = stage(adds, alu_shift, mul_shift, mul=True, relu=is_idle and relu)
    second = stage(operation, operand_shift, slope_shift, mul=prelu, prelu=prelu, relu=relu and not is_idle)
    # Steps of a cube are too coarse to take the other's zero away in X1.
    added = 0 if others is None or step.conv is not None else others[1] << bits
    params = _params(target, first, second, (result, out), zero, added)
    if found is not None:
        params = replace(params, y=YStage(alu=None, mul=False, lut=found.lut))
    of_x1, of_x2 = Operands(folded(alu), folded(mul)), Operands(folded(operand), folded(slope))
    return Arithmetic(weights, params, of_x1, of_x2, truncate, pad_value)


def _tables(table: Table, step: Compute, scales: Scales, least_step: float) -> Tables:
    """Return the tables of a function over what the samples reach, and a bit beyond."""
    assert step.looked_up is not None
    low, high = scales.reach[step.looked_up]
    room = max((high - low) * _BEYOND, _LEAST_RANGE)
    return tables(table.function, low - room, high + room, least_step=least_step)


def _bound(clip: Clip, out: float, zero: int, target: Target) -> tuple[AluOp, float] | None:
    """Return how an ALU computes bounds, None where a ReLU and saturation do."""
    least, most = target.bounds_of(clip, out, zero)
    if least is not None and most is not None:
        raise InputError(f"bounds must not both lie within the range of the integers, {least:g} and {most:g}")
    if most is not None:
        return AluOp.MIN, most
    return None if least is None else (AluOp.MAX, least)


def _weighted(
    step: Compute, scales: Scales, target: Target, per_channel: bool
) -> tuple[NDArray[Any] | None, Floats, Floats]:
    """Return the weights as integers, the scale of each channel's data, and what X1 adds in steps of that."""
    conv, src, zeros = step.conv, scales.scales[step.src], scales.zeros[step.src]
    if conv is None:
        return None, src * step.scale, -floats(zeros)
    unit = float(src.max())
    taken = taken_channels(conv)
    if np.ptp(src) > 0:
        weights = conv.weights * (src / unit)[taken][:, :, np.newaxis, np.newaxis]
        conv = replace(conv, weights=weights, weight_scales=None)
    scale = weight_scales(conv, unit, target, per_channel=per_channel)
    quantised = np.rint(conv.weights / scale[:, np.newaxis, np.newaxis, np.newaxis])
    integers = np.clip(quantised, *target.precision.limits)
    of_zeros = (integers.sum(axis=(2, 3)) * zeros[taken]).sum(axis=1)
    return integers.astype(target.precision.dtype), unit * scale, conv.bias / (unit * scale) - of_zeros


def _truncated_bits(weights: NDArray[Any], bias: Floats, target: Target) -> int:
    """Return how many bits an accumulator must lose so that the largest possible sum fits 32 bits."""
    sums = np.abs(weights.astype(np.float64)).sum(axis=(1, 2, 3)) * target.most + np.abs(bias)
    return max(0, int(np.frexp(sums.max())[1]) - _ACCUMULATOR_BITS) if target.precision is Precision.INT16 else 0


def weight_scales(conv: Conv, src: float, target: Target, *, per_channel: bool) -> Floats:
    """Return the scale of each kernel, (K,)."""
    if conv.weight_scales is not None:
        # With a zero point, or of more bits, the file's integers may be more than there are.
        integers = np.rint(conv.weights / conv.weight_scales[:, np.newaxis, np.newaxis, np.newaxis])
        if -target.most - 1 <= integers.min() and integers.max() <= target.most:
            return conv.weight_scales
    most = np.abs(conv.weights).max(axis=(1, 2, 3))
    largest = float(most.max()) or 1.0
    if not per_channel:
        most = np.full(len(most), largest)
    scale: Floats = np.maximum(most, largest * _LEAST_WEIGHT_SCALE) / target.most
    if target.precision is Precision.INT16:
        return scale
    # A bias far beyond what the weights can sum up to must still fit the accumulator.
    needed = np.abs(conv.bias) / (src * (1 << _BIAS_BITS))
    wide: Floats = np.maximum(scale, needed if per_channel else needed.max())
    return wide


def _fine_scale(unit: Floats, coarse: float) -> tuple[float, int]:
    """Return a scale that is finer than ``coarse`` by so many bits, and that multipliers of 16 bits can reach."""
    bits = _FINE_BITS
    while bits and float(np.abs(unit).max()) / coarse * (1 << bits) > OPERAND_MOST:
        bits -= 1
    return coarse / (1 << bits), bits


def folded(values: NDArray[Any] | None) -> Operand:
    """Return one number where all are the same."""
    return int(values[0]) if values is not None and (values == values[0]).all() else values


def stage(
    alu: AluOp | None,
    alu_shift: int = 0,
    mul_shift: int = 0,
    *,
    mul: bool = False,
    prelu: bool = False,
    relu: bool = False,
) -> SdpStage | None:
    """Return a stage, None where it has nothing to do."""
    return SdpStage(alu, alu_shift, mul, prelu, mul_shift, relu) if alu is not None or mul or relu else None


def _params(
    target: Target,
    x1: SdpStage | None,
    x2: SdpStage | None,
    units: tuple[float, float],
    zero: int,
    added: int = 0,
) -> SdpParams:
    """Return SDP's processing.

    Args:
        target: Configuration and precision.
        x1: What X1 does.
        x2: What X2 does.
        units: Scale of the data before the converter, and of the result.
        zero: Zero of the result.
        added: What the data before the converter has too much.
    """
    ratio = units[0] / units[1]
    scale, shift = multipliers(np.full(1, ratio))
    converter = output_converter(added - (round(zero / ratio) if zero else 0), int(scale[0]), shift)
    return SdpParams(x1, x2, converter, target.precision, target.precision)


def _halves(step: Compute, target: Target) -> Arithmetic:
    """Return a step in FP16, where no number has a scale; those beyond its range become the largest.

    X1 adds the bias and multiplies, X2 adds, bounds or multiplies.
    """
    conv, activation = step.conv, step.activation
    if step.multiplies:
        params = SdpParams(stage(None, mul=True), None, output_converter(0, 1, 0), Precision.FP16, Precision.FP16)
        return Arithmetic(None, params, Operands(), Operands())
    relu = isinstance(activation, Clip) and activation.least == 0
    least, most = target.bounds_of(activation, None) if isinstance(activation, Clip) else (None, None)
    bias = None if conv is None or not conv.bias.any() else _patterns(conv.bias)
    scale = None if (step.scale == 1).all() else _patterns(step.scale)
    operand, operation = None, None
    first, first_operation = bias, None if bias is None else AluOp.SUM
    if step.other is not None:
        operation = AluOp.SUM
    elif most is not None:
        operand, operation = _patterns(np.full(1, most)), AluOp.MIN
        if least is not None:
            # Two bounds are a step of their own, whose X1 is idle.
            first, first_operation = _patterns(np.full(1, least)), AluOp.MAX
    elif least is not None:
        operand, operation = _patterns(np.full(1, least)), AluOp.MAX
    elif step.shift.any():
        operand, operation = _patterns(step.shift), AluOp.SUM
    slope = _patterns(activation.slope) if isinstance(activation, PRelu) else None
    second = operation is not None or slope is not None
    x1 = stage(first_operation, mul=scale is not None, relu=relu and not second)
    x2 = stage(operation, mul=slope is not None, prelu=slope is not None, relu=relu and second)
    params = SdpParams(x1, x2, output_converter(0, 1, 0), Precision.FP16, Precision.FP16)
    weights = None if conv is None else _clipped(conv.weights)
    return Arithmetic(weights, params, Operands(folded(first), folded(scale)), Operands(folded(operand), folded(slope)))


def _clipped(real: Floats) -> NDArray[np.float16]:
    return np.clip(real, -_MOST_HALF, _MOST_HALF).astype("<f2")


def _patterns(real: Floats) -> NDArray[np.uint16]:
    """Return numbers as the patterns that registers hold."""
    return _clipped(real).view("<u2")
