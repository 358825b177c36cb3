"""What a test may give to place, reserve and read back: arrays, shapes, precisions and memories."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout.pixel_formats import supported_formats
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import Layer, LinesSurface, PlanarSurface, Surface, on_the_fly
from nvdla_tb.nvdla.memory import MemoryImage, Ram


def check_array(name: str, value: object) -> None:
    """Raise InputError for anything but a numpy array."""
    if not isinstance(value, np.ndarray):
        raise InputError(f"{name} must be a numpy array, not {type(value).__name__}")


def check_readable(surface: object) -> None:
    """Raise InputError for what cannot be read back."""
    if not isinstance(surface, Surface | PlanarSurface | LinesSurface):
        raise InputError(f"surface must be a cube, planes or lines in memory, not {type(surface).__name__}")


def check_ram(value: object) -> None:
    """Raise InputError for anything but a memory port."""
    if not isinstance(value, Ram):
        raise InputError(f"ram must be Ram.MC or Ram.CVSRAM, not {value!r}")


def checked_shape(shape: object, axes: str) -> tuple[int, int, int]:
    """Return a shape as Python's integers, as numpy's may be given; raise InputError for another."""
    numbers = shape if isinstance(shape, tuple | list) else ()
    if len(numbers) != 3 or any(isinstance(n, bool) or not isinstance(n, int | np.integer) for n in numbers):
        raise InputError(f"shape must be the integers {axes}, not {shape!r}")
    return int(numbers[0]), int(numbers[1]), int(numbers[2])


def precision_of(name: str, array: NDArray[Any]) -> Precision:
    """Return the precision of an array's elements; raise InputError for a dtype that the hardware lacks."""
    known = {precision.dtype: precision for precision in Precision}
    if array.dtype not in known:
        raise InputError(f"dtype of {name} must be one of {', '.join(map(str, known))}, not {array.dtype}")
    return known[array.dtype]


def check_precision(value: object) -> None:
    """Raise InputError for anything but a precision."""
    if not isinstance(value, Precision):
        raise InputError(f"precision must be a Precision, such as Precision.FP16, not {value!r}")


def check_format(config: HwConfig, name: object) -> None:
    """Raise InputError for a pixel format that the configuration lacks."""
    known = supported_formats(config)
    if name not in known:
        raise InputError(f"pixel_format must be one of {', '.join(known)} for {config.name}, not {name}")


def check_kernels(weights: NDArray[Any], *, image: bool, winograd: bool) -> None:
    """Raise InputError for anything but an array of kernels that can be multiplied in the way that is wanted."""
    check_array("weights", weights)
    shape = weights.shape
    if len(shape) != 4:
        raise InputError(f"weights must have the axes (K, C, R, S), not the shape {shape}")
    if winograd and image:
        raise InputError("winograd must be False for the kernels of an image, which are multiplied directly")
    if winograd and shape[2:] != (3, 3):
        raise InputError(f"weights must be kernels of 3 x 3 for Winograd, not of {shape[2]} x {shape[3]}")


def check_extension(post_extension: object, *, image: bool) -> None:
    """Raise InputError for anything but a number of lines that are multiplied at once."""
    if not image and post_extension != 1:
        raise InputError(f"post_extension must be 1 but for the kernels of an image, not {post_extension}")
    if post_extension not in (1, 2, 4):
        raise InputError(f"post_extension must be 1, 2 or 4, not {post_extension}")


def check_scale(scale: float, *, winograd: bool) -> None:
    """Raise InputError for a factor that leaves nothing of transformed kernels, or has none to multiply."""
    if not winograd and scale != 1:
        raise InputError(f"winograd_scale must be 1 without winograd, not {scale!r}")
    if not isinstance(scale, int | float | np.number) or not 0 < scale < math.inf:
        raise InputError(f"winograd_scale must be a finite number above 0, not {scale!r}")


def check_layers(config: HwConfig, memories: Mapping[Ram, MemoryImage], layers: Sequence[Layer]) -> None:
    """Raise InputError unless all are layers that write to memory."""
    for layer in layers:
        if not isinstance(layer, Layer):
            raise InputError(f"layers must be those that Conv, Sdp and the like return, not {type(layer).__name__}")
        dst = layer.dst
        is_flying = isinstance(dst, Surface) and dst == on_the_fly(config, dst.layout.precision, dst.shape)
        if is_flying and memories[Ram.MC].allocation_at(dst.address) is None:
            raise InputError("dst must be given, because no Pdp takes the result on the fly")
