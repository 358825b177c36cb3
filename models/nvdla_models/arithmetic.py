"""Integer arithmetic that the engines share: saturation, wrapping, and shifts that round.

All functions take integer arrays and compute in int64. Other ``Rules`` make them compute as faulty hardware
would, so that every engine can be asked what memory would look like then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError

MAX_SHIFT = 63
_SHIFT_RIGHT_LIMIT = 1 << 62
_BLOCK_ELEMENTS = 1 << 15


class Rounding(Enum):
    """The treatment of the bits that a right shift drops."""

    AWAY = "half away from zero"
    FLOOR = "towards minus infinity"
    ZERO = "towards zero"
    EVEN = "half to even"
    UP = "half up"
    NEGATIVE = "negative numbers towards minus infinity"
    POSITIVE = "positive numbers towards zero"


class Site(Enum):
    """Where in the hardware numbers are rounded, saturated or looked up; the value names it in messages."""

    CDMA = "input converter of CDMA"
    WINOGRAD = "truncation before Winograd's products"
    CACC = "truncation of CACC"
    X1_OPERAND = "shift of the ALU operand of SDP X1"
    X1 = "truncation of SDP X1"
    X2_OPERAND = "shift of the ALU operand of SDP X2"
    X2 = "truncation of SDP X2"
    Y_OPERAND = "operand converters of SDP Y"
    Y = "truncation and ALU of SDP Y"
    LE = "lookup in LE"
    LO = "lookup in LO"
    SDP_OUTPUT = "output converter of SDP"
    PDP_WIDTH = "average of PDP along the width"
    PDP_HEIGHT = "average of PDP along the height"
    CDP_INPUT = "input converter of CDP"
    CDP_OUTPUT = "output converter of CDP"


class Step(Enum):
    """What a ``Watch`` sees there."""

    SHIFT_RIGHT = "shift right"
    SATURATE = "saturate"
    INDEX = "index"


Watch = Callable[[Site | None, Step, NDArray[np.int64], int], None]
"""Sees the values that a step takes, and its shift, the bits of its result or the last index of its table."""


class Point(Enum):
    """Where inside an engine numbers are handed on; the value names it in files of hand-overs."""

    X1_ALU = "x1-alu"
    X1_PRODUCT = "x1-product"
    X1 = "x1"
    X2_ALU = "x2-alu"
    X2_PRODUCT = "x2-product"
    X2 = "x2"
    SDP_RESULT = "sdp-result"
    PDP_ROWS = "pdp-rows"
    CDP_INPUT = "cdp-input"
    CDP_SUMS = "cdp-sums"
    CDP_FACTORS = "cdp-factors"
    CDP_PRODUCTS = "cdp-products"


Handed = Callable[[Point, NDArray[np.int64]], None]
"""Sees the numbers that are handed on at a point, block by block of a cube."""


@dataclass(frozen=True)
class Rules:
    """How integers are rounded, kept in range and compared; the defaults are the hardware's.

    Attributes:
        rounding: what happens to the bits that a right shift drops.
        saturates: whether numbers out of range are clipped, and not wrapped.
        wraps_at: the only width at which they wrap, None for all; of rules that do not saturate.
        wraps: whether they wrap below the range, and above it; of rules that do not saturate.
        symmetric: whether the smallest number of a range is the largest one, negated.
        unsigned: whether a maximum, and a minimum, takes negative numbers for large ones.
        unsigned_along: whether a maximum or minimum of pooling does so along the width, and along the height; both
            operations do, unless ``unsigned`` says which.
        accumulator_bits: width at which the sums of a convolution wrap, None for accumulators that are wide enough.
        left_out: neighbours that a normalisation does not sum, as distances in channels.
        instead: a neighbour, and the one that a normalisation sums in its place; None for right ones.
        interpolates: whether a lookup goes on from the entry below towards the next one.
        prelu_truncates: whether positive numbers are shifted, too, which a PReLU of X1 and X2 does not multiply.
        site: the only site where they hold, the others being right; None for everywhere.
        watch: who sees the values of every step, None for nobody.
        handed: who sees what is handed on at every point, None for nobody.
    """

    rounding: Rounding = Rounding.AWAY
    saturates: bool = True
    wraps_at: int | None = None
    wraps: tuple[bool, bool] = (True, True)
    symmetric: bool = False
    unsigned: tuple[bool, bool] = (False, False)
    unsigned_along: tuple[bool, bool] = (False, False)
    accumulator_bits: int | None = None
    left_out: frozenset[int] = frozenset()
    instead: tuple[int, int] | None = None
    interpolates: bool = True
    prelu_truncates: bool = False
    site: Site | None = None
    watch: Watch | None = None
    handed: Handed | None = None

    def hand_on(self, point: Point, values: NDArray[np.int64]) -> None:
        """Show values that are handed on to who sees them."""
        if self.handed is not None:
            self.handed(point, values)

    def at(self, site: Site) -> Rules:
        """Return the rules that hold at a site."""
        if self.watch is not None:
            return replace(self, site=site)
        return self if self.site in (None, site) else HARDWARE


HARDWARE = Rules()
"""The rules of the real hardware."""


def limits(bits: int) -> tuple[int, int]:
    """Return the smallest and the largest two's-complement number of ``bits`` bits.

    Raises:
        InputError: when ``bits`` is not 2 to 63.
    """
    if not 2 <= bits <= 63:
        raise InputError(f"bits must be 2 to 63, not {bits}")
    return -(1 << (bits - 1)), (1 << (bits - 1)) - 1


def saturate(values: NDArray[np.int64], bits: int, rules: Rules = HARDWARE) -> NDArray[np.int64]:
    """Clip to the range of a ``bits``-bit signed number.

    Args:
        values: int64, any shape.
        bits: 2 to 63.
        rules: rules of the hardware, or of faulty hardware.

    Returns:
        int64 of the same shape.

    Source: precision document, "Precision Preservation" (saturation depends on the output bits).
    """
    if rules.watch is not None:
        rules.watch(rules.site, Step.SATURATE, values, bits)
    low, high = limits(bits)
    # np.clip looks up the limits of the type in each call, which takes as long again.
    clipped = np.minimum(np.maximum(values, -high if rules.symmetric else low), high)
    if rules.saturates or rules.wraps_at not in (None, bits):
        return clipped
    below, above = rules.wraps
    return np.where((below & (values < low)) | (above & (values > high)), wrap(values, bits), clipped)


def wrap(values: NDArray[np.int64], bits: int) -> NDArray[np.int64]:
    """Keep the low ``bits`` bits and read them as a signed number, as a register does that is too narrow.

    Args:
        values: int64, any shape.
        bits: 2 to 63.

    Returns:
        int64 of the same shape.

    Source: measured on the public nv_small RTL: PDP sums and the positive branch of PReLU.
    """
    low, _ = limits(bits)
    mask = (1 << bits) - 1
    return ((values - low) & mask) + low


def shift_left_saturating(values: NDArray[Any], shift: int, bits: int, rules: Rules = HARDWARE) -> NDArray[np.int64]:
    """Multiply by ``2**shift`` and saturate to ``bits`` bits, exact for every shift.

    Args:
        values: integers, any shape.
        shift: 0 to 63 bits.
        bits: width of the result, 2 to 32.
        rules: rules of the hardware, or of faulty hardware.

    Returns:
        int64 of the same shape.

    Raises:
        InputError: when ``shift`` or ``bits`` is out of range.

    Source: precision document, "Shifter"; measured on the public nv_small RTL for shifts beyond the width.
    """
    check_shift("shift", shift)
    check_range("bits", bits, 2, 32)
    # Every number but 0 is saturated after a shift by bits, so no greater one is needed; 32 + 32 bits fit into 64.
    shifted = saturate(values.astype(np.int64), bits, rules) << min(shift, bits)
    return saturate(shifted, bits, rules)


def shift_right_rounded(values: NDArray[np.int64], shift: int, rules: Rules = HARDWARE) -> NDArray[np.int64]:
    """Divide by ``2**shift`` and round half away from zero.

    Args:
        values: int64 of a magnitude below 2**62, any shape: adding half a unit cannot then overflow.
        shift: 0 to 63 bits.
        rules: rules of the hardware, or of faulty hardware.

    Returns:
        int64 of the same shape.

    Raises:
        InputError: when ``shift`` or a value is out of range.

    Source: precision document, "Converter" and "Truncate" (round half away from zero).
    """
    check_shift("shift", shift)
    if values.size and max(int(values.max()), -int(values.min())) >= _SHIFT_RIGHT_LIMIT:
        raise InputError("values must be below 2**62 in magnitude to be rounded in 64 bits")
    if shift == 0:
        return values
    if rules.watch is not None:
        rules.watch(rules.site, Step.SHIFT_RIGHT, values, shift)
    if rules.rounding is not Rounding.AWAY:
        return _shift_right(values, shift, rules.rounding)
    # values >> 63 is -1 for negative numbers: it turns "half up" into "half down" for them.
    rounded = values >> 63
    rounded += values
    rounded += 1 << (shift - 1)
    rounded >>= shift
    return rounded


def _shift_right(values: NDArray[np.int64], shift: int, rounding: Rounding) -> NDArray[np.int64]:
    """Divide by ``2**shift`` and round as faulty hardware might."""
    half = np.int64(1) << (shift - 1)
    match rounding:
        case Rounding.FLOOR:
            return values >> shift
        case Rounding.ZERO:
            return (values + ((values >> 63) & np.int64((1 << shift) - 1))) >> shift
        case Rounding.EVEN:
            return (values + (half - 1) + ((values >> shift) & 1)) >> shift
        case Rounding.NEGATIVE:
            return (values + np.where(values < 0, 0, half)) >> shift
        case Rounding.POSITIVE:
            return (values + np.where(values < 0, half - 1, 0)) >> shift
        case _:
            return (values + half) >> shift


def channel_blocks(shape: tuple[int, ...]) -> Iterator[slice]:
    """Yield slices of the channel axis, so small that int64 intermediates stay in the processor's cache.

    A layer of 64 x 64 x 64 elements takes a third of the time it takes as one block.

    Args:
        shape: (C, H, W).
    """
    channels, height, width = shape
    step = max(1, _BLOCK_ELEMENTS // max(1, height * width))
    for first in range(0, channels, step):
        yield slice(first, first + step)


def check_range(name: str, value: int, low: int, high: int) -> None:
    """Refuse a parameter that the hardware's register cannot hold.

    Raises:
        InputError: when ``value`` is not an integer from ``low`` to ``high``.
    """
    if type(value) is not int or not low <= value <= high:
        raise InputError(f"{name} must be an integer from {low} to {high}, not {value!r}")


def check_shift(name: str, value: int) -> None:
    """Refuse a shift that the hardware's six-bit fields cannot hold.

    Raises:
        InputError: when ``value`` is not an integer from 0 to 63.
    """
    check_range(name, value, 0, MAX_SHIFT)
