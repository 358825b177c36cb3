"""PDP layers from descriptions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nvdla_models.errors import InputError
from nvdla_models.fp16 import FP17
from nvdla_models.pdp import MAX_KERNEL, PdpParams, PoolMethod
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer, Layer, PdpLayer, PooledLayer, SdpLayer, WidthSplit
from nvdla_tb.stimulus.generate.describe import PlanError, Table
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, take_destination, take_source


def build_pdp(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> PdpLayer:
    """Return the PDP layer that a description asks for."""
    src = take_source(shop, name, table, earlier)
    params = _take_pooling(table, src.layout.precision)
    channels, height, width = src.layout.shape
    shape = (channels, params.output_height(height), params.output_width(width))
    dst = take_destination(shop, name, table, shape, src.layout.precision)
    parts = table.take("split", int, 1)
    columns = table.integers("split_columns", 2, (shape[2] // parts,) * 2) if parts > 1 else (0, 0)
    return PdpLayer(src, dst, params, split_width(params, width, parts, *columns))


def build_pooled(shop: Workshop, name: str, table: Table, producer: Layer) -> PooledLayer:
    """Return the layer that pools on the fly what SDP ends, as the table ``pool`` of its description asks for.

    Raises:
        InputError: for a layer that SDP does not end.
    """
    if not isinstance(producer, SdpLayer | ConvLayer):
        raise InputError(f"pool must be left out: SDP does not end a layer of {producer.unit}")
    between = producer.dst.layout
    params = _take_pooling(table, between.precision)
    channels, height, width = between.shape
    shape = (channels, params.output_height(height), params.output_width(width))
    dst = take_destination(shop, name, table, shape, between.precision)
    table.done()
    return PooledLayer(producer, dst, params)


def _take_pooling(table: Table, precision: Precision) -> PdpParams:
    kernel_width, kernel_height = table.integers("kernel", 2)
    stride_x, stride_y = table.integers("stride", 2, (1, 1))
    left, right, top, bottom = table.integers("pad", 4, (0, 0, 0, 0))
    for side in (kernel_width, kernel_height):
        if not 1 <= side <= MAX_KERNEL:
            raise PlanError(f"{table.where}.kernel must be 1 to {MAX_KERNEL} each, not {side}")
    method = table.choice("method", PoolMethod, required=True)
    assert method is not None
    average = method is PoolMethod.AVERAGE
    is_float = precision is Precision.FP16
    reciprocals = tuple(_fp17(1 / n) if is_float else round((1 << 16) / n) for n in (kernel_width, kernel_height))
    if average:
        reciprocals = table.integers("reciprocals", 2, reciprocals)
    if average and "pad_values" in table:
        pad_values = table.integers("pad_values", MAX_KERNEL - 1)
    else:
        value = table.take("pad_value", int, 0) if average else 0
        multiples = [value * count for count in range(1, MAX_KERNEL)]
        pad_values = tuple(_fp17(float(number)) if is_float else number for number in multiples)
    return PdpParams(
        method=method,
        kernel_width=kernel_width,
        kernel_height=kernel_height,
        stride_x=stride_x,
        stride_y=stride_y,
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_values=pad_values,
        recip_width=reciprocals[0] if average else 0,
        recip_height=reciprocals[1] if average else 0,
        precision=precision,
        nan_to_zero=table.take("nan_to_zero", bool, False),
    )


def _fp17(value: float) -> int:
    return int(FP17.encode(np.array([value]))[0])


def split_width(params: PdpParams, width: int, parts: int, first: int, middle: int) -> WidthSplit | None:
    """Return how to cut a cube into ``parts``; None for one part.

    Each part reads up to the end of its last window; the columns that windows share with the part
    before are read again by the hardware.

    Args:
        params: The pooling.
        width: Input width in elements.
        parts: Number of parts.
        first: Output columns of the first part.
        middle: Output columns of each part that is neither the first nor the last, which gets the rest.

    Raises:
        InputError: when there are fewer output columns than parts, or a part would read nothing.
    """
    if parts == 1:
        return None
    out = params.output_width(width)
    if parts < 1 or out < parts:
        raise InputError(f"split must be 1 to the output width {out}, not {parts}")
    last = out - first - middle * (parts - 2)
    if min(first, middle, last) < 1:
        raise InputError(f"split must leave every part at least one output column, not {first}, {middle} and {last}")
    first_in = (first - 1) * params.stride_x + params.kernel_width - params.pad_left
    middle_in = middle * params.stride_x
    last_in = width - first_in - (parts - 2) * middle_in
    if min(first_in, last_in) < 1:
        raise InputError(f"split must leave every part at least one input column, not {parts} parts")
    return WidthSplit(
        parts,
        first_in=first_in,
        middle_in=middle_in if parts > 2 else 0,
        last_in=last_in,
        first_out=first,
        middle_out=middle if parts > 2 else 0,
        last_out=last,
    )
