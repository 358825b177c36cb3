"""The short form of pooling, from memory or on the fly."""

from __future__ import annotations

from types import NoneType

from nvdla_models.arithmetic import limits
from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.pdp import MAX_KERNEL, MAX_STRIDE, PdpParams, PoolMethod, padding_sums, reciprocal
from nvdla_models.pdp.params import PAD_VALUE_BITS
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer, PdpLayer, PooledLayer, SdpLayer, Surface, WidthSplit, on_the_fly
from nvdla_tb.nvdla.layers.pdp import line_buffer_elements, split_width
from nvdla_tb.nvdla.short.axes import Pair, Sides, pair, sides
from nvdla_tb.nvdla.short.given import check_finite, check_flags, check_kind, plain
from nvdla_tb.nvdla.short.steps import whole


def Pdp(  # noqa: N802
    src: Surface | ConvLayer | SdpLayer,
    dst: Surface,
    *,
    window: Pair,
    stride: Pair | None = None,
    padding: Sides = 0,
    method: str = "max",
    pad_value: float = 0,
    nan_to_zero: bool = False,
    split: int | WidthSplit | None = None,
) -> PdpLayer | PooledLayer:
    """Return a pooling layer, from memory or on the fly after a convolution or SDP.

    ::

        src = bench.place(bench.rng.integers(-128, 128, (20, 8, 8), dtype=np.int8))
        await bench.run(Pdp(src, bench.reserve((20, 4, 4)), window=2))

    On the fly, after a convolution without destination::

        await bench.run(Pdp(Conv(src, weights, padding=1, relu=True), bench.reserve((16, 4, 4)), window=2))

    The last window must end where the padded cube ends: windows of 3 with stride 2 pool 8 x 8 elements with
    ``padding=(0, 1, 0, 1)``. An output wider than the line buffer is split into parts.

    Args:
        src: Input cube, (C, H, W), or the layer whose result PDP takes on the fly.
        dst: Output cube, (C, H_out, W_out).
        window: Size of the windows, 1 to 8 elements: one number, or (along H, along W).
        stride: Distance between windows, 1 to 16 elements: one number, or (along H, along W). Defaults to ``window``,
            so that windows do not overlap.
        padding: Elements added around the input, fewer than the window has: one number, (top and bottom, left and
            right) or (top, bottom, left, right). Max and min ignore them.
        method: ``"max"``, ``"min"`` or ``"average"``.
        pad_value: Value of the padding, for the average alone.
        nan_to_zero: Whether NaN becomes 0; FP16 from memory only.
        split: Number of parts that the width is pooled in, or their sizes, as ``WidthSplit``; from memory only.
            Defaults to as few as the line buffer allows.

    Returns:
        Layer for ``bench.run``.

    Raises:
        InputError: when input, windows and output do not fit each other or the configuration.

    Source: unit description, "Planar Data Processor"; programming guide, "PDP programming".
    """
    known = {choice.value: choice for choice in PoolMethod}
    if method not in known:
        raise InputError(f"method must be one of {', '.join(known)}, not {method!r}")
    check_kind("src", src, Surface, ConvLayer, SdpLayer)
    check_kind("dst", dst, Surface)
    split = plain(split)
    if isinstance(split, bool) or not isinstance(split, int):
        check_kind("split", split, int, WidthSplit, NoneType)
    check_flags(nan_to_zero=nan_to_zero)
    _check_flying(src)
    layout = (src if isinstance(src, Surface) else src.dst).layout
    height, width = pair("window", window, MAX_KERNEL)
    stride_y, stride_x = (height, width) if stride is None else pair("stride", stride, MAX_STRIDE)
    top, bottom, left, right = sides("padding", padding, (height, width), "window")
    average = known[method] is PoolMethod.AVERAGE
    if pad_value and not average:
        raise InputError(f"pad_value must be 0 for {method}, which ignores padding, not {pad_value!r}")
    params = PdpParams(
        known[method],
        kernel_width=width,
        kernel_height=height,
        stride_x=stride_x,
        stride_y=stride_y,
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_values=padding_sums(_pad_value(pad_value, layout.precision), layout.precision),
        recip_width=reciprocal(width, layout.precision) if average else 0,
        recip_height=reciprocal(height, layout.precision) if average else 0,
        precision=layout.precision,
        nan_to_zero=nan_to_zero,
    )
    if isinstance(src, Surface):
        cut = split if isinstance(split, WidthSplit) else _parts(params, layout.config, layout.shape[2], split)
        return PdpLayer(src, dst, params, cut)
    if split is not None:
        raise InputError("split must be left out on the fly, where PDP takes lines as a whole")
    return PooledLayer(src, dst, params)


def _check_flying(src: Surface | ConvLayer | SdpLayer) -> None:
    if isinstance(src, Surface):
        return
    dst = src.dst
    if dst != on_the_fly(dst.layout.config, dst.layout.precision, dst.shape):
        raise InputError("src must be a layer without dst, whose result PDP takes on the fly")


def _pad_value(value: float, precision: Precision) -> float:
    """Return the value of padding, of which up to 7 fit the registers."""
    if precision is Precision.FP16:
        check_finite(pad_value=value)
        return value
    most = limits(PAD_VALUE_BITS)[1] // (MAX_KERNEL - 1)
    return whole("pad_value", value, precision, -most, most)


def _parts(params: PdpParams, config: HwConfig, width: int, parts: int | None) -> WidthSplit | None:
    """Return the cut into parts of one size but the last, by default as few as the line buffer needs; None for one."""
    out = params.output_width(width)
    if parts is None:
        parts = -(-out // (line_buffer_elements(params, config) or out))
    if not 1 <= parts <= out:
        raise InputError(f"split must be 1 to the output width {out}, not {parts}")
    each = -(-out // parts)
    # Larger parts may leave nothing for the last one.
    each -= each * (parts - 1) >= out
    return split_width(params, width, parts, each, each)
