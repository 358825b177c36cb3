"""Data of the Deep Learning HDL processor in its external memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from nvdla_models.errors import InputError
from nvdla_models.layout.atom_cube import AtomGrid, Element
from nvdla_models.layout.atoms import atoms_to_cube, cube_to_atoms
from nvdla_models.layout.raw import Array, ByteArray, BytesLike, MaskArray, check_array, check_index, checked_bytes


class DlhdlType(Enum):
    """Type of one value in memory: single, or int8 of one byte."""

    SINGLE = "single"
    INT8 = "int8"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The little-endian dtype of one value."""
        return np.dtype("<f4" if self is DlhdlType.SINGLE else "i1")


def thread_number(conv_thread_number: int) -> int:
    """Return the thread number C of a processor: the square root of ConvThreadNumber.

    Raises:
        InputError: when it is no square.

    Source: external memory data format document, "Thread number".
    """
    root = math.isqrt(max(conv_thread_number, 0))
    if root < 1 or root * root != conv_thread_number:
        raise InputError(f"ConvThreadNumber must be the square of a positive integer, not {conv_thread_number}")
    return root


def parallel_transfer_number(threads: int) -> int:
    """Return the parallel transfer data number N: the power of two that is not below C.

    Source: external memory data format document, "Parallel transfer data number".
    """
    if threads < 1:
        raise InputError(f"threads must be at least 1, not {threads}")
    return 1 << (threads - 1).bit_length()


@dataclass(frozen=True)
class ConvolutionDataLayout:
    """Input or output of the convolution module.

    The features are cut into blocks of C, each padded with zeros to N; the N of a pixel come first, then
    the pixels of a row, then the rows, then the blocks.

    Args:
        data_type: single or int8.
        shape: (Z, Y, X): features, rows, pixels of a row.
        threads: thread number C.

    Raises:
        InputError: for sizes below 1.

    Source: external memory data format document, "Convolution Module External Memory Data Format",
        "Data Padding for Power of Two Thread Numbers", "Data Padding for Non-Power of Two Thread
        Numbers", "Read Convolution Module Output Data from External Memory", "Calculation of Output
        Memory Size".
    """

    data_type: DlhdlType
    shape: tuple[int, int, int]
    threads: int

    def __post_init__(self) -> None:
        if len(self.shape) != 3:
            raise InputError(f"shape must be (Z, Y, X), not {self.shape}")
        for name, value in zip(("features", "rows", "row pixels"), self.shape, strict=True):
            if value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        parallel_transfer_number(self.threads)

    @property
    def parallel(self) -> int:
        """Parallel transfer data number N."""
        return parallel_transfer_number(self.threads)

    @property
    def blocks(self) -> int:
        """Blocks of C features, the last possibly partial."""
        return -(-self.shape[0] // self.threads)

    @property
    def elements(self) -> int:
        """Values in memory, padding included: dimension1 * dimension2 * ceil(Z / C) * N."""
        return self.shape[1] * self.shape[2] * self.blocks * self.parallel

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self.elements * self.data_type.dtype.itemsize

    @property
    def grid(self) -> AtomGrid:
        """The values as a cube with beats for atoms, whose padding lanes are channels, too."""
        _, rows, pixels = self.shape
        dtype = self.data_type.dtype
        beat = self.parallel * dtype.itemsize
        shape = (self.blocks * self.parallel, rows, pixels)
        return AtomGrid(shape, (rows * pixels * beat, pixels * beat, beat), self.parallel, dtype)

    def written_mask(self) -> MaskArray:
        """Return which bytes are written: all, as padding is 0.

        Returns:
            bool of length ``nbytes``.
        """
        return np.ones(self.nbytes, dtype=np.bool_)

    def pack(self, image: Array) -> ByteArray:
        """Return the memory bytes of an image; padding is 0.

        Args:
            image: (Z, Y, X) of the type's dtype.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            InputError: on another shape or dtype.
        """
        check_array("image", image, self.shape, self.data_type.dtype)
        raw = np.empty(self.nbytes, dtype=np.uint8)
        cube_to_atoms(image, self._atoms(raw), self.threads)
        return raw

    def unpack(self, data: BytesLike) -> Array:
        """Return the image (Z, Y, X) that lies in ``data``, padding removed; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        image = np.empty(self.shape, dtype=self.data_type.dtype)
        atoms_to_cube(self._atoms(checked_bytes(data, self.nbytes)), image, self.threads)
        return image

    def offset(self, z: int, y: int, x: int) -> int:
        """Return the byte offset of a value.

        Raises:
            InputError: for coordinates outside the image.
        """
        for name, value, end in zip("zyx", (z, y, x), self.shape, strict=True):
            check_index(name, value, end)
        block, feature = divmod(z, self.threads)
        pixel = (block * self.shape[1] + y) * self.shape[2] + x
        return (pixel * self.parallel + feature) * self.data_type.dtype.itemsize

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the value (feature, row, pixel) that the byte belongs to, or None in padding.

        Raises:
            InputError: for an offset outside the layout.
        """
        check_index("offset_bytes", offset_bytes, self.nbytes)
        pixel, feature = divmod(offset_bytes // self.data_type.dtype.itemsize, self.parallel)
        row, x = divmod(pixel, self.shape[2])
        block, y = divmod(row, self.shape[1])
        z = block * self.threads + feature
        return Element(z, y, x) if feature < self.threads and z < self.shape[0] else None

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        z, y, x = self.shape
        return "\n".join(
            (
                f"deep learning processor, convolution module, {self.data_type.value}: Z={z} Y={y} X={x}",
                f"threads C={self.threads}, parallel transfer N={self.parallel}, blocks: {self.blocks}",
                f"values: {self.elements}, bytes: {self.nbytes}",
            )
        )

    def _atoms(self, raw: ByteArray) -> Array:
        return raw.view(self.data_type.dtype).reshape(self.blocks, *self.shape[1:], self.parallel)


@dataclass(frozen=True)
class FullyConnectedDataLayout:
    """Output of a processor whose network ends in fully connected layers: X values, padded with zeros to N.

    They lie as one pixel of the convolution module does with blocks of N features.

    Args:
        data_type: single or int8.
        features: number of values X.
        threads: thread number C.

    Raises:
        InputError: for sizes below 1.

    Source: external memory data format document, "Fully Connected Module External Memory Data Format".
    """

    data_type: DlhdlType
    features: int
    threads: int

    def __post_init__(self) -> None:
        if self.features < 1:
            raise InputError(f"features must be at least 1, not {self.features}")
        parallel_transfer_number(self.threads)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of values: (X,)."""
        return (self.features,)

    @property
    def parallel(self) -> int:
        """Parallel transfer data number N."""
        return parallel_transfer_number(self.threads)

    @property
    def _pixel(self) -> ConvolutionDataLayout:
        return ConvolutionDataLayout(self.data_type, (self.features, 1, 1), self.parallel)

    @property
    def elements(self) -> int:
        """Values in memory, padding included."""
        return self._pixel.elements

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self._pixel.nbytes

    @property
    def grid(self) -> AtomGrid:
        """The values as a cube of one pixel with beats for atoms."""
        return self._pixel.grid

    def written_mask(self) -> MaskArray:
        """Return which bytes are written: all, as padding is 0.

        Returns:
            bool of length ``nbytes``.
        """
        return self._pixel.written_mask()

    def pack(self, values: Array) -> ByteArray:
        """Return the memory bytes of the values; padding is 0.

        Args:
            values: (X,) of the type's dtype.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            InputError: on another shape or dtype.
        """
        check_array("values", values, self.shape, self.data_type.dtype)
        return self._pixel.pack(values.reshape(-1, 1, 1))

    def unpack(self, data: BytesLike) -> Array:
        """Return the values (X,) that lie in ``data``, padding removed; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        return self._pixel.unpack(data).reshape(-1)

    def offset(self, x: int) -> int:
        """Return the byte offset of a value.

        Raises:
            InputError: for a value that does not exist.
        """
        check_index("x", x, self.features)
        return self._pixel.offset(x, 0, 0)

    def element_at(self, offset_bytes: int) -> Element | None:
        """Return the value that the byte belongs to as a feature of one pixel, or None in padding.

        Raises:
            InputError: for an offset outside the layout.
        """
        return self._pixel.element_at(offset_bytes)

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        return "\n".join(
            (
                f"deep learning processor, fully connected module, {self.data_type.value}: X={self.features}",
                f"threads C={self.threads}, parallel transfer N={self.parallel}",
                f"values: {self.elements}, bytes: {self.nbytes}",
            )
        )


ModuleDataLayout = ConvolutionDataLayout | FullyConnectedDataLayout
