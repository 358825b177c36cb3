"""Data types of the NVDLA pipelines: dtype, limits, rounding and saturation of one element.

Source: precision document; measurements on the public RTL where the two differ.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from models.arithmetic import limits
from models.errors import InputError
from models.fp16 import FP16


class Precision(Enum):
    """A data type that a feature, weight or operand element can have in memory."""

    INT8 = "int8"
    INT16 = "int16"
    FP16 = "fp16"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The little-endian numpy dtype of one element in memory."""
        return np.dtype({"int8": "i1", "int16": "<i2", "fp16": "<f2"}[self.value])

    @classmethod
    def of(cls, dtype: np.dtype[Any]) -> Precision:
        """Return the precision whose elements are of a numpy dtype.

        Raises:
            InputError: when there is none.
        """
        for precision in cls:
            if precision.dtype == dtype:
                return precision
        raise InputError(f"dtype must be one of {', '.join(str(p.dtype) for p in cls)}, not {dtype}")

    @property
    def nbytes(self) -> int:
        """Bytes of one element."""
        return self.dtype.itemsize

    @property
    def bits(self) -> int:
        """Bits of one element."""
        return 8 * self.nbytes

    @property
    def limits(self) -> tuple[int, int]:
        """Smallest and largest value that the hardware writes; FP16 output is never infinite."""
        largest = int(FP16.max_value)
        return (-largest, largest) if self is Precision.FP16 else limits(self.bits)

    def quantise(self, values: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Round and saturate real numbers to this precision.

        Integers round half away from zero, FP16 to the nearest even; both saturate at :attr:`limits`.

        Args:
            values: float64, any shape.

        Returns:
            Same shape, this precision's dtype.

        Raises:
            InputError: when a value is NaN.

        Source: precision document, "Converter"; formats document, "Rounding".
        """
        if np.isnan(values).any():
            raise InputError(f"values to round to {self.name} must not be NaN")
        if self is Precision.FP16:
            return FP16.encode(values).view(self.dtype)
        low, high = self.limits
        # Clipped first: adding a half to 2**52 + 1 would already round in float64.
        clipped = np.clip(values, low, high)
        whole = np.trunc(clipped)
        step = np.where(np.abs(clipped - whole) >= 0.5, np.copysign(1.0, clipped), 0.0)
        quantised: npt.NDArray[Any] = np.clip(whole + step, low, high).astype(self.dtype)
        return quantised
