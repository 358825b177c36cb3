"""The FP16 steps chained as SDP chains them, against every measured SDP layer without LUT, bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from models import float_ops
from models.fp16 import FP16, FP32, flush_nan, fp16_to_int16, narrow, widen
from tests.unit.models.precision.conftest import Layer, Measured

ALU = (float_ops.maximum, float_ops.minimum, float_ops.add)


def sdp(layer: Layer) -> npt.NDArray[Any]:
    """Run X1, X2 and Y as programmed."""
    flush = layer.field("SDP.D_FEATURE_MODE_CFG", 3, 1)

    def read(bits: npt.NDArray[Any]) -> npt.NDArray[np.uint32]:
        return widen(flush_nan(bits) if flush else bits, FP32)

    def operand(stage: str, name: str, which: int, other: str) -> npt.NDArray[np.uint32]:
        if not layer.field(f"SDP.D_DP_{stage}_{name}_CFG", 0, 1):
            value = layer.registers[f"SDP.D_DP_{stage}_{name}_SRC_VALUE"]
            # Y takes its register as raw FP32; X1 and X2 read an FP16 number.
            return np.array([value], np.uint32) if stage == "EW" else read(np.array([value], np.uint16))
        values = layer.arrays[f"{stage.lower()}_op"]
        if not layer.field(f"SDP.D_DP_{stage}_CFG", 1 if other == "ALU" else 4, 1):
            values = values[..., which]
        return read(values if values.ndim == 3 else values[:, np.newaxis, np.newaxis])

    def alu(stage: str, data: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        if layer.field(f"SDP.D_DP_{stage}_CFG", 1, 1):
            return data
        step = ALU[layer.field(f"SDP.D_DP_{stage}_CFG", 2, 2)]
        return step(data, operand(stage, "ALU", 0, "MUL"), FP32)

    def mul(stage: str, data: npt.NDArray[np.uint32]) -> npt.NDArray[np.uint32]:
        if layer.field(f"SDP.D_DP_{stage}_CFG", 4, 1):
            return data
        step = float_ops.prelu if layer.field(f"SDP.D_DP_{stage}_CFG", 5, 1) else float_ops.multiply
        return step(data, operand(stage, "MUL", 1, "ALU"), FP32)

    data = read(layer.arrays["input"])
    for stage in ("BS", "BN"):
        if not layer.field(f"SDP.D_DP_{stage}_CFG", 0, 1):
            data = mul(stage, alu(stage, data))
            if not layer.field(f"SDP.D_DP_{stage}_CFG", 6, 1):
                data = float_ops.relu(data, FP32)
    if not layer.field("SDP.D_DP_EW_CFG", 0, 1):
        data = alu("EW", mul("EW", data))
    output = narrow(data, FP32)
    return fp16_to_int16(output).view(np.uint16) if layer.meta["out_precision"] == "int16" else output


def test_every_measured_fp16_sdp_layer_is_reproduced_bit_for_bit(measured: Measured) -> None:
    layers = [
        layer for layer in measured("sdp_*") if layer.meta["proc_precision"] == "fp16" and "lut" not in layer.name
    ]
    assert len(layers) == 60
    for layer in layers:
        np.testing.assert_array_equal(sdp(layer), layer.arrays["output"], err_msg=layer.name, strict=True)


def test_rounding_to_fp16_after_every_step_would_be_wrong_for_a_third_of_the_outputs(measured: Measured) -> None:
    (layer,) = measured("sdp_chain_x1x2y_wide")
    data = widen(layer.arrays["input"], FP32)
    for stage, steps in (("bs", (float_ops.add, float_ops.multiply)), ("bn", (float_ops.add, float_ops.multiply))):
        for which, step in enumerate(steps):
            data = widen(narrow(step(data, widen(layer.arrays[f"{stage}_op"][..., which], FP32), FP32), FP32), FP32)
    output = narrow(float_ops.add(data, widen(layer.arrays["ew_op"], FP32), FP32), FP32)
    assert 0.2 < np.mean(output != layer.arrays["output"]) < 0.5


def test_no_measured_output_of_any_unit_is_infinite(measured: Measured) -> None:
    for layer in [*measured("sdp_*"), *measured("cdp_*"), *measured("dc_fp16_*"), *measured("wino_fp16_*")]:
        fp16 = "fp16" in (layer.meta.get("out_precision", layer.meta.get("precision", "fp16")),)
        if fp16:
            assert not FP16.is_infinite(layer.arrays["output"]).any(), layer.name
