"""Comparison of FP16 outputs with a float64 reference: allowances, and which part of them is used.

A tolerance is built by the module of its engine, ``conv``, ``pool`` or ``cdp``, and holds one
allowance per element. SDP, and maximum and minimum of PDP, compare bit by bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from nvdla_models.fp16 import FP16, BitsArray

Float64Array = npt.NDArray[np.float64]
Fp16Bits = npt.NDArray[np.uint16]


class Module(Enum):
    """A row of the table of thresholds.

    Source: precision document, "FP16 error threshold".
    """

    DC = "CC DC"
    WINOGRAD = "CC Winograd"
    SDP = "SDP"
    CDP = "CDP"
    PDP = "PDP"


@dataclass(frozen=True, eq=False)
class Tolerance:
    """The allowed difference between hardware and reference.

    Attributes:
        module: whose rule it is.
        rule: the rule as text.
        allowance: largest allowed absolute difference per element, float64, in the output's shape; None
            when patterns must be identical.
    """

    module: Module
    rule: str
    allowance: Float64Array | None


def bit_identical(module: Module) -> Tolerance:
    """Return the rule of SDP: every bit of every number must agree; any NaN agrees with any NaN.

    Args:
        module: SDP, or PDP for maximum and minimum.

    Source: precision document, "FP16 error threshold"; the payload of a NaN is undefined by the formats
        document, "NaN".
    """
    return Tolerance(module, "bit-by-bit identical", None)


def exponent(bits: BitsArray) -> npt.NDArray[np.int64]:
    """Return ``exp(a) = ((a >> 10) & 0x1f) - 15`` of FP16 patterns.

    Source: precision document, "FP16 error threshold".
    """
    return ((bits.astype(np.int64) >> 10) & 0x1F) - 15


def clip_reference(values: Float64Array) -> Float64Array:
    """Clip a float64 reference to ±65504, as every unit clips its output; NaN stays NaN.

    Source: formats document, "Rounding".
    """
    return np.clip(values, -FP16.max_value, FP16.max_value)


def difference(expected: Float64Array, actual: Fp16Bits) -> Float64Array:
    """Return the absolute difference, 0 where the output is the reference's clipped value.

    A reference beyond ±65504 agrees with ±65504 of its sign. A smaller output is measured from the
    unclipped reference: what lies outside by more than the allowance must be written saturated.

    Args:
        expected: float64, unclipped.
        actual: FP16 patterns, same shape.

    Source: formats document, "Rounding": clipped to the largest normal value.
    """
    value = FP16.decode(actual)
    saturated = (np.abs(expected) > FP16.max_value) & (value == clip_reference(expected))
    with np.errstate(invalid="ignore"):
        return np.where(saturated, 0.0, np.abs(expected - value))


def _part(distance: Float64Array, allowance: Float64Array) -> Float64Array:
    """Return which part of its allowance each distance is; infinite where none is allowed."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(distance == 0.0, 0.0, distance / allowance)


def integer_parts_used(expected: Float64Array, actual: npt.NDArray[np.int16], allowance: Float64Array) -> Float64Array:
    """Return which part of its allowance each INT16 output uses that SDP makes of FP16; above 1 is a failure.

    Args:
        expected: float64 reference, integers.
        actual: the hardware's integers, same shape.
        allowance: same shape.
    """
    return _part(np.abs(expected - actual), allowance)


def parts_used(expected: npt.NDArray[Any], actual: Fp16Bits, tolerance: Tolerance) -> Float64Array:
    """Return which part of its allowance each output uses; above 1 is a failure.

    NaN agrees with NaN, whatever its payload, and with nothing else. Infinity agrees only with the same
    infinity among identical patterns: elsewhere outputs are clipped and no unit writes infinity.

    Args:
        expected: float64 reference, not clipped, or uint16 patterns for a bit-identical rule.
        actual: the hardware's FP16 patterns, same shape.
        tolerance: the rule, with allowances of that shape.

    Returns:
        Same shape; 0 for the reference's clipped value, infinite where no difference is allowed.

    Source: precision document, "FP16 error threshold"; formats document, "FP16 Supporting".
    """
    actual_nan = FP16.is_nan(actual)
    if tolerance.allowance is None:
        expected_nan, forbidden = FP16.is_nan(expected), expected != actual
        used = np.zeros(actual.shape)
    else:
        expected_nan, forbidden = np.isnan(expected), FP16.is_infinite(actual)
        used = _part(difference(expected, actual), tolerance.allowance)
    return np.where(expected_nan & actual_nan, 0.0, np.where(forbidden | (expected_nan != actual_nan), np.inf, used))
