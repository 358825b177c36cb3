"""Sparse compression of weights: mask bits (WMB), group sizes (WGS) and the weights that are left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from nvdla_models.errors import InputError, LackingError
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES, Alignment
from nvdla_models.layout.kernel import KernelLayout, Weight
from nvdla_models.layout.raw import Array, ByteArray, BytesLike, check_index, checked_bytes, round_up

#: WMB sizes are programmed in a 28-bit byte field.
MAX_WMB_BYTES = (1 << 28) - 1

_RUN_ELEMENTS = 131072

WGS_DTYPE = np.dtype("<u4")


class CompressedWeights(NamedTuple):
    """The three memory surfaces of compressed weights, each uint8 and a multiple of 128 bytes."""

    weights: ByteArray
    wmb: ByteArray
    wgs: ByteArray


@dataclass(frozen=True)
class CompressedWeightLayout:
    """Sparse compression on top of any weight format.

    ::

        layout = CompressedWeightLayout(WeightLayout(config, Precision.INT8, (16, 33, 3, 3)))
        packed = layout.pack(np.ones((16, 33, 3, 3), np.int8))  # packed.weights, packed.wmb, packed.wgs

    One mask bit per element in the order of the uncompressed format, least significant bit first; the
    groups follow each other without alignment in the mask and in the weights. Only an element whose
    bits are all 0 is removed: FP16 -0 stays.

    Args:
        layout: the uncompressed format.

    Raises:
        InputError: when the build cannot decompress, or the mask is too large.

    Source: format document, "Sparse Compression option", figure 17; the bit order, the groups without
        alignment, WGS in bytes and the -0 measured on the public nv_full RTL.
    """

    layout: KernelLayout

    def __post_init__(self) -> None:
        if not self.layout.config.weight_compression_enable:
            raise LackingError(f"weights must be uncompressed for {self.layout.config.name}, which cannot decompress")
        if self.wmb_nbytes > MAX_WMB_BYTES:
            raise InputError(f"WMB must be at most {MAX_WMB_BYTES} bytes, not {self.wmb_nbytes}")

    @property
    def alignment(self) -> Alignment:
        """Alignment of the start addresses and sizes of all three surfaces."""
        return self.layout.alignment

    @property
    def wmb_nbytes(self) -> int:
        """Bytes of the mask, end alignment included."""
        return round_up(-(-self.layout.elements // 8), WEIGHT_SIZE_ALIGNMENT_BYTES)

    @property
    def wgs_nbytes(self) -> int:
        """Bytes of the group sizes, end alignment included."""
        return round_up(self.layout.groups * WGS_DTYPE.itemsize, WEIGHT_SIZE_ALIGNMENT_BYTES)

    @property
    def nbytes(self) -> int:
        """Most bytes that the compressed weights can have: those of the uncompressed format."""
        return self.layout.nbytes

    def pack(self, weights: Array) -> CompressedWeights:
        """Return the three surfaces of the weights.

        Args:
            weights: ``layout.packed_shape`` of the precision's dtype.

        Raises:
            InputError: on another shape or dtype.
        """
        bits = self._bits(self.layout.to_stream(weights))
        kept = bits != 0
        wmb = np.zeros(self.wmb_nbytes, dtype=np.uint8)
        packed = np.packbits(kept, bitorder="little")
        wmb[: packed.size] = packed
        counts = self._group_counts(kept)
        wgs = np.zeros(self.wgs_nbytes, dtype=np.uint8)
        wgs.view(WGS_DTYPE)[: counts.size] = counts * self.layout.precision.nbytes
        total = int(counts.sum()) * self.layout.precision.nbytes
        data = np.zeros(round_up(total, WEIGHT_SIZE_ALIGNMENT_BYTES), dtype=np.uint8)
        values = data[:total].view(bits.dtype)
        at = 0
        for run, places in _kept_places(kept):
            values[at : at + places.size] = bits[run][places]
            at += places.size
        return CompressedWeights(data, wmb, wgs)

    def unpack(self, weights: BytesLike, wmb: BytesLike, wgs: BytesLike) -> Array:
        """Return the weights that the three surfaces hold.

        Args:
            weights: compressed weights, at least as many bytes as the mask keeps.
            wmb: mask, at least one bit per element.
            wgs: group sizes, at least four bytes per group.

        Returns:
            ``layout.packed_shape`` of the precision's dtype.

        Raises:
            InputError: when a surface is too short, or a group size is not what the mask keeps.
        """
        kept = self._mask(wmb)
        counts = self._group_counts(kept)
        size = self.layout.precision.nbytes
        sizes = checked_bytes(wgs, self.layout.groups * WGS_DTYPE.itemsize).view(WGS_DTYPE)
        wrong = np.flatnonzero(sizes != counts * size)
        if wrong.size:
            group = int(wrong[0])
            raise InputError(
                f"WGS of group {group} must be the {int(counts[group]) * size} bytes its mask keeps, "
                f"not {int(sizes[group])}"
            )
        raw = checked_bytes(weights, int(counts.sum()) * size)
        stream = np.zeros(self.layout.elements, dtype=f"<u{size}")
        values = raw.view(stream.dtype)
        at = 0
        for run, places in _kept_places(kept):
            stream[run][places] = values[at : at + places.size]
            at += places.size
        return self.layout.from_stream(stream.view(self.layout.precision.dtype))

    def mask_bit(self, k: int, c: int, r: int, s: int) -> tuple[int, int]:
        """Return (byte offset in the WMB surface, bit) of an element's mask bit; bit 0 is least significant.

        Raises:
            InputError: for coordinates outside ``layout.packed_shape``.
        """
        return divmod(self.layout.offset(k, c, r, s) // self.layout.precision.nbytes, 8)

    def offset(self, wmb: BytesLike, k: int, c: int, r: int, s: int) -> int | None:
        """Return the byte offset of an element in the compressed weights, or None when it was removed.

        Args:
            wmb: mask; where an element lies depends on all before it.
            k: kernel.
            c: channel.
            r: row.
            s: column.

        Raises:
            InputError: for coordinates outside ``layout.packed_shape`` or a short mask.
        """
        byte, bit = self.mask_bit(k, c, r, s)
        kept = self._mask(wmb)
        position = 8 * byte + bit
        if not kept[position]:
            return None
        return int(np.count_nonzero(kept[:position])) * self.layout.precision.nbytes

    def element_at(self, wmb: BytesLike, offset_bytes: int) -> Weight | None:
        """Return the element of ``layout.packed_shape`` that a compressed byte belongs to, or None after the last.

        Args:
            wmb: mask; which element lies there depends on all before it.
            offset_bytes: offset in the compressed weights.

        Raises:
            InputError: for an offset outside the layout or a short mask.
        """
        check_index("offset_bytes", offset_bytes, self.nbytes)
        kept = np.flatnonzero(self._mask(wmb))
        number = offset_bytes // self.layout.precision.nbytes
        return self.layout.weight_at(int(kept[number])) if number < kept.size else None

    def describe(self) -> str:
        """Return the layout in words, one fact a line."""
        return "\n".join(
            (
                self.layout.describe(),
                f"compressed: WMB {self.wmb_nbytes} bytes, WGS {self.wgs_nbytes} bytes, "
                f"weights at most {self.nbytes} bytes",
            )
        )

    def _bits(self, stream: Array) -> Array:
        """Return the elements as unsigned integers, so that -0 is not 0."""
        return stream.view(f"<u{self.layout.precision.nbytes}")

    def _mask(self, wmb: BytesLike) -> npt.NDArray[np.bool_]:
        raw = checked_bytes(wmb, -(-self.layout.elements // 8))
        return np.unpackbits(raw, count=self.layout.elements, bitorder="little").view(np.bool_)

    def _group_counts(self, kept: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
        """Return how many elements the mask keeps in each group."""
        ends = np.cumsum(self.layout.group_elements)
        starts = ends - self.layout.group_elements
        return np.array(
            [np.count_nonzero(kept[first:last]) for first, last in zip(starts, ends, strict=True)], dtype=np.int64
        )


def _kept_places(kept: npt.NDArray[np.bool_]) -> Iterator[tuple[slice, npt.NDArray[np.intp]]]:
    """Yield runs of the mask and the places that are set in each.

    Places are several times faster than indexing with the mask itself, which mispredicts a branch per
    element; runs keep them in the processor's cache.
    """
    for first in range(0, kept.size, _RUN_ELEMENTS):
        run = slice(first, first + _RUN_ELEMENTS)
        yield run, np.flatnonzero(kept[run])
