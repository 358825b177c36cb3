"""Single: sums that are exact, and the roundings and special values of IEEE 754, as bit patterns."""

from __future__ import annotations

import struct

from tests.sim.dlhdl.play import (
    ADDITION,
    AVERAGE,
    CONV_WEIGHTS,
    CONVOLUTION,
    FC_FORMAT,
    FC_WEIGHTS,
    FULLY_CONNECTED,
    INPUT,
    MAXIMUM,
    OUTPUT,
    RELU,
    TO_OUTPUT,
    Case,
    by_name,
    layer,
    of_layers,
    words,
)

NAN, INFINITY, ONE, LEAST = 0x7FC00000, 0x7F800000, 0x3F800000, 0x00800000
MINUS = 0x80000000


def floats(*values: float) -> bytes:
    """Return singles, little-endian."""
    return struct.pack(f"<{len(values)}f", *values)


def exact_sums() -> Case:
    """Kernel 0 is 2, 4, 8, kernel 1 all ones; the source 1.5, -2.25, 0.5: 3 - 9 + 4 = -2 and -0.25, plus the biases.

    C = 3, N = 4: the fourth lane of source and weights holds NaN.
    """
    nan = float("nan")
    return of_layers(
        9,
        [layer(CONVOLUTION, (1, 1, 3), (1, 1, 2), biases=0x40)],
        {
            CONV_WEIGHTS: floats(2, 4, 8, nan, 1, 1, 1, nan),
            CONV_WEIGHTS + 0x40: floats(0.125, 1),
            INPUT: floats(1.5, -2.25, 0.5, nan),
        },
        {OUTPUT: floats(-1.875, 0.75, 0, 0)},
        data_type=1,
    )


def wide() -> Case:
    """Nine kernels of one weight k + 1, with bias k, make 3 k + 2 of the source 2; C = N = 8."""
    kernels = [value for k in range(9) for value in (k + 1, *[float("nan")] * 7)]
    return of_layers(
        64,
        [layer(CONVOLUTION, (1, 1, 1), (1, 1, 9), weights=0x80, biases=0x40)],
        {
            CONV_WEIGHTS + 0x80: floats(*kernels),
            CONV_WEIGHTS + 0x40: floats(*range(9)),
            INPUT: floats(2, *[5] * 7),
        },
        {OUTPUT: floats(*(3 * k + 2 for k in range(9)), *[0] * 7)},
        data_type=1,
    )


SUMS = (
    # a half unit in the last place goes to the even neighbour
    (ONE, 0x33800000, ONE),
    (ONE + 1, 0x33800000, ONE + 2),
    (ONE, MINUS | 0x33000000, ONE),
    (ONE, MINUS | 0x33800000, ONE - 1),
    (0x4B800000, ONE, 0x4B800000),
    (0x4B800001, ONE, 0x4B800002),
    # one bit more than a half goes up, however far down it lies
    (ONE, 0x33800001, ONE + 1),
    # what cancels becomes +0; -0 stays
    (0x40400000, 0xC0400000, 0),
    (MINUS, MINUS, MINUS),
    # subnormal operands and results count as 0
    (LEAST | 0x400000, MINUS | LEAST, 0),
    (LEAST, 0x007FFFFF, LEAST),
    (0x40000000, 0xBFFFFFFF, 0x34000000),
    # infinities and NaN
    (0x7F7FFFFF, 0x7F7FFFFF, INFINITY),
    (INFINITY, MINUS | INFINITY, NAN),
    (INFINITY, ONE, INFINITY),
    (0x7F800001, ONE, NAN),
)
"""a, b, a + b; 0x33800000 is half a unit in the last place of 1, 0x4B800000 is 2 ** 24."""


def additions() -> Case:
    """The rows of SUMS, as additions of fully connected data."""
    count = len(SUMS)
    first, second, sums = (words(*column) for column in zip(*SUMS, strict=True))
    return of_layers(
        64,
        [layer(ADDITION, (1, 1, count), (1, 1, count), flags=TO_OUTPUT | FC_FORMAT, at=(0, 0x80, 0))],
        {
            INPUT: first,
            INPUT + 0x80: second,
        },
        {OUTPUT: sums},
        data_type=1,
    )


def rectified() -> Case:
    """ReLU turns -3 and -0 into +0, and leaves 2, +infinity and NaN; each is added to -0."""
    values = (0xC0400000, MINUS, 0x40000000, INFINITY, MINUS | INFINITY, NAN)
    return of_layers(
        4,
        [layer(ADDITION, (1, 1, 6), (1, 1, 6), flags=TO_OUTPUT | FC_FORMAT | RELU, at=(0, 0x40, 0))],
        {
            INPUT: words(*values),
            INPUT + 0x40: words(*(MINUS,) * 6),
        },
        {OUTPUT: words(0, 0, 0x40000000, INFINITY, 0, NAN)},
        data_type=1,
    )


PRODUCTS = (
    # (1 + u)(1 + u) = 1 + 2 u + u u, with u the last place of 1
    (ONE + 1, ONE + 2),
    # 1.5 (1 + u) lies half-way between 1.5 + u and 1.5 + 2 u
    (0x3FC00000, 0x3FC00002),
    (0x3FA00000, 0x3FA00001),
    (0x7F000000, 0x7F000001),
    (LEAST, LEAST + 1),
    (0x007FFFFF, 0),
    (MINUS | INFINITY, MINUS | INFINITY),
    (0x7FC12345, NAN),
)
"""w, (1 + u) w; 0x3FA00000 is 1.25: 1.25 (1 + u) is 1.25 + 1.25 u, nearest to 1.25 + u."""


def products() -> Case:
    """One value, 1 + u, times the weights of PRODUCTS; biases are 0."""
    count = len(PRODUCTS)
    weights = [value for weight, _ in PRODUCTS for value in (weight, NAN)]
    return of_layers(
        4,
        [layer(FULLY_CONNECTED, (1, 1, 1), (1, 1, count), flags=TO_OUTPUT | FC_FORMAT, biases=0x80)],
        {
            FC_WEIGHTS: words(*weights),
            FC_WEIGHTS + 0x80: words(*(0,) * count),
            INPUT: words(ONE + 1, NAN),
        },
        {OUTPUT: words(*(product for _, product in PRODUCTS))},
        data_type=1,
    )


def thirds() -> Case:
    """The average of 1, 2, 4 is 7 times 0x3EAAAAAB: 7 * 0xAAAAAB = 78293677; over 8 it is 9786709.6, or 0x955556."""
    return of_layers(
        16,
        [layer(AVERAGE, (3, 1, 1), (1, 1, 1), kernel=(3, 1))],
        {INPUT: floats(1, 9, 9, 9, 2, 9, 9, 9, 4, 9, 9, 9)},
        {OUTPUT: words(0x40155556, 0, 0, 0)},
        data_type=1,
    )


def largest_single() -> Case:
    """The largest of -1, -2 and padding is -1, of 3, -4 it is 3, of NaN and 5 NaN; windows of 2 x 2 with padding."""
    return of_layers(
        4,
        [layer(MAXIMUM, (6, 1, 1), (3, 1, 1), kernel=(2, 2), stride=(2, 2), padding=(0, 1, 0, 0))],
        {INPUT: floats(-1, 9, -2, 9, 3, 9, -4, 9, float("nan"), 9, 5, 9)},
        {OUTPUT: floats(-1, 0, 3, 0) + words(NAN, 0)},
        data_type=1,
    )


CASES = by_name(exact_sums, wide, additions, rectified, products, thirds, largest_single)
