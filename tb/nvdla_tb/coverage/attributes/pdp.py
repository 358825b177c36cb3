"""Attributes of PDP."""

from __future__ import annotations

from nvdla_models.pdp import PoolMethod
from nvdla_tb.coverage.attributes.values import GAPS, PADS, Attributes, gap_attributes, numbers, size_attributes, yes
from nvdla_tb.nvdla.layers import ConvLayer, PdpLayer, PooledLayer, WidthSplit
from nvdla_tb.nvdla.layers.pdp import line_buffer_elements


def pdp_attributes(layer: PdpLayer | PooledLayer) -> Attributes:
    """Return the attributes of PDP, from memory or on the fly."""
    params = layer.params
    source, split = (layer.src, layer.split) if isinstance(layer, PdpLayer) else (layer.producer.dst, None)
    _, height, width = source.layout.shape
    _, out_height, out_width = layer.dst.layout.shape
    return {
        **size_attributes(source.layout),
        **gap_attributes("src", source),
        **gap_attributes("dst", layer.dst),
        "precision": params.precision.name,
        "nan_to_zero": yes(params.nan_to_zero),
        **_input(layer),
        "method": params.method.value,
        **numbers(params, "kernel_width", "kernel_height", "stride_x", "stride_y", *PADS),
        "overlap_x": _overlap(params.kernel_width, params.stride_x),
        "overlap_y": _overlap(params.kernel_height, params.stride_y),
        "rows_at_once": -(-params.kernel_height // params.stride_y),
        "buffer_room": _room(layer, split),
        "four_paddings": yes(len({0, *(getattr(params, side) for side in PADS)}) == 1 + len(PADS)),
        "padded": _padded(params.pad_left + params.pad_right, params.pad_top + params.pad_bottom),
        "pad_value": params.pad_values[0] if params.method is PoolMethod.AVERAGE else None,
        "out_height": out_height,
        "out_width": out_width,
        "whole_cube": yes((out_height, out_width) == (1, 1) and (height, width) != (1, 1)),
        "parts": 1 if split is None else split.parts,
        "first_columns": None if split is None else split.first_out,
        "middle_columns": None if split is None or split.parts == 2 else split.middle_out,
        "last_columns": None if split is None else split.last_out,
        "parts_alike": None if split is None else yes(split.first_out == split.last_out),
        "left_over": yes((width + params.pad_left + params.pad_right - params.kernel_width) % params.stride_x > 0),
    }


def _room(layer: PdpLayer | PooledLayer, split: WidthSplit | None) -> int | None:
    """Return how many columns more the line buffer holds than the widest part has; None where it was not measured."""
    layout = layer.dst.layout
    most = line_buffer_elements(layer.params, layout.config)
    widest = layout.shape[2] if split is None else max(split.first_out, split.middle_out, split.last_out)
    return None if most is None else most - widest


def _input(layer: PdpLayer | PooledLayer) -> Attributes:
    """Return where the input comes from; on the fly it has neither gaps nor address."""
    if isinstance(layer, PdpLayer):
        return {"input": "memory"}
    source = "CONV" if isinstance(layer.producer, ConvLayer) else "SDP"
    return {"input": source, **dict.fromkeys(f"src.{name}" for name in GAPS)}


def _overlap(kernel: int, stride: int) -> str:
    return "overlap" if kernel > stride else "touch" if kernel == stride else "apart"


def _padded(width: int, height: int) -> str:
    if width and height:
        return "both"
    return "width" if width else "height" if height else "none"
