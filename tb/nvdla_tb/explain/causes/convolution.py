"""Causes in convolutions: kernels and their order in memory, windows, truncation, images."""

from __future__ import annotations

from functools import partial
from typing import Any

from nvdla_models.converter import ConverterEncoding
from nvdla_models.layout import ImageWeightLayout, WeightLayout, supported_formats
from nvdla_tb.explain.cause import Kinds, of_kinds
from nvdla_tb.explain.causes import reach
from nvdla_tb.explain.causes.arithmetic import rules
from nvdla_tb.explain.causes.reach import Part, changed
from nvdla_tb.explain.engine_conv import ConvRun, CubeInput, ImageInput, masked_lane
from nvdla_tb.explain.engines import Run
from nvdla_tb.explain.kernels import MASKS, ORDERS, STARTS, WINOGRAD_ORDERS, WeightInput


def _ways(run: Run) -> Kinds:
    """Yield everything that may be wrong."""
    for conv in reach.engines(run, ConvRun):
        yield from _of_windows(conv)
        yield from _of_converter(conv)
        yield from _of_multipliers(conv)
        yield from _of_weights(conv.part("weights"))
        if isinstance(conv.value.source, ImageInput):
            yield from _of_image(conv.part("source"))


def _of_windows(conv: Part[ConvRun]) -> Kinds:
    """Yield everything that may be wrong with the computation."""
    old, params = conv.value.params, conv.part("params")
    for shift in _misread(old.truncate, 5):
        yield "truncate", f"{shift} instead of {old.truncate}", params.other(truncate=shift)
    if old.winograd:
        for shift in (0, old.pre_truncate - 1, old.pre_truncate + 1):
            detail = f"{shift} instead of {old.pre_truncate} before the products"
            yield "truncate", detail, params.other(pre_truncate=shift)
    if old.is_float:
        detail = "flushed to 0" if not old.nan_to_zero else "not flushed"
        yield "nan", detail, params.other(nan_to_zero=not old.nan_to_zero)
    yield "pad-value", f"0 instead of {old.pad_value}", params.other(pad_value=0)
    yield "pad-value", f"{-old.pad_value} instead of {old.pad_value}", params.other(pad_value=-old.pad_value)
    for left, top, what in (
        (0, old.pad_top, "left ignored"),
        (old.pad_left, 0, "top ignored"),
        (0, 0, "left and top ignored"),
        (old.pad_top, old.pad_left, "left and top swapped"),
    ):
        yield "padding", what, params.other(pad_left=left, pad_top=top)
    for lost, what in (((1, 0), "line"), ((0, 1), "column"), ((1, 1), "line and column")):
        yield "padding", f"the last {what} of the input taken for padding", conv.other(lost=lost)
    yield "stride", "x and y swapped", params.other(stride_x=old.stride_y, stride_y=old.stride_x)
    yield "stride", "that of x for both", params.other(stride_y=old.stride_x)
    yield "stride", "that of y for both", params.other(stride_x=old.stride_y)
    for x, y in ((1, 1), (old.stride_x + 1, old.stride_y), (old.stride_x, old.stride_y + 1)):
        yield "stride", f"{x} x {y} instead of {old.stride_x} x {old.stride_y}", params.other(stride_x=x, stride_y=y)
    yield "dilation", "ignored", params.other(dilation_x=1, dilation_y=1)
    yield "dilation", "x and y swapped", params.other(dilation_x=old.dilation_y, dilation_y=old.dilation_x)
    for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, -1)):
        yield "window", f"{down} lines down, {right} columns right", conv.other(shift=(down, right))


def _of_multipliers(conv: Part[ConvRun]) -> Kinds:
    """Yield everything that may be wrong with one multiplier of every MAC cell, and with accumulators."""
    weights = conv.value.weights
    lanes = weights.layout.config.mac_atomic_c_size
    for number in range(min(lanes, weights.shape[1])):
        for fault, masks in _LANE_FAULTS.items():
            lane = partial(masked_lane, number, lanes, *masks)
            yield "lane", f"lane {number} of {lanes}, {fault}", conv.other(lane=lane)
    for bits in () if conv.value.params.is_float else _ACCUMULATOR_BITS:
        yield "accumulator", f"sums wrap at {bits} bits", rules(conv.run, accumulator_bits=bits)


def _misread(value: int, bits: int) -> list[int]:
    """Return what a register field may be taken for: 0, one more or less, without one of its bits or the upper ones."""
    others = [0, value - 1, value + 1]
    others += [value & ~(1 << bit) for bit in range(bits)] + [value & ((1 << bit) - 1) for bit in range(1, bits)]
    return [other for other in dict.fromkeys(others) if other != value]


def _of_weights(weights: Part[WeightInput]) -> Kinds:
    """Yield everything that may be wrong with the kernels."""
    old, layout = weights.value, weights.value.layout
    kernels, channels = old.shape[:2]
    for order in ORDERS if not old.is_winograd else ():
        yield "kernel-order", order, weights.other(order=order)
        if order == "K and C swapped":
            swapped = (channels, kernels, *old.shape[2:])
            yield "kernel-order", "C and K swapped", partial(_with_shape, weights, order, swapped)
    for order in WINOGRAD_ORDERS if old.is_winograd else ():
        yield "kernel-order" if "kernel" in order else "winograd", order, weights.other(order=order)
    if old.packing is not None:
        for what in MASKS:
            yield "mask", what, weights.other("packing", mask=what)
        for what in STARTS:
            yield "group-size", what, weights.other("packing", sizes=what)
    config = layout.config
    for size in (8, 16, 32, 64):
        wide = max(size, config.cbuf_bank_width_bytes)
        if size != config.mac_atomic_k_size:
            make = weights.other("layout.config", mac_atomic_k_size=size, cbuf_bank_width_bytes=wide)
            yield "kernel-group", f"{size} kernels of an INT8 group", make
        if size != config.mac_atomic_c_size:
            make = weights.other("layout.config", mac_atomic_c_size=size, cbuf_bank_width_bytes=wide)
            yield "kernel-cube", f"C' of {size} instead of {config.mac_atomic_c_size}", make
    nbytes = layout.kernel_elements * layout.precision.nbytes
    for move, what in (
        (layout.precision.nbytes, "one element too far"),
        (-layout.precision.nbytes, "one element too early"),
        (32, "32 bytes too far"),
        (-32, "32 bytes too early"),
        (128, "128 bytes too far"),
        (-128, "128 bytes too early"),
        (nbytes, "one kernel too far"),
        (nbytes * layout.kernels_per_group, "one kernel group too far"),
    ):
        yield "kernel-base", what, weights.other(address=old.address + move)
    if isinstance(layout, ImageWeightLayout):
        for lines in (1, 2, 4):
            detail = f"{lines}-line post-extension instead of {layout.line_group}"
            yield "kernel-extension", detail, weights.other("layout", line_group=lines)
        plain = WeightLayout(layout.config, layout.precision, layout.shape)
        yield "kernel-extension", "no pre-extension", weights.other(layout=plain)


def _with_shape(weights: Part[WeightInput], order: str, shape: tuple[int, int, int, int]) -> Run:
    return changed(weights.other(order=order)(), f"{weights.path}.layout", {"shape": shape})


def _of_image(source: Part[ImageInput]) -> Kinds:
    """Yield everything that may be wrong with an image."""
    layout, conversion = source.value.layout, source.value.conversion
    count = len(source.value.channels)
    yield "x-offset", "ignored", source.other("layout", x_offset=0)
    for offset in (layout.x_offset + 1, layout.x_offset - 1):
        yield "x-offset", f"{offset} instead of {layout.x_offset}", source.other("layout", x_offset=offset)
    orders = {"reversed": tuple(range(count))[::-1]}
    if count >= 3:
        orders["first and third swapped"] = (2, 1, 0, *range(3, count))
    if count == 4:
        orders["one too far"] = (3, 0, 1, 2)
    for what, order in orders.items():
        yield "pixel-order", f"channels {what}", source.other(channels=order)
    for name in supported_formats(layout.config):
        if name != layout.format_name:
            detail = f"{name} instead of {layout.format_name}"
            yield "pixel-format", detail, source.other("layout", format_name=name)
    detail = "unsigned" if conversion.signed else "signed"
    yield "pixel-sign", detail, source.other("conversion", signed=not conversion.signed)
    if conversion.mean is not None:
        yield "mean", "not subtracted", source.other("conversion", mean=(0,) * count)
        first = (conversion.mean[0],) * count
        yield "mean", "that of the first channel for all", source.other("conversion", mean=first)
    for step in (layout.config.memory_atomic_bytes, -layout.config.memory_atomic_bytes):
        strides = tuple(stride + step for stride in layout.line_stride_bytes)
        detail = f"{strides[0]} instead of {layout.line_stride_bytes[0]}"
        yield "image-line-stride", detail, source.other("layout", line_stride_bytes=strides)


def _of_converter(conv: Part[ConvRun]) -> Kinds:
    """Yield everything that may be wrong with the input converter, and with the signs that it leaves."""
    yield "sign", "data taken as unsigned", conv.other(signed=(False, True))
    yield "sign", "kernels taken as unsigned", conv.other(signed=(True, False))
    source: Part[Any] = conv.part("source")
    takes_cube = isinstance(source.value, CubeInput)
    converter = (source if takes_cube else source.part("conversion")).part("converter")
    old = converter.value
    if old is None:
        return
    for detail, make in reach.others(converter, "", reach.converter_numbers(old)):
        yield "input-converter", detail, make
    if not takes_cube:
        return
    # A number that is not extended by its sign needs more bits than the register has.
    wide = ConverterEncoding.SDP_OPERAND
    for offset, what in ((old.offset & 0xFFFF, "unsigned"), (old.offset & 0xFF, "its low byte alone")):
        detail = f"offset {what}, {offset} instead of {old.offset}"
        yield "input-converter", detail, converter.other(encoding=wide, offset=offset)


_LANE_FAULTS = {
    "its products are 0": (0, -1),
    "the sign bit of its data is 0": (0x7F, -1),
    "the sign bit of its weights is 0": (-1, 0x7F),
}
"""What may be wrong with a multiplier: masks of its data and of its weights."""


_ACCUMULATOR_BITS = range(12, 34)
"""Widths that hold some sums of a convolution and not others; the hardware has 34 bits for INT8."""

_KINDS = {
    "truncate": "convolution: wrong truncation",
    "pad-value": "convolution: wrong padding value",
    "padding": "convolution: wrong padding",
    "nan": "convolution: NaN",
    "stride": "convolution: wrong stride of windows",
    "dilation": "convolution: wrong dilation",
    "window": "convolution: windows displaced",
    "input-converter": "convolution: wrong input converter",
    "sign": "convolution: wrong sign",
    "kernel-order": "convolution: wrong order of kernels",
    "kernel-group": "convolution: wrong kernel group",
    "kernel-cube": "convolution: wrong 1x1xC' cube",
    "winograd": "convolution: Winograd",
    "mask": "convolution: WMB",
    "group-size": "convolution: WGS",
    "kernel-base": "convolution: wrong start of the weights",
    "kernel-extension": "convolution: wrong channel extension of the weights",
    "x-offset": "convolution: wrong X offset",
    "pixel-order": "convolution: wrong order of pixel channels",
    "pixel-format": "convolution: wrong pixel format",
    "pixel-sign": "convolution: wrong sign of pixels",
    "mean": "convolution: wrong mean",
    "image-line-stride": "convolution: wrong line stride of the image",
    "lane": "convolution: one multiplier of every MAC cell",
    "accumulator": "convolution: narrow accumulators",
}

CAUSES = tuple(of_kinds("conv", _KINDS, _ways))
