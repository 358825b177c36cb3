"""Data types of the NVDLA pipelines: dtype and limits of one element.

Source: precision document; measurements on the public RTL where the two differ.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np

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
