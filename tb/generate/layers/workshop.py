"""What building layers needs: memory with random data in it, and the keys that layers of all engines share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.config import HwConfig
from models.converter import Converter, ConverterEncoding
from models.layout import FeatureLayout, OperandLayout, PixelLayout, WeightLayout
from models.layout.alignment import WEIGHT_START_ALIGNMENT_BYTES
from models.precision import Precision
from tb.generate.describe import PlanError, Table
from tb.layers import Layer, OperandSurface, Surface, on_the_fly
from tb.memory import MemoryImage
from tb.surfaces import ImageSurface, WeightSurface


@dataclass(frozen=True)
class Workshop:
    """The configuration, the memory that layers live in, and the randomness."""

    config: HwConfig
    memory: MemoryImage
    rng: np.random.Generator

    def place(self, name: str, layout: FeatureLayout) -> Surface:
        """Put a cube of random data into memory, padding channels included."""
        shape = (layout.padded_channels, *layout.shape[1:])
        whole = FeatureLayout(
            layout.config, layout.precision, shape, layout.line_stride_bytes, layout.surface_stride_bytes
        )
        surface = self.reserve(name, layout)
        inside = whole.written_mask()
        edges = np.flatnonzero(np.diff(inside.astype(np.int8), prepend=0, append=0))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            self._fill(surface.address + int(start), int(stop - start))
        return surface

    def reserve(self, name: str, layout: FeatureLayout) -> Surface:
        """Allocate memory for a cube without writing it: stride gaps and results stay poisoned."""
        return Surface(layout, self._allocate(layout.nbytes, name))

    def skip(self, name: str, atoms: int) -> None:
        """Leave some atoms unused, which nothing may read or write."""
        self._allocate(atoms * self.config.memory_atomic_bytes, name)

    def place_image(self, name: str, layout: PixelLayout) -> ImageSurface:
        """Put an image of random pixels into memory, those around it included; gaps stay poisoned."""
        addresses = []
        lines = layout.shape[1] - 1
        for number, (nbytes, stride) in enumerate(zip(layout.plane_nbytes, layout.line_stride_bytes, strict=True)):
            address = self._allocate(nbytes, f"{name}_plane{number}")
            for line in range(lines + 1):
                self._fill(address + line * stride, nbytes - lines * stride)
            addresses.append(address)
        return ImageSurface(layout, tuple(addresses))

    def place_weights(self, name: str, layout: WeightLayout, limits: tuple[int, int]) -> WeightSurface:
        """Put random weights into memory; the padding behind them is random too.

        Args:
            name: What messages call them.
            layout: How they lie.
            limits: Smallest and largest weight.
        """
        address = self.memory.allocate(layout.nbytes, name, WEIGHT_START_ALIGNMENT_BYTES)
        weights = self.rng.integers(*limits, layout.packed_shape, dtype=layout.precision.dtype, endpoint=True)
        data = layout.pack(weights)
        used = layout.elements * layout.precision.nbytes
        data[used:] = self.rng.integers(0, 256, len(data) - used, dtype=np.uint8)
        self.memory.write(address, data)
        return WeightSurface(layout, address)

    def place_operands(self, name: str, layout: OperandLayout) -> OperandSurface:
        """Put random operands into memory; their padding channels are random too."""
        address = self._allocate(layout.nbytes, name)
        self._fill(address, layout.nbytes)
        return OperandSurface(layout, address)

    def _allocate(self, nbytes: int, name: str) -> int:
        return self.memory.allocate(nbytes, name, self.config.memory_atomic_bytes)

    def _fill(self, address: int, nbytes: int) -> None:
        self.memory.write(address, self.rng.integers(0, 256, nbytes, dtype=np.uint8))


def take_source(shop: Workshop, name: str, table: Table, earlier: Sequence[Layer]) -> Surface:
    """Return the cube that a layer reads: what the layer before wrote, or random data of its own.

    Raises:
        PlanError: when there is no layer before, or the shape is missing.
    """
    if table.take("chain", bool, False):
        if not earlier:
            raise PlanError(f"{table.where}.chain needs a layer before it")
        written = earlier[-1].dst
        assert isinstance(written, Surface)
        return written
    shape = table.integers("shape", 3)
    return shop.place(f"{name}_src", feature_layout(shop.config, shape, table.integers("src_gaps", 2, (0, 0))))


def take_destination(shop: Workshop, name: str, table: Table, shape: tuple[int, int, int]) -> Surface:
    """Return where a layer writes its result; PDP takes it on the fly when a description pools it.

    ``dst_skip`` atoms before it are left unused, so that it starts elsewhere in a block of memory.
    """
    if "pool" in table:
        return on_the_fly(shop.config, Precision.INT8, shape)
    gaps = table.integers("dst_gaps", 2, (0, 0))
    skipped = table.take("dst_skip", int, 0)
    if skipped:
        shop.skip(f"{name}_skipped", skipped)
    return shop.reserve(f"{name}_dst", feature_layout(shop.config, shape, gaps))


def take_converter(table: Table, key: str, encoding: ConverterEncoding) -> Converter:
    """Return a converter from offset, scale and shift; without the key, one that changes nothing."""
    offset, scale, shift = table.integers(key, 3, (0, 1, 0))
    return Converter(offset, scale, shift, encoding)


def feature_layout(config: HwConfig, shape: Sequence[int], gaps_atoms: Sequence[int]) -> FeatureLayout:
    """Return a layout of INT8 whose lines and surfaces end with gaps of so many atoms."""
    channels, height, width = shape
    line = (width + gaps_atoms[0]) * config.memory_atomic_bytes
    surface = height * line + gaps_atoms[1] * config.memory_atomic_bytes
    return FeatureLayout(config, Precision.INT8, (channels, height, width), line, surface)
