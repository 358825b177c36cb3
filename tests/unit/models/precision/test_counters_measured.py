"""Counters against what was read back from the hardware after each measured layer."""

from __future__ import annotations

import numpy as np

from models.arithmetic import saturate
from models.converter import Converter, ConverterEncoding, saturated_fp16, truncate
from models.counters import CounterSettings, count_infinity, count_nan, counter
from models.precision import Precision
from tests.unit.models.precision.conftest import Layer, Measured


def settings(layer: Layer) -> CounterSettings:
    meta = layer.meta
    own = meta.get("precision", "fp16")
    return CounterSettings(
        Precision(meta.get("in_precision", own)),
        Precision(meta.get("proc_precision", own)),
        Precision(meta.get("out_precision", own)),
        saturation_enabled=True,
        nan_inf_enabled=True,
    )


def test_nan_and_infinity_counters_equal_the_counts_in_the_cubes(measured: Measured) -> None:
    compared = nonzero = 0
    for layer in measured("*"):
        arrays, status = layer.arrays, layer.meta.get("status_read_after_done", {})
        for register, unit, name, array, count in (
            ("SDP_RDMA.D_STATUS_NAN_INPUT_NUM", "SDP_RDMA", "nan_input", "input", count_nan),
            ("SDP_RDMA.D_STATUS_INF_INPUT_NUM", "SDP_RDMA", "inf_input", "input", count_infinity),
            ("SDP.D_STATUS_NAN_INPUT_NUM", "SDP", "nan_input", "input", count_nan),
            ("SDP.D_STATUS_INF_INPUT_NUM", "SDP", "inf_input", "input", count_infinity),
            ("SDP.D_STATUS_NAN_OUTPUT_NUM", "SDP", "nan_output", "output", count_nan),
            ("CDMA.D_NAN_INPUT_DATA_NUM", "CDMA", "nan_input_data", "input", count_nan),
            ("CDMA.D_NAN_INPUT_WEIGHT_NUM", "CDMA", "nan_input_weight", "weight", count_nan),
            ("CDMA.D_INF_INPUT_DATA_NUM", "CDMA", "inf_input_data", "input", count_infinity),
            ("CDMA.D_INF_INPUT_WEIGHT_NUM", "CDMA", "inf_input_weight", "weight", count_infinity),
            ("CDP.D_NAN_INPUT_NUM", "CDP", "nan_input", "input", count_nan),
            ("CDP.D_INF_INPUT_NUM", "CDP", "inf_input", "input", count_infinity),
            ("CDP.D_NAN_OUTPUT_NUM", "CDP", "nan_output", "output", count_nan),
        ):
            if register in status:
                valid = counter(unit, name).measured(settings(layer))
                expected = count(arrays[array]) if valid else 0
                assert status[register] == expected, (layer.name, register, status[register], expected)
                compared += 1
                nonzero += expected > 0
    assert compared > 500
    assert nonzero > 50


def test_the_sdp_counts_fp16_outputs_of_magnitude_65504(measured: Measured) -> None:
    nonzero = 0
    for layer in measured("sdp_*") + measured("dc_fp16_*"):
        status = layer.meta.get("status_read_after_done")
        if status is None or layer.meta["out_precision"] != "fp16":
            continue
        assert counter("SDP", "out_saturation").measured(settings(layer))
        expected = saturated_fp16(layer.arrays["output"])
        assert status["SDP.D_PERF_OUT_SATURATION"] == expected, layer.name
        nonzero += expected > 0
    assert nonzero > 30


def test_the_sdp_counts_integer_outputs_that_exceed_17_bits_although_the_document_says_fp16_only(
    measured: Measured,
) -> None:
    names = ["sdp_cvt_int16_to_int16*", "sdp_int16_to_int8", "sdp_int8_bypass_cvt"]
    layers = [layer for name in names for layer in measured(name)]
    assert len(layers) == 6
    counted = []
    for layer in layers:
        converter = Converter(
            layer.field("SDP.D_CVT_OFFSET", 0, 32, True),
            layer.field("SDP.D_CVT_SCALE", 0, 16, True),
            layer.field("SDP.D_CVT_SHIFT", 0, 6),
            ConverterEncoding.SDP_OUTPUT,
        )
        data = layer.arrays["input"]
        data = data.view(np.int16) if layer.meta["in_precision"] == "int16" else data
        target = Precision(layer.meta["out_precision"])
        expected = converter.saturation_count(data, target)
        assert layer.meta["status_read_after_done"]["SDP.D_PERF_OUT_SATURATION"] == expected, layer.name
        row = counter("SDP", "out_saturation")
        assert row.measured(settings(layer))
        assert not row.published(settings(layer))
        counted.append(expected)
    assert max(counted) == 62269


def test_fp16_to_int16_saturates_without_counting(measured: Measured) -> None:
    (layer,) = measured("sdp_cvt_fp16_to_int16*")
    output = layer.arrays["output"].view(np.int16).astype(np.int64)
    assert np.count_nonzero(output != saturate(output, 15)) > 1000
    assert not counter("SDP", "out_saturation").measured(settings(layer))
    assert layer.meta["status_read_after_done"]["SDP.D_PERF_OUT_SATURATION"] == 0


def test_the_cdp_counts_fp16_outputs_of_magnitude_65504(measured: Measured) -> None:
    layers = [layer for layer in measured("cdp_*") if layer.meta["precision"] == "fp16"]
    for layer in layers:
        expected = saturated_fp16(layer.arrays["output"])
        assert layer.meta["status_read_after_done"]["CDP.D_OUT_SATURATION"] == expected, layer.name
    assert any(saturated_fp16(layer.arrays["output"]) for layer in layers)


def test_every_measured_converter_is_reproduced_bit_for_bit(measured: Measured) -> None:
    layers = measured("sdp_cvt_int16_*")
    assert len(layers) == 8
    for layer in layers:
        converter = Converter(
            layer.field("SDP.D_CVT_OFFSET", 0, 32, True),
            layer.field("SDP.D_CVT_SCALE", 0, 16, True),
            layer.field("SDP.D_CVT_SHIFT", 0, 6),
            ConverterEncoding.SDP_OUTPUT,
        )
        data = layer.arrays["input"].view(np.int16)
        assert len(np.unique(data)) == 65536
        output = converter.convert(data, Precision(layer.meta["out_precision"]))
        np.testing.assert_array_equal(output.view(np.uint16), layer.arrays["output"], err_msg=layer.name)


def test_every_measured_y_operand_converter_is_reproduced_bit_for_bit(measured: Measured) -> None:
    layers = measured("sdp_int16_y_*")
    assert len(layers) == 4
    for layer in layers:
        multiplies = not layer.field("SDP.D_DP_EW_CFG", 4, 1)
        kind = "MUL" if multiplies else "ALU"
        operand = layer.arrays["ew_op"].astype(np.int64)
        if not layer.field(f"SDP.D_DP_EW_{kind}_CFG", 1, 1):
            converter = Converter(
                layer.field(f"SDP.D_DP_EW_{kind}_CVT_OFFSET_VALUE", 0, 32, True),
                layer.field(f"SDP.D_DP_EW_{kind}_CVT_SCALE_VALUE", 0, 16, True),
                layer.field(f"SDP.D_DP_EW_{kind}_CVT_TRUNCATE_VALUE", 0, 6),
                ConverterEncoding.SDP_OPERAND,
            )
            operand = converter.to_width(operand, 32)
        data = layer.arrays["input"].view(np.int16).astype(np.int64)
        if multiplies:
            data = truncate(data * operand, layer.registers["SDP.D_DP_EW_TRUNCATE_VALUE"], 32)
        else:
            data = (np.maximum, np.minimum, np.add)[layer.field("SDP.D_DP_EW_CFG", 2, 2)](data, operand)
        output = Converter(
            layer.field("SDP.D_CVT_OFFSET", 0, 32, True),
            layer.field("SDP.D_CVT_SCALE", 0, 16, True),
            layer.field("SDP.D_CVT_SHIFT", 0, 6),
            ConverterEncoding.SDP_OUTPUT,
        ).convert(data, Precision.INT16)
        np.testing.assert_array_equal(output, layer.arrays["output"].view(np.int16), err_msg=layer.name, strict=True)
