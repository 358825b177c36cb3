"""Operands of a convolution: lines and weights that CDMA fetches, or that lie in the convolution buffer already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.converter import Converter
from nvdla_models.errors import InputError
from nvdla_models.layout import CompressedWeightLayout, ImageWeightLayout, PixelConversion
from nvdla_models.layout.compression import WGS_DTYPE
from nvdla_tb.judge.predictor.expectation import ReadMemory, read_patterns
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.program.conv_buffer import FETCHES_ALL, Fetch
from nvdla_tb.nvdla.surfaces import ImageSurface, WeightSurface

Bytes = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Operands:
    """Operands of a convolution, FP16 as patterns.

    Attributes:
        cube: (C, H, W), the lines as CDMA has converted them.
        weights: (K, C, R, S).
        counted: patterns of data and weights in which CDMA counts NaN and infinities: all that it fetches, padding
            included. None when that is not known.
    """

    cube: NDArray[Any]
    weights: NDArray[Any]
    counted: tuple[NDArray[Any], NDArray[Any]] | None


class BufferContents:
    """The contents of the convolution buffer, as they were when they were fetched.

    Layers come in the order in which they run, with what the tracker says that they fetch.
    """

    def __init__(self) -> None:
        """Start with an empty buffer, as after a reset."""
        self._kept: tuple[NDArray[Any], Bytes] | None = None
        """The lines one after the other, and the bytes of the weights."""

    @property
    def is_known(self) -> bool:
        """Whether a layer has left anything."""
        return self._kept is not None

    def take(self, layer: ConvLayer, fetch: Fetch, read: ReadMemory) -> Operands:
        """Return the operands of a layer or of one cube of a batch, and keep the ones that it leaves.

        Raises:
            InputError: when it fetches less than all of it and no layer came before.
        """
        kept = self._kept
        if kept is None and not fetch.all:
            raise InputError("fetch must be all of it, because the convolution buffer is empty")
        raw = _read_raw(layer.weights, read) if kept is None or fetch.weights else kept[1]
        weights = _unpack(layer.weights, raw, read)
        lines = [] if kept is None or not fetch.kept_lines else [kept[0][:, -fetch.kept_lines :]]
        if fetch.data:
            lines.append(read_lines(layer, read))
        cube = np.concatenate(lines, axis=1)
        gone = 0 if layer.cbuf.skip_data_release else layer.cbuf.release_slices
        self._kept = cube[:, gone:], raw
        convolved = cube[:, : layer.height]
        if not layer.params.is_float:
            return Operands(convolved, weights, None)
        return Operands(convolved.view(np.uint16), weights.view(np.uint16), _counted(layer, fetch, convolved, read))


def operands_of(layer: ConvLayer, read: ReadMemory) -> Operands:
    """Return the operands of a layer that fetches all of them."""
    return BufferContents().take(layer, FETCHES_ALL, read)


def read_lines(layer: ConvLayer, read: ReadMemory) -> NDArray[Any]:
    """Return the lines that CDMA fetches and converts, (C, H, W)."""
    src, conversion = layer.src, layer.conversion
    if isinstance(src, ImageSurface):
        planes = zip(src.addresses, src.layout.plane_nbytes, strict=True)
        image = src.layout.unpack(np.concatenate([read(src.ram, address, nbytes) for address, nbytes in planes]))
        assert isinstance(conversion, PixelConversion)
        return conversion.apply(src.layout.format, image)
    whole = src.layout.unpack_padded(read(src.ram, src.address, src.layout.nbytes))
    # Winograd multiplies whole atoms of channels, so a NaN in a padding channel counts.
    cube = whole[: layer.weights.layout.packed_shape[1] if layer.params.winograd else src.layout.shape[0]]
    return conversion.convert(cube, layer.params.precision) if isinstance(conversion, Converter) else cube


def _counted(
    layer: ConvLayer, fetch: Fetch, cube: NDArray[Any], read: ReadMemory
) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Return the patterns of data and weights that CDMA counts.

    Source: measured on the public nv_full RTL: padding channels of a cube, and padding after weights. What a layer
        counts that does not fetch everything was not measured.
    """
    if not fetch.all:
        return None
    data, weights = layer.src, layer.weights
    patterns = cube.view(np.uint16) if isinstance(data, ImageSurface) else read_patterns(data, read)
    return patterns, read(weights.ram, weights.address, weights.fetched_bytes).view(np.uint16)


def _read_raw(surface: WeightSurface, read: ReadMemory) -> Bytes:
    """Return the bytes of weights that are not compressed, without the padding after them."""
    stored = surface.layout
    nbytes = 0 if surface.compression is not None else stored.elements * stored.precision.nbytes
    return read(surface.ram, surface.address, nbytes)


def _unpack(surface: WeightSurface, raw: Bytes, read: ReadMemory) -> NDArray[Any]:
    stored, compression = surface.layout, surface.compression
    if compression is None:
        weights = stored.unpack(raw[: stored.elements * stored.precision.nbytes])
    else:
        layout = CompressedWeightLayout(stored)
        mask = read(surface.ram, compression.mask_address, -(-stored.elements // 8))
        sizes = read(surface.ram, compression.sizes_address, stored.groups * WGS_DTYPE.itemsize)
        nbytes = int(sizes.view(WGS_DTYPE).sum(dtype=np.int64))
        weights = layout.unpack(read(surface.ram, surface.address, nbytes), mask, sizes)
    return stored.original(weights) if isinstance(stored, ImageWeightLayout) else weights
