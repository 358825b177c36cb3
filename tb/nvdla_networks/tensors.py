"""Tensors in memory as software sees them: channels in atoms of any size, or pixels, with strides in bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nvdla_models.layout import PixelLayout
from nvdla_models.precision import Precision
from nvdla_networks.errors import NetworkError
from nvdla_tb.nvdla.memory import Ram


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
