"""One output element of the PDP in plain Python integers, written apart from the model as its oracle."""

from __future__ import annotations

from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision

Plane = list[list[int]]

# Bits of row sum, contribution of missing rows, window sum, first product, first quotient, output.
WIDTHS = {
    ("nv_small", Precision.INT8): (11, 14, 15, 31, 11, 8),
    ("nv_full", Precision.INT8): (11, 14, 14, 31, 11, 8),
    ("nv_full", Precision.INT16): (22, 22, 22, 39, 19, 16),
}


def signed(value: int, bits: int) -> int:
    """Read the low bits as two's complement."""
    low = value % (1 << bits)
    return low - (1 << bits) if low >= 1 << (bits - 1) else low


def drop_fraction(product: int, bits: int) -> int:
    """Divide by 2**16, half away from zero, in a register of ``bits`` bits."""
    whole, fraction = divmod(abs(product), 2**16)
    up = fraction >= 2**15
    if product < 0:
        return signed(-(whole + up), bits)
    return signed(whole % (1 << (bits - 1)) + up, bits)


def element(params: PdpParams, plane: Plane, out_y: int, out_x: int, build: str) -> int:
    """Pool one window of one channel on a build; ``plane`` is indexed [y][x]."""
    top = out_y * params.stride_y - params.pad_top
    left = out_x * params.stride_x - params.pad_left
    rows: list[list[int]] = []
    for y in range(top, top + params.kernel_height):
        if 0 <= y < len(plane):
            columns = range(left, left + params.kernel_width)
            rows.append([plane[y][x] for x in columns if 0 <= x < len(plane[y])])
    if params.method is PoolMethod.MAX:
        return max(max(row) for row in rows)
    if params.method is PoolMethod.MIN:
        return min(min(row) for row in rows)

    row_bits, pad_bits, total_bits, product_bits, middle_bits, output_bits = WIDTHS[build, params.precision]
    total = 0
    for row in rows:
        row_sum = sum(row)
        absent = params.kernel_width - len(row)
        if absent:
            row_sum = signed(row_sum + params.pad_values[absent - 1], row_bits)
        total += row_sum
    absent = params.kernel_height - len(rows)
    if absent:
        total += signed(params.pad_values[absent - 1] * params.kernel_width, pad_bits)
    total = signed(total, total_bits)
    middle = drop_fraction(signed(total * params.recip_width, product_bits), middle_bits)
    return drop_fraction(middle * params.recip_height, output_bits)
