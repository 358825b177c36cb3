"""Convolutions of cubes and images from descriptions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nvdla_models.cbuf import fewest_data_banks, fewest_weight_banks
from nvdla_models.config import HwConfig
from nvdla_models.conv import ConvParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import (
    ImageWeightLayout,
    KernelLayout,
    PixelConversion,
    PixelLayout,
    WeightLayout,
    WinogradWeightLayout,
)
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from nvdla_models.layout.winograd import KERNEL_SIDE
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import Batch, ConvLayer, Layer, Surface, convolution_of
from nvdla_tb.nvdla.layers.batch import DST_ATOMS
from nvdla_tb.nvdla.layers.conv import buffered_lines, kernel_sides, slice_entries
from nvdla_tb.nvdla.program.conv_buffer import ConvBuffer
from nvdla_tb.nvdla.surfaces import CbufUse, ImageSurface, WeightSurface, tight_weight_bytes
from nvdla_tb.stimulus.generate.describe import PlanError, Table
from nvdla_tb.stimulus.generate.layers.sdp import take_processing
from nvdla_tb.stimulus.generate.layers.workshop import (
    Workshop,
    take_converter_if,
    take_cubes,
    take_destination,
    take_numbers,
    take_precision,
)

_PARTS = ("data", "weights")


@dataclass(frozen=True)
class _Stay:
    """The content of the buffer before and after a layer.

    Attributes:
        keep: of ``_PARTS``, what it keeps for the next.
        reuse: of ``_PARTS``, what it takes of the layer before.
        lines: that it convolves, when they are not those of its input in memory.
        before: the convolutions before it.
        buffer: content that they leave.
    """

    keep: tuple[str, ...]
    reuse: tuple[str, ...]
    lines: int | None
    before: tuple[ConvLayer, ...]
    buffer: ConvBuffer


def build_conv(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> ConvLayer:
    """Return the convolution that a description asks for: of an image when it names one, else of a cube."""
    kernels = table.take("kernels", int, required=True)
    winograd = table.take("winograd", bool, False)
    kernel_width, kernel_height = table.integers("kernel", 2, (KERNEL_SIDE,) * 2 if winograd else None)
    converter = take_converter_if(table, "input_converter", ConverterEncoding.CDMA_INPUT)
    cubes = table.take("batch", int, 1)
    most = max(shop.config.max_batch_size, 1)
    if not 1 <= cubes <= most:
        raise PlanError(f"{table.where}.batch must be 1 to {most} on {shop.config.name}, not {cubes}")
    image = table.table("image")
    src: Surface | ImageSurface
    src_stride = 0
    weights: KernelLayout
    conversion: Converter | PixelConversion | None
    if image is None:
        conversion = converter
        src, *more = take_cubes(shop, name, table, earlier, cubes)
        src_stride = more[0].address - src.address if more else 0
        precision = src.layout.precision
        channels = src.layout.shape[0]
        params = _params(table, precision, winograd=winograd)
        shape = (kernels, channels, kernel_height, kernel_width)
        kind = WinogradWeightLayout if winograd else WeightLayout
        weights = kind(shop.config, precision, shape)
    else:
        precision = take_precision(table)
        params = _params(table, precision, winograd=winograd)
        src = _image(shop, name, table, image)
        channels = src.layout.shape[0]
        mean = image.integers("mean", channels) if "mean" in image else None
        conversion = PixelConversion(precision, converter, mean, image.take("signed", bool, False))
        shape = (kernels, channels, kernel_height, kernel_width)
        weights = ImageWeightLayout(shop.config, precision, shape, image.take("post_extension", int, 1))
        image.done()
    sides = kernel_sides(weights)
    src_height, src_width = src.layout.shape[1:]
    height = buffered_lines(src_height, params)
    stay = _stay(table, earlier, src_height)
    if stay.lines is not None:
        src_height = height = stay.lines
    out = (kernels, params.output_height(src_height, sides[0]), params.output_width(src_width, sides[1]))
    output = take_precision(table, "output_precision", precision)
    processing, x1, x2, y = take_processing(shop, name, table, out, precision, output)
    placed = _weights(shop, name, table, weights)
    cbuf = _cbuf(shop.config, table, height, cubes * slice_entries(src.layout, params), placed, stay)
    if cubes > 1:
        shop = shop.in_a_row()
    dst = take_destination(shop, name, table, out, output, 1 if cubes == 1 else DST_ATOMS)
    others = [shop.reserve(f"{name}_dst_cube{number}", dst.layout, DST_ATOMS) for number in range(1, cubes)]
    batch = Batch(cubes, src_stride, others[0].address - dst.address) if others else None
    return ConvLayer(src, placed, dst, params, processing, cbuf, conversion, x1, x2, y, batch, stay.lines)


def _weights(shop: Workshop, name: str, table: Table, layout: KernelLayout) -> WeightSurface:
    """Return random weights, compressed when the description says how many of them are 0.

    With ``tight_weights`` their size in registers ends with the last entry of the convolution buffer that they reach.
    They begin ``weights_skip`` atoms after a multiple of 256 bytes.
    """
    limits = layout.precision.limits if layout.precision is not Precision.FP16 else (0, 0)
    low, high = table.span("weights", limits)
    numbers = take_numbers(table, Precision.FP16, "weight_numbers")
    zeros = table.take("zero_percent", int)
    skip = table.take("weights_skip", int, 0)
    if zeros is None:
        nbytes = tight_weight_bytes(layout) if table.take("tight_weights", bool, False) else None
        return shop.place_weights(f"{name}_weights", layout, (low, high), numbers, nbytes, skip)
    return shop.place_compressed(f"{name}_weights", layout, (low, high), numbers, zeros, skip)


def _params(table: Table, precision: Precision, *, winograd: bool) -> ConvParams:
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
        precision=precision,
        nan_to_zero=table.take("flush_nan", bool, False),
        winograd=winograd,
        pre_truncate=table.take("pre_truncate", int, 0),
    )


def _image(shop: Workshop, name: str, table: Table, image: Table) -> ImageSurface:
    """Return an image of random pixels; ``gaps`` are atoms after the lines of each plane."""
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


def _cbuf(config: HwConfig, table: Table, height: int, entries: int, placed: WeightSurface, stay: _Stay) -> CbufUse:
    """Return the share of the convolution buffer: as few banks as hold everything, and those that are to spare.

    With ``all_weights = false`` the banks of a first convolution hold a kernel group and are filled again as it
    goes. The banks differ from those of the convolution before where that one leaves padding after its weights, and
    are the same where something is reused. A layer that keeps something takes all banks, so that the next one has
    room beside it. ``banks`` says exactly how many.

    There is room for the weights of all convolutions before, because CDMA may count them as still there: its
    counter stands still with its clock, so it misses what CSC gives back while CDMA has nothing to do. Measured
    on the public nv_small RTL, which then hangs: it has asked for weights that it does not take, and data wait
    after them.
    """
    spare_data, spare_weight = table.integers("spare_banks", 2, (0, 0))
    weights, before = placed.layout, stay.before
    banks = config.cbuf_bank_number - (placed.compression is not None)
    data = fewest_data_banks(config, height * entries)
    needed = weights.nbytes + sum(layer.weights.layout.nbytes for layer in before)
    if not table.take("all_weights", bool, True) and not before and not stay.keep:
        group = weights.group_elements[0] * weights.precision.nbytes
        needed = min(needed, group + WEIGHT_SIZE_ALIGNMENT_BYTES)
    weight = fewest_weight_banks(config, needed)
    data += min(spare_data, max(banks - data - weight, 0))
    weight = max(min(weight + spare_weight, banks - data), 1)
    if stay.keep:
        data = max(data, banks // 2)
        weight = max(banks - data, 1)
    if before:
        last = before[-1].cbuf
        if "data" in stay.reuse:
            data = last.data_banks
            weight = max(min(weight, banks - data), 1)
        elif stay.buffer.stale_lines and data == last.data_banks:
            data, weight = data + 1, max(min(weight, banks - data - 1), 1)
        if "weights" in stay.reuse:
            data, weight = last.data_banks, last.weight_banks
        elif stay.buffer.has_stale_weights and (data, weight) == (last.data_banks, last.weight_banks):
            weight += 1 if data + weight < banks else -1
    data, weight = table.integers("banks", 2, (data, weight))
    return CbufUse(
        data,
        weight,
        release_slices=table.take("release_slices", int, height),
        fetch_slices=table.take("fetch_slices", int, 1),
        skip_data_release="data" in stay.keep,
        skip_weight_release="weights" in stay.keep,
        reuse_data="data" in stay.reuse,
        reuse_weights="weights" in stay.reuse,
    )


def _stay(table: Table, earlier: Sequence[Layer], height: int) -> _Stay:
    """Return the parts that a description keeps and reuses.

    A layer that reuses data convolves all lines that are kept, or ``lines`` of them; when the layer before has not
    kept all of its lines but released some, those that are left and its own.
    """
    keep, reuse = table.names("keep", _PARTS), table.names("reuse", _PARTS)
    before = tuple(conv for conv in map(convolution_of, earlier) if conv is not None)
    if reuse and not before:
        raise PlanError(f"{table.where}.reuse needs a convolution before it")
    buffer = ConvBuffer()
    for number, layer in enumerate(before):
        buffer.begin(f"convolution {number}", layer)
    lines = table.take("lines", int)
    if "data" not in reuse:
        if lines is not None:
            raise PlanError(f"{table.where}.lines needs data that are reused")
        return _Stay(keep, reuse, None, before, buffer)
    if lines is None:
        lines = buffer.lines + (0 if before[-1].cbuf.skip_data_release else height)
    return _Stay(keep, reuse, None if lines == height else lines, before, buffer)
