"""Convolutions whose results need no more than a look at their sources."""

from __future__ import annotations

from tests.sim.dlhdl.play import (
    CONV_WEIGHTS,
    CONVOLUTION,
    FROM_SYSTEM,
    INPUT,
    LIST,
    OUTPUT,
    RELU,
    SYSTEM,
    TO_OUTPUT,
    Case,
    batch,
    by_name,
    layer,
    of_layers,
    program,
    signed,
    words,
    write,
)


def channels() -> Case:
    """Each of three kernels takes one of three channels, C = N = 2.

    Channel z has 16 z + position. Kernel 0 takes channel 0; kernel 1 channel 2, plus 10; kernel 2 channel 1, times
    -2, plus 5. The padding lanes of source and weights are poison.
    """
    source = [value for p in range(6) for value in (p, 16 + p)] + [value for p in range(6) for value in (32 + p, 99)]
    kernels = [1, 0, 0, 77, 0, 0, 1, 77, 0, -2, 0, 77]
    first = [value for p in range(6) for value in (p, 42 + p)]
    second = [value for p in range(6) for value in (-27 - 2 * p, 0)]
    return of_layers(
        4,
        [layer(CONVOLUTION, (3, 2, 3), (3, 2, 3), biases=0x100)],
        {
            CONV_WEIGHTS: signed(kernels),
            CONV_WEIGHTS + 0x100: words(0, 10, 5),
            INPUT: signed(source),
        },
        {OUTPUT: signed(first + second)},
    )


def shifted() -> Case:
    """A kernel of 3 x 2 with one weight moves the picture.

    The weight lies at s = 2, r = 0; stride is 2 in x and 1 in y, padding 1 to the left and on top. So the result at
    (x, y) is the source at (2 x + 1, y - 1), and 0 in row 0. The source has 5 x 3 values 10 y + x + 1; the result has
    2 x 3: x reaches 1 and 3. C = 4: three lanes of each beat are padding, and three of each result 0.
    """
    source = [value for y in range(3) for x in range(5) for value in (10 * y + x + 1, 99, 98, 97)]
    kernel = [value for tap in (0, 0, 1, 0, 0, 0) for value in (tap, 55, 56, 57)]
    result = [value for row in ((0, 0), (2, 4), (12, 14)) for value in row]
    return of_layers(
        16,
        [layer(CONVOLUTION, (5, 3, 1), (2, 3, 1), kernel=(3, 2), stride=(2, 1), padding=(1, 1, 0, 0), biases=0x100)],
        {
            CONV_WEIGHTS: signed(kernel),
            CONV_WEIGHTS + 0x100: words(0),
            INPUT: signed(source),
        },
        {OUTPUT: signed(value for v in result for value in (v, 0, 0, 0))},
    )


def rounded() -> Case:
    """The exponents 2, -1 and 2 of source, weights and result halve; halves are rounded up, also those below 0.

    Kernel 0 has weight 1, kernel 1 weight 127 and bias 1: 127 * 127 + 1 = 16130 is limited, and 127 * 1 + 1 = 128
    becomes 64; 127 * -1 + 1 = -126 becomes -63, 127 * 3 + 1 = 382 is limited to 127, and 127 * -3 + 1 to -128.
    """
    source = [3, -3, 1, -1, 127, -128]
    halves = [2, -1, 1, 0, 64, -64]
    second = [127, -128, 64, -63, 127, -128]
    return of_layers(
        4,
        [layer(CONVOLUTION, (6, 1, 1), (6, 1, 2), exponents=(2, 0, -1, 2), biases=0x10)],
        {
            CONV_WEIGHTS: signed([1, 0, 127, 0]),
            CONV_WEIGHTS + 0x10: words(0, 1),
            INPUT: signed(value for v in source for value in (v, 33)),
        },
        {OUTPUT: signed(value for pair in zip(halves, second, strict=True) for value in pair)},
    )


def scaled_up() -> Case:
    """An exponent of the result that is lower by 3 multiplies by 8; 20 * 8 is limited to 127, -17 * 8 to -128."""
    return of_layers(
        4,
        [layer(CONVOLUTION, (4, 1, 1), (4, 1, 1), exponents=(5, 0, -1, 1), biases=0x10)],
        {
            CONV_WEIGHTS: signed([1, 0]),
            CONV_WEIGHTS + 0x10: words(0),
            INPUT: signed([3, 0, -3, 0, 20, 0, -17, 0]),
        },
        {OUTPUT: signed([24, 0, -24, 0, 127, 0, -128, 0])},
    )


def three_of_four() -> Case:
    """With C = 3 and N = 4 the fourth of four channels lies alone in a second block; kernel k takes channel k + 1.

    Channel z has 10 z + position; the last kernel takes channel 0. ReLU follows: channel 0 is taken with -1, and
    becomes 0, as -0, -1 are not positive.
    """
    source = [value for p in range(2) for value in (p, 10 + p, 20 + p, 91)]
    source += [value for p in range(2) for value in (30 + p, 92, 93, 94)]
    kernels = [0, 1, 0, 81, 0, 82, 83, 84, 0, 0, 1, 81, 0, 82, 83, 84]
    kernels += [0, 0, 0, 81, 1, 82, 83, 84, -1, 0, 0, 81, 0, 82, 83, 84]
    result = [10, 20, 30, 0, 11, 21, 31, 0, 0, 0, 0, 0, 0, 0, 0, 0]
    return of_layers(
        9,
        [layer(CONVOLUTION, (2, 1, 4), (2, 1, 4), flags=TO_OUTPUT | RELU, weights=0x40, biases=0x10)],
        {
            CONV_WEIGHTS + 0x40: signed(kernels),
            CONV_WEIGHTS + 0x10: words(0, 0, 0, 0),
            INPUT: signed(source),
        },
        {OUTPUT: signed(result)},
    )


def two_layers() -> Case:
    """A second layer takes its source from the system buffer, with weights, biases and exponents of its own.

    Layer 1: 2 v + 1, exponents 0. Layer 2: (3 u + 4) / 2 at offset 0x20 of the output, u = 2 v + 1 at offset 0x40 of
    the system buffer: v = 1, 2, -3 gives u = 3, 5, -5 and 6.5, 9.5, -5.5, which halves up make 7, 10, -5.
    """
    return of_layers(
        64,
        [
            layer(CONVOLUTION, (3, 1, 1), (3, 1, 1), flags=0, at=(0, 0, 0x40), biases=0x40),
            layer(
                CONVOLUTION,
                (3, 1, 1),
                (3, 1, 1),
                flags=FROM_SYSTEM | TO_OUTPUT,
                at=(0x40, 0, 0x20),
                weights=0x80,
                biases=0xC0,
                exponents=(1, 0, 1, 3),
            ),
        ],
        {
            CONV_WEIGHTS: signed([2]),
            CONV_WEIGHTS + 0x40: words(1),
            CONV_WEIGHTS + 0x80: signed([3]),
            CONV_WEIGHTS + 0xC0: words(4),
            INPUT: signed([1, *[9] * 7, 2, *[9] * 7, -3]),
        },
        {
            SYSTEM + 0x40: signed([3, *[0] * 7, 5, *[0] * 7, -5, *[0] * 7]),
            OUTPUT + 0x20: signed([7, *[0] * 7, 10, *[0] * 7, -5, *[0] * 7]),
        },
    )


def long() -> Case:
    """Sources and results of more than 256 beats that begin 256 bytes before a border of 4 KiB; 1:1 apart from + 1."""
    values = [(7 * i) % 100 for i in range(640)]
    return of_layers(
        4,
        [layer(CONVOLUTION, (40, 16, 1), (40, 16, 1), at=(0xF00, 0, 0xF00), biases=0x10)],
        {
            CONV_WEIGHTS: signed([1, 0]),
            CONV_WEIGHTS + 0x10: words(1),
            INPUT + 0xF00: signed(value for v in values for value in (v, 50)),
        },
        {OUTPUT + 0xF00: signed(value for v in values for value in (v + 1, 0))},
    )


def bases() -> Case:
    """Three frames, with a base address of each master, input and output of their own, and a list that names others.

    Frames lie 0x10 apart and have 2 values; the result is the value itself, plus 1. IPCore_Enable is 0 at first.
    """
    lists = program(layer(CONVOLUTION, (2, 1, 1), (2, 1, 1), biases=0x20), input_size=0x10, output_size=0x20)
    script = [
        write("AXI4_Master_Activation_Data_Rd_BaseAddr", 0x800),
        write("AXI4_Master_Activation_Data_Wr_BaseAddr", 0x1000),
        write("AXI4_Master_Weight_Data_Rd_BaseAddr", 0x400),
        write("UseCustomBaseAddr", 1),
        write("InputBaseAddr", 0xC000),
        write("OutputBaseAddr", 0xE000),
        *batch(3),
    ]
    return Case(
        16,
        {
            LIST + 0x400: lists,
            CONV_WEIGHTS + 0x400: signed([1]),
            CONV_WEIGHTS + 0x420: words(1),
            0xC800: signed([1, 0, 0, 0, 2]),
            0xC810: signed([11, 0, 0, 0, 12]),
            0xC820: signed([21, 0, 0, 0, 22]),
        },
        {0xF000 + 0x20 * i: signed([10 * i + 2, 0, 0, 0, 10 * i + 3, 0, 0, 0]) for i in range(3)},
        script,
    )


CASES = by_name(channels, shifted, rounded, scaled_up, three_of_four, two_layers, long, bases)
