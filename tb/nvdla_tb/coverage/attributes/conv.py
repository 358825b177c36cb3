"""Attributes of convolutions."""

from __future__ import annotations

from nvdla_models.cbuf import bank_bytes, bank_entries
from nvdla_models.conv import ConvParams
from nvdla_models.converter import Converter
from nvdla_models.layout import ImageWeightLayout, PixelConversion, PixelLayout
from nvdla_models.layout.alignment import WEIGHT_START_ALIGNMENT_BYTES
from nvdla_tb.coverage.attributes.sdp import processing_attributes
from nvdla_tb.coverage.attributes.values import (
    GAPS,
    PADS,
    Attributes,
    carry,
    converter_attributes,
    gap_attributes,
    numbers,
    yes,
)
from nvdla_tb.nvdla.layers import ConvLayer
from nvdla_tb.nvdla.layers.conv import kernel_sides
from nvdla_tb.nvdla.program.conv_buffer import Fetch
from nvdla_tb.nvdla.surfaces import ImageSurface

_OF_SOME = (
    *(f"src.{name}" for name in GAPS),
    *("format", "planes", "x_offset", "image.gap", "image.line_stride", "image.carry", "post_extension"),
    *("input.offset", "input.scale", "input.shift", "mean", "signed"),
)
"""Attributes that not every convolution has."""


def conv_attributes(layer: ConvLayer) -> Attributes:
    """Return the attributes of a convolution; those of SDP on the fly begin with ``sdp.``."""
    params, config = layer.params, layer.dst.layout.config
    channels, height, width = layer.src.layout.shape
    kernels = layer.weights.layout.shape[0]
    rows, columns = kernel_sides(layer.weights.layout)
    _, out_height, out_width = layer.dst.layout.shape
    group = config.kernel_group_size(params.precision)
    return {
        "input": "image" if isinstance(layer.src, ImageSurface) else "cube",
        "mode": "winograd" if params.winograd else "direct",
        "precision": params.precision.name,
        "nan_to_zero": yes(params.nan_to_zero),
        "weights": "plain" if layer.weights.compression is None else "compressed",
        "channels": channels,
        "tail": channels % config.mac_atomic_c_size,
        "height": height,
        "width": width,
        "kernels": kernels,
        "kernel_tail": kernels % group,
        "kernel_groups": -(-kernels // group),
        "kernel_width": columns,
        "kernel_height": rows,
        "kernel_area": "1x1" if rows == columns == 1 else "line" if 1 in (rows, columns) else "area",
        **numbers(params, "stride_x", "stride_y", "truncate", *PADS),
        "dilation_x": params.dilation_x if columns > 1 else None,
        "dilation_y": params.dilation_y if rows > 1 else None,
        "padded": _padded(params),
        "products": channels * rows * columns,
        "pad_value": params.pad_value if any(numbers(params, *PADS).values()) else None,
        "out_height": out_height,
        "out_width": out_width,
        "kernel_covers": yes((out_height, out_width) == (1, 1) and (height, width) != (1, 1)),
        "output": "memory",
        **gap_attributes("dst", layer.dst),
        **_buffer(layer),
        **dict.fromkeys(_OF_SOME),
        **_source(layer),
        **_conversion(layer.conversion),
        **{f"sdp.{name}": value for name, value in processing_attributes(layer).items()},
    }


def _padded(params: ConvParams) -> str:
    """Return the only side that is padded, if there is one."""
    sides = [side for side, size in numbers(params, *PADS).items() if size]
    return "none" if not sides else "several" if len(sides) > 1 else sides[0].removeprefix("pad_")


def taken_attributes(fetch: Fetch) -> Attributes:
    """Return the parts that a convolution takes from the convolution buffer; ``some`` lines go before fetched ones."""
    lines = "none" if not fetch.kept_lines else "some" if fetch.data else "all"
    return {"takes_lines": lines, "takes_weights": yes(not fetch.weights)}


def _buffer(layer: ConvLayer) -> Attributes:
    """Return how the convolution buffer is used."""
    cbuf, height = layer.cbuf, layer.src.layout.shape[1]
    config = layer.dst.layout.config
    banks = config.cbuf_bank_number
    return {
        "data_banks": cbuf.data_banks,
        "weight_banks": cbuf.weight_banks,
        "banks": "all" if cbuf.data_banks + cbuf.weight_banks == banks else "some",
        "entries": layer.entries,
        "release_slices": "all" if cbuf.release_slices == layer.height else "some",
        "fetch_slices": "one" if cbuf.fetch_slices == 1 else "more" if cbuf.fetch_slices < height else "all",
        "keeps_data": yes(cbuf.skip_data_release),
        "keeps_weights": yes(cbuf.skip_weight_release),
        "weight_bytes": layer.weights.layout.nbytes,
        "weights.offset": layer.weights.address % WEIGHT_START_ALIGNMENT_BYTES,
        "weights.carry": carry(layer.weights.address, layer.weights.layout.nbytes),
        "data_fill": _fill(layer.entries * layer.slices, bank_entries(config, cbuf.data_banks)),
        "weight_fill": _fill(layer.weights.fetched_bytes, bank_bytes(config, cbuf.weight_banks)),
    }


def _fill(amount: int, room: int) -> str:
    """Return how much of its banks something fills; weights of more than one filling come group by group."""
    return "beyond" if amount > room else "full" if amount == room else "most" if 2 * amount > room else "some"


def _source(layer: ConvLayer) -> Attributes:
    """Return the attributes that only a cube, or only an image, has."""
    if not isinstance(layer.src, ImageSurface):
        return gap_attributes("src", layer.src)
    layout, weights = layer.src.layout, layer.weights.layout
    assert isinstance(weights, ImageWeightLayout)
    packed = PixelLayout.packed(layout.config, layout.format_name, layout.shape, layout.x_offset)
    return {
        "format": layout.format_name,
        "planes": len(layout.format.planes),
        "x_offset": layout.x_offset,
        "image.gap": yes(layout.line_stride_bytes != packed.line_stride_bytes),
        "image.line_stride": layout.line_stride_bytes[0],
        "image.carry": max(map(carry, layer.src.addresses, layout.plane_nbytes)),
        "post_extension": weights.line_group,
    }


def _conversion(conversion: Converter | PixelConversion | None) -> Attributes:
    """Return the attributes of the input converter."""
    if isinstance(conversion, Converter):
        return {"converts": "yes", **converter_attributes("input", conversion)}
    if conversion is None or conversion.converter is None:
        return {"converts": "no"}
    return {
        "converts": "yes",
        **converter_attributes("input", conversion.converter),
        "mean": yes(conversion.mean is not None),
        "signed": yes(conversion.signed),
    }
