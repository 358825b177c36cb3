"""Allowances of CDP (LRN) in FP16: those of PDP, and rounding errors that its tables carry on.

A table with steep intervals enlarges the last place of a sum of squares, and where two large entries nearly
cancel, the rounding of their difference exceeds that of the result. Both follow from the number formats that
the precision document gives each step, so the allowance of an output follows from the interval it fell in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import cdp_fp16, lut_fp16
from nvdla_models.cdp import CdpParams
from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP16, FP17, FP32, BitsArray
from nvdla_models.lut import HybridLut, LutChoice, LutTable, LutUnit, Place, Slope
from nvdla_models.lut_fp16 import position
from nvdla_models.tolerance import Float64Array, Module, Tolerance, clip_reference
from nvdla_models.tolerance.pool import ABSOLUTE, EITHER, RELATIVE, magnitude

CDP_ROUNDINGS = 4
"""Difference of two entries, its part, the sum and the final product: each is rounded to FP17."""

_FP17_ROUNDING = FP17.epsilon / 2
_FP32_ROUNDING = FP32.epsilon / 2
_SQUARE_AND_PAIR = 2
"""Roundings to FP32 of a square: its own, and that of its pair; each further pair of the window adds one."""

_HIT_STEPS = 3
"""Values that an interpolation rounds to FP17 before its sum: difference of the entries, fraction, their product."""

_MISS_STEPS = 2
"""Values that a slope rounds to FP17 before its sum: distance, its product."""


def carried(params: CdpParams, cube: NDArray[np.uint16], channels: int) -> Float64Array:
    """Return how far outputs may lie apart because their tables carry rounding errors on.

    Args:
        params: a layer of FP16.
        cube: (C, H, W) FP16 patterns, padding channels included.
        channels: how many channels are real.

    Returns:
        (C, H, W); 0 where the element or what is looked up is NaN. The bound is that of one interval: a sum in
        the last place before a table's start or end may count as inside, where the table may go elsewhere.

    Source: precision document, "CDP" and "FP16 error threshold"; LUT programming; the formats of the steps
        measured on the public nv_full RTL.
    """
    data = cdp_fp16.enter(cube.reshape(len(cube), -1), channels, params.nan_to_zero)
    inputs = cdp_fp16.looked_up(params.local_size, data)
    roundings = 0 if params.local_size is None else params.local_size // 2 + _SQUARE_AND_PAIR
    factors = FP17.decode(lut_fp16.lookup(params.lut, inputs, LutUnit.CDP).values)
    error = _factor_error(params.lut, inputs, roundings * _FP32_ROUNDING) + _FP17_ROUNDING * np.abs(factors)
    if params.multiply:
        centre = np.abs(FP17.decode(data))
        error = centre * error + _FP17_ROUNDING * np.abs(centre * factors)
        factors = centre * factors
    rounded: Float64Array = error + FP16.epsilon / 2 * np.minimum(np.abs(factors), FP16.max_value)
    return np.nan_to_num(rounded, nan=0.0, posinf=FP16.max_value).reshape(cube.shape)


def cdp(max_value: Float64Array, expected: Float64Array, carried: Float64Array | float = 0.0) -> Tolerance:
    """Return the allowance of local response normalisation.

    Absolute or relative error must hold, of which the document asks for both; or four roundings to the
    11 significant bits of FP17, relative to the output: where the table's value exceeds 1 or the final
    multiplication is bypassed, the output is larger than every input and so is its rounding error; or what
    the tables carry on, where steep or nearly cancelling entries make more of the errors before them.

    Args:
        max_value: (C, H, W) from :func:`channel_window_maximum`.
        expected: (C, H, W) float64 reference.
        carried: (C, H, W) from :func:`carried`.

    Source: precision document, "FP16 error threshold", CDP; measured on the public nv_full RTL.
    """
    if expected.shape != max_value.shape:
        raise InputError(f"expected must have the shape {max_value.shape} of max_value, not {expected.shape}")
    output = np.abs(clip_reference(np.where(np.isnan(expected), 0.0, expected)))
    roundings = CDP_ROUNDINGS * FP17.epsilon / 2 * output
    allowance = np.maximum(np.maximum(ABSOLUTE, RELATIVE * max_value), np.maximum(roundings, carried))
    rule = f"{EITHER} || |a-b| <= 4 * 2^-11 * |b| || |a-b| <= what the tables carry on"
    return Tolerance(Module.CDP, rule, allowance)


def channel_window_maximum(cube: Float64Array, local_size: int) -> Float64Array:
    """Return ``max_value`` of CDP: the largest magnitude among the channels of one square sum.

    Args:
        cube: (C, H, W) float64; NaN and infinity as in :func:`nvdla_models.tolerance.pool.planar_window_maximum`.
        local_size: 3, 5, 7 or 9 channels; 1 when the square sum is bypassed.

    Returns:
        (C, H, W).

    Raises:
        InputError: for another window.

    Source: precision document, "FP16 error threshold".
    """
    if local_size not in (1, 3, 5, 7, 9):
        raise InputError(f"local_size must be 1, 3, 5, 7 or 9, not {local_size}")
    half = local_size // 2
    padded = np.pad(magnitude(cube), ((half, half), (0, 0), (0, 0)))
    views = np.lib.stride_tricks.sliding_window_view(padded, local_size, axis=0)
    largest: Float64Array = views.max(axis=-1)
    return largest


def _factor_error(lut: HybridLut, inputs: BitsArray, relative: float) -> Float64Array:
    """Return the error of what the tables return, without that of its last sum.

    Args:
        lut: both tables.
        inputs: inputs of the lookup, FP32 patterns.
        relative: of the inputs' error.
    """
    le_place, le_error = _table_error(lut.le, inputs, relative)
    lo_place, lo_error = _table_error(lut.lo, inputs, relative)
    error: Float64Array = np.where(lut.choose(le_place, lo_place) == LutChoice.LO, lo_error, le_error)
    return error


def _table_error(table: LutTable, inputs: BitsArray, relative: float) -> tuple[NDArray[Any], Float64Array]:
    place, index, fraction = position(table, inputs, LutUnit.CDP.fraction_bits)
    entries = FP16.decode(table.entries)
    entries = np.clip(entries, -FP16.max_value, FP16.max_value)
    step = np.abs(entries[index + 1] - entries[index])
    values = np.abs(FP32.decode(inputs))
    start, end = (float(FP32.decode(np.array([edge], dtype=FP32.dtype))[0]) for edge in (table.start, table.end))
    width = np.ldexp(1.0, index + table.index_offset if table.exponent else np.full_like(index, table.index_select))
    moved = relative * values + _FP32_ROUNDING * np.abs(FP32.decode(inputs) - start)
    part = np.ldexp(fraction.astype(np.float64), -LutUnit.CDP.fraction_bits)
    cut = np.ldexp(1.0, -LutUnit.CDP.fraction_bits)
    hit = step * (moved / width + cut + _HIT_STEPS * _FP17_ROUNDING * part)
    origin = start + float(np.ldexp(1.0, table.index_offset)) * table.exponent
    below = _miss_error(table.underflow, inputs, origin, relative)
    above = _miss_error(table.overflow, inputs, end, relative)
    return place, np.where(place == Place.HIT, hit, np.where(place == Place.UNDERFLOW, below, above))


def _miss_error(slope: Slope, inputs: BitsArray, origin: float, relative: float) -> Float64Array:
    scale = abs(float(FP16.decode(np.array([slope.scale & 0xFFFF], dtype=np.uint16))[0]))
    values = FP32.decode(inputs)
    distance = np.abs(values - origin)
    moved = relative * np.abs(values) + _FP32_ROUNDING * distance
    error: Float64Array = scale * (moved + _MISS_STEPS * _FP17_ROUNDING * distance)
    return error
