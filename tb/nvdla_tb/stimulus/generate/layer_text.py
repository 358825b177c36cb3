"""Layers in a line: engine, cubes and what distinguishes a layer from others of its engine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nvdla_models.pdp import PdpParams
from nvdla_models.precision import Precision
from nvdla_models.sdp import SdpParams
from nvdla_tb.nvdla.layers import BdmaLayer, CdpLayer, ConvLayer, Layer, PdpLayer, PooledLayer, RubikLayer, SdpLayer
from nvdla_tb.nvdla.layers.conv import kernel_sides
from nvdla_tb.nvdla.surfaces import ImageSurface


def layers_text(layers: Sequence[Layer]) -> str:
    """Return layers in a line; cubes are channels x height x width, windows and strides height x width.

    ::

        "SDP 8x7x14, x1; PDP 8x5x25 -> 8x5x12, max 1x2, stride 1x2, split 6; CONV 6x3x10 -> 4x3x10, kernel 1x1, chained"
    """
    texts = []
    for number, layer in enumerate(layers):
        chained = ["chained"] if number and layer.src == layers[number - 1].dst else []
        texts.append(", ".join([*_parts(layer), *chained]))
    return "; ".join(texts)


def _parts(layer: Layer) -> Iterator[str]:
    """Yield what a line says of a layer: first its engine with its cubes, then what distinguishes it."""
    if isinstance(layer, PooledLayer):
        yield from _parts(layer.producer)
        yield f"pooled on the fly -> {_by(layer.dst.layout.shape)}"
        yield from _pooling(layer.params)
        return
    if isinstance(layer, BdmaLayer):
        surfaces, lines, nbytes = layer.src.layout.shape
        yield f"BDMA {surfaces}x{lines} lines of {nbytes} bytes"
        return
    src, dst = layer.src.layout.shape, layer.dst.layout.shape
    engine = {"RBK": "RUBIK", "SDP": "CONV" if isinstance(layer, ConvLayer) else "SDP"}.get(layer.unit, layer.unit)
    yield f"{engine} {_by(src)}" + ("" if src == dst else f" -> {_by(dst)}")
    yield from _precisions(layer)
    match layer:
        case ConvLayer():
            yield from _convolution(layer)
        case SdpLayer():
            yield from _processing(layer.params)
        case PdpLayer():
            yield from _pooling(layer.params)
            if layer.split is not None:
                yield f"split {layer.split.parts}"
        case CdpLayer():
            yield "no sums" if layer.params.local_size is None else f"local size {layer.params.local_size}"
        case RubikLayer():
            yield layer.mode.value
            yield from _stride(layer.stride_y, layer.stride_x)


def _precisions(layer: SdpLayer | ConvLayer | PdpLayer | CdpLayer | RubikLayer) -> Iterator[str]:
    """Yield the precisions of a layer's input and output, unless both are INT8."""
    dst = layer.dst.layout.precision
    match layer:
        case ConvLayer() | PdpLayer() | CdpLayer():
            src = layer.params.precision
        case SdpLayer():
            src = layer.params.input_precision
        case RubikLayer():
            src = dst
    if (src, dst) != (Precision.INT8, Precision.INT8):
        yield src.value if src is dst else f"{src.value} -> {dst.value}"


def _convolution(layer: ConvLayer) -> Iterator[str]:
    params = layer.params
    if isinstance(layer.src, ImageSurface):
        yield f"image {layer.src.layout.format_name}"
    height, width = kernel_sides(layer.weights.layout)
    yield "Winograd" if params.winograd else f"kernel {height}x{width}"
    yield from _stride(params.stride_y, params.stride_x)
    if (params.dilation_y, params.dilation_x) != (1, 1):
        yield f"dilation {params.dilation_y}x{params.dilation_x}"
    if layer.batch is not None:
        yield f"batch of {layer.batch.cubes}"
    if layer.weights.compression is not None:
        yield "compressed weights"
    yield from (f"reuses {what}" for what in ("data", "weights") if getattr(layer.cbuf, f"reuse_{what}"))
    yield from _processing(layer.sdp)


def _pooling(params: PdpParams) -> Iterator[str]:
    yield f"{params.method.value} {params.kernel_height}x{params.kernel_width}"
    yield from _stride(params.stride_y, params.stride_x)


def _processing(params: SdpParams) -> Iterator[str]:
    """Yield the stages of SDP that are on."""
    yield from (stage for stage in ("x1", "x2", "y") if getattr(params, stage) is not None)
    if params.y is not None and params.y.lut is not None:
        yield "lookup tables"


def _stride(along_h: int, along_w: int) -> Iterator[str]:
    if (along_h, along_w) != (1, 1):
        yield f"stride {along_h}x{along_w}"


def _by(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape))
