"""Alignment of addresses, strides and sizes: Table 35 of the format document as data and as a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from nvdla_models.config import HwConfig
from nvdla_models.errors import InputError
from nvdla_models.layout.raw import check_aligned

#: Weights, WMB and WGS end on a multiple of this; the rest is 0.
WEIGHT_SIZE_ALIGNMENT_BYTES = 128

#: Alignment of the start addresses of weights, WMB and WGS in the table; the hardware needs that of an atom alone.
WEIGHT_START_ALIGNMENT_BYTES = 256

#: Alignment of start address, line and planar strides of the M-planar format of RUBIK.
PLANAR_STRIDE_ALIGNMENT_BYTES = 64


class DataFormat(Enum):
    """Rows of Table 35 with one alignment, and the M-planar format that it lacks."""

    FEATURE = "feature data cube"
    WEIGHT = "weight"
    PIXEL = "pitch linear pixel"
    OPERAND = "operand"
    PLANAR = "M-planar"


@dataclass(frozen=True)
class Alignment:
    """Alignments of one data format in bytes; None where the table says that there is none."""

    data_format: DataFormat
    atom_bytes: int
    start_address_bytes: int
    line_stride_bytes: int | None
    surface_stride_bytes: int | None

    def check(
        self,
        *,
        start_address: int | None = None,
        line_stride_bytes: int | None = None,
        surface_stride_bytes: int | None = None,
    ) -> None:
        """Refuse an unaligned address or stride; what is not given is not checked.

        Args:
            start_address: byte address of the first byte.
            line_stride_bytes: distance of two lines.
            surface_stride_bytes: distance of two surfaces.

        Raises:
            InputError: naming format, quantity, rule and value; also when the format has no such stride.
        """
        for name, value, alignment in (
            ("start_address", start_address, self.start_address_bytes),
            ("line_stride_bytes", line_stride_bytes, self.line_stride_bytes),
            ("surface_stride_bytes", surface_stride_bytes, self.surface_stride_bytes),
        ):
            if value is None:
                continue
            if alignment is None:
                raise InputError(f"{name} does not exist for {self.data_format.value} data, so it must not be {value}")
            if value < 0:
                raise InputError(f"{name} must not be negative, not {value}")
            if alignment == self.atom_bytes:
                check_aligned(name, value, alignment, f"the {alignment}-byte atom")
            else:
                check_aligned(name, value, alignment, f"{alignment} bytes for {self.data_format.value} data")


def alignment_of(config: HwConfig, data_format: DataFormat) -> Alignment:
    """Return the alignments of a data format in a build.

    Where the table says 32 bytes the build's memory atom counts: golden nv_small traces place cubes
    and strides on multiples of 8. It counts for weights, WMB and WGS, too, where the table says 256 bytes:
    measured for weights on the public nv_small RTL, and the address registers of the public nv_full RTL
    begin with the bit of its atom. The table knows no strides of
    PReLU and batch normalization, and no surface stride of element-wise data; the nv_full RTL takes all three
    per element, with both strides in whole atoms.

    Args:
        config: the build.
        data_format: row of the table.

    Source: format document, Table 35; M-planar from the public architecture documentation, "Split and
        Merge", and programming guide, "Limitation".
    """
    atom = config.memory_atomic_bytes
    start, line, surface = {
        DataFormat.FEATURE: (atom, atom, atom),
        DataFormat.WEIGHT: (atom, None, None),
        DataFormat.PIXEL: (atom, atom, None),
        DataFormat.OPERAND: (atom, atom, atom),
        DataFormat.PLANAR: (PLANAR_STRIDE_ALIGNMENT_BYTES, PLANAR_STRIDE_ALIGNMENT_BYTES, None),
    }[data_format]
    return Alignment(data_format, atom, start, line, surface)
