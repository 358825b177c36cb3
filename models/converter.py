"""Converter, truncation and shifter of the integer pipelines, and their saturation counters.

int64 is exact: data of at most 40 bits minus a 32-bit offset, times a 16-bit scale, is below
2**57; :func:`models.arithmetic.shift_right_rounded` takes up to 2**62.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from models.arithmetic import HARDWARE, Rules, check_range, limits, saturate, shift_right_rounded
from models.errors import InputError
from models.fp16 import FP16, integer_to_fp16
from models.precision import Precision

INTERMEDIATE_BITS = 17
"""Bits between the shift and the output format: room for INT16 and for ±65504."""

INPUT_BITS = 40

OUTPUT_BITS = {Precision.INT8: 8, Precision.INT16: 16}


class ConverterEncoding(Enum):
    """Bits of offset (signed), scale (signed) and shift (unsigned), per converter.

    ``PUBLISHED`` is the table of the precision document; the others are the registers of the real
    hardware, where a shift of 63 works.

    Source: precision document, "Programming interface"; register map; shift of 63 measured on the
        public nv_full RTL.
    """

    PUBLISHED = ("precision document", 32, 16, 5)
    CDMA_INPUT = ("cc_cvt", 16, 16, 6)
    SDP_OPERAND = ("ew_inv_cvt", 32, 16, 6)
    SDP_OUTPUT = ("SDP output converter", 32, 16, 6)
    CDP_INPUT = ("cdp_in_cvt", 16, 16, 5)
    CDP_OUTPUT = ("cdp_out_cvt", 32, 16, 6)

    @property
    def offset_range(self) -> tuple[int, int]:
        """Smallest and largest offset."""
        return limits(self.value[1])

    @property
    def scale_range(self) -> tuple[int, int]:
        """Smallest and largest scale."""
        return limits(self.value[2])

    @property
    def shift_range(self) -> tuple[int, int]:
        """Smallest and largest shift."""
        return 0, (1 << self.value[3]) - 1


@dataclass(frozen=True)
class Converter:
    """``y = saturate(round((x - offset) * scale >> shift))``.

    The document's formula encloses only ``x - offset`` in ``saturation_round``; rounding and
    saturation act on the whole, as its text says and the hardware does.

    Args:
        offset: subtracted first.
        scale: multiplied.
        shift: right shift, rounded half away from zero.
        encoding: which converter, and so which widths.

    Raises:
        InputError: when a value does not fit its register.

    Source: precision document, "Converter" and "Converter programming".
    """

    offset: int
    scale: int
    shift: int
    encoding: ConverterEncoding

    def __post_init__(self) -> None:
        check_range("offset", self.offset, *self.encoding.offset_range)
        check_range("scale", self.scale, *self.encoding.scale_range)
        check_range("shift", self.shift, *self.encoding.shift_range)

    def scaled(self, values: npt.NDArray[Any], rules: Rules = HARDWARE) -> npt.NDArray[np.int64]:
        """Return offset, scale and rounded shift, before any saturation.

        Args:
            values: integers of at most 40 bits, any shape.
            rules: rules of rounding.

        Returns:
            int64, same shape.

        Raises:
            InputError: when the values are no integers or wider.
        """
        return shift_right_rounded(self._multiplied(values), self.shift, rules)

    def exceeds(self, values: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        """Mark values that leave the 17 bits by more than one before they are rounded: nv_full counts those.

        Source: measured on the converter of SDP of the public nv_full RTL alone, 19,200 outputs.
        """
        low, high = limits(INTERMEDIATE_BITS)
        cut_off = self._multiplied(values) >> self.shift
        exceeding: npt.NDArray[np.bool_] = (cut_off > high + 1) | (cut_off < low - 1)
        return exceeding

    def _multiplied(self, values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
        if values.dtype.kind not in "iu":
            raise InputError(f"values must be integers, not {values.dtype}: FP16 has no converter")
        wide = values.astype(np.int64, copy=False)
        low, high = limits(INPUT_BITS)
        for extreme in (int(wide.min()), int(wide.max())) if wide.size else ():
            if not low <= extreme <= high:
                raise InputError(f"values must be from {low} to {high}, not {extreme}")
        product: npt.NDArray[np.int64] = (wide - self.offset) * self.scale
        return product

    def to_width(self, values: npt.NDArray[Any], bits: int, rules: Rules = HARDWARE) -> npt.NDArray[np.int64]:
        """Convert to an internal width: 32 bits for an SDP operand, 17 or 9 for the CDP's input.

        Args:
            values: integers, any shape.
            bits: bits of the signed result.
            rules: rules of rounding and saturation.

        Returns:
            int64, same shape.

        Source: measured on the public nv_full RTL (Y operands, CDP INT16 and INT8).
        """
        return saturate(self.scaled(values, rules), bits, rules)

    def convert(self, values: npt.NDArray[Any], target: Precision, rules: Rules = HARDWARE) -> npt.NDArray[Any]:
        """Convert to a memory format, through the 17 bits that the hardware keeps between.

        Args:
            values: integers, any shape.
            target: INT8, INT16, or FP16 (nearest even).
            rules: rules of rounding and saturation.

        Returns:
            int8, int16, or uint16 FP16 patterns, same shape.

        Source: precision document, "Converter programming", INT->INT and INT->FP16; formats document,
            Equation 1; measured on the public nv_full RTL (all 65,536 INT16 inputs).
        """
        middle = saturate(self.scaled(values, rules), INTERMEDIATE_BITS, rules)
        if target is Precision.FP16:
            return integer_to_fp16(middle)
        return saturate(middle, OUTPUT_BITS[target], rules).astype(target.dtype)

    def saturation_count(self, values: npt.NDArray[Any], target: Precision) -> int:
        """Count the saturated outputs as nv_full's SDP does.

        Integer outputs count when they exceed the 17 bits, not the output's 8 or 16, see :meth:`exceeds`; FP16
        outputs count when their magnitude is 65504.

        Source: measured on the public nv_full RTL; the document defines the overflow of each format but
            restricts the counter to FP16.
        """
        if target is Precision.FP16:
            return saturated_fp16(self.convert(values, target))
        return int(np.count_nonzero(self.exceeds(values)))


def truncate(values: npt.NDArray[np.int64], lsb: int, output_bits: int) -> npt.NDArray[np.int64]:
    """Return ``saturate(round(x >> lsb))``: bits ``lsb`` to ``lsb + output_bits - 1``.

    The document sets ``msb = lsb + output_bits``, which is one bit too many for an inclusive range.

    Args:
        values: int64 below 2**62 in magnitude, any shape.
        lsb: 0 to 63.
        output_bits: bits of the signed result, 2 to 63.

    Raises:
        InputError: when ``lsb`` or ``output_bits`` is out of range.

    Source: precision document, "Truncate"; measured on the public nv_full RTL.
    """
    return saturate(shift_right_rounded(values, lsb), output_bits)


def saturated_fp16(bits: npt.NDArray[np.uint16]) -> int:
    """Count FP16 values of magnitude 65504 or more, exact results included.

    Source: precision document, "Converter statistics"; measured on the public nv_full RTL.
    """
    return int(np.count_nonzero(((bits & 0x7FFF) >= FP16.infinity_bits - 1) & ~FP16.is_nan(bits)))


def overflow_count(values: npt.NDArray[np.int64], bits: int) -> int:
    """Count the integers that a ``bits``-bit signed number cannot hold.

    Args:
        values: int64 before saturation, any shape.
        bits: 8, 16 or 32; the SDP's converter counts with 17.

    Source: precision document, "Converter statistics".
    """
    return int(np.count_nonzero(values != saturate(values, bits)))
