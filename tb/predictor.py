"""What a layer will write: from the layer and the memory it reads to the bytes it must leave behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from models import cdp, conv, pdp, sdp
from models.converter import Converter
from models.layout import FeatureLayout, ImageWeightLayout, PixelConversion
from tb.layers import CdpLayer, ConvLayer, PdpLayer, SdpLayer, StageSource, Surface
from tb.memory import Ram
from tb.surfaces import ImageSurface
from tb.tracker import StartedLayer

ReadMemory = Callable[[Ram, int, int], NDArray[np.uint8]]
"""(ram, address, nbytes) to the bytes as the layer will find them."""


@dataclass(frozen=True)
class Expectation:
    """The bytes that one layer must write.

    ``data`` and ``must_write`` have the length of the surface, stride gaps included; only bytes with
    ``must_write`` count, any other write into the range is stray.
    """

    started: StartedLayer
    ram: Ram
    address: int
    layout: FeatureLayout
    data: NDArray[np.uint8]
    must_write: NDArray[np.bool_]

    @property
    def end(self) -> int:
        """First address behind the surface."""
        return self.address + len(self.data)


def predict(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return what a layer must write.

    Padding channels are predicted like any other: hardware computes and writes them. All but CDP take the
    bytes that lie in memory behind the last channel; SDP on the fly takes zeros, but operands that lie in
    memory at their places.

    Args:
        started: The layer.
        read: How to read memory as the layer will find it.
    """
    layer = started.layer
    match layer:
        case SdpLayer():
            cube = _read_cube(layer.src, read)
            result = sdp.run(
                layer.params,
                cube,
                _read_operands(layer.x1, layer.params.x1, read),
                _read_operands(layer.x2, layer.params.x2, read),
            )
        case PdpLayer():
            result = pdp.run(layer.params, _read_cube(layer.src, read))
        case ConvLayer():
            result = sdp.run(
                layer.sdp,
                _convolve(layer, read),
                _read_operands(layer.x1, layer.sdp.x1, read),
                _read_operands(layer.x2, layer.sdp.x2, read),
            )
        case CdpLayer():
            result = cdp.run(layer.params, _read_cube(layer.src, read), layer.src.layout.shape[0])
    dst = layer.dst
    padded = _whole_atoms(dst.layout)
    return Expectation(started, dst.ram, dst.address, dst.layout, padded.pack(result), padded.written_mask())


def _whole_atoms(layout: FeatureLayout) -> FeatureLayout:
    """Return the layout of the same bytes with the padding channels as channels."""
    shape = (layout.padded_channels, *layout.shape[1:])
    return FeatureLayout(layout.config, layout.precision, shape, layout.line_stride_bytes, layout.surface_stride_bytes)


def _read_cube(surface: Surface, read: ReadMemory) -> NDArray[np.int16] | NDArray[np.int8]:
    return surface.layout.unpack_padded(read(surface.ram, surface.address, surface.layout.nbytes))


def _convolve(layer: ConvLayer, read: ReadMemory) -> NDArray[np.int32]:
    """Return what the convolution core hands to SDP: int32, with zeros in the padding channels."""
    src, conversion = layer.src, layer.conversion
    if isinstance(src, ImageSurface):
        planes = zip(src.addresses, src.layout.plane_nbytes, strict=True)
        image = src.layout.unpack(np.concatenate([read(src.ram, address, nbytes) for address, nbytes in planes]))
        assert isinstance(conversion, PixelConversion)
        cube = conversion.apply(src.layout.format, image)
    else:
        cube = src.layout.unpack(read(src.ram, src.address, src.layout.nbytes))
        if isinstance(conversion, Converter):
            cube = conversion.convert(cube, layer.params.precision)
    stored = layer.weights.layout
    weights = stored.unpack(read(layer.weights.ram, layer.weights.address, stored.nbytes))
    if isinstance(stored, ImageWeightLayout):
        weights = stored.original(weights)
    result = conv.run(layer.params, cube, weights)
    padding = layer.dst.layout.padded_channels - result.shape[0]
    return np.pad(result, ((0, padding), (0, 0), (0, 0)))


def _read_operands(source: StageSource | None, stage: sdp.SdpStage | None, read: ReadMemory) -> sdp.Operands | None:
    """Return the operands of an active stage, padded to whole atoms like the cube."""
    if stage is None or source is None:
        return None
    fetched = {}
    if source.memory is not None:
        memory = source.memory
        fetched = memory.layout.unpack_padded(read(memory.ram, memory.address, memory.layout.nbytes))
    operands: dict[str, NDArray[np.int64] | None] = {}
    for component, active in (("alu", stage.alu is not None), ("mul", stage.mul)):
        register = getattr(source, component)
        if not active:
            operands[component] = None
        elif register is not None:
            operands[component] = np.array(register, dtype=np.int64)
        else:
            operands[component] = fetched[component].astype(np.int64)
    return sdp.Operands(**operands)
