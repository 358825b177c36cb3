"""Layers of nv_full: FP16, Winograd, compressed weights, stage Y; and the memory that each finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from nvdla_models.conv import ConvParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import (
    CompressedWeightLayout,
    FeatureLayout,
    KernelLayout,
    OperandLayout,
    WeightLayout,
    WinogradWeightLayout,
)
from nvdla_models.lut import HybridLut, LutChoice, LutTable, Slope
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, SdpStage, YStage
from nvdla_tb.explain.memory import Bytes
from nvdla_tb.nvdla.layers import ConvLayer, OperandSurface, SdpLayer, StageSource, Surface
from nvdla_tb.nvdla.surfaces import CbufUse, Compression, WeightSurface
from tests.unit.explain.cases import DST, SRC, X1, X2, memory_for
from tests.unit.nvdla.samples import FULL, IDENTITY

MASK, SIZES = X1, X1 + 0x4000


def packed(shape: tuple[int, int, int], precision: Precision) -> FeatureLayout:
    """Return a cube without gaps."""
    return FeatureLayout.packed(FULL, precision, shape)


def stored(memory: Bytes, address: int, data: NDArray[np.uint8]) -> Bytes:
    """Return memory with other bytes at an address."""
    changed = replace(memory, data=memory.data.copy())
    first = address - memory.starts[0]
    changed.data[first : first + len(data)] = data
    return changed


def fp16_memory(seed: int) -> Bytes:
    """Return memory full of FP16 numbers: most of them moderate, many denormal, no NaN."""
    rng = np.random.default_rng(seed)
    memory = memory_for(seed)
    count = len(memory.data) // 2
    values = rng.normal(0.0, 4.0, count).astype(np.float16).view(np.uint16)
    denormal = rng.integers(0, 1 << 10, count, dtype=np.uint16) | (rng.integers(0, 2, count, dtype=np.uint16) << 15)
    return replace(memory, data=np.where(rng.random(count) < 0.3, denormal, values).view(np.uint8))


def fp16_sdp(shape: tuple[int, int, int] = (21, 5, 6)) -> SdpLayer:
    """Return a product with a number per element, from memory."""
    stage = SdpStage(None, 0, mul=True, mul_prelu=False, mul_shift=0, relu=False)
    operands = OperandLayout.packed(FULL, Precision.FP16, shape, ("mul",), 2)
    params = SdpParams(stage, None, IDENTITY, Precision.FP16, Precision.FP16)
    source = StageSource(memory=OperandSurface(operands, X1))
    ends = [Surface(packed(shape, Precision.FP16), address) for address in (SRC, DST)]
    return SdpLayer(ends[0], ends[1], params, source)


def fp16_copy(shape: tuple[int, int, int] = (21, 5, 6)) -> SdpLayer:
    """Return a copy of FP16."""
    params = SdpParams(None, None, IDENTITY, Precision.FP16, Precision.FP16)
    return SdpLayer(Surface(packed(shape, Precision.FP16), SRC), Surface(packed(shape, Precision.FP16), DST), params)


def convolution(
    precision: Precision, weights: WeightSurface, winograd: bool = False, truncate: int = 0, scale: int = 1
) -> ConvLayer:
    """Return a 3 x 3 convolution of a 20 x 10 x 12 cube, with padding unless it is one of Winograd."""
    shape, kernels = (20, 10, 12), weights.layout.shape[0]
    pad = 0 if winograd else 1
    value = 0 if winograd or precision is Precision.FP16 else 7
    params = ConvParams(1, 1, 1, 1, pad, pad, pad, pad, value, truncate, precision, winograd=winograd)
    out = (kernels, shape[1] - 2 + 2 * pad, shape[2] - 2 + 2 * pad)
    if winograd:
        shape = (20, 12, 16)
        out = (kernels, 8, 12)
    converter = IDENTITY if precision is Precision.FP16 else replace(IDENTITY, offset=5, scale=scale, shift=9)
    return ConvLayer(
        Surface(packed(shape, precision), SRC),
        weights,
        Surface(packed(out, precision), DST),
        params,
        SdpParams(None, None, converter, precision, precision),
        CbufUse(data_banks=6, weight_banks=6),
    )


def fp16_conv() -> ConvLayer:
    """Return a convolution in FP16."""
    return convolution(Precision.FP16, WeightSurface(WeightLayout(FULL, Precision.FP16, (20, 20, 3, 3)), X2))


def winograd_conv(precision: Precision = Precision.INT16) -> ConvLayer:
    """Return a convolution by Winograd."""
    layout = WinogradWeightLayout(FULL, precision, (20, 20, 3, 3))
    return convolution(precision, WeightSurface(layout, X2), winograd=True, truncate=8, scale=3)


def compressed_conv() -> ConvLayer:
    """Return an INT16 convolution whose weights are compressed, in two kernel groups."""
    layout = WeightLayout(FULL, Precision.INT16, (20, 20, 3, 3))
    weights = WeightSurface(layout, X2, compression=Compression(MASK, SIZES, layout.nbytes))
    return convolution(Precision.INT16, weights, truncate=8, scale=3)


def sparse(layout: KernelLayout, seed: int) -> NDArray[np.int16]:
    """Return kernels of which half are 0."""
    rng = np.random.default_rng(seed)
    values = rng.integers(-2000, 2000, layout.packed_shape, dtype=np.int16)
    return np.where(rng.random(values.shape) < 0.5, np.int16(0), values)


def compressed_memory(seed: int, layer: ConvLayer) -> Bytes:
    """Return memory in which the layer finds its three surfaces."""
    parts = CompressedWeightLayout(layer.weights.layout).pack(sparse(layer.weights.layout, seed))
    assert layer.weights.compression is not None
    memory = stored(memory_for(seed), layer.weights.address, parts.weights)
    memory = stored(memory, layer.weights.compression.mask_address, parts.wmb)
    return stored(memory, layer.weights.compression.sizes_address, parts.wgs)


def table_layer(shape: tuple[int, int, int] = (40, 5, 6)) -> SdpLayer:
    """Return an INT8 layer whose Y adds an operand per element and looks the sum up, both tables hit."""
    rng = np.random.default_rng(9)
    le = LutTable(rng.integers(-90, 90, 65, dtype=np.int16), start=-120, end=-120 + 128, exponent=False, index_select=1)
    lo = LutTable(rng.integers(-90, 90, 257, dtype=np.int16), start=-60, end=196, overflow=Slope(3, 4))
    lut = HybridLut(le, lo, underflow_priority=LutChoice.LE, hybrid_priority=LutChoice.LO)
    converter = Converter(4, 3, 2, ConverterEncoding.SDP_OPERAND)
    stage = YStage(AluOp.SUM, mul=False, alu_converter=converter, lut=lut)
    operands = OperandLayout.packed(FULL, Precision.INT8, shape, ("alu",), 1)
    params = SdpParams(None, None, IDENTITY, Precision.INT8, Precision.INT8, y=stage)
    ends = [Surface(packed(shape, Precision.INT8), address) for address in (SRC, DST)]
    return SdpLayer(ends[0], ends[1], params, y=StageSource(memory=OperandSurface(operands, X1)))
