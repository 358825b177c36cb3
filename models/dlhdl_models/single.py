"""Layers in single: a float64 value of each element, and a bound of how far hardware may be from it.

Hardware rounds each product and each sum to single, in any order. With u = 2^-24, the half unit in the last place:

- A product has one rounding. In a sum of n products and a bias each term then passes at most n additions, whatever
  their order. The result therefore differs from the exact sum by at most ((1 + u)^(n + 1) - 1) * sum|x * w|, the bias
  among the terms. That is at most (n + 1) * u / (1 - (n + 1) * u), and so at most (n + 1) * 2^-23, of the sum as long
  as n + 1 < 2^22; the slack also covers the roundings of float64 here.
- A subnormal result becomes 0, which changes it by less than 2^-126; there are at most 2 n + 1 operations, and later
  roundings enlarge that by less than 2: (2 n + 1) * 2^-125 in all.
- An average has n - 1 additions, the rounding of 1 / (R * S) and a product: n + 1 roundings, too.
- A sum of two singles is one rounding, which numpy does itself: it is exact, and so is a maximum.
- A source that is known within a bound e itself moves a sum of products by at most sum|w * e|, a sum by the sum of
  both bounds, a maximum by the largest of its window; ReLU moves no two values apart.

Source: ``docs/dlhdl.md``, "Arithmetic", "single". The bound is the project's: the vendor publishes none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dlhdl_models.int8 import check_kernels, check_rows, check_same, check_windows
from dlhdl_models.window import Window
from nvdla_models.errors import InputError

Float64Array = NDArray[np.float64]
SingleArray = NDArray[np.float32]

_STEP = 2.0**-23
_SMALLEST_NORMAL = 2.0**-126
_LARGEST = 2.0**127
_MOST_TERMS = 1 << 22


@dataclass(frozen=True, eq=False)
class Bounded:
    """Values, and how far each may be off.

    Args:
        value: float64.
        bound: float64 of the same shape, not negative; 0 is a value to the bit, but for the sign of a zero.

    Raises:
        InputError: when hardware could leave the range of single.
    """

    value: Float64Array
    bound: Float64Array

    def __post_init__(self) -> None:
        if not (np.abs(self.value) + self.bound < _LARGEST).all():
            raise InputError("values and their bounds must be below 2^127 in magnitude: the model has no infinities")

    @classmethod
    def exactly(cls, values: SingleArray) -> Bounded:
        """Return singles as they lie in memory; subnormal ones count as 0.

        Raises:
            InputError: for another dtype, infinities and NaN.
        """
        return cls(flushed("values", values), np.zeros(values.shape))

    @property
    def magnitude(self) -> Float64Array:
        """The largest magnitude that each value may have."""
        return np.abs(self.value) + self.bound

    @property
    def rectified(self) -> Bounded:
        """What ReLU makes of it: negative values become 0."""
        return Bounded(np.maximum(self.value, 0.0), self.bound)

    def holds(self, got: SingleArray) -> NDArray[np.bool_]:
        """Return which of the values that hardware wrote lie within the bound; NaN does not."""
        with np.errstate(invalid="ignore"):
            return np.abs(got.astype(np.float64) - self.value) <= self.bound


def flushed(name: str, values: SingleArray) -> Float64Array:
    """Return singles as float64, subnormal ones as 0.

    Raises:
        InputError: for another dtype, infinities and NaN.
    """
    if values.dtype != np.float32:
        raise InputError(f"{name} must be float32, not {values.dtype}")
    if not np.isfinite(values).all():
        raise InputError(f"{name} must be finite")
    wide = values.astype(np.float64)
    return np.where(np.abs(wide) < _SMALLEST_NORMAL, 0.0, wide)


def convolution(source: Bounded, weights: SingleArray, bias: SingleArray, window: Window) -> Bounded:
    """Return the convolution of an image with K kernels.

    Args:
        source: (Z, Y, X).
        weights: float32 (K, Z, R, S).
        bias: float32 (K,).
        window: its size is (S, R).

    Returns:
        (K, rows, pixels).

    Raises:
        InputError: for shapes that do not go together, and values that are not finite.
    """
    check_kernels(source.value, weights, bias, window)
    kernels = flushed("weights", weights)
    biases = flushed("bias", bias)[:, None, None]

    def sums(image: Float64Array, factors: Float64Array) -> Float64Array:
        return np.tensordot(factors, window.views(image), ((1, 2, 3), (0, 3, 4)))

    value = sums(source.value, kernels) + biases
    size = sums(source.magnitude, np.abs(kernels)) + np.abs(biases)
    return Bounded(value, sums(source.bound, np.abs(kernels)) + _rounding(kernels[0].size, size))


def fully_connected(source: Bounded, weights: SingleArray, bias: SingleArray) -> Bounded:
    """Return K sums over all values of the source.

    Args:
        source: of any shape.
        weights: float32, (K, and the source's shape).
        bias: float32 (K,).

    Returns:
        (K,).

    Raises:
        InputError: for shapes that do not go together, and values that are not finite.
    """
    check_rows(source.value, weights, bias)
    rows = flushed("weights", weights).reshape(len(weights), -1)
    biases = flushed("bias", bias)
    value = rows @ source.value.reshape(-1) + biases
    size = np.abs(rows) @ source.magnitude.reshape(-1) + np.abs(biases)
    moved = np.abs(rows) @ source.bound.reshape(-1)
    return Bounded(value, moved + _rounding(rows.shape[1], size))


def maximum_pooling(source: Bounded, window: Window) -> Bounded:
    """Return the largest value of each window; padding takes no part.

    Raises:
        InputError: when a window lies in padding alone.
    """
    check_windows(source.value, window)
    value = window.views(source.value, -np.inf).max(axis=(3, 4))
    return Bounded(value, window.views(source.bound).max(axis=(3, 4)))


def average_pooling(source: Bounded, window: Window) -> Bounded:
    """Return the average of each window; padding counts as 0 and as positions."""
    count = window.positions
    value = window.views(source.value).sum(axis=(3, 4)) / count
    size = window.views(source.magnitude).sum(axis=(3, 4)) / count
    moved = window.views(source.bound).sum(axis=(3, 4)) / count
    return Bounded(value, moved + _rounding(count, size))


def addition(first: Bounded, second: Bounded) -> Bounded:
    """Return the sum of two arrays of one shape.

    Raises:
        InputError: for different shapes.
    """
    check_same(first.value, second.value)
    exact = first.value + second.value
    moved = first.bound + second.bound
    rounded = flushed("sum", exact.astype(np.float32))
    spread = moved + _STEP * (np.abs(exact) + moved) + 2 * _SMALLEST_NORMAL
    return Bounded(np.where(moved == 0, rounded, exact), np.where(moved == 0, 0.0, spread))


def _rounding(terms: int, size: Float64Array) -> Float64Array:
    """Return the bound of the roundings of a sum of products and a bias, or of an average."""
    if terms + 1 >= _MOST_TERMS:
        raise InputError(f"a sum must have less than {_MOST_TERMS - 1} products, not {terms}")
    return (terms + 1) * _STEP * size + (2 * terms + 1) * 2 * _SMALLEST_NORMAL
