"""Tools for building layers: memory with random data in it, and what layers of all engines share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.config import HwConfig
from nvdla_models.converter import Converter, ConverterEncoding
from nvdla_models.errors import InputError
from nvdla_models.layout import (
    FeatureLayout,
    KernelLayout,
    OperandLayout,
    PixelLayout,
    WinogradWeightLayout,
)
from nvdla_models.layout.alignment import WEIGHT_START_ALIGNMENT_BYTES
from nvdla_models.limits import DRAWN_BYTES
from nvdla_models.precision import Precision
from nvdla_tb.nvdla.compressed_weights import store_compressed
from nvdla_tb.nvdla.layers import ConvLayer, Layer, OperandSurface, Surface, on_the_fly
from nvdla_tb.nvdla.memory import MemoryImage
from nvdla_tb.nvdla.surfaces import ImageSurface, WeightSurface
from nvdla_tb.stimulus.generate.errors import PlanError
from nvdla_tb.stimulus.generate.layers.data import FLOATS, INTEGERS, draw_bytes, draw_patterns
from nvdla_tb.stimulus.generate.layers.entries import Pair, ReadingEntry, Triple, WrittenEntry

LEAST_CARRY = 12
"""The lowest address bit that cubes may be asked to carry into; any cube reaches those below."""

_TRIES = 8
_ZERO_SHARE = 0.5
"""Of addresses for one cube before it is placed after all others."""


@dataclass(frozen=True)
class Workshop:
    """The configuration, the memory that layers live in, and the randomness.

    Attributes:
        config: The configuration.
        memory: Where data are placed.
        rng: Random numbers for all data.
        carries: The lowest and the highest address bit whose carry cubes reach; None places cubes one after the other.
        carry: The address bit whose border lies one unit after the first quarter of each cube, where addresses of
            atoms, of lines and of surfaces all step over it; it goes before ``carries``.
    """

    config: HwConfig
    memory: MemoryImage
    rng: np.random.Generator
    carries: tuple[int, int] | None = None
    carry: int | None = None

    def place(self, name: str, layout: FeatureLayout, numbers: str | None = None) -> Surface:
        """Put a cube of random data into memory, padding channels included."""
        shape = (layout.padded_channels, *layout.shape[1:])
        whole = FeatureLayout(
            layout.config, layout.precision, shape, layout.line_stride_bytes, layout.surface_stride_bytes
        )
        surface = self.reserve(name, layout)
        inside = whole.written_mask()
        edges = np.flatnonzero(np.diff(inside.astype(np.int8), prepend=0, append=0))
        for start, stop in zip(edges[::2], edges[1::2], strict=True):
            data = draw_bytes(self.rng, int(stop - start), layout.precision, numbers)
            self.memory.write(surface.address + int(start), data)
        return surface

    def reserve(self, name: str, layout: FeatureLayout, alignment_atoms: int = 1) -> Surface:
        """Allocate memory for a cube without writing it: stride gaps and results stay poisoned."""
        alignment = alignment_atoms * self.config.memory_atomic_bytes
        return Surface(layout, self.allocate(layout.nbytes, name, alignment))

    def in_a_row(self) -> Workshop:
        """Return one that places cubes one after the other."""
        return replace(self, carries=None, carry=None)

    def skip(self, name: str, atoms: int) -> None:
        """Leave some atoms unused, which nothing may read or write."""
        self._atoms(atoms * self.config.memory_atomic_bytes, name)

    def place_image(self, name: str, layout: PixelLayout) -> ImageSurface:
        """Put an image of random pixels into memory, those around it included; gaps stay poisoned."""
        addresses = []
        lines = layout.shape[1] - 1
        for number, (nbytes, stride) in enumerate(zip(layout.plane_nbytes, layout.line_stride_bytes, strict=True)):
            address = self._atoms(nbytes, f"{name}_plane{number}")
            for line in range(lines + 1):
                data = self.rng.integers(0, 256, nbytes - lines * stride, dtype=np.uint8)
                self.memory.write(address + line * stride, data)
            addresses.append(address)
        return ImageSurface(layout, tuple(addresses))

    def place_weights(
        self,
        name: str,
        layout: KernelLayout,
        limits: tuple[int, int],
        numbers: str = FLOATS[0],
        whole_bytes: int | None = None,
        skip: int = 0,
        *,
        sparse: bool = False,
    ) -> WeightSurface:
        """Put random weights into memory; the padding after them is random too.

        Args:
            name: Their name in messages.
            layout: How they lie.
            limits: Smallest and largest weight of integers.
            numbers: Which weights of FP16.
            whole_bytes: What the registers give as their size, None for all with the alignment of their end.
            skip: Atoms between the alignment of Table 35 and the first weight.
            sparse: Whether half of the vectors that a MAC cell takes at a time are 0.
        """
        weights = self.draw_weights(layout, limits, numbers)
        if sparse:
            kernels, channels, *rest = weights.shape
            lanes = self.config.mac_atomic_c_size
            zeros = self.rng.random((kernels, -(-channels // lanes), *rest)) < _ZERO_SHARE
            weights[np.repeat(zeros, lanes, axis=1)[:, :channels]] = 0
        data = layout.pack(weights)[:whole_bytes]
        address = self._weights(len(data), name, skip)
        used = layout.elements * layout.precision.nbytes
        data[used:] = self.rng.integers(0, 256, len(data) - used, dtype=np.uint8)
        self.memory.write(address, data)
        return WeightSurface(layout, address, whole_bytes=whole_bytes)

    def place_compressed(
        self, name: str, layout: KernelLayout, limits: tuple[int, int], numbers: str, zero_percent: int, skip: int = 0
    ) -> WeightSurface:
        """Put random weights into memory without those that are 0, and their mask and sizes.

        Args:
            name: Their name in messages.
            layout: How they would lie in whole.
            limits: Smallest and largest weight of integers.
            numbers: Which weights of FP16.
            zero_percent: How many of them are 0.
            skip: Atoms between the alignment of Table 35 and each of the three.
        """
        weights = self.draw_weights(layout, limits, numbers)
        weights[self.rng.random(weights.shape) < zero_percent / 100] = 0
        return store_compressed(self.memory, lambda size, part: self._weights(size, part, skip), name, layout, weights)

    def _weights(self, nbytes: int, name: str, skip: int) -> int:
        """Return an address for weights, so many atoms after one that is aligned; nothing may read those."""
        skipped = skip * self.config.memory_atomic_bytes
        return self.allocate(skipped + nbytes, name, WEIGHT_START_ALIGNMENT_BYTES) + skipped

    def draw_weights(self, layout: KernelLayout, limits: tuple[int, int], numbers: str) -> NDArray[Any]:
        """Return random kernels as they are packed; channels that only fill an atom are 0.

        Raises:
            InputError: for more than a scenario may have.
        """
        if layout.nbytes > DRAWN_BYTES:
            raise InputError(f"weights must have at most {DRAWN_BYTES} bytes, not {layout.nbytes}")
        if layout.precision is Precision.FP16:
            count = int(np.prod(layout.packed_shape))
            weights = draw_patterns(self.rng, count, numbers).view(np.float16).reshape(layout.packed_shape)
        else:
            weights = self.rng.integers(*limits, layout.packed_shape, dtype=layout.precision.dtype, endpoint=True)
        if isinstance(layout, WinogradWeightLayout):
            weights[:, layout.shape[1] :] = 0
        return weights

    def place_operands(self, name: str, layout: OperandLayout, numbers: str | None = None) -> OperandSurface:
        """Put random operands into memory; their padding channels are random too."""
        address = self._atoms(layout.nbytes, name)
        wide = layout.precision is Precision.INT8 and layout.component_bytes == Precision.INT16.nbytes
        precision = Precision.INT16 if wide else layout.precision
        self.memory.write(address, draw_bytes(self.rng, layout.nbytes, precision, numbers))
        return OperandSurface(layout, address)

    def _atoms(self, nbytes: int, name: str) -> int:
        return self.allocate(nbytes, name, self.config.memory_atomic_bytes)

    def allocate(self, nbytes: int, name: str, alignment_bytes: int) -> int:
        """Reserve memory and return its address; with ``carry`` and ``carries``, around a border of address bits."""
        return self.memory.allocate(nbytes, name, alignment_bytes, self._borders(nbytes, alignment_bytes))

    def _borders(self, nbytes: int, alignment_bytes: int) -> Iterator[int]:
        """Yield addresses of ranges that lie around an odd multiple of a power of two, or end at it."""
        units = -(-nbytes // alignment_bytes)
        for _ in range(_TRIES):
            if self.carry is not None:
                yield self._border(self.carry) - alignment_bytes * min(units // 4 + 1, units)
            elif self.carries is not None:
                bit = int(self.rng.integers(self.carries[0], self.carries[1] + 1))
                yield self._border(bit) - alignment_bytes * int(self.rng.integers(1, units + 1))

    def _border(self, bit: int) -> int:
        """Draw an address whose lowest bit that is set is this one."""
        multiples = 1 << (self.config.memif_address_width_bits - bit)
        return (2 * int(self.rng.integers(0, multiples // 2)) + 1) << bit


def source(shop: Workshop, name: str, entry: ReadingEntry, earlier: Sequence[Layer]) -> Surface:
    """Return the cube that a layer reads: what the layer before wrote, or random data of its own.

    Raises:
        PlanError: when there is no layer before, or the shape is missing.
    """
    return cubes_of(shop, name, entry, earlier, 1)[0]


def cubes_of(shop: Workshop, name: str, entry: ReadingEntry, earlier: Sequence[Layer], cubes: int) -> list[Surface]:
    """Return the cubes of a batch: what the layer before wrote, or random data, evenly apart because they are alike.

    Raises:
        PlanError: when there is no layer before or one of fewer cubes, or the shape is missing.
    """
    if entry.chain:
        entry.leave_out("of a layer with chain", "shape", "precision", "src_gaps", "numbers")
        if not earlier:
            raise PlanError("chain needs a layer before it")
        before = earlier[-1]
        written = [layer.dst for layer in before.cubes] if isinstance(before, ConvLayer) else [before.dst]
        if len(written) < cubes:
            raise PlanError(f"batch must be at most the {len(written)} of the layer before, not {cubes}")
        return [surface for surface in written[:cubes] if isinstance(surface, Surface)]
    layout = feature_layout(shop.config, shape_of(entry), entry.src_gaps or (0, 0), precision_of(entry))
    numbers = numbers_of(entry.numbers, layout.precision)
    if cubes > 1:
        shop = shop.in_a_row()
    names = (f"{name}_src", *(f"{name}_src_cube{number}" for number in range(1, cubes)))
    return [shop.place(each, layout, numbers) for each in names]


def shape_of(entry: ReadingEntry) -> Triple:
    """Return the shape of an input that is no layer's result.

    Raises:
        PlanError: when it is missing.
    """
    if entry.shape is None:
        raise PlanError("shape is missing")
    return entry.shape


def precision_of(entry: ReadingEntry) -> Precision:
    """Return the precision of an input that is no layer's result."""
    return entry.precision or Precision.INT8


def numbers_of(numbers: str | None, precision: Precision) -> str:
    """Return which numbers of a precision are drawn.

    Raises:
        PlanError: for those of another precision.
    """
    allowed = FLOATS if precision is Precision.FP16 else INTEGERS
    if numbers is not None and numbers not in allowed:
        raise PlanError(f"numbers must be one of {', '.join(allowed)}, not {numbers}")
    return numbers or allowed[0]


def span(key: str, wanted: Pair, limits: Pair) -> Pair:
    """Return the smallest and the largest of numbers that are drawn.

    Raises:
        PlanError: when they are no such pair within the limits.
    """
    if not limits[0] <= wanted[0] <= wanted[1] <= limits[1]:
        low, high = wanted
        raise PlanError(f"{key} must be a span within {limits[0]} to {limits[1]}, not {low} to {high}")
    return wanted


def destination(
    shop: Workshop,
    name: str,
    entry: WrittenEntry,
    shape: tuple[int, int, int],
    precision: Precision,
    alignment_atoms: int = 1,
) -> Surface:
    """Return where a layer writes its result; PDP takes it on the fly when the layer has a pooling.

    ``dst_skip`` atoms before it are left unused, so that it starts elsewhere in a block of memory.
    """
    if isinstance(entry, ReadingEntry) and entry.pool is not None:
        entry.leave_out("of a layer with pool", "dst_gaps", "dst_skip")
        return on_the_fly(shop.config, precision, shape)
    if entry.dst_skip:
        shop.skip(f"{name}_skipped", entry.dst_skip)
    layout = feature_layout(shop.config, shape, entry.dst_gaps or (0, 0), precision)
    return shop.reserve(f"{name}_dst", layout, alignment_atoms)


def converter_if(parts: Triple | None, encoding: ConverterEncoding) -> Converter | None:
    """Return a converter from offset, scale and shift; None without them."""
    return None if parts is None else Converter(*parts, encoding)


def feature_layout(
    config: HwConfig, shape: Sequence[int], gaps_atoms: Sequence[int], precision: Precision
) -> FeatureLayout:
    """Return a layout whose lines and surfaces end with gaps of so many atoms."""
    channels, height, width = shape
    line = (width + gaps_atoms[0]) * config.memory_atomic_bytes
    surface = height * line + gaps_atoms[1] * config.memory_atomic_bytes
    return FeatureLayout(config, precision, (channels, height, width), line, surface)
