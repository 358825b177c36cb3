"""The lookup tables against every measured SDP and CDP layer that uses them, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models import float_ops, lut_fp16, lut_integer
from models.arithmetic import saturate
from models.converter import Converter, ConverterEncoding
from models.fp16 import FP17, FP32, flush_nan, narrow, widen
from models.lut import HybridLut, LutChoice, LutCounts, LutResult, LutTable, LutUnit, Slope
from models.precision import Precision
from tests.unit.models.precision.conftest import Layer, Measured


def programmed(layer: Layer, unit: str) -> HybridLut:
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


def sdp_fp16(layer: Layer) -> LutResult:
    """Run input, optional Y multiplication and LUT."""
    flush = layer.field("SDP.D_FEATURE_MODE_CFG", 3, 1)

    def read(name: str) -> npt.NDArray[Any]:
        return widen(flush_nan(layer.arrays[name]) if flush else layer.arrays[name], FP32)

    data = read("input")
    if "ew_op" in layer.arrays:
        data = float_ops.multiply(data, read("ew_op"), FP32)
    return lut_fp16.lookup(programmed(layer, "SDP"), data, LutUnit.SDP)


def test_every_measured_fp16_sdp_lookup_is_reproduced_bit_for_bit(measured: Measured) -> None:
    layers = [layer for layer in measured("sdp_lut_*") if layer.meta["proc_precision"] == "fp16"]
    assert len(layers) == 7
    for layer in layers:
        output = narrow(sdp_fp16(layer).values, FP17)
        np.testing.assert_array_equal(output, layer.arrays["output"], err_msg=layer.name, strict=True)


def test_the_measured_int16_sdp_lookup_of_all_65536_inputs_is_reproduced(measured: Measured) -> None:
    (layer,) = measured("sdp_lut_int16_*")
    data = layer.arrays["input"].view(np.int16).astype(np.int64)
    assert len(np.unique(data)) == 65536
    result = lut_integer.lookup(programmed(layer, "SDP"), data, LutUnit.SDP)
    output = saturate(result.values, 16).astype(np.int16)
    np.testing.assert_array_equal(output, layer.arrays["output"].view(np.int16), strict=True)


def test_the_hardware_counts_hits_at_least_as_often_as_the_model(measured: Measured) -> None:
    for layer in measured("sdp_lut_*"):
        if layer.meta["proc_precision"] == "fp16":
            result = sdp_fp16(layer)
        else:
            data = layer.arrays["input"].view(np.int16).astype(np.int64)
            result = lut_integer.lookup(programmed(layer, "SDP"), data, LutUnit.SDP)
        counts = LutCounts.measured(programmed(layer, "SDP"), result.le_place, result.lo_place)
        status = layer.meta["status_read_after_done"]
        for ours, name in (
            (counts.le_hit, "LE_HIT"),
            (counts.lo_hit, "LO_HIT"),
            (counts.underflow, "UFLOW"),
            (counts.overflow, "OFLOW"),
            (counts.hybrid, "HYBRID"),
        ):
            surplus = status[f"SDP.D_PERF_LUT_{name}"] - ours
            # The surplus is idle slots of the 16-wide pipeline, far fewer than the inputs.
            assert 0 <= surplus <= 400, (layer.name, name, surplus)


def cdp_window_sum(values: npt.NDArray[Any], size: int) -> npt.NDArray[np.uint32]:
    """Sum the squares over channels in the hardware's order: inner pair, centre, outer pairs."""
    half = size // 2
    squares = float_ops.multiply(values, values, FP32)
    padded = np.pad(squares, ((half, half), (0, 0), (0, 0)))
    channels = len(values)

    def at(distance: int) -> npt.NDArray[np.uint32]:
        return padded[half + distance : half + distance + channels]

    total = float_ops.add(float_ops.add(at(-1), at(1), FP32), at(0), FP32)
    for distance in range(2, half + 1):
        total = float_ops.add(total, float_ops.add(at(-distance), at(distance), FP32), FP32)
    return total


def cdp_fp16(layer: Layer) -> npt.NDArray[np.uint16]:
    """Run a CDP layer."""
    flush = layer.registers["CDP.D_NAN_FLUSH_TO_ZERO"]
    data = widen(flush_nan(layer.arrays["input"]) if flush else layer.arrays["input"], FP17)
    exact = widen(data, FP32, FP17)
    bypass = layer.registers["CDP.D_FUNC_BYPASS"]
    total = exact if bypass & 1 else cdp_window_sum(exact, layer.meta["local_size"])
    result = lut_fp16.lookup(programmed(layer, "CDP"), total, LutUnit.CDP).values
    product = result if bypass & 2 else float_ops.multiply(result, data, FP17)
    return narrow(np.where(FP17.is_nan(data), data, product).astype(FP17.dtype), FP17)


def test_every_measured_fp16_cdp_lookup_is_reproduced_bit_for_bit(measured: Measured) -> None:
    layers = [layer for layer in measured("cdp_*") if layer.meta["precision"] == "fp16"]
    assert len(layers) == 15
    for layer in layers:
        np.testing.assert_array_equal(cdp_fp16(layer), layer.arrays["output"], err_msg=layer.name, strict=True)


def test_every_measured_integer_cdp_lookup_is_reproduced_bit_for_bit(measured: Measured) -> None:
    layers = [layer for layer in measured("cdp_*") if layer.meta["precision"] != "fp16"]
    assert len(layers) == 3
    for layer in layers:
        bits = 8 if layer.meta["precision"] == "int8" else 16
        dtype = np.int8 if bits == 8 else np.int16
        enter = Converter(
            layer.field("CDP.D_DATIN_OFFSET", 0, 16, True),
            layer.field("CDP.D_DATIN_SCALE", 0, 16, True),
            layer.field("CDP.D_DATIN_SHIFTER", 0, 5),
            ConverterEncoding.CDP_INPUT,
        )
        leave = Converter(
            layer.field("CDP.D_DATOUT_OFFSET", 0, 32, True),
            layer.field("CDP.D_DATOUT_SCALE", 0, 16, True),
            layer.field("CDP.D_DATOUT_SHIFTER", 0, 6),
            ConverterEncoding.CDP_OUTPUT,
        )
        data = enter.to_width(layer.arrays["input"].view(dtype), bits + 1)
        half = layer.meta["local_size"] // 2
        padded = np.pad(data**2, ((half, half), (0, 0), (0, 0)))
        total = sum(padded[k : k + len(data)] for k in range(2 * half + 1))
        looked_up = lut_integer.lookup(programmed(layer, "CDP"), np.asarray(total), LutUnit.CDP).values * data
        output = leave.convert(looked_up, Precision(layer.meta["precision"]))
        np.testing.assert_array_equal(output, layer.arrays["output"].view(dtype), err_msg=layer.name, strict=True)
