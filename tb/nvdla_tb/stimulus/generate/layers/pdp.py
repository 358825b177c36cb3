"""PDP layers from descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from nvdla_models.errors import InputError
from nvdla_models.pdp import MAX_KERNEL, PdpParams, PoolMethod, padding_sums, reciprocal
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer, Layer, PdpLayer, PooledLayer, SdpLayer
from nvdla_tb.nvdla.layers.pdp import split_width
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
    reciprocals = tuple(reciprocal(side, precision) for side in (kernel_width, kernel_height))
    if average:
        reciprocals = table.integers("reciprocals", 2, reciprocals)
    if average and "pad_values" in table:
        pad_values = table.integers("pad_values", MAX_KERNEL - 1)
    else:
        pad_values = padding_sums(table.take("pad_value", int, 0) if average else 0, precision)
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
