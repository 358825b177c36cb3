"""The convolution as the explainer runs it, with SDP on the fly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from models import conv
from models.conv import ConvParams
from models.converter import Converter
from models.layout import ImageWeightLayout, PixelConversion, PixelLayout, WeightLayout
from models.precision import Precision
from tb.explain.engines import SdpRun
from tb.explain.memory import Bytes
from tb.explain.walk import Cube, Walk

WEIGHT_ORDERS = ("as they are", "R and S swapped", "K and C swapped", "R reversed", "S reversed")
"""What may happen to kernels (K, C, R, S) between memory and the multipliers."""


@dataclass(frozen=True)
class ImageInput:
    """An image in memory, and what becomes of its pixels.

    Attributes:
        layout: of the pixels.
        addresses: of its planes.
        conversion: sign, mean and input converter.
        channels: order in which channels reach the convolution.
    """

    layout: PixelLayout
    addresses: tuple[int, ...]
    conversion: PixelConversion
    channels: tuple[int, ...]

    def read(self, memory: Bytes, precision: Precision) -> Cube:
        """Return the cube in the convolution buffer, (C, H, W)."""
        del precision
        planes = zip(self.addresses, self.layout.plane_nbytes, strict=True)
        raw = np.concatenate([memory.read(address, nbytes).data for address, nbytes in planes])
        cube = self.conversion.apply(self.layout.format, self.layout.unpack(raw))
        return cube[list(self.channels)]


@dataclass(frozen=True)
class CubeInput:
    """A feature cube in memory, and its input converter.

    Attributes:
        walk: through the cube with its padding channels.
        channels: how many are real.
        converter: None when it is off.
        unsigned: whether elements are taken as unsigned numbers.
    """

    walk: Walk
    channels: int
    converter: Converter | None
    unsigned: bool = False

    def read(self, memory: Bytes, precision: Precision) -> Cube:
        """Return the cube in the convolution buffer, (C, H, W)."""
        cube = self.walk.read(memory)[: self.channels]
        if self.unsigned:
            cube = cube.astype(np.int32) & ((1 << (8 * self.walk.dtype.itemsize)) - 1)
            cube = np.minimum(cube, precision.limits[1]).astype(self.walk.dtype)
        if self.converter is not None:
            cube = self.converter.convert(cube, precision)
        return cube


@dataclass(frozen=True)
class WeightInput:
    """Weights in memory.

    Attributes:
        layout: in which they are read.
        address: of the first.
        order: one of ``WEIGHT_ORDERS``.
        shape: (K, C, R, S) that the multipliers see.
    """

    layout: WeightLayout
    address: int
    order: str
    shape: tuple[int, int, int, int]

    def read(self, memory: Bytes) -> Cube:
        """Return the kernels (K, C, R, S).

        Raises:
            ValueError: when the order does not fit the shape.
        """
        weights = self.layout.unpack(memory.read(self.address, self.layout.nbytes).data)
        if isinstance(self.layout, ImageWeightLayout):
            weights = self.layout.original(weights)
        match self.order:
            case "R and S swapped":
                weights = weights.transpose(0, 1, 3, 2)
            case "K and C swapped":
                weights = weights.transpose(1, 0, 2, 3)
            case "R reversed":
                weights = weights[:, :, ::-1]
            case "S reversed":
                weights = weights[:, :, :, ::-1]
        return np.ascontiguousarray(weights.reshape(self.shape))


@dataclass(frozen=True)
class ConvRun:
    """A convolution with SDP on the fly.

    Attributes:
        source: the input.
        weights: the kernels.
        params: of the model; padding behind the input follows from ``out_size``.
        out_size: (H, W) of the output.
        padded_channels: of the output, in whole atoms.
        sdp: stages and output converter; its walk is not used.
        shift: elements (down, right) that every window is displaced.
    """

    source: CubeInput | ImageInput
    weights: WeightInput
    params: ConvParams
    out_size: tuple[int, int]
    padded_channels: int
    sdp: SdpRun
    shift: tuple[int, int] = (0, 0)

    def compute(self, memory: Bytes, rows: slice) -> Cube:
        """Return some lines of the output, (K, lines, W) with padding channels."""
        params = self.params
        cube = self.source.read(memory, params.precision)
        weights = self.weights.read(memory)
        dilated = tuple(
            (side - 1) * step + 1
            for side, step in zip(weights.shape[2:], (params.dilation_y, params.dilation_x), strict=True)
        )
        first = rows.start * params.stride_y - params.pad_top + self.shift[0]
        behind = (rows.stop - 1) * params.stride_y - params.pad_top + self.shift[0] + dilated[0]
        left = self.shift[1] - params.pad_left
        right = (self.out_size[1] - 1) * params.stride_x + left + dilated[1]
        top, bottom = max(first, 0), min(behind, cube.shape[1])
        start, stop = max(left, 0), min(right, cube.shape[2])
        if top >= bottom or start >= stop:
            raise ValueError("windows must touch the cube")
        cube = np.pad(
            cube[:, top:bottom, start:stop],
            ((0, 0), (top - first, behind - bottom), (start - left, right - stop)),
            constant_values=params.pad_value,
        )
        bare = replace(params, pad_left=0, pad_right=0, pad_top=0, pad_bottom=0)
        sums = conv.run(bare, cube, weights)
        padding = self.padded_channels - sums.shape[0]
        return self.sdp.finish(np.pad(sums, ((0, padding), (0, 0), (0, 0))), memory, rows)
