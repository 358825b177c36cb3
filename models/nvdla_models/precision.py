"""Data types of the NVDLA pipelines: dtype and limits of one element.

Source: precision document; measurements on the public RTL where the two differ.
"""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
import numpy.typing as npt

from nvdla_models.arithmetic import limits
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16


class Precision(Enum):
    """Data type of a feature, weight or operand element in memory.

    ::

        dst = bench.reserve((16, 6, 6), Precision.FP16)
    """

    INT8 = "int8"
    INT16 = "int16"
    FP16 = "fp16"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The little-endian numpy dtype of one element in memory."""
        return np.dtype({"int8": "i1", "int16": "<i2", "fp16": "<f2"}[self.value])

    @property
    def pattern_dtype(self) -> np.dtype[Any]:
        """The numpy dtype in which the engines take an element: that in memory, but bit patterns of FP16."""
        return FP16.dtype if self is Precision.FP16 else self.dtype

    @classmethod
    def of(cls, dtype: np.dtype[Any]) -> Precision:
        """Return the precision of a numpy dtype.

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


def check_cube_array(cube: npt.NDArray[Any], *dtypes: np.dtype[Any]) -> None:
    """Refuse a cube of other dtypes or axes than an engine takes.

    Raises:
        InputError: naming what is allowed.
    """
    if cube.dtype not in dtypes:
        raise InputError(f"cube must be {' or '.join(map(str, dtypes))}, not {cube.dtype}")
    if cube.ndim != 3:
        raise InputError(f"cube must have the axes (C, H, W), not {cube.ndim} axes")
