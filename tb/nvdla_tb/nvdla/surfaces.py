"""Where the data of layers lie: cubes, images, weights, operands, and a layer's share of the convolution buffer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from nvdla_models.cbuf import bank_bytes, bank_entries
from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout import (
    CompressedWeightLayout,
    FeatureLayout,
    KernelLayout,
    LinesLayout,
    OperandLayout,
    PixelLayout,
    PlanarLayout,
)
from nvdla_models.layout.alignment import WEIGHT_SIZE_ALIGNMENT_BYTES
from nvdla_models.layout.raw import round_up
from nvdla_tb.nvdla.memory import Ram

L = TypeVar("L", FeatureLayout, OperandLayout, PlanarLayout, LinesLayout)


@dataclass(frozen=True)
class Placed(Generic[L]):
    """Something that lies in memory as a layout says.

    Raises:
        InputError: when the address is not a multiple of the atom, or there is no room after it in the address space.
    """

    layout: L
    address: int
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        check_address(self.address, self.layout.nbytes, self.layout.config)

    def __repr__(self) -> str:
        """Return what tells it from others, without all of its configuration."""
        return f"{type(self).__name__}({self.shape} at {self.address:#x} of {self.ram.value})"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width; of lines for BDMA surfaces, lines and bytes."""
        return self.layout.shape


class Surface(Placed[FeatureLayout]):
    """A feature cube in memory."""


class OperandSurface(Placed[OperandLayout]):
    """Operands of an SDP stage in memory."""


def cube_operand(cube: Surface, component: str = "alu") -> OperandSurface:
    """Return a feature cube in memory as operands of SDP, one for each element.

    Args:
        cube: The cube.
        component: Who takes them, ``alu`` or ``mul``.
    """
    layout, nbytes = cube.layout, cube.layout.precision.nbytes
    strides = layout.line_stride_bytes, layout.surface_stride_bytes
    operands = OperandLayout(layout.config, layout.precision, layout.shape, (component,), nbytes, *strides)
    return OperandSurface(operands, cube.address, cube.ram)


class LinesSurface(Placed[LinesLayout]):
    """Lines in memory, as BDMA copies them."""


class PlanarSurface(Placed[PlanarLayout]):
    """One plane per channel in memory, as RUBIK splits and merges them, at a multiple of 64 bytes."""

    def __post_init__(self) -> None:
        alignment = self.layout.alignment.start_address_bytes
        if self.address < 0 or self.address % alignment:
            raise InputError(f"address must be a multiple of {alignment} bytes, not {self.address:#x}")
        super().__post_init__()


def check_address(address: int, nbytes: int, config: HwConfig, name: str = "address") -> None:
    """Refuse an address that is not a multiple of the atom, or has no room after it.

    Raises:
        InputError: naming the rule.
    """
    atom = config.memory_atomic_bytes
    if address < 0 or address % atom:
        raise InputError(f"{name} must be a multiple of the {atom}-byte atom, not {address:#x}")
    if address + nbytes > 1 << config.memif_address_width_bits:
        raise InputError(
            f"{name} must leave room for {nbytes} bytes in the {config.memif_address_width_bits}-bit address "
            f"space of {config.name}, not {address:#x}"
        )


@dataclass(frozen=True)
class ImageSurface:
    """An image in memory; each plane has an address of its own.

    Raises:
        InputError: when the addresses are not as many as the planes, one is not a multiple of the atom, or
            a plane leaves the address space.
    """

    layout: PixelLayout
    addresses: tuple[int, ...]
    ram: Ram = Ram.MC

    def __post_init__(self) -> None:
        planes = len(self.layout.format.planes)
        if len(self.addresses) != planes:
            raise InputError(f"addresses must be {planes} for {self.layout.format_name}, not {len(self.addresses)}")
        for address, nbytes in zip(self.addresses, self.layout.plane_nbytes, strict=True):
            check_address(address, nbytes, self.layout.config)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width."""
        return self.layout.shape


@dataclass(frozen=True)
class Compression:
    """Where mask and group sizes of compressed weights lie, in the RAM of the weights.

    Attributes:
        mask_address: address of the mask (WMB).
        sizes_address: address of the group sizes (WGS).
        weight_bytes: what the registers give as the size of the weights: that of the compressed weights, or
            more, up to that of all weights. So much is fetched; the result is the same.

    Raises:
        InputError: when the size is not a multiple of 128 bytes.

    Source: programming guide, WEIGHT_BYTES; both sizes measured on the public nv_full RTL.
    """

    mask_address: int
    sizes_address: int
    weight_bytes: int

    def __post_init__(self) -> None:
        if self.weight_bytes < 1 or self.weight_bytes % WEIGHT_SIZE_ALIGNMENT_BYTES:
            raise InputError(
                f"weight_bytes must be a positive multiple of {WEIGHT_SIZE_ALIGNMENT_BYTES}, not {self.weight_bytes}"
            )


@dataclass(frozen=True)
class WeightSurface:
    """Weights in memory, compressed or not.

    Attributes:
        layout: how they lie.
        address: address of the first.
        ram: where they lie.
        compression: of compressed weights.
        whole_bytes: what the registers give as the size of weights that are not compressed: None for all, with
            the alignment of their end to 128 bytes, or less of that alignment, down to whole entries of the
            convolution buffer. So much is fetched; the result is the same.

    Raises:
        InputError: when an address is not a multiple of the atom, weights, mask or sizes leave the address
            space, the build cannot decompress, or ``whole_bytes`` is not such a size.

    Source: programming guide, WEIGHT_BYTES, which asks for multiples of 128; sizes in entries of 8 bytes are what
        the public compiler gives nv_small, and the public RTL takes the bits from 3 up.
    """

    layout: KernelLayout
    address: int
    ram: Ram = Ram.MC
    compression: Compression | None = None
    whole_bytes: int | None = None

    def __post_init__(self) -> None:
        config = self.layout.config
        if self.whole_bytes is not None:
            self._check_whole_bytes(self.whole_bytes)
        if self.compression is None:
            check_address(self.address, self.fetched_bytes, config)
            return
        if self.compression.weight_bytes > self.layout.nbytes:
            raise InputError(
                f"weight_bytes must be at most the {self.layout.nbytes} of all weights, "
                f"not {self.compression.weight_bytes}"
            )
        compressed = CompressedWeightLayout(self.layout)
        check_address(self.compression.mask_address, compressed.wmb_nbytes, config, "mask_address")
        check_address(self.compression.sizes_address, compressed.wgs_nbytes, config, "sizes_address")

    @property
    def fetched_bytes(self) -> int:
        """The size of the weights in the registers, which CDMA fetches."""
        if self.compression is not None:
            return self.compression.weight_bytes
        return self.layout.nbytes if self.whole_bytes is None else self.whole_bytes

    @property
    def stored_entries(self) -> int:
        """Entries of the convolution buffer that the fetched weights take; compressed ones as if they were whole."""
        nbytes = self.fetched_bytes if self.compression is None else self.layout.nbytes
        return nbytes // self.layout.config.cbuf_bank_width_bytes

    @property
    def used_entries(self) -> int:
        """Entries that CSC reads, and gives back unless they are kept: those without the padding after the weights."""
        layout = self.layout
        return -(-layout.elements * layout.precision.nbytes // layout.config.cbuf_bank_width_bytes)

    def _check_whole_bytes(self, nbytes: int) -> None:
        if self.compression is not None:
            raise InputError(f"whole_bytes must be None for compressed weights, not {nbytes}")
        entry, least, most = _weight_entry(self.layout), tight_weight_bytes(self.layout), self.layout.nbytes
        if nbytes % entry or not least <= nbytes <= most:
            raise InputError(f"whole_bytes must be a multiple of {entry} from {least} to {most}, not {nbytes}")


def _weight_entry(layout: KernelLayout) -> int:
    return min(layout.config.cbuf_bank_width_bytes, WEIGHT_SIZE_ALIGNMENT_BYTES)


def tight_weight_bytes(layout: KernelLayout) -> int:
    """Return the least ``whole_bytes`` of weights: up to the end of the last entry that they reach.

    What CDMA fetches beyond it would stay in the convolution buffer.
    """
    return round_up(layout.elements * layout.precision.nbytes, _weight_entry(layout))


@dataclass(frozen=True)
class CbufUse:
    """Use of the convolution buffer by a convolution: its banks, the data that it finds, and the data that it leaves.

    Attributes:
        data_banks: banks for the input, which must hold all of it.
        weight_banks: banks for weights, which must hold a kernel group.
        release_slices: input lines given back when the layer is done.
        fetch_slices: input lines fetched at a time; 1 unless the lines are packed.
        skip_data_release: keep all of the input for a layer that reuses it.
        skip_weight_release: keep the weights for a layer that reuses them.
        reuse_data: take the lines that the convolution before has left.
        reuse_weights: take the weights that the convolution before has kept.

    Source: programming guide, "Convolution", DATA_REUSE, WEIGHT_REUSE, SKIP_RELEASE and D_RELEASE.
    """

    data_banks: int
    weight_banks: int
    release_slices: int = 1
    fetch_slices: int = 1
    skip_data_release: bool = False
    skip_weight_release: bool = False
    reuse_data: bool = False
    reuse_weights: bool = False

    def check(
        self, entries: int, height: int, weights: KernelLayout, *, compressed: bool = False, cubes: int = 1
    ) -> None:
        """Refuse a share that makes the hardware wait forever.

        Args:
            entries: of one slice of the input.
            height: slices of the input.
            weights: how the weights lie in memory.
            compressed: whether they are, which takes the last bank for their mask.
            cubes: cubes of a batch, whose slices lie beside each other.

        Raises:
            InputError: when input or weights do not fit the banks, or the banks the buffer.

        Source: programming guide, "Full input, partial weight mode" and "Limitation", Convolution; unit
            description, "Convolution Buffer".
        """
        config = weights.config
        if not 1 <= self.data_banks < config.cbuf_bank_number:
            raise InputError(f"data_banks must be 1 to {config.cbuf_bank_number - 1}, not {self.data_banks}")
        most = config.cbuf_bank_number - self.data_banks - compressed
        if not 1 <= self.weight_banks <= most:
            raise InputError(
                f"weight_banks must be 1 to {most} of {config.cbuf_bank_number} banks, not {self.weight_banks}"
            )
        if cubes * entries * height > bank_entries(config, self.data_banks):
            raise InputError(
                f"data_banks must hold {cubes * height} slices of {entries} entries, not {self.data_banks} banks of "
                f"{config.cbuf_bank_depth} entries"
            )
        needed = weights.group_elements[0] * weights.precision.nbytes + WEIGHT_SIZE_ALIGNMENT_BYTES
        if self.skip_weight_release or self.reuse_weights or weights.groups == 1:
            needed = weights.nbytes
        # How much of compressed weights stays is known only with their contents.
        if not compressed and needed > bank_bytes(config, self.weight_banks):
            raise InputError(
                f"weight_banks must hold {needed} bytes, not {self.weight_banks} banks of {bank_bytes(config, 1)}"
            )
        if self.fetch_slices < 1:
            raise InputError(f"fetch_slices must be at least 1, not {self.fetch_slices}")
        if not 1 <= self.release_slices <= height:
            raise InputError(f"release_slices must be 1 to the {height} lines of src, not {self.release_slices}")
