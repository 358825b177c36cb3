"""Checks that an argument has the type that the short form can take: a test is often not type-checked."""

from __future__ import annotations

import math
from types import NoneType
from typing import Any

import numpy as np

from nvdla_models.arithmetic import check_range, limits
from nvdla_models.converter import ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_tb.nvdla.layers import LinesSurface, OperandSurface, PlanarSurface, Surface
from nvdla_tb.nvdla.surfaces import ImageSurface, WeightSurface

_NAMES: dict[type, str] = {
    NoneType: "None",
    np.number: "a number",
    Surface: "Surface (from place or reserve)",
    ImageSurface: "ImageSurface (from place_image)",
    WeightSurface: "WeightSurface (from place_weights)",
    OperandSurface: "OperandSurface (from place_operands)",
    PlanarSurface: "PlanarSurface (from place_planes or reserve_planes)",
    LinesSurface: "LinesSurface (from place_lines or reserve_lines)",
}


def plain(value: Any) -> Any:
    """Return a number of numpy as Python's, and anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def check_kind(name: str, value: object, *kinds: type) -> None:
    """Refuse an argument of another type, such as an array that was not placed in memory.

    Raises:
        InputError: naming the argument, the types that it may have and the methods of ``Bench`` that return them.
    """
    if not isinstance(value, kinds):
        *others, last = [_NAMES.get(kind, kind.__name__) for kind in kinds]
        allowed = f"{', '.join(others)} or {last}" if others else last
        raise InputError(f"{name} must be {allowed}, not {type(value).__name__}")


def check_operand(name: str, value: object) -> None:
    """Refuse anything but a number, an operand surface or None.

    Raises:
        InputError: as ``check_kind``.
    """
    if isinstance(value, bool) or not isinstance(value, int | float):
        check_kind(name, value, np.number, OperandSurface, NoneType)


def check_flags(**flags: object) -> None:
    """Refuse anything but True and False.

    Raises:
        InputError: naming the argument.
    """
    for name, value in flags.items():
        if not isinstance(value, bool | np.bool_):
            raise InputError(f"{name} must be True or False, not {value!r}")


def check_finite(**numbers: object) -> None:
    """Refuse anything but finite numbers.

    Raises:
        InputError: naming the argument.
    """
    for name, value in numbers.items():
        is_number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not is_number or not math.isfinite(float(value)):  # type: ignore[arg-type]
            raise InputError(f"{name} must be a finite number, not {value!r}")


def checked_conversion(name: str, value: tuple[int, ...], encoding: ConverterEncoding) -> tuple[int, int, int]:
    """Return the three integers of a converter, which its registers can hold.

    Raises:
        InputError: naming the argument, for anything else.
    """
    numbers = tuple(map(plain, value)) if isinstance(value, tuple) else ()
    if len(numbers) != 3 or any(type(number) is not int for number in numbers):
        raise InputError(f"{name} must be the integers (offset, scale, shift), not {value!r}")
    _, offset_bits, scale_bits, shift_bits = encoding.value
    check_range(f"offset of {name}", numbers[0], *limits(offset_bits))
    check_range(f"scale of {name}", numbers[1], *limits(scale_bits))
    check_range(f"shift of {name}", numbers[2], 0, (1 << shift_bits) - 1)
    return numbers[0], numbers[1], numbers[2]
