"""Arguments along H and W: one number for both, or one for each, in the order of the axes of arrays."""

from __future__ import annotations

from nvdla_models.arithmetic import check_range
from nvdla_models.errors import InputError
from nvdla_tb.nvdla.short.given import plain

Pair = int | tuple[int, int]
"""One number for both axes, or (along H, along W)."""

Sides = int | tuple[int, int] | tuple[int, int, int, int]
"""One number for all sides, (top and bottom, left and right), or (top, bottom, left, right)."""


def pair(name: str, value: Pair, most: int) -> tuple[int, int]:
    """Return the numbers along H and W.

    Raises:
        InputError: naming the argument, for anything but one number or two from 1 to ``most``.
    """
    numbers = _numbers(name, value, (2,), "an integer or a pair (along H, along W)")
    for number in numbers:
        check_range(name, number, 1, most)
    return (numbers[0], numbers[-1])


def sides(name: str, value: Sides, kernel: tuple[int, int], owner: str) -> tuple[int, int, int, int]:
    """Return the numbers of top, bottom, left and right.

    Args:
        name: Name of the argument.
        value: The argument.
        kernel: Height and width that no padding may reach, in elements.
        owner: Name of the thing that has this height and width.

    Raises:
        InputError: naming the argument, for anything but one number, two or four, and for a negative or too large one.
    """
    allowed = "an integer, (top and bottom, left and right) or (top, bottom, left, right)"
    numbers = _numbers(name, value, (2, 4), allowed)
    top, bottom, left, right = numbers if len(numbers) == 4 else (numbers[0], numbers[0], numbers[-1], numbers[-1])
    height, width = kernel
    for side, number, axis, size in (
        ("top", top, "height", height),
        ("bottom", bottom, "height", height),
        ("left", left, "width", width),
        ("right", right, "width", width),
    ):
        if not 0 <= number < size:
            rule = f"at least 0 and less than the {owner}'s {axis} of {size}"
            raise InputError(f"{name} at the {side} must be {rule}, not {number}")
    return top, bottom, left, right


def _numbers(name: str, value: Pair | Sides, lengths: tuple[int, ...], allowed: str) -> tuple[int, ...]:
    numbers = tuple(map(plain, value if isinstance(value, tuple | list) else (value,)))
    known = len(numbers) in lengths or not isinstance(value, tuple | list)
    if not known or any(type(number) is not int for number in numbers):
        raise InputError(f"{name} must be {allowed}, not {value!r}")
    return numbers
