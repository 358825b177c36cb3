"""Random legal SDP layers, from memory and as convolutions have them, and random lookup tables."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from nvdla_models.cdp import widths
from nvdla_models.config import HwConfig
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.lut import (
    INDEX_OFFSET_RANGE,
    INDEX_SELECT_RANGE,
    LE_ENTRIES,
    LO_ENTRIES,
    HybridLut,
    LutChoice,
    LutTable,
    LutUnit,
    Slope,
)
from nvdla_models.precision import Precision
from nvdla_models.sdp import AluOp, SdpParams, SdpStage, YStage, output_converter
from nvdla_tb.nvdla.layers import SdpLayer, StageSource, processing_precision
from tests.unit.nvdla.strategies import OPERAND, operand_surfaces, shapes, signed, surfaces

PATTERN = st.integers(0, (1 << 16) - 1)
WIDE_PATTERN = st.integers(0, (1 << 32) - 1)
SHIFT = st.integers(0, 63)
TARGETS = {
    Precision.INT8: (Precision.INT8, Precision.INT16),
    Precision.INT16: (Precision.INT8, Precision.INT16, Precision.FP16),
    Precision.FP16: (Precision.INT16, Precision.FP16),
}

Sourced = tuple[SdpStage | None, StageSource | None]


@st.composite
def tables(draw: st.DrawFn, unit: LutUnit, precision: Precision, count: int) -> LutTable:
    """Draw one table; its entries come from a seed."""
    is_float = precision is Precision.FP16
    exponent = count == LE_ENTRIES and draw(st.booleans())
    select = st.integers(*INDEX_SELECT_RANGE[unit, precision, count])
    offset = st.integers(*INDEX_OFFSET_RANGE[unit, precision])
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    slope = st.builds(Slope, PATTERN) if is_float else st.builds(Slope, OPERAND, signed(5))
    start_bits = widths(precision).start if unit is LutUnit.CDP and not is_float else unit.input_bits
    start, end = (WIDE_PATTERN if is_float else signed(bits) for bits in (start_bits, unit.input_bits))
    words = rng.integers(0, 1 << 16, count).astype(np.uint16)
    return LutTable(
        words if is_float else words.view(np.int16),
        start=draw(start),
        end=draw(end),
        index_select=0 if exponent else draw(select),
        exponent=exponent,
        index_offset=draw(offset) if exponent else 0,
        underflow=draw(slope),
        overflow=draw(slope),
    )


def luts(unit: LutUnit, precision: Precision) -> st.SearchStrategy[HybridLut]:
    """Draw both tables of a unit."""
    choice = st.sampled_from(LutChoice)
    both = (tables(unit, precision, LE_ENTRIES), tables(unit, precision, LO_ENTRIES))
    return st.builds(HybridLut, *both, choice, choice, choice)


@st.composite
def _sources(
    draw: st.DrawFn,
    config: HwConfig,
    precision: Precision,
    shape: tuple[int, int, int],
    active: tuple[str, ...],
    register: st.SearchStrategy[int],
) -> StageSource | None:
    """Draw where the operands of the active components come from."""
    fetched = [name for name in active if draw(st.booleans())]
    registers = {name: draw(register) for name in active if name not in fetched}
    memory = None
    if fetched:
        memory = draw(operand_surfaces(config, precision, shape, tuple(fetched)))
    source = StageSource(registers.get("alu"), registers.get("mul"), memory)
    return None if source == StageSource() else source


@st.composite
def stages(draw: st.DrawFn, config: HwConfig, precision: Precision, shape: tuple[int, int, int]) -> Sourced:
    """Draw X1 or X2."""
    if draw(st.booleans()):
        return None, None
    is_float = precision is Precision.FP16
    alu, mul = draw(st.sampled_from((None, AluOp.MAX, AluOp.MIN, AluOp.SUM))), draw(st.booleans())
    stage = SdpStage(
        alu=alu,
        alu_shift=draw(SHIFT) if alu and not is_float else 0,
        mul=mul,
        mul_prelu=mul and draw(st.booleans()),
        mul_shift=0 if is_float else draw(SHIFT),
        relu=draw(st.booleans()),
    )
    active = tuple(name for name, on in (("alu", alu), ("mul", mul)) if on)
    return stage, draw(_sources(config, precision, shape, active, PATTERN if is_float else OPERAND))


@st.composite
def y_stages(
    draw: st.DrawFn, config: HwConfig, precision: Precision, shape: tuple[int, int, int]
) -> tuple[YStage | None, StageSource | None]:
    """Draw Y, which some configurations lack."""
    if not config.sdp_ew_enable or draw(st.booleans()):
        return None, None
    is_float = precision is Precision.FP16
    alu, mul = draw(st.sampled_from((None, *AluOp))), draw(st.booleans())
    active = tuple(name for name, on in (("alu", alu), ("mul", mul)) if on)
    source = draw(_sources(config, precision, shape, active, WIDE_PATTERN if is_float else signed(32)))
    converter = st.builds(Converter, signed(32), OPERAND, SHIFT, st.just(ConverterEncoding.SDP_OPERAND))
    converters = {
        f"{name}_converter": draw(st.none() | converter)
        for name in active
        if not is_float and getattr(source, name) is None
    }
    has_lut = config.sdp_lut_enable and alu is not AluOp.EQUAL and draw(st.booleans())
    stage = YStage(
        alu=alu,
        mul=mul,
        mul_prelu=mul and draw(st.booleans()),
        truncate=draw(st.integers(0, 1023)) if mul and not is_float else 0,
        lut=draw(luts(LutUnit.SDP, precision)) if has_lut else None,
        **converters,
    )
    return stage, source


@st.composite
def processings(
    draw: st.DrawFn, config: HwConfig, source: Precision, target: Precision, shape: tuple[int, int, int]
) -> tuple[SdpParams, StageSource | None, StageSource | None, StageSource | None]:
    """Draw what SDP does to a cube, and where X1, X2 and Y take their operands from."""
    processing = processing_precision(source, target)
    x1, x1_source = draw(stages(config, processing, shape))
    x2, x2_source = draw(stages(config, processing, shape))
    y, y_source = draw(y_stages(config, processing, shape))
    is_float = source is Precision.FP16
    converter = (
        output_converter(0, 1, 0) if is_float else output_converter(draw(signed(32)), draw(OPERAND), draw(SHIFT))
    )
    params = SdpParams(x1, x2, converter, source, target, y, nan_to_zero=is_float and draw(st.booleans()))
    return params, x1_source, x2_source, y_source


@st.composite
def sdp_layers(draw: st.DrawFn, config: HwConfig) -> SdpLayer:
    """Draw an SDP layer from memory to memory."""
    precisions = config.feature_data_types
    source = draw(st.sampled_from(precisions))
    target = draw(st.sampled_from([precision for precision in TARGETS[source] if precision in precisions]))
    channels, height, width = draw(shapes())
    if source.nbytes != target.nbytes:
        # Both sides pad to the same channels only when the last atom of INT8 is more than half full.
        atom = config.memory_atomic_bytes
        channels = -(-channels // atom) * atom - draw(st.integers(0, atom // 2 - 1))
    shape = (channels, height, width)
    params, *sources = draw(processings(config, source, target, shape))
    return SdpLayer(draw(surfaces(config, source, shape)), draw(surfaces(config, target, shape)), params, *sources)
