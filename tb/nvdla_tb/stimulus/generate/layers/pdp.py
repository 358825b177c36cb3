"""PDP layers from descriptions."""

from __future__ import annotations

from collections.abc import Sequence

from nvdla_models.errors import InputError
from nvdla_models.pdp import MAX_KERNEL, PdpParams, PoolMethod, padding_sums, reciprocal
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.layers import ConvLayer, Layer, PdpLayer, PooledLayer, SdpLayer
from nvdla_tb.nvdla.layers.pdp import split_width
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.layers.entries import PdpEntry, PoolEntry
from nvdla_tb.stimulus.generate.layers.workshop import Workshop, destination, source


def build_pdp(shop: Workshop, name: str, entry: PdpEntry, earlier: Sequence[Layer]) -> PdpLayer:
    """Return the PDP layer that an entry asks for."""
    src = source(shop, name, entry, earlier)
    params = _pooling(entry, src.layout.precision)
    channels, height, width = src.layout.shape
    shape = (channels, params.output_height(height), params.output_width(width))
    dst = destination(shop, name, entry, shape, src.layout.precision)
    columns = (0, 0)
    if entry.split > 1:
        columns = entry.split_columns or (shape[2] // entry.split,) * 2
    else:
        entry.leave_out("of a layer without split", "split_columns")
    return PdpLayer(src, dst, params, split_width(params, width, entry.split, *columns))


def build_pooled(shop: Workshop, name: str, entry: PoolEntry, producer: Layer) -> PooledLayer:
    """Return the layer that pools on the fly what SDP ends.

    Raises:
        InputError: for a layer that SDP does not end.
    """
    if not isinstance(producer, SdpLayer | ConvLayer):
        raise InputError(f"pool must be left out: SDP does not end a layer of {producer.unit}")
    between = producer.dst.layout
    params = _pooling(entry, between.precision)
    channels, height, width = between.shape
    shape = (channels, params.output_height(height), params.output_width(width))
    return PooledLayer(producer, destination(shop, name, entry, shape, between.precision), params)


def _pooling(entry: PoolEntry, precision: Precision) -> PdpParams:
    for side in entry.kernel:
        if not 1 <= side <= MAX_KERNEL:
            raise PlanError(f"kernel must be 1 to {MAX_KERNEL} each, not {side}")
    kernel_width, kernel_height = entry.kernel
    left, right, top, bottom = entry.pad
    reciprocals = (0, 0)
    if entry.method is PoolMethod.AVERAGE:
        natural = (reciprocal(kernel_width, precision), reciprocal(kernel_height, precision))
        reciprocals = entry.reciprocals or natural
    else:
        entry.leave_out(f"of a pooling with {entry.method.value}", "reciprocals", "pad_value", "pad_values")
    if entry.pad_values is not None:
        entry.leave_out("beside pad_values", "pad_value")
    return PdpParams(
        method=entry.method,
        kernel_width=kernel_width,
        kernel_height=kernel_height,
        stride_x=entry.stride[0],
        stride_y=entry.stride[1],
        pad_left=left,
        pad_right=right,
        pad_top=top,
        pad_bottom=bottom,
        pad_values=entry.pad_values or padding_sums(entry.pad_value or 0, precision),
        recip_width=reciprocals[0],
        recip_height=reciprocals[1],
        precision=precision,
        nan_to_zero=entry.nan_to_zero,
    )
