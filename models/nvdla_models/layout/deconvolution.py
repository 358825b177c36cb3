"""Weights of deconvolution: the kernels are split by stride into sets that are direct convolutions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout.alignment import WEIGHT_START_ALIGNMENT_BYTES, Alignment
from nvdla_models.layout.kernel import Weight
from nvdla_models.layout.raw import (
    Array,
    ByteArray,
    BytesLike,
    check_array,
    check_index,
    check_size,
    checked_bytes,
    round_up,
)
from nvdla_models.layout.weight import WeightLayout
from nvdla_models.precision import Precision

#: Largest deconvolution stride: 5-bit fields that hold stride - 1.
MAX_DECONV_STRIDE = 32


@dataclass(frozen=True)
class DeconvolutionWeightLayout:
    """Weights of a deconvolution: stride_y * stride_x sets, each a direct convolution of stride 1.

    ::

        layout = DeconvolutionWeightLayout(config, Precision.INT8, (16, 33, 4, 4), stride=(2, 2))
        data = layout.pack(np.zeros((16, 33, 4, 4), np.int8))

    Set ``dy * stride_x + dx`` computes the output rows and columns that are (dy, dx) modulo the
    stride: it holds every stride-th row and column of the kernels, in reversed order, with zeros where
    the kernel ends early. Its input needs R' - 1 and S' - 1 lines of zero padding on every side. The
    outputs of the sets, appended along C, are what RUBIK contracts.

    Each set is a layer of its own, so each starts at a weight start address.

    Args:
        config: the build.
        precision: type of one weight.
        shape: real sizes (K, C, R, S).
        stride: deconvolution stride (y, x).

    Raises:
        InputError: for an impossible stride, or as WeightLayout.

    Source: format document, "Weight Format", set split for deconvolution; size of a set and order of
        the sets from the public architecture documentation, "Deconvolution" and "Contract".
    """

    config: HwConfig
    precision: Precision
    shape: tuple[int, int, int, int]
    stride: tuple[int, int]

    def __post_init__(self) -> None:
        if len(self.shape) != 4:
            raise InputError(f"shape must be (K, C, R, S), not {self.shape}")
        for name, stride in zip(("stride y", "stride x"), self.stride, strict=True):
            check_size(name, stride, MAX_DECONV_STRIDE)
        self.set_layout  # noqa: B018 - its constructor checks precision and sizes

    @property
    def sets(self) -> int:
        """Number of kernel sets, and of convolution layers."""
        return self.stride[0] * self.stride[1]

    @property
    def set_layout(self) -> WeightLayout:
        """Layout of one set: direct convolution of (K, C, ceil(R / stride_y), ceil(S / stride_x))."""
        kernels, channels, height, width = self.shape
        size = (kernels, channels, -(-height // self.stride[0]), -(-width // self.stride[1]))
        return WeightLayout(self.config, self.precision, size)

    @property
    def alignment(self) -> Alignment:
        """Alignment of the start address and size of each set."""
        return self.set_layout.alignment

    @property
    def set_stride_bytes(self) -> int:
        """Distance of two sets: a set rounded up to the alignment of weights in Table 35."""
        return round_up(self.set_layout.nbytes, WEIGHT_START_ALIGNMENT_BYTES)

    @property
    def nbytes(self) -> int:
        """Bytes of all sets, to the end of the last."""
        return (self.sets - 1) * self.set_stride_bytes + self.set_layout.nbytes

    def split(self, weights: Array) -> Array:
        """Return the kernel sets.

        Args:
            weights: (K, C, R, S) of the precision's dtype.

        Returns:
            (sets, K, C, R', S') of the same dtype.

        Raises:
            InputError: on another shape or dtype.
        """
        check_array("weights", weights, self.shape, self.precision.dtype)
        sets = np.zeros((self.sets, *self.set_layout.shape), dtype=weights.dtype)
        for number in range(self.sets):
            dy, dx = divmod(number, self.stride[1])
            taps = weights[:, :, dy :: self.stride[0], dx :: self.stride[1]]
            sets[number, :, :, : taps.shape[2], : taps.shape[3]] = taps
        return sets[..., ::-1, ::-1]

    def pack(self, weights: Array) -> ByteArray:
        """Return the memory bytes of all sets; between sets they are 0.

        Args:
            weights: (K, C, R, S) of the precision's dtype.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            InputError: on another shape or dtype.
        """
        check_array("weights", weights, self.shape, self.precision.dtype)
        raw = np.zeros(self.nbytes, dtype=np.uint8)
        planes = np.zeros(0, dtype=weights.dtype)
        for kernels, sets in self._batches(raw):
            part = weights[kernels]
            shape = (self.sets, *self.set_layout.shape[2:], *part.shape[:2])
            if planes.shape != shape:  # places beyond the kernel stay 0 from batch to batch
                planes = np.zeros(shape, dtype=part.dtype)
            for r, s, place in self._places():
                planes[place] = part[:, :, r, s]
            for chosen, groups in zip(planes, sets, strict=True):
                self.set_layout.write_planes(chosen, groups)
        return raw

    def unpack(self, data: BytesLike) -> Array:
        """Return the kernels (K, C, R, S) whose sets lie in ``data``; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        raw = checked_bytes(data, self.nbytes)
        weights = np.empty(self.shape, dtype=self.precision.dtype)
        for kernels, sets in self._batches(raw):
            part = weights[kernels]
            planes = np.empty((self.sets, *self.set_layout.shape[2:], *part.shape[:2]), dtype=part.dtype)
            for chosen, groups in zip(planes, sets, strict=True):
                self.set_layout.read_planes(groups, chosen)
            for r, s, place in self._places():
                part[:, :, r, s] = planes[place]
        return weights

    def offset(self, k: int, c: int, r: int, s: int) -> int:
        """Return the byte offset of a weight, in the coordinates of the original kernels.

        Raises:
            InputError: for coordinates outside the kernels.
        """
        for name, value, end in zip("kcrs", (k, c, r, s), self.shape, strict=True):
            check_index(name, value, end)
        row, dy = divmod(r, self.stride[0])
        column, dx = divmod(s, self.stride[1])
        number = dy * self.stride[1] + dx
        _, _, height, width = self.set_layout.shape
        inside = self.set_layout.offset(k, c, height - 1 - row, width - 1 - column)
        return number * self.set_stride_bytes + inside

    def element_at(self, offset_bytes: int) -> Weight | None:
        """Return the weight that the byte belongs to, or None in alignment and in zeros beyond the kernel.

        Raises:
            InputError: for an offset outside the layout.
        """
        check_index("offset_bytes", offset_bytes, self.nbytes)
        number, inside = divmod(offset_bytes, self.set_stride_bytes)
        found = self.set_layout.element_at(inside) if inside < self.set_layout.nbytes else None
        if found is None:
            return None
        _, _, height, width = self.set_layout.shape
        dy, dx = divmod(number, self.stride[1])
        r = (height - 1 - found.r) * self.stride[0] + dy
        s = (width - 1 - found.s) * self.stride[1] + dx
        return Weight(found.k, found.c, r, s) if r < self.shape[2] and s < self.shape[3] else None

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        return "\n".join(
            (
                f"weights for deconvolution, stride y={self.stride[0]} x={self.stride[1]}: "
                f"{self.sets} sets, {self.set_stride_bytes} bytes apart, {self.nbytes} bytes; each set:",
                self.set_layout.describe(),
            )
        )

    def _batches(self, raw: ByteArray) -> Iterator[tuple[slice, tuple[Array, ...]]]:
        """Yield kernels that are moved at once, and of each set their groups as views (groups, elements) of ``raw``."""
        size = self.set_layout.elements * self.precision.nbytes
        starts = range(0, self.sets * self.set_stride_bytes, self.set_stride_bytes)
        streams = [raw[start : start + size].view(self.precision.dtype) for start in starts]
        for batches in zip(*(self.set_layout.batches(stream) for stream in streams), strict=True):
            yield batches[0][0], tuple(groups for _, groups in batches)

    def _places(self) -> Iterator[tuple[int, int, tuple[int, int, int]]]:
        """Yield row and column of the kernels, and set, row and column of the same weight in the sets."""
        height, width = self.set_layout.shape[2:]
        for r in range(self.shape[2]):
            for s in range(self.shape[3]):
                row, dy = divmod(r, self.stride[0])
                column, dx = divmod(s, self.stride[1])
                yield r, s, (dy * self.stride[1] + dx, height - 1 - row, width - 1 - column)
