"""Measured layers through the model, and the mathematics of their FP16 without rounding."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from nvdla_models.cdp import CdpParams
from nvdla_models.fp16 import FP16, FP17, FP32
from nvdla_models.lut import HybridLut, LutChoice, LutTable, Place
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.stimulus.model import play_model
from tests.measured import FULL, MeasuredLayer, scenario_of

Float64Array = npt.NDArray[np.float64]


@cache
def played(layer: MeasuredLayer) -> Expectation:
    """Return what the model predicts that a measured layer writes."""
    (expected,) = play_model(scenario_of(layer), FULL).expectations
    return expected


def finite(bits: npt.NDArray[np.uint16]) -> Float64Array:
    """Return FP16 numbers; infinity is the largest number of FP17."""
    return np.clip(FP16.decode(bits), -FP17.max_value, FP17.max_value)


def average(layer: MeasuredLayer) -> Float64Array:
    """Return the float64 average of each window of a measured PDP layer."""
    height, width = layer.meta["kernel"]
    cube = finite(layer.arrays["input"])
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
    entries = finite(table.entries)
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


def normalised(params: CdpParams, data: Float64Array) -> Float64Array:
    """Return what CDP makes of a cube without any rounding."""
    size = params.local_size or 1
    half = size // 2
    padded = np.pad(data * data, ((half, half), (0, 0), (0, 0)))
    total = data if params.local_size is None else sum(padded[k : k + len(data)] for k in range(size))
    gain = lookup(params.lut, np.asarray(total))
    return gain * data if params.multiply else gain + 0.0 * data


def normalisation(layer: MeasuredLayer) -> tuple[Float64Array, Float64Array, int]:
    """Return the reference of a measured CDP layer, its input, and the channels of its window."""
    params, data = played(layer).started.layer.params, finite(layer.arrays["input"])
    assert isinstance(params, CdpParams)
    return normalised(params, data), data, params.local_size or 1
