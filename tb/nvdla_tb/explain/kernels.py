"""Kernels as the explainer reads them: in wrong layouts and orders, too, compressed or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from nvdla_models.errors import InputError
from nvdla_models.layout import CompressedWeightLayout, ImageWeightLayout, KernelLayout
from nvdla_models.layout.compression import WGS_DTYPE
from nvdla_tb.explain.memory import ByteArray, Bytes
from nvdla_tb.explain.walk import Cube

Order = Callable[[Cube, int], Cube]
"""From kernels (K, C, R, S) and the kernels of a group to other ones."""


def _grouped(change: Callable[[NDArray[np.intp]], NDArray[np.intp]]) -> Order:
    """Make a change of the numbers of a group's kernels one of all kernels."""

    def order(weights: Cube, per_group: int) -> Cube:
        numbers = np.arange(len(weights))
        parts = [change(numbers[first : first + per_group]) for first in range(0, len(numbers), per_group)]
        return weights[np.concatenate(parts)]

    return order


def _in_lanes(change: Callable[[NDArray[np.intp]], NDArray[np.intp]]) -> Order:
    """Make a change of the numbers of a group's multipliers one of all kernels; those of no kernel have zeros."""

    def order(weights: Cube, per_group: int) -> Cube:
        lanes = np.arange(-(-len(weights) // per_group) * per_group).reshape(-1, per_group)
        full = np.zeros((lanes.size, *weights.shape[1:]), dtype=weights.dtype)
        full[: len(weights)] = weights
        moved: Cube = full[np.concatenate([change(numbers) for numbers in lanes])[: len(weights)]]
        return moved

    return order


def _groups_reversed(weights: Cube, per_group: int) -> Cube:
    firsts = range(0, len(weights), per_group)
    return np.concatenate([weights[first : first + per_group] for first in reversed(firsts)])


def _negated(rows: bool, columns: bool, weights: Cube, per_group: int) -> Cube:
    """Return kernels of Winograd whose products of the last row or column count with the other sign."""
    if weights.shape[2:] != (4, 4):
        raise InputError("kernels must be 4 x 4 for a sign of Winograd's matrices")
    signs = np.ones((4, 4), dtype=np.int8)
    if rows:
        signs[3] *= -1
    if columns:
        signs[:, 3] *= -1
    if weights.dtype.kind != "f" and (weights[..., signs < 0] == np.iinfo(weights.dtype).min).any():
        raise InputError("kernels must not be the smallest number, which has no other sign")
    signed: Cube = (weights * signs).astype(weights.dtype)
    return signed


ORDERS: dict[str, Order] = {
    "R and S swapped": lambda weights, _: weights.transpose(0, 1, 3, 2),
    "K and C swapped": lambda weights, _: weights.transpose(1, 0, 2, 3),
    "R reversed": lambda weights, _: weights[:, :, ::-1],
    "S reversed": lambda weights, _: weights[:, :, :, ::-1],
    "channels reversed": lambda weights, _: weights[:, ::-1],
    "kernels reversed inside groups": _grouped(lambda numbers: numbers[::-1]),
    "kernels of a group one too far": _grouped(lambda numbers: np.roll(numbers, 1)),
    "kernels of a group one too early": _in_lanes(lambda numbers: np.roll(numbers, -1)),
    "kernels of a group backwards from the first": _in_lanes(lambda numbers: np.roll(numbers[::-1], 1)),
    "neighbouring kernels swapped": _in_lanes(lambda numbers: numbers ^ 1),
    "halves of a group swapped": _in_lanes(lambda numbers: np.roll(numbers, len(numbers) // 2)),
    "kernels one too far": lambda weights, _: np.roll(weights, 1, axis=0),
    "last kernel group first": _groups_reversed,
    "the first kernel for all of its group": _grouped(lambda numbers: np.full_like(numbers, numbers[0])),
}
"""Faults of kernels between memory and the multipliers."""

WINOGRAD_ORDERS: dict[str, Order] = {
    "4 x 4 matrix transposed": lambda weights, _: weights.transpose(0, 1, 3, 2),
    "4 x 4 matrix upside down": lambda weights, _: weights[:, :, ::-1],
    "4 x 4 matrix mirrored": lambda weights, _: weights[:, :, :, ::-1],
    "sign of the last row of products": partial(_negated, True, False),
    "sign of the last column of products": partial(_negated, False, True),
    "sign of the last row and column of products": partial(_negated, True, True),
    "kernels of a group one too far": ORDERS["kernels of a group one too far"],
    "kernels reversed inside groups": ORDERS["kernels reversed inside groups"],
    "last kernel group first": _groups_reversed,
}
"""Likewise for kernels of Winograd, (K, C', 4, 4)."""


def _bits_moved(places: int, mask: ByteArray) -> ByteArray:
    return np.packbits(np.roll(np.unpackbits(mask, bitorder="little"), places), bitorder="little")


def _words_swapped(nbytes: int, mask: ByteArray) -> ByteArray:
    padded = np.pad(mask, (0, -len(mask) % nbytes))
    swapped: ByteArray = padded.reshape(-1, nbytes)[:, ::-1].reshape(-1)
    return swapped


MASKS: dict[str, Callable[[ByteArray], ByteArray]] = {
    "most significant bit first": lambda mask: np.packbits(np.unpackbits(mask, bitorder="little"), bitorder="big"),
    "inverted": lambda mask: ~mask,
    "bytes of a word of 4 swapped": partial(_words_swapped, 4),
    "bytes of a word of 8 swapped": partial(_words_swapped, 8),
    "one bit too early": partial(_bits_moved, 1),
    "one bit too far": partial(_bits_moved, -1),
    "ignored": lambda mask: np.full_like(mask, 0xFF),
}
"""Faults of the decompressor in WMB."""

STARTS: dict[str, Callable[[NDArray[np.int64], int], NDArray[np.int64]]] = {
    "every group rounded up to 32 bytes": lambda sizes, _: -(-sizes // 32) * 32,
    "every group rounded up to 128 bytes": lambda sizes, _: -(-sizes // 128) * 128,
    "taken as elements": lambda sizes, element_bytes: sizes * element_bytes,
    "taken as bits": lambda sizes, _: sizes // 8,
    "taken as units of 32 bytes": lambda sizes, _: sizes * 32,
    "that of the next group": lambda sizes, _: np.roll(sizes, -1),
    "that of the group before": lambda sizes, _: np.roll(sizes, 1),
    "0": lambda sizes, _: np.zeros_like(sizes),
}
"""Faults of the decompressor in WGS: bytes from each group to the next."""


@dataclass(frozen=True)
class Packing:
    """Where mask and group sizes lie, and what is made of them.

    Attributes:
        mask_address: address of WMB.
        sizes_address: address of WGS.
        mask: one of ``MASKS``, None for as it is.
        sizes: one of ``STARTS``, None for as they are.
    """

    mask_address: int
    sizes_address: int
    mask: str | None = None
    sizes: str | None = None


@dataclass(frozen=True)
class WeightInput:
    """Weights in memory.

    Attributes:
        layout: in which they are read.
        address: address of the first.
        shape: (K, C, R, S) that the multipliers see.
        order: one of ``ORDERS`` or ``WINOGRAD_ORDERS``, None for as they are.
        packing: of compressed weights, None for others.
    """

    layout: KernelLayout
    address: int
    shape: tuple[int, int, int, int]
    order: str | None = None
    packing: Packing | None = None

    @property
    def is_winograd(self) -> bool:
        """Whether the kernels are transformed."""
        return self.layout.packed_shape[2:] == (4, 4) and self.layout.shape[2:] != (4, 4)

    def read(self, memory: Bytes) -> Cube:
        """Return the kernels (K, C, R, S).

        Raises:
            InputError: when the order does not fit the shape.
        """
        layout = self.layout
        if self.packing is None:
            nbytes = layout.elements * layout.precision.nbytes
            weights = layout.unpack(memory.read(self.address, nbytes).data)
        else:
            weights = layout.from_stream(self._stream(memory, self.packing).view(layout.precision.dtype))
        if isinstance(layout, ImageWeightLayout):
            weights = layout.original(weights)
        if self.order is not None:
            orders = WINOGRAD_ORDERS if self.is_winograd else ORDERS
            weights = orders[self.order](weights, layout.kernels_per_group)
        return np.ascontiguousarray(weights.reshape(self.shape))

    def _stream(self, memory: Bytes, packing: Packing) -> NDArray[np.unsignedinteger]:
        """Return the elements in the order of the uncompressed format, as unsigned numbers."""
        layout, size = self.layout, self.layout.precision.nbytes
        compressed = CompressedWeightLayout(layout)
        mask = memory.read(packing.mask_address, compressed.wmb_nbytes).data
        bits = np.unpackbits(mask if packing.mask is None else MASKS[packing.mask](mask), bitorder="little")
        kept = bits[: layout.elements].astype(np.bool_)
        raw = memory.read(packing.sizes_address, layout.groups * WGS_DTYPE.itemsize).data
        sizes = raw.view(WGS_DTYPE).astype(np.int64)
        if packing.sizes is not None:
            sizes = STARTS[packing.sizes](sizes, size)
        stream = np.zeros(layout.elements, dtype=f"<u{size}")
        first, at = 0, self.address
        for count, step in zip(layout.group_elements, sizes.tolist(), strict=True):
            places = first + np.flatnonzero(kept[first : first + count])
            stream[places] = memory.read(at, len(places) * size).data.view(stream.dtype)
            first, at = first + count, at + step
        return stream
