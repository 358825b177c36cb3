"""Common rules of all weight formats: kernel groups packed without gaps, 128-byte end alignment, lookup both ways."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError, LackingError
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES, Alignment, DataFormat, alignment_of
from nvdla_models.layout.raw import Array, ByteArray, BytesLike, check_array, check_index, checked_bytes, round_up
from nvdla_models.precision import Precision

#: Kernels of a layer, and channels after extension: 13-bit fields that hold size - 1.
MAX_KERNELS = 1 << 13
MAX_KERNEL_CHANNELS = 1 << 13

#: Width and height of a kernel as the hardware sees it: 5-bit fields that hold size - 1.
MAX_KERNEL_SIDE = 1 << 5

#: Bytes of one kernel: an 18-bit field that holds size - 1.
MAX_KERNEL_BYTES = 1 << 18

# Measured: smaller batches pay for numpy's calls, larger ones leave the processor's cache.
_BATCH_BYTES = 1 << 19


class Weight(NamedTuple):
    """Coordinates of one weight: kernel, channel, row, column."""

    k: int
    c: int
    r: int
    s: int


@dataclass(frozen=True)
class KernelLayout(ABC):
    """A weight format: kernels in groups, each group a run of elements, the groups without gaps.

    Subclasses decide the order inside a group; ``pack`` takes and ``unpack`` returns arrays of shape
    ``packed_shape``.

    Args:
        config: the build; it decides the group size.
        precision: type of one weight.
        shape: real sizes (K, C, R, S) of the kernels, before any extension.

    Source: format document, "Weight Format"; groups measured on the public nv_small and nv_full RTL.
    """

    config: HwConfig
    precision: Precision
    shape: tuple[int, int, int, int]

    def __post_init__(self) -> None:
        if self.precision not in self.config.weight_data_types:
            allowed = ", ".join(p.name for p in self.config.weight_data_types)
            raise LackingError(f"precision must be one of {allowed} for {self.config.name}, not {self.precision.name}")
        if len(self.shape) != 4:
            raise InputError(f"shape must be (K, C, R, S), not {self.shape}")
        for name, value in zip(("kernels", "channels", "height", "width"), self.shape, strict=True):
            if value < 1:
                raise InputError(f"{name} must be at least 1, not {value}")
        self._check_order()
        for name, value, most in (
            ("kernels", self.packed_shape[0], MAX_KERNELS),
            ("extended channels", self.packed_shape[1], MAX_KERNEL_CHANNELS),
            ("kernel height", self.packed_shape[2], MAX_KERNEL_SIDE),
            ("kernel width", self.packed_shape[3], MAX_KERNEL_SIDE),
            ("bytes of one kernel", self.kernel_elements * self.precision.nbytes, MAX_KERNEL_BYTES),
        ):
            if value > most:
                raise InputError(f"{name} must be at most {most}, not {value}")

    @property
    @abstractmethod
    def packed_shape(self) -> tuple[int, int, int, int]:
        """Shape (K, C, R, S) of the arrays that are packed, after extension and conversion."""

    @abstractmethod
    def write_groups(self, kernels: Array, groups: Array) -> None:
        """Write (K, C, R, S) kernels of groups of one size into their elements, (groups, elements)."""

    @abstractmethod
    def read_groups(self, groups: Array, kernels: Array) -> None:
        """Read (K, C, R, S) kernels of groups of one size from their elements, (groups, elements)."""

    @abstractmethod
    def position(self, k: int, c: int, r: int, s: int) -> int:
        """Return the index in the stream of an element of ``packed_shape``."""

    @abstractmethod
    def weight_at(self, position: int) -> Weight:
        """Return the element of ``packed_shape`` at an index of the stream."""

    @abstractmethod
    def _check_order(self) -> None:
        """Refuse what this format in particular cannot hold."""

    @abstractmethod
    def _title(self) -> str:
        """Return the name of the format for descriptions."""

    @property
    def alignment(self) -> Alignment:
        """Alignment of its start address and size."""
        return alignment_of(self.config, DataFormat.WEIGHT)

    @property
    def kernel_elements(self) -> int:
        """Elements of one kernel as it lies in memory."""
        return self.packed_shape[1] * self.packed_shape[2] * self.packed_shape[3]

    @property
    def kernels_per_group(self) -> int:
        """Kernels of a full group."""
        return self.config.kernel_group_size(self.precision)

    @property
    def groups(self) -> int:
        """Number of kernel groups; the last can have fewer kernels."""
        return -(-self.shape[0] // self.kernels_per_group)

    @property
    def group_elements(self) -> tuple[int, ...]:
        """Elements of each group."""
        last = self.shape[0] - (self.groups - 1) * self.kernels_per_group
        return (self.kernels_per_group * self.kernel_elements,) * (self.groups - 1) + (last * self.kernel_elements,)

    @property
    def elements(self) -> int:
        """Elements of all kernels."""
        return self.shape[0] * self.kernel_elements

    @property
    def nbytes(self) -> int:
        """Bytes of all weights, the end alignment included."""
        return round_up(self.elements * self.precision.nbytes, WEIGHT_SIZE_ALIGNMENT_BYTES)

    def pack(self, weights: Array) -> ByteArray:
        """Return the uncompressed memory bytes of the weights; the end alignment is 0.

        Args:
            weights: ``packed_shape`` of the precision's dtype.

        Returns:
            uint8 of length ``nbytes``.

        Raises:
            InputError: on another shape or dtype.
        """
        stream = self.to_stream(weights).view(np.uint8)
        if stream.size == self.nbytes:
            return stream
        raw = np.zeros(self.nbytes, dtype=np.uint8)
        raw[: stream.size] = stream
        return raw

    def unpack(self, data: BytesLike) -> Array:
        """Return the weights of ``packed_shape`` that lie uncompressed in ``data``; later bytes are not read.

        Raises:
            InputError: when ``data`` is too short.
        """
        raw = checked_bytes(data, self.elements * self.precision.nbytes)
        return self.from_stream(raw.view(self.precision.dtype))

    def offset(self, k: int, c: int, r: int, s: int) -> int:
        """Return the byte offset of an element of ``packed_shape`` in the uncompressed weights.

        Raises:
            InputError: for coordinates outside ``packed_shape``.
        """
        for name, value, end in zip("kcrs", (k, c, r, s), self.packed_shape, strict=True):
            check_index(name, value, end)
        return self.position(k, c, r, s) * self.precision.nbytes

    def element_at(self, offset_bytes: int) -> Weight | None:
        """Return the element of ``packed_shape`` that the byte belongs to, or None in the end alignment.

        Raises:
            InputError: for an offset outside the layout.
        """
        check_index("offset_bytes", offset_bytes, self.nbytes)
        position = offset_bytes // self.precision.nbytes
        return self.weight_at(position) if position < self.elements else None

    def to_stream(self, weights: Array) -> Array:
        """Return the elements of ``packed_shape`` in memory order, one-dimensional.

        Raises:
            InputError: on another shape or dtype.
        """
        check_array("weights", weights, self.packed_shape, self.precision.dtype)
        stream = np.empty(self.elements, dtype=weights.dtype)
        for kernels, groups in self.batches(stream):
            self.write_groups(weights[kernels], groups)
        return stream

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        sizes = " ".join(f"{name}={value}" for name, value in zip("KCRS", self.shape, strict=True))
        inside = "x".join(map(str, self.packed_shape[1:]))
        return "\n".join(
            (
                f"{self._title()}, {self.precision.name}, {self.config.name}: {sizes}",
                f"kernel in memory: CxRxS = {inside}, {self.kernel_elements * self.precision.nbytes} bytes",
                f"groups: {self.groups} of {self.kernels_per_group} kernels, "
                f"{self.group_elements[-1] // self.kernel_elements} in the last",
                f"bytes: {self.nbytes}, of which {self.nbytes - self.elements * self.precision.nbytes} "
                "are end alignment",
            )
        )

    def split_group(self, position: int) -> tuple[int, int, int]:
        """Return (first kernel, kernels, index inside the group) of an index of the stream."""
        group, inside = divmod(position, self.kernels_per_group * self.kernel_elements)
        first = group * self.kernels_per_group
        return first, min(self.kernels_per_group, self.shape[0] - first), inside

    def batches(self, stream: Array) -> Iterator[tuple[slice, Array]]:
        """Yield kernels of whole groups of one size, and their elements in ``stream`` as (groups, elements).

        Several groups are moved at once, because each of numpy's calls costs as much as thousands of elements.
        """
        group = self.kernels_per_group
        full = self.shape[0] // group * group
        step = group * max(1, _BATCH_BYTES // (group * self.kernel_elements * self.precision.nbytes))
        starts = [*range(0, full, step), *([full] if full < self.shape[0] else [])]
        for first, last in pairwise([*starts, self.shape[0]]):
            run = stream[first * self.kernel_elements : last * self.kernel_elements]
            yield slice(first, last), run.reshape(-(-(last - first) // group), -1)

    def from_stream(self, stream: Array) -> Array:
        """Return the array of ``packed_shape`` whose memory order is ``stream``."""
        weights = np.empty(self.packed_shape, dtype=stream.dtype)
        for kernels, groups in self.batches(stream):
            self.read_groups(groups, weights[kernels])
        return weights
