"""Convolutions of cubes and images from entries of plans."""

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
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.layers.entries import ConvEntry, ImageEntry
from nvdla_tb.stimulus.generate.layers.sdp import processing
from nvdla_tb.stimulus.generate.layers.workshop import (
    Workshop,
    converter_if,
    cubes_of,
    destination,
    precision_of,
    shape_of,
    span,
)


@dataclass(frozen=True)
class _Stay:
    """The content of the buffer before and after a layer.

    Attributes:
        keep: what it keeps for the next.
        reuse: what it takes of the layer before.
        lines: that it convolves, when they are not those of its input in memory.
        before: the convolutions before it.
        buffer: content that they leave.
    """

    keep: tuple[str, ...]
    reuse: tuple[str, ...]
    lines: int | None
    before: tuple[ConvLayer, ...]
    buffer: ConvBuffer


def build_conv(shop: Workshop, name: str, entry: ConvEntry, earlier: Sequence[Layer]) -> ConvLayer:
    """Return the convolution that an entry asks for: of an image when it names one, else of a cube."""
    kernel = (KERNEL_SIDE,) * 2 if entry.kernel is None and entry.winograd else entry.kernel
    if kernel is None:
        raise PlanError("kernel is missing")
    most = max(shop.config.max_batch_size, 1)
    if not 1 <= entry.batch <= most:
        raise PlanError(f"batch must be 1 to {most} on {shop.config.name}, not {entry.batch}")
    converter = converter_if(entry.input_converter, ConverterEncoding.CDMA_INPUT)
    src: Surface | ImageSurface
    src_stride = 0
    weights: KernelLayout
    conversion: Converter | PixelConversion | None
    if entry.image is None:
        conversion = converter
        src, *more = cubes_of(shop, name, entry, earlier, entry.batch)
        src_stride = more[0].address - src.address if more else 0
        precision = src.layout.precision
        shape = (entry.kernels, src.layout.shape[0], kernel[1], kernel[0])
        weights = (WinogradWeightLayout if entry.winograd else WeightLayout)(shop.config, precision, shape)
    else:
        entry.leave_out("of an image", "chain", "src_gaps", "numbers")
        precision = precision_of(entry)
        src = _image(shop, name, entry, entry.image)
        mean = _as_many("image.mean", entry.image.mean, src.layout.shape[0])
        conversion = PixelConversion(precision, converter, mean, entry.image.signed)
        shape = (entry.kernels, src.layout.shape[0], kernel[1], kernel[0])
        weights = ImageWeightLayout(shop.config, precision, shape, entry.image.post_extension)
    params = _params(entry, precision)
    sides = kernel_sides(weights)
    src_height, src_width = src.layout.shape[1:]
    height = buffered_lines(src_height, params)
    stay = _stay(entry, earlier, src_height)
    if stay.lines is not None:
        src_height = height = stay.lines
    out = (entry.kernels, params.output_height(src_height, sides[0]), params.output_width(src_width, sides[1]))
    output = entry.output_precision or precision
    sdp, x1, x2, y = processing(shop, name, entry, out, precision, output)
    placed = _weights(shop, name, entry, weights)
    cbuf = _cbuf(shop.config, entry, height, entry.batch * slice_entries(src.layout, params), placed, stay)
    if entry.batch > 1:
        shop = shop.in_a_row()
    dst = destination(shop, name, entry, out, output, 1 if entry.batch == 1 else DST_ATOMS)
    others = [shop.reserve(f"{name}_dst_cube{number}", dst.layout, DST_ATOMS) for number in range(1, entry.batch)]
    batch = Batch(entry.batch, src_stride, others[0].address - dst.address) if others else None
    return ConvLayer(src, placed, dst, params, sdp, cbuf, conversion, x1, x2, y, batch, stay.lines)


def _as_many(key: str, numbers: tuple[int, ...] | None, count: int) -> tuple[int, ...] | None:
    """Return numbers of which there must be so many."""
    if numbers is not None and len(numbers) != count:
        raise PlanError(f"{key} must be {count} integers, not {list(numbers)}")
    return numbers


def _weights(shop: Workshop, name: str, entry: ConvEntry, layout: KernelLayout) -> WeightSurface:
    """Return random weights, compressed when the entry says how many of them are 0."""
    limits = layout.precision.limits if layout.precision is not Precision.FP16 else (0, 0)
    drawn = span("weights", entry.weights or limits, limits)
    name, numbers, skip = f"{name}_weights", entry.weight_numbers, entry.weights_skip
    if entry.zero_percent is None:
        nbytes = tight_weight_bytes(layout) if entry.tight_weights else None
        return shop.place_weights(name, layout, drawn, numbers, nbytes, skip, sparse=entry.sparse_weights)
    entry.leave_out("beside zero_percent", "tight_weights", "sparse_weights")
    return shop.place_compressed(name, layout, drawn, numbers, entry.zero_percent, skip)


def _params(entry: ConvEntry, precision: Precision) -> ConvParams:
    left, right, top, bottom = entry.pad
    return ConvParams(
        stride_x=entry.stride[0],
        stride_y=entry.stride[1],
        dilation_x=entry.dilation[0],
        dilation_y=entry.dilation[1],
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_value=entry.pad_value,
        truncate=entry.truncate,
        precision=precision,
        nan_to_zero=entry.flush_nan,
        winograd=entry.winograd,
        pre_truncate=entry.pre_truncate,
    )


def _image(shop: Workshop, name: str, entry: ConvEntry, image: ImageEntry) -> ImageSurface:
    """Return an image of random pixels."""
    shape = shape_of(entry)
    packed = PixelLayout.packed(shop.config, image.format, shape, image.x_offset)
    gaps = _as_many("image.gaps", image.gaps, len(packed.line_stride_bytes)) or (0,) * len(packed.line_stride_bytes)
    strides = tuple(
        stride + gap * shop.config.memory_atomic_bytes
        for stride, gap in zip(packed.line_stride_bytes, gaps, strict=True)
    )
    return shop.place_image(f"{name}_src", PixelLayout(shop.config, image.format, shape, strides, packed.x_offset))


def _cbuf(config: HwConfig, entry: ConvEntry, height: int, entries: int, placed: WeightSurface, stay: _Stay) -> CbufUse:
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
    spare_data, spare_weight = entry.spare_banks
    weights, before = placed.layout, stay.before
    banks = config.cbuf_bank_number - (placed.compression is not None)
    data = fewest_data_banks(config, height * entries)
    needed = weights.nbytes + sum(layer.weights.layout.nbytes for layer in before)
    if not entry.all_weights and not before and not stay.keep:
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
    data, weight = entry.banks or (data, weight)
    return CbufUse(
        data,
        weight,
        release_slices=height if entry.release_slices is None else entry.release_slices,
        fetch_slices=entry.fetch_slices,
        skip_data_release="data" in stay.keep,
        skip_weight_release="weights" in stay.keep,
        reuse_data="data" in stay.reuse,
        reuse_weights="weights" in stay.reuse,
    )


def _stay(entry: ConvEntry, earlier: Sequence[Layer], height: int) -> _Stay:
    """Return the parts that a layer keeps and reuses.

    A layer that reuses data convolves all lines that are kept, or ``lines`` of them; when the layer before has not
    kept all of its lines but released some, those that are left and its own.
    """
    keep, reuse, lines = entry.keep, entry.reuse, entry.lines
    before = tuple(conv for conv in map(convolution_of, earlier) if conv is not None)
    if reuse and not before:
        raise PlanError("reuse needs a convolution before it")
    buffer = ConvBuffer()
    for number, layer in enumerate(before):
        buffer.begin(f"convolution {number}", layer)
    if "data" not in reuse:
        if lines is not None:
            raise PlanError("lines needs data that are reused")
        return _Stay(keep, reuse, None, before, buffer)
    if lines is None:
        lines = buffer.lines + (0 if before[-1].cbuf.skip_data_release else height)
    return _Stay(keep, reuse, None if lines == height else lines, before, buffer)
