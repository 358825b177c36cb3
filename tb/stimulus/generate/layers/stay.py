"""Reuse of the convolution buffer: the parts that a convolution keeps, and those that it takes from earlier ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tb.nvdla.layers import ConvLayer, Layer, PooledLayer
from tb.nvdla.program.conv_buffer import ConvBuffer
from tb.stimulus.generate.describe import PlanError, Table

PARTS = ("data", "weights")


@dataclass(frozen=True)
class Stay:
    """The content of the buffer before and after a layer.

    Attributes:
        keep: of ``PARTS``, what it keeps for the next.
        reuse: of ``PARTS``, what it takes of the layer before.
        lines: that it convolves, when they are not those of its input in memory.
        before: the convolutions before it.
        buffer: content that they leave.
    """

    keep: tuple[str, ...]
    reuse: tuple[str, ...]
    lines: int | None
    before: tuple[ConvLayer, ...]
    buffer: ConvBuffer


def take_stay(table: Table, earlier: Sequence[Layer], height: int) -> Stay:
    """Return the parts that a description keeps and reuses.

    A layer that reuses data convolves all lines that are kept, or ``lines`` of them; when the layer before has not
    kept all of its lines but released some, those that are left and its own.

    Args:
        table: Of the layer; ``keep`` and ``reuse`` are lists of ``PARTS``.
        earlier: Layers before it.
        height: Lines of its input in memory.

    Raises:
        PlanError: for another part, or reuse without a convolution before.
    """
    keep, reuse = (_parts(table, key) for key in ("keep", "reuse"))
    producers = (layer.producer if isinstance(layer, PooledLayer) else layer for layer in earlier)
    before = tuple(layer for layer in producers if isinstance(layer, ConvLayer))
    if reuse and not before:
        raise PlanError(f"{table.where}.reuse needs a convolution before it")
    buffer = ConvBuffer()
    for number, layer in enumerate(before):
        buffer.begin(f"convolution {number}", layer)
    lines = table.take("lines", int)
    if "data" not in reuse:
        if lines is not None:
            raise PlanError(f"{table.where}.lines needs data that are reused")
        return Stay(keep, reuse, None, before, buffer)
    if lines is None:
        lines = buffer.lines + (0 if before[-1].cbuf.skip_data_release else height)
    return Stay(keep, reuse, None if lines == height else lines, before, buffer)


def _parts(table: Table, key: str) -> tuple[str, ...]:
    parts = table.names(key)
    for part in parts:
        if part not in PARTS:
            raise PlanError(f"{table.where}.{key} must be of {', '.join(PARTS)}, not {part}")
    return parts
