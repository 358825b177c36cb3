"""Causes in convolutions: kernels and their order in memory, windows, truncation, images."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import TypeVar

from models.conv import ConvParams
from models.converter import Converter, ConverterEncoding
from models.layout import ImageWeightLayout, KernelLayout, PixelLayout, WeightLayout, supported_formats
from tb.explain.cause import Cause, Family, Variant, attempt
from tb.explain.causes import reach
from tb.explain.causes.reach import setting
from tb.explain.engine_conv import ConvRun, CubeInput, ImageInput, Lane, LaneFault
from tb.explain.evidence import Evidence
from tb.explain.kernels import MASKS, ORDERS, STARTS, WINOGRAD_ORDERS, Packing, WeightInput
from tb.explain.run import Run

T = TypeVar("T")


def _engine(run: Run, make: Callable[[ConvRun], ConvRun]) -> Run:
    engine = reach.first(run)
    assert isinstance(engine, ConvRun)
    return reach.with_first(run, make(engine))


def _params(**new: int) -> Callable[[ConvRun], ConvRun]:
    change: Callable[[ConvParams], ConvParams] = setting(**new)
    return lambda run: replace(run, params=change(run.params))


def _with_config(name: str, size: int, weights: WeightInput) -> WeightInput:
    width = max(size, weights.layout.config.cbuf_bank_width_bytes)
    config = setting(**{name: size, "cbuf_bank_width_bytes": width})(weights.layout.config)
    return replace(weights, layout=replace(weights.layout, config=config))


def _with_kernels(change: Callable[[KernelLayout], KernelLayout], weights: WeightInput) -> WeightInput:
    return replace(weights, layout=change(weights.layout))


def _with_shape(order: str, shape: tuple[int, int, int, int], weights: WeightInput) -> WeightInput:
    return replace(weights, order=order, layout=replace(weights.layout, shape=shape))


def _ways(engine: ConvRun) -> Iterator[tuple[str, str, Callable[[ConvRun], ConvRun]]]:
    """Yield (kind, detail, change) of everything that may be wrong with the computation."""
    old = engine.params
    for shift in _misread(old.truncate, 5):
        yield "truncate", f"{shift} instead of {old.truncate}", _params(truncate=shift)
    if old.winograd:
        for shift in (0, old.pre_truncate - 1, old.pre_truncate + 1):
            yield "truncate", f"{shift} instead of {old.pre_truncate} before the products", _params(pre_truncate=shift)
    if old.is_float:
        yield "nan", "flushed to 0" if not old.nan_to_zero else "not flushed", _params(nan_to_zero=not old.nan_to_zero)
    yield "pad-value", f"0 instead of {old.pad_value}", _params(pad_value=0)
    yield "pad-value", f"{-old.pad_value} instead of {old.pad_value}", _params(pad_value=-old.pad_value)
    for left, top, what in (
        (0, old.pad_top, "left ignored"),
        (old.pad_left, 0, "top ignored"),
        (0, 0, "left and top ignored"),
        (old.pad_top, old.pad_left, "left and top swapped"),
    ):
        yield "padding", what, _params(pad_left=left, pad_top=top)
    for lost, what in (((1, 0), "line"), ((0, 1), "column"), ((1, 1), "line and column")):
        yield "padding", f"the last {what} of the input taken for padding", setting(lost=lost)
    yield "stride", "x and y swapped", _params(stride_x=old.stride_y, stride_y=old.stride_x)
    yield "stride", "that of x for both", _params(stride_y=old.stride_x)
    yield "stride", "that of y for both", _params(stride_x=old.stride_y)
    for x, y in ((1, 1), (old.stride_x + 1, old.stride_y), (old.stride_x, old.stride_y + 1)):
        yield "stride", f"{x} x {y} instead of {old.stride_x} x {old.stride_y}", _params(stride_x=x, stride_y=y)
    yield "dilation", "ignored", _params(dilation_x=1, dilation_y=1)
    yield "dilation", "x and y swapped", _params(dilation_x=old.dilation_y, dilation_y=old.dilation_x)
    for down, right in ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (-1, -1)):
        yield "window", f"{down} lines down, {right} columns right", setting(shift=(down, right))


def _misread(value: int, bits: int) -> list[int]:
    """Return what a register field may be taken for: 0, one more or less, without one of its bits or the upper ones."""
    others = [0, value - 1, value + 1]
    others += [value & ~(1 << bit) for bit in range(bits)] + [value & ((1 << bit) - 1) for bit in range(1, bits)]
    return [other for other in dict.fromkeys(others) if other != value]


def _weights(engine: ConvRun) -> Iterator[tuple[str, str, Callable[[WeightInput], WeightInput]]]:
    """Yield (kind, detail, change) of everything that may be wrong with the kernels."""
    old = engine.weights
    layout = old.layout
    kernels, channels = old.shape[:2]
    for order in ORDERS if not old.is_winograd else ():
        yield "kernel-order", order, setting(order=order)
        if order == "K and C swapped":
            swapped = (channels, kernels, *old.shape[2:])
            yield "kernel-order", "C and K swapped", partial(_with_shape, order, swapped)
    for order in WINOGRAD_ORDERS if old.is_winograd else ():
        kind = "kernel-order" if "kernel" in order else "winograd"
        yield kind, order, setting(order=order)
    if old.packing is not None:
        for what in MASKS:
            yield "mask", what, partial(_with_packing, setting(mask=what))
        for what in STARTS:
            yield "group-size", what, partial(_with_packing, setting(sizes=what))
    for size in (8, 16, 32, 64):
        config = layout.config
        if size != config.mac_atomic_k_size:
            yield "kernel-group", f"{size} kernels of an INT8 group", partial(_with_config, "mac_atomic_k_size", size)
        if size != config.mac_atomic_c_size:
            detail = f"C' of {size} instead of {config.mac_atomic_c_size}"
            yield "kernel-cube", detail, partial(_with_config, "mac_atomic_c_size", size)
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
        yield "kernel-base", what, setting(address=old.address + move)
    if isinstance(layout, ImageWeightLayout):
        for lines in (1, 2, 4):
            yield (
                "kernel-extension",
                f"{lines}-line post-extension instead of {layout.line_group}",
                partial(_with_kernels, setting(line_group=lines)),
            )
        yield "kernel-extension", "no pre-extension", partial(_with_kernels, _plain)


def _with_packing(change: Callable[[Packing], Packing], weights: WeightInput) -> WeightInput:
    assert weights.packing is not None
    return replace(weights, packing=change(weights.packing))


def _plain(layout: KernelLayout) -> WeightLayout:
    return WeightLayout(layout.config, layout.precision, layout.shape)


def _images(source: ImageInput) -> Iterator[tuple[str, str, Callable[[ImageInput], ImageInput]]]:
    """Yield (kind, detail, change) of everything that may be wrong with an image."""
    layout, conversion = source.layout, source.conversion
    count = len(source.channels)
    yield "x-offset", "ignored", partial(_with_layout, setting(x_offset=0))
    for offset in (layout.x_offset + 1, layout.x_offset - 1):
        yield "x-offset", f"{offset} instead of {layout.x_offset}", partial(_with_layout, setting(x_offset=offset))
    orders = {"reversed": tuple(range(count))[::-1]}
    if count >= 3:
        orders["first and third swapped"] = (2, 1, 0, *range(3, count))
    if count == 4:
        orders["one too far"] = (3, 0, 1, 2)
    for what, order in orders.items():
        yield "pixel-order", f"channels {what}", setting(channels=order)
    for name in supported_formats(layout.config):
        if name != layout.format_name:
            yield (
                "pixel-format",
                f"{name} instead of {layout.format_name}",
                partial(_with_layout, setting(format_name=name)),
            )
    yield (
        "pixel-sign",
        "unsigned" if conversion.signed else "signed",
        setting(conversion=replace(conversion, signed=not conversion.signed)),
    )
    if conversion.mean is not None:
        yield "mean", "not subtracted", setting(conversion=replace(conversion, mean=(0,) * count))
        yield (
            "mean",
            "that of the first channel for all",
            setting(conversion=replace(conversion, mean=(conversion.mean[0],) * count)),
        )
    for step in (layout.config.memory_atomic_bytes, -layout.config.memory_atomic_bytes):
        strides = tuple(stride + step for stride in layout.line_stride_bytes)
        yield (
            "image-line-stride",
            f"{strides[0]} instead of {layout.line_stride_bytes[0]}",
            partial(_with_layout, setting(line_stride_bytes=strides)),
        )


def _with_layout(change: Callable[[PixelLayout], PixelLayout], source: ImageInput) -> ImageInput:
    return replace(source, layout=change(source.layout))


def _converted(engine: ConvRun) -> Iterator[tuple[str, str, Callable[[ConvRun], ConvRun]]]:
    """Yield (kind, detail, change) of everything that may be wrong with the input converter."""
    source = engine.source
    old = source.converter if isinstance(source, CubeInput) else source.conversion.converter
    yield "sign", "data taken as unsigned", setting(signed=(False, True))
    yield "sign", "kernels taken as unsigned", setting(signed=(True, False))
    if old is None:
        return
    for name, values in (
        ("offset", (0, -old.offset)),
        ("scale", (1, -old.scale)),
        ("shift", (0, old.shift - 1, old.shift + 1)),
    ):
        for value in values:
            detail = f"{name} {value} instead of {getattr(old, name)}"
            yield "input-converter", detail, partial(_with_converter, setting(**{name: value}))
    if not isinstance(source, CubeInput):
        return
    # A number that is not extended by its sign needs more bits than the register has.
    wide = setting(encoding=ConverterEncoding.SDP_OPERAND)
    for offset, what in ((old.offset & 0xFFFF, "unsigned"), (old.offset & 0xFF, "its low byte alone")):
        changed = partial(_in_turn, wide, setting(offset=offset))
        yield "input-converter", f"offset {what}, {offset} instead of {old.offset}", partial(_with_converter, changed)


def _in_turn(first: Callable[[T], T], second: Callable[[T], T], value: T) -> T:
    return second(first(value))


def _with_converter(change: Callable[[Converter], Converter], run: ConvRun) -> ConvRun:
    source = run.source
    if isinstance(source, CubeInput):
        assert source.converter is not None
        return replace(run, source=replace(source, converter=change(source.converter)))
    assert source.conversion.converter is not None
    other = replace(source.conversion, converter=change(source.conversion.converter))
    return replace(run, source=replace(source, conversion=other))


def _with_weights(change: Callable[[WeightInput], WeightInput], run: ConvRun) -> ConvRun:
    return replace(run, weights=change(run.weights))


def _with_image(change: Callable[[ImageInput], ImageInput], run: ConvRun) -> ConvRun:
    assert isinstance(run.source, ImageInput)
    return replace(run, source=change(run.source))


def _of(kind: str, evidence: Evidence, run: Run) -> Iterator[Variant]:
    engine = reach.first(run)
    if not isinstance(engine, ConvRun):
        return
    ways = [*_ways(engine), *_converted(engine)]
    for found, detail, change in _weights(engine):
        ways.append((found, detail, partial(_with_weights, change)))
    if isinstance(engine.source, ImageInput):
        image = engine.source
        for found, detail, alter in _images(image):
            ways.append((found, detail, partial(_with_image, alter)))
    for found, detail, make in ways:
        if found == kind:
            yield from attempt(detail, partial(_engine, run, make))


def _accumulators(evidence: Evidence, run: Run) -> Iterator[Variant]:
    engine = reach.first(run)
    if isinstance(engine, ConvRun) and not engine.params.is_float:
        for bits in _ACCUMULATOR_BITS:
            rules = replace(run.rules, accumulator_bits=bits)
            yield Variant(f"sums wrap at {bits} bits", replace(run, rules=rules))


def _lanes(evidence: Evidence, run: Run) -> Iterator[Variant]:
    engine = reach.first(run)
    if not isinstance(engine, ConvRun):
        return
    lanes = engine.weights.layout.config.mac_atomic_c_size
    for number in range(min(lanes, engine.weights.shape[1])):
        for fault in LaneFault:
            faulty = Lane(number, lanes, fault)
            detail = f"lane {number} of {lanes}, {fault.value}"
            yield from attempt(detail, partial(_engine, run, setting(lane=faulty)))


_ACCUMULATOR_BITS = range(12, 34)
"""Widths that hold some sums of a convolution and not others; the hardware has 34 bits for INT8."""

_KINDS = {
    "truncate": ("wrong truncation", Family.ARITHMETIC),
    "pad-value": ("wrong padding value", Family.ARITHMETIC),
    "padding": ("wrong padding", Family.ARITHMETIC),
    "nan": ("NaN", Family.FORMAT),
    "stride": ("wrong stride of windows", Family.ARITHMETIC),
    "dilation": ("wrong dilation", Family.ARITHMETIC),
    "window": ("windows displaced", Family.ARITHMETIC),
    "input-converter": ("wrong input converter", Family.ARITHMETIC),
    "sign": ("wrong sign", Family.ARITHMETIC),
    "kernel-order": ("wrong order of kernels", Family.LAYOUT),
    "kernel-group": ("wrong kernel group", Family.LAYOUT),
    "kernel-cube": ("wrong 1x1xC' cube", Family.LAYOUT),
    "winograd": ("Winograd", Family.ARITHMETIC),
    "mask": ("WMB", Family.FORMAT),
    "group-size": ("WGS", Family.FORMAT),
    "kernel-base": ("wrong start of the weights", Family.LAYOUT),
    "kernel-extension": ("wrong channel extension of the weights", Family.FORMAT),
    "x-offset": ("wrong X offset", Family.FORMAT),
    "pixel-order": ("wrong order of pixel channels", Family.FORMAT),
    "pixel-format": ("wrong pixel format", Family.FORMAT),
    "pixel-sign": ("wrong sign of pixels", Family.FORMAT),
    "mean": ("wrong mean", Family.FORMAT),
    "image-line-stride": ("wrong line stride of the image", Family.FORMAT),
}

CAUSES = (
    *(
        Cause(f"conv-{kind}", f"convolution: {about}", family, partial(_of, kind), reruns=True)
        for kind, (about, family) in _KINDS.items()
    ),
    Cause("conv-lane", "convolution: one multiplier of every MAC cell", Family.ARITHMETIC, _lanes, reruns=True),
    Cause("conv-accumulator", "convolution: narrow accumulators", Family.ARITHMETIC, _accumulators, reruns=True),
)
