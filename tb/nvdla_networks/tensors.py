"""Tensors in memory as software sees them: channels in atoms of any size, or pixels, with strides in bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import PixelLayout
from nvdla_models.precision import Precision
from nvdla_networks.errors import NetworkError
from nvdla_tb.nvdla.memory import Ram


@dataclass(frozen=True)
class Order:
    """The order in which a file has the elements of a cube: its axes, or parts of them, another way round.

    Example:
        channels_last = Order.of((3, 224, 224), (1, 2, 0))
        values = channels_last.values(cube).reshape(1, 224, 224, 3)

    Attributes:
        sizes: Sizes of the axes as the elements of the cube lie, (C, H, W); axes that stay together are one.
        axes: These axes, as the file has them.
    """

    sizes: tuple[int, ...] = ()
    axes: tuple[int, ...] = ()

    @classmethod
    def of(cls, sizes: Sequence[int], axes: Sequence[int]) -> Order:
        """Return the order that takes axes of these sizes as ``axes`` says, without those of one element."""
        kept = [axis for axis in axes if sizes[axis] > 1]
        rank = {axis: number for number, axis in enumerate(sorted(kept))}
        runs: list[list[int]] = []
        for axis in kept:
            if runs and rank[axis] == rank[runs[-1][-1]] + 1:
                runs[-1].append(axis)
            else:
                runs.append([axis])
        whole = sorted(runs)
        lengths = tuple(math.prod(sizes[axis] for axis in run) for run in whole)
        return cls(lengths, tuple(whole.index(run) for run in runs))

    @property
    def is_plain(self) -> bool:
        """Whether the file has the elements as they lie in the cube."""
        return len(self.axes) <= 1

    @property
    def inverse(self) -> Order:
        """The order in which the cube has the elements of the file."""
        sizes = tuple(self.sizes[axis] for axis in self.axes)
        return Order(sizes, tuple(self.axes.index(axis) for axis in range(len(self.axes))))

    def values(self, cube: NDArray[Any]) -> NDArray[Any]:
        """Return the elements of a cube in the order of the file, flat."""
        return cube.reshape(self.sizes).transpose(self.axes).ravel()

    def cube(self, values: NDArray[Any], shape: tuple[int, int, int]) -> NDArray[Any]:
        """Return a value of the file, of any shape, as a cube (C, H, W)."""
        return self.inverse.values(values).reshape(shape)

    def transposed(self, sizes: Sequence[int], perm: Sequence[int]) -> Order | None:
        """Return the order after a Transpose of an array with these sizes, None where its axes are no parts of ours."""
        axes: list[tuple[tuple[int, ...], int]] = [((axis,), self.sizes[axis]) for axis in self.axes]
        groups: list[list[tuple[tuple[int, ...], int]]] = []
        for size in sizes:
            groups.append([])
            while size > 1:
                key, length = axes.pop(0)
                if size % length:
                    # Only a part of this axis; the keys of both parts are in the order of the cube.
                    if length % size:
                        return None
                    axes.insert(0, ((*key, 1), length // size))
                    key, length = (*key, 0), size
                size //= length
                groups[-1].append((key, length))
        parts = sorted(part for group in groups for part in group)
        return Order.of([length for _, length in parts], [parts.index(part) for at in perm for part in groups[at]])


@dataclass(frozen=True)
class Tensor:
    """A cube (C, H, W) in memory.

    Example:
        digits = Tensor("data", Ram.MC, 0x80000000, Precision.INT8, 8, (1, 28, 28), 224, 6272)
        memory[: digits.nbytes] = digits.pack(array)

    Attributes:
        name: Its name in the network.
        ram: Memory port.
        address: First byte.
        precision: Type of an element.
        atom_bytes: Bytes of an atom; software may take another size than the hardware.
        shape: (C, H, W).
        line_stride_bytes: From one line to the next.
        surface_stride_bytes: From one surface to the next. Elements may overlap: tests of the public driver read
            cubes of the smallest configuration as if their atoms had 32 bytes.
        scale: Value of an integer; None where the file does not say.
        range: The least and the most real number that it may hold; None where there is no bound.
        order: How the file has its elements; None as they lie in the cube.
    """

    name: str
    ram: Ram
    address: int
    precision: Precision
    atom_bytes: int
    shape: tuple[int, int, int]
    line_stride_bytes: int
    surface_stride_bytes: int
    scale: float | None = None
    range: tuple[float, float] | None = None
    order: Order | None = None

    @property
    def lanes(self) -> int:
        """Channels in an atom."""
        return self.atom_bytes // self.precision.nbytes

    @property
    def surfaces(self) -> int:
        """Number of surfaces."""
        return -(-self.shape[0] // self.lanes)

    @property
    def nbytes(self) -> int:
        """Bytes from the first element to the end of the last."""
        _, height, width = self.shape
        rest = (height - 1) * self.line_stride_bytes + (width - 1) * self.atom_bytes
        return int(self._of_channel().max()) + rest + self.precision.nbytes

    def cube(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a value of the file, of any shape and type, as a cube (C, H, W)."""
        return values.reshape(self.shape) if self.order is None else self.order.cube(values, self.shape)

    def unpack(self, data: NDArray[np.uint8]) -> NDArray[Any]:
        """Return the elements that lie in ``nbytes`` bytes of memory or more, (C, H, W), FP16 as float16."""
        offsets = self._offsets()[..., np.newaxis] + np.arange(self.precision.nbytes)
        elements: NDArray[Any] = data[offsets].view(self.precision.dtype)[..., 0]
        return elements

    def place(self, data: NDArray[np.uint8], values: NDArray[Any]) -> None:
        """Write elements where they belong and leave all other bytes.

        Args:
            data: ``nbytes`` bytes or more, uint8; changed.
            values: (C, H, W) of the tensor's type.

        Raises:
            NetworkError: for values of another shape or type, and where elements overlap.
        """
        self._check_apart()
        dtype = self.precision.dtype
        if values.shape != self.shape or values.dtype != dtype:
            raise NetworkError(f"tensor {self.name!r} must be {dtype} {self.shape}, not {values.dtype} {values.shape}")
        offsets = self._offsets()[..., np.newaxis] + np.arange(self.precision.nbytes)
        data[offsets] = np.ascontiguousarray(values)[..., np.newaxis].view(np.uint8)

    def _check_apart(self) -> None:
        _, height, width = self.shape
        line = (width - 1) * self.atom_bytes + self.precision.nbytes
        for size, name, stride in (
            (height, "line", self.line_stride_bytes),
            (self.surfaces, "surface", self.surface_stride_bytes),
        ):
            if size > 1 and stride < line:
                raise NetworkError(
                    f"tensor {self.name!r}: {name} stride must be at least {line} bytes for values to be written, "
                    f"not {stride}"
                )

    def _of_channel(self) -> NDArray[np.int64]:
        channels = np.arange(self.shape[0], dtype=np.int64)
        return channels // self.lanes * self.surface_stride_bytes + channels % self.lanes * self.precision.nbytes

    def _offsets(self) -> NDArray[np.int64]:
        """Return where each element begins, (C, H, W)."""
        height, width = (np.arange(size, dtype=np.int64) for size in self.shape[1:])
        of_line, of_column = height * self.line_stride_bytes, width * self.atom_bytes
        return self._of_channel()[:, np.newaxis, np.newaxis] + of_line[:, np.newaxis] + of_column


@dataclass(frozen=True)
class ImageTensor:
    """An input whose pixels lie in memory in one of the hardware's image formats.

    Attributes:
        name: Its name in the network.
        ram: Memory port.
        address: First byte.
        precision: Type of an element, as the network counts it.
        shape: (C, H, W); channels of the format beyond C are 0.
        layout: Where the pixels lie, all channels of the format among them.
        planes: Where each plane begins, in bytes from the address.
        scale: None: a loadable does not say what an integer is worth.
        range: None likewise.
    """

    name: str
    ram: Ram
    address: int
    precision: Precision
    shape: tuple[int, int, int]
    layout: PixelLayout
    planes: tuple[int, ...]
    scale: None = None
    range: None = None

    @property
    def nbytes(self) -> int:
        """Bytes from the first to the end of the last."""
        return max(start + nbytes for start, nbytes in zip(self.planes, self.layout.plane_nbytes, strict=True))

    def place(self, data: NDArray[np.uint8], values: NDArray[Any]) -> None:
        """Write elements where they belong and leave all other bytes.

        Args:
            data: ``nbytes`` bytes or more, uint8; changed.
            values: (C, H, W) of the type of the network or of the format.

        Raises:
            NetworkError: for values of another shape or type.
            InputError: for an element of more bits than the format has.
        """
        dtype = self.layout.format.element_dtype
        if values.shape != self.shape or values.dtype not in (dtype, self.precision.dtype):
            raise NetworkError(f"tensor {self.name!r} must be {dtype} {self.shape}, not {values.dtype} {values.shape}")
        pixels = np.zeros(self.layout.shape, dtype=dtype)
        pixels[: len(values)] = np.ascontiguousarray(values).view(dtype)
        raw = self.layout.pack(pixels)
        for start, at, nbytes in zip(self.planes, self.layout.plane_offsets, self.layout.plane_nbytes, strict=True):
            data[start : start + nbytes] = raw[at : at + nbytes]
