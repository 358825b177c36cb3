"""Convolution layers in registers: from a layer to the attributes of the field table, and back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nvdla_models.config import HwConfig
from nvdla_models.conv import ConvParams
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.layout import (
    CompressedWeightLayout,
    ImageWeightLayout,
    KernelLayout,
    PixelConversion,
    PixelLayout,
    WeightLayout,
    WinogradWeightLayout,
    pixel_format,
)
from nvdla_models.layout.winograd import KERNEL_SIDE
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import Batch, ConvLayer, Surface
from nvdla_tb.nvdla.program import sdp
from nvdla_tb.nvdla.program.common import NEUTRAL, build_surface, check_precision, check_ram, field_of, flatten_surface
from nvdla_tb.nvdla.program.conv_table import CBUF, MEANS, PADS, TABLE, TABLE_WITH_OPERANDS
from nvdla_tb.nvdla.program.table import Flat, Refused, blame, blame_attributes
from nvdla_tb.nvdla.surfaces import CbufUse, Compression, ImageSurface, WeightSurface

__all__ = ["TABLE", "TABLE_WITH_OPERANDS", "build", "flatten"]


def flatten(layer: ConvLayer) -> Flat:
    """Return a layer's attributes by the names of the tables."""
    channels, height, width = layer.src.layout.shape
    weights, params, cbuf = layer.weights.layout, layer.params, layer.cbuf
    _, kernel_channels, kernel_height, kernel_width = weights.packed_shape
    out = layer.dst.layout.shape
    conversion = layer.conversion
    converter = conversion.converter if isinstance(conversion, PixelConversion) else conversion
    flat: Flat = {
        **sdp.flatten_processing(layer.sdp, layer),
        "conversion_precision": params.precision,
        "flush_nan": params.nan_to_zero,
        "winograd": params.winograd,
        "pre_truncate": params.pre_truncate,
        "width": width,
        "height": height,
        "lines": layer.height,
        "channels": channels,
        "src.ram": layer.src.ram,
        **{name: getattr(cbuf, name) for name in CBUF},
        "fetch_slices": cbuf.fetch_slices,
        "entries": layer.entries,
        "weights.address": layer.weights.address,
        "weights.ram": layer.weights.ram,
        **_flatten_compression(layer.weights),
        "kernel.nbytes": weights.kernel_elements * weights.precision.nbytes,
        "kernel.height": kernel_height,
        "kernel.width": kernel_width,
        "kernel.channels": kernel_channels,
        **{name: getattr(params, name) for name in (*PADS, "stride_x", "stride_y", "dilation_x", "dilation_y")},
        "pad_value": params.pad_value,
        "truncate": params.truncate,
        "atomics": out[1] * out[2],
        "cvt": converter is not None,
        "batch.cubes": len(layer.cubes),
    }
    if layer.batch is not None:
        flat |= {f"batch.{end}_stride_bytes": getattr(layer.batch, f"{end}_stride_bytes") for end in ("src", "dst")}
    if params.winograd:
        flat |= {
            "extended.width": params.pad_left + width + params.pad_right,
            "extended.height": layer.slices,
            "extended.channels": kernel_channels,
        }
    if converter is not None:
        flat |= {f"cvt.{part}": getattr(converter, part) for part in NEUTRAL}
    if isinstance(layer.src, Surface):
        layout = layer.src.layout
        packed = {"line_packed": layout.line_packed, "surf_packed": layout.surface_packed}
        return flat | flatten_surface("src", layer.src) | packed | {"image": False}
    assert isinstance(conversion, PixelConversion)
    assert isinstance(weights, ImageWeightLayout)
    return flat | _flatten_image(layer.src, conversion) | {"line_group": weights.line_group}


def _flatten_compression(weights: WeightSurface) -> Flat:
    compression = weights.compression
    if compression is None:
        return {"compressed": False, "weights.nbytes": weights.fetched_bytes}
    return {
        "compressed": True,
        "weights.nbytes": compression.weight_bytes,
        "mask.address": compression.mask_address,
        "mask.nbytes": CompressedWeightLayout(weights.layout).wmb_nbytes,
        "sizes.address": compression.sizes_address,
    }


def _flatten_image(src: ImageSurface, conversion: PixelConversion) -> Flat:
    layout, pixels = src.layout, src.layout.format
    flat: Flat = {
        "image": True,
        "format": layout.format_name,
        "conversion_precision": pixels.precision,
        "src.x_offset": layout.x_offset,
        "signed": conversion.signed,
        "mean": conversion.mean is not None,
        **{f"mean.{name}": value for name, value in zip(MEANS, conversion.mean or (), strict=False)},
    }
    for prefix, address, stride in zip(("", "second_"), src.addresses, layout.line_stride_bytes, strict=False):
        flat |= {f"src.{prefix}address": address, f"src.{prefix}line_stride_bytes": stride}
    return flat


def build(config: HwConfig, flat: Flat) -> ConvLayer:
    """Return the layer that decoded attributes describe.

    Raises:
        Refused: naming the register, field and rule that make it illegal or unsupported.
    """
    precision = check_precision(config, TABLE, flat, "input_precision")
    source = check_precision(config, TABLE, flat, "conversion_precision")
    kernel = (flat["kernel.channels"], flat["kernel.height"])
    conversion: Converter | PixelConversion | None = _build_converter(flat)
    src: Surface | ImageSurface
    if flat["image"]:
        pixels = pixel_format(flat["format"])
        _demand(flat, "conversion_precision", pixels.precision, f"of {pixels.name}")
        _demand(flat, "channels", pixels.channels, f"of {pixels.name}")
        conversion = _build_conversion(flat, precision)
        src = _build_image(config, flat)
        columns, rest = divmod(kernel[0], pixels.channels)
        if rest:
            field = field_of(TABLE, "kernel.channels")
            raise Refused(f"{field} must be a multiple of the {pixels.channels} channels, not {kernel[0]}")
        shape = (flat["shape.channel"], pixels.channels, kernel[1], columns)
    else:
        if source is not precision:
            field = field_of(TABLE, "conversion_precision")
            raise Refused(
                f"{field} must be {precision.name}, not {source.name}: conversion of a feature cube to another "
                "precision is not modelled"
            )
        size = (flat["channels"], flat["height"], flat["width"])
        src = build_surface(config, TABLE, flat, "src", size, precision)
        _check_packed(flat, src)
        if flat["winograd"]:
            shape = (flat["shape.channel"], size[0], KERNEL_SIDE, KERNEL_SIDE)
        else:
            shape = (flat["shape.channel"], kernel[0], kernel[1], flat["kernel.width"])
            _demand(flat, "kernel.channels", size[0], "of the input")
    weights = _build_weights(config, flat, precision, shape)
    sides = weights.layout.packed_shape[2:] if flat["winograd"] else shape[2:]
    with blame_attributes(TABLE, ""):
        params = ConvParams(
            **{name: flat[name] for name in (*PADS, "stride_x", "stride_y", "pad_value", "winograd")},
            truncate=flat.get("truncate", 0),
            dilation_x=flat.get("dilation_x", 1),
            dilation_y=flat.get("dilation_y", 1),
            precision=precision,
            nan_to_zero=flat.get("flush_nan", False),
            pre_truncate=flat.get("pre_truncate", 0),
        )
    lines: int = flat["lines"] if "lines" in flat else flat["height"]
    for axis, length, size_of, side in (
        ("height", lines, params.output_height, sides[0]),
        ("width", flat["width"], params.output_width, sides[1]),
    ):
        with blame_attributes(TABLE, ""):
            expected = size_of(length, side)
        _demand(flat, f"shape.{axis}", expected, "that input, kernel, stride and padding give")
    _demand(flat, "atomics", flat["shape.height"] * flat["shape.width"], "of the output")
    processing, dst, x1, x2, y = sdp.build_processing(config, flat)
    cbuf = CbufUse(fetch_slices=flat.get("fetch_slices", 1), **{name: flat[name] for name in CBUF})
    with blame_attributes(TABLE, ""):
        strides = (flat.get(f"batch.{end}_stride_bytes", 0) for end in ("src", "dst"))
        batch = Batch(flat["batch.cubes"], *strides) if flat["batch"] else None
        own_lines = None if lines == flat["height"] else lines
        layer = ConvLayer(src, weights, dst, params, processing, cbuf, conversion, x1, x2, y, batch, own_lines)
    _demand(flat, "entries", layer.entries, "that a line of the input takes")
    if params.winograd:
        _demand(flat, "extended.width", params.pad_left + flat["width"] + params.pad_right, "of lines with padding")
        _demand(flat, "extended.height", layer.slices, "of columns with padding")
        _demand(flat, "extended.channels", weights.layout.packed_shape[1], "of the kernels")
    return layer


def _demand(flat: Flat, attribute: str, expected: Any, what: str) -> None:
    """Refuse a value that the others decide."""
    got = flat[attribute]
    if got != expected:
        names = [value.name if isinstance(value, Precision) else str(value) for value in (expected, got)]
        raise Refused(f"{field_of(TABLE, attribute)}: must be the {names[0]} {what}, not {names[1]}")


def _build_converter(flat: Flat) -> Converter | None:
    if not flat["cvt"]:
        return None
    with blame(field_of(TABLE, "cvt")):
        return Converter(flat["cvt.offset"], flat["cvt.scale"], flat["cvt.shift"], ConverterEncoding.CDMA_INPUT)


def _build_conversion(flat: Flat, precision: Precision) -> PixelConversion:
    pixels = pixel_format(flat["format"])
    if not flat["cvt"] and pixels.precision is not precision:
        field = field_of(TABLE, "cvt")
        raise Refused(f"{field} must be ENABLE, not DISABLE: {pixels.name} is not {precision.name}")
    mean = None
    if flat.get("mean"):
        mean = tuple(flat[f"mean.{name}"] for name in MEANS[: pixels.channels])
    return PixelConversion(precision, _build_converter(flat), mean, flat.get("signed", False))


def _build_image(config: HwConfig, flat: Flat) -> ImageSurface:
    check_ram(config, TABLE, flat, "src")
    planes = ("", "second_")[: len(pixel_format(flat["format"]).planes)]
    shape = (flat["channels"], flat["height"], flat["width"])
    strides = tuple(flat[f"src.{plane}line_stride_bytes"] for plane in planes)
    with blame(field_of(TABLE, "format")):
        PixelLayout.packed(config, flat["format"], shape)
    with blame_attributes(TABLE, "src"):
        layout = PixelLayout(config, flat["format"], shape, strides, flat["src.x_offset"])
    with blame_attributes(TABLE, "src"):
        return ImageSurface(layout, tuple(flat[f"src.{plane}address"] for plane in planes), flat["src.ram"])


def _check_packed(flat: Flat, src: Surface) -> None:
    layout = src.layout
    for name, is_packed, stride in (
        ("line_packed", layout.line_packed, layout.line_stride_bytes),
        ("surf_packed", layout.surface_packed, layout.surface_stride_bytes),
    ):
        if flat[name] and not is_packed:
            raise Refused(f"{field_of(TABLE, name)} must be FALSE, not TRUE, with a stride of {stride} bytes")


def _build_weights(
    config: HwConfig, flat: Flat, precision: Precision, shape: tuple[int, int, int, int]
) -> WeightSurface:
    check_ram(config, TABLE, flat, "weights")
    layout: KernelLayout
    with blame(field_of(TABLE, "winograd" if flat["winograd"] else "kernel.channels")):
        if flat["winograd"]:
            layout = WinogradWeightLayout(config, precision, shape)
        elif flat["image"]:
            layout = ImageWeightLayout(config, precision, shape, flat["line_group"])
        else:
            layout = WeightLayout(config, precision, shape)
    if flat["winograd"]:
        for name, side in (("channels", 1), ("height", 2), ("width", 3)):
            _demand(flat, f"kernel.{name}", layout.packed_shape[side], "of kernels for Winograd")
    _demand(flat, "kernel.nbytes", layout.kernel_elements * precision.nbytes, "bytes of a kernel")
    compression = None
    if flat["compressed"]:
        with blame(field_of(TABLE, "compressed")):
            _demand(flat, "mask.nbytes", CompressedWeightLayout(layout).wmb_nbytes, "bytes of the mask")
        with blame(field_of(TABLE, "mask.address")):
            compression = Compression(flat["mask.address"], flat["sizes.address"], flat["weights.nbytes"])
    with blame_attributes(TABLE, "weights"):
        surface = WeightSurface(layout, flat["weights.address"], flat["weights.ram"], compression)
    if flat["weights.nbytes"] == surface.fetched_bytes:
        return surface
    with blame(field_of(TABLE, "weights.nbytes")):
        return replace(surface, whole_bytes=flat["weights.nbytes"])
