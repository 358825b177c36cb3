"""An FP16 convolution bit by bit, as CMAC and CACC compute it.

Up to 64 products at a time form an atom. Their exponents are compared in groups of four, and all are
shifted to the largest, one unit of whose last bit is 2**(4 * group - 50); the shifted products are added
exactly. CACC adds one atom after the other to partial sums of 39 significant bits and delivers FP32; both
round half away from zero. Of NaN, the first atom's counts, a weight's before the data's, and the lowest
channel's.

Source: precision document, "FP16 error threshold"; measured on the public nv_full RTL, every output of the
measured FP16 convolutions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.conv.floating import operands
from nvdla_models.conv.multiplier import FARTHEST, GROUP_BITS, aligned, split
from nvdla_models.conv.params import ConvParams, check_arrays
from nvdla_models.conv.windows import line_runs, tile_runs
from nvdla_models.fp16 import FP16, FP32, BitsArray, nan_bits
from nvdla_models.tolerance import Float64Array
from nvdla_models.winograd_transform import OUTPUT_TILE, TILE, transform_fp16, untransform

_LAST_BIT = -50
_PARTIAL_BITS = 39
"""Significant bits of a partial sum: 48 bits hold 8 of exponent and 40 of a signed mantissa."""

_FINAL_BITS = FP32.mantissa_bits + 1
_TILE_CHANNELS = 4
_TILE_BYTES = 64 * TILE * TILE * 8
_PRODUCTS_AT_ONCE = 1 << 16

Places = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
"""Channel, row and column in the kernel of each element of an atom."""


@dataclass(frozen=True)
class AtomOrder:
    """How a kernel is cut into atoms.

    Attributes:
        channels: most elements of an atom, ATOMIC_C.
        image: whether the columns of a line count as channels.
        line_group: lines that share an atom, in an image alone.
    """

    channels: int
    image: bool = False
    line_group: int = 1

    def atoms(self, shape: tuple[int, ...]) -> Iterator[Places]:
        """Yield the atoms of kernels (K, C, R, S) in the order they are accumulated."""
        _, channels, height, width = shape
        if not self.image:
            for first in range(0, channels, self.channels):
                block = np.arange(first, min(first + self.channels, channels))
                for r in range(height):
                    for s in range(width):
                        yield block, np.full_like(block, r), np.full_like(block, s)
            return
        for first in range(0, channels * width, self.channels):
            block = np.arange(first, min(first + self.channels, channels * width))
            for top in range(0, height, self.line_group):
                lines = np.arange(top, min(top + self.line_group, height))
                yield (
                    np.tile(block % channels, len(lines)),
                    lines.repeat(len(block)),
                    np.tile(block // channels, len(lines)),
                )


def run_exact(params: ConvParams, cube: NDArray[Any], weights: NDArray[Any], order: AtomOrder) -> BitsArray:
    """Compute what an FP16 convolution hands to SDP, bit by bit.

    Args:
        params: the layer.
        cube: (C, H, W) uint16 patterns.
        weights: (K, C, R, S) uint16 patterns; (K, C, 4, 4) transformed ones for Winograd.
        order: in which the build multiplies; nothing for Winograd.

    Returns:
        uint32 (K, H_out, W_out), FP32 patterns.

    Raises:
        InputError: when types, shapes or sizes do not fit each other or the hardware, or for integers.

    Source: measured on the public nv_full RTL.
    """
    check_arrays(params, cube, weights, is_float=True)
    shape = params.output_shape(cube.shape, weights.shape)
    padded, weights = operands(params, cube, weights)
    result = np.empty(shape, FP32.dtype)
    runs = _winograd_runs(padded, weights, shape) if params.winograd else _runs(params, padded, weights, shape, order)
    for kernels, rows, patterns in runs:
        result[kernels, rows] = patterns.reshape(result[kernels, rows].shape)
    return result


class _Sums:
    """Partial sums of CACC, and the first NaN of each."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._partial = np.zeros(shape)
        self._nan = np.zeros(shape, np.uint16)

    def add(self, products: NDArray[np.float64], weight_nan: NDArray[np.uint16], data_nan: NDArray[np.uint16]) -> None:
        """Add one atom; NaN patterns are those of each kernel and each pixel, 0 without one."""
        self._partial = _accumulated(self._partial, products)
        if weight_nan.any() or data_nan.any():
            found = np.where(weight_nan[:, np.newaxis], weight_nan[:, np.newaxis], data_nan[np.newaxis])
            found = found.reshape(found.shape + (1,) * (self._nan.ndim - found.ndim))
            self._nan = np.where(self._nan, self._nan, found)

    def patterns(self) -> BitsArray:
        """Return FP32 patterns."""
        numbers = FP32.encode(_rounded(self._partial, np.zeros_like(self._partial), _FINAL_BITS))
        return np.where(self._nan != 0, nan_bits(self._nan, FP16, FP32), numbers).astype(FP32.dtype)


def _runs(
    params: ConvParams, padded: NDArray[Any], weights: NDArray[Any], shape: tuple[int, int, int], order: AtomOrder
) -> Iterator[tuple[slice, slice, BitsArray]]:
    kernels, height, width = shape
    atoms = list(order.atoms(weights.shape))
    for block, lines in _blocks(kernels, order.channels, width):
        for rows in line_runs(lines, (height, width), 1):
            sums = _Sums((len(range(*block.indices(kernels))), (rows.stop - rows.start) * width))
            y = np.arange(rows.start, rows.stop)[:, np.newaxis] * params.stride_y
            x = np.arange(width) * params.stride_x
            for c, r, s in atoms:
                down, right = r * params.dilation_y, s * params.dilation_x
                data = padded[
                    c[:, np.newaxis, np.newaxis],
                    y + down[:, np.newaxis, np.newaxis],
                    x + right[:, np.newaxis, np.newaxis],
                ].reshape(len(c), -1)
                factors = weights[block][:, c, r, s]
                products, unit = _aligned(factors, data)
                sums.add(
                    np.ldexp(products.sum(axis=1).astype(np.float64), unit), _first_nan(factors), _first_nan(data.T)
                )
            yield block, rows, sums.patterns()


def _winograd_runs(
    padded: NDArray[Any], weights: NDArray[Any], shape: tuple[int, int, int]
) -> Iterator[tuple[slice, slice, BitsArray]]:
    """Yield sums of tiles: an atom is 4 x 4 elements of 4 channels, whose products become 2 x 2 sums."""
    kernels, height, width = shape
    for block, _ in _blocks(kernels, TILE * TILE * _TILE_CHANNELS, 1):
        count = len(range(*block.indices(kernels)))
        for rows, cut in tile_runs(padded, (height, width), _TILE_BYTES * count):
            data = transform_fp16(cut)
            down, across = data.shape[1:3]
            sums = _Sums((count, down * across, OUTPUT_TILE, OUTPUT_TILE))
            for first in range(0, len(data), _TILE_CHANNELS):
                part = slice(first, first + _TILE_CHANNELS)
                # In a small cube the channel is fastest.
                elements = data[part].transpose(3, 4, 0, 1, 2).reshape(-1, down * across)
                factors = weights[block, part].transpose(0, 2, 3, 1).reshape(count, -1)
                products, unit = _aligned(factors, elements)
                positions = products.reshape(count, TILE, TILE, -1, down * across).sum(axis=3)
                outputs = untransform(positions.transpose(0, 3, 1, 2)[:, :, np.newaxis])
                outputs = outputs.reshape(count, down * across, OUTPUT_TILE, OUTPUT_TILE).astype(np.float64)
                sums.add(
                    np.ldexp(outputs, unit[..., np.newaxis, np.newaxis]), _first_nan(factors), _first_nan(elements.T)
                )
            tiles = sums.patterns().reshape(count, down, across, OUTPUT_TILE, OUTPUT_TILE)
            yield block, rows, tiles.transpose(0, 1, 3, 2, 4)


def _blocks(kernels: int, elements: int, width: int) -> Iterator[tuple[slice, int]]:
    """Yield kernels to compute at once, and how many output lines with them."""
    step = max(1, min(kernels, _PRODUCTS_AT_ONCE // (elements * width)))
    for first in range(0, kernels, step):
        yield slice(first, first + step), max(1, _PRODUCTS_AT_ONCE // (elements * width * step))


def _aligned(weights: NDArray[Any], data: NDArray[Any]) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the products of one atom, and the exponent of their unit.

    Args:
        weights: (K, elements).
        data: (elements, pixels).

    Returns:
        (K, elements, pixels); (K, pixels).
    """
    weight_group, weight, weight_sign = (part[:, :, np.newaxis] for part in split(weights))
    data_group, element, data_sign = split(data)
    groups = np.where((weight != 0) & (element != 0), weight_group + data_group, -FARTHEST)
    largest = groups.max(axis=1, initial=0)
    steps = largest[:, np.newaxis] - groups
    negative = weight_sign != data_sign
    product = weight * element
    result = np.where(steps == 0, np.where(negative, -product, product), 0)
    k, e, p = np.nonzero((steps > 0) & (steps < FARTHEST))
    result[k, e, p] = aligned(weight[k, e, 0], element[e, p], negative[k, e, p], steps[k, e, p])
    return result, GROUP_BITS * largest + _LAST_BIT


def _first_nan(bits: NDArray[Any]) -> NDArray[np.uint16]:
    """Return the first NaN of each row, 0 where there is none."""
    nan = FP16.is_nan(bits)
    first = bits[np.arange(len(bits)), nan.argmax(axis=1)]
    return np.where(nan.any(axis=1), first, 0).astype(np.uint16)


def _accumulated(partial: Float64Array, products: Float64Array) -> Float64Array:
    """Return partial sums with one more sum of products, rounded.

    Args:
        partial: of 39 significant bits.
        products: of at most 53 significant bits, same shape.

    Source: measured on the public nv_full RTL.
    """
    total = partial + products
    # What float64 had to drop decides where the rest seems to lie exactly half way (Knuth's two-sum).
    second = total - partial
    dropped = (partial - (total - second)) + (products - second)
    return _rounded(total, dropped, _PARTIAL_BITS)


def _rounded(values: Float64Array, dropped: Float64Array, bits: int) -> Float64Array:
    """Round to significant bits, half away from zero, ``dropped`` being the rest of each value."""
    _, exponent = np.frexp(values)
    steps = np.abs(np.ldexp(values, bits - exponent))
    whole = np.floor(steps)
    rest = steps - whole
    up = (rest > 0.5) | ((rest == 0.5) & (dropped * np.sign(values) >= 0))
    rounded: Float64Array = np.copysign(np.ldexp(whole + up, exponent - bits), values)
    return rounded
