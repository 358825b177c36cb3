"""Alignment of addresses, strides and sizes: Table 35 of the format document as data and as a check."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from models.config import HwConfig
from models.errors import InputError
from models.layout.raw import check_aligned

#: Weights, WMB and WGS end on a multiple of this; the rest is 0.
WEIGHT_SIZE_ALIGNMENT_BYTES = 128

#: Alignment of the start addresses of weights, WMB and WGS, in every configuration.
WEIGHT_START_ALIGNMENT_BYTES = 256

#: Alignment of start address, line and planar strides of the M-planar format of RUBIK.
PLANAR_STRIDE_ALIGNMENT_BYTES = 64


class DataFormat(Enum):
    """A row of Table 35, and the M-planar format that it lacks."""

    FEATURE = "feature data cube"
    WEIGHT = "weight"
    WMB = "WMB"
    WGS = "WGS"
    PIXEL = "pitch linear pixel"
    BIAS = "bias"
    PRELU = "PReLU"
    BATCH_NORMALIZATION = "batch normalization"
    ELEMENT_WISE = "element-wise"
    PLANAR = "M-planar"


@dataclass(frozen=True)
class Alignment:
    """Alignments of one data format in bytes; None where the table says that there is none."""

    data_format: DataFormat
    atom_bytes: int
    start_address_bytes: int
    line_stride_bytes: int | None
    surface_stride_bytes: int | None
    cube_stride_bytes: int | None
    data_size_bytes: int | None

    def check(
        self,
        *,
        start_address: int | None = None,
        line_stride_bytes: int | None = None,
        surface_stride_bytes: int | None = None,
        cube_stride_bytes: int | None = None,
        data_size_bytes: int | None = None,
    ) -> None:
        """Refuse an unaligned address, stride or size; what is not given is not checked.

        Args:
            start_address: byte address of the first byte.
            line_stride_bytes: distance of two lines.
            surface_stride_bytes: distance of two surfaces.
            cube_stride_bytes: distance of two planes, cubes or batches.
            data_size_bytes: bytes of the data as they are programmed.

        Raises:
            InputError: naming format, quantity, rule and value; also when the format has no such stride
                or size.
        """
        for name, value, alignment in (
            ("start_address", start_address, self.start_address_bytes),
            ("line_stride_bytes", line_stride_bytes, self.line_stride_bytes),
            ("surface_stride_bytes", surface_stride_bytes, self.surface_stride_bytes),
            ("cube_stride_bytes", cube_stride_bytes, self.cube_stride_bytes),
            ("data_size_bytes", data_size_bytes, self.data_size_bytes),
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
    and strides on multiples of 8. The 256 and 128 bytes of weights hold in every build. The table
    knows no strides of PReLU and batch normalization, and no surface stride of element-wise data; the
    nv_full RTL takes all three per element, with both strides, in whole atoms.

    Args:
        config: the build.
        data_format: row of the table.

    Source: format document, Table 35; M-planar from the public architecture documentation, "Split and
        Merge", and programming guide, "Limitation".
    """
    atom = config.memory_atomic_bytes
    line, surface, cube, size = {
        DataFormat.FEATURE: (atom, atom, atom, None),
        DataFormat.WEIGHT: (None, None, None, WEIGHT_SIZE_ALIGNMENT_BYTES),
        DataFormat.WMB: (None, None, None, WEIGHT_SIZE_ALIGNMENT_BYTES),
        DataFormat.WGS: (None, None, None, WEIGHT_SIZE_ALIGNMENT_BYTES),
        DataFormat.PIXEL: (atom, None, None, None),
        DataFormat.BIAS: (atom, atom, None, None),
        DataFormat.PRELU: (atom, atom, None, None),
        DataFormat.BATCH_NORMALIZATION: (atom, atom, None, None),
        DataFormat.ELEMENT_WISE: (atom, atom, None, atom),
        DataFormat.PLANAR: (PLANAR_STRIDE_ALIGNMENT_BYTES, None, PLANAR_STRIDE_ALIGNMENT_BYTES, None),
    }[data_format]
    weights = (DataFormat.WEIGHT, DataFormat.WMB, DataFormat.WGS)
    start = WEIGHT_START_ALIGNMENT_BYTES if data_format in weights else atom
    if data_format is DataFormat.PLANAR:
        start = PLANAR_STRIDE_ALIGNMENT_BYTES
    return Alignment(data_format, atom, start, line, surface, cube, size)
