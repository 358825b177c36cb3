"""Float64 references of the measured FP16 layers: the mathematics, with no rounding of the pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models.fp16 import FP16, FP17, FP32
from models.lut import HybridLut, LutChoice, LutTable, Place, Slope
from tests.unit.models.hardware_files import MeasuredLayer

Float64Array = npt.NDArray[np.float64]


def finite(bits: npt.NDArray[np.uint16]) -> Float64Array:
    """Return FP16 numbers; infinity is the largest number of FP17."""
    return np.clip(FP16.decode(bits), -FP17.max_value, FP17.max_value)


def average(layer: MeasuredLayer) -> Float64Array:
    """Return the float64 average of each window of a measured PDP layer."""
    height, width = layer.meta["kernel"]
    cube = finite(layer.arrays["input"])
    views = np.lib.stride_tricks.sliding_window_view(cube, (height, width), axis=(1, 2))
    return views.mean(axis=(-2, -1))


def programmed(layer: MeasuredLayer, unit: str) -> HybridLut:
    """Build the tables from a measured layer's register writes."""
    fp16 = layer.meta.get("precision", layer.meta.get("proc_precision")) == "fp16"
    dtype = np.uint16 if fp16 else np.int16

    def edge(name: str) -> int:
        if unit == "SDP":
            return layer.field(f"SDP.S_LUT_{name}", 0, 32, signed=not fp16)
        high = layer.field(f"CDP.S_LUT_{name}_HIGH", 0, 6, signed=not fp16)
        return (0 if fp16 else high << 32) + layer.registers[f"CDP.S_LUT_{name}_LOW"]

    def table(name: str, select_lsb: int) -> LutTable:
        slopes = [
            Slope(
                layer.field(f"{unit}.S_LUT_{name}_SLOPE_SCALE", 16 * side, 16, signed=not fp16),
                layer.field(f"{unit}.S_LUT_{name}_SLOPE_SHIFT", 5 * side, 5, signed=True),
            )
            for side in (0, 1)
        ]
        exponent = name == "LE" and layer.field(f"{unit}.S_LUT_CFG", 0, 1) == 0
        return LutTable(
            layer.arrays[f"lut_{name.lower()}"].view(dtype),
            edge(f"{name}_START"),
            edge(f"{name}_END"),
            layer.field(f"{unit}.S_LUT_INFO", select_lsb, 8, signed=True),
            exponent,
            layer.field(f"{unit}.S_LUT_INFO", 0, 8, signed=True) if exponent else 0,
            *slopes,
        )

    priorities = [LutChoice(layer.field(f"{unit}.S_LUT_CFG", lsb, 1)) for lsb in (4, 5, 6)]
    return HybridLut(table("LE", 8), table("LO", 16), *priorities)


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


def normalisation(layer: MeasuredLayer) -> tuple[Float64Array, Float64Array, int]:
    """Return the reference of a measured CDP layer, its input, and the channels of its window."""
    data = finite(layer.arrays["input"])
    assert FP17.max_value >= np.nanmax(np.abs(data))
    bypass = layer.registers["CDP.D_FUNC_BYPASS"]
    size = 1 if bypass & 1 else layer.meta["local_size"]
    half = size // 2
    padded = np.pad(data * data, ((half, half), (0, 0), (0, 0)))
    total = data if bypass & 1 else sum(padded[k : k + len(data)] for k in range(size))
    gain = lookup(programmed(layer, "CDP"), np.asarray(total))
    return (gain + 0.0 * data if bypass & 2 else gain * data), data, size
