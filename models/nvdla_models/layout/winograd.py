"""Weights of Winograd convolution: channel extension, conversion to 4x4, cubes of 4x4x4 elements."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from nvdla_models.errors import InputError, LackingError
from nvdla_models.layout.atoms import as_words
from nvdla_models.layout.kernel import KernelLayout, Weight
from nvdla_models.layout.raw import Array, check_array, round_up
from nvdla_models.precision import Precision

#: The matrix G of U = G W Gt.
G_MATRIX = np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]], dtype=np.float64)
G_MATRIX.flags.writeable = False

#: Side of a converted kernel, and channels of a small cube.
CUBE_SIDE = 4

#: Side of a kernel after channel extension, the only one that the hardware has.
KERNEL_SIDE = 3

#: Largest convolution stride: 3-bit fields that hold stride - 1.
MAX_CONV_STRIDE = 8


@dataclass(frozen=True)
class WinogradWeightLayout(KernelLayout):
    """Weights of Winograd convolution.

    ::

        layout = WinogradWeightLayout(config, Precision.INT8, (16, 32, 3, 3))
        data = layout.pack(layout.convert(np.zeros((16, 32, 3, 3), np.int8)))

    ``shape`` is the original (K, C, R, S); ``convert`` makes the (K, C', 4, 4) that ``pack`` takes. The
    extended channel is ``(dy * stride_x + dx) * Cp + c`` with Cp the channels rounded up to whole atoms
    and (dy, dx) the place of the row and column inside the stride. A group holds the 4x4x4 cubes of all its
    kernels for the first four channels, then those for the next four, and so on; inside a cube the
    channel is fastest, then W, then H.

    Args:
        stride: convolution stride (y, x).

    Raises:
        InputError: as KernelLayout, or when the build has no Winograd, or the kernel is not 3x3 after
            extension.

    Source: format document, "Basic Weight for Winograd Convolution", figure 15; the order inside a
        cube measured on the public nv_full RTL; the order of extension from the C model of the same.
    """

    stride: tuple[int, int] = (1, 1)

    @property
    def padded_channels(self) -> int:
        """C rounded up to whole atoms of 1x1x32 bytes."""
        return round_up(self.shape[1], self.config.atom_elements(self.precision))

    @property
    def packed_shape(self) -> tuple[int, int, int, int]:
        """The converted kernels: (K, extended channels, 4, 4)."""
        return self.shape[0], self.padded_channels * self.stride[0] * self.stride[1], CUBE_SIDE, CUBE_SIDE

    def _check_order(self) -> None:
        if not self.config.winograd_enable:
            raise LackingError(f"weights must not be for Winograd: {self.config.name} has none")
        for name, stride in zip(("stride y", "stride x"), self.stride, strict=True):
            if not 1 <= stride <= MAX_CONV_STRIDE:
                raise InputError(f"{name} must be 1 to {MAX_CONV_STRIDE}, not {stride}")
        for name, size, stride in zip(("height", "width"), self.shape[2:], self.stride, strict=True):
            least, most = (KERNEL_SIDE - 1) * stride + 1, KERNEL_SIDE * stride
            if not least <= size <= most:
                raise InputError(f"kernel {name} must be {least} to {most} with stride {stride}, not {size}")

    def _title(self) -> str:
        return f"weights for Winograd convolution, stride y={self.stride[0]} x={self.stride[1]}"

    def extend(self, weights: Array) -> Array:
        """Return 3x3 kernels: rows and columns of one stride become channels, missing ones are 0.

        Args:
            weights: original (K, C, R, S) of the precision's dtype.

        Returns:
            (K, extended channels, 3, 3) of the same dtype.

        Raises:
            InputError: on another shape or dtype.

        Source: format document, figure 15.
        """
        check_array("weights", weights, self.shape, self.precision.dtype)
        kernels, channels, height, width = self.shape
        stride_y, stride_x = self.stride
        padded = np.zeros(
            (kernels, self.padded_channels, KERNEL_SIDE * stride_y, KERNEL_SIDE * stride_x), dtype=weights.dtype
        )
        padded[:, :channels, :height, :width] = weights
        split = padded.reshape(kernels, -1, KERNEL_SIDE, stride_y, KERNEL_SIDE, stride_x)
        return split.transpose(0, 3, 5, 1, 2, 4).reshape(kernels, -1, KERNEL_SIDE, KERNEL_SIDE)

    def convert(self, weights: Array, scale: float = 1.0) -> Array:
        """Return the converted kernels U = scale * G W Gt, rounded once to the precision.

        The conversion is software's. It is computed in float64 and rounded to nearest, ties to even.

        Args:
            weights: original (K, C, R, S) of the precision's dtype.
            scale: factor that keeps U in range.

        Returns:
            ``packed_shape`` of the precision's dtype.

        Raises:
            InputError: on another shape or dtype, on NaN or infinity, and when U leaves the precision.

        Source: format document, "Basic Weight for Winograd Convolution", steps of phase 1.
        """
        extended = self.extend(weights).astype(np.float64)
        if not np.isfinite(extended).all():
            raise InputError("weights must be finite for the Winograd conversion")
        exact = scale * (G_MATRIX @ extended @ G_MATRIX.T)
        limits = np.finfo(np.float16) if self.precision is Precision.FP16 else np.iinfo(self.precision.dtype)
        rounded = exact if self.precision is Precision.FP16 else np.rint(exact)
        low, high = float(limits.min), float(limits.max)
        outside = (rounded < low) | (rounded > high)
        if outside.any():
            raise InputError(
                f"converted weights must be {low:g} to {high:g} for {self.precision.name}, "
                f"not {rounded[outside].flat[0]:g}: lower the scale (winograd_scale)"
            )
        return rounded.astype(self.precision.dtype)

    def write_groups(self, kernels: Array, groups: Array) -> None:
        """Write (K, C, 4, 4) kernels of groups of one size into their elements, (groups, elements)."""
        cubes = np.empty((kernels.size // CUBE_SIDE, CUBE_SIDE), dtype=kernels.dtype)
        rows = _places_as_word(np.ascontiguousarray(kernels))
        for channel in range(CUBE_SIDE):
            cubes[:, channel] = np.ascontiguousarray(rows[:, channel]).view(kernels.dtype)
        self._cubes(groups, len(kernels))[...] = as_words(self._by_kernel(cubes, groups)).swapaxes(1, 2)

    def read_groups(self, groups: Array, kernels: Array) -> None:
        """Read (K, C, 4, 4) kernels of groups of one size from their elements, (groups, elements)."""
        cubes = np.empty((kernels.size // CUBE_SIDE, CUBE_SIDE), dtype=kernels.dtype)
        as_words(self._by_kernel(cubes, groups))[...] = self._cubes(groups, len(kernels)).swapaxes(1, 2)
        rows = _places_as_word(kernels)
        for channel in range(CUBE_SIDE):
            rows[:, channel] = np.ascontiguousarray(cubes[:, channel]).view(rows.dtype)

    def position(self, k: int, c: int, r: int, s: int) -> int:
        """Return the index in the stream of an element of ``packed_shape``."""
        group, inside = divmod(k, self.kernels_per_group)
        kernels = min(self.kernels_per_group, self.shape[0] - group * self.kernels_per_group)
        cubes = c // CUBE_SIDE * kernels + inside
        element = (r * CUBE_SIDE + s) * CUBE_SIDE + c % CUBE_SIDE
        return group * self.kernels_per_group * self.kernel_elements + cubes * CUBE_SIDE**3 + element

    def weight_at(self, position: int) -> Weight:
        """Return the element of ``packed_shape`` at an index of the stream."""
        first, kernels, rest = self.split_group(position)
        cube, rest = divmod(rest, CUBE_SIDE**3)
        block, k = divmod(cube, kernels)
        r, rest = divmod(rest, CUBE_SIDE**2)
        s, c = divmod(rest, CUBE_SIDE)
        return Weight(first + k, block * CUBE_SIDE + c, r, s)

    def _by_kernel(self, cubes: Array, groups: Array) -> Array:
        """View cubes in the order of the kernels as (groups, K, C/4, 64)."""
        return cubes.reshape(len(groups), -1, self.packed_shape[1] // CUBE_SIDE, CUBE_SIDE**3)

    @staticmethod
    def _cubes(groups: Array, kernels: int) -> Array:
        """View the elements of groups as (groups, C/4, K, 1): cubes in memory order, one word each."""
        return as_words(groups.reshape(len(groups), -1, kernels // len(groups), CUBE_SIDE**3))


def _places_as_word(kernels: Array) -> Array:
    """View contiguous (K, C, 4, 4) kernels as (cubes, 4): all places of one channel are one word."""
    return as_words(kernels.reshape(-1, CUBE_SIDE, CUBE_SIDE**2))[..., 0]
