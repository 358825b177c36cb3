"""Layers over random memory, and the evidence that a faulty run of them leaves behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.conv import ConvParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import (
    FeatureLayout,
    ImageWeightLayout,
    OperandLayout,
    PixelConversion,
    PixelLayout,
    WeightLayout,
)
from nvdla_models.lut import HybridLut, LutChoice, Slope
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, SdpStage
from nvdla_tb.explain.evidence import Evidence, from_writes
from nvdla_tb.explain.memory import Bytes, Patch
from nvdla_tb.judge.beats import Beats
from nvdla_tb.judge.predictor import predict
from nvdla_tb.judge.predictor.expectation import Expectation
from nvdla_tb.judge.scoreboard import Scoreboard
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.engines import chain_of
from nvdla_tb.nvdla.layers import CdpLayer, ConvLayer, Layer, OperandSurface, PdpLayer, SdpLayer, StageSource, Surface
from nvdla_tb.nvdla.memory import Ram
from nvdla_tb.nvdla.surfaces import CbufUse, ImageSurface, WeightSurface
from tests.unit.nvdla.samples import IDENTITY, SMALL, small_cdp

BASE, NBYTES = 0x8000_0000, 1 << 17
SRC, X1, X2, DST = BASE + 0x1000, BASE + 0x8000, BASE + 0x10000, BASE + 0x18000


def gapped(shape: tuple[int, int, int], line_atoms: int = 0, surface_atoms: int = 0) -> FeatureLayout:
    """Return a layout of INT8 with gaps of so many atoms."""
    line = (shape[2] + line_atoms) * SMALL.memory_atomic_bytes
    surface = shape[1] * line + surface_atoms * SMALL.memory_atomic_bytes
    return FeatureLayout(SMALL, Precision.INT8, shape, line, surface)


def sdp_layer(shape: tuple[int, int, int] = (21, 5, 6)) -> SdpLayer:
    """Return bias with ReLU, then a scale per element, then a converter: everything at once."""
    x1 = SdpStage(AluOp.SUM, 1, mul=False, mul_prelu=False, mul_shift=0, relu=True)
    x2 = SdpStage(None, 0, mul=True, mul_prelu=False, mul_shift=5, relu=False)
    bias = OperandLayout.packed(SMALL, Precision.INT8, (shape[0], 1, 1), ("alu",), 1)
    scale = OperandLayout.packed(SMALL, Precision.INT8, shape, ("mul",), 1)
    params = SdpParams(x1, x2, replace(IDENTITY, offset=-37, scale=11, shift=5), Precision.INT8, Precision.INT8)
    return SdpLayer(
        Surface(gapped(shape, 1, 3), SRC),
        Surface(gapped(shape, 2, 5), DST),
        params,
        StageSource(memory=OperandSurface(bias, X1)),
        StageSource(memory=OperandSurface(scale, X2)),
    )


def copy_layer(shape: tuple[int, int, int] = (21, 5, 6)) -> SdpLayer:
    """Return a layer that copies."""
    params = SdpParams(None, None, IDENTITY, Precision.INT8, Precision.INT8)
    return SdpLayer(Surface(gapped(shape), SRC), Surface(gapped(shape), DST), params)


def register_layer(shape: tuple[int, int, int] = (21, 5, 6)) -> SdpLayer:
    """Return a layer whose X1 has both operands in registers, and whose X2 is bypassed."""
    stage = SdpStage(AluOp.SUM, 0, mul=True, mul_prelu=False, mul_shift=2, relu=False)
    params = SdpParams(stage, None, replace(IDENTITY, offset=23, scale=3, shift=7), Precision.INT8, Precision.INT8)
    return SdpLayer(Surface(gapped(shape), SRC), Surface(gapped(shape), DST), params, StageSource(alu=-61, mul=300 - 7))


def pair_layer(shape: tuple[int, int, int] = (21, 5, 6)) -> SdpLayer:
    """Return a batch normalisation per channel whose operands take two bytes."""
    stage = SdpStage(AluOp.SUM, 0, mul=True, mul_prelu=False, mul_shift=18, relu=False)
    both = OperandLayout.packed(SMALL, Precision.INT8, (shape[0], 1, 1), ("alu", "mul"), 2)
    params = SdpParams(stage, None, IDENTITY, Precision.INT8, Precision.INT8)
    source = StageSource(memory=OperandSurface(both, X1))
    return SdpLayer(Surface(gapped(shape), SRC), Surface(gapped(shape), DST), params, source)


def pdp_layer(method: PoolMethod = PoolMethod.AVERAGE) -> PdpLayer:
    """Return 3 x 2 windows with padding on all sides."""
    average = method is PoolMethod.AVERAGE
    pads = tuple((-19) * n if average else 0 for n in range(1, 8))
    reciprocals = (round((1 << 16) / 3), round((1 << 16) / 2)) if average else (0, 0)
    params = PdpParams(method, 3, 2, 2, 2, 1, 1, 1, 1, pads, *reciprocals, Precision.INT8)
    return PdpLayer(Surface(gapped((16, 6, 9), 1, 2), SRC), Surface(gapped((16, 4, 5), 1, 3), DST), params)


def memory_for(seed: int, low: int = -128, high: int = 127) -> Bytes:
    """Return random memory that every operand lies in."""
    rng = np.random.default_rng(seed)
    data = rng.integers(low, high, NBYTES, dtype=np.int8, endpoint=True).view(np.uint8)
    return Bytes((BASE,), (NBYTES,), data, np.ones(NBYTES, dtype=np.bool_))


def predicted(layer: Layer, memory: Bytes, number: int = 0) -> Expectation:
    """Return what a layer must write that finds some memory; layers take turns with the groups."""

    def read(ram: Ram, address: int, nbytes: int) -> NDArray[np.uint8]:
        return memory.read(address, nbytes).data

    return predict(StartedLayer(number, chain_of(layer).name, number % 2, layer), read)


def result(expectation: Expectation) -> Patch:
    """Return the bytes that a layer must write."""
    return Patch(expectation.address, expectation.data, expectation.must_write)


def scored(written: Iterable[tuple[Expectation, Beats]]) -> Scoreboard:
    """Return what a scoreboard saw of layers, each of which wrote its beats within a thousand cycles."""
    scoreboard = Scoreboard()
    for number, (expectation, beats) in enumerate(written):
        scoreboard.expect(expectation)
        scoreboard.write_beats(replace(beats, cycle=np.arange(len(beats)) + 1000 * number + 100))
        scoreboard.judge_pending()
    return scoreboard


def evidence_of(
    layer: Layer,
    memory: Bytes,
    wrong: Callable[[Patch], Patch] = lambda patch: patch,
    before: tuple[Layer, ...] = (),
    *,
    twice: bool = False,
) -> Evidence:
    """Return the evidence of a layer that wrote what ``wrong`` makes of the right patch, in beats of 8 bytes.

    ``twice`` writes the first of them once more.
    """
    expectation = predicted(layer, memory)
    expected = result(expectation)
    beats = beats_of(wrong(expected))
    if twice:
        beats = beats.take(np.concatenate([[0], np.arange(len(beats))]))
    return from_writes(expectation.started, expectation.layout, expected, beats, memory, before)


def recast(layer: Layer, memory: Bytes, change: Callable[[NDArray[Any]], NDArray[Any]]) -> Evidence:
    """Return the evidence of a layer that wrote other elements, (C, H, W) with padding channels."""
    walk = evidence_of(layer, memory).walk
    return evidence_of(layer, memory, lambda patch: walk.write(change(walk.read_patch(patch)).astype(walk.dtype)))


def beats_of(patch: Patch, width: int = 8) -> Beats:
    """Return a patch as beats, in the order of their addresses."""
    first = patch.address // width * width
    count = -(-(patch.end - first) // width)
    data = np.zeros(count * width, dtype=np.uint8)
    mask = np.zeros(count * width, dtype=np.bool_)
    inside = slice(patch.address - first, patch.end - first)
    data[inside], mask[inside] = patch.data, patch.mask
    beats = Beats(
        Ram.MC,
        np.arange(count, dtype=np.uint64) * np.uint64(width) + np.uint64(first),
        data.reshape(count, width),
        mask.reshape(count, width),
        np.arange(count) + 100,
        np.ones(count, dtype=np.int64),
    )
    return beats.take(beats.strobe.any(axis=1))


def cdp_layer() -> CdpLayer:
    """Return a normalisation over five channels, both tables hit."""
    layer = small_cdp((13, 3, 5))
    lut = HybridLut(
        replace(layer.params.lut.le, start=600, index_offset=0, underflow=Slope(-250, 2)),
        replace(layer.params.lut.lo, start=2000, end=2000 + 256 * 64, index_select=6),
        hybrid_priority=LutChoice.LO,
    )
    params = replace(
        layer.params,
        lut=lut,
        input_converter=replace(layer.params.input_converter, offset=-10, scale=3, shift=2),
        output_converter=replace(layer.params.output_converter, offset=50, scale=-7, shift=17),
    )
    return CdpLayer(Surface(gapped((13, 3, 5), 1, 2), SRC), Surface(gapped((13, 3, 5), 2, 1), DST), params)


def conv_layer() -> ConvLayer:
    """Return a dilated convolution with a padding value, bias and truncation."""
    shape, kernels = (11, 7, 8), (19, 11, 2, 3)
    params = ConvParams(2, 1, 1, 2, 1, 2, 1, 1, 9, 3, Precision.INT8)
    out = (19, params.output_height(7, 2), params.output_width(8, 3))
    stage = SdpStage(AluOp.SUM, 3, mul=False, mul_prelu=False, mul_shift=0, relu=False)
    bias = OperandLayout.packed(SMALL, Precision.INT8, (19, 1, 1), ("alu",), 2)
    return ConvLayer(
        Surface(gapped(shape, 0, 1), SRC),
        WeightSurface(WeightLayout(SMALL, Precision.INT8, kernels), X2),
        Surface(gapped(out, 1, 2), DST),
        params,
        SdpParams(stage, None, replace(IDENTITY, offset=40, scale=5, shift=13), Precision.INT8, Precision.INT8),
        CbufUse(data_banks=8, weight_banks=8),
        Converter(-3, 5, 2, ConverterEncoding.CDMA_INPUT),
        StageSource(memory=OperandSurface(bias, X1)),
    )


def image_layer() -> ConvLayer:
    """Return a convolution of an image with an X offset, mean and converter, weights post-extended."""
    pixels = PixelLayout.packed(SMALL, "T_A8B8G8R8", (4, 6, 9), x_offset=1)
    params = ConvParams(1, 1, 1, 1, 1, 1, 1, 1, 5, 2, Precision.INT8)
    weights = ImageWeightLayout(SMALL, Precision.INT8, (9, 4, 3, 3))
    conversion = PixelConversion(
        Precision.INT8, Converter(0, 3, 2, ConverterEncoding.CDMA_INPUT), mean=(90, 120, 70, 10), signed=False
    )
    return ConvLayer(
        ImageSurface(pixels, (SRC,)),
        WeightSurface(weights, X2),
        Surface(gapped((9, 6, 9), 1, 2), DST),
        params,
        SdpParams(None, None, replace(IDENTITY, scale=3, shift=9), Precision.INT8, Precision.INT8),
        CbufUse(data_banks=8, weight_banks=8),
        conversion,
    )
