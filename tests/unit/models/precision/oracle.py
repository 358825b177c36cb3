"""Slow, literal arithmetic on single numbers, to compare the vectorised code against."""

from __future__ import annotations

from fractions import Fraction

from nvdla_models.fp16 import FloatFormat


def half_away(value: Fraction) -> int:
    """Round to an integer, ties away from zero."""
    whole = int(abs(value) + Fraction(1, 2))
    return whole if value >= 0 else -whole


def leading(number: Fraction) -> int:
    """Return the exponent of the leading bit."""
    guess = abs(number.numerator).bit_length() - number.denominator.bit_length()
    return guess if abs(number) >= Fraction(2) ** guess else guess - 1


def decode(pattern: int, fmt: FloatFormat) -> Fraction:
    """Return the value of a finite pattern, by the definition of the format."""
    fraction = pattern % 2**fmt.mantissa_bits
    field = pattern // 2**fmt.mantissa_bits % 2**fmt.exponent_bits
    sign = -1 if pattern >= fmt.sign_bit else 1
    if field == 0 and (fmt.denormals or fraction == 0):
        return sign * Fraction(fraction, 2**fmt.mantissa_bits) * Fraction(2) ** (1 - fmt.bias)
    return sign * (1 + Fraction(fraction, 2**fmt.mantissa_bits)) * Fraction(2) ** (field - fmt.bias)


def encode(value: Fraction, fmt: FloatFormat, negative_zero: bool = False, gradual: bool | None = None) -> int:
    """Return the pattern nearest to ``value``, ties to even, clipped, step by step."""
    sign = fmt.sign_bit if value < 0 or (value == 0 and negative_zero) else 0
    magnitude = abs(value)
    if magnitude == 0:
        return sign
    exponent = leading(magnitude)
    if fmt.denormals if gradual is None else gradual:
        exponent = max(exponent, 1 - fmt.bias)
    unit = Fraction(2) ** (exponent - fmt.mantissa_bits)
    steps = magnitude / unit
    below = steps.numerator // steps.denominator
    rest = steps - below
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and below % 2 == 1):
        below += 1
    rounded = below * unit
    largest = (2 - Fraction(1, 2**fmt.mantissa_bits)) * Fraction(2) ** fmt.bias
    smallest_normal = Fraction(2) ** (1 - fmt.bias)
    rounded = min(rounded, largest)
    if rounded < smallest_normal:
        return sign + (int(rounded / smallest_normal * 2**fmt.mantissa_bits) if fmt.denormals else 0)
    exponent = leading(rounded)
    fraction = rounded / Fraction(2) ** exponent - 1
    return sign + (exponent + fmt.bias) * 2**fmt.mantissa_bits + int(fraction * 2**fmt.mantissa_bits)


def is_nan(pattern: int, fmt: FloatFormat) -> bool:
    """Tell whether a pattern is NaN."""
    return pattern % fmt.sign_bit > fmt.infinity_bits


def add(data: int, operand: int, fmt: FloatFormat) -> int:
    """Add two patterns by the rules."""
    if is_nan(data, fmt):
        return data
    if is_nan(operand, fmt):
        return operand
    total = decode(data, fmt) + decode(operand, fmt)
    if total == 0:
        return data // fmt.sign_bit * fmt.sign_bit
    return encode(total, fmt)


def multiply(data: int, operand: int, fmt: FloatFormat) -> int:
    """Multiply two patterns by the rules."""
    if is_nan(data, fmt):
        return data
    if is_nan(operand, fmt):
        return operand
    negative = (data >= fmt.sign_bit) != (operand >= fmt.sign_bit)
    return encode(decode(data, fmt) * decode(operand, fmt), fmt, negative_zero=negative)
