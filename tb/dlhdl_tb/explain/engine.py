"""A layer of the Deep Learning HDL processor as hardware may have computed it, from the beats that it reads.

Source: ``docs/dlhdl.md``, "Memory", "Instruction list" and "Arithmetic".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dlhdl_models.layout import DlhdlType, FullyConnectedDataLayout, ModuleDataLayout
from dlhdl_models.window import Window
from dlhdl_tb.network import Kind
from nvdla_models.arithmetic import Rules, saturate, wrap
from nvdla_models.errors import InputError
from nvdla_tb.explain.engines import EngineRun
from nvdla_tb.explain.memory import Bytes
from nvdla_tb.explain.walk import Cube

Array = NDArray[Any]
Beats = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Source:
    """Values of a layer's input as beats.

    Attributes:
        address: of the first beat.
        layout: that of the values.
        lanes: features that a beat holds.
        transposed: whether rows and pixels are swapped.
        late_beats: how much later the blocks after the first begin.
        unsigned: whether int8 counts as unsigned.
        loud: whether padding lanes count.
    """

    address: int
    layout: ModuleDataLayout
    lanes: int
    transposed: bool = False
    late_beats: int = 0
    unsigned: bool = False
    loud: bool = False

    def beats(self, memory: Bytes) -> Beats:
        """Return the beats as they lie in memory, widened."""
        layout = self.layout
        raw = memory.read(self.address, layout.nbytes).data
        return widened(raw, layout.data_type, self.unsigned).reshape(-1, layout.parallel)

    def mask(self) -> NDArray[np.bool_]:
        """Return the lanes that count."""
        layout = self.layout
        ones = np.ones(layout.shape, dtype=layout.data_type.dtype)
        used = layout.pack(ones).view(layout.data_type.dtype).reshape(-1, layout.parallel) != 0
        return np.ones_like(used) if self.loud else used

    def image(self, memory: Bytes) -> Array:
        """Return the values of an image, (Z, Y, X)."""
        features, rows, pixels = self.layout.shape
        beats = self.beats(memory)
        blocks = -(-features // self.lanes)
        block, y, x = np.ogrid[:blocks, :rows, :pixels]
        place = (block * pixels + x) * rows + y if self.transposed else (block * rows + y) * pixels + x
        place = place + self.late_beats * (block > 0)
        found = np.concatenate([beats, np.zeros((1, beats.shape[1]), beats.dtype)])
        lanes = found[np.where((place >= 0) & (place < len(beats)), place, len(beats))]
        values: Array = np.moveaxis(lanes[..., : self.lanes], 3, 1).reshape(-1, rows, pixels)[:features]
        return values


@dataclass(frozen=True, eq=False)
class Operands:
    """Weights and biases of a layer.

    Attributes:
        address: of the weights.
        bias_address: of the biases.
        first_beat: address of a beat that takes the place of the first one of each block of kernels, None for none.
        transposed: whether rows and pixels of kernels are swapped.
        unsigned: whether int8 weights count as unsigned.
        bias: ``own``, ``lost``, or ``block`` for that of the first feature of each block.
    """

    address: int
    bias_address: int
    first_beat: int | None = None
    transposed: bool = False
    unsigned: bool = False
    bias: str = "own"


def widened(raw: NDArray[np.uint8], data_type: DlhdlType, unsigned: bool) -> Array:
    """Return values as int64 or float64."""
    dtype = np.dtype(np.uint8) if unsigned and data_type is DlhdlType.INT8 else data_type.dtype
    wide: Array = raw.view(dtype).astype(np.int64 if data_type is DlhdlType.INT8 else np.float64)
    return wide


_SUM_BITS = 32
_SHIFTS = (-31, 47)
_MOST_TERMS = 1 << 14

ROUNDINGS: dict[str, Callable[[Array, Array | int], Array]] = {
    "halves up": lambda top, bottom: (2 * top + bottom) // (2 * bottom),
    "down": lambda top, bottom: top // bottom,
    "up": lambda top, bottom: -(-top // bottom),
    "towards zero": lambda top, bottom: np.sign(top) * (abs(top) // bottom),
    "halves away from zero": lambda top, bottom: np.sign(top) * ((2 * abs(top) + bottom) // (2 * bottom)),
}
"""How a quotient of integers is rounded; the first is right."""


@dataclass(frozen=True, eq=False)
class DlhdlRun(EngineRun):
    """A layer.

    Attributes:
        kind: what it computes.
        source: its input.
        second: the second input of an addition.
        operands: its weights.
        result: layout of the result.
        window: of convolution and pooling; its padding says where it begins, the result how often it moves.
        exponents: of source, second source, weights and result.
        relu: whether negative results become 0.
        lanes: features of a beat of the result.
        fill: a byte of the padding lanes of a result.
        tail: whether the last beat of values keeps those of the beat before.
        rounding: one of ``ROUNDINGS``.
        wraps: whether a result beyond int8 loses its upper bits.
        covered: whether padding does not count in the divisor of an average.
        padded: whether padding takes part in a maximum as 0.
        twice: whether the second source of an addition is doubled.
        bits: bits that products of singles lack.
        magnitudes: whether sums of singles add magnitudes.
    """

    kind: Kind
    source: Source
    second: Source | None
    operands: Operands | None
    result: ModuleDataLayout
    window: Window | None
    exponents: tuple[int, int, int, int]
    relu: bool
    lanes: int
    fill: int = 0
    tail: bool = False
    rounding: str = "halves up"
    wraps: bool = False
    covered: bool = False
    padded: bool = False
    twice: bool = False
    bits: int = 0
    magnitudes: bool = False

    @property
    def work(self) -> int:
        """Products of an element."""
        if self.kind is Kind.FULLY_CONNECTED:
            return self.source.layout.elements
        terms = 1 if self.window is None else self.window.positions
        return terms * (self.source.layout.shape[0] if self.kind is Kind.CONVOLUTION else 1)

    @property
    def integer(self) -> bool:
        """Whether values are int8."""
        return self.result.data_type is DlhdlType.INT8

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the result with its padding lanes, (lanes of all blocks, lines, pixels)."""
        with np.errstate(all="ignore"):
            values = self._values(memory)
        values = np.maximum(values, 0) if self.relu else values
        typed = values.astype(np.int8) if self.integer else values.astype("<f4")
        return self._in_lanes(typed)[:, rows]

    def _values(self, memory: Bytes) -> Array:
        match self.kind:
            case Kind.CONVOLUTION:
                return self._convolution(memory)
            case Kind.FULLY_CONNECTED:
                return self._rows(memory)
            case Kind.ADDITION:
                return self._addition(memory)
            case Kind.MAXIMUM_POOLING:
                return self._largest(memory)
            case Kind.AVERAGE_POOLING:
                return self._average(memory)

    def _in_lanes(self, values: Array) -> Cube:
        """Return a result with its padding lanes."""
        parallel, features = self.result.parallel, len(values)
        filler = np.full(values.dtype.itemsize, self.fill, dtype=np.uint8).view(values.dtype)[0]
        if isinstance(self.result, FullyConnectedDataLayout):
            padded = np.zeros(self.result.elements, dtype=values.dtype)
            padded[features:] = filler
            padded[:features] = values
            if self.tail and features % parallel:
                before = features - features % parallel
                padded[features:] = padded[features - parallel : before] if before else 0
            return padded.reshape(-1, 1, 1)
        blocks = -(-features // self.lanes)
        lanes = np.full((blocks, parallel, *values.shape[1:]), filler, dtype=values.dtype)
        block, lane = np.divmod(np.arange(features), self.lanes)
        lanes[block, lane] = values
        return lanes.reshape(-1, *values.shape[1:])

    def _views(self, image: Array, fill: float = 0) -> Array:
        """Return what the window sees at each place of the result, (Z, rows, pixels, R, S)."""
        window = self.window
        assert window is not None
        _, rows, pixels = self.result.shape
        y = np.arange(rows)[:, None] * window.stride_y + np.arange(window.height) - window.top
        x = np.arange(pixels)[:, None] * window.stride_x + np.arange(window.width) - window.left
        inside = ((y >= 0) & (y < image.shape[1]))[:, None, :, None] & ((x >= 0) & (x < image.shape[2]))[None, :, None]
        found = image[:, np.clip(y, 0, image.shape[1] - 1)][..., np.clip(x, 0, image.shape[2] - 1)]
        return np.where(inside, found.transpose(0, 1, 3, 2, 4), fill)

    def _convolution(self, memory: Bytes) -> Array:
        window = self.window
        assert window is not None
        views = self._views(self.source.image(memory))
        kernels, bias = self._kernels(memory, views.shape[0], window), self._bias(memory)
        count, rows, pixels = len(kernels), *views.shape[1:3]
        # Products in the order of hardware: block, row, pixel, feature.
        z, r, s = np.indices(kernels.shape[1:]).reshape(3, -1)
        order = np.lexsort((z, s, r, z // self.source.lanes))
        z, r, s = z[order], r[order], s[order]
        terms = views[z, :, :, r, s].reshape(len(order), -1)
        sums = self._sums(terms, kernels[:, z, r, s].T, bias)
        return self._finished(sums.reshape(count, rows, pixels))

    def _kernels(self, memory: Bytes, features: int, window: Window) -> Array:
        """Return the weights of a convolution, (K, Z, R, S)."""
        operands, parallel, lanes = self.operands, self.source.layout.parallel, self.source.lanes
        assert operands is not None
        count, blocks = self.result.shape[0], -(-features // lanes)
        data_type = self.result.data_type
        beats = count * blocks * window.positions
        size = parallel * data_type.dtype.itemsize
        raw = memory.read(operands.address, beats * size).data.reshape(beats, size)
        if operands.first_beat is not None:
            raw = raw.copy()
            raw[:: blocks * window.positions * self.lanes] = memory.read(operands.first_beat, size).data
        values = widened(raw.reshape(-1), data_type, operands.unsigned)
        sides = (window.width, window.height) if operands.transposed else (window.height, window.width)
        values = values.reshape(count, blocks, *sides, parallel)
        if operands.transposed:
            values = values.swapaxes(2, 3)
        return np.moveaxis(values[..., :lanes], 4, 2).reshape(count, -1, window.height, window.width)[:, :features]

    def _rows(self, memory: Bytes) -> Array:
        operands, source = self.operands, self.source
        assert operands is not None
        count = self.result.shape[0]
        beats, mask = source.beats(memory), source.mask()
        raw = memory.read(operands.address, count * source.layout.nbytes).data
        weights = widened(raw, self.result.data_type, operands.unsigned).reshape(count, *beats.shape)
        terms, factors = beats[mask], weights[:, mask].T
        return self._finished(self._sums(terms[:, None], factors, self._bias(memory))[:, 0])

    def _bias(self, memory: Bytes) -> Array:
        operands = self.operands
        assert operands is not None
        count = self.result.shape[0]
        bias = memory.read(operands.bias_address, 4 * count).data.view("<i4" if self.integer else "<f4")
        wide = bias.astype(np.int64 if self.integer else np.float64)
        if operands.bias == "block":
            return wide[np.arange(count) // self.lanes * self.lanes]
        return np.zeros_like(wide) if operands.bias == "lost" else wide

    def _sums(self, terms: Array, factors: Array, bias: Array) -> Array:
        """Return biases and sums of products, (K, places), of terms (T, places) and factors (T, K)."""
        if self.integer:
            # Sums of less than 2**37 products are exact in float64, whose products are fast.
            sums = (factors.T.astype(np.float64) @ terms.astype(np.float64)).astype(np.int64)
            return wrap(sums + bias[:, None], _SUM_BITS)
        if not (self.bits or self.magnitudes):
            return factors.T @ terms + bias[:, None]
        if len(terms) > _MOST_TERMS:
            raise InputError(f"sums must have at most {_MOST_TERMS} products, not {len(terms)}")
        sums = np.broadcast_to(bias[:, None], (len(bias), terms.shape[1]))
        for term, factor in zip(terms, factors, strict=True):
            sums = self._plus(sums, shortened(np.outer(factor, term), self.bits))
        return sums

    def _plus(self, first: Array, second: Array) -> Array:
        """Return sums, or those of magnitudes with the sign of the larger one."""
        if not self.magnitudes:
            return first + second
        sign = np.where(np.abs(first) >= np.abs(second), first, second)
        sums: Array = np.copysign(np.abs(first) + np.abs(second), sign)
        return sums

    def _finished(self, sums: Array) -> Array:
        if not self.integer:
            return sums
        source, _, weights, result = self.exponents
        return self._requantised(sums, result - source - weights)

    def _requantised(self, sums: Array, shift: int) -> Array:
        limited = min(max(shift, _SHIFTS[0]), _SHIFTS[1])
        top = sums if limited > 0 else sums << -limited
        return self._limited(ROUNDINGS[self.rounding](top, 1 << max(limited, 0)))

    def _limited(self, values: Array) -> Array:
        return wrap(values, 8) if self.wraps else saturate(values, 8)

    def _addition(self, memory: Bytes) -> Array:
        assert self.second is not None
        first, second = (self._flat(part, memory) for part in (self.source, self.second))
        if self.twice:
            second = 2 * second
        if not self.integer:
            return self._plus(first, second)
        one, other, _, result = self.exponents
        least = min(one, other)
        if max(one, other) - least > _SUM_BITS:
            raise InputError("exponents must not be further apart than sums have bits")
        return self._requantised((first << one - least) + (second << other - least), result - least)

    def _flat(self, source: Source, memory: Bytes) -> Array:
        """Return the values of an addition's source, in the shape of its result."""
        if not isinstance(source.layout, FullyConnectedDataLayout):
            return source.image(memory)
        return source.beats(memory).reshape(-1)[: source.layout.shape[0]]

    def _largest(self, memory: Bytes) -> Array:
        image = self.source.image(memory)
        largest: Array = self._views(image, 0 if self.padded else -np.inf).max(axis=(3, 4))
        return largest

    def _average(self, memory: Bytes) -> Array:
        image, window = self.source.image(memory), self.window
        assert window is not None
        inside = self._views(np.ones((1, *image.shape[1:]), dtype=np.int64))[0].sum(axis=(2, 3))
        count = np.maximum(inside, 1) if self.covered else window.positions
        views = self._views(image)
        if not self.integer:
            parts = views.reshape(*views.shape[:3], -1)
            sums = np.zeros(views.shape[:3])
            for position in range(parts.shape[3]):
                sums = self._plus(sums, parts[..., position])
            return shortened(sums / count, self.bits)
        up = self.exponents[0] - self.exponents[3]
        if abs(up) > _SUM_BITS:
            raise InputError("exponents must not be further apart than sums have bits")
        sums = views.sum(axis=(3, 4)).astype(np.int64)
        return self._limited(ROUNDINGS[self.rounding](sums << max(up, 0), count << max(-up, 0)))


def shortened(products: Array, bits: int) -> Array:
    """Return products as singles without some of their lowest bits."""
    if not bits:
        return products
    short = products.astype("<f4").view("<u4") & np.uint32(0xFFFFFFFF << bits & 0xFFFFFFFF)
    return short.view("<f4").astype(np.float64)
