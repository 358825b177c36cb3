"""Cubes of values in memory, parts of them, and what of its input a part of an output needs."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nvdla_models.layout import FeatureLayout
from nvdla_networks.compiler.graph import Shape, Window
from nvdla_networks.compiler.target import Target
from nvdla_tb.nvdla.layers import Surface


@dataclass(frozen=True)
class Cube:
    """A cube (C, H, W) as it lies in a buffer, ``offset`` bytes from the beginning."""

    target: Target
    buffer: int
    offset: int
    shape: Shape
    line_stride_bytes: int
    surface_stride_bytes: int

    @classmethod
    def packed(cls, target: Target, buffer: int, shape: Shape) -> Cube:
        """Return a cube without gaps that fills a buffer."""
        layout = FeatureLayout.packed(target.config, target.precision, shape)
        return cls(target, buffer, 0, shape, layout.line_stride_bytes, layout.surface_stride_bytes)

    @property
    def layout(self) -> FeatureLayout:
        """How it lies in memory."""
        config, precision = self.target.config, self.target.precision
        return FeatureLayout(config, precision, self.shape, self.line_stride_bytes, self.surface_stride_bytes)

    @property
    def nbytes(self) -> int:
        """Bytes up to the end of its last atom."""
        return self.layout.nbytes

    def surface(self, base: int) -> Surface:
        """Return it in a buffer that begins at an address."""
        return Surface(self.layout, base + self.offset)

    def channels(self, first: int, count: int) -> Cube:
        """Return some of its channels, from the beginning of an atom."""
        surface = first // self.target.lanes
        offset = self.offset + surface * self.surface_stride_bytes
        return replace(self, offset=offset, shape=(count, *self.shape[1:]))

    def lines(self, first: int, count: int) -> Cube:
        """Return some of its lines."""
        offset = self.offset + first * self.line_stride_bytes
        return replace(self, offset=offset, shape=(self.shape[0], count, self.shape[2]))

    def columns(self, first: int, count: int) -> Cube:
        """Return some of its columns."""
        offset = self.offset + first * self.target.config.memory_atomic_bytes
        return replace(self, offset=offset, shape=(*self.shape[:2], count))


@dataclass(frozen=True)
class Extent:
    """Elements of the input that some windows cover, and what of the padding they cover on both sides."""

    first: int
    count: int
    before: int
    after: int


def extent(window: Window, axis: int, size: int, first: int, count: int) -> Extent:
    """Return the part of an input that ``count`` windows from ``first`` on need, along H (0) or W (1) of this size."""
    start = first * window.stride[axis] - window.before[axis]
    end = start + (count - 1) * window.stride[axis] + window.span(axis)
    inside = max(start, 0), min(end, size)
    return Extent(inside[0], inside[1] - inside[0], inside[0] - start, end - inside[1])
