"""CDP: from memory through the model, and what FP16 outputs are measured by."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from nvdla_models import cdp
from nvdla_models.converter import saturated_fp16
from nvdla_models.fp16 import FP16
from nvdla_models.precision import Precision
from nvdla_models.tolerance import cdp as cdp_tolerance
from nvdla_tb.judge.counters import Count, Counts
from nvdla_tb.judge.predictor.counters import lookups
from nvdla_tb.judge.predictor.expectation import Expectation, ReadMemory, expect, read_patterns
from nvdla_tb.judge.tolerated import Tolerated
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import CdpLayer


def predict_cdp(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return the expectation of a layer of CDP."""
    layer = started.layer
    assert isinstance(layer, CdpLayer)
    result, tolerated = normalise(layer, read_patterns(layer.src, read))
    return expect(started, layer.dst, result.output, tolerated, counted(started, result))


def normalise(layer: CdpLayer, cube: NDArray[Any]) -> tuple[cdp.CdpResult, Tolerated | None]:
    """Return CDP's result for a cube, (C, H, W) with padding channels, FP16 as patterns, and the measure of FP16.

    The reference is what the bit-accurate model computes.
    """
    channels = layer.src.layout.shape[0]
    result = cdp.compute(layer.params, cube, channels)
    if not layer.params.is_float:
        return result, None
    values = FP16.decode(cube)
    values[channels:] = 0.0
    largest = cdp_tolerance.channel_window_maximum(values, layer.params.local_size or 1)
    expected = FP16.decode(result.output)
    carried = cdp_tolerance.carried(layer.params, cube, channels)
    return result, Tolerated(expected, cdp_tolerance.cdp(largest, expected, carried=carried))


def counted(started: StartedLayer, result: cdp.CdpResult) -> Counts:
    """Return the values that the counters of CDP must read.

    In FP16 it counts saturated outputs, but no NaN and no infinities. The saturation counter is not judged for
    integers: it is constant in the public nv_small and nv_large RTL. Lookups are judged in integer layers that
    enable their counters, as the register manual says, although the public RTL counts without that.
    """
    layer = started.layer
    assert isinstance(layer, CdpLayer)
    counts = {}
    if layer.params.is_float:
        names = ("CDP.D_NAN_INPUT_NUM", "CDP.D_INF_INPUT_NUM", "CDP.D_NAN_OUTPUT_NUM")
        counts = dict.fromkeys(names, Count(0)) | {"CDP.D_OUT_SATURATION": Count(saturated_fp16(result.output))}
    if "CDP.lut_en" in started.counting and result.lut is not None:
        counts |= lookups("CDP", result.lut, at_least=layer.params.precision is not Precision.INT8)
    return counts
