"""SDP: from memory or from the convolution core, with the operands of its stages, through the model."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models import sdp
from nvdla_models.precision import Precision
from nvdla_models.tolerance import Module, bit_identical
from nvdla_tb.judge.predictor.counters import counted
from nvdla_tb.judge.predictor.expectation import Expectation, ReadMemory, expect, read_patterns
from nvdla_tb.judge.tolerated import Tolerated
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import ConvLayer, SdpLayer


def predict_sdp(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return the expectation of a layer of SDP; one that compares writes nothing."""
    layer = started.layer
    assert isinstance(layer, SdpLayer)
    processed, tolerated = process(layer, layer.params, read_patterns(layer.src, read), read), None
    if layer.dst.layout.precision is Precision.FP16:
        tolerated = Tolerated(processed.cube, bit_identical(Module.SDP))
    counts = counted(started, processed, {})
    return expect(started, layer.dst, processed.cube, tolerated, counts, written=not layer.params.compares)


def process(layer: SdpLayer | ConvLayer, params: sdp.SdpParams, cube: NDArray[Any], read: ReadMemory) -> sdp.SdpResult:
    """Return SDP's result for a cube, (padded channels, H, W), with its counts; operands are those of the layer."""
    return sdp.compute(params, cube, *read_operands(layer, params, read))


def read_operands(
    layer: SdpLayer | ConvLayer, params: sdp.SdpParams, read: ReadMemory
) -> Iterator[sdp.Operands | None]:
    """Yield the operands of X1, X2 and Y, padded to whole atoms like the cube; None for a stage without any."""
    for source, stage in ((layer.x1, params.x1), (layer.x2, params.x2), (layer.y, params.y)):
        if stage is None or source is None:
            yield None
            continue
        fetched: dict[str, NDArray[Any]] = {}
        if source.memory is not None:
            memory = source.memory
            fetched = memory.layout.unpack_padded(read(memory.ram, memory.address, memory.layout.nbytes))
        if params.is_float:
            fetched = {name: values.view(np.uint16) for name, values in fetched.items()}
        yield sdp.Operands.of(stage, source.alu, source.mul, fetched, params.is_float)
