"""What a test may give to place, reserve and read back: arrays, shapes, precisions and memories."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import LinesSurface, PlanarSurface, Surface
from nvdla_tb.nvdla.memory import Ram


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
