"""Checks that an argument has the type that the short form can take: a test is often not type-checked."""

from __future__ import annotations

from types import NoneType

from nvdla_models.errors import InputError


def check_kind(name: str, value: object, *kinds: type) -> None:
    """Refuse an argument of another type, such as an array that was not placed in memory.

    Raises:
        InputError: naming the argument and the types that it may have.
    """
    if not isinstance(value, kinds):
        allowed = " or ".join("None" if kind is NoneType else kind.__name__ for kind in kinds)
        raise InputError(f"{name} must be {allowed}, not {type(value).__name__}")


def check_conversion(name: str, value: tuple[int, ...]) -> None:
    """Refuse anything but three integers.

    Raises:
        InputError: naming the argument.
    """
    if not isinstance(value, tuple) or len(value) != 3 or any(type(number) is not int for number in value):
        raise InputError(f"{name} must be the integers (offset, scale, shift), not {value!r}")
