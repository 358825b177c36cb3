"""Layers in int8, to the bit: a real value is ``v * 2**exponent``.

Arrays are int8 (Z, Y, X); sums have 32 bits and wrap.

Source: ``docs/dlhdl.md``, "Arithmetic", "int8".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlhdl_models.window import Window
from nvdla_models.arithmetic import check_range, saturate, wrap
from nvdla_models.errors import InputError

Int8Array = NDArray[np.int8]

EXPONENT_DISTANCE = 16
"""Largest difference of the exponents of an average pooling, and of the sources of an addition."""

_SHIFTS = (-31, 47)
_SUM_BITS = 32


def convolution(
    source: Int8Array, weights: Int8Array, bias: NDArray[np.int32], window: Window, shift: int
) -> Int8Array:
    """Return the convolution of an image with K kernels.

    Args:
        source: int8 (Z, Y, X).
        weights: int8 (K, Z, R, S).
        bias: int32 (K,), with the exponent of source and weights together.
        window: its size is (S, R).
        shift: exponent of the result less those of source and weights.

    Returns:
        int8 (K, rows, pixels).

    Raises:
        InputError: for shapes or dtypes that do not go together.
    """
    check_kernels(source, weights, bias, window)
    check_types(source, weights, bias)
    # Sums of less than 2**39 products of int8 are exact in float64, whose products are fast.
    sums = np.tensordot(weights.astype(np.float64), window.views(source.astype(np.float64)), ((1, 2, 3), (0, 3, 4)))
    return requantise(wrap(sums.astype(np.int64) + bias.astype(np.int64)[:, None, None], _SUM_BITS), shift)


def fully_connected(source: Int8Array, weights: Int8Array, bias: NDArray[np.int32], shift: int) -> Int8Array:
    """Return K sums over all values of the source.

    Args:
        source: int8 of any shape.
        weights: int8, (K, and the source's shape).
        bias: int32 (K,).
        shift: exponent of the result less those of source and weights.

    Returns:
        int8 (K,).

    Raises:
        InputError: for shapes or dtypes that do not go together.
    """
    check_rows(source, weights, bias)
    check_types(source, weights, bias)
    sums = weights.reshape(len(weights), -1).astype(np.int64) @ source.reshape(-1).astype(np.int64)
    return requantise(wrap(sums + bias.astype(np.int64), _SUM_BITS), shift)


def maximum_pooling(source: Int8Array, window: Window) -> Int8Array:
    """Return the largest value of each window; padding takes no part.

    Raises:
        InputError: when a window lies in padding alone.
    """
    check_types(source)
    check_windows(source, window)
    largest: Int8Array = window.views(source, -128).max(axis=(3, 4))
    return largest


def average_pooling(source: Int8Array, window: Window, source_exponent: int, exponent: int) -> Int8Array:
    """Return the average of each window, halves up; padding counts as 0 and as positions.

    Args:
        source: int8 (Z, Y, X).
        window: size, stride and padding.
        source_exponent: exponent of the source.
        exponent: exponent of the result.

    Raises:
        InputError: for exponents too far from each other.
    """
    check_types(source)
    distance = _distance("source_exponent less exponent", source_exponent - exponent)
    sums = window.views(source.astype(np.int64)).sum(axis=(3, 4)) << max(distance, 0)
    divisor = window.positions << max(-distance, 0)
    return saturate((2 * sums + divisor) // (2 * divisor), 8).astype(np.int8)


def addition(first: Int8Array, second: Int8Array, exponents: tuple[int, int], exponent: int) -> Int8Array:
    """Return the sum of two arrays of one shape.

    Args:
        first: int8.
        second: int8 of the same shape.
        exponents: those of both.
        exponent: exponent of the result.

    Raises:
        InputError: for different shapes, and for exponents too far from each other.
    """
    check_types(first, second)
    check_same(first, second)
    _distance("difference of exponents", exponents[0] - exponents[1])
    least = min(exponents)
    sums = (first.astype(np.int64) << exponents[0] - least) + (second.astype(np.int64) << exponents[1] - least)
    return requantise(wrap(sums, _SUM_BITS), exponent - least)


def requantise(sums: NDArray[np.int64], shift: int) -> Int8Array:
    """Return 32-bit sums divided by ``2**shift``, halves up, limited to int8.

    Args:
        sums: int64 of at most 32 bits.
        shift: limited to -31..47 first.
    """
    limited = min(max(shift, _SHIFTS[0]), _SHIFTS[1])
    if limited > 0:
        return saturate((sums + (1 << limited - 1)) >> limited, 8).astype(np.int8)
    return saturate(sums << -limited, 8).astype(np.int8)


def check_kernels(source: NDArray[Any], weights: NDArray[Any], bias: NDArray[Any], window: Window) -> None:
    """Check the shapes of a convolution.

    Raises:
        InputError: when they do not go together.
    """
    if source.ndim != 3:
        raise InputError(f"source must be (Z, Y, X), not {source.shape}")
    wanted = (len(weights), source.shape[0], window.height, window.width)
    if weights.shape != wanted:
        raise InputError(f"weights must be (K, Z, R, S) = {wanted}, not {weights.shape}")
    _check_bias(weights, bias)


def check_rows(source: NDArray[Any], weights: NDArray[Any], bias: NDArray[Any]) -> None:
    """Check the shapes of a fully connected layer.

    Raises:
        InputError: when they do not go together.
    """
    if weights.shape[1:] != source.shape:
        raise InputError(f"weights must be (K, *{source.shape}), not {weights.shape}")
    _check_bias(weights, bias)


def check_same(first: NDArray[Any], second: NDArray[Any]) -> None:
    """Check the shapes of an addition.

    Raises:
        InputError: when they differ.
    """
    if first.shape != second.shape:
        raise InputError(f"second must have the shape {first.shape} of the first, not {second.shape}")


def check_windows(source: NDArray[Any], window: Window) -> None:
    """Check that each window has a position in the image.

    Raises:
        InputError: when one has none.
    """
    inside = window.views(np.ones((1, *source.shape[1:]), dtype=np.bool_))
    if not inside.any(axis=(3, 4)).all():
        raise InputError("each window of a maximum must have a position in the image, but one lies in padding alone")


def check_types(source: NDArray[Any], other: NDArray[Any] | None = None, bias: NDArray[Any] | None = None) -> None:
    """Check the dtypes of operands.

    Raises:
        InputError: for values that are no int8, and a bias that is no int32.
    """
    for name, array, dtype in (
        ("source", source, "int8"),
        ("weights or second", other, "int8"),
        ("bias", bias, "int32"),
    ):
        if array is not None and array.dtype != np.dtype(dtype):
            raise InputError(f"{name} must be {dtype}, not {array.dtype}")


def _check_bias(weights: NDArray[Any], bias: NDArray[Any]) -> None:
    if bias.shape != (len(weights),):
        raise InputError(f"bias must be (K,) = {(len(weights),)}, not {bias.shape}")


def _distance(name: str, value: int) -> int:
    check_range(name, value, -EXPONENT_DISTANCE, EXPONENT_DISTANCE)
    return value
