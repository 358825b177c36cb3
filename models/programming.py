"""Values that a programmer derives from scaling factors: shifts, offsets, padding and converters.

An encoding maps a real number x to ``(x - offset) * scale``. Numbers are exact fractions, so "must be a
power of two" is decided exactly; ints and floats are accepted and taken at their exact value.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from models.arithmetic import MAX_SHIFT, check_range
from models.converter import Converter, ConverterEncoding
from models.errors import InputError
from models.precision import Precision

Number = int | float | Fraction


@dataclass(frozen=True)
class Affine:
    """An encoding ``x' = (x - offset) * scale``.

    Raises:
        InputError: when the scale is zero.

    Source: precision document, "Convolution converters" ("x' = (x - offset) * SF").
    """

    offset: Fraction
    scale: Fraction

    def __post_init__(self) -> None:
        if self.scale == 0:
            raise InputError("scale must not be 0")

    @classmethod
    def of(cls, offset: Number, scale: Number) -> Affine:
        """Build an encoding from numbers of any kind."""
        return cls(Fraction(offset), Fraction(scale))

    def encode(self, value: Number) -> Fraction:
        """Return the encoded value of a real number."""
        return (Fraction(value) - self.offset) * self.scale

    def then(self, following: Affine) -> Affine:
        """Return this encoding followed by another, as one.

        Source: precision document, "Element wise": offset O + O' / SF, scale SF * SF'.
        """
        return Affine(self.offset + following.offset / self.scale, self.scale * following.scale)

    def to(self, target: Affine) -> Affine:
        """Return the encoding that must follow this one to reach ``target``: the inverse of :meth:`then`."""
        return Affine((target.offset - self.offset) * self.scale, target.scale / self.scale)


def bias_shift(
    in_scale: Number, weight_scale: Number, bias_scale: Number, cc_out_trunc: int, pra_trunc: int = 0
) -> int:
    """Return ``bs_trunc``: the left shift that makes a bias addable to the convolution's result.

    Args:
        in_scale: SF of the input.
        weight_scale: SF of the weights.
        bias_scale: SF of the bias in memory.
        cc_out_trunc: right shift of the accumulator.
        pra_trunc: right shift of the Winograd input transform; 0 for direct convolution.

    Raises:
        InputError: when no shift of 0 to 63 bits satisfies the equation.

    Source: precision document, "Convolution converters",
        SF_bs * 2^bs_trunc = SF_in * SF_wt / 2^(pra_trunc + cc_out_trunc).
    """
    check_range("cc_out_trunc", cc_out_trunc, 0, 31)
    check_range("pra_trunc", pra_trunc, 0, 3)
    result = Fraction(in_scale) * Fraction(weight_scale) / (1 << (pra_trunc + cc_out_trunc))
    return operand_shift(result, bias_scale)


def operand_shift(data_scale: Number, operand_scale: Number) -> int:
    """Return the left shift that gives an ALU operand the scale of the data.

    Raises:
        InputError: when the ratio of the scales is not 2**0 to 2**63.

    Source: precision document, "Batch normalization": SF_in = SF_m * 2^bn_m_shifter.
    """
    ratio = Fraction(data_scale) / Fraction(operand_scale)
    shift = log2_exact(ratio)
    if shift is None or not 0 <= shift <= MAX_SHIFT:
        raise InputError(f"data scale / operand scale must be 2**0 to 2**{MAX_SHIFT} for a left shift, not {ratio}")
    return shift


def padding_value(encoding: Affine, precision: Precision) -> int:
    """Return the padding value of the convolution that means zero.

    Args:
        encoding: encoding of the input.
        precision: precision of the pipeline.

    Returns:
        ``-offset * scale``, rounded half away from zero; 0 for FP16.

    Raises:
        InputError: for FP16 with an offset, or when the value does not fit the precision.

    Source: precision document, "Convolution converters", Padding.
    """
    if precision is Precision.FP16:
        if encoding.offset != 0:
            raise InputError(f"offset must be 0 for FP16, not {encoding.offset}")
        return 0
    value = round_half_away(encoding.encode(0))
    low, high = precision.limits
    if not low <= value <= high:
        raise InputError(f"padding value must be from {low} to {high} for {precision.name}, not {value}")
    return value


def pooling_padding(encoding: Affine, precision: Precision) -> tuple[int, ...]:
    """Return the PDP's seven padding sums: one to seven times the padding value; all 0 for FP16.

    Raises:
        InputError: as :func:`padding_value`.

    Source: precision document, "PDP converters".
    """
    value = padding_value(encoding, precision)
    return tuple(count * value for count in range(1, 8))


def offset_compensation(
    encoding: Affine, weight: npt.NDArray[np.integer], cc_out_trunc: int, pra_trunc: int = 0
) -> npt.NDArray[np.int64]:
    """Return the operand of the SDP's ALU per output channel, so that 0 is 0 again before an activation.

    The weights' scale is inside their encoded values: ``SF_in * offset_in * sum(W_encoded)`` is
    ``SF_in * SF_wt * offset_in * sum(W')`` with the quantisation error of the weights included.

    Args:
        encoding: encoding of the input.
        weight: (K, C, R, S) encoded integer weights.
        cc_out_trunc: right shift of the accumulator.
        pra_trunc: right shift of the Winograd input transform; 0 for direct convolution.

    Returns:
        (K,) int64, rounded half away from zero.

    Raises:
        InputError: when the weights are no integers with the axes (K, C, R, S).

    Source: precision document, "Convolution converters", Activation: the offset of the result is
        SF_in * SF_wt * offset_in * sum(W') / 2^(pra_trunc + cc_out_trunc), per channel.
    """
    if weight.ndim != 4 or weight.dtype.kind not in "iu":
        raise InputError(
            f"weight must be integers with the axes (K, C, R, S), not {weight.dtype} with {weight.ndim} axes"
        )
    check_range("cc_out_trunc", cc_out_trunc, 0, 31)
    check_range("pra_trunc", pra_trunc, 0, 3)
    sums = weight.astype(np.int64).sum(axis=(1, 2, 3))
    factor = encoding.scale * encoding.offset / (1 << (pra_trunc + cc_out_trunc))
    return np.array([round_half_away(factor * int(total)) for total in sums], dtype=np.int64)


class ElementWise(Enum):
    """The operation of an element-wise layer on its two inputs."""

    MAX = "max"
    SUM = "sum"
    PROD = "prod"


def element_wise_alignment(operation: ElementWise, data: Affine, operand: Affine) -> Affine:
    """Return ``ew_inv_cvt``: what must follow the operand's encoding for an element-wise operation.

    Args:
        operation: MAX needs both offset and scale of the data, SUM its scale, PROD no offset.
        data: encoding of the data stream.
        operand: encoding of the operand in memory (``ew_cvt``).

    Returns:
        The converter; with offset 0 and scale 1 it can be bypassed. SUM leaves the operand's own offset,
        PROD its own scale.

    Source: precision document, "Element wise".
    """
    if operation is ElementWise.MAX:
        return operand.to(data)
    if operation is ElementWise.SUM:
        return Affine(Fraction(0), data.scale / operand.scale)
    return Affine(-operand.offset * operand.scale, Fraction(1))


def cdp_input_converter(encoding: Affine, binary_point: int) -> Affine:
    """Return ``cdp_in_cvt``: what makes the LUT input ``x * 2**binary_point``.

    Args:
        encoding: encoding of the CDP's input.
        binary_point: M of the document.

    Source: precision document, "CDP converters": O = -O_in * SF_in, SF = 2^M / SF_in.
    """
    return encoding.to(Affine(Fraction(0), Fraction(2) ** binary_point))


def cdp_output_converter(output: Affine, lut_scale: Number, binary_point: int) -> Affine:
    """Return ``cdp_out_cvt``: what turns ``f(x) * lut_scale * x * 2**binary_point`` into the output.

    Args:
        output: wanted encoding.
        lut_scale: SF of ``cdp_lut_cvt``, by which the entries were multiplied; it has no offset.
        binary_point: M of the document.

    Source: precision document, "CDP converters": O_out = O / (SF_lut * 2^M),
        SF_out = SF_lut * SF * 2^M (printed "SDP" for the second SF).
    """
    return Affine(Fraction(0), Fraction(lut_scale) * Fraction(2) ** binary_point).to(output)


def as_converter(wanted: Affine, encoding: ConverterEncoding) -> tuple[Converter, Affine]:
    """Return the registers that come nearest to a wanted conversion, and what they really do.

    Args:
        wanted: offset and scale, of any fraction.
        encoding: which converter.

    Returns:
        The converter with the largest shift whose scale fits, so the smallest error; and the conversion it
        makes before rounding and saturation.

    Raises:
        InputError: when the offset does not fit, or the scale is so large or so small that no shift helps.

    Source: precision document, "Converter programming".
    """
    offset = round_half_away(wanted.offset)
    low, high = encoding.scale_range
    for shift in range(encoding.shift_range[1], -1, -1):
        scale = round_half_away(wanted.scale * (1 << shift))
        if low <= scale <= high:
            if scale == 0:
                break
            converter = Converter(offset, scale, shift, encoding)
            return converter, Affine(Fraction(offset), Fraction(scale, 1 << shift))
    raise InputError(f"scale must be representable as {low} to {high} >> shift, not {wanted.scale}")


def round_half_away(value: Fraction) -> int:
    """Round to an integer, ties away from zero."""
    whole = (2 * abs(value) + 1).__floor__() // 2
    return whole if value >= 0 else -whole


def log2_exact(value: Fraction) -> int | None:
    """Return the binary logarithm of a power of two, None for anything else."""
    if value <= 0:
        return None
    up, down = value.numerator, value.denominator
    if up & (up - 1) or down & (down - 1):
        return None
    return up.bit_length() - down.bit_length()
