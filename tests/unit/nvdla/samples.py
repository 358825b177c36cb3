"""Small layers that tests take as their starting point."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from nvdla_models.cdp import CdpParams
from nvdla_models.config import HwConfig
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import FeatureLayout, OperandLayout
from nvdla_models.lut import HybridLut, LutChoice, LutTable, Slope
from nvdla_models.pdp import PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, SdpStage, output_converter
from nvdla_tb.judge.detail import Mismatch
from nvdla_tb.judge.finding import Finding
from nvdla_tb.judge.predictor import Expectation
from nvdla_tb.judge.tracker import StartedLayer
from nvdla_tb.nvdla.layers import CdpLayer, OperandSurface, PdpLayer, SdpLayer, StageSource, Surface, WidthSplit
from nvdla_tb.nvdla.memory import Ram

SMALL = HwConfig.load("nv_small")
FULL = HwConfig.load("nv_full")
IDENTITY = output_converter(0, 1, 0)
BASE = 0x1000
ADD = SdpStage(AluOp.SUM, 0, mul=False, mul_prelu=False, mul_shift=0, relu=False)
SCALE = SdpStage(None, 0, mul=True, mul_prelu=False, mul_shift=0, relu=False)


def surface(
    shape: tuple[int, int, int],
    address: int,
    config: HwConfig = SMALL,
    precision: Precision = Precision.INT8,
    ram: Ram = Ram.MC,
) -> Surface:
    """Return a cube without gaps."""
    return Surface(FeatureLayout.packed(config, precision, shape), address, ram)


def small_sdp(
    shape: tuple[int, int, int] = (3, 2, 2),
    src: int = 0x1000,
    dst: int = 0x2000,
    config: HwConfig = SMALL,
    precision: Precision = Precision.INT8,
) -> SdpLayer:
    """Return a pass-through layer."""
    params = SdpParams(None, None, IDENTITY, precision, precision)
    return SdpLayer(surface(shape, src, config, precision), surface(shape, dst, config, precision), params)


def bias_sdp(shape: tuple[int, int, int] = (3, 2, 2), config: HwConfig = SMALL) -> SdpLayer:
    """Return a layer that adds one byte of memory per element in X1."""
    memory = OperandSurface(OperandLayout.packed(config, Precision.INT8, shape, ("alu",), 1), 0x3000)
    params = SdpParams(ADD, None, IDENTITY, Precision.INT8, Precision.INT8)
    ends = surface(shape, 0x1000, config), surface(shape, 0x2000, config)
    return SdpLayer(*ends, params, StageSource(memory=memory))


def small_pdp(
    shape: tuple[int, int, int] = (3, 4, 6), split: WidthSplit | None = None, config: HwConfig = SMALL
) -> PdpLayer:
    """Return a maximum of 2x2 windows side by side."""
    params = PdpParams(PoolMethod.MAX, 2, 2, 2, 2, 0, 0, 0, 0, (0,) * 7, 0, 0, Precision.INT8)
    out = (shape[0], shape[1] // 2, shape[2] // 2)
    return PdpLayer(surface(shape, 0x1000, config), surface(out, 0x2000, config), params, split)


def expected(
    index: int = 0,
    address: int = BASE,
    layout: FeatureLayout | None = None,
    data: NDArray[np.uint8] | None = None,
    ram: Ram = Ram.MC,
) -> Expectation:
    """Return what a layer must write: by default 0, 1, 2 and so on over two atoms side by side."""
    layout = layout or FeatureLayout.packed(SMALL, Precision.INT8, (8, 1, 2))
    if data is None:
        data = np.arange(layout.nbytes, dtype=np.uint8)
    started = StartedLayer(index, "SDP", index % 2, small_sdp())
    return Expectation(started, ram, address, layout, data, layout.written_mask())


def mismatch(finding: Finding) -> Mismatch:
    """Return the wrong bytes that a finding is about."""
    assert isinstance(finding.detail, Mismatch)
    return finding.detail


def small_lut() -> HybridLut:
    """Return an exponent table and a linear one, with another value in every place."""
    le = LutTable(
        np.arange(-30, 35, dtype=np.int16) * 900,
        start=-3,
        end=1 << 36,
        exponent=True,
        index_offset=-2,
        underflow=Slope(-5, 3),
        overflow=Slope(7, -4),
    )
    lo = LutTable(
        np.arange(257, dtype=np.int16) * -100,
        start=11,
        end=11 + 1024,
        index_select=2,
        underflow=Slope(300, 15),
        overflow=Slope(-300, -16),
    )
    return HybridLut(le, lo, underflow_priority=LutChoice.LO, hybrid_priority=LutChoice.LO)


def small_cdp(
    shape: tuple[int, int, int] = (3, 2, 2), config: HwConfig = SMALL, precision: Precision = Precision.INT8
) -> CdpLayer:
    """Return a local response normalisation over five channels."""
    params = CdpParams(
        local_size=5,
        multiply=True,
        input_converter=Converter(-100, 3, 1, ConverterEncoding.CDP_INPUT),
        output_converter=Converter(50, -77, 20, ConverterEncoding.CDP_OUTPUT),
        lut=small_lut(),
        precision=precision,
    )
    return CdpLayer(surface(shape, 0x1000, config, precision), surface(shape, 0x2000, config, precision), params)
