"""Convolutions of cubes and images from descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from models.cbuf import bank_bytes, bank_entries, feature_entries, image_entries
from models.config import HwConfig
from models.conv import ConvParams
from models.converter import Converter, ConverterEncoding
from models.layout import ImageWeightLayout, PixelConversion, PixelLayout, WeightLayout
from models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from models.precision import Precision
from tb.generate.describe import Table
from tb.generate.layers.sdp import take_processing
from tb.generate.layers.workshop import Workshop, take_converter, take_destination, take_source
from tb.layers import ConvLayer, Layer, PooledLayer, Surface
from tb.surfaces import CbufUse, ImageSurface, leftover_weight_entries


def build_conv(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> ConvLayer:
    """Return the convolution that a description asks for: of an image when it names one, else of a cube."""
    params = _params(table)
    kernels = table.take("kernels", int, required=True)
    kernel_width, kernel_height = table.integers("kernel", 2)
    converter = _converter(table)
    image = table.table("image")
    src: Surface | ImageSurface
    weights: WeightLayout
    conversion: Converter | PixelConversion | None
    if image is None:
        conversion = converter
        src = take_source(shop, name, table, earlier)
        channels, height, width = src.layout.shape
        weights = WeightLayout(shop.config, Precision.INT8, (kernels, channels, kernel_height, kernel_width))
        entries = feature_entries(shop.config, Precision.INT8, channels, width)
    else:
        src = _image(shop, name, table, image)
        channels, height, width = src.layout.shape
        conversion = PixelConversion(
            Precision.INT8, converter, _mean(image, channels), image.take("signed", bool, False)
        )
        shape = (kernels, channels, kernel_height, kernel_width)
        weights = ImageWeightLayout(shop.config, Precision.INT8, shape, image.take("post_extension", int, 1))
        entries = image_entries(shop.config, Precision.INT8, channels, params.pad_left + width + params.pad_right)
        image.done()
    out = (kernels, params.output_height(height, kernel_height), params.output_width(width, kernel_width))
    processing, x1, x2 = take_processing(shop, name, table, out)
    low, high = table.integers("weights", 2, Precision.INT8.limits)
    placed = shop.place_weights(f"{name}_weights", weights, (low, high))
    cbuf = _cbuf(shop.config, table, height, entries, weights, earlier)
    dst = take_destination(shop, name, table, out)
    return ConvLayer(src, placed, dst, params, processing, cbuf, conversion, x1, x2)


def _params(table: Table) -> ConvParams:
    stride_x, stride_y = table.integers("stride", 2, (1, 1))
    dilation_x, dilation_y = table.integers("dilation", 2, (1, 1))
    left, right, top, bottom = table.integers("pad", 4, (0, 0, 0, 0))
    return ConvParams(
        stride_x=stride_x,
        stride_y=stride_y,
        dilation_x=dilation_x,
        dilation_y=dilation_y,
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_value=table.take("pad_value", int, 0),
        truncate=table.take("truncate", int, 0),
        precision=Precision.INT8,
    )


def _converter(table: Table) -> Converter | None:
    """Return the input converter, None without the key."""
    return (
        take_converter(table, "input_converter", ConverterEncoding.CDMA_INPUT) if "input_converter" in table else None
    )


def _image(shop: Workshop, name: str, table: Table, image: Table) -> ImageSurface:
    """Return an image of random pixels; ``gaps`` are atoms behind the lines of each plane."""
    format_name = image.take("format", str, required=True)
    channels, height, width = table.integers("shape", 3)
    shape = (channels, height, width)
    packed = PixelLayout.packed(shop.config, format_name, shape, image.take("x_offset", int, 0))
    gaps = image.integers("gaps", len(packed.line_stride_bytes), (0,) * len(packed.line_stride_bytes))
    strides = tuple(
        stride + gap * shop.config.memory_atomic_bytes
        for stride, gap in zip(packed.line_stride_bytes, gaps, strict=True)
    )
    return shop.place_image(f"{name}_src", PixelLayout(shop.config, format_name, shape, strides, packed.x_offset))


def _mean(image: Table, channels: int) -> tuple[int, ...] | None:
    return image.integers("mean", channels) if "mean" in image else None


def _cbuf(
    config: HwConfig, table: Table, height: int, entries: int, weights: WeightLayout, earlier: Sequence[Layer]
) -> CbufUse:
    """Return the share of the convolution buffer: as few banks as hold everything, and those that are to spare.

    With ``all_weights = false`` the banks of a first convolution hold a kernel group and are filled again as it
    goes. The banks differ from those of the convolution before where that one leaves padding behind its weights.
    ``banks`` says exactly how many.

    There is room for the weights of all convolutions before, because CDMA may count them as still there: its
    counter stands still with its clock, so it misses what CSC gives back while CDMA has nothing to do. Measured
    on the public nv_small RTL, which then hangs: it has asked for weights that it does not take, and data wait
    behind them.
    """
    spare_data, spare_weight = table.integers("spare_banks", 2, (0, 0))
    data = -(-height * entries // bank_entries(config, 1)) + spare_data
    producers = (layer.producer if isinstance(layer, PooledLayer) else layer for layer in earlier)
    before = [layer for layer in producers if isinstance(layer, ConvLayer)]
    needed = weights.nbytes + sum(layer.weights.layout.nbytes for layer in before)
    if not table.take("all_weights", bool, True) and not before:
        group = weights.group_elements[0] * weights.precision.nbytes
        needed = min(needed, group + WEIGHT_SIZE_ALIGNMENT_BYTES)
    weight = -(-needed // bank_bytes(config, 1)) + spare_weight
    weight = max(min(weight, config.cbuf_bank_number - data), 1)
    if before and (data, weight) == (before[-1].cbuf.data_banks, before[-1].cbuf.weight_banks):
        left = leftover_weight_entries(before[-1].weights.layout, before[-1].cbuf)
        weight += 0 if not left else 1 if data + weight < config.cbuf_bank_number else -1
    data, weight = table.integers("banks", 2, (data, weight))
    return CbufUse(
        data,
        weight,
        release_slices=table.take("release_slices", int, height),
        fetch_slices=table.take("fetch_slices", int, 1),
    )
