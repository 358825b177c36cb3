"""Functions of one element by the tables of SDP's Y or of CDP.

LO, which has more entries, covers the whole range. LE is laid out in several ways over a part of it, with entries
nearer to each other, and the one with the smallest error is taken; it answers where both do. Beyond the range both
ends go on by a straight line. Where the function itself is as good as straight, the range is made smaller first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.fixed_point import OPERAND_MOST
from nvdla_models.lut import LE_ENTRIES, LO_ENTRIES, HybridLut, LutChoice, LutTable, LutUnit, Slope
from nvdla_models.lut_integer import lookup

Floats = NDArray[np.float64]
Function = Callable[[Floats], Floats]

_STRAIGHT = 2.0**-17
"""Part of the largest result by which a function that counts as straight may differ from the line."""

_TRIED = 4096
_INPUTS = (1 << 18) - 2
"""Integers of the input in a range, where their step may be chosen; two less, because both ends are rounded away."""

_SLOPE_SHIFTS = range(15, -17, -1)


def _sigmoid(x: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(x / 2)))


def _softplus(x: Floats) -> Floats:
    return np.asarray(np.logaddexp(0, x))


def _erf(x: Floats) -> Floats:
    return np.asarray(np.vectorize(math.erf, otypes=[float])(x))


def _hard_sigmoid(x: Floats) -> Floats:
    return np.asarray(np.clip(x / 6 + 0.5, 0, 1))


FUNCTIONS: Mapping[str, Function] = {
    "sigmoid": _sigmoid,
    "tanh": lambda x: np.asarray(np.tanh(x)),
    "silu": lambda x: x * _sigmoid(x),
    "gelu": lambda x: np.asarray(x * 0.5 * (1 + _erf(x / math.sqrt(2)))),
    "gelu_tanh": lambda x: np.asarray(x * 0.5 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))),
    "erf": _erf,
    "exp": lambda x: np.asarray(np.exp(x)),
    "elu": lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
    "softplus": _softplus,
    "softsign": lambda x: np.asarray(x / (1 + np.abs(x))),
    "mish": lambda x: np.asarray(x * np.tanh(_softplus(x))),
    "hard_sigmoid": _hard_sigmoid,
    "hard_swish": lambda x: np.asarray(x * _hard_sigmoid(x)),
}
"""Functions by name; ``hard_sigmoid`` is that of HardSwish, with the slope 1/6."""


@dataclass(frozen=True, eq=False)
class Tables:
    """A function in tables.

    Attributes:
        lut: Both tables.
        step: The real number that an integer 1 of their input stands for.
        unit: That of their result.
    """

    lut: HybridLut
    step: float
    unit: float


def tables(
    function: Function,
    low: float,
    high: float,
    *,
    step: float | None = None,
    least_step: float = 0.0,
    unit: LutUnit = LutUnit.SDP,
) -> Tables:
    """Return the tables of a function over a range.

    Example:
        found = tables(FUNCTIONS["sigmoid"], -8, 8)

    Args:
        function: The function, for any number of elements.
        low: Begin of the range; below it the tables go on by a straight line.
        high: End of the range, likewise.
        step: The real number that an integer 1 of the input stands for; None for one that fits the range.
        least_step: Such a step is at least so large.
        unit: The unit that looks up.

    Raises:
        InputError: for a range that does not go up, and a function that is not finite in it.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"range must go from a number to a larger one, not from {low:g} to {high:g}")
    with np.errstate(all="ignore"):
        most = float(np.abs(function(np.linspace(low, high, _TRIED))).max())
    if not math.isfinite(most):
        raise InputError(f"function must be finite from {low:g} to {high:g}")
    begin, below = _end(function, low, high, most)
    mirrored, above = _end(lambda x: function(-x), -high, -begin, most)
    last, above = -mirrored, -above
    step = step or max((last - begin) / _INPUTS, least_step)
    first = math.floor(begin / step)
    span = max(math.ceil(last / step) - first, LO_ENTRIES - 1)
    select = math.ceil(math.log2(span / (LO_ENTRIES - 1)))

    def continued(integers: NDArray[np.int64]) -> Floats:
        """Return the function, with straight lines beyond the range."""
        x = integers * step
        inside = np.clip(x, begin, last)
        line = np.where(x < begin, below * (x - begin), above * np.maximum(x - last, 0))
        return np.asarray(function(inside) + line)

    ends = continued(np.array([first, first + (LO_ENTRIES - 1 << select)]))
    entry = (max(most, float(np.abs(ends).max())) or 1.0) / OPERAND_MOST

    def linear(entries: int, start: int, distance: int) -> LutTable:
        values = continued(start + (np.arange(entries) << distance)) / entry
        end = start + ((entries - 1) << distance)
        slopes = _slope(below * step / entry), _slope(above * step / entry)
        return LutTable(np.rint(values).astype(np.int16), start, end, distance, False, 0, *slopes)

    lo = linear(LO_ENTRIES, first, select)
    tried = np.unique(np.linspace(first, math.ceil(last / step), _TRIED).astype(np.int64))
    exact = continued(tried) / entry

    def errors(lut: HybridLut) -> Floats:
        return np.asarray(np.abs(lookup(lut, tried, unit).values - exact))

    candidates = [_hybrid(linear(LE_ENTRIES, first, select), lo)]
    for start, distance in _finer(first, lo.end, select, tried, errors(candidates[0])):
        candidates.append(_hybrid(linear(LE_ENTRIES, start, distance), lo))
    found = [(float(wrong.max()), float(wrong.mean())) for wrong in map(errors, candidates)]
    return Tables(candidates[found.index(min(found))], step, entry)


def _hybrid(le: LutTable, lo: LutTable) -> HybridLut:
    return HybridLut(le, lo, LutChoice.LO, LutChoice.LO, LutChoice.LE)


def _finer(first: int, end: int, select: int, tried: NDArray[np.int64], errors: Floats) -> Iterator[tuple[int, int]]:
    """Yield where LE may begin, and how far its entries may lie from each other."""
    middles = {int(tried[errors.argmax()]), int((tried * errors).sum() / errors.sum()) if errors.any() else first}
    for distance in range(max(select - 4, 0), select):
        width = (LE_ENTRIES - 1) << distance
        for middle in sorted(middles):
            yield min(max(middle - width // 2, first), end - width), distance


def _end(function: Function, low: float, high: float, most: float) -> tuple[float, float]:
    """Return where the range may begin, and the slope below."""
    width = high - low
    with np.errstate(all="ignore"):
        far, near = function(np.array([low - 2 * width, low - width]))
        least = width / _TRIED
        tangent = float(np.diff(function(np.array([low, low + least])))[0]) / least
        slope = float(near - far) / width
    if not math.isfinite(slope) or abs(slope) > abs(tangent) + most / width * _STRAIGHT:
        return low, tangent
    at = np.linspace(low, high, _TRIED)
    rest = function(at) - slope * at
    reach = np.maximum.accumulate(rest), np.minimum.accumulate(rest)
    straight = (reach[0] - rest <= most * _STRAIGHT) & (rest - reach[1] <= most * _STRAIGHT)
    count = len(at) if straight.all() else int(straight.argmin())
    return float(at[min(max(count - 1, 0), _TRIED - 2)]), slope


def _slope(real: float) -> Slope:
    """Return a slope as an integer of 16 bits and a shift."""
    shift = next((shift for shift in _SLOPE_SHIFTS if abs(real) * 2.0**shift <= OPERAND_MOST), -16)
    return Slope(int(np.clip(np.rint(real * 2.0**shift), -OPERAND_MOST, OPERAND_MOST)), shift)
