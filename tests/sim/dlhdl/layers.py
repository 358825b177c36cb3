"""Pooling, fully connected layers and additions of int8, worked out by hand."""

from __future__ import annotations

from tests.sim.dlhdl.play import (
    ADDITION,
    AVERAGE,
    FC_FORMAT,
    FC_WEIGHTS,
    FROM_SYSTEM,
    FULLY_CONNECTED,
    INPUT,
    MAXIMUM,
    OUTPUT,
    RELU,
    SECOND_FROM_SYSTEM,
    SYSTEM,
    TO_OUTPUT,
    Case,
    by_name,
    layer,
    of_layers,
    signed,
    words,
)


def largest() -> Case:
    """Windows of 2 x 2, stride 2, on 3 x 3 values with padding to the left and on top; exponents do not matter.

    Value (z, y, x) is -(1 + x + 3 y + 10 z), so the largest of a window is the one with the lowest x and y that lies
    in the source: (0, 0), (1, 0), (0, 1), (1, 1), or -1, -2, -4, -5, less 10 z. Padding takes no part.
    """
    first = [-(1 + p + 10 * z) for p in range(9) for z in (0, 1)]
    second = [value for p in range(9) for value in (-(21 + p), 120)]
    result = [-(v + 10 * z) for v in (1, 2, 4, 5) for z in (0, 1)] + [w for v in (21, 22, 24, 25) for w in (-v, 0)]
    return of_layers(
        4,
        [
            layer(
                MAXIMUM,
                (3, 3, 3),
                (2, 2, 3),
                kernel=(2, 2),
                stride=(2, 2),
                padding=(1, 1, 0, 0),
                exponents=(3, 0, 0, -3),
            )
        ],
        {INPUT: signed(first + second)},
        {OUTPUT: signed(result)},
    )


def average_of_three() -> Case:
    """Windows of 3 x 1 with padding 1 on both sides, which counts in the divisor; the exponents double.

    Channel 0 is 5, -4, 8: sums 1, 9, 4, times 2/3: 0.67, 6, 2.67, or 1, 6, 3. Channel 1 is -5, 4, -7: sums -1, -8, -3,
    times 2/3: -0.67, -5.33, -2, or -1, -5, -2.
    """
    return of_layers(
        16,
        [layer(AVERAGE, (3, 1, 2), (3, 1, 2), kernel=(3, 1), padding=(1, 0, 1, 0), exponents=(-3, 0, 0, -4))],
        {INPUT: signed([5, -5, 70, 71, -4, 4, 72, 73, 8, -7, 74, 75])},
        {OUTPUT: signed([1, -1, 0, 0, 6, -5, 0, 0, 3, -2, 0, 0])},
    )


def average_of_halves() -> Case:
    """Windows of 2 x 1 and exponents that halve once more: the sum over 4, halves rounded up.

    3/4 becomes 1, 2/4 1, -2/4 0, -3/4 -1, -6/4 -1, 254/4 = 63.5 64.
    """
    pairs = [1, 2, 1, 1, -1, -1, -1, -2, -3, -3, 127, 127]
    return of_layers(
        4,
        [layer(AVERAGE, (12, 1, 1), (6, 1, 1), kernel=(2, 1), stride=(2, 1), exponents=(0, 0, 0, 1))],
        {INPUT: signed(value for v in pairs for value in (v, 3))},
        {OUTPUT: signed(value for v in (1, 1, 0, -1, -1, 64) for value in (v, 0))},
    )


def average_limited() -> Case:
    """A difference of exponents of 3 multiplies by 8: 160 is limited to 127; ReLU makes 0 of -160 and -16."""
    return of_layers(
        4,
        [layer(AVERAGE, (2, 1, 2), (2, 1, 2), exponents=(1, 0, 0, -2), flags=TO_OUTPUT | RELU)],
        {INPUT: signed([20, -20, 3, -2])},
        {OUTPUT: signed([127, 0, 24, 0])},
    )


def dense() -> Case:
    """Three rows over 2 x 1 x 3 values, then two rows over these three; padding lanes hold poison throughout.

    The source is z0 = 1, 2; z1 = 3, 4; z2 = 5, 6; in memory 1 3 2 4 5 - 6 -. The first row takes the first value, the
    second the fourth, plus 100, the third the sum, 21, less 50: 1, 104, -29. The second layer has 1 - 104 + 29 = -74
    and 2 * 1 - 29 + 1 = -26; its exponents halve: -37, -13.
    """
    rows = [1, 0, 0, 0, 0, 9, 0, 9, 0, 0, 0, 1, 0, 9, 0, 9, 1, 1, 1, 1, 1, 9, 1, 9]
    return of_layers(
        4,
        [
            layer(FULLY_CONNECTED, (2, 1, 3), (1, 1, 3), flags=0, at=(0, 0, 0x20), biases=0x40),
            layer(
                FULLY_CONNECTED,
                (1, 1, 3),
                (1, 1, 2),
                flags=FROM_SYSTEM | TO_OUTPUT | FC_FORMAT,
                at=(0x20, 0, 0),
                weights=0x20,
                biases=0x60,
                exponents=(0, 0, -1, 0),
            ),
        ],
        {
            FC_WEIGHTS: signed(rows),
            FC_WEIGHTS + 0x20: signed([1, -1, -1, 9, 2, 0, 1, 9]),
            FC_WEIGHTS + 0x40: words(0, 100, -50),
            FC_WEIGHTS + 0x60: words(0, 1),
            INPUT: signed([1, 3, 2, 4, 5, 7, 6, 7]),
        },
        {SYSTEM + 0x20: signed([1, 104, -29, 0]), OUTPUT: signed([-37, -13])},
    )


def dense_packed() -> Case:
    """Source and result in packed beats of 8 though C = N: 10 values, whose sum is 55; ten rows k * value k."""
    values = list(range(1, 11))
    rows = [[k if i == k else 0 for i in range(10)] + [5] * 6 for k in range(9)] + [[1] * 10 + [5] * 6]
    result = [k * values[k] for k in range(9)] + [55] + [0] * 6
    return of_layers(
        64,
        [layer(FULLY_CONNECTED, (1, 1, 10), (1, 1, 10), flags=TO_OUTPUT | FC_FORMAT, weights=0x40)],
        {
            FC_WEIGHTS: words(*(0,) * 10),
            FC_WEIGHTS + 0x40: signed(value for row in rows for value in row),
            INPUT: signed([*values, *[77] * 6]),
        },
        {OUTPUT: signed(result)},
    )


def sum_of_two() -> Case:
    """(4 a + b) / 2, halves up, as the exponents are 1, -1 and 0; the second source lies in the system buffer.

    z0: a = 1, 2, b = 1, -1: 2.5, 3.5, or 3, 4. z1: a = -3, 4, b = 3, 100: -4.5, 58, or -4, 58. z2: a = 5, -6,
    b = -7, 8: 6.5, -8, or 7, -8.
    """
    return of_layers(
        4,
        [
            layer(
                ADDITION,
                (2, 1, 3),
                (2, 1, 3),
                flags=TO_OUTPUT | SECOND_FROM_SYSTEM,
                at=(0x10, 0x30, 0),
                exponents=(1, -1, 0, 0),
            )
        ],
        {
            INPUT + 0x10: signed([1, -3, 2, 4, 5, 88, -6, 88]),
            SYSTEM + 0x30: signed([1, 3, -1, 100, -7, 88, 8, 88]),
        },
        {OUTPUT: signed([3, -4, 4, 58, 7, 0, -8, 0])},
    )


def sum_packed() -> Case:
    """Fully connected data lies four to a beat with C = 3, N = 4: 1..5 and 10, 20, -30, 120, 9; ReLU and limit."""
    return of_layers(
        9,
        [layer(ADDITION, (1, 1, 5), (1, 1, 5), flags=TO_OUTPUT | FC_FORMAT | RELU, at=(0, 0x20, 0))],
        {
            INPUT: signed([1, 2, 3, 14, 5, 60, 60, 60]),
            INPUT + 0x20: signed([10, 20, -30, 120, 9, 60, 60, 60]),
        },
        {OUTPUT: signed([11, 22, 0, 127, 14, 0, 0, 0])},
    )


CASES = by_name(
    largest, average_of_three, average_of_halves, average_limited, dense, dense_packed, sum_of_two, sum_packed
)
