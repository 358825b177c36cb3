"""One output element of the convolution core in plain Python integers, written apart from the model as its oracle."""

from __future__ import annotations

from nvdla_models.conv import ConvParams
from nvdla_models.precision import Precision

Cube = list[list[list[int]]]

# Bits of the accumulator.
WIDTHS = {Precision.INT8: 34, Precision.INT16: 48}


def clip(value: int, bits: int) -> int:
    """Saturate to a signed number of ``bits`` bits."""
    return max(-(1 << (bits - 1)), min((1 << (bits - 1)) - 1, value))


def truncate(total: int, shift: int) -> tuple[int, bool]:
    """Shift as CACC's barrel shifter does: 16 bits below the point, one to round by and 15 that stick."""
    fixed = total * 2**16 // 2**shift
    whole, fraction = fixed // 2**16, fixed % 2**16
    guide, stick = fraction >= 2**15, fraction % 2**15 != 0
    up = guide and (total >= 0 or stick)
    if total < 0 and whole < -(2**31):
        return -(2**31), True
    if total >= 0 and whole + up >= 2**31:
        return 2**31 - 1, True
    return whole + up, False


def element(params: ConvParams, cube: Cube, kernel: Cube, out_y: int, out_x: int) -> tuple[int, bool]:
    """Convolve one window; ``cube`` and ``kernel`` are indexed [c][y][x]."""
    total = 0
    for c in range(len(cube)):
        height, width = len(cube[c]), len(cube[c][0])
        for r in range(len(kernel[c])):
            y = out_y * params.stride_y - params.pad_top + r * params.dilation_y
            for s in range(len(kernel[c][r])):
                x = out_x * params.stride_x - params.pad_left + s * params.dilation_x
                inside = 0 <= y < height and 0 <= x < width
                total += kernel[c][r][s] * (cube[c][y][x] if inside else params.pad_value)
    return truncate(clip(total, WIDTHS[params.precision]), params.truncate)
