"""The convolution with SDP on the fly, and what PDP pools on the fly, as the explainer runs them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from nvdla_models import conv
from nvdla_models.arithmetic import Rules, Site
from nvdla_models.conv import AtomOrder, ConvParams
from nvdla_models.converter import Converter
from nvdla_models.errors import InputError
from nvdla_models.layout import ImageWeightLayout, PixelConversion, PixelLayout
from nvdla_models.precision import Precision
from nvdla_tb.explain.engines import EngineRun, PdpRun, SdpRun, patterns, seen_by_windows
from nvdla_tb.explain.kernels import WeightInput
from nvdla_tb.explain.memory import Bytes
from nvdla_tb.explain.walk import Cube, Walk


@dataclass(frozen=True)
class ImageInput:
    """An image in memory, and what becomes of its pixels.

    Attributes:
        layout: layout of the pixels.
        addresses: addresses of its planes.
        conversion: sign, mean and input converter.
        channels: order in which channels reach the convolution.
    """

    layout: PixelLayout
    addresses: tuple[int, ...]
    conversion: PixelConversion
    channels: tuple[int, ...]

    def read(self, memory: Bytes, precision: Precision, rules: Rules) -> Cube:
        """Return the cube in the convolution buffer, (C, H, W)."""
        planes = zip(self.addresses, self.layout.plane_nbytes, strict=True)
        raw = np.concatenate([memory.read(address, nbytes).data for address, nbytes in planes])
        cube = self.conversion.apply(self.layout.format, self.layout.unpack(raw), rules)
        return cube[list(self.channels)]


@dataclass(frozen=True)
class CubeInput:
    """A feature cube in memory, and its input converter.

    Attributes:
        walk: through the cube with its padding channels.
        channels: how many are multiplied; by Winograd whole atoms.
        converter: None when it is off.
    """

    walk: Walk
    channels: int
    converter: Converter | None

    def read(self, memory: Bytes, precision: Precision, rules: Rules) -> Cube:
        """Return the cube in the convolution buffer, (C, H, W)."""
        cube = self.walk.read(memory)[: self.channels]
        if self.converter is not None:
            cube = self.converter.convert(cube, precision, rules.at(Site.CDMA))
        return cube


Multipliers = Callable[[Cube, Cube], tuple[Cube, Cube]]
"""From data (C, H, W) and weights (K, C, R, S) of INT8 to those that are multiplied instead."""


def masked_lane(number: int, of: int, data: int, weight: int, cube: Cube, weights: Cube) -> tuple[Cube, Cube]:
    """Return data and weights of which one multiplier of every MAC cell takes some bits alone.

    Args:
        number: Number of the multiplier.
        of: Multipliers of a cell; channels go round among them.
        data: Mask of the data that it takes.
        weight: Mask of the weights.
        cube: (C, H, W) of INT8.
        weights: (K, C, R, S) of INT8.
    """
    cube, weights = cube.copy(), weights.copy()
    cube[number::of] &= np.int8(data)
    weights[:, number::of] &= np.int8(weight)
    return cube, weights


@dataclass(frozen=True)
class ConvRun(EngineRun):
    """A convolution with SDP on the fly.

    Attributes:
        source: the input.
        weights: the kernels.
        params: parameters of the model; padding after the input follows from ``out_size``.
        out_size: (H, W) of the output.
        padded_channels: channels of the output, in whole atoms.
        sdp: stages and output converter, whose walk is not used; None where the sums alone are asked for.
        shift: elements (down, right) that every window is displaced.
        signed: whether the multipliers take data, and kernels, of INT8 as signed numbers.
        lane: other multipliers; of direct convolutions of feature cubes of INT8.
        lost: lines and columns at the end of the input that count as padding.
    """

    source: CubeInput | ImageInput
    weights: WeightInput
    params: ConvParams
    out_size: tuple[int, int]
    padded_channels: int
    sdp: SdpRun | None
    shift: tuple[int, int] = (0, 0)
    signed: tuple[bool, bool] = (True, True)
    lane: Multipliers | None = None
    lost: tuple[int, int] = (0, 0)

    @property
    def work(self) -> int:
        """How much more an element takes than a copied one."""
        taps = int(np.prod(self.weights.shape[1:]))
        return 1 + taps // (4 if self.params.is_float else 256)

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (K, lines, W) with padding channels."""
        assert self.sdp is not None
        sums = self.sums(memory, rows, rules)
        padding = self.padded_channels - sums.shape[0]
        return self.sdp.finish(np.pad(sums, ((0, padding), (0, 0), (0, 0))), memory, rows, rules)

    def sums(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of what the convolution core hands to SDP, (K, lines, W)."""
        whole = self._aligned(rows)
        # They are the same for all faults after them.
        core = replace(self, sdp=None, padded_channels=0, out_size=(0, self.out_size[1]))
        sums = _sums(core, memory, whole.start, whole.stop, rules)
        return sums[:, rows.start - whole.start : rows.stop - whole.start]

    def _aligned(self, rows: slice) -> slice:
        """Return the lines that are computed for some: Winograd makes four at a time, and at least eight."""
        if not self.params.winograd:
            return rows
        start = max(0, min(rows.start // 4 * 4, self.out_size[0] - 8))
        return slice(start, min(self.out_size[0], max(-(-rows.stop // 4) * 4, start + 8)))


@lru_cache(maxsize=4)
def _sums(core: ConvRun, memory: Bytes, start_row: int, stop_row: int, rules: Rules) -> Cube:
    """Return some lines of what the convolution core hands to SDP, (K, lines, W)."""
    params = core.params
    cube = patterns(core.source.read(memory, params.precision, rules))
    cube = cube[:, : cube.shape[1] - core.lost[0], : cube.shape[2] - core.lost[1]]
    weights = patterns(core.weights.read(memory))
    dilated = tuple(
        # By Winograd, inputs are one line and column larger than what windows reach.
        (side - 1) * step + 1 + params.winograd
        for side, step in zip(weights.shape[2:], (params.dilation_y, params.dilation_x), strict=True)
    )
    top, left = core.shift[0] - params.pad_top, core.shift[1] - params.pad_left
    behind = (stop_row - 1) * params.stride_y + top + dilated[0]
    lines, down = seen_by_windows(start_row * params.stride_y + top, behind, cube.shape[1])
    behind = (core.out_size[1] - 1) * params.stride_x + left + dilated[1]
    columns, across = seen_by_windows(left, behind, cube.shape[2])
    # The register has 16 bits, of which numbers of 8 bits have the lower ones.
    pad_value = np.asarray(params.pad_value).astype(cube.dtype)
    cube = np.pad(cube[:, lines, columns], ((0, 0), down, across), constant_values=pad_value)
    if core.lane is not None:
        if params.precision is not Precision.INT8 or params.winograd or isinstance(core.source, ImageInput):
            raise InputError("lane must be of a direct convolution of an INT8 feature cube")
        cube, weights = core.lane(cube, weights)
    bare = replace(params, pad_left=0, pad_right=0, pad_top=0, pad_bottom=0)
    if not all(core.signed):
        if params.precision is not Precision.INT8:
            raise InputError("precision must be INT8 for unsigned numbers")
        # In 16 bits the numbers of both kinds have room, and the sums are the same.
        bare = replace(bare, precision=Precision.INT16)
        cube, weights = (_widened(*pair) for pair in zip((cube, weights), core.signed, strict=True))
    if not params.is_float:
        return conv.run(bare, cube, weights, rules)
    stored = core.weights.layout
    order = AtomOrder(stored.config.mac_atomic_c_size)
    if isinstance(stored, ImageWeightLayout):
        order = replace(order, image=True, line_group=stored.line_group)
    return conv.run_exact(bare, cube, weights, order)


def _widened(values: Cube, signed: bool) -> Cube:
    if not signed and values.dtype != np.int8:
        raise InputError("unsigned numbers must have 8 bits")
    widened: Cube = values.astype(np.int16) if signed else values.view(np.uint8).astype(np.int16)
    return widened


@dataclass(frozen=True)
class PooledRun(EngineRun):
    """SDP that hands its result to PDP.

    Attributes:
        producer: what SDP ends.
        pooling: what PDP does; its ``src`` says how large the cube between both is, and is not read.
    """

    producer: SdpRun | ConvRun
    pooling: PdpRun

    @property
    def work(self) -> int:
        """How much more an element takes than a copied one."""
        return self.producer.work * self.pooling.params.stride_x * self.pooling.params.stride_y

    def compute(self, memory: Bytes, rows: slice, rules: Rules) -> Cube:
        """Return some lines of the output, (C, lines, W) with padding channels."""
        return self.pooling.pool(lambda lines: self.producer.compute(memory, lines, rules), rows, rules)
