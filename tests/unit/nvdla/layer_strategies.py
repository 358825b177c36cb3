"""Random legal CDP layers, and layers of any engine that runs from memory to memory."""

from __future__ import annotations

from hypothesis import strategies as st

from models.cdp import LOCAL_SIZES, CdpParams, widths
from models.config import HwConfig
from models.converter import Converter, ConverterEncoding
from models.lut import LutUnit
from models.precision import Precision
from tb.nvdla.layers import CdpLayer, PdpLayer, SdpLayer
from tests.unit.nvdla.sdp_strategies import luts, sdp_layers
from tests.unit.nvdla.strategies import OPERAND, pdp_layers, shapes, signed, surfaces


def _converters(precision: Precision, encoding: ConverterEncoding) -> st.SearchStrategy[Converter]:
    """Draw a converter of CDP; in FP16 it passes everything."""
    if precision is Precision.FP16:
        return st.just(Converter(0, 1, 0, encoding))
    is_input = encoding is ConverterEncoding.CDP_INPUT
    bits = widths(precision).input_offset if is_input else widths(precision).output_offset
    return st.builds(Converter, signed(bits), OPERAND, st.integers(*encoding.shift_range), st.just(encoding))


@st.composite
def cdp_layers(draw: st.DrawFn, config: HwConfig) -> CdpLayer:
    """Draw a CDP layer."""
    precision = draw(st.sampled_from(config.feature_data_types))
    params = CdpParams(
        local_size=draw(st.sampled_from((None, *LOCAL_SIZES))),
        multiply=draw(st.booleans()),
        input_converter=draw(_converters(precision, ConverterEncoding.CDP_INPUT)),
        output_converter=draw(_converters(precision, ConverterEncoding.CDP_OUTPUT)),
        lut=draw(luts(LutUnit.CDP, precision)),
        precision=precision,
        nan_to_zero=precision is Precision.FP16 and draw(st.booleans()),
    )
    shape = draw(shapes())
    return CdpLayer(draw(surfaces(config, precision, shape)), draw(surfaces(config, precision, shape)), params)


def layers(config: HwConfig) -> st.SearchStrategy[SdpLayer | PdpLayer | CdpLayer]:
    """Draw a layer of any engine that is modelled."""
    return st.one_of(sdp_layers(config), pdp_layers(config), cdp_layers(config))
