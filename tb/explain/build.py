"""From a layer to the run that the hardware should have made of it."""

from __future__ import annotations

from models.converter import Converter
from models.layout import PixelConversion
from models.sdp import SdpParams, SdpStage, YStage
from tb.explain.engine_conv import ConvRun, CubeInput, ImageInput
from tb.explain.engines import CdpRun, Engine, PdpRun, SdpRun, StageRun
from tb.explain.kernels import Packing, WeightInput
from tb.explain.run import Run
from tb.explain.walk import Walk
from tb.layers import CdpLayer, ConvLayer, Layer, PdpLayer, SdpLayer, StageSource
from tb.surfaces import ImageSurface, Surface


def run_of(layer: Layer) -> Run:
    """Return the run of a layer.

    Raises:
        ValueError: for an engine that the explainer cannot run.
    """
    engine = _engine(layer)
    assert isinstance(layer.dst, Surface)
    return Run(engine, Walk.of(layer.dst.layout, layer.dst.address))


def _engine(layer: Layer) -> Engine:
    if isinstance(layer, SdpLayer):
        return _sdp(Walk.of(layer.src.layout, layer.src.address), layer.params, layer)
    if isinstance(layer, PdpLayer):
        return PdpRun(Walk.of(layer.src.layout, layer.src.address), layer.params, layer.dst.layout.shape[1:])
    if isinstance(layer, CdpLayer):
        return CdpRun(Walk.of(layer.src.layout, layer.src.address), layer.params, layer.src.layout.shape[0])
    if isinstance(layer, ConvLayer):
        return _convolution(layer)
    raise ValueError(f"layer must be of SDP, PDP, CDP or a convolution, not {type(layer).__name__}")


def _sdp(src: Walk, params: SdpParams, layer: SdpLayer | ConvLayer) -> SdpRun:
    return SdpRun(src, params, _stage(params.x1, layer.x1), _stage(params.x2, layer.x2), _stage(params.y, layer.y))


def _stage(stage: SdpStage | YStage | None, source: StageSource | None) -> StageRun | None:
    if stage is None:
        return None
    if source is None:
        return StageRun(stage)
    if source.memory is None:
        return StageRun(stage, source.alu, source.mul)
    walk = Walk.of_operands(source.memory.layout, source.memory.address)
    return StageRun(stage, source.alu, source.mul, walk, source.memory.layout.components)


def _convolution(layer: ConvLayer) -> ConvRun:
    dst = layer.dst.layout
    source: CubeInput | ImageInput
    if isinstance(layer.src, ImageSurface):
        if not isinstance(layer.conversion, PixelConversion):
            raise ValueError("conversion must be a PixelConversion for an image")
        channels = tuple(range(layer.src.layout.shape[0]))
        source = ImageInput(layer.src.layout, layer.src.addresses, layer.conversion, channels)
        walk = Walk.of(dst, layer.dst.address)
    else:
        converter = layer.conversion if isinstance(layer.conversion, Converter) else None
        walk = Walk.of(layer.src.layout, layer.src.address)
        source = CubeInput(walk, layer.src.layout.shape[0], converter)
    stored, compression = layer.weights.layout, layer.weights.compression
    shape = stored.packed_shape if layer.params.winograd else stored.shape
    packing = None if compression is None else Packing(compression.mask_address, compression.sizes_address)
    weights = WeightInput(stored, layer.weights.address, shape, packing=packing)
    behind = _sdp(walk, layer.sdp, layer)
    return ConvRun(source, weights, layer.params, dst.shape[1:], dst.padded_channels, behind)
