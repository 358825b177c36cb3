"""One arithmetic step of the FP16 pipelines: exact result, one rounding, NaN and zero signs by rule.

Operands and results are bit patterns of one internal format, of shapes that broadcast.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from nvdla_models.fp16 import BitsArray, FloatFormat

Float64Array = npt.NDArray[np.float64]


def add(data: BitsArray, operand: BitsArray, fmt: FloatFormat) -> BitsArray:
    """Return ``data + operand`` rounded to ``fmt``.

    A sum of two equal magnitudes of opposite sign is a zero with the sign of ``data``; a sum below
    the smallest normal number is a zero with the sign of the exact sum.

    The adders have no infinity: the pattern counts as the next power of two after the largest number, and
    only a carry out of the larger operand's exponent saturates. So a sum with that pattern may be one of NaN.

    Source: measured on the public nv_full RTL; infinities on its adders alone.
    """
    total = _apply(data, operand, fmt, _sum_with_the_sign_of_the_data)
    data, operand = np.broadcast_arrays(data, operand)
    beyond = (fmt.is_infinite(data) | fmt.is_infinite(operand)) & ~fmt.is_nan(data) & ~fmt.is_nan(operand)
    if beyond.any():
        total[beyond] = _sum_beyond(data[beyond], operand[beyond], total[beyond], fmt)
    return total


def _sum_beyond(data: BitsArray, operand: BitsArray, clipped: BitsArray, fmt: FloatFormat) -> BitsArray:
    """Return sums with an infinite operand: those that carry out of no exponent are not clipped.

    An operand does not count when its exponent is so much smaller that the adder shifts all of it out.
    """
    window = 2 * (fmt.mantissa_bits + 1)
    least = (fmt.infinity_bits >> fmt.mantissa_bits) - window << fmt.mantissa_bits
    halves = [np.where((bits & (fmt.sign_bit - 1)) < least, 0, fmt.decode(bits)) / 2 for bits in (data, operand)]
    half = halves[0] + halves[1]
    carried = fmt.max_value + fmt.epsilon * 2.0 ** (fmt.bias - 1)
    beyond = (np.abs(half) >= 2.0**fmt.bias) & (np.abs(half) < carried)
    return np.where(beyond, fmt.encode(half) + fmt.dtype.type(1 << fmt.mantissa_bits), clipped).astype(fmt.dtype)


def subtract(data: BitsArray, operand: BitsArray, fmt: FloatFormat) -> BitsArray:
    """Return ``data - operand`` rounded to ``fmt``; a NaN operand keeps its own sign."""
    negative = operand ^ fmt.dtype.type(fmt.sign_bit)
    return add(data, np.where(fmt.is_nan(operand), operand, negative).astype(fmt.dtype), fmt)


def multiply(data: BitsArray, operand: BitsArray, fmt: FloatFormat) -> BitsArray:
    """Return ``data * operand`` rounded to ``fmt``; the sign is the exclusive or of the signs.

    Source: measured on the public nv_full RTL (0 times infinity is a zero, not a NaN).
    """
    return _apply(data, operand, fmt, np.multiply)


def maximum(data: BitsArray, operand: BitsArray, fmt: FloatFormat) -> BitsArray:
    """Return the larger pattern; +0 is larger than -0.

    Source: measured on the public nv_full RTL.
    """
    return _select(data, operand, fmt, larger=True)


def minimum(data: BitsArray, operand: BitsArray, fmt: FloatFormat) -> BitsArray:
    """Return the smaller pattern; -0 is smaller than +0.

    Source: measured on the public nv_full RTL.
    """
    return _select(data, operand, fmt, larger=False)


def relu(data: BitsArray, fmt: FloatFormat) -> BitsArray:
    """Return +0 for every negative pattern, -0 included; NaN of either sign passes.

    Source: precision document, "Activation"; NaN and -0 measured on the public nv_full RTL.
    """
    negative = (data & fmt.dtype.type(fmt.sign_bit)) != 0
    return np.where(negative & ~fmt.is_nan(data), 0, data).astype(fmt.dtype)


def prelu(data: BitsArray, slope: BitsArray, fmt: FloatFormat) -> BitsArray:
    """Return ``data * slope`` where the sign bit is set; everything else passes.

    Source: measured on the public nv_full RTL.
    """
    negative = (data & fmt.dtype.type(fmt.sign_bit)) != 0
    return np.where(negative, multiply(data, slope, fmt), data).astype(fmt.dtype)


def _sum_with_the_sign_of_the_data(data: Float64Array, operand: Float64Array) -> Float64Array:
    return np.where(data == -operand, np.copysign(0.0, data), data + operand)


def _apply(
    data: BitsArray, operand: BitsArray, fmt: FloatFormat, step: Callable[[Float64Array, Float64Array], Float64Array]
) -> BitsArray:
    """Round ``step`` on the values; a NaN of the data wins over one of the operand."""
    data, operand = np.broadcast_arrays(data, operand)
    data_nan, operand_nan = fmt.is_nan(data), fmt.is_nan(operand)
    nan = data_nan | operand_nan
    left = np.where(nan, 0.0, fmt.decode(data))
    right = np.where(nan, 0.0, fmt.decode(operand))
    result = fmt.encode(step(left, right))
    return np.where(data_nan, data, np.where(operand_nan, operand, result)).astype(fmt.dtype)


def _select(data: BitsArray, operand: BitsArray, fmt: FloatFormat, larger: bool) -> BitsArray:
    data, operand = np.broadcast_arrays(data, operand)
    data_first = _order(data, fmt) >= _order(operand, fmt)
    chosen = np.where(data_first == larger, data, operand)
    chosen = np.where(fmt.is_nan(operand), operand, chosen)
    return np.where(fmt.is_nan(data), data, chosen).astype(fmt.dtype)


def _order(bits: BitsArray, fmt: FloatFormat) -> npt.NDArray[np.int64]:
    """Map sign and magnitude to an integer of the same order, -0 just below +0."""
    pattern = bits.astype(np.int64)
    magnitude = pattern & (fmt.sign_bit - 1)
    return np.where(pattern & fmt.sign_bit, -1 - magnitude, magnitude)
