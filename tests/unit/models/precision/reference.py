"""Float64 references of the measured FP16 layers: the mathematics, with no rounding of the pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models.fp16 import FP16, FP17, FP32, Infinity
from models.lut import HybridLut, LutChoice, LutTable, Place
from models.tolerance_conv import Window, window_sum
from models.winograd_transform import transform_fp16, untransform
from tests.unit.models.precision.conftest import Layer

Float64Array = npt.NDArray[np.float64]


def window_of(layer: Layer) -> Window:
    """Return the sliding window of a measured convolution."""
    left, right, top, bottom = layer.meta.get("pad_LRTB", (0, 0, 0, 0))
    stride_x, stride_y = layer.meta.get("stride_xy", (1, 1))
    dilation_x, dilation_y = layer.meta.get("dilation_xy", (1, 1))
    return Window(stride_x, stride_y, dilation_x, dilation_y, left, right, top, bottom)


def convolution(layer: Layer) -> tuple[Float64Array, float | Float64Array]:
    """Return the reference of a direct convolution with its SDP stage, and the scale of its errors."""
    window = window_of(layer)
    data = Infinity.CONVOLUTION.apply(layer.arrays["input"])
    weight = Infinity.CONVOLUTION.apply(layer.arrays["weight"])
    result = window_sum(np.nan_to_num(data), np.nan_to_num(weight), window)
    # A NaN weight poisons an output even where it meets padding; a NaN of the data only inside the cube.
    poisoned = window_sum(np.isnan(data).astype(float), np.ones_like(weight), window)
    poisoned += window_sum(np.ones_like(data), np.isnan(weight).astype(float), window, pad_value=1.0)
    result[poisoned > 0] = np.nan
    scale: float | Float64Array = 1.0
    if "bs_op" in layer.arrays:
        operand = FP16.decode(layer.arrays["bs_op"])
        if operand.ndim == 3:
            return result + operand, 1.0
        result = result + operand[:, 0, np.newaxis, np.newaxis]
        slope = np.where(result < 0, operand[:, 1, np.newaxis, np.newaxis], 1.0)
        result, scale = result * slope, np.abs(slope)
    return result, scale


def winograd(tiles: npt.NDArray[np.uint16], weight: npt.NDArray[np.uint16]) -> Float64Array:
    """Return the reference of a Winograd convolution of FP16-rounded transformed operands.

    Args:
        tiles: (C, H'/2, W'/2, 4, 4) input tiles before the transform.
        weight: (K, C, 4, 4) transformed weights.
    """
    data, kernel = FP16.decode(transform_fp16(tiles)), FP16.decode(weight)
    return untransform(np.einsum("kcuv,cabuv->kabuv", kernel, data, optimize=True))


def average(layer: Layer) -> Float64Array:
    """Return the float64 average of each window of a measured PDP layer."""
    height, width = layer.meta["kernel"]
    cube = Infinity.PDP_AVERAGE.apply(layer.arrays["input"])
    views = np.lib.stride_tricks.sliding_window_view(cube, (height, width), axis=(1, 2))
    return views.mean(axis=(-2, -1))


def lookup(lut: HybridLut, x: Float64Array) -> Float64Array:
    """Interpolate the programmed tables exactly."""
    outputs, places = [], []
    for table in (lut.le, lut.lo):
        place, value = _one_table(table, x)
        places.append(place)
        outputs.append(value)
    return np.where(lut.choose(places[0], places[1]) == LutChoice.LO, outputs[1], outputs[0])


def _one_table(table: LutTable, x: Float64Array) -> tuple[npt.NDArray[Any], Float64Array]:
    entries = Infinity.CDP.apply(table.entries)
    start, end = (float(FP32.decode(np.array([edge], dtype=np.uint32))[0]) for edge in (table.start, table.end))
    distance = x - start
    below = ~(distance > 0)
    positive = np.where(below, 1.0, distance)
    if table.exponent:
        log2 = np.frexp(positive)[1] - 1
        position = log2 - table.index_offset + np.ldexp(positive, -log2) - 1.0
        start += 2.0**table.index_offset
    else:
        position = np.ldexp(positive, -table.index_select)
    below |= position < 0
    index = np.clip(np.floor(position), 0, table.last - 1).astype(np.int64)
    hit = entries[index] + (entries[index + 1] - entries[index]) * (position - index)
    slopes = FP16.decode(np.array([table.underflow.scale, table.overflow.scale], dtype=np.uint16))
    place = np.where(below, Place.UNDERFLOW, np.where(position >= table.last, Place.OVERFLOW, Place.HIT))
    value = np.select(
        [place == Place.UNDERFLOW, place == Place.OVERFLOW],
        [entries[0] + (x - start) * slopes[0], entries[-1] + (x - end) * slopes[1]],
        hit,
    )
    return place, value


def normalisation(layer: Layer, lut: HybridLut) -> tuple[Float64Array, Float64Array, int]:
    """Return the reference of a measured CDP layer, its input, and the channels of its window."""
    data = Infinity.CDP.apply(layer.arrays["input"])
    assert FP17.max_value >= np.nanmax(np.abs(data))
    bypass = layer.registers["CDP.D_FUNC_BYPASS"]
    size = 1 if bypass & 1 else layer.meta["local_size"]
    half = size // 2
    padded = np.pad(data * data, ((half, half), (0, 0), (0, 0)))
    total = data if bypass & 1 else sum(padded[k : k + len(data)] for k in range(size))
    gain = lookup(lut, np.asarray(total))
    return (gain + 0.0 * data if bypass & 2 else gain * data), data, size
