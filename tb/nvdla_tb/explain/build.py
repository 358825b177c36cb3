"""From a layer to the run that the hardware should have made of it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from nvdla_models.converter import Converter
from nvdla_models.errors import InputError
from nvdla_models.layout import PixelConversion
from nvdla_models.sdp import SdpParams, SdpStage, YStage
from nvdla_tb.explain.engine_conv import ConvRun, CubeInput, ImageInput, PooledRun
from nvdla_tb.explain.engines import CdpRun, EngineRun, MoveRun, PdpRun, Run, SdpRun, StageRun
from nvdla_tb.explain.kernels import Packing, WeightInput
from nvdla_tb.explain.walk import CubeLayout, Walk
from nvdla_tb.nvdla.layers import (
    BdmaLayer,
    CdpLayer,
    ConvLayer,
    Layer,
    PdpLayer,
    PooledLayer,
    RubikLayer,
    SdpLayer,
    StageSource,
)
from nvdla_tb.nvdla.surfaces import ImageSurface, Placed


class OtherLayer(ABC):
    """A layer of a system that is not NVDLA.

    Attributes:
        number: Its place in what the system plays, by which the record of a run finds it again.
    """

    number: int

    @property
    @abstractmethod
    def layout(self) -> CubeLayout:
        """The layout of its result."""

    @property
    @abstractmethod
    def address(self) -> int:
        """Where its result lies."""

    @abstractmethod
    def run(self) -> Run:
        """Return the run that the hardware should have made of it.

        Raises:
            InputError: when it cannot be run again.
        """


AnyLayer = Layer | OtherLayer
"""A layer of any system."""


def run_of(layer: AnyLayer) -> Run:
    """Return the run of a layer.

    Raises:
        InputError: for a layer that the explainer cannot run.
    """
    if isinstance(layer, OtherLayer):
        return layer.run()
    return Run(RUNS[type(layer)](layer), _walk(layer.dst))


def _walk(surface: Placed[Any]) -> Walk:
    return Walk.of(surface.layout, surface.address)


def _on_the_fly(layer: PooledLayer) -> PooledRun:
    between = _walk(layer.producer.dst)
    return PooledRun(_producer(layer.producer), _pooling(between, layer))


def _pooling(src: Walk, layer: PdpLayer | PooledLayer) -> PdpRun:
    out = layer.dst.layout
    return PdpRun(src, layer.params, out.shape[1:], out.config)


def _producer(layer: SdpLayer | ConvLayer) -> SdpRun | ConvRun:
    if isinstance(layer, ConvLayer):
        return _convolution(layer)
    return _sdp(_walk(layer.src), layer.params, layer)


def _movement(layer: RubikLayer | BdmaLayer) -> MoveRun:
    src, dst = _walk(layer.src), _walk(layer.dst)
    padded = (dst.shape[0], dst.shape[2])
    if isinstance(layer, BdmaLayer):
        return MoveRun(src, padded, padded)
    shape = layer.dst.layout.shape
    return MoveRun(src, (shape[0], shape[2]), padded, (layer.stride_y, layer.stride_x))


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
    stored, compression = layer.weights.layout, layer.weights.compression
    shape = stored.packed_shape if layer.params.winograd else stored.shape
    source: CubeInput | ImageInput
    if isinstance(layer.src, ImageSurface):
        if not isinstance(layer.conversion, PixelConversion):
            raise InputError("conversion must be a PixelConversion for an image")
        channels = tuple(range(layer.src.layout.shape[0]))
        source = ImageInput(layer.src.layout, layer.src.addresses, layer.conversion, channels)
        walk = Walk.of(dst, layer.dst.address)
    else:
        converter = layer.conversion if isinstance(layer.conversion, Converter) else None
        walk = Walk.of(layer.src.layout, layer.src.address)
        source = CubeInput(walk, shape[1], converter)
    packing = None if compression is None else Packing(compression.mask_address, compression.sizes_address)
    weights = WeightInput(stored, layer.weights.address, shape, packing=packing)
    after = _sdp(walk, layer.sdp, layer)
    return ConvRun(source, weights, layer.params, dst.shape[1:], dst.padded_channels, after)


RUNS: dict[type[Layer], Callable[[Any], EngineRun]] = {
    SdpLayer: _producer,
    ConvLayer: _producer,
    PdpLayer: lambda layer: _pooling(_walk(layer.src), layer),
    CdpLayer: lambda layer: CdpRun(_walk(layer.src), layer.params, layer.src.layout.shape[0]),
    PooledLayer: _on_the_fly,
    RubikLayer: _movement,
    BdmaLayer: _movement,
}
"""By the type of layers, from one of them to what computes it."""
