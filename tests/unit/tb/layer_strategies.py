"""Random legal CDP layers, and layers of any engine that runs from memory to memory."""

from __future__ import annotations

from hypothesis import strategies as st

from models.cdp import LOCAL_SIZES, CdpParams, widths
from models.config import HwConfig
from models.converter import Converter, ConverterEncoding
from models.lut import LutUnit
from tb.layers import CdpLayer, PdpLayer, SdpLayer
from tests.unit.tb.sdp_strategies import luts, sdp_layers
from tests.unit.tb.strategies import INTEGERS, OPERAND, pdp_layers, shapes, signed, surfaces


@st.composite
def cdp_layers(draw: st.DrawFn, config: HwConfig) -> CdpLayer:
    """Draw a CDP layer."""
    precision = draw(st.sampled_from([p for p in INTEGERS if p in config.feature_data_types]))
    bits = widths(precision)
    params = CdpParams(
        local_size=draw(st.sampled_from((None, *LOCAL_SIZES))),
        multiply=draw(st.booleans()),
        input_converter=Converter(
            draw(signed(bits.input_offset)), draw(OPERAND), draw(st.integers(0, 31)), ConverterEncoding.CDP_INPUT
        ),
        output_converter=Converter(
            draw(signed(bits.output_offset)), draw(OPERAND), draw(st.integers(0, 63)), ConverterEncoding.CDP_OUTPUT
        ),
        lut=draw(luts(LutUnit.CDP, precision)),
        precision=precision,
    )
    shape = draw(shapes())
    return CdpLayer(draw(surfaces(config, precision, shape)), draw(surfaces(config, precision, shape)), params)


def layers(config: HwConfig) -> st.SearchStrategy[SdpLayer | PdpLayer | CdpLayer]:
    """Draw a layer of any engine that is modelled."""
    return st.one_of(sdp_layers(config), pdp_layers(config), cdp_layers(config))
