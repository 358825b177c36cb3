"""The program of a convolution: parameters and the sizes that follow from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from nvdla_models.arithmetic import check_range
from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_models.winograd_transform import TILE

MAX_STRIDE = 8
MAX_DILATION = 32
MAX_KERNEL_BYTES = 1 << 18
MAX_TRUNCATE = 31
MAX_PRE_TRUNCATE = 3
MAX_PAD_BEFORE = 31
MAX_PAD_AFTER = 63

_WINOGRAD_LEAST = 8


@dataclass(frozen=True)
class ConvParams:
    """One convolution, direct, of an image or by Winograd.

    Attributes:
        stride_x: 1 to 8 elements.
        stride_y: 1 to 8 elements.
        dilation_x: distance of the taps of a kernel, 1 to 32 elements.
        dilation_y: likewise along H.
        pad_left: elements, fewer than the dilated kernel's width.
        pad_right: elements, fewer than the dilated kernel's width.
        pad_top: elements, fewer than the dilated kernel's height.
        pad_bottom: elements, fewer than the dilated kernel's height.
        pad_value: what stands in the padding, of the precision; the 16-bit pattern for FP16.
        truncate: right shift of CACC, 0 to 31 bits, rounded half away from zero; nothing for FP16.
        precision: precision of cube and weights.
        nan_to_zero: whether NaN of cube and weights count as +0.
        winograd: whether kernels are transformed to 4 x 4 and the padded input is cut into tiles.
        pre_truncate: right shift after the transform of integer tiles, 0 to 3 bits.

    Raises:
        InputError: when a value does not fit its register, or Winograd is to stride or dilate.

    Source: register map of CDMA, CSC and CACC; programming guide, "Limitation", Convolution.
    """

    stride_x: int
    stride_y: int
    dilation_x: int
    dilation_y: int
    pad_left: int
    pad_right: int
    pad_top: int
    pad_bottom: int
    pad_value: int
    truncate: int
    precision: Precision
    nan_to_zero: bool = False
    winograd: bool = False
    pre_truncate: int = 0

    def __post_init__(self) -> None:
        pad_values = (0, 0xFFFF) if self.is_float else self.precision.limits
        for name, low, high in (
            ("stride_x", 1, MAX_STRIDE),
            ("stride_y", 1, MAX_STRIDE),
            ("dilation_x", 1, MAX_DILATION),
            ("dilation_y", 1, MAX_DILATION),
            ("pad_left", 0, MAX_PAD_BEFORE),
            ("pad_right", 0, MAX_PAD_AFTER),
            ("pad_top", 0, MAX_PAD_BEFORE),
            ("pad_bottom", 0, MAX_PAD_AFTER),
            ("pad_value", *pad_values),
            ("truncate", 0, MAX_TRUNCATE),
            ("pre_truncate", 0, MAX_PRE_TRUNCATE),
        ):
            check_range(name, getattr(self, name), low, high)
        if self.winograd:
            for name in ("stride_x", "stride_y", "dilation_x", "dilation_y"):
                if getattr(self, name) != 1:
                    raise InputError(f"{name} must be 1 for Winograd, not {getattr(self, name)}")

    @property
    def is_float(self) -> bool:
        """Whether cube and weights are FP16, given as uint16 patterns."""
        return self.precision is Precision.FP16

    def output_width(self, width: int, kernel_width: int) -> int:
        """Return the output's width for an input and kernels of so many columns.

        Args:
            width: width of the input, elements.
            kernel_width: width of the kernels; 4 for Winograd, after the transform.

        Raises:
            InputError: when a padding reaches the dilated kernel's width, or no window fits; for Winograd, when
                the output is not a multiple of 4 and at least 8.

        Source: programming guide, "Limitation", Convolution.
        """
        dilated = (kernel_width - 1) * self.dilation_x + 1
        return _output_size("width", width, dilated, self.stride_x, ("pad_left", "pad_right"), self)

    def output_height(self, height: int, kernel_height: int) -> int:
        """Return the output's height for an input and kernels of so many lines, as :meth:`output_width` the width.

        Raises:
            InputError: as there.
        """
        dilated = (kernel_height - 1) * self.dilation_y + 1
        return _output_size("height", height, dilated, self.stride_y, ("pad_top", "pad_bottom"), self)

    def output_shape(self, cube: tuple[int, ...], weights: tuple[int, ...]) -> tuple[int, int, int]:
        """Return (K, H_out, W_out) for shapes (C, H, W) and (K, C, R, S).

        Raises:
            InputError: as ``output_width`` and ``output_height``.
        """
        return (weights[0], self.output_height(cube[1], weights[2]), self.output_width(cube[2], weights[3]))


def check_arrays(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], *, is_float: bool) -> None:
    """Refuse a cube and kernels that do not fit the layer or each other.

    Args:
        params: the layer.
        cube: (C, H, W).
        weights: (K, C, R, S).
        is_float: whether it must be a layer of FP16.

    Raises:
        InputError: naming the array, the rule and the value.
    """
    if params.is_float != is_float:
        wanted = "FP16 for floating sums" if is_float else "INT8 or INT16 for integer sums"
        raise InputError(f"precision must be {wanted}, not {params.precision.name}")
    dtype = params.precision.pattern_dtype
    for name, array, axes in (("cube", cube, "(C, H, W)"), ("weights", weights, "(K, C, R, S)")):
        if array.dtype != dtype:
            raise InputError(f"{name} must be {dtype}, not {array.dtype}")
        if array.ndim != axes.count(",") + 1:
            raise InputError(f"{name} must have the axes {axes}, not {array.ndim} axes")
        if 0 in array.shape:
            raise InputError(f"{name} must not be empty, not of shape {array.shape}")
    if weights.shape[1] != cube.shape[0]:
        raise InputError(f"weights must have the {cube.shape[0]} channels of the cube, not {weights.shape[1]}")
    if params.winograd and weights.shape[2:] != (TILE, TILE):
        raise InputError(f"weights must be 4 x 4 for Winograd, not {weights.shape[2]} x {weights.shape[3]}")
    nbytes = weights[0].size * params.precision.nbytes
    if nbytes > MAX_KERNEL_BYTES:
        raise InputError(f"bytes of one kernel must be at most {MAX_KERNEL_BYTES}, not {nbytes}")


def _output_size(axis: str, size: int, dilated: int, stride: int, paddings: tuple[str, str], params: ConvParams) -> int:
    padded = size
    for name in paddings:
        value = getattr(params, name)
        if value >= dilated:
            raise InputError(f"{name} must be less than the dilated kernel's {axis} of {dilated}, not {value}")
        padded += value
    if params.winograd:
        output = padded - TILE
        if output < _WINOGRAD_LEAST or output % TILE:
            raise InputError(f"{axis} with padding must be 4 more than a multiple of 4, and at least 12, not {padded}")
        return output
    if padded < dilated:
        raise InputError(f"{axis} with padding must be at least the dilated kernel's {dilated}, not {padded}")
    # Elements after the last window are not read: measured on the public nv_full RTL.
    return (padded - dilated) // stride + 1
