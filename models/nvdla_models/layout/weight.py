"""Weights of direct convolution and of image input."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from nvdla_models.errors import InputError
from nvdla_models.layout.atoms import BLOCK_ELEMENTS, as_words, kernels_to_planes, planes_to_kernels
from nvdla_models.layout.kernel import KernelLayout, Weight
from nvdla_models.layout.raw import Array, check_array


@dataclass(frozen=True)
class WeightLayout(KernelLayout):
    """Weights of direct convolution, and the order that all formats but Winograd extend.

    ::

        layout = WeightLayout(config, Precision.INT8, (16, 33, 3, 3))  # (K, C, R, S)
        data = layout.pack(np.zeros((16, 33, 3, 3), np.int8))

    A kernel is cut into 1x1xC' cubes of at most ATOMIC_C channels; in a group the order is C', K, W,
    H, C. ``line_group`` is the post-extension of image input: the cubes of so many neighbouring lines
    become one; lines left over form a smaller one.

    Raises:
        InputError: as KernelLayout, or for a line group that is not 1, 2 or 4, or too large.

    Source: format document, "Basic Weight for Direct Convolution" and "Weight Channel Post-extension
        for image input"; the 64 elements there are ATOMIC_C, measured as 8 on the public nv_small RTL.
    """

    line_group: int = 1

    @property
    def packed_shape(self) -> tuple[int, int, int, int]:
        """The shape of the kernels: direct convolution extends nothing."""
        return self.shape

    @property
    def cube_channels(self) -> int:
        """Channels of a full 1x1xC' cube."""
        return self.config.mac_atomic_c_size

    def _check_order(self) -> None:
        if self.line_group not in (1, 2, 4):
            raise InputError(f"line_group must be 1, 2 or 4, not {self.line_group}")
        most = self.cube_channels // self.line_group
        if self.line_group > 1 and self.packed_shape[1] > most:
            raise InputError(
                f"extended channels must be at most {most} with {self.line_group}-line post-extension, "
                f"not {self.packed_shape[1]}"
            )

    def _title(self) -> str:
        return "weights for direct convolution"

    def write_groups(self, kernels: Array, groups: Array) -> None:
        """Write (K, C, R, S) kernels of groups of one size into their elements, (groups, elements)."""
        self.write_planes(kernels_to_planes(kernels), groups)

    def read_groups(self, groups: Array, kernels: Array) -> None:
        """Read (K, C, R, S) kernels of groups of one size from their elements, (groups, elements)."""
        count, channels, height, width = kernels.shape
        if height * width == 1:
            self.read_planes(groups, kernels.transpose(2, 3, 0, 1))
            return
        planes = np.empty((height, width, count, channels), dtype=kernels.dtype)
        self.read_planes(groups, planes)
        planes_to_kernels(planes, kernels)

    def write_planes(self, planes: Array, groups: Array) -> None:
        """Write kernels as (R, S, K, C) planes into the elements of their groups."""
        for cubes, run in self._runs(planes, groups):
            run[...] = cubes

    def read_planes(self, groups: Array, planes: Array) -> None:
        """Read kernels as (R, S, K, C) planes from the elements of their groups."""
        for cubes, run in self._runs(planes, groups):
            cubes[...] = run

    def position(self, k: int, c: int, r: int, s: int) -> int:
        """Return the index in the stream of an element of ``packed_shape``."""
        _, channels, height, width = self.packed_shape
        group = k // self.kernels_per_group
        kernels = min(self.kernels_per_group, self.shape[0] - group * self.kernels_per_group)
        block, step = c // self.cube_channels, r // self.line_group
        cube = min(self.cube_channels, channels - block * self.cube_channels)
        lines = min(self.line_group, height - step * self.line_group)
        before = block * self.cube_channels * height * width * kernels + step * self.line_group * width * cube * kernels
        cubes = s * kernels + k % self.kernels_per_group
        inside = (r % self.line_group) * cube + c % self.cube_channels
        return group * self.kernels_per_group * self.kernel_elements + before + cubes * lines * cube + inside

    def weight_at(self, position: int) -> Weight:
        """Return the element of ``packed_shape`` at an index of the stream."""
        _, channels, height, width = self.packed_shape
        first, kernels, rest = self.split_group(position)
        block, rest = divmod(rest, self.cube_channels * height * width * kernels)
        cube = min(self.cube_channels, channels - block * self.cube_channels)
        step, rest = divmod(rest, self.line_group * width * cube * kernels)
        lines = min(self.line_group, height - step * self.line_group)
        s, rest = divmod(rest, kernels * lines * cube)
        k, rest = divmod(rest, lines * cube)
        line, c = divmod(rest, cube)
        return Weight(first + k, block * self.cube_channels + c, step * self.line_group + line, s)

    def _runs(self, planes: Array, groups: Array) -> Iterator[tuple[Array, Array]]:
        """Yield each part of the groups as views (groups, blocks, steps, W, K, lines, C') of planes and memory."""
        height, width, kernels, channels = planes.shape
        count = len(groups)
        at = 0
        # In the order of memory: full blocks before the last, and in each the full steps before the last.
        parts = product(_cut(channels, self.cube_channels), _cut(height, self.line_group))
        for (channel, block, blocks), (line, lines, steps) in parts:
            axes = (count, blocks, steps, width, kernels // count, lines, block)
            size = math.prod(axes[1:])
            run = groups[:, at : at + size].reshape(axes)
            at += size
            chosen = planes[line : line + steps * lines, :, :, channel : channel + blocks * block]
            axes = (steps, lines, width, count, kernels // count, blocks, block)
            cubes = chosen.reshape(axes).transpose(3, 5, 0, 2, 4, 1, 6)
            yield as_words(cubes), as_words(run)


@dataclass(frozen=True)
class ImageWeightLayout(WeightLayout):
    """Weights of image input: all columns of a line become channels, then as direct convolution.

    ::

        layout = ImageWeightLayout(config, Precision.INT8, (16, 4, 3, 3))
        data = layout.pack(layout.pre_extend(np.zeros((16, 4, 3, 3), np.int8)))

    ``pack`` takes the pre-extended kernels (K, S*C, R, 1): see ``pre_extend``. The extended channel is
    ``s * C + c``, the order of the pixels in a line. Post-extension is ``line_group``.

    Source: format document, "Basic Weight for image input", figure 14, and "Weight Channel
        Post-extension for image input", figure 16; measured on the public nv_small RTL.
    """

    @property
    def packed_shape(self) -> tuple[int, int, int, int]:
        """The kernels after channel pre-extension: (K, S*C, R, 1)."""
        kernels, channels, height, width = self.shape
        return kernels, width * channels, height, 1

    def _title(self) -> str:
        return f"weights for image input, {self.line_group}-line post-extension"

    def pre_extend(self, weights: Array) -> Array:
        """Return kernels with every line turned into one column of S*C channels.

        Args:
            weights: (K, C, R, S) of the precision's dtype.

        Returns:
            (K, S*C, R, 1) of the same dtype.

        Raises:
            InputError: on another shape or dtype.

        Source: format document, figure 14.
        """
        check_array("weights", weights, self.shape, self.precision.dtype)
        kernels, channels, height, width = self.shape
        planes = np.empty((height, kernels, width, channels), dtype=weights.dtype)
        for c, r, run in self._columns():
            planes[r, run, :, c] = weights[run, c, r]
        return planes.reshape(height, kernels, -1, 1).transpose(1, 2, 0, 3)

    def original(self, extended: Array) -> Array:
        """Return the kernels (K, C, R, S) that ``pre_extend`` made ``extended`` from.

        Raises:
            InputError: on another shape or dtype.
        """
        check_array("extended", extended, self.packed_shape, self.precision.dtype)
        kernels, channels, height, width = self.shape
        lines = extended.transpose(2, 0, 1, 3).reshape(height, kernels, width, channels)
        weights = np.empty(self.shape, dtype=extended.dtype)
        for c, r, run in self._columns():
            weights[run, c, r] = lines[r, run, :, c]
        return weights

    def from_stream(self, stream: Array) -> Array:
        """Return the array of ``packed_shape`` whose memory order is ``stream``; its lines are contiguous."""
        kernels, channels, height, width = self.packed_shape
        planes = np.empty((height, width, kernels, channels), dtype=stream.dtype)
        for chosen, groups in self.batches(stream):
            self.read_planes(groups, planes[:, :, chosen])
        return planes.transpose(2, 3, 0, 1)

    def _columns(self) -> Iterator[tuple[int, int, slice]]:
        """Yield channel, row and a run of kernels: elements that lie along a column index in both shapes."""
        kernels, channels, height, width = self.shape
        step = max(1, BLOCK_ELEMENTS // (channels * width))
        for first in range(0, kernels, step):
            for r in range(height):
                for c in range(channels):
                    yield c, r, slice(first, first + step)


def _cut(total: int, size: int) -> Iterator[tuple[int, int, int]]:
    """Yield first, size and number of the whole parts of something, then of the one that is left, if any."""
    whole = total // size
    if whole:
        yield 0, size, whole
    if total % size:
        yield whole * size, total % size, 1
