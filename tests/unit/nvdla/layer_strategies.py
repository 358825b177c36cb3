"""Random legal layers of CDP, of any engine that runs from memory to memory, and of those that PDP pools on the fly."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st

from nvdla_models.cdp import LOCAL_SIZES, CdpParams, widths
from nvdla_models.config import HwConfig
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout.raw import MAX_CUBE_ELEMENTS
from nvdla_models.lut import LutUnit
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import CdpLayer, ConvLayer, PdpLayer, PooledLayer, SdpLayer, on_the_fly
from tests.unit.nvdla.conv_strategies import conv_layers
from tests.unit.nvdla.sdp_strategies import luts, sdp_layers
from tests.unit.nvdla.strategies import OPERAND, pdp_layers, pooling, shapes, signed, surfaces


def _converters(precision: Precision, encoding: ConverterEncoding) -> st.SearchStrategy[Converter]:
    """Draw a converter of CDP; in FP16 it passes everything."""
    if precision is Precision.FP16:
        return st.just(Converter(0, 1, 0, encoding))
    is_input = encoding is ConverterEncoding.CDP_INPUT
    bits = widths(precision).input_offset if is_input else widths(precision).output_offset
    *_, shift_bits = encoding.value
    return st.builds(Converter, signed(bits), OPERAND, st.integers(0, 2**shift_bits - 1), st.just(encoding))


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


@st.composite
def _axes(draw: st.DrawFn, size: int) -> tuple[int, int, int, int]:
    """Draw kernel, stride and padding before and after for an axis of so many elements."""
    kernel = draw(st.integers(1, 8))
    before, after = draw(st.integers(0, kernel - 1)), draw(st.integers(0, kernel - 1))
    rest = size + before + after - kernel
    assume(rest >= 0)
    strides = [stride for stride in range(1, 17) if rest % stride == 0]
    return kernel, draw(st.sampled_from(strides)), before, after


@st.composite
def pooled_layers(draw: st.DrawFn, config: HwConfig) -> PooledLayer:
    """Draw a layer of SDP or a convolution, pooled on the fly."""
    producer: SdpLayer | ConvLayer = draw(st.one_of(sdp_layers(config), conv_layers(config)))
    processing = producer.sdp if isinstance(producer, ConvLayer) else producer.params
    assume(processing.input_precision is processing.output_precision and not processing.compares)
    assume(not (isinstance(producer, ConvLayer) and (producer.params.winograd or producer.batch)))
    precision, shape = producer.dst.layout.precision, producer.dst.layout.shape
    producer = replace(producer, dst=on_the_fly(config, precision, shape))
    kernel_height, stride_y, pad_top, pad_bottom = draw(_axes(shape[1]))
    kernel_width, stride_x, pad_left, pad_right = draw(_axes(shape[2]))
    down = (kernel_height, stride_y, pad_top, pad_bottom)
    params = draw(pooling(precision, down, (kernel_width, stride_x, pad_left, pad_right)))
    out = (shape[0], params.output_height(shape[1]), params.output_width(shape[2]))
    assume(max(out) <= MAX_CUBE_ELEMENTS)
    assume(out[2] <= 128 >> (-(-kernel_height // stride_y) - 1).bit_length())
    return PooledLayer(producer, draw(surfaces(config, precision, out)), params)
