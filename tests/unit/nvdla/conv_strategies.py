"""Random legal convolutions, and the register fields that mean nothing in each.

Attributes that do nothing (a dilation of an image, a fetch of several lines that are not packed) keep the
value that ``decode`` gives them, because no register holds them.
"""

from __future__ import annotations

from dataclasses import replace

from hypothesis import assume
from hypothesis import strategies as st

from nvdla_models.cbuf import bank_bytes, bank_entries, feature_entries, image_entries, winograd_entries
from nvdla_models.config import HwConfig
from nvdla_models.conv import ConvParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import (
    CompressedWeightLayout,
    FeatureLayout,
    ImageWeightLayout,
    KernelLayout,
    PixelConversion,
    PixelLayout,
    WeightLayout,
    WinogradWeightLayout,
    pixel_format,
    supported_formats,
)
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import Batch, ConvLayer, Surface, strides_are_ignored
from nvdla_tb.nvdla.surfaces import CbufUse, Compression, ImageSurface, WeightSurface
from tests.unit.nvdla.sdp_strategies import TARGETS, processings
from tests.unit.nvdla.strategies import GAP_ATOMS, INTEGERS, OPERAND, places, surfaces

CONVERTERS = st.builds(Converter, OPERAND, OPERAND, st.integers(0, 63), st.just(ConverterEncoding.CDMA_INPUT))

CONVERSIONS = tuple(
    (source, target) for source, targets in TARGETS.items() for target in targets if source.nbytes == target.nbytes
)
"""Precisions of convolution and output that were measured."""


@st.composite
def _axes(draw: st.DrawFn, *, dilated: bool) -> tuple[int, int, int, int, int, int]:
    """Draw one axis: input size, kernel, stride, dilation, padding before and after."""
    kernel, stride = draw(st.integers(1, 6)), draw(st.integers(1, 8))
    dilation = draw(st.sampled_from((1, 1, 2, 7, 32))) if dilated else 1
    extent = (kernel - 1) * dilation + 1
    before, after = draw(st.integers(0, min(extent - 1, 31))), draw(st.integers(0, min(extent - 1, 63)))
    least = max(1, -(-(before + after + 1 - extent) // stride) + 1)
    output = draw(st.integers(least, least + 6))
    return (output - 1) * stride + extent - before - after, kernel, stride, dilation, before, after


@st.composite
def _images(
    draw: st.DrawFn, config: HwConfig, precision: Precision, height: int, width: int
) -> tuple[ImageSurface, PixelConversion]:
    formats = [pixel_format(name) for name in supported_formats(config)]
    allowed = [pixels for pixels in formats if not pixels.is_float and pixels.precision in config.feature_data_types]
    pixels = draw(st.sampled_from(allowed))
    offset = draw(st.integers(0, pixels.max_x_offset(config)))
    shape = (pixels.channels, height, width)
    packed = PixelLayout.packed(config, pixels.name, shape, offset)
    gaps = [draw(GAP_ATOMS) * config.memory_atomic_bytes for _ in pixels.planes]
    strides = tuple(stride + gap for stride, gap in zip(packed.line_stride_bytes, gaps, strict=True))
    layout = PixelLayout(config, pixels.name, shape, strides, offset)
    spots = [draw(places(config, nbytes)) for nbytes in layout.plane_nbytes]
    converter = draw(CONVERTERS) if pixels.precision is not precision else draw(st.none() | CONVERTERS)
    mean = None
    if converter is not None and draw(st.booleans()):
        mean = tuple(draw(OPERAND) for _ in range(pixels.channels))
    conversion = PixelConversion(precision, converter, mean, converter is not None and draw(st.booleans()))
    return ImageSurface(layout, tuple(address for address, _ in spots), spots[0][1]), conversion


@st.composite
def conv_layers(draw: st.DrawFn, config: HwConfig) -> ConvLayer:
    """Draw a convolution of a cube or an image with SDP on the fly."""
    precision, target = draw(
        st.sampled_from([pair for pair in CONVERSIONS if set(pair) <= {*config.feature_data_types}])
    )
    kind = draw(st.sampled_from(["cube", *["image"] * (precision in INTEGERS), *["winograd"] * config.winograd_enable]))
    is_image, is_winograd = kind == "image", kind == "winograd"
    target = precision if is_winograd else target
    axes = _tiled_axes() if is_winograd else _axes(dilated=not is_image)
    height, kernel_height, stride_y, dilation_y, top, bottom = draw(axes)
    width, kernel_width, stride_x, dilation_x, left, right = draw(axes)
    kernels = draw(st.integers(1, 70))
    if target is not precision:
        atom = config.memory_atomic_bytes
        kernels = -(-kernels // atom) * atom
    params = ConvParams(
        stride_x=stride_x,
        stride_y=stride_y,
        dilation_x=dilation_x,
        dilation_y=dilation_y,
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_value=draw(st.integers(*((0, 0xFFFF) if precision is Precision.FP16 else precision.limits))),
        truncate=0 if precision is Precision.FP16 else draw(st.integers(0, 31)),
        precision=precision,
        nan_to_zero=precision is Precision.FP16 and draw(st.booleans()),
        winograd=is_winograd,
        pre_truncate=draw(st.integers(0, 3)) if is_winograd and precision in INTEGERS else 0,
    )
    src: Surface | ImageSurface
    conversion: Converter | PixelConversion | None
    weights: KernelLayout
    slices = height
    if is_image:
        src, conversion = draw(_images(config, precision, height, width))
        shape = (kernels, src.layout.shape[0], kernel_height, kernel_width)
        room = config.mac_atomic_c_size // max(kernel_width, stride_x) // shape[1]
        group = draw(st.sampled_from([n for n in (1, 2, 4) if n == 1 or n <= room]))
        weights = ImageWeightLayout(config, precision, shape, group)
        entries = image_entries(config, precision, shape[1], left + width + right)
    else:
        channels = draw(st.integers(1, 100))
        src = draw(surfaces(config, precision, (channels, height, width)))
        conversion = draw(st.none() | CONVERTERS) if precision in INTEGERS else None
        if is_winograd:
            weights = WinogradWeightLayout(config, precision, (kernels, channels, 3, 3))
            entries, slices = winograd_entries(config, precision, channels, left + width + right), top + height + bottom
        else:
            weights = WeightLayout(config, precision, (kernels, channels, kernel_height, kernel_width))
            entries = feature_entries(config, precision, channels, width)
    compression = draw(st.none() | _compressions(config, weights)) if config.weight_compression_enable else None
    compressed = compression is not None
    reuses = not compressed and not is_winograd
    cbuf = draw(_cbuf_uses(config, entries, slices, weights, src, compressed=compressed, reuses=reuses))
    out = (kernels, params.output_height(height, kernel_height), params.output_width(width, kernel_width))
    sdp, *sources = draw(processings(config, precision, target, out))
    last = ((1 << config.memif_address_width_bits) - weights.nbytes) // 256
    weight_address, ram = 256 * draw(st.integers(0, last)), draw(places(config, 0))[1]
    dst = draw(surfaces(config, target, out))
    layer = ConvLayer(
        src, WeightSurface(weights, weight_address, ram, compression), dst, params, sdp, cbuf, conversion, *sources
    )
    most = bank_entries(config, cbuf.data_banks) // (entries * slices)
    alone = kind != "cube" or not config.batch_enable or sdp.compares or cbuf.reuse_data or cbuf.reuse_weights
    if alone or most < 2 or draw(st.booleans()):
        return layer
    return draw(_batches(layer, most))


@st.composite
def _batches(draw: st.DrawFn, layer: ConvLayer, most: int) -> ConvLayer:
    """Draw a batch of cubes like those of a layer, as many as the convolution buffer holds."""
    dst, config = layer.dst.layout, layer.dst.layout.config
    unit, room = 2 * config.memory_atomic_bytes, 1 << config.memif_address_width_bits
    if not strides_are_ignored(dst.shape):
        line, surface = (-(-stride // unit) * unit for stride in (dst.line_stride_bytes, dst.surface_stride_bytes))
        surface = max(surface, dst.shape[1] * line)
        dst = FeatureLayout(config, dst.precision, dst.shape, line, surface)
    cubes = draw(st.integers(2, min(most, config.max_batch_size)))
    src, address = layer.src, layer.dst.address // unit * unit
    assert isinstance(src, Surface)
    strides = (
        config.memory_atomic_bytes * draw(st.integers(0, 1 << 20)),
        unit * draw(st.integers(-(-dst.nbytes // unit), 1 << 20)),
    )
    for start, nbytes, stride in zip((src.address, address), (src.layout.nbytes, dst.nbytes), strides, strict=True):
        assume(start + nbytes + (cubes - 1) * stride <= room)
    return replace(layer, dst=Surface(dst, address, layer.dst.ram), batch=Batch(cubes, *strides))


@st.composite
def _tiled_axes(draw: st.DrawFn) -> tuple[int, int, int, int, int, int]:
    """Draw one axis of Winograd: input size, transformed kernel, stride, dilation, padding before and after."""
    before, after = draw(st.integers(0, 3)), draw(st.integers(0, 3))
    return 4 * draw(st.integers(3, 6)) - before - after, 4, 1, 1, before, after


@st.composite
def _compressions(draw: st.DrawFn, config: HwConfig, weights: KernelLayout) -> Compression:
    layout = CompressedWeightLayout(weights)
    room = 1 << config.memif_address_width_bits
    mask, sizes = (
        256 * draw(st.integers(0, (room - nbytes) // 256)) for nbytes in (layout.wmb_nbytes, layout.wgs_nbytes)
    )
    return Compression(mask, sizes, 128 * draw(st.integers(1, weights.nbytes // 128)))


@st.composite
def _cbuf_uses(
    draw: st.DrawFn,
    config: HwConfig,
    entries: int,
    height: int,
    weights: KernelLayout,
    src: Surface | ImageSurface,
    *,
    compressed: bool,
    reuses: bool,
) -> CbufUse:
    least_data = -(-entries * height // config.cbuf_bank_depth)
    least_weight = -(-weights.nbytes // bank_bytes(config, 1))
    banks = config.cbuf_bank_number - compressed
    assume(least_data + least_weight <= banks)
    data = draw(st.integers(least_data, banks - least_weight))
    is_packed = isinstance(src, Surface) and src.layout.line_packed
    return CbufUse(
        data,
        draw(st.integers(least_weight, banks - data)),
        release_slices=draw(st.integers(1, height)),
        fetch_slices=draw(st.integers(1, 4096)) if is_packed else 1,
        skip_data_release=draw(st.booleans()),
        skip_weight_release=draw(st.booleans()),
        reuse_data=reuses and draw(st.booleans()),
        reuse_weights=reuses and draw(st.booleans()),
    )


def unused_conv(layer: ConvLayer) -> list[str]:
    """Name the fields of CDMA, CSC and CACC that mean nothing in a convolution of this kind."""
    cdma = ["D_RESERVED_X_CFG.rsv_per_line", "D_CYA.cya"]
    csc = ["D_CYA.cya"]
    params = layer.params
    if layer.batch is None:
        cdma.append("D_BATCH_STRIDE.batch_stride")
    if not params.winograd:
        cdma += ["D_DATAIN_SIZE_EXT_0.datain_width_ext", "D_DATAIN_SIZE_EXT_0.datain_height_ext"]
    if not params.winograd or params.is_float:
        csc.append("D_PRA_CFG.pra_truncate")
    if not params.is_float:
        cdma.append("D_NAN_FLUSH_TO_ZERO.nan_to_zero")
    if layer.weights.compression is None:
        cdma.append("D_WMB_BYTES.wmb_bytes")
        cdma += [
            f"D_{what}_ADDR_{part}.{what.lower()}_addr_{part.lower()}"
            for what in ("WMB", "WGS")
            for part in ("LOW", "HIGH")
        ]
        csc.append("D_WMB_BYTES.wmb_bytes")
    image = layer.src if isinstance(layer.src, ImageSurface) else None
    conversion = layer.conversion
    converter = conversion.converter if isinstance(conversion, PixelConversion) else conversion
    if converter is None:
        cdma += ["D_CVT_CFG.cvt_truncate", "D_CVT_OFFSET.cvt_offset", "D_CVT_SCALE.cvt_scale"]
    if image is None or converter is None:
        cdma += ["D_DATAIN_FORMAT.pixel_sign_override", "D_MEAN_FORMAT.mean_format"]
    means = len(conversion.mean) if isinstance(conversion, PixelConversion) and conversion.mean else 0
    for number, name in enumerate(("ry", "gu", "bv", "ax")):
        if number >= means:
            cdma.append(f"D_MEAN_GLOBAL_{number // 2}.mean_{name}")
    if image is None or len(image.addresses) == 1:
        cdma += [f"D_DAIN_ADDR_{part}_1.datain_addr_{part.lower()}_1" for part in ("LOW", "HIGH")]
        cdma.append("D_LINE_UV_STRIDE.uv_line_stride")
    if isinstance(layer.src, Surface):
        cdma += ["D_DATAIN_FORMAT.pixel_format", "D_DATAIN_FORMAT.pixel_mapping"]
        cdma += ["D_PIXEL_OFFSET.pixel_x_offset", "D_PIXEL_OFFSET.pixel_y_offset"]
        # Saying that packed lines or surfaces are not only slows CDMA down.
        cdma += ["D_DAIN_MAP.surf_packed"] if layer.src.layout.surface_packed else []
        cdma += ["D_DAIN_MAP.line_packed"] if layer.src.layout.line_packed and layer.cbuf.fetch_slices == 1 else []
    else:
        cdma += ["D_SURF_STRIDE.surf_stride", "D_DAIN_MAP.line_packed", "D_DAIN_MAP.surf_packed"]
        csc += ["D_DILATION_EXT.x_dilation_ext", "D_DILATION_EXT.y_dilation_ext"]
    if layer.cbuf.fetch_slices == 1 and not (isinstance(layer.src, Surface) and layer.src.layout.line_packed):
        cdma.append("D_FETCH_GRAIN.grains")
    others = ["CACC.D_CLIP_CFG.clip_truncate"] if params.is_float else []
    others += ["CACC.D_DATAOUT_ADDR.dataout_addr", "CACC.D_LINE_STRIDE.line_stride", "CACC.D_DATAOUT_MAP.line_packed"]
    if any(source is not None and source.memory is not None for source in (layer.x1, layer.x2, layer.y)):
        others.append("SDP_RDMA.D_FEATURE_MODE_CFG.in_precision")  # of the cube that it does not read
    return [*(f"CDMA.{field}" for field in cdma), *(f"CSC.{field}" for field in csc), *others]
