"""One FP16 output of the convolution core in plain Python numbers, written apart from the model as its oracle."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from nvdla_models.conv import ConvParams
from nvdla_models.fp16 import FP16, FP32
from tests.unit.models.precision import oracle

Cube = list[list[list[int]]]
Element = tuple[int, int]
NAN_FP32 = 0x7F800000


def is_nan(bits: int) -> bool:
    return bits & 0x7C00 == 0x7C00 and bits & 0x3FF != 0


def value(bits: int, infinity: int = 65536) -> Fraction:
    """Return a finite number, or what stands for infinity."""
    if bits & 0x7FFF == FP16.infinity_bits:
        return Fraction(-infinity if bits >> 15 else infinity)
    return oracle.decode(bits, FP16)


def fields(bits: int) -> tuple[int, int]:
    """Return exponent group and shifted mantissa."""
    exponent, fraction = bits >> 10 & 31, bits & 1023
    if exponent == 0:
        return 0, 2 * fraction
    return exponent // 4, (1024 + fraction) * 2 ** (exponent % 4)


def add_three(numbers: list[int]) -> list[int]:
    """Add numbers as a row of full adders does, in threes, until two are left."""
    while len(numbers) > 2:
        left = []
        while len(numbers) >= 3:
            a, b, c = numbers[:3]
            left += [a ^ b ^ c, (a & b | b & c | a & c) << 1]
            numbers = numbers[3:]
        numbers = left + numbers
    return numbers


def halves(weight: int, data: int, negative: bool) -> list[int]:
    """Return the two numbers that a multiplier keeps of a product; their sum has an offset of 0x55550000."""
    rows, missing = [], []
    for place in range(8):
        two_bits_and_one_below = (weight * 2 >> 2 * place) % 8
        digit = (two_bits_and_one_below + 1) // 2 - 4 * (two_bits_and_one_below // 4)
        digit = -digit if negative else digit
        multiple = digit * data
        is_complement = digit < 0
        rows.append(65536 + (~-multiple if is_complement else multiple))
        missing.append(int(is_complement))
    low = [rows[0]] + [rows[n] * 4**n + missing[n - 1] * 4 ** (n - 1) for n in (1, 2, 3)] + [missing[3] * 64]
    high = [rows[4]] + [rows[4 + n] * 4**n + missing[3 + n] * 4 ** (n - 1) for n in (1, 2, 3)] + [missing[7] * 64]
    return add_three(add_three(low) + [256 * number for number in add_three(high)])


def product(weight: int, data: int, negative: bool, steps: int) -> int:
    """Return a product shifted right by so many steps of four bits, each half on its own."""
    if steps > 7:
        return 0
    one, other = halves(weight, data, negative)
    assert one + other - 0x55550000 == (-1 if negative else 1) * weight * data
    return (one >> 4 * steps) + (other >> 4 * steps) - (0x55550000 >> 4 * steps)


def aligned(pairs: list[Element]) -> tuple[list[int], Fraction]:
    """Return the products of an atom of (weight, data), and the value of their unit."""
    groups = [
        fields(w)[0] + fields(d)[0] if w & 0x7FFF and d & 0x7FFF and not is_nan(w) and not is_nan(d) else None
        for w, d in pairs
    ]
    largest = max((group for group in groups if group is not None), default=0)
    products = []
    for (w, d), group in zip(pairs, groups, strict=True):
        negative = (w ^ d) >> 15 == 1
        products.append(0 if group is None else product(fields(w)[1], fields(d)[1], negative, largest - group))
    return products, Fraction(2) ** (4 * largest - 50)


def round_to(number: Fraction, bits: int) -> Fraction:
    """Round to significant bits, half away from zero."""
    if number == 0:
        return number
    unit = Fraction(2) ** (oracle.leading(number) - bits + 1)
    whole = (abs(number) / unit + Fraction(1, 2)) // 1
    return (whole if number > 0 else -whole) * unit


def first_nan(pairs: list[Element]) -> int | None:
    for side in (0, 1):
        for pair in pairs:
            if is_nan(pair[side]):
                return pair[side]
    return None


def taps(
    params: ConvParams, cube: Cube, kernel: Cube, out_y: int, out_x: int
) -> Iterator[tuple[int, int, list[Element]]]:
    """Yield for every tap (r, s) of a kernel [c][r][s] its weights with the data [c][y][x] they meet."""
    height, width = len(cube[0]), len(cube[0][0])
    for r in range(len(kernel[0])):
        y = out_y * params.stride_y - params.pad_top + r * params.dilation_y
        for s in range(len(kernel[0][0])):
            x = out_x * params.stride_x - params.pad_left + s * params.dilation_x
            inside = 0 <= y < height and 0 <= x < width
            yield r, s, [(kernel[c][r][s], cube[c][y][x] if inside else params.pad_value) for c in range(len(cube))]


def flushed(pairs: list[Element], params: ConvParams) -> list[Element]:
    if not params.nan_to_zero:
        return pairs
    return [(0 if is_nan(w) else w, 0 if is_nan(d) else d) for w, d in pairs]


def atoms_of_cube(
    params: ConvParams, cube: Cube, kernel: Cube, out_y: int, out_x: int, atom: int
) -> Iterator[list[Element]]:
    for first in range(0, len(cube), atom):
        for _, _, pairs in taps(params, cube, kernel, out_y, out_x):
            yield flushed(pairs[first : first + atom], params)


def atoms_of_image(
    params: ConvParams, cube: Cube, kernel: Cube, out_y: int, out_x: int, atom: int, line_group: int
) -> Iterator[list[Element]]:
    lines: dict[int, list[Element]] = {}
    for r, _, pairs in taps(params, cube, kernel, out_y, out_x):
        lines.setdefault(r, []).extend(pairs)
    for first in range(0, len(lines[0]), atom):
        for top in range(0, len(lines), line_group):
            group = range(top, min(top + line_group, len(lines)))
            yield flushed([pair for r in group for pair in lines[r][first : first + atom]], params)


def accumulated(atoms: list[list[Element]]) -> int:
    """Return the FP32 pattern that CACC delivers."""
    partial = Fraction(0)
    for pairs in atoms:
        nan = first_nan(pairs)
        if nan is not None:
            return fp32_nan(nan)
        products, unit = aligned(pairs)
        partial = round_to(partial + sum(products) * unit, 39)
    return oracle.encode(round_to(partial, 24), FP32)


def fp32_nan(bits: int) -> int:
    return bits >> 15 << 31 | NAN_FP32 | bits & 1023
