"""What the convolution core hands to SDP, and what the published thresholds allow it to differ by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from models import conv, sdp
from models.conv import AtomOrder
from models.converter import Converter
from models.counters import count_infinity, count_nan
from models.fp16 import FP16, FP32
from models.layout import CompressedWeightLayout, ImageWeightLayout, PixelConversion
from models.layout.compression import WGS_DTYPE
from models.precision import Precision
from models.tolerance import Float64Array
from tb.layers import ConvLayer
from tb.predictor.counters import counted
from tb.predictor.cubes import expect, read_patterns
from tb.predictor.expectation import Expectation, ReadMemory, Tolerated, last_place
from tb.predictor.operands import read_operands
from tb.predictor.sdp import process
from tb.surfaces import ImageSurface, WeightSurface
from tb.tracker import StartedLayer

_SATURATION = "CACC.D_OUT_SATURATION"
_INPUT_COUNTS = (
    "CDMA.D_NAN_INPUT_DATA_NUM",
    "CDMA.D_NAN_INPUT_WEIGHT_NUM",
    "CDMA.D_INF_INPUT_DATA_NUM",
    "CDMA.D_INF_INPUT_WEIGHT_NUM",
)


def predict_conv(started: StartedLayer, read: ReadMemory) -> Expectation:
    """Return what a convolution with SDP on the fly must write."""
    layer = started.layer
    assert layer.kind == "CONV"
    processed, before = process_convolved(layer, read)
    counts = counted(started, processed, before)
    return expect(started, layer.dst, processed.cube, tolerated(layer, read), counts)


def process_convolved(layer: ConvLayer, read: ReadMemory) -> tuple[sdp.SdpResult, dict[str, int]]:
    """Return what SDP makes of the convolution and counts, padding channels included, and what is counted before it.

    Args:
        layer: The layer.
        read: How to read memory as the layer will find it.
    """
    cube, before = convolve_counted(layer, read)
    return process(layer, layer.sdp, cube, read), before


def convolve(layer: ConvLayer, read: ReadMemory) -> NDArray[Any]:
    """Return what :func:`convolve_counted` returns, without the counts."""
    return convolve_counted(layer, read)[0]


def convolve_counted(layer: ConvLayer, read: ReadMemory) -> tuple[NDArray[Any], dict[str, int]]:
    """Return what the convolution core hands to SDP, with zeros in the padding channels, and what it counts.

    Args:
        layer: The layer.
        read: How to read memory as the layer will find it.

    Returns:
        int32, or uint32 FP32 patterns of FP16, (padded channels, H, W); counts by ``UNIT.REGISTER``.
    """
    cube, weights = inputs(layer, read)
    if not layer.params.is_float:
        sums = conv.accumulate(layer.params, cube, weights)
        counts = dict.fromkeys(_INPUT_COUNTS, 0) | {_SATURATION: int(np.count_nonzero(sums.saturated))}
        return _padded(layer, sums.output), counts
    fetched = tuple(_fetched(layer, read, cube))
    counts = dict(
        zip(_INPUT_COUNTS, (count(array) for count in (count_nan, count_infinity) for array in fetched), strict=True)
    )
    stored = layer.weights.layout
    order = AtomOrder(stored.config.mac_atomic_c_size)
    if isinstance(stored, ImageWeightLayout):
        order = replace(order, image=True, line_group=stored.line_group)
    return _padded(layer, conv.run_exact(layer.params, cube, weights, order)), counts


def tolerated(layer: ConvLayer, read: ReadMemory) -> Tolerated | None:
    """Return the float64 reference of an FP16 layer with its allowances, or None where results are exact.

    The allowance of the convolution is carried through SDP by what SDP makes of the reference with and
    without it, so that whatever is programmed there scales it. Padding channels have none.

    Args:
        layer: The layer.
        read: How to read memory as the layer will find it.

    Source: precision document, "FP16 error threshold".
    """
    if not layer.params.is_float or layer.dst.layout.precision is not Precision.FP16 or layer.sdp.compares:
        return None
    cube, weights = inputs(layer, read)
    reference = conv.run_float64(layer.params, cube, weights)
    rule = conv.threshold(layer.params, cube, weights, reference)
    assert rule.allowance is not None
    reference, allowance = _padded(layer, reference), _padded(layer, rule.allowance)
    if any(stage is not None for stage in (layer.sdp.x1, layer.sdp.x2, layer.sdp.y)):
        reference, allowance = _through_sdp(layer, read, reference, allowance)
    allowance[layer.dst.layout.shape[0] :] = 0.0
    return Tolerated(reference, replace(rule, allowance=allowance))


def _through_sdp(
    layer: ConvLayer, read: ReadMemory, reference: Float64Array, allowance: Float64Array
) -> tuple[Float64Array, Float64Array]:
    alignment = allowance - last_place(reference)
    alignment[layer.dst.layout.shape[0] :] = 0.0
    sources = ((layer.x1, layer.sdp.x1), (layer.x2, layer.sdp.x2), (layer.y, layer.sdp.y))
    operands = [read_operands(source, stage, True, read) for source, stage in sources]

    def processed(values: Float64Array) -> Float64Array:
        nan = np.isnan(values)
        numbers = FP32.encode(np.where(nan, 0.0, values))
        patterns = np.where(nan, FP32.infinity_bits | 1, numbers).astype(FP32.dtype)
        return FP16.decode(sdp.run(layer.sdp, patterns, *operands))

    result = processed(reference)
    ends = [np.abs(processed(reference + side * alignment) - result) for side in (-1.0, 1.0)]
    return result, np.nan_to_num(np.maximum(*ends)) + last_place(result)


def inputs(layer: ConvLayer, read: ReadMemory) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the cube in the convolution buffer and the kernels, FP16 as patterns.

    Args:
        layer: The layer.
        read: How to read memory as the layer will find it.

    Returns:
        (C, H, W) and (K, C, R, S).
    """
    src, conversion = layer.src, layer.conversion
    if isinstance(src, ImageSurface):
        planes = zip(src.addresses, src.layout.plane_nbytes, strict=True)
        image = src.layout.unpack(np.concatenate([read(src.ram, address, nbytes) for address, nbytes in planes]))
        assert isinstance(conversion, PixelConversion)
        cube = conversion.apply(src.layout.format, image)
    else:
        whole = src.layout.unpack_padded(read(src.ram, src.address, src.layout.nbytes))
        # Winograd multiplies whole atoms of channels, so a NaN in a padding channel counts.
        cube = whole[: layer.weights.layout.packed_shape[1] if layer.params.winograd else src.layout.shape[0]]
        if isinstance(conversion, Converter):
            cube = conversion.convert(cube, layer.params.precision)
    weights = _read_weights(layer.weights, read)
    if layer.params.is_float:
        return cube.view(np.uint16), weights.view(np.uint16)
    return cube, weights


def _fetched(layer: ConvLayer, read: ReadMemory, cube: NDArray[Any]) -> Iterator[NDArray[Any]]:
    """Yield the patterns of data and weights that CDMA counts: all that it fetches, padding included.

    Source: measured on the public nv_full RTL: padding channels of a cube, and padding behind weights.
    """
    data, weights = layer.src, layer.weights
    yield cube if isinstance(data, ImageSurface) else read_patterns(data, read)
    yield read(weights.ram, weights.address, weights.fetched_bytes).view(np.uint16)


def _read_weights(surface: WeightSurface, read: ReadMemory) -> NDArray[Any]:
    stored, compression = surface.layout, surface.compression
    if compression is None:
        weights = stored.unpack(read(surface.ram, surface.address, stored.elements * stored.precision.nbytes))
    else:
        layout = CompressedWeightLayout(stored)
        mask = read(surface.ram, compression.mask_address, -(-stored.elements // 8))
        sizes = read(surface.ram, compression.sizes_address, stored.groups * WGS_DTYPE.itemsize)
        nbytes = int(sizes.view(WGS_DTYPE).sum(dtype=np.int64))
        weights = layout.unpack(read(surface.ram, surface.address, nbytes), mask, sizes)
    return stored.original(weights) if isinstance(stored, ImageWeightLayout) else weights


def _padded(layer: ConvLayer, result: NDArray[Any]) -> NDArray[Any]:
    padding = layer.dst.layout.padded_channels - result.shape[0]
    return np.pad(result, ((0, padding), (0, 0), (0, 0)))
