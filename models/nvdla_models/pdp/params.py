"""The program of a PDP layer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from nvdla_models.arithmetic import check_range, limits
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP17
from nvdla_models.precision import Precision

MAX_KERNEL = 8
MAX_STRIDE = 16
PAD_VALUE_BITS = 19
RECIPROCAL_BITS = 17


class PoolMethod(Enum):
    """How a window becomes one element."""

    MAX = "max"
    MIN = "min"
    AVERAGE = "average"


@dataclass(frozen=True)
class PdpParams:
    """One PDP layer.

    Attributes:
        method: maximum, minimum or average.
        kernel_width: 1 to 8 elements.
        kernel_height: 1 to 8 elements.
        stride_x: 1 to 16 elements.
        stride_y: 1 to 16 elements.
        pad_left: elements, fewer than the kernel's width.
        pad_right: elements, fewer than the kernel's width.
        pad_top: elements, fewer than the kernel's height.
        pad_bottom: elements, fewer than the kernel's height.
        pad_values: sums that stand for 1 to 7 missing elements, signed 19 bits or FP17 patterns; used by the
            average alone.
        recip_width: 2**16 / kernel_width as the software rounds it, 17 bits, or the FP17 pattern of its
            reciprocal; used by the average alone.
        recip_height: likewise of kernel_height.
        precision: precision of input and output.
        nan_to_zero: whether NaN of an FP16 cube from memory counts as +0.

    Raises:
        InputError: when a value does not fit its register, or a padding reaches the kernel's size.

    Source: register map of PDP; programming guide, "PDP programming" and the limits of PDP.
    """

    method: PoolMethod
    kernel_width: int
    kernel_height: int
    stride_x: int
    stride_y: int
    pad_left: int
    pad_right: int
    pad_top: int
    pad_bottom: int
    pad_values: tuple[int, ...]
    recip_width: int
    recip_height: int
    precision: Precision
    nan_to_zero: bool = False

    def __post_init__(self) -> None:
        if self.nan_to_zero and not self.is_float:
            raise InputError(f"nan_to_zero must be False for {self.precision.name}, which has no NaN")
        for name, most in (
            ("kernel_width", MAX_KERNEL),
            ("kernel_height", MAX_KERNEL),
            ("stride_x", MAX_STRIDE),
            ("stride_y", MAX_STRIDE),
        ):
            check_range(name, getattr(self, name), 1, most)
        for name, kernel in (
            ("pad_left", "kernel_width"),
            ("pad_right", "kernel_width"),
            ("pad_top", "kernel_height"),
            ("pad_bottom", "kernel_height"),
        ):
            check_range(name, getattr(self, name), 0, MAX_KERNEL - 1)
            size = getattr(self, kernel)
            if getattr(self, name) >= size:
                raise InputError(f"{name} must be less than the {kernel} of {size}, not {getattr(self, name)}")
        if len(self.pad_values) != MAX_KERNEL - 1:
            raise InputError(f"pad_values must hold {MAX_KERNEL - 1} values, not {len(self.pad_values)}")
        for count, value in enumerate(self.pad_values, start=1):
            low, high = (0, (1 << RECIPROCAL_BITS) - 1) if self.is_float else limits(PAD_VALUE_BITS)
            check_range(f"pad value {count}x", value, low, high)
        for name in ("recip_width", "recip_height"):
            check_range(name, getattr(self, name), 0, (1 << RECIPROCAL_BITS) - 1)

    @property
    def is_float(self) -> bool:
        """Whether the layer pools FP16."""
        return self.precision is Precision.FP16

    def output_width(self, width: int) -> int:
        """Return the output's width for an input of ``width`` elements.

        Raises:
            InputError: when windows and strides do not end exactly at the padded cube's end.

        Source: programming guide, limits of PDP.
        """
        return _output_size("width", width + self.pad_left + self.pad_right, self.kernel_width, self.stride_x)

    def output_height(self, height: int) -> int:
        """Return the output's height for an input of ``height`` elements, as :meth:`output_width` the width.

        Raises:
            InputError: as there.
        """
        return _output_size("height", height + self.pad_top + self.pad_bottom, self.kernel_height, self.stride_y)


def reciprocal(side: int, precision: Precision) -> int:
    """Return the register's word for one over a side of the window, rounded to nearest: FP17 for FP16."""
    return _fp17(1 / side) if precision is Precision.FP16 else round((1 << 16) / side)


def padding_sums(value: float, precision: Precision) -> tuple[int, ...]:
    """Return the sums that stand for 1 to 7 missing elements of one value: FP17 patterns for FP16."""
    multiples = [value * count for count in range(1, MAX_KERNEL)]
    return tuple(_fp17(number) if precision is Precision.FP16 else int(number) for number in multiples)


def _fp17(value: float) -> int:
    return int(FP17.encode(np.array([value], np.float64))[0])


def missing_elements(kernel: int, stride: int, pad_before: int, size: int, out_size: int) -> NDArray[np.int64]:
    """Count the positions of each window that lie outside the cube.

    Returns:
        (out_size,) of 0 to ``kernel`` - 1.
    """
    start = np.arange(out_size, dtype=np.int64) * stride - pad_before
    inside = np.minimum(start + kernel, size) - np.maximum(start, 0)
    return kernel - inside


def _output_size(axis: str, padded: int, kernel: int, stride: int) -> int:
    if padded < kernel:
        raise InputError(f"{axis} with padding must be at least the kernel's {kernel}, not {padded}")
    if (padded - kernel) % stride:
        raise InputError(
            f"{axis} with padding minus the kernel's {kernel} must be a multiple of the stride {stride}, "
            f"not {padded - kernel}"
        )
    return (padded - kernel) // stride + 1
