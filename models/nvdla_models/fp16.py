"""FP16, FP17 and FP32 as the FP16 pipelines use them: rounding, infinity, NaN, denormals.

Values travel as bit patterns (``uint16`` for FP16, ``uint32`` for the internal FP17 and FP32),
because a NaN's payload and a zero's sign are part of the result and numpy keeps neither.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from nvdla_models.errors import InputError

BitsArray = npt.NDArray[np.uint16] | npt.NDArray[np.uint32]


@dataclass(frozen=True)
class FloatFormat:
    """A binary floating-point format of one sign bit, an exponent and a fraction.

    Args:
        name: as the documents call it.
        exponent_bits: bits of the biased exponent.
        mantissa_bits: bits of the stored fraction, without the hidden bit.
        denormals: whether a result below the smallest normal number is kept as a denormal
            (memory formats) or becomes a zero of the same sign (internal formats).

    Source: precision document and formats document, "FP16 Supporting".
    """

    name: str
    exponent_bits: int
    mantissa_bits: int
    denormals: bool

    @property
    def bias(self) -> int:
        """The number that is subtracted from the exponent field."""
        return (1 << (self.exponent_bits - 1)) - 1

    @property
    def dtype(self) -> np.dtype:
        """The numpy dtype of a bit pattern."""
        return np.dtype(np.uint16 if self.sign_bit < 1 << 16 else np.uint32)

    @property
    def sign_bit(self) -> int:
        """The pattern of minus zero."""
        return 1 << (self.exponent_bits + self.mantissa_bits)

    @property
    def infinity_bits(self) -> int:
        """The pattern of plus infinity: all exponent bits set, no fraction."""
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

    @property
    def max_value(self) -> float:
        """The largest finite value."""
        return math.ldexp(2.0 - math.ldexp(1.0, -self.mantissa_bits), self.bias)

    @property
    def epsilon(self) -> float:
        """The distance from 1 to the next value."""
        return math.ldexp(1.0, -self.mantissa_bits)

    def is_nan(self, bits: BitsArray) -> npt.NDArray[np.bool_]:
        """Mark the NaN patterns of an array of any shape."""
        nan: npt.NDArray[np.bool_] = (_checked(self, bits) & (self.sign_bit - 1)) > self.infinity_bits
        return nan

    def is_infinite(self, bits: BitsArray) -> npt.NDArray[np.bool_]:
        """Mark the patterns of plus and minus infinity."""
        infinite: npt.NDArray[np.bool_] = (_checked(self, bits) & (self.sign_bit - 1)) == self.infinity_bits
        return infinite

    def decode(self, bits: BitsArray) -> npt.NDArray[np.float64]:
        """Return the exact value of each pattern; NaN stays NaN.

        FP16 infinity stays infinite: its replacement depends on the unit.
        The internal formats have neither infinity nor denormals; there the exponent field is
        always an exponent, so an operand register that holds an FP32 denormal counts as
        ``(1 + fraction) * 2**-127``.

        Source: formats document, "Denormalized value"; the denormal operand measured on the
            public nv_full RTL (an infinite input times 0x00000123 gives 2.0).
        """
        if self.dtype == np.uint16:
            return np.asarray(_values(self)[_checked(self, bits)])
        return self._decode(bits)

    def _decode(self, bits: BitsArray) -> npt.NDArray[np.float64]:
        pattern = _checked(self, bits).astype(np.int64)
        field = (pattern >> self.mantissa_bits) & ((1 << self.exponent_bits) - 1)
        fraction = pattern & ((1 << self.mantissa_bits) - 1)
        hidden = 1 << self.mantissa_bits
        if self.denormals:
            significand = np.where(field == 0, fraction, fraction | hidden)
            exponent = np.maximum(field, 1)
        else:
            significand = np.where((field | fraction) == 0, 0, fraction | hidden)
            exponent = field
        value = np.ldexp(significand.astype(np.float64), (exponent - self.bias - self.mantissa_bits).astype(np.int32))
        if self.denormals:
            value = np.where(self.is_infinite(bits), np.inf, value)
        value = np.where(pattern & self.sign_bit, -value, value)
        return np.where(self.is_nan(bits), np.nan, value)

    def encode(self, values: npt.NDArray[np.float64], gradual: bool | None = None) -> BitsArray:
        """Round to the nearest value, ties to even; clip at the largest finite value.

        A float64 that is itself the rounded result of one addition or multiplication of two
        values of this format is rounded correctly: 53 bits are at least ``2 * 24 + 2``.

        Args:
            values: any shape, float64; infinity is clipped like any other overflow.
            gradual: whether values below the smallest normal number are rounded to multiples of the
                smallest denormal, or to the full number of fraction bits. It decides which values
                just below the smallest normal number still round up to it in a format without
                denormals. Default: whether the format has denormals.

        Returns:
            Bit patterns, same shape.

        Raises:
            InputError: when a value is NaN, whose payload a float64 does not carry.

        Source: formats document, "Rounding" and "Denormalized value"; the published C model of the
            hardware for ``gradual`` (multiplication and fractions: no; narrowing FP32 to FP17: yes).
        """
        wide = np.asarray(values, dtype=np.float64)
        if np.isnan(wide).any():
            raise InputError(f"values to round to {self.name} must not be NaN: carry NaN as a bit pattern")
        hidden = 1 << self.mantissa_bits
        magnitude = np.minimum(np.abs(wide), self.max_value)
        # One exponent below the normal range is enough to see whether rounding carries into it.
        lowest = 1 - self.bias if (self.denormals if gradual is None else gradual) else -self.bias
        # frexp returns a fraction in [0.5, 1): the exponent of the leading bit is one less.
        exponent = np.maximum(np.frexp(magnitude)[1] - 1, lowest)
        steps = np.rint(np.ldexp(magnitude, self.mantissa_bits - exponent)).astype(np.int64)
        # The hidden bit in `steps` adds the 1 that is subtracted from the field here.
        pattern = steps + ((exponent + self.bias - 1).astype(np.int64) << self.mantissa_bits)
        pattern = np.where((steps == 0) | (pattern < (1 if self.denormals else hidden)), 0, pattern)
        return (pattern | np.where(np.signbit(wide), self.sign_bit, 0)).astype(self.dtype)


FP16 = FloatFormat("FP16", 5, 10, denormals=True)
FP17 = FloatFormat("FP17", 6, 10, denormals=False)
FP32 = FloatFormat("FP32", 8, 23, denormals=False)

PAYLOAD_MASK = 0x3FF
"""An FP16 NaN's fraction; it travels in the low bits of the wider formats unchanged."""


@cache
def _values(fmt: FloatFormat) -> npt.NDArray[np.float64]:
    """Return the value of each of the 65,536 patterns of a 16-bit format."""
    return fmt._decode(np.arange(1 << 16, dtype=np.uint16))


def flush_nan(bits: BitsArray, fmt: FloatFormat = FP16) -> BitsArray:
    """Replace every NaN by +0, as NAN_TO_ZERO does before anything else sees the data.

    Source: formats document, "NaN".
    """
    return np.where(fmt.is_nan(bits), 0, bits).astype(fmt.dtype)


def widen(bits: BitsArray, target: FloatFormat, source: FloatFormat = FP16) -> BitsArray:
    """Convert patterns to a wider internal format, exactly.

    FP16 denormals become normal numbers, infinity the largest finite value; a NaN keeps its sign
    and its payload, which stays in the low bits of the fraction.

    Args:
        bits: patterns of ``source``, any shape.
        target: :data:`FP17` or :data:`FP32`.
        source: :data:`FP16` or :data:`FP17`.

    Source: formats document, "FP16 Supporting"; measured on the public nv_full RTL (all 65,536
        patterns).
    """
    nan = source.is_nan(bits)
    value = np.where(nan, 0.0, source.decode(bits))
    return np.where(nan, nan_bits(bits, source, target), target.encode(value)).astype(target.dtype)


def narrow(bits: BitsArray, source: FloatFormat, target: FloatFormat = FP16) -> BitsArray:
    """Round an internal format to a narrower one: nearest even, clipped to the largest value.

    Args:
        bits: patterns of ``source``, any shape.
        source: :data:`FP17` or :data:`FP32`.
        target: :data:`FP16` (with denormals) or :data:`FP17`.

    Source: formats document, "Rounding": results above the largest value are clipped to ±65504.
    """
    nan = source.is_nan(bits)
    value = np.where(nan, 0.0, source.decode(bits))
    return np.where(nan, nan_bits(bits, source, target), target.encode(value, gradual=True)).astype(target.dtype)


def nan_bits(bits: BitsArray, source: FloatFormat, target: FloatFormat) -> BitsArray:
    """Return the NaN of ``target`` with the sign and the ten payload bits of each pattern."""
    pattern = bits.astype(np.uint32)
    sign = np.where(pattern & np.uint32(source.sign_bit), target.sign_bit, 0)
    return (sign | target.infinity_bits | (pattern & PAYLOAD_MASK)).astype(target.dtype)


def integer_to_fp16(values: npt.NDArray[np.int64]) -> BitsArray:
    """Convert integers to FP16: nearest even, clipped to ±65504.

    Args:
        values: any shape; exact as float64, so at most 2**53 in magnitude.

    Raises:
        InputError: when a value is larger.

    Source: formats document, Equation 1 ``int2fp``; measured on the public nv_full RTL.
    """
    if values.size and int(np.abs(values).max()) > 1 << 53:
        raise InputError(f"values must be at most 2**53 in magnitude, not {int(np.abs(values).max())}")
    return FP16.encode(values.astype(np.float64))


def fp16_to_int16(bits: BitsArray) -> npt.NDArray[np.int16]:
    """Convert FP16 to INT16: half away from zero, saturated; NaN gives -32768.

    Infinity is clipped to ±65504 before and so saturates too. FP16 to INT8 does not exist.

    Source: formats document, Table 30; measured on the public nv_full RTL (all 65,536 patterns).
    """
    nan = FP16.is_nan(bits)
    value = np.where(nan, -32768.0, FP16.decode(bits))
    rounded = np.trunc(value + np.copysign(0.5, value))
    saturated: npt.NDArray[np.int16] = np.clip(rounded, -32768, 32767).astype(np.int16)
    return saturated


def count_nan(bits: npt.NDArray[np.uint16]) -> int:
    """Count NaN in FP16 patterns, before any flush.

    Source: formats document, "NaN"; measured on the public nv_full RTL (a flush does not change it).
    """
    return int(np.count_nonzero(FP16.is_nan(bits)))


def count_infinity(bits: npt.NDArray[np.uint16]) -> int:
    """Count plus and minus infinity in FP16 patterns.

    Source: unit description, "Result statistics".
    """
    return int(np.count_nonzero(FP16.is_infinite(bits)))


def _checked(fmt: FloatFormat, bits: BitsArray) -> BitsArray:
    if bits.dtype != fmt.dtype:
        raise InputError(f"{fmt.name} patterns must have dtype {fmt.dtype}, not {bits.dtype}")
    return bits
