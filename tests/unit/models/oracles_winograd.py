"""One tile of a Winograd convolution in plain Python numbers, written apart from the model as its oracle."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from nvdla_models.conv import ConvParams
from nvdla_models.fp16 import FP16, FP17, FP32
from nvdla_models.precision import Precision
from tests.unit.models import oracles_conv
from tests.unit.models.oracles_conv_fp16 import (
    Cube,
    aligned,
    first_nan,
    fp32_nan,
    is_nan,
    round_to,
    value,
)
from tests.unit.models.precision import oracle

# What each output of the transform adds and subtracts along one axis.
BEFORE = ((1, 0, -1, 0), (0, 1, 1, 0), (0, -1, 1, 0), (0, 1, 0, -1))
AFTER = ((1, 1, 1, 0), (0, 1, -1, -1))


def tile(params: ConvParams, cube: Cube, channel: int, tile_y: int, tile_x: int) -> list[list[int]]:
    """Return the 4 x 4 elements of one tile of ``cube`` [c][y][x]."""
    plane = cube[channel]
    rows = []
    for down in range(4):
        y = 2 * tile_y + down - params.pad_top
        row = []
        for across in range(4):
            x = 2 * tile_x + across - params.pad_left
            inside = 0 <= y < len(plane) and 0 <= x < len(plane[0])
            row.append(plane[y][x] if inside else params.pad_value)
        rows.append(row)
    return rows


def integer_tile(
    params: ConvParams, cube: Cube, kernel: Cube, tile_y: int, tile_x: int
) -> list[list[tuple[int, bool]]]:
    """Return 2 x 2 outputs of CACC for a transformed kernel [c][4][4], each with its flag."""
    sums = [[0] * 4 for _ in range(4)]
    for c in range(len(cube)):
        elements = tile(params, cube, c, tile_y, tile_x)
        for u in range(4):
            for v in range(4):
                total = sum(BEFORE[u][i] * BEFORE[v][j] * elements[i][j] for i in range(4) for j in range(4))
                half = (1 << params.pre_truncate) // 2
                shifted = (abs(total) + half >> params.pre_truncate) * (1 if total >= 0 else -1)
                sums[u][v] += kernel[c][u][v] * oracles_conv.clip(shifted, params.precision.bits)
    bits = oracles_conv.WIDTHS[params.precision]
    assert params.precision is not Precision.FP16
    return [
        [oracles_conv.truncate(oracles_conv.clip(after(sums, p, q), bits), params.truncate) for q in range(2)]
        for p in range(2)
    ]


def after(sums: list[list[int]], p: int, q: int) -> int:
    return sum(AFTER[p][u] * AFTER[q][v] * sums[u][v] for u in range(4) for v in range(4))


def fp17(number: Fraction) -> Fraction:
    """Round to FP17."""
    return oracle.decode(oracle.encode(number, FP17), FP17)


def transformed(elements: list[list[int]]) -> list[list[int]]:
    """Return the transformed FP16 patterns of a tile without NaN; the sign of a zero does not matter."""
    numbers = [[fp17(value(bits, infinity=2047 << 21)) for bits in row] for row in elements]

    def along(line: list[Fraction]) -> list[Fraction]:
        one, two, three, four = line
        return [fp17(one - three), fp17(two + three), fp17(three - two), fp17(two - four)]

    columns = [along([numbers[i][j] for i in range(4)]) for j in range(4)]
    rows = [along([columns[j][i] for j in range(4)]) for i in range(4)]
    return [[oracle.encode(number, FP16) for number in row] for row in rows]


def fp16_tile(
    params: ConvParams,
    cube: Cube,
    kernel: Cube,
    tile_y: int,
    tile_x: int,
    transform: Callable[[list[list[int]]], list[list[int]]] = transformed,
) -> list[list[int]]:
    """Return 2 x 2 FP32 patterns for a transformed kernel [c][4][4]."""
    partial = [[Fraction(0)] * 2 for _ in range(2)]
    for first in range(0, len(cube), 4):
        channels = range(first, min(first + 4, len(cube)))
        tiles = {c: tile(params, cube, c, tile_y, tile_x) for c in channels}
        poisoned = any(is_nan(bits) for c in channels for row in tiles[c] for bits in row)
        assert not poisoned, "a NaN's way through the transform is not modelled here"
        data = {c: transform(tiles[c]) for c in channels}
        pairs = [(kernel[c][u][v], data[c][u][v]) for u in range(4) for v in range(4) for c in channels]
        nan = first_nan(pairs)
        if nan is not None:
            return [[fp32_nan(nan)] * 2 for _ in range(2)]
        products, unit = aligned(pairs)
        count = len(channels)
        sums = [[sum(products[(4 * u + v) * count : (4 * u + v + 1) * count]) for v in range(4)] for u in range(4)]
        for p in range(2):
            for q in range(2):
                partial[p][q] = round_to(partial[p][q] + after(sums, p, q) * unit, 39)
    return [[oracle.encode(round_to(number, 24), FP32) for number in row] for row in partial]
