"""The converters of the integer pipelines, and their saturation counter.

int64 is exact: data of at most 40 bits minus a 32-bit offset, times a 16-bit scale, is below
2**57; :func:`nvdla_models.arithmetic.shift_right_rounded` takes up to 2**62.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from nvdla_models.arithmetic import HARDWARE, Rules, check_range, limits, saturate, shift_right_rounded
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16, integer_to_fp16
from nvdla_models.precision import Precision

INTERMEDIATE_BITS = 17
"""Bits between the shift and the output format: room for INT16 and for ±65504."""

INPUT_BITS = 40


class ConverterEncoding(Enum):
    """Bits of offset (signed), scale (signed) and shift (unsigned), per converter.

    Source: register map, where the precision document, "Programming interface", has 32, 16 and 5 bits for all;
        shift of 63 measured on the public nv_full RTL.
    """

    CDMA_INPUT = ("cc_cvt", 16, 16, 6)
    SDP_OPERAND = ("ew_inv_cvt", 32, 16, 6)
    SDP_OUTPUT = ("SDP output converter", 32, 16, 6)
    CDP_INPUT = ("cdp_in_cvt", 16, 16, 5)
    CDP_OUTPUT = ("cdp_out_cvt", 32, 16, 6)


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
        _, offset_bits, scale_bits, shift_bits = self.encoding.value
        check_range("offset", self.offset, *limits(offset_bits))
        check_range("scale", self.scale, *limits(scale_bits))
        check_range("shift", self.shift, 0, (1 << shift_bits) - 1)

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
        return to_memory(saturate(self.scaled(values, rules), INTERMEDIATE_BITS, rules), target, rules)


def to_memory(middle: npt.NDArray[np.int64], target: Precision, rules: Rules = HARDWARE) -> npt.NDArray[Any]:
    """Return numbers of the 17 bits between shift and output as int8, int16, or uint16 FP16 patterns."""
    if target is Precision.FP16:
        return integer_to_fp16(middle)
    return saturate(middle, target.bits, rules).astype(target.dtype)


def saturated_fp16(bits: npt.NDArray[np.uint16]) -> int:
    """Count FP16 values of magnitude 65504, exact results included.

    The hardware compares each number that it writes with the patterns 0x7BFF and 0xFBFF: neither NaN nor 0x7C00 counts.
    0x7C00 is written for an FP32 NaN whose ten low bits of the fraction are 0, which adders that know no infinity
    make of an infinite register operand of SDP's Y.

    Source: precision document, "Converter statistics"; read off the public nv_full RTL: statistics of saturation in
        SDP's core and CDP's output converter. Counts without 0x7C00 were measured there; with it only one is known.
    """
    return int(np.count_nonzero((bits & 0x7FFF) == FP16.infinity_bits - 1))
