"""Arguments along H and W: one number for both, or one for each, in the order of the axes of arrays."""

from __future__ import annotations

from nvdla_models.errors import InputError

Pair = int | tuple[int, int]
"""One number for both axes, or (along H, along W)."""

Sides = int | tuple[int, int] | tuple[int, int, int, int]
"""One number for all sides, (top and bottom, left and right), or (top, bottom, left, right)."""


def pair(name: str, value: Pair) -> tuple[int, int]:
    """Return the numbers along H and W.

    Raises:
        InputError: calling the argument ``name``, for anything but one number or two.
    """
    numbers = _numbers(name, value, (2,), "an integer or a pair (along H, along W)")
    return (numbers[0], numbers[-1])


def sides(name: str, value: Sides) -> tuple[int, int, int, int]:
    """Return the numbers of top, bottom, left and right.

    Raises:
        InputError: calling the argument ``name``, for anything but one number, two or four.
    """
    allowed = "an integer, (top and bottom, left and right) or (top, bottom, left, right)"
    numbers = _numbers(name, value, (2, 4), allowed)
    if len(numbers) == 4:
        return (numbers[0], numbers[1], numbers[2], numbers[3])
    return (numbers[0], numbers[0], numbers[-1], numbers[-1])


def _numbers(name: str, value: Pair | Sides, lengths: tuple[int, ...], allowed: str) -> tuple[int, ...]:
    numbers = (value,) if isinstance(value, int) else tuple(value)
    known = isinstance(value, int) or len(numbers) in lengths
    if not known or any(type(number) is not int for number in numbers):
        raise InputError(f"{name} must be {allowed}, not {value!r}")
    return numbers
